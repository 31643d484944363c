//! Claims of operations, and what is written down of them.

use payment::{
    Anomaly, AttemptId, CheckoutId, Holder, IntentId, MerchantId, Money, ObjectId, OperationId,
    OperationState, PaidWith, ProviderAccount, State, Timestamp,
};

use crate::{Answer, AttemptRecord, CheckoutRecord, Frozen, IntentRecord, OperationRecord, Tenant};

/// Asks for work.
#[derive(Clone, Debug)]
pub struct ClaimDue {
    /// Who.
    pub holder: Holder,
    /// For how long, ms.
    pub lease_ms: i64,
    /// Request ids, one for each operation wanted.
    pub attempts: Vec<AttemptId>,
    /// Merchants whose operations are passed over: enough of theirs are in work.
    pub busy: Vec<MerchantId>,
    /// Claims in a row that may come to no commit before a person has to look.
    pub most_unfinished: i64,
    /// How long after its last possible send what the gate holds waits, before a person has to look, ms.
    pub review_after_ms: i64,
}

/// Asks for the right to write down what was learned about an intent, whatever it waits for.
#[derive(Clone, Debug)]
pub struct ClaimLook {
    /// Whose.
    pub tenant: Tenant,
    /// Of what.
    pub of: LookOf,
    /// Who.
    pub holder: Holder,
    /// For how long, ms.
    pub lease_ms: i64,
}

/// Which operation is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookOf {
    /// The pay operation of this intent.
    Intent(IntentId),
    /// This one.
    Operation(OperationId),
}

/// What came of a [`ClaimLook`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looking {
    /// The caller may look, and commit.
    Claimed(Box<Claimed>),
    /// Somebody works on it: his commit may say it all.
    Held,
    /// There is no such thing.
    NotFound,
}

/// An operation in the holder's hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The checkout.
    pub checkout: CheckoutRecord,
    /// The intent, as it was when claimed.
    pub intent: IntentRecord,
    /// The operation, lease and fence included.
    pub operation: OperationRecord,
    /// The send this claim is for; none where the claim is for a query.
    pub attempt: Option<AttemptRecord>,
    /// What is to be done.
    pub step: payment::Step,
    /// Whether a send of an earlier holder has no answer.
    pub unanswered: bool,
    /// The claim's moment, by the database.
    pub now: Timestamp,
}

/// One event's part of a commit: a line of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// State before.
    pub from: &'static str,
    /// The event.
    pub event: String,
    /// State after.
    pub to: &'static str,
    /// What justified it.
    pub evidence: String,
}

/// What came of a claim.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Whose.
    pub tenant: Tenant,
    /// Which checkout.
    pub checkout: CheckoutId,
    /// Which intent.
    pub intent: IntentId,
    /// The intent's version when it was claimed.
    pub version: i64,
    /// Which operation.
    pub operation: OperationId,
    /// The fence it was claimed under.
    pub fence: i64,
    /// The state from now on.
    pub state: State,
    /// What it is paid with, where it was told.
    pub paid_with: Option<PaidWith>,
    /// The provider's object, where it was told.
    pub object: Option<ObjectId>,
    /// A capture's, cancel's or refund's state from now on; none for a pay operation.
    pub follow_up: Option<OperationState>,
    /// Whether the intent changes by it. A pay operation's commit always says so.
    pub touches_intent: bool,
    /// Objects that took money.
    pub charges: Vec<Charge>,
    /// What should not be.
    pub anomalies: Vec<Anomaly>,
    /// Lines for the journal, in order.
    pub changes: Vec<Change>,
    /// The send that ended, and how.
    pub ended: Option<(AttemptId, String)>,
    /// When to look again, ms from now; required while the operation stays open.
    pub wake_in_ms: Option<i64>,
    /// The provider does not want to hear of it earlier, ms from now.
    pub not_before_ms: Option<i64>,
    /// How old the provider's word is.
    pub asked: Asked,
    /// A look that was not due: what was planned stays planned, and the claims without a result stay counted.
    pub out_of_turn: bool,
    /// When the first complete listing without it was read that can be evidence of absence.
    pub absent_since: Option<Timestamp>,
    /// Where nothing was ever sent, as far as our rows know, and an object exists all the same: the account to ask about it.
    pub adopted: Option<Frozen>,
    /// The final answer for the submit key's replays.
    pub answer: Option<Answer>,
}

/// How old the word of the provider is that a commit writes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It was asked for this commit.
    Now,
    /// It was asked then, for others.
    At(Timestamp),
    /// It was not asked.
    Not,
}

/// An object that took money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The account it took it for.
    pub account: ProviderAccount,
    /// The object.
    pub object: ObjectId,
    /// How much.
    pub amount: Money,
}

/// What came of a [`Commit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Committed {
    /// Written.
    Done {
        /// Whether the checkout became paid by it.
        paid: bool,
        /// Whether the charge was an extra.
        extra: bool,
        /// Whether the charge that paid it took another sum than the checkout's.
        other_sum: bool,
    },
    /// Another holder has the operation: nothing was written (R14).
    Stale {
        /// The fence now.
        fence: i64,
        /// The intent's version now.
        version: i64,
    },
}
