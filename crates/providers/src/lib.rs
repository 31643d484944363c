//! Who moves the money: one trait, and per provider a pure encode/decode with a thin send. Nothing here decides what an answer
//! means for an intent, and nothing here touches a store.

mod http;
mod last_look;
pub mod yookassa;

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use payment::{
    Capture, CheckoutId, IntentId, Money, NotExecutedReason, ObjectId, ObjectStatus, Observation,
    OperationId, OrderId, ProviderKey, RefundObservation, Timestamp, UnknownReason,
};

/// A credential. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// An account with a provider, as a send needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Base of the API, without a version.
    pub url: String,
    /// The account's id there.
    pub id: String,
    /// Its secret.
    pub secret: Secret,
}

/// How the shopper pays.
#[derive(Clone, PartialEq, Eq)]
pub enum Method {
    /// With a card the browser tokenised.
    CardToken(String),
    /// On the provider's own page.
    Redirect,
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::CardToken(_) => "CardToken(…)",
            Self::Redirect => "Redirect",
        })
    }
}

/// A payment to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayRequest {
    /// Ours: written into the object's metadata, which links it to us for ever.
    pub checkout: CheckoutId,
    /// Ours.
    pub intent: IntentId,
    /// The merchant's.
    pub order: OrderId,
    /// How much.
    pub amount: Money,
    /// When the money moves.
    pub capture: Capture,
    /// How it is paid.
    pub method: Method,
    /// Shown in the provider's dashboard.
    pub description: Option<String>,
    /// The merchant's own pairs.
    pub metadata: BTreeMap<String, String>,
    /// Where the provider's page sends the shopper back to.
    pub return_url: String,
}

/// A refund to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundRequest {
    /// Ours: written into the refund, so that equal sums can be told apart.
    pub operation: OperationId,
    /// The provider's payment.
    pub payment: ObjectId,
    /// How much of it.
    pub amount: Money,
    /// Why, for the provider's dashboard.
    pub reason: Option<String>,
}

/// A request as bytes: encoded once, frozen, and sent as it is by every attempt (R15).
#[derive(Clone, PartialEq, Eq)]
pub struct Encoded {
    /// HTTP method.
    pub method: &'static str,
    /// Path below the account's base.
    pub path: String,
    /// JSON.
    pub body: Vec<u8>,
}

/// A request as it was frozen, ready to leave.
#[derive(Clone)]
pub struct Outgoing {
    /// HTTP method.
    pub method: String,
    /// Path below the account's base.
    pub path: String,
    /// JSON.
    pub body: Vec<u8>,
    /// The operation's key.
    pub key: ProviderKey,
    /// Asked immediately before the first byte leaves, after the connection is there; where it says no, nothing is sent and the
    /// reply is [`NotExecutedReason::TooLate`]. A process that was paused may wake up between any two instructions.
    pub may_leave: MayLeave,
}

/// The last look before the first byte.
pub type MayLeave = Arc<dyn Fn() -> bool + Send + Sync>;

/// What a send or a query brought: a payment, unless another object is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<O = Observation> {
    /// The provider showed an object.
    Object(O),
    /// This send was definitely not executed.
    NotExecuted {
        /// Why.
        reason: NotExecutedReason,
        /// How long the provider wants us to wait, ms.
        retry_after_ms: Option<i64>,
    },
    /// The request is wrong (HTTP 400).
    Rejected {
        /// The provider's code.
        code: String,
        /// The provider's words.
        message: String,
    },
    /// Anything else: the result is unknown (R10).
    Unknown {
        /// Why.
        reason: UnknownReason,
        /// What its status says, where the words are not the provider's own: whoever stands between us may have answered after the
        /// provider had executed it.
        turned_away: Option<NotExecutedReason>,
        /// How long the provider wants us to wait, ms.
        retry_after_ms: Option<i64>,
    },
}

/// Which moment of an object a listing goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// When it was made.
    Made,
    /// When its money was taken: what took none is not listed. Payments only.
    Taken,
}

