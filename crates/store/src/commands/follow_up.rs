//! Captures, cancels and refunds.

use payment::{IntentId, Money, ObjectId, OperationId, OperationKind, ProviderKey};

use crate::{Frozen, OperationRecord, Tenant};

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
    /// Whether it is meant for an extra: not once that has a fate.
    pub of_open_extra: bool,
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
