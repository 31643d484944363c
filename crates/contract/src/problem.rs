//! Errors for programs: RFC 9457.

use serde::{Deserialize, Serialize};

use crate::Checkout;

/// `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A stable link that names the kind of problem.
    #[serde(rename = "type")]
    pub kind: String,
    /// A short summary of the kind.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened here, what it means for the money, what to do.
    pub detail: String,
    /// A stable word for programs, for example `idempotency_key_reused`.
    pub code: String,
    /// The field to blame, dotted, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Which request this answers, for support.
    pub request_id: String,
    /// The checkout as it is now, where the caller saw other terms (`checkout_changed`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Box<Checkout>>,
}
