//! What the transactions are asked, and what they answer.

use std::{collections::BTreeMap, fmt, sync::Arc};

use payment::{
    Anomaly, AttemptId, Capture, CheckoutId, Fingerprint, Holder, IdempotencyKey, IntentId, KeyKind,
    MerchantId, MethodKind, Money, ObjectId, OperationId, OperationKind, OperationState, OrderId, PaidWith,
    ProviderAccount, ProviderKey, State, SubmitKey, Timestamp,
};

use crate::{
    AttemptRecord, ChargeRecord, CheckoutRecord, Frozen, IntentRecord, OperationRecord, StrangerRecord,
    SweepRow, Tenant,
};

/// Stands in a stored answer where a client token was: a byte that JSON never contains. Tables hold no usable secret.
pub const BLANK: u8 = 0x1a;

/// The first final answer to a keyed request, as it is stored and replayed.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// `Location`, if any.
    pub location: Option<String>,
    /// JSON, tokens replaced by [`BLANK`].
    pub body: Vec<u8>,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "Answer {{ {}, {:?}, {} }}",
            self.status,
            self.location,
            String::from_utf8_lossy(&self.body)
        )
    }
}

/// Writes the answer for a checkout and its intent, inside the transaction that makes them. Pure.
pub type Render = Arc<dyn Fn(u16, &CheckoutRecord, &IntentRecord) -> Answer + Send + Sync>;

/// A key as a request uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyUse {
    /// Scope: whose.
    pub tenant: Tenant,
    /// Scope: for what.
    pub kind: KeyKind,
    /// The key.
    pub key: IdempotencyKey,
    /// The significant parameters.
    pub fingerprint: Fingerprint,
}

/// What a key already names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownKey {
    /// Other significant parameters: refused, nothing changed (R3).
    Reused {
        /// The first field that differs.
        field: String,
    },
    /// The same request: what it led to (R2).
    Same {
        /// The checkout, now.
        checkout: Box<CheckoutRecord>,
        /// The intent, now.
        intent: Box<IntentRecord>,
        /// The first final answer, once there is one.
        answer: Option<Answer>,
    },
}

/// Ids for what a transaction may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewIds {
    /// For a checkout.
    pub checkout: CheckoutId,
    /// For an intent.
    pub intent: IntentId,
    /// For its pay operation.
    pub operation: OperationId,
    /// For its submissions.
    pub submit_key: SubmitKey,
    /// For its sends.
    pub provider_key: ProviderKey,
}

/// What a merchant offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The merchant's reference.
    pub order: OrderId,
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
    /// How long it can be paid, ms.
    pub expires_in_ms: i64,
}

/// `POST /v1/checkouts`.
#[derive(Clone)]
pub struct OpenCheckout {
    /// The key.
    pub key: KeyUse,
    /// Ids for new rows.
    pub ids: NewIds,
    /// The terms.
    pub terms: Terms,
    /// Writes the answer.
    pub render: Render,
}

/// What came of [`OpenCheckout`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenedCheckout {
    /// The answer, fresh: made (201) or adopted (200).
    Fresh(Box<CheckoutRecord>, Answer),
    /// The key was known.
    Known(KnownKey),
    /// The order is paid.
    Paid(CheckoutId),
    /// Other terms, but the order's payment is under way.
    InProgress(CheckoutId, IntentId),
    /// Other terms, and before the merchant's account is read, nobody knows whether the order's payment is under way: later.
    Gated,
}

/// `POST /v1/checkouts/{id}/payment_intents`.
#[derive(Clone)]
pub struct OpenIntent {
    /// The key.
    pub key: KeyUse,
    /// Which checkout.
    pub checkout: CheckoutId,
    /// Ids for new rows; `ids.checkout` is not used.
    pub ids: NewIds,
    /// Most intents a checkout may have (card testing).
    pub limit: i64,
    /// Writes the answer.
    pub render: Render,
}

/// What came of [`OpenIntent`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenedIntent {
    /// The answer, fresh: a new intent (201) or the occupying one (200).
    Fresh(Box<CheckoutRecord>, Answer),
    /// The key was known.
    Known(KnownKey),
    /// No such checkout.
    NotFound,
    /// The order is paid.
    Paid(IntentId),
    /// The checkout is over.
    NotOpen,
    /// The limit is reached.
    TooMany,
}