/// A stretch of a provider's listing. Both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// By which moment.
    pub by: By,
    /// From when on.
    pub from: Timestamp,
    /// Until when; none for "until now".
    pub to: Option<Timestamp>,
}

/// A page of a provider's listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Page<O = Observation> {
    /// Objects; rows that do not read as such are left out and counted.
    Objects {
        /// The objects.
        objects: Vec<O>,
        /// Rows that could not be read.
        unreadable: usize,
        /// Where the next page begins.
        next: Option<String>,
        /// When it was answered, by the provider's own clock, where it says so.
        at: Option<Timestamp>,
    },
    /// No listing this time.
    Failed {
        /// How long the provider wants us to wait, ms.
        retry_after_ms: Option<i64>,
    },
    /// None for these credentials, in the provider's own words.
    TurnedAway,
}

/// What a notification announces. A hint, never evidence: anybody can send one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The provider's name of the event, for example `payment.succeeded`.
    pub event: String,
    /// The object it is about.
    pub object: ObjectId,
    /// What kind of object.
    pub about: About,
    /// The status it announces, in the provider's word.
    pub status: String,
    /// Our intent, if the object names one.
    pub intent: Option<IntentId>,
}

/// What kind of object a notification is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A payment.
    Payment,
    /// A refund of this payment.
    Refund {
        /// The provider's payment.
        payment: ObjectId,
    },
}

/// Who moves the money. Every method is a fact of the provider: there are no defaults that do nothing.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The name in the store and the API.
    fn name(&self) -> &'static str;

    /// How long after the first send a key still protects, the margin taken off, ms (R17). `None`: no keys, never re-sent to.
    fn resend_window_ms(&self) -> Option<i64>;

    /// Whether listings can prove that a payment does not exist: they are complete, and a straggling send takes no money once its
    /// card token is dead.
    fn proves_absence(&self) -> bool;

    /// How long a payment may wait for the shopper before the provider ends it by itself, ms after it was made.
    fn pending_ends_after_ms(&self) -> Option<i64>;

    /// How long money may be held before the provider lets go of it by itself, at most, ms after it was held.
    fn hold_ends_after_ms(&self) -> i64;

    /// Whether a payment in this status can be cancelled.
    fn can_cancel(&self, status: &ObjectStatus) -> bool;

    /// The request for a payment. Pure.
    fn encode_pay(&self, request: &PayRequest) -> Encoded;

    /// The request to take money that is held. Pure.
    fn encode_capture(&self, payment: &ObjectId, amount: Money) -> Encoded;

    /// The request to let go of money that is held. Pure.
    fn encode_cancel(&self, payment: &ObjectId) -> Encoded;

    /// The request for a refund. Pure.
    fn encode_refund(&self, request: &RefundRequest) -> Encoded;

    /// Sends a frozen request whose answer is a payment: pay, capture, cancel.
    async fn send(&self, account: &Account, request: Outgoing) -> Reply;

    /// Sends a frozen request whose answer is a refund.
    async fn send_refund(&self, account: &Account, request: Outgoing) -> Reply<RefundObservation>;

    /// Asks for a payment. What is shown under another id is no answer: it cannot be read.
    async fn query(&self, account: &Account, payment: &ObjectId) -> Reply;

    /// Asks for a refund. What is shown under another id is no answer: it cannot be read.
    async fn query_refund(&self, account: &Account, refund: &ObjectId) -> Reply<RefundObservation>;

    /// Lists payments, a page at a time.
    async fn list(&self, account: &Account, span: Span, cursor: Option<&str>) -> Page;

    /// Lists refunds, of one payment where one is given, a page at a time.
    async fn list_refunds(
        &self,
        account: &Account,
        of: Option<&ObjectId>,
        span: Span,
        cursor: Option<&str>,
    ) -> Page<RefundObservation>;

    /// Reads a notification's body. Pure. `None`: not one that this provider sends.
    fn read_notice(&self, body: &[u8]) -> Option<Notice>;

    /// Whether a payment that stands at `now` has reached what a notification announced: its status, or one past it.
    fn has_reached(&self, now: &ObjectStatus, announced: &str) -> bool;
}
