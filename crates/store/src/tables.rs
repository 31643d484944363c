//! The rows as a transaction sees them: typed reads, inserts that a unique index arbitrates, updates that state their
//! precondition. Written once over SQL and once in memory; the flows above are the same for both.

mod attempt;
mod charge;
mod inbox;
mod operation;
mod outbox;
mod sweep;

use std::sync::Arc;

use async_trait::async_trait;
use payment::{
    CheckoutId, CheckoutStatus, IntentId, JournalHash, KeyKind, OrderId, ProviderAccount, Timestamp,
};

use crate::{
    Answer, CheckoutRecord, IntentRecord, JournalRecord, Rows, StoreError, Tenant, commands::KeyUse,
};
pub use attempt::AttemptTables;
pub use charge::ChargeTables;
pub use inbox::InboxTables;
pub use operation::OperationTables;
pub use outbox::OutboxTables;
pub use sweep::{SweepRow, SweepTables, Tenure};

/// The clock of a store that brings its own: tests and simulation, where hours pass at once.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Why a flow stopped without a result; its transaction is rolled back.
#[derive(Debug)]
pub enum Abort {
    /// A row changed under the flow, or an index had it already: run the whole flow again.
    Raced,
    /// The database failed.
    Failed(StoreError),
}

impl From<StoreError> for Abort {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// A key's row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyRow {
    /// Scope, key and parameters.
    pub key: KeyUse,
    /// The checkout it names.
    pub checkout: CheckoutId,
    /// The intent it names.
    pub intent: IntentId,
    /// When it was claimed.
    pub created_at: Timestamp,
    /// The first final answer.
    pub answer: Option<Answer>,
}

/// One transaction's view. `insert_*` answers false when an index had the row already; `update_*` when the precondition did not
/// hold. Nothing is ever selected first and inserted after without an index behind it.
#[async_trait]
pub trait Tables:
    AttemptTables + ChargeTables + InboxTables + OperationTables + OutboxTables + SweepTables + Send
{
    /// The database's clock. To be read after the locks of a transaction, so that a wait is not counted as time left.
    async fn now(&mut self) -> Result<Timestamp, Abort>;

    /// Where a merchant's money goes; none if the directory does not know him.
    async fn account(&mut self, tenant: &Tenant) -> Result<Option<ProviderAccount>, Abort>;

    /// A key's row.
    async fn key(&mut self, tenant: &Tenant, kind: KeyKind, key: &str) -> Result<Option<KeyRow>, Abort>;
    /// Claims a key.
    async fn insert_key(&mut self, row: &KeyRow) -> Result<bool, Abort>;
    /// Stores the first final answer; false if there is one already.
    async fn update_key_answer(
        &mut self,
        tenant: &Tenant,
        kind: KeyKind,
        key: &str,
        answer: &Answer,
    ) -> Result<bool, Abort>;

    /// A checkout, its row locked until the transaction ends.
    async fn lock_checkout(
        &mut self,
        tenant: &Tenant,
        id: CheckoutId,
    ) -> Result<Option<CheckoutRecord>, Abort>;
    /// An order's checkout, its row locked.
    async fn lock_order(&mut self, tenant: &Tenant, order: &OrderId)
    -> Result<Option<CheckoutRecord>, Abort>;
    /// A checkout, not locked.
    async fn checkout(&mut self, tenant: &Tenant, id: CheckoutId) -> Result<Option<CheckoutRecord>, Abort>;
    /// An order's checkout, not locked.
    async fn order(&mut self, tenant: &Tenant, order: &OrderId) -> Result<Option<CheckoutRecord>, Abort>;
    /// When a merchant's first order was made.
    async fn first_order_at(&mut self, tenant: &Tenant) -> Result<Option<Timestamp>, Abort>;
    /// Opens a checkout; one per order.
    async fn insert_checkout(&mut self, row: &CheckoutRecord) -> Result<bool, Abort>;
    /// New terms, version and status, if the version is still `version`.
    async fn update_checkout_terms(&mut self, row: &CheckoutRecord, version: i64) -> Result<bool, Abort>;
    /// A new status, if it is still `from`.
    async fn update_checkout_status(
        &mut self,
        tenant: &Tenant,
        id: CheckoutId,
        from: CheckoutStatus,
        to: CheckoutStatus,
    ) -> Result<bool, Abort>;
    /// Open checkouts past their time whose occupying intent, if any, was never sent, of merchants whose gates are up.
    async fn expired_checkouts(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Tenant, CheckoutId)>, Abort>;

    /// An intent.
    async fn intent(&mut self, tenant: &Tenant, id: IntentId) -> Result<Option<IntentRecord>, Abort>;
    /// A checkout's newest intent.
    async fn newest_intent(
        &mut self,
        tenant: &Tenant,
        checkout: CheckoutId,
    ) -> Result<Option<IntentRecord>, Abort>;
    /// Lets an intent occupy its checkout; one at a time.
    async fn insert_intent(&mut self, row: &IntentRecord) -> Result<bool, Abort>;
    /// A new state, method, means and address, with the next version, if the version is still `version`.
    async fn update_intent(&mut self, row: &IntentRecord, version: i64) -> Result<bool, Abort>;

    /// Where the shopper is told; the version stays, since no state changes.
    async fn set_intent_email(&mut self, tenant: &Tenant, id: IntentId, email: &str) -> Result<bool, Abort>;

    /// The newest line of an intent's journal: its number and hash.
    async fn journal_head(
        &mut self,
        tenant: &Tenant,
        intent: IntentId,
    ) -> Result<Option<(i64, JournalHash)>, Abort>;
    /// One more line.
    async fn insert_journal(
        &mut self,
        tenant: &Tenant,
        intent: IntentId,
        row: &JournalRecord,
    ) -> Result<bool, Abort>;
    /// All lines, oldest first.
    async fn journal(&mut self, tenant: &Tenant, intent: IntentId) -> Result<Vec<JournalRecord>, Abort>;

    /// Every row of every table.
    async fn rows(&mut self) -> Result<Rows, Abort>;
}
