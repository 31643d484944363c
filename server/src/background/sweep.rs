//! Says that the server is alive, and sweeps each merchant's accounts, at the start and from time to time.

use std::{collections::HashMap, fmt, time::Duration};

use engine::{Engine, EngineError, LeftAccount, Swept};
use payment::ProviderAccount;
use store::{MerchantRecord, Tenant};
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior},
};

/// How often the server says that it is alive: several times within the gap that puts the gate down.
const BEAT_EVERY: Duration = Duration::from_secs(10);
/// How often it is looked whose sweep is due.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often it is looked for accounts that merchants left.
const LEFT_EVERY: Duration = Duration::from_secs(10);
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

/// An account to sweep.
#[derive(Clone)]
enum Target {
    /// Where the merchant's money goes.
    Own(Box<MerchantRecord>),
    /// Where it went, and something is unfinished.
    Left(LeftAccount),
}

impl Target {
    fn account(&self) -> (Tenant, ProviderAccount) {
        match self {
            Self::Own(merchant) => (merchant.tenant.clone(), merchant.account.clone()),
            Self::Left(left) => (left.tenant.clone(), left.id.clone()),
        }
    }

    async fn sweep(&self, engine: &Engine) -> Result<Swept, EngineError> {
        match self {
            Self::Own(merchant) => engine.sweep_merchant(merchant).await,
            Self::Left(left) => engine.sweep_left(left).await,
        }
    }

    /// Nobody else would tell that an account which the merchant left cannot be read any more.
    fn tell(&self, what: &dyn fmt::Debug) {
        let (tenant, account) = self.account();
        let (merchant, account) = (tenant.merchant.as_str(), account.as_str());
        match self {
            Self::Own(_) => {
                tracing::warn!(%merchant, %account, ?what, "the account could not be swept to its end; it is tried again");
            }
            Self::Left(_) => {
                tracing::error!(%merchant, %account, ?what, "an account that the merchant left cannot be read: do its credentials \
                    still work? What is unfinished there ends as not executed, or stands before a person");
            }
        }
    }
}

/// The accounts to sweep, as they were looked for last.
#[derive(Default)]
struct Targets {
    left: Vec<LeftAccount>,
    left_at: Option<Instant>,
}

impl Targets {
    async fn find(&mut self, engine: &Engine, left_every: Duration) -> Result<Vec<Target>, EngineError> {
        if self.left_at.is_none_or(|at| at.elapsed() >= left_every) {
            self.left = engine.left_accounts().await?;
            self.left_at = Some(Instant::now());
        }
        let own =
            engine.directory.merchants().await?.into_iter().map(|merchant| Target::Own(Box::new(merchant)));
        Ok(own.chain(self.left.iter().cloned().map(Target::Left)).collect())
    }
}

/// When an account is swept next.
struct Plan {
    /// None while it is being swept.
    due: Option<Instant>,
    failures: u32,
}

/// How often in a row it has failed now, and the wait until it is swept again: growing while it fails, and never longer than else.
fn next_sweep(complete: bool, failures: u32, every: Duration) -> (u32, Duration) {
    if complete {
        return (0, every);
    }
    let failures = (failures + 1).min(MAX_DOUBLINGS);
    (failures, every.min(RETRY_AFTER * 2_u32.pow(failures)))
}

/// Sweeps each account by itself: one whose provider is down holds up nobody.
pub(super) async fn sweep(engine: Engine, every: Duration) {
    let mut ticks = tokio::time::interval(LOOK_EVERY.min(every));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut plans, mut sweeps) = (HashMap::<(Tenant, ProviderAccount), Plan>::new(), JoinSet::new());
    let mut targets = Targets::default();
    loop {
        ticks.tick().await;
        while let Some(swept) = sweeps.try_join_next() {
            let Ok((account, complete)) = swept else {
                // It panicked, whosever it was: nobody is left without a sweep.
                let again = Instant::now() + every.min(RETRY_AFTER);
                plans.values_mut().for_each(|plan| plan.due = plan.due.or(Some(again)));
                continue;
            };
            let failures = plans.get(&account).map_or(0, |plan| plan.failures);
            let (failures, wait) = next_sweep(complete, failures, every);
            plans.insert(account, Plan { due: Some(Instant::now() + wait), failures });
        }
        let found = match targets.find(&engine, LEFT_EVERY.min(every)).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "the accounts could not be read; they are swept later");
                continue;
            }
        };
        for target in found {
            let first = || Plan { due: Some(Instant::now()), failures: 0 };
            let plan = plans.entry(target.account()).or_insert_with(first);
            if plan.due.is_some_and(|due| Instant::now() >= due) {
                plan.due = None;
                let engine = engine.clone();
                sweeps.spawn(async move { (target.account(), sweep_one(&engine, &target).await) });
            }
        }
    }
}

/// Sweeps an account; whether it was read to the end.
async fn sweep_one(engine: &Engine, target: &Target) -> bool {
    match target.sweep(engine).await {
        Ok(swept) if swept.complete => true,
        Ok(swept) => {
            target.tell(&swept);
            false
        }
        Err(error) => {
            target.tell(&error);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_that_fails_is_repeated_soon_then_at_growing_waits() {
        let every = Duration::from_secs(600);
        let (mut failures, mut waits) = (0, Vec::new());
        for _ in 0..8 {
            let (failed, wait) = next_sweep(false, failures, every);
            failures = failed;
            waits.push(wait.as_secs());
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 64, 64]);
        assert_eq!(next_sweep(true, failures, every), (0, every));
        let often = Duration::from_millis(50);
        assert_eq!(next_sweep(false, failures, often), (MAX_DOUBLINGS, often), "never more seldom than else");
    }
}
