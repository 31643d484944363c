//! Says that the server is alive, and sweeps the accounts' listings: at once where the gate is down, else from time to time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use engine::Engine;
use tokio::time::{Instant, MissedTickBehavior};

/// How often the server says that it is alive: several times within the gap that puts the gate down.
const BEAT_EVERY: Duration = Duration::from_secs(10);
/// How often a sweep that failed is tried again, and how often it is looked whether one is due.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Whether dispatch waits for a sweep.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<AtomicBool>);

impl Gate {
    /// As the start left it.
    pub fn new(down: bool) -> Self {
        Self(Arc::new(AtomicBool::new(down)))
    }
}

pub(super) async fn beat(engine: Engine) {
    let mut ticks = tokio::time::interval(BEAT_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = engine.beat().await {
            tracing::warn!(%error, "the heartbeat was not written; it is tried again");
        }
    }
}

pub(super) async fn sweep(engine: Engine, every: Duration, gate: Gate) {
    let mut ticks = tokio::time::interval(LOOK_EVERY.min(every));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut due = None::<Instant>;
    loop {
        let now = ticks.tick().await;
        if due.is_none_or(|due| now >= due) || gate.0.load(Ordering::Relaxed) {
            let complete = sweep_all(&engine).await;
            gate.0.fetch_and(!complete, Ordering::Relaxed);
            due = complete.then(|| now + every);
        }
        if let Err(error) = engine.refund_extras().await {
            tracing::warn!(%error, "extra charges could not be given back; it is tried again");
        }
    }
}

/// Sweeps every merchant's account; whether all were read to the end.
async fn sweep_all(engine: &Engine) -> bool {
    let merchants = match engine.directory.merchants().await {
        Ok(merchants) => merchants,
        Err(error) => {
            tracing::warn!(%error, "the merchants could not be read; they are swept again");
            return false;
        }
    };
    let mut complete = true;
    for merchant in merchants {
        let name = merchant.tenant.merchant.as_str();
        match engine.sweep_merchant(&merchant).await {
            Ok(swept) => {
                if !swept.complete {
                    tracing::warn!(
                        merchant = name,
                        ?swept,
                        "the listing could not be read to its end; it is read again"
                    );
                }
                complete &= swept.complete;
            }
            Err(error) => {
                tracing::warn!(merchant = name, %error, "the account could not be swept; it is tried again");
                complete = false;
            }
        }
    }
    complete
}
