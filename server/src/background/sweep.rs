//! Says that the server is alive, and sweeps each merchant's accounts, at the start and from time to time.

use std::{collections::HashMap, time::Duration};

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
/// How often it is told that an account cannot be swept, as long as that is so.
const TELL_EVERY: Duration = Duration::from_secs(60 * 60);
/// Sweeps in which one account may wait for another before that is told: a moment, as a rule.
const PATIENCE: u32 = 3;

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
    /// Where it went, and something is unfinished or not known.
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

    fn tell(&self, end: End, swept: &Result<Swept, EngineError>) {
        match end {
            End::Whole | End::Held | End::TooSoon => {}
            End::Waits => self.tell_waits(),
            End::Unread => self.tell_unread(swept),
        }
    }

    fn tell_waits(&self) {
        let (tenant, account) = self.account();
        let (merchant, account) = (tenant.merchant.as_str(), account.as_str());
        tracing::error!(%merchant, %account, "nothing is sent to this account yet: the merchant moved while a gate was down, and \
            the account of before has not been read, where a copy of the database may have forgotten payments. If that stays so, \
            configure the account of before again until it is swept; docs/operations.md, The gate");
    }

    /// Nobody else would tell that an account which the merchant left cannot be read any more.
    fn tell_unread(&self, swept: &Result<Swept, EngineError>) {
        let what = match swept {
            Ok(swept) => format!("{swept:?}"),
            Err(error) => error.to_string(),
        };
        let (tenant, account) = self.account();
        let (merchant, account) = (tenant.merchant.as_str(), account.as_str());
        match self {
            Self::Own(_) => {
                tracing::warn!(%merchant, %account, what, "the listing of this account's payments, or of its refunds, could not be read to \
                    its end; it is tried again, and `payonce doctor` asks for both");
            }
            Self::Left(_) => {
                tracing::error!(%merchant, %account, what, "an account that the merchant left cannot be read: do its credentials \
                    still work? What is unfinished there waits, and stands before a person in the end");
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
#[derive(Default)]
struct Plan {
    /// None while it is being swept.
    due: Option<Instant>,
    failures: u32,
    /// When it was told last that it cannot be swept.
    told: Option<Instant>,
}

impl Plan {
    /// After a sweep; `too_soon` is the time until its gate can be lifted.
    fn after(&self, end: End, too_soon: Option<Duration>, now: Instant, every: Duration) -> Self {
        let (failures, wait) = match too_soon {
            // Right then.
            Some(wait) if end != End::Unread => (self.failures, wait.min(every)),
            Some(_) | None => next_sweep(end == End::Whole, self.failures, every),
        };
        let told = match end {
            End::Whole => None,
            End::Held | End::TooSoon => self.told,
            End::Waits | End::Unread if self.is_to_tell(end, now) => Some(now),
            End::Waits | End::Unread => self.told,
        };
        Self { due: Some(now + wait), failures, told }
    }

    /// What ends by itself in a moment is not told, and what lasts not with each sweep.
    fn is_to_tell(&self, end: End, now: Instant) -> bool {
        let lasts = match end {
            End::Whole | End::Held | End::TooSoon => false,
            End::Waits => self.failures >= PATIENCE,
            End::Unread => true,
        };
        lasts && self.told.is_none_or(|told| now.duration_since(told) >= TELL_EVERY)
    }
}

/// How a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It was read to the end, and written down.
    Whole,
    /// It was read to the end, and what was sent before its gate was met may not be there yet.
    TooSoon,
    /// Somebody else was at work on what it found.
    Held,
    /// Another account has to be read first.
    Waits,
    /// The listing could not be read.
    Unread,
}

impl End {
    fn of(swept: &Result<Swept, EngineError>) -> Self {
        match swept {
            Ok(Swept { complete: true, too_soon_ms: None, .. }) => Self::Whole,
            Ok(Swept { complete: true, too_soon_ms: Some(_), .. }) => Self::TooSoon,
            Ok(Swept { waits_for: 1.., .. }) => Self::Waits,
            Ok(Swept { held: 1.., .. }) => Self::Held,
            Ok(_) | Err(_) => Self::Unread,
        }
    }
}

/// How long it is until the gate of what was swept can be lifted.
fn too_soon(swept: &Result<Swept, EngineError>) -> Option<Duration> {
    let ms = swept.as_ref().ok()?.too_soon_ms?;
    u64::try_from(ms).ok().map(Duration::from_millis)
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
    let mut plans = HashMap::<(Tenant, ProviderAccount), Plan>::new();
    let mut sweeps = JoinSet::<(Target, Result<Swept, EngineError>)>::new();
    let mut targets = Targets::default();
    loop {
        ticks.tick().await;
        while let Some(swept) = sweeps.try_join_next() {
            let Ok((target, swept)) = swept else {
                // It panicked, whosever it was: nobody is left without a sweep.
                let again = Instant::now() + every.min(RETRY_AFTER);
                plans.values_mut().for_each(|plan| plan.due = plan.due.or(Some(again)));
                continue;
            };
            let (plan, end) = (plans.entry(target.account()).or_default(), End::of(&swept));
            let now = Instant::now();
            if plan.is_to_tell(end, now) {
                target.tell(end, &swept);
            }
            *plan = plan.after(end, too_soon(&swept), now, every);
        }
        let found = match targets.find(&engine, LEFT_EVERY.min(every)).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "the accounts could not be read; they are swept later");
                continue;
            }
        };
        for target in found {
            let first = || Plan { due: Some(Instant::now()), ..Plan::default() };
            let plan = plans.entry(target.account()).or_insert_with(first);
            if plan.due.is_some_and(|due| Instant::now() >= due) {
                plan.due = None;
                let engine = engine.clone();
                sweeps.spawn(async move {
                    let swept = target.sweep(&engine).await;
                    (target, swept)
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swept() -> Swept {
        Swept { read: 1, ..Swept::default() }
    }

    #[test]
    fn an_intent_that_somebody_is_at_is_no_reason_to_doubt_an_accounts_credentials() {
        let held = Ok(Swept { held: 1, ..swept() });
        let end = End::of(&held);
        assert_eq!(end, End::Held);
        assert!(!Plan::default().is_to_tell(end, Instant::now()));
        assert_eq!(End::of(&Ok(swept())), End::Unread);
        assert_eq!(End::of(&Ok(Swept { complete: true, ..swept() })), End::Whole);
    }

    #[test]
    fn what_lasts_is_told_once_an_hour_and_again_when_it_comes_back() {
        let (now, every) = (Instant::now(), Duration::from_secs(600));
        let first = Plan::default();
        assert!(first.is_to_tell(End::Unread, now));
        let second = first.after(End::Unread, None, now, every);
        let soon = now + Duration::from_secs(64);
        assert!(!second.is_to_tell(End::Unread, soon));
        let third = second.after(End::Unread, None, soon, every);
        assert!(third.is_to_tell(End::Unread, now + TELL_EVERY));
        let whole = third.after(End::Whole, None, soon, every);
        assert!(whole.is_to_tell(End::Unread, soon));
    }

    #[test]
    fn fault_23_an_account_that_waits_for_another_is_told_when_that_lasts() {
        let (now, every) = (Instant::now(), Duration::from_secs(600));
        let end = End::of(&Ok(Swept { waits_for: 1, held: 1, ..swept() }));
        assert_eq!(end, End::Waits);
        let mut plan = Plan::default();
        for _ in 0..PATIENCE {
            assert!(!plan.is_to_tell(end, now));
            plan = plan.after(end, None, now, every);
        }
        assert!(plan.is_to_tell(end, now));
    }

    #[test]
    fn fault_23_a_gate_that_was_read_for_too_soon_is_read_for_right_when_it_can_be_lifted() {
        let (now, every) = (Instant::now(), Duration::from_secs(600));
        let early = Ok(Swept { complete: true, too_soon_ms: Some(29_000), ..swept() });
        let (end, wait) = (End::of(&early), too_soon(&early));
        assert_eq!(end, End::TooSoon);
        let waits = Plan { failures: MAX_DOUBLINGS, ..Plan::default() }.after(end, wait, now, every);
        assert_eq!(waits.due, Some(now + Duration::from_secs(29)));
        assert!(!waits.is_to_tell(end, now));
        let other = Plan::default().after(End::Waits, wait, now, every);
        assert_eq!(
            (other.due, other.failures),
            (waits.due, 0),
            "who waits for another account waits as long"
        );
        let often = Duration::from_secs(1);
        assert_eq!(waits.after(end, wait, now, often).due, Some(now + often));
        let unread = Plan::default().after(End::Unread, wait, now, every);
        assert_eq!(unread.due, Some(now + Duration::from_secs(2)));
    }

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
