//! The rules of a payment: ids, money, the intent and its one transition, fingerprints, retry times, the journal's chain.
//! Pure: no async, no clock, no randomness, no I/O. Time and ids come in as arguments.

mod card_number;
mod checkout;
mod effect;
mod event;
mod fingerprint;
mod ids;
mod journal;
mod money;
mod observation;
mod operation;
mod retry;
mod state;
mod step;
mod time;
mod transition;

pub use card_number::has_card_number;
pub use checkout::{Capture, CheckoutStatus, MethodKind};
pub use effect::{Channel, EffectKind, EffectSubject};
pub use event::{Event, NotExecutedReason, UnknownReason};
pub use fingerprint::{Fingerprint, IdempotencyKey, KeyKind, KeySyntaxError};
pub use ids::{
    AttemptId, CheckoutId, EffectId, Holder, IdError, IntentId, MerchantId, Mode, ObjectId, OperationId,
    OrderId, ProviderAccount, ProviderKey, SubmitKey,
};
pub use journal::{JournalHash, JournalLine};
pub use money::{Currency, Money, MoneyError};
pub use observation::{
    Ending, Mismatch, ObjectStatus, Observation, PaidWith, RefundObservation, RefundStatus, Terms,
};
pub use operation::{OperationEvent, OperationKind, OperationState};
pub use retry::RetryPolicy;
pub use state::{
    Awaits, CanceledReason, DeclinedBy, MAX_SUSPECTS, ReviewReason, Stance, State, StateName, Suspect,
};
pub use step::{Dispatch, Step, next_operation_step, next_step};
pub use time::Timestamp;
pub use transition::{Anomaly, Decision, Effect, TransitionError, transition};
