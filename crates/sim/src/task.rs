//! What servers do: each task is one of the engine's own futures.

use std::{pin::Pin, sync::Arc};

use engine::{
    Accepted, CheckoutOutcome, Claim, Driven, Engine, EngineError, Grounds, IntentOutcome, OutOfReach,
    Released, Resolved, Submission, SubmitOutcome, Swept,
};
use payment::{CheckoutId, IntentId, Money, OperationKind, OrderId, Timestamp};
use store::{
    CheckoutRecord, ClaimedEffect, ClaimedNotice, IntentRecord, KeyUse, MerchantRecord, Tenant, Terms,
};

use crate::{
    desk::{BankAnswer, Wait},
    explore::Light,
    person::Word,
};

/// What a server is to do.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are named after what they are")]
pub enum Job {
    /// `POST /v1/checkouts`.
    Create(Box<(KeyUse, Terms)>),
    /// A tab loads its page.
    Load { tab: usize, tenant: Tenant, order: OrderId },
    /// A tab submits: the claim, and its drive.
    Submit { tab: usize, submission: Box<Submission> },
    /// A tab tries again.
    TryAgain { tab: usize, key: Box<KeyUse>, checkout: CheckoutId },
    /// A tab wants it looked at now.
    CheckNow { tenant: Tenant, intent: IntentId },
    /// A tab wants to pay another way.
    Release { tenant: Tenant, intent: IntentId },
    /// A notification comes in.
    Accept { tenant: Tenant, body: Arc<Vec<u8>>, tries: u32 },
    /// The server starts.
    Start,
    /// It says that it is alive.
    Beat,
    /// It looks for operations that are due.
    ClaimDue,
    /// It works on one.
    Drive(Box<Claim>),
    /// It looks for notifications that are due.
    ClaimNotices,
    /// It works on one.
    Notice(Box<ClaimedNotice>),
    /// It looks for effects that are due.
    ClaimEffects,
    /// It delivers one.
    Deliver(Box<ClaimedEffect>),
    /// It sweeps every account of a merchant.
    Sweep(Box<MerchantRecord>),
    /// It ends what has expired.
    Expire,
    /// It gives extra charges back.
    Extras,
    /// It stops, and hands over what it works on.
    HandOver,
    /// The shop wants a capture, a cancel or a refund.
    FollowUp { tenant: Tenant, intent: IntentId, kind: OperationKind, amount: Option<Money> },
    /// A person says what became of something.
    Resolve(Word),
}

/// What came of a job.
#[derive(Debug)]
pub enum Done {
    /// Of [`Job::Create`].
    Created(CheckoutOutcome),
    /// Of [`Job::Load`].
    Loaded(Box<Option<(CheckoutRecord, IntentRecord)>>),
    /// Of [`Job::Submit`] where the caller was the first.
    Driven(Box<Driven>),
    /// Of [`Job::Submit`] where it was not.
    Submitted(SubmitOutcome),
    /// Of [`Job::TryAgain`].
    Tried(IntentOutcome),
    /// Of [`Job::Accept`].
    Accepted(Accepted),
    /// Of [`Job::Release`].
    Released(Released),
    /// Of [`Job::Start`]: whether the gate is down.
    Started(bool),
    /// Of [`Job::ClaimDue`].
    Claims(Vec<Claim>),
    /// Of [`Job::ClaimNotices`].
    Notices(Vec<ClaimedNotice>),
    /// Of [`Job::ClaimEffects`].
    Effects(Vec<ClaimedEffect>),
    /// Of [`Job::Sweep`].
    Swept(Swept),
    /// Of [`Job::Resolve`].
    Resolved(Resolved),
    /// Of any other.
    Nothing,
    /// It failed.
    Failed(EngineError),
}

