//! The wire: requests, answers and problems of the public API, as serde types and nothing else.
//! Must never hold a rule, a default that matters to money, or anything that does not build to WebAssembly.

mod amount;
mod checkout;
mod event;
mod metadata;
mod payment_intent;
mod problem;

pub use amount::{Amount, Decimal};
pub use checkout::{Capture, Checkout, CheckoutIntent, CheckoutStatus, CreateCheckout, Customer, InQuestion};
pub use event::{CHECKOUT_PAID, Event, PaidCheckout, PaidIntent};
pub use metadata::Metadata;
pub use payment_intent::{
    Attempt, Decline, ExtraCharge, IntentState, JournalEntry, NextAction, PaymentIntent, PaymentMethod,
    PaymentMethodInput, Progress, ProgressKind, ProgressStep, ProviderLink, Submit,
};
pub use problem::{PROBLEMS, Problem, REFUSALS};

/// Names the merchant's and the shopper's idempotency key (IETF draft, Stripe).
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
/// YooKassa's spelling, accepted as an alias.
pub const IDEMPOTENCE_KEY: &str = "Idempotence-Key";
/// Marks a replay (Stripe's spelling).
pub const IDEMPOTENT_REPLAYED: &str = "Idempotent-Replayed";
/// Marks a replay (second spelling in the wild).
pub const IDEMPOTENCY_REPLAYED: &str = "Idempotency-Replayed";
