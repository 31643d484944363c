//! Who moves the money: one trait, and per provider a pure encode/decode with a thin send. Nothing here decides what an answer
//! means for an intent, and nothing here touches a store.

mod http;
pub mod yookassa;

use std::{collections::BTreeMap, fmt};

use async_trait::async_trait;
use payment::{
    Capture, CheckoutId, IntentId, Money, NotExecutedReason, ObjectId, Observation, OrderId, ProviderKey,
    Timestamp, UnknownReason,
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

/// A request as bytes: encoded once, frozen, and sent as it is by every attempt (R15).
#[derive(Clone, PartialEq, Eq)]
pub struct Encoded {
    /// HTTP method.
    pub method: &'static str,
    /// Path below the account's base.
    pub path: &'static str,
    /// JSON.
    pub body: Vec<u8>,
}

/// What a send or a query brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The provider showed an object.
    Object(Observation),
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
        /// How long the provider wants us to wait, ms.
        retry_after_ms: Option<i64>,
    },
}

/// A page of a provider's listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Page {
    /// Objects, newest first; rows that do not read as payments are left out and counted.
    Objects {
        /// The objects.
        objects: Vec<Observation>,
        /// Rows that could not be read.
        unreadable: usize,
        /// Where the next page begins.
        next: Option<String>,
    },
    /// No listing this time.
    Failed {
        /// How long the provider wants us to wait, ms.
        retry_after_ms: Option<i64>,
    },
}

/// Who moves the money. Every method is a fact of the provider: there are no defaults that do nothing.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The name in the store and the API.
    fn name(&self) -> &'static str;

    /// How long after the first send a key still protects, the margin taken off, ms (R17). `None`: no keys, never re-sent to.
    fn resend_window_ms(&self) -> Option<i64>;

    /// The request for a payment. Pure.
    fn encode_pay(&self, request: &PayRequest) -> Encoded;

    /// Sends a frozen request under its key.
    async fn send(
        &self,
        account: &Account,
        method: &str,
        path: &str,
        body: Vec<u8>,
        key: ProviderKey,
    ) -> Reply;

    /// Asks for an object.
    async fn query(&self, account: &Account, object: &ObjectId) -> Reply;

    /// Lists payments made from `from` on, a page at a time.
    async fn list(&self, account: &Account, from: Timestamp, cursor: Option<&str>) -> Page;
}
