//! The guarded store: everything that touches money goes through a dozen transactions of [`Store`], the same code over every
//! database. [`Directory`] knows the merchants. Nothing remote is ever awaited here, and only this crate names sqlx.

mod backend;
mod commands;
mod directory;
mod error;
mod flows;
mod memory;
mod records;
mod sql;
mod sqlite;
mod tables;

use async_trait::async_trait;
use payment::{CheckoutId, IntentId, OrderId};

pub use backend::{Backend, Flow};
pub use commands::{
    Answer, BLANK, Change, ClaimDue, Claimed, Commit, Committed, Expired, KeyUse, KnownKey, NewIds,
    OpenCheckout, OpenIntent, OpenedCheckout, OpenedIntent, Render, SubmitCommand, Submitted, Terms,
};
pub use directory::{ApiKeyKind, Caller, Directory, MerchantRecord};
pub use error::StoreError;
pub use memory::MemoryStore;
pub use records::{
    AttemptRecord, CheckoutRecord, Frozen, IntentRecord, JournalRecord, Lease, OperationRecord, Stage, Story,
    Tenant,
};
pub use sql::SqlStore;
pub use sqlite::{Inspection, Migrated, Sqlite, SqliteOptions};
pub use tables::{Abort, ChargeRow, Clock, KeyRow, Tables};

/// The transactions. Each method is one: applied as a whole, not at all, or ([`StoreError::Unknown`]) unknown until read again.
#[async_trait]
pub trait Store: Send + Sync {
    /// What a key already names, read without a write: the first look of every keyed request.
    async fn find_key(&self, key: KeyUse) -> Result<Option<KnownKey>, StoreError>;

    /// Claims the key and opens a checkout with its first intent and pay operation, or adopts the order's checkout.
    async fn open_checkout(&self, command: OpenCheckout) -> Result<OpenedCheckout, StoreError>;

    /// Claims the key and lets a new intent occupy the checkout, or names the one that does.
    async fn open_intent(&self, command: OpenIntent) -> Result<OpenedIntent, StoreError>;

    /// The first claim of a pay operation: key, terms, frozen request, lease, fence and attempt, or who was first.
    async fn submit(&self, command: SubmitCommand) -> Result<Submitted, StoreError>;

    /// Claims the next operations whose wake-up has come, each with a fresh fence.
    async fn claim_due(&self, claim: ClaimDue) -> Result<Vec<Claimed>, StoreError>;

    /// Writes what came of a claim, fenced: state, journal, charge, wake-up and replay together.
    async fn commit(&self, commit: Commit) -> Result<Committed, StoreError>;

    /// Ends up to `limit` checkouts whose time has run out and whose intent was never sent.
    async fn expire(&self, limit: u32) -> Result<Expired, StoreError>;

    /// A checkout with its newest intent.
    async fn checkout(
        &self,
        tenant: Tenant,
        id: CheckoutId,
    ) -> Result<Option<(CheckoutRecord, IntentRecord)>, StoreError>;

    /// An intent with its checkout.
    async fn intent(
        &self,
        tenant: Tenant,
        id: IntentId,
    ) -> Result<Option<(CheckoutRecord, IntentRecord)>, StoreError>;

    /// The checkout of an order with its newest intent.
    async fn order(
        &self,
        tenant: Tenant,
        order: OrderId,
    ) -> Result<Option<(CheckoutRecord, IntentRecord)>, StoreError>;

    /// Operation, attempts and journal of an intent.
    async fn story(&self, tenant: Tenant, id: IntentId) -> Result<Option<Story>, StoreError>;

    /// Whether the database answers.
    async fn ping(&self) -> Result<(), StoreError>;
}
