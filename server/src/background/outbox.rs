//! Delivers effects: each in a task of its own, so that one endpoint that hangs holds up no other.

use std::{sync::Arc, time::Duration};

use engine::Engine;
use tokio::{sync::Semaphore, time::MissedTickBehavior};
use tokio_util::task::TaskTracker;

/// Effects on their way at the same time.
const CONCURRENCY: usize = 64;
/// Effects claimed in one transaction.
const CLAIM_AT_ONCE: usize = 16;
/// How often those that are due are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub(super) async fn work(engine: Engine, tasks: TaskTracker) {
    let permits = Arc::new(Semaphore::new(CONCURRENCY));
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        while claim(&engine, &tasks, &permits).await {}
    }
}

/// Claims what is due and there are permits for; whether there may be more.
async fn claim(engine: &Engine, tasks: &TaskTracker, permits: &Arc<Semaphore>) -> bool {
    let most = permits.available_permits().min(CLAIM_AT_ONCE);
    if most == 0 {
        return false;
    }
    let (claimer, working, permits) = (engine.clone(), tasks.clone(), Arc::clone(permits));
    // In its own task: a claim that is committed must reach its sender even while the server stops.
    let claiming = tasks.spawn(async move {
        let claims = match claimer.claim_effects(u32::try_from(most).unwrap_or(u32::MAX)).await {
            Ok(claims) => claims,
            Err(error) => {
                tracing::warn!(%error, "looking for effects to deliver failed; they are looked for again");
                return false;
            }
        };
        let more = claims.len() == most;
        for claimed in claims {
            // There is one: nobody else takes them, and no more were claimed than there were.
            let permit = Arc::clone(&permits).acquire_owned().await;
            let deliverer = claimer.clone();
            working.spawn(async move {
                let _permit = permit;
                let effect = claimed.effect.id;
                if let Err(error) = deliverer.deliver(claimed).await {
                    tracing::warn!(%effect, %error, "delivering failed; its lease ends and it is looked at again");
                }
            });
        }
        more
    });
    claiming.await.unwrap_or(false)
}
