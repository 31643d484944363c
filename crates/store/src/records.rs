//! Rows as the rest of the product sees them.

use std::{collections::BTreeMap, sync::Arc};

use crate::{ChargeRecord, NewIds};
use payment::{
    AttemptId, Awaits, Capture, CheckoutId, CheckoutStatus, Holder, IntentId, JournalHash, JournalLine,
    MerchantId, MethodKind, Mode, Money, ObjectId, OperationId, OperationKind, OperationState, OrderId,
    PaidWith, ProviderAccount, ProviderKey, State, StateName, SubmitKey, Timestamp,
};

/// Whose rows: a merchant in one mode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant {
    /// The merchant.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
}

/// An order offered for payment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CheckoutRecord {
    /// Whose.
    pub tenant: Tenant,
    /// Its id.
    pub id: CheckoutId,
    /// The merchant's reference.
    pub order: OrderId,
    /// Where it stands.
    pub status: CheckoutStatus,
    /// Rises with every change of terms.
    pub version: i64,
    /// Which client token is valid.
    pub token_version: i64,
    /// What is to be paid.
    pub amount: Money,
    /// When the money moves.
    pub capture: Capture,
    /// Shown to the shopper.
    pub description: Option<String>,
    /// Where the shopper goes afterwards.
    pub return_url: Option<String>,
    /// Where the receipt goes.
    pub email: Option<String>,
    /// The merchant's own pairs.
    pub metadata: BTreeMap<String, String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops being payable.
    pub expires_at: Timestamp,
}

/// One intention to pay.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntentRecord {
    /// Whose.
    pub tenant: Tenant,
    /// Its id.
    pub id: IntentId,
    /// What it pays.
    pub checkout: CheckoutId,
    /// Counts from 1 within the checkout.
    pub number: i64,
    /// The intent it tries again.
    pub previous: Option<IntentId>,
    /// What every submission of it carries.
    pub submit_key: SubmitKey,
    /// What it pays, fixed.
    pub amount: Money,
    /// The version of the checkout it pays.
    pub checkout_version: i64,
    /// Where it stands.
    pub state: State,
    /// How it is paid, once submitted.
    pub method: Option<MethodKind>,
    /// What it is paid with, as the provider says.
    pub paid_with: Option<PaidWith>,
    /// Where the receipt goes, as the shopper said with the first submission; none where the checkout's address stands.
    pub email: Option<String>,
    /// Rises with every change.
    pub version: i64,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What an operation waits for; follows from its intent's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// A first submit.
    Created,
    /// A worker.
    Open,
    /// A person; a worker still asks.
    Review,
    /// Nothing.
    Done,
}

impl Stage {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Created, Self::Open, Self::Review, Self::Done];

    /// The stage of a pay operation whose intent is in `state`.
    pub fn of(state: StateName) -> Self {
        match state.awaits() {
            Awaits::FirstSubmit => Self::Created,
            Awaits::Worker => Self::Open,
            Awaits::Person => Self::Review,
            Awaits::Nothing => Self::Done,
        }
    }

    /// The stage of a capture, cancel or refund in `state`.
    pub fn of_follow_up(state: &OperationState) -> Self {
        match state {
            OperationState::Processing { .. } | OperationState::Confirming { .. } => Self::Open,
            OperationState::NeedsReview { .. } => Self::Review,
            OperationState::Succeeded { .. }
            | OperationState::Rejected { .. }
            | OperationState::NotExecuted => Self::Done,
        }
    }

    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Open => "open",
            Self::Review => "review",
            Self::Done => "done",
        }
    }
}

/// A provider request as it was first sent: recovery sends these bytes to this account, whatever was deployed since.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frozen {
    /// Which provider.
    pub provider: String,
    /// Which account there.
    pub account: ProviderAccount,
    /// The base of its API.
    pub url: String,
    /// HTTP method.
    pub method: String,
    /// Path below the base.
    pub path: String,
    /// The body, encrypted: it holds a card token.
    pub sealed_body: Vec<u8>,
}

/// The right to work on an operation for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// Who.
    pub holder: Holder,
    /// Until when; its end means recover, not execute again.
    pub until: Timestamp,
}

/// What an operation asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// A payment; its state is its intent's.
    Pay,
    /// Something about a payment that exists.
    FollowUp(FollowUp),
}

impl Task {
    /// What kind it is.
    pub fn kind(&self) -> OperationKind {
        match self {
            Self::Pay => OperationKind::Pay,
            Self::FollowUp(follow_up) => follow_up.kind,
        }
    }
}

