//! What the sweep finds, and what stands before a person.

use payment::{IntentId, ObjectId, OperationId, ProviderAccount};

use crate::{
    ChargeRecord, CheckoutRecord, Fate, IntentRecord, OperationRecord, StrangerRecord, SweepRow, Tenant,
};

/// A server starts.
#[derive(Clone, Debug)]
pub struct Start {
    /// The accounts that merchants' money goes to.
    pub own: Vec<(Tenant, ProviderAccount)>,
    /// Accounts that it does not go to any more, while something is unfinished there.
    pub left: Vec<(Tenant, ProviderAccount)>,
    /// A heartbeat older than this puts the gate down, ms.
    pub gap_ms: i64,
}

/// An account whose gate is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatedAccount {
    /// How far it was read.
    pub row: SweepRow,
    /// The newest operation that is frozen to it.
    pub newest: Option<OperationRecord>,
}

/// A provider's object beside what we know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The intent it names, with its pay operation.
    pub intent: Option<(IntentRecord, OperationRecord)>,
    /// The charge, if its money was recorded.
    pub charge: Option<ChargeRecord>,
    /// Whether it is a known stranger.
    pub stranger: Option<StrangerRecord>,
    /// The payment or refund that it is linked to.
    pub linked: Option<OperationRecord>,
}

/// What became of a charge.
#[derive(Clone, Debug)]
pub struct PutFate {
    /// The charge, as it was seen.
    pub charge: ChargeRecord,
    /// Its fate; none where its money is there again.
    pub fate: Option<Fate>,
    /// What shows it, for the journal.
    pub evidence: String,
}

/// Something that stands before a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewItem {
    /// An intent, or one of its captures, cancels and refunds.
    Operation {
        /// The checkout.
        checkout: Box<CheckoutRecord>,
        /// The intent.
        intent: Box<IntentRecord>,
        /// The operation.
        operation: Box<OperationRecord>,
    },
    /// Money taken for a checkout that was paid already; found by its id, also one that has a fate.
    Extra(Box<ChargeRecord>),
    /// Money that no intent of ours asked for.
    Stranger(Box<StrangerRecord>),
}

/// What a person calls an item of the review by, whoever's it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewId {
    /// An intent: its payment.
    Intent(IntentId),
    /// An operation.
    Operation(OperationId),
    /// The provider's object of an extra or a stranger.
    Object(ObjectId),
}

/// What stands before a person, of every merchant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Up to so many of each kind as were asked for.
    pub items: Vec<ReviewItem>,
    /// Whether there are more of some kind.
    pub more: bool,
}
