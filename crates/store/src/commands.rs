//! What the transactions are asked, and what they answer.

mod claim;
mod follow_up;
mod review;

use std::{collections::BTreeMap, fmt, sync::Arc};

use payment::{
    AttemptId, Capture, CheckoutId, Fingerprint, Holder, IdempotencyKey, IntentId, KeyKind, MethodKind,
    Money, OperationId, OrderId, ProviderKey, SubmitKey,
};

use crate::{CheckoutRecord, Frozen, IntentRecord, Tenant};

pub use claim::{Asked, Change, Charge, ClaimDue, ClaimLook, Claimed, Commit, Committed, LookOf, Looking};
pub use follow_up::{OpenFollowUp, OpenedFollowUp};
pub use review::{GatedAccount, PutFate, Review, ReviewId, ReviewItem, Standing, Start};

/// Stands in a stored answer where a client token was: a byte that JSON never contains. Tables hold no usable secret.
pub const BLANK: u8 = 0x1a;

/// The first final answer to a keyed request, as it is stored and replayed.
#[derive(Clone, PartialEq, Eq, Hash)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    /// The request is made out for an account that the merchant's money does not go to any more: to be made out anew.
    Moved,
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

/// What came of an expiry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// The newest intents of the checkouts that ended.
    pub intents: Vec<(Tenant, IntentId)>,
}