/// The first claim of a pay operation.
#[derive(Clone, Debug)]
pub struct SubmitCommand {
    /// The key: the intent's submit key.
    pub key: KeyUse,
    /// Which checkout.
    pub checkout: CheckoutId,
    /// Which intent.
    pub intent: IntentId,
    /// The version the shopper saw.
    pub version: i64,
    /// The amount the shopper saw.
    pub amount: Money,
    /// How the shopper pays.
    pub method: MethodKind,
    /// Where the receipt goes, if the shopper says so.
    pub email: Option<String>,
    /// The request that will be sent, now and for ever.
    pub frozen: Frozen,
    /// Request id of the first send.
    pub attempt: AttemptId,
    /// Who will send it.
    pub holder: Holder,
    /// For how long, ms.
    pub lease_ms: i64,
    /// Nothing is sent later than this after now, ms (the checkout's expiry cuts it shorter).
    pub execute_ms: i64,
}

/// What came of [`SubmitCommand`].
#[derive(Clone, Debug)]
pub enum Submitted {
    /// The caller is the one who sends.
    Claimed(Box<Claimed>),
    /// The key was known: the winner's state.
    Known(KnownKey),
    /// The intent was submitted or ended before: its state.
    Over(Box<CheckoutRecord>, Box<IntentRecord>),
    /// The key is not this intent's submit key.
    WrongKey,
    /// No such intent in that checkout.
    NotFound,
    /// The terms are not those the shopper saw.
    Changed(Box<CheckoutRecord>),
    /// The order is paid by another intent.
    Paid(CheckoutId),
    /// The checkout is over.
    NotOpen(Box<CheckoutRecord>),
}

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

/// Asks for a capture, a cancel or a refund.
#[derive(Clone, Debug)]
pub struct OpenFollowUp {
    /// Whose.
    pub tenant: Tenant,
    /// Of which intent.
    pub intent: IntentId,
    /// Its id.
    pub operation: OperationId,
    /// What every send will carry.
    pub provider_key: ProviderKey,
    /// Capture, cancel or refund.
    pub kind: OperationKind,
    /// The provider's payment.
    pub target: ObjectId,
    /// How much; none for a cancel.
    pub amount: Option<Money>,
    /// The request that will be sent, now and for ever.
    pub frozen: Frozen,
    /// Nothing is sent later than this after now, ms.
    pub execute_ms: i64,
    /// The provider's refund, where somebody else made it: it is done, and nothing is ever sent.
    pub made: Option<ObjectId>,
    /// Why, for the journal.
    pub reason: String,
}

/// What came of an [`OpenFollowUp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenedFollowUp {
    /// It is open, and a worker does it; what somebody else made is written down.
    Fresh(Box<OperationRecord>),
    /// What somebody else is said to have made is this one's.
    Known(Box<OperationRecord>),
    /// One like it is not finished: another waits for it.
    Unfinished(Box<OperationRecord>),
    /// More than was taken and is not refunded or being refunded.
    Exceeds {
        /// What is left, minor units.
        left_minor: i64,
    },
    /// The payment is not in a state for it.
    NotNow,
}

/// A server starts.
#[derive(Clone, Debug)]
pub struct Start {
    /// The accounts that merchants' money goes to.
    pub accounts: Vec<(Tenant, ProviderAccount)>,
    /// A heartbeat older than this puts the gate down, ms.
    pub gap_ms: i64,
}

/// An account whose gate is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatedAccount {
    /// How far it was read.
    pub row: SweepRow,
    /// The newest operation that is frozen to it.
    pub newest: Option<OperationRecord>,
}

/// A provider's object beside what we know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The intent it names, with its pay operation.
    pub intent: Option<(IntentRecord, OperationRecord)>,
    /// The charge, if its money was recorded.
    pub charge: Option<ChargeRecord>,
    /// Whether it is a known stranger.
    pub stranger: Option<StrangerRecord>,
    /// The payment or refund that it is linked to.
    pub linked: Option<OperationRecord>,
}

/// Something that stands before a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewItem {
    /// An intent, or one of its captures, cancels and refunds.
    Operation {
        /// The checkout.
        checkout: Box<CheckoutRecord>,
        /// The intent.
        intent: Box<IntentRecord>,
        /// The operation.
        operation: Box<OperationRecord>,
    },
    /// Money taken for a checkout that was paid already.
    Extra(Box<ChargeRecord>),
    /// Money that no intent of ours asked for.
    Stranger(Box<StrangerRecord>),
}

/// What a person calls an item of the review by, whoever's it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewId {
    /// An intent: its payment.
    Intent(IntentId),
    /// An operation.
    Operation(OperationId),
    /// The provider's object of an extra or a stranger.
    Object(ObjectId),
}

/// What stands before a person, of every merchant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Up to so many of each kind as were asked for.
    pub items: Vec<ReviewItem>,
    /// Whether there are more of some kind.
    pub more: bool,
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

/// What came of an expiry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// The newest intents of the checkouts that ended.
    pub intents: Vec<(Tenant, IntentId)>,
}
