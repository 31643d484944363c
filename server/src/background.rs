//! The server's tasks: they work on what is due (operations, notifications, effects), sweep the accounts, say that the server is
//! alive, and end what has expired.

mod extras;
mod queue;
mod shares;
mod sweep;

use std::time::Duration;

use engine::Engine;
use queue::{Effects, Notifications, Operations};
use tokio::time::MissedTickBehavior;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use queue::Nudge;

/// How often expiry looks.
const EXPIRE_EVERY: Duration = Duration::from_secs(1);

/// What the tasks share with whoever starts them.
#[derive(Clone, Debug)]
pub struct Signals {
    /// A notification has come in.
    pub inbox: Nudge,
    /// How far apart two sweeps are.
    pub sweep_every: Duration,
}

/// Starts the tasks; they end when `stop` is cancelled, what is being driven goes on under `tasks`.
pub fn start(engine: Engine, tasks: &TaskTracker, stop: &CancellationToken, signals: Signals) {
    let Signals { inbox, sweep_every } = signals;
    let spared = Nudge::default;
    tasks.spawn(until(stop.clone(), queue::work(Operations(engine.clone()), tasks.clone(), spared())));
    tasks.spawn(until(stop.clone(), queue::work(Notifications(engine.clone()), tasks.clone(), inbox)));
    tasks.spawn(until(stop.clone(), queue::work(Effects(engine.clone()), tasks.clone(), spared())));
    tasks.spawn(until(stop.clone(), sweep::beat(engine.clone())));
    tasks.spawn(until(stop.clone(), sweep::sweep(engine.clone(), sweep_every)));
    tasks.spawn(until(stop.clone(), extras::refund(engine.clone())));
    tasks.spawn(until(stop.clone(), expire(engine)));
}

/// They only wait between transactions, which run in the store's own tasks: ending them there loses nothing.
async fn until(stop: CancellationToken, run: impl Future<Output = ()>) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = run => {}
    }
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
