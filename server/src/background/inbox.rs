//! Works on notifications: at once when one comes in, and again on those that wait for an answer. Each is worked on in a task of
//! its own.

use std::{sync::Arc, time::Duration};

use engine::Engine;
use tokio::{
    sync::{Notify, Semaphore},
    time::MissedTickBehavior,
};
use tokio_util::task::TaskTracker;

/// Notifications worked on at the same time.
const CONCURRENCY: usize = 32;
/// Notifications claimed in one transaction.
const CLAIM_AT_ONCE: usize = 16;
/// How often those that wait are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Tells whoever works on notifications that one has come in.
#[derive(Clone, Debug, Default)]
pub struct Nudge(Arc<Notify>);

impl Nudge {
    /// One has come in.
    pub fn nudge(&self) {
        self.0.notify_one();
    }
}

pub(super) async fn work(engine: Engine, tasks: TaskTracker, nudge: Nudge) {
    let permits = Arc::new(Semaphore::new(CONCURRENCY));
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = nudge.0.notified() => {}
        }
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
    // In its own task: a claim that is committed must reach its worker even while the server stops.
    let claiming = tasks.spawn(async move {
        let claims = match claimer.claim_notices(u32::try_from(most).unwrap_or(u32::MAX)).await {
            Ok(claims) => claims,
            Err(error) => {
                tracing::warn!(%error, "looking for notifications failed; they are looked for again");
                return false;
            }
        };
        let more = claims.len() == most;
        for claimed in claims {
            // There is one: nobody else takes them, and no more were claimed than there were.
            let permit = Arc::clone(&permits).acquire_owned().await;
            let worker = claimer.clone();
            working.spawn(async move {
                let _permit = permit;
                let object = claimed.notice.said.object.clone();
                if let Err(error) = worker.work_notice(claimed).await {
                    tracing::warn!(%object, %error, "asking about a notification failed; its lease ends and it is asked about again");
                }
            });
        }
        more
    });
    claiming.await.unwrap_or(false)
}