impl Job {
    /// As a story tells it.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Create(_) => "opens a checkout",
            Self::Load { .. } => "renders a page",
            Self::Submit { .. } => "takes a submit",
            Self::TryAgain { .. } => "takes a wish to try again",
            Self::CheckNow { .. } => "takes a wish to check now",
            Self::Release { .. } => "takes a wish to pay another way",
            Self::Accept { .. } => "takes a notification",
            Self::Start => "starts",
            Self::Beat => "says that it is alive",
            Self::ClaimDue => "looks for work",
            Self::Drive(_) => "drives an operation",
            Self::ClaimNotices => "looks for notifications",
            Self::Notice(_) => "works on a notification",
            Self::ClaimEffects => "looks for effects",
            Self::Deliver(_) => "delivers an effect",
            Self::Sweep(_) => "sweeps an account",
            Self::Expire => "ends what has expired",
            Self::Extras => "gives extra charges back",
            Self::HandOver => "hands over",
            Self::FollowUp { .. } => "takes the shop's wish",
            Self::Resolve(_) => "takes a person's word",
        }
    }

    /// Which tab waits for it.
    pub fn tab(&self) -> Option<usize> {
        match self {
            Self::Load { tab, .. } | Self::Submit { tab, .. } | Self::TryAgain { tab, .. } => Some(*tab),
            Self::Create(_)
            | Self::CheckNow { .. }
            | Self::Release { .. }
            | Self::Accept { .. }
            | Self::Start
            | Self::Beat
            | Self::ClaimDue
            | Self::Drive(_)
            | Self::ClaimNotices
            | Self::Notice(_)
            | Self::ClaimEffects
            | Self::Deliver(_)
            | Self::Sweep(_)
            | Self::Expire
            | Self::Extras
            | Self::HandOver
            | Self::FollowUp { .. }
            | Self::Resolve(_) => None,
        }
    }

    /// The engine's future.
    pub fn run(&self, engine: Arc<Engine>) -> Running {
        match self.clone() {
            Self::Create(asked) => running(|| async move {
                let (key, terms) = *asked;
                Ok(Done::Created(engine.open_checkout(key, terms).await?))
            }),
            Self::Load { tenant, order, .. } => {
                running(
                    || async move { Ok(Done::Loaded(Box::new(engine.store.order(tenant, order).await?))) },
                )
            }
            Self::Submit { submission, .. } => running(|| async move {
                let outcome = engine.submit(*submission).await?;
                let SubmitOutcome::Claimed(claim) = outcome else { return Ok(Done::Submitted(outcome)) };
                Ok(Done::Driven(Box::new(engine.drive(*claim).await?)))
            }),
            Self::TryAgain { key, checkout, .. } => {
                running(|| async move { Ok(Done::Tried(engine.open_intent(*key, checkout).await?)) })
            }
            Self::CheckNow { tenant, intent } => {
                running(|| async move { engine.check_now(&tenant, intent).await.map(|()| Done::Nothing) })
            }
            Self::Release { tenant, intent } => {
                running(|| async move { Ok(Done::Released(engine.release(&tenant, intent).await?)) })
            }
            Self::Accept { tenant, body, .. } => {
                running(|| async move { Ok(Done::Accepted(engine.accept_notice(&tenant, &body).await?)) })
            }
            Self::Start => running(|| async move { Ok(Done::Started(engine.start().await?)) }),
            Self::Beat => running(|| async move { engine.beat().await.map(|()| Done::Nothing) }),
            Self::ClaimDue => {
                running(|| async move { Ok(Done::Claims(engine.claim_due(2, Vec::new()).await?)) })
            }
            Self::Drive(claim) => {
                running(|| async move { engine.drive(*claim).await.map(|_| Done::Nothing) })
            }
            Self::ClaimNotices => {
                running(|| async move { Ok(Done::Notices(engine.claim_notices(2, Vec::new()).await?)) })
            }
            Self::Notice(notice) => {
                running(|| async move { engine.work_notice(*notice).await.map(|()| Done::Nothing) })
            }
            Self::ClaimEffects => {
                running(|| async move { Ok(Done::Effects(engine.claim_effects(2, Vec::new()).await?)) })
            }
            Self::Deliver(effect) => {
                running(|| async move { engine.deliver(*effect).await.map(|()| Done::Nothing) })
            }
            Self::Sweep(merchant) => running(|| async move {
                let swept = engine.sweep_merchant(&merchant).await?;
                for left in engine.left_accounts().await? {
                    engine.sweep_left(&left).await?;
                }
                Ok(Done::Swept(swept))
            }),
            Self::Expire => running(|| async move { engine.expire().await.map(|_| Done::Nothing) }),
            Self::Extras => running(|| async move {
                engine.refund_extras(&mut OutOfReach::default()).await.map(|_| Done::Nothing)
            }),
            Self::HandOver => running(|| async move { engine.hand_over().await.map(|()| Done::Nothing) }),
            Self::FollowUp { tenant, intent, kind, amount } => running(|| async move {
                let reason = "the shop wants it".to_owned();
                engine.open_follow_up(&tenant, intent, kind, amount, reason).await.map(|_| Done::Nothing)
            }),
            Self::Resolve(Word { of, verdict, shown, amount }) => running(|| async move {
                let reason = "read in the bank's dashboard".to_owned();
                let grounds = Grounds { evidence: shown.then(|| reason.clone()), reason, amount };
                Ok(Done::Resolved(engine.resolve(&of, verdict, &grounds).await?))
            }),
        }
    }
}

/// A future of the engine.
pub type Running = Pin<Box<dyn Future<Output = Result<Done, EngineError>> + Send>>;

/// Boxed as it is, where it is made: what wraps such a future holds it twice, and to move one takes a while.
fn running<F: Future<Output = Result<Done, EngineError>> + Send + 'static>(
    job: impl FnOnce() -> F,
) -> Running {
    let boxed: Box<F> = Box::write(Box::new_uninit(), job());
    Box::into_pin(boxed)
}

/// A task of a server.
pub struct Task {
    /// Its number, never used twice.
    pub id: u32,
    /// Of which server.
    pub node: usize,
    /// What it does.
    pub job: Job,
    /// The future.
    pub running: Running,
    /// What it waits for; none while its call is under way.
    pub wait: Option<Wait>,
    /// What it hears where the answer to its call never comes.
    pub lost: Option<BankAnswer>,
    /// Whether the database failed it.
    pub failed_by_store: bool,
    /// When it began.
    pub began: Timestamp,
    /// Whether it had a transaction that writes.
    pub wrote: bool,
    /// Whether one of them changed a row.
    pub changed: bool,
    /// What its last step was, if it is one that may be put off in a world whose every course is explored.
    pub light: Option<Light>,
    /// Everything it got so far, in one number: with its job it says what it will do.
    pub history: u64,
}
