//! The server's tasks: one looks for due work, one for notifications, one for effects, and one ends what has expired. Each claim is driven in a task of its own.

mod inbox;
mod outbox;
mod sweep;

use std::{sync::Arc, time::Duration};

use engine::Engine;
use tokio::{sync::Semaphore, time::MissedTickBehavior};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use inbox::Nudge;
pub use sweep::Gate;

/// Operations driven at the same time by the worker.
const CONCURRENCY: usize = 64;
/// Operations claimed in one transaction.
const CLAIM_AT_ONCE: usize = 16;
/// How often the worker looks.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How often expiry looks.
const EXPIRE_EVERY: Duration = Duration::from_secs(1);

/// What the tasks share with whoever starts them.
#[derive(Clone, Debug)]
pub struct Signals {
    /// A notification has come in.
    pub inbox: Nudge,
    /// Whether dispatch waits for a sweep.
    pub gate: Gate,
    /// How far apart two sweeps are.
    pub sweep_every: Duration,
}

/// Starts the tasks; they end when `stop` is cancelled, what is being driven goes on under `tasks`.
pub fn start(engine: Engine, tasks: &TaskTracker, stop: &CancellationToken, signals: Signals) {
    let Signals { inbox, gate, sweep_every } = signals;
    let driven = tasks.clone();
    tasks.spawn(until(stop.clone(), work(engine.clone(), driven)));
    tasks.spawn(until(stop.clone(), inbox::work(engine.clone(), tasks.clone(), inbox)));
    tasks.spawn(until(stop.clone(), outbox::work(engine.clone(), tasks.clone())));
    tasks.spawn(until(stop.clone(), sweep::beat(engine.clone())));
    tasks.spawn(until(stop.clone(), sweep::sweep(engine.clone(), sweep_every, gate)));
    tasks.spawn(until(stop.clone(), expire(engine)));
}

/// Both loops only wait between transactions, which run in the store's own tasks: ending them there loses nothing.
async fn until(stop: CancellationToken, run: impl Future<Output = ()>) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = run => {}
    }
}

async fn work(engine: Engine, tasks: TaskTracker) {
    let permits = Arc::new(Semaphore::new(CONCURRENCY));
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        while let Some(more) = claim(&engine, &tasks, &permits).await {
            if !more {
                break;
            }
        }
    }
}

/// Claims what is due and there are permits for; whether there may be more, `None` when the store failed.
async fn claim(engine: &Engine, tasks: &TaskTracker, permits: &Arc<Semaphore>) -> Option<bool> {
    let most = permits.available_permits().min(CLAIM_AT_ONCE);
    if most == 0 {
        return Some(false);
    }
    let claimer = engine.clone();
    // In its own task: a claim that is committed must reach its driver even while the server stops.
    let (tasks_of_claim, permits) = (tasks.clone(), Arc::clone(permits));
    let claiming = tasks.spawn(async move {
        let claims = match claimer.claim_due(most).await {
            Ok(claims) => claims,
            Err(error) => {
                tracing::warn!(%error, "looking for due work failed; it is looked for again");
                return None;
            }
        };
        let found = claims.len();
        for claimed in claims {
            let (driver, permits) = (claimer.clone(), Arc::clone(&permits));
            tasks_of_claim.spawn(async move {
                let _permit = permits.acquire_owned().await;
                let intent = claimed.work.intent.id;
                if let Err(error) = driver.drive(claimed).await {
                    tracing::warn!(%intent, %error, "driving failed; its lease ends and it is driven again");
                }
            });
        }
        Some(found == most)
    });
    claiming.await.ok().flatten()
}

async fn expire(engine: Engine) {
    let mut ticks = tokio::time::interval(EXPIRE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = engine.expire().await {
            tracing::warn!(%error, "ending expired checkouts failed; it is tried again");
        }
    }
}
