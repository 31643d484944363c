//! What merchants are told by webhook (Standard Webhooks).

use serde::{Deserialize, Serialize};

use crate::{Amount, CheckoutStatus, IntentState, Metadata};

/// The `type` of the webhook that says that a checkout is paid.
pub const CHECKOUT_PAID: &str = "checkout.paid";

/// The body of a webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// `checkout.paid`.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it happened: RFC 3339, UTC. The header `webhook-timestamp` tells when it was sent.
    pub timestamp: String,
    /// What it is about.
    pub data: PaidCheckout,
}

/// A checkout, as `checkout.paid` tells of it. It holds no token: whoever reads it cannot act for the shopper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaidCheckout {
    /// `co_…`.
    pub id: String,
    /// `"checkout"`.
    pub object: String,
    /// `paid`.
    pub status: CheckoutStatus,
    /// The merchant's reference.
    pub order_id: String,
    /// What was paid.
    pub amount: Amount,
    /// The merchant's own pairs.
    pub metadata: Metadata,
    /// The intent that paid.
    pub payment_intent: PaidIntent,
    /// When we learned that it is paid: RFC 3339, UTC.
    pub paid_at: String,
}

/// The intent that paid a checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaidIntent {
    /// `pi_…`.
    pub id: String,
    /// Where it stands. Money that was reported after the intent had ended pays the checkout all the same.
    pub state: IntentState,
}
