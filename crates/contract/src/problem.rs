//! Errors for programs: RFC 9457.

use serde::{Deserialize, Serialize};

use crate::Checkout;

/// Where problems are explained: a problem of ours has this, `#` and its code as its `type`. Others on the way answer with the same
/// statuses, and know nothing of what became of a request.
pub const PROBLEMS: &str = "/docs/problems";

/// The codes that say of a request that it was turned away, and did nothing. `idempotency_key_reused` is none of them: another request
/// under that key may have done something.
pub const REFUSALS: [&str; 14] = [
    "invalid_json",
    "invalid_request",
    "idempotency_key_missing",
    "idempotency_key_invalid",
    "unauthorized",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "request_timeout",
    "body_too_large",
    "unsupported_media_type",
    "submit_key_mismatch",
    "invalid_field",
    "card_number_in_text",
];

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
