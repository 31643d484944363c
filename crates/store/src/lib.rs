//! The guarded store: everything that touches money goes through a dozen transactions of [`Store`], the same code over every
//! database. [`Directory`] knows the merchants. Nothing remote is ever awaited here, and only this crate names sqlx.

mod backend;
mod charges;
mod commands;
mod directory;
mod effects;
mod error;
mod flows;
mod inbox;
mod memory;
mod records;
mod rows;
mod sql;
mod sqlite;
mod tables;

use async_trait::async_trait;
use payment::{CheckoutId, Holder, IntentId, ObjectId, OperationId, OrderId, ProviderAccount, Timestamp};

pub use backend::{Backend, Flow};
pub use charges::{ChargeRecord, Fate};
pub use commands::{
    Answer, Asked, BLANK, Change, Charge, ClaimDue, ClaimLook, Claimed, Commit, Committed, Expired,
    GatedAccount, KeyUse, KnownKey, LookOf, Looking, NewIds, OpenCheckout, OpenFollowUp, OpenIntent,
    OpenedCheckout, OpenedFollowUp, OpenedIntent, PutFate, Render, Review, ReviewId, ReviewItem, Standing,
    Start, SubmitCommand, Submitted, Terms,
};
pub use directory::{ApiKeyKind, Caller, Directory, MerchantRecord, WebhookRecord};
pub use effects::{
    ClaimEffects, ClaimedEffect, EffectRecord, EffectState, NextTry, Outbox, SettleEffect, SettledEffect,
};
pub use error::StoreError;
pub use inbox::{
    AcceptNotice, Announcement, ClaimNotices, ClaimedNotice, Inbox, NoticeAbout, NoticeAccepted, NoticeKey,
    NoticeRecord, NoticeSettled, NoticeState, NoticeSubject, NoticeVerdict, SettleNotice,
};
pub use memory::MemoryStore;
pub use records::{
    AttemptRecord, CheckoutRecord, Doubt, FollowUp, Frozen, IntentRecord, JournalRecord, Lease,
    OperationRecord, Resolution, Stage, Story, StrangerRecord, Task, Tenant,
};
pub use rows::{Rows, Table};
pub use sql::SqlStore;
pub use sqlite::{Inspection, Migrated, Sqlite, SqliteOptions};
pub use tables::{Abort, Clock, KeyRow, SweepRow, SweepTables, Tables, Tenure};

/// The transactions. Each method is one: applied as a whole, not at all, or ([`StoreError::Unknown`]) unknown until read again.
#[async_trait]
pub trait Store: Inbox + Outbox + Send + Sync {
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

    /// Claims an operation in whatever stage, for one who learned something about it.
    async fn claim_look(&self, claim: ClaimLook) -> Result<Looking, StoreError>;

    /// Opens a capture, a cancel or a refund; what is refunded is reserved.
    async fn open_follow_up(&self, command: OpenFollowUp) -> Result<OpenedFollowUp, StoreError>;

    /// Lets a worker look at an intent now; whether that is sooner than it would have been.
    async fn look_now(&self, tenant: Tenant, intent: IntentId) -> Result<bool, StoreError>;

    /// Where the shopper is told of the result; false if it is known already.
    async fn set_email(&self, tenant: Tenant, intent: IntentId, email: String) -> Result<bool, StoreError>;

    /// A server starts; whether dispatch has to wait for a sweep.
    async fn start(&self, start: Start) -> Result<bool, StoreError>;

    /// A holder ends: others go on at once with what it holds.
    async fn hand_over(&self, holder: Holder, lease_ms: i64) -> Result<(), StoreError>;

    /// A server is alive.
    async fn beat(&self) -> Result<(), StoreError>;

    /// For each account to which unfinished operations are frozen, the newest of them: it knows the account's credentials.
    async fn unfinished_accounts(&self) -> Result<Vec<OperationRecord>, StoreError>;

    /// A merchant's accounts beside `account` whose gate is down, each with its newest operation, if there is one: it knows the
    /// account's credentials.
    async fn gated_beside(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
    ) -> Result<Vec<GatedAccount>, StoreError>;

    /// How far an account's listing was read, and the time now.
    async fn sweep(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
    ) -> Result<(SweepRow, Timestamp), StoreError>;

    /// An account's listing was read that far; the gate it was read for is lifted.
    async fn swept(&self, read: SweepRow) -> Result<(), StoreError>;

    /// What is known of a provider's object.
    async fn standing(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
        object: ObjectId,
        intent: Option<IntentId>,
    ) -> Result<Standing, StoreError>;

    /// Puts a stranger before a person; whether it is a new one.
    async fn put_stranger(&self, found: StrangerRecord) -> Result<bool, StoreError>;

    /// Strangers of an account that wait at the provider, up to `limit`, oldest first.
    async fn waiting_strangers(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
        limit: u32,
    ) -> Result<Vec<StrangerRecord>, StoreError>;

    /// Charges of an account that went back and in whose place an extra is kept, up to `limit`, newest first.
    async fn replaced_charges(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
        limit: u32,
    ) -> Result<Vec<ChargeRecord>, StoreError>;

    /// A stranger that waited took money, or somebody was told so; false if it does not wait any more, or he was before.
    async fn stranger_took_money(&self, stranger: StrangerRecord) -> Result<bool, StoreError>;

    /// What became of a stranger; false if something had, or its money was taken since it was read, and it is let go of.
    async fn resolve_stranger(
        &self,
        stranger: StrangerRecord,
        resolution: Resolution,
    ) -> Result<bool, StoreError>;

    /// Why it is not known whether money was taken for an order; none where its own intents know.
    async fn doubt(&self, tenant: Tenant, order: OrderId) -> Result<Option<Doubt>, StoreError>;

    /// An operation.
    async fn operation(&self, tenant: Tenant, id: OperationId)
    -> Result<Option<OperationRecord>, StoreError>;

    /// Charges of checkouts that were paid already, not refunded in full and without another fate, up to `limit`, oldest first.
    async fn open_extras(&self, limit: u32) -> Result<Vec<ChargeRecord>, StoreError>;

    /// What became of a charge otherwise than by a refund; false if something came between, or a refund of it is under way.
    async fn put_fate(&self, command: PutFate) -> Result<bool, StoreError>;

    /// What stands before a person, up to `limit` of each kind.
    async fn review(&self, limit: u32) -> Result<Review, StoreError>;

    /// What of that id stands before a person; of an extra that has a fate, that.
    async fn review_item(&self, id: ReviewId) -> Result<Option<ReviewItem>, StoreError>;

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
