//! Says that the server is alive; sweeps each merchant's account, at the start and from time to time; and gives extra charges back.

use std::{collections::HashMap, time::Duration};

use engine::Engine;
use store::{MerchantRecord, Tenant};
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior},
};

/// How often the server says that it is alive: several times within the gap that puts the gate down.
const BEAT_EVERY: Duration = Duration::from_secs(10);
/// How often it is looked whose sweep is due.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often extra charges are looked for.
const EXTRAS_EVERY: Duration = Duration::from_secs(5);
/// The wait after a sweep that failed; it doubles with each.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Doublings of that wait at most.
const MAX_DOUBLINGS: u32 = 6;

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

pub(super) async fn refund_extras(engine: Engine) {
    let mut ticks = tokio::time::interval(EXTRAS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = engine.refund_extras().await {
            tracing::warn!(%error, "extra charges could not be given back; it is tried again");
        }
    }
}

/// When a merchant is swept next.
struct Plan {
    /// None while it is being swept.
    due: Option<Instant>,
    failures: u32,
}

/// Sweeps each merchant by itself: one whose provider is down holds up nobody.
pub(super) async fn sweep(engine: Engine, every: Duration) {
    let mut ticks = tokio::time::interval(LOOK_EVERY.min(every));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut plans, mut sweeps) = (HashMap::<Tenant, Plan>::new(), JoinSet::new());
    loop {
        ticks.tick().await;
        while let Some(swept) = sweeps.try_join_next() {
            let Ok((tenant, complete)) = swept else {
                // It panicked, whosever it was: nobody is left without a sweep.
                let again = Instant::now() + every.min(RETRY_AFTER);
                plans.values_mut().for_each(|plan| plan.due = plan.due.or(Some(again)));
                continue;
            };
            let failures = plans.get(&tenant).map_or(0, |plan| plan.failures + 1).min(MAX_DOUBLINGS);
            let (failures, wait) =
                if complete { (0, every) } else { (failures, every.min(RETRY_AFTER * 2_u32.pow(failures))) };
            plans.insert(tenant, Plan { due: Some(Instant::now() + wait), failures });
        }
        let merchants = match engine.directory.merchants().await {
            Ok(merchants) => merchants,
            Err(error) => {
                tracing::warn!(%error, "the merchants could not be read; they are swept later");
                continue;
            }
        };
        for merchant in merchants {
            let plan = plans
                .entry(merchant.tenant.clone())
                .or_insert(Plan { due: Some(Instant::now()), failures: 0 });
            if plan.due.is_some_and(|due| Instant::now() >= due) {
                plan.due = None;
                let engine = engine.clone();
                sweeps.spawn(async move { (merchant.tenant.clone(), sweep_one(&engine, &merchant).await) });
            }
        }
    }
}

/// Sweeps a merchant's account; whether it was read to the end.
async fn sweep_one(engine: &Engine, merchant: &MerchantRecord) -> bool {
    let name = &merchant.tenant.merchant;
    match engine.sweep_merchant(merchant).await {
        Ok(swept) => {
            if !swept.complete {
                tracing::warn!(merchant = %name, ?swept, "the listing could not be read to its end; it is read again");
            }
            swept.complete
        }
        Err(error) => {
            tracing::warn!(merchant = %name, %error, "the account could not be swept; it is tried again");
            false
        }
    }
}
