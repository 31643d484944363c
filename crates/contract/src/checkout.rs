//! `POST /v1/checkouts`, `GET /v1/checkouts/{id}`.

use serde::{Deserialize, Serialize};

use crate::{Amount, IntentState, Metadata, payment_intent::is_false};

/// The body of `POST /v1/checkouts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct CreateCheckout {
    /// The merchant's own reference for what is bought, at most 64 characters.
    pub order_id: String,
    /// What is to be paid.
    pub amount: Amount,
    /// Shown to the shopper, at most 128 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who pays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<Customer>,
    /// Where the shopper goes afterwards; one of the merchant's listed origins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_url: Option<String>,
    /// At most 13 pairs of the merchant's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Seconds until the checkout expires; 86400 unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<i64>,
    /// When the money moves; `automatic` unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<Capture>,
}

/// The shopper, as far as the merchant tells us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Customer {
    /// Where the receipt goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// When authorised money is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capture {
    /// At once.
    #[default]
    Automatic,
    /// When the merchant asks.
    Manual,
}

/// Where a checkout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckoutStatus {
    /// Can be paid.
    Open,
    /// Has a charge.
    Paid,
    /// Withdrawn by the merchant. To be understood, though nothing can withdraw one yet.
    Canceled,
    /// Ran out of time unpaid.
    Expired,
}

/// An order offered for payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkout {
    /// `co_…`.
    pub id: String,
    /// `"checkout"`.
    pub object: String,
    /// Where it stands.
    pub status: CheckoutStatus,
    /// The merchant's reference.
    pub order_id: String,
    /// What is to be paid.
    pub amount: Amount,
    /// Once it is paid: what the charge that paid it took, which may be another sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged: Option<Amount>,
    /// All that was charged for it, once or more often, went back to the shopper, by us or without us.
    #[serde(default, skip_serializing_if = "is_false")]
    pub returned: bool,
    /// Why it is not known whether money was taken for its order, whatever the state says: nobody should pay it another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_question: Option<InQuestion>,
    /// Shown to the shopper.
    #[serde(default)]
    pub description: Option<String>,
    /// Absolute link of the payment page, token included.
    pub url: String,
    /// Authorises the shopper's browser for this checkout and nothing else.
    pub client_token: String,
    /// Rises with every change of terms.
    pub version: i64,
    /// The intent to submit or to watch.
    pub payment_intent: CheckoutIntent,
    /// The merchant's own pairs.
    pub metadata: Metadata,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// RFC 3339, UTC.
    pub expires_at: String,
}

/// Why it is not known whether money was taken for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InQuestion {
    /// Money that names it, and that no payment of ours asked for, stands before a person.
    Review,
    /// No server was alive for a while, or a backup was restored: what the provider did meanwhile is being read.
    Restore,
}

/// The newest intent of a checkout, as far as submitting it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutIntent {
    /// `pi_…`.
    pub id: String,
    /// To be sent as `Idempotency-Key` with every submission of this intent (R1).
    pub submit_key: String,
    /// Where it stands.
    pub state: IntentState,
}
