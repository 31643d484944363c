//! Where a task that waits says for what, and gets what it waits for. The tasks are the engine's own futures: the scheduler polls one
//! of them at a time, by hand.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use engine::Delivery;
use payment::{
    IntentId, Money, NotExecutedReason, ObjectId, Observation, RefundObservation, Timestamp, UnknownReason,
};
use providers::{Account, Page, Reply, Span};
use uuid::Uuid;

use crate::fault::Fault;

/// What a task waits for.
#[derive(Clone, Debug)]
pub enum Wait {
    /// A transaction that reads; what it answers, as the compiler names it.
    Read(&'static str),
    /// A transaction that writes; the same.
    Write(&'static str),
    /// The answer of a transaction that was applied.
    Answer(&'static str),
    /// To send a request: the last moment before its first byte.
    Leave,
    /// The bank's answer.
    Bank(Call),
    /// What a receiver says to a webhook or a mail.
    Delivery(Message),
}

impl Wait {
    /// What for, as a story tells it.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Read(what) | Self::Write(what) => last_word(what),
            Self::Answer(_) => "an answer of the database",
            Self::Leave => "to send",
            Self::Bank(call) => call.name(),
            Self::Delivery(_) => "a receiver",
        }
    }
}

/// The last word of a type's name.
pub(crate) fn last_word(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// A call to the bank.
#[derive(Clone, Debug)]
pub enum Call {
    /// A frozen request whose answer is a payment.
    Send(Request),
    /// A frozen request whose answer is a refund.
    SendRefund(Request),
    /// How a payment stands.
    Query(Account, ObjectId),
    /// How a refund stands.
    QueryRefund(Account, ObjectId),
    /// A page of payments.
    List(Account, Span, Option<String>),
    /// A page of refunds, of one payment where one is given.
    ListRefunds(Account, Option<ObjectId>, Span, Option<String>),
}

impl Call {
    /// Whether it can change anything at the bank.
    pub fn changes(&self) -> bool {
        matches!(self, Self::Send(_) | Self::SendRefund(_))
    }

    /// What the adapter makes of an answer: one under another id than was asked for cannot be read.
    pub fn read(&self, answer: BankAnswer) -> BankAnswer {
        match (self, &answer) {
            (Self::Query(_, asked), BankAnswer::Payment(Reply::Object(seen))) if seen.object != *asked => {
                self.instead(Fault::Garbage)
            }
            _ => answer,
        }
    }

    /// What the caller hears where this fault stands between it and the bank's own answer.
    pub fn instead(&self, fault: Fault) -> BankAnswer {
        let is = |faults: &[Fault]| faults.contains(&fault);
        if is(&[Fault::NotSent]) {
            return self.not_executed(NotExecutedReason::NotSent);
        }
        if is(&[Fault::Unauthorized]) {
            return self.not_executed(NotExecutedReason::NotAuthorized);
        }
        if is(&[Fault::RateLimited]) {
            return self.not_executed(NotExecutedReason::RateLimited);
        }
        let (reason, retry_after_ms) = if is(&[Fault::ErrorBefore, Fault::ErrorAfter]) {
            (UnknownReason::ProviderError, None)
        } else if is(&[Fault::Garbage, Fault::TurnedAway]) {
            (UnknownReason::Unreadable, None)
        } else if is(&[Fault::StillAtIt]) {
            (UnknownReason::Accepted, Some(5_000))
        } else {
            (UnknownReason::NoAnswer, None)
        };
        let turned_away = (fault == Fault::TurnedAway).then_some(NotExecutedReason::NotAuthorized);
        match self {
            Self::Send(_) | Self::Query(..) => {
                BankAnswer::Payment(Reply::Unknown { reason, turned_away, retry_after_ms })
            }
            Self::SendRefund(_) | Self::QueryRefund(..) => {
                BankAnswer::Refund(Reply::Unknown { reason, turned_away, retry_after_ms })
            }
            Self::List(..) => BankAnswer::Payments(Page::Failed { retry_after_ms }),
            Self::ListRefunds(..) => BankAnswer::Refunds(Page::Failed { retry_after_ms }),
        }
    }

    fn not_executed(&self, reason: NotExecutedReason) -> BankAnswer {
        let (retry_after_ms, shut) = (None, reason == NotExecutedReason::NotAuthorized);
        match self {
            Self::Send(_) | Self::Query(..) => {
                BankAnswer::Payment(Reply::NotExecuted { reason, retry_after_ms })
            }
            Self::SendRefund(_) | Self::QueryRefund(..) => {
                BankAnswer::Refund(Reply::NotExecuted { reason, retry_after_ms })
            }
            Self::List(..) if shut => BankAnswer::Payments(Page::TurnedAway),
            Self::ListRefunds(..) if shut => BankAnswer::Refunds(Page::TurnedAway),
            Self::List(..) => BankAnswer::Payments(Page::Failed { retry_after_ms }),
            Self::ListRefunds(..) => BankAnswer::Refunds(Page::Failed { retry_after_ms }),
        }
    }

    /// What the bank will do because of it.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        match self {
            Self::Send(request) | Self::SendRefund(request) => {
                (&request.key, &request.body).hash(&mut hasher)
            }
            Self::Query(_, object) | Self::QueryRefund(_, object) => object.hash(&mut hasher),
            Self::List(..) | Self::ListRefunds(..) => {}
        }
        hasher.finish()
    }

    /// As a story tells it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Send(_) => "a payment request",
            Self::SendRefund(_) => "a refund request",
            Self::Query(..) => "a query",
            Self::QueryRefund(..) => "a query of a refund",
            Self::List(..) => "a listing",
            Self::ListRefunds(..) => "a listing of refunds",
        }
    }
}

