//! Gives extra charges back, where that is the merchant's setting.

use std::time::Duration;

use engine::{Engine, OutOfReach};
use tokio::time::{Instant, MissedTickBehavior};

/// How often extra charges are looked for.
const EXTRAS_EVERY: Duration = Duration::from_secs(5);
/// How long one whose account nobody can open is left alone.
const FORGET_EVERY: Duration = Duration::from_secs(3_600);

pub(super) async fn refund(engine: Engine) {
    let mut ticks = tokio::time::interval(EXTRAS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut out_of_reach, mut since) = (OutOfReach::default(), Instant::now());
    loop {
        ticks.tick().await;
        if since.elapsed() >= FORGET_EVERY {
            (out_of_reach, since) = (OutOfReach::default(), Instant::now());
        }
        if let Err(error) = engine.refund_extras(&mut out_of_reach).await {
            tracing::warn!(%error, "extra charges could not be given back; it is tried again");
        }
    }
}