/// A capture, a cancel or a refund.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FollowUp {
    /// Which of them.
    pub kind: OperationKind,
    /// The provider's payment it acts on.
    pub target: ObjectId,
    /// How much of it; none for a cancel.
    pub amount: Option<Money>,
    /// Where it stands.
    pub state: OperationState,
}

/// One thing asked of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperationRecord {
    /// Whose.
    pub tenant: Tenant,
    /// Its id.
    pub id: OperationId,
    /// For which intent.
    pub intent: IntentId,
    /// What it asks for.
    pub task: Task,
    /// What it waits for.
    pub stage: Stage,
    /// What every send carries.
    pub provider_key: ProviderKey,
    /// The request, from the first dispatch on.
    pub frozen: Option<Arc<Frozen>>,
    /// When the first send was claimed.
    pub first_sent_at: Option<Timestamp>,
    /// After this nothing is sent.
    pub execute_until: Option<Timestamp>,
    /// The provider's object that it made, once known.
    pub object: Option<ObjectId>,
    /// Who works on it.
    pub lease: Option<Lease>,
    /// Rises with every claim.
    pub fence: i64,
    /// Sends and queries so far: spaces the next ones.
    pub tries: i64,
    /// Claims in a row that came to no commit.
    pub unfinished: i64,
    /// When a worker looks again.
    pub wake_at: Option<Timestamp>,
    /// The provider does not want to hear of it earlier, whoever wishes it.
    pub not_before: Option<Timestamp>,
    /// When the provider was last asked, as far as a worker wrote down what it said.
    pub looked_at: Option<Timestamp>,
    /// When the first complete listing without it began that can be evidence of absence.
    pub absent_since: Option<Timestamp>,
}

impl OperationRecord {
    /// The pay operation born with its intent: nothing frozen, nobody at work.
    pub(crate) fn created(intent: &IntentRecord, ids: &NewIds) -> Self {
        Self {
            tenant: intent.tenant.clone(),
            id: ids.operation,
            intent: intent.id,
            task: Task::Pay,
            stage: Stage::of(intent.state.name()),
            provider_key: ids.provider_key,
            frozen: None,
            first_sent_at: None,
            execute_until: None,
            object: None,
            lease: None,
            fence: 0,
            tries: 0,
            unfinished: 0,
            wake_at: None,
            not_before: None,
            looked_at: None,
            absent_since: None,
        }
    }
}

/// One send.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AttemptRecord {
    /// Its request id.
    pub id: AttemptId,
    /// Of which operation.
    pub operation: OperationId,
    /// Counts from 1 within the operation.
    pub number: i64,
    /// The fence it was sent under.
    pub fence: i64,
    /// When.
    pub started_at: Timestamp,
    /// What came of it; none while it is unanswered.
    pub outcome: Option<String>,
}

/// A journal line with its hash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JournalRecord {
    /// The line.
    pub line: JournalLine,
    /// Its hash in the chain.
    pub hash: JournalHash,
}

/// An object that took money in a merchant's account, or may, and that no intent of ours made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StrangerRecord {
    /// Whose account.
    pub tenant: Tenant,
    /// The account.
    pub account: ProviderAccount,
    /// The object.
    pub object: ObjectId,
    /// The order it names; that order takes no dispatch while it is open.
    pub order: Option<OrderId>,
    /// How much it took, or may.
    pub amount: Money,
    /// Whether it is known to have taken money; else it waits at the provider, and is asked about.
    pub took_money: bool,
    /// Whether it took money after it was found, and nobody who spoke of it since was told so: he may speak of money that is only held.
    pub untold: bool,
    /// When it was found.
    pub found_at: Timestamp,
    /// What became of it.
    pub resolution: Option<Resolution>,
}

/// Why it is not known whether money was taken for an order, whatever its own intents say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Its merchant's gate is down: this database may be an old copy.
    Gate,
    /// Money that names it is a stranger's so far.
    Stranger,
}

/// What a person made of a stranger, or its end at the provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resolution {
    /// It pays the order it names (or the one the person named); else it has nothing to do with us.
    pub linked: bool,
    /// Why.
    pub reason: String,
}

/// Everything about an intent's way to the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// The pay operation.
    pub operation: OperationRecord,
    /// Captures, cancels and refunds, oldest first.
    pub follow_ups: Vec<OperationRecord>,
    /// What took money for its checkout.
    pub charges: Vec<ChargeRecord>,
    /// Sends of the pay operation, oldest first.
    pub attempts: Vec<AttemptRecord>,
    /// What happened, oldest first.
    pub journal: Vec<JournalRecord>,
    /// Whether the gate, or a stranger's money for the order, keeps the payment from being sent now.
    pub held: bool,
}