/// A request on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// By which account.
    pub account: Account,
    /// Path below its base.
    pub path: String,
    /// Its bytes.
    pub body: Vec<u8>,
    /// The operation's key.
    pub key: payment::ProviderKey,
    /// When its first byte left.
    pub left_at: Timestamp,
    /// The same by the database's clock.
    pub dated_at: Timestamp,
}

/// The bank's answer to a [`Call`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BankAnswer {
    /// A payment.
    Payment(Reply),
    /// A refund.
    Refund(Reply<RefundObservation>),
    /// Payments.
    Payments(Page),
    /// Refunds.
    Refunds(Page<RefundObservation>),
}

impl BankAnswer {
    /// The same with what does not belong to it: nothing of it is true.
    pub fn mixed_up(mut self, fault: Fault) -> Self {
        let mix = |seen: &mut Observation| {
            if fault == Fault::WrongSum {
                let other = Money::from_minor(seen.amount.minor() + 1, seen.amount.currency());
                seen.amount = other.unwrap_or(seen.amount);
            } else {
                seen.intent = Some(IntentId(Uuid::max()));
            }
        };
        match &mut self {
            Self::Payment(Reply::Object(seen)) => mix(seen),
            Self::Payments(Page::Objects { .. } | Page::Failed { .. } | Page::TurnedAway)
            | Self::Payment(Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. })
            | Self::Refund(_)
            | Self::Refunds(_) => {}
        }
        self
    }

    /// What the caller hears where it never comes.
    pub fn lost(&self) -> Self {
        let (reason, turned_away, retry_after_ms) = (UnknownReason::NoAnswer, None, None);
        match self {
            Self::Payment(_) => Self::Payment(Reply::Unknown { reason, turned_away, retry_after_ms }),
            Self::Refund(_) => Self::Refund(Reply::Unknown { reason, turned_away, retry_after_ms }),
            Self::Payments(_) => Self::Payments(Page::Failed { retry_after_ms }),
            Self::Refunds(_) => Self::Refunds(Page::Failed { retry_after_ms }),
        }
    }
}

/// A webhook or a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id, the same over all tries.
    pub id: payment::EffectId,
    /// What it tells.
    pub kind: payment::EffectKind,
    /// Of which checkout.
    pub checkout: payment::CheckoutId,
    /// Because of which intent.
    pub intent: payment::IntentId,
    /// The sum that it tells.
    pub amount: Money,
}

/// What a task gets.
#[derive(Debug)]
pub enum Verdict {
    /// The transaction runs.
    Apply,
    /// The transaction runs; its answer takes a while.
    ApplyLater,
    /// The transaction does not run.
    Busy,
    /// The transaction does not run: the disk is full.
    Full,
    /// The connection breaks at COMMIT: it may have been applied.
    Lost {
        /// Whether it was.
        applied: bool,
    },
    /// What was waited for is there.
    Go,
    /// The bank's answer.
    Bank(BankAnswer),
    /// What came of a webhook or a mail.
    Delivery(Delivery),
}

impl Verdict {
    /// Which of them it is; what it carries follows from the world's state.
    pub fn kind(&self) -> u64 {
        match self {
            Self::Apply => 1,
            Self::ApplyLater => 2,
            Self::Busy => 3,
            Self::Full => 4,
            Self::Lost { applied: true } => 5,
            Self::Lost { applied: false } => 6,
            Self::Go => 7,
            Self::Bank(BankAnswer::Payment(reply)) => 8 + reply_kind(reply),
            Self::Bank(BankAnswer::Refund(reply)) => 16 + reply_kind(reply),
            Self::Bank(
                BankAnswer::Payments(Page::Failed { .. }) | BankAnswer::Refunds(Page::Failed { .. }),
            ) => 24,
            Self::Bank(BankAnswer::Payments(_) | BankAnswer::Refunds(_)) => 25,
            Self::Delivery(Delivery::Delivered(_)) => 26,
            Self::Delivery(Delivery::Refused(..)) => 27,
            Self::Delivery(Delivery::Unanswered(_)) => 28,
        }
    }
}

fn reply_kind<O>(reply: &Reply<O>) -> u64 {
    match reply {
        Reply::Object(_) => 0,
        Reply::NotExecuted { reason, .. } => 1 + *reason as u64 % 3,
        Reply::Rejected { .. } => 4,
        Reply::Unknown { .. } => 5,
    }
}

#[derive(Default)]
struct Inner {
    waits: Option<Wait>,
    verdict: Option<Verdict>,
    wrote: bool,
}

/// The desk.
#[derive(Clone, Default)]
pub struct Desk(Arc<Mutex<Inner>>);

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A task waits.
    pub fn wait(&self, wait: Wait) -> Waiting<'_> {
        Waiting { desk: self, wait: Some(wait) }
    }

    /// A task wrote.
    pub fn wrote(&self) {
        self.lock().wrote = true;
    }

    /// Whether one wrote since the last time this was asked.
    pub fn take_wrote(&self) -> bool {
        std::mem::take(&mut self.lock().wrote)
    }

    /// What the task that is polled next gets.
    pub fn give(&self, verdict: Verdict) {
        self.lock().verdict = Some(verdict);
    }

    /// What the task that was polled waits for.
    pub fn take_wait(&self) -> Option<Wait> {
        self.lock().waits.take()
    }
}

/// A task that waits.
pub struct Waiting<'d> {
    desk: &'d Desk,
    wait: Option<Wait>,
}

impl Future for Waiting<'_> {
    type Output = Verdict;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Verdict> {
        let mut inner = self.desk.lock();
        match self.wait.take() {
            Some(wait) => {
                inner.waits = Some(wait);
                Poll::Pending
            }
            None => inner.verdict.take().map_or(Poll::Pending, Poll::Ready),
        }
    }
}
