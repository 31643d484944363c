//! Runs flows as transactions. A backend says how one is begun, committed and repeated; what happens inside is the same for all.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use payment::{CheckoutId, Holder, IntentId, ObjectId, OperationId, OrderId, ProviderAccount, Timestamp};

use crate::{
    ChargeRecord, CheckoutRecord, ClaimDue, ClaimLook, Claimed, Commit, Committed, Doubt, Expired,
    GatedAccount, IntentRecord, KeyUse, KnownKey, Looking, OpenCheckout, OpenFollowUp, OpenIntent,
    OpenedCheckout, OpenedFollowUp, OpenedIntent, OperationRecord, PutFate, Resolution, Review, ReviewId,
    ReviewItem, Standing, Start, Store, StoreError, Story, StrangerRecord, SubmitCommand, Submitted,
    SweepRow, Tables, Tenant, flows, tables::Abort,
};

/// A transaction's body. It may run more than once, so it must be a function of the rows alone.
pub type Flow<R> = Arc<dyn for<'t> Fn(&'t mut dyn Tables) -> BoxFuture<'t, Result<R, Abort>> + Send + Sync>;

/// How transactions run.
#[async_trait]
pub trait Backend: Send + Sync + 'static {
    /// Runs a flow that writes; its result is told only when it is committed.
    async fn write<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError>;

    /// Runs a flow that only reads, on one snapshot.
    async fn read<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError>;
}

/// Turns a call into a flow: the command is shared by every run of it.
macro_rules! flow {
    ($command:expr, $path:path) => {{
        let command = Arc::new($command);
        Arc::new(move |tables: &mut dyn Tables| {
            let command = Arc::clone(&command);
            Box::pin(async move { $path(tables, &command).await }) as BoxFuture<'_, _>
        })
    }};
}

mod inbox;
mod outbox;

#[async_trait]
impl<B: Backend> Store for B {
    async fn find_key(&self, key: KeyUse) -> Result<Option<KnownKey>, StoreError> {
        self.read(flow!(key, flows::keys::find)).await
    }

    async fn open_checkout(&self, command: OpenCheckout) -> Result<OpenedCheckout, StoreError> {
        self.write(flow!(command, flows::open_checkout::run)).await
    }

    async fn open_intent(&self, command: OpenIntent) -> Result<OpenedIntent, StoreError> {
        self.write(flow!(command, flows::open_intent::run)).await
    }

    async fn submit(&self, command: SubmitCommand) -> Result<Submitted, StoreError> {
        self.write(flow!(command, flows::submit::run)).await
    }

    async fn claim_due(&self, claim: ClaimDue) -> Result<Vec<Claimed>, StoreError> {
        self.write(flow!(claim, flows::claim::run)).await
    }

    async fn commit(&self, commit: Commit) -> Result<Committed, StoreError> {
        self.write(flow!(commit, flows::commit::run)).await
    }

    async fn expire(&self, limit: u32) -> Result<Expired, StoreError> {
        self.write(flow!(limit, flows::expire::run)).await
    }

    async fn claim_look(&self, claim: ClaimLook) -> Result<Looking, StoreError> {
        self.write(flow!(claim, flows::claim::look)).await
    }

    async fn open_follow_up(&self, command: OpenFollowUp) -> Result<OpenedFollowUp, StoreError> {
        self.write(flow!(command, flows::follow_up::open)).await
    }

    async fn look_now(&self, tenant: Tenant, intent: IntentId) -> Result<bool, StoreError> {
        self.write(flow!((tenant, intent), flows::shopper::look_now)).await
    }

    async fn set_email(&self, tenant: Tenant, intent: IntentId, email: String) -> Result<bool, StoreError> {
        self.write(flow!((tenant, intent, email), flows::shopper::set_email)).await
    }

    async fn start(&self, start: Start) -> Result<bool, StoreError> {
        self.write(flow!(start, flows::sweep::start)).await
    }

    async fn hand_over(&self, holder: Holder, lease_ms: i64) -> Result<(), StoreError> {
        self.write(flow!((holder, lease_ms), flows::claim::hand_over)).await
    }

    async fn beat(&self) -> Result<(), StoreError> {
        self.write(flow!((), flows::sweep::beat)).await
    }

    async fn unfinished_accounts(&self) -> Result<Vec<OperationRecord>, StoreError> {
        self.read(flow!((), flows::sweep::unfinished_accounts)).await
    }

    async fn gated_beside(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
    ) -> Result<Vec<GatedAccount>, StoreError> {
        self.read(flow!((tenant, account), flows::sweep::gated_beside)).await
    }

    async fn sweep(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
    ) -> Result<(SweepRow, Timestamp), StoreError> {
        self.read(flow!((tenant, account), flows::sweep::sweep)).await
    }

    async fn swept(&self, read: SweepRow) -> Result<(), StoreError> {
        self.write(flow!(read, flows::sweep::swept)).await
    }

    async fn standing(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
        object: ObjectId,
        intent: Option<IntentId>,
    ) -> Result<Standing, StoreError> {
        self.read(flow!((tenant, account, object, intent), flows::sweep::standing)).await
    }

    async fn put_stranger(&self, found: StrangerRecord) -> Result<bool, StoreError> {
        self.write(flow!(found, flows::sweep::put_stranger)).await
    }

    async fn waiting_strangers(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
        limit: u32,
    ) -> Result<Vec<StrangerRecord>, StoreError> {
        self.read(flow!((tenant, account, limit), flows::sweep::waiting_strangers)).await
    }

    async fn replaced_charges(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
        limit: u32,
    ) -> Result<Vec<ChargeRecord>, StoreError> {
        self.read(flow!((tenant, account, limit), flows::review::replaced_charges)).await
    }

    async fn stranger_took_money(&self, stranger: StrangerRecord) -> Result<bool, StoreError> {
        self.write(flow!(stranger, flows::sweep::stranger_took_money)).await
    }

    async fn resolve_stranger(
        &self,
        stranger: StrangerRecord,
        resolution: Resolution,
    ) -> Result<bool, StoreError> {
        self.write(flow!((stranger, resolution), flows::sweep::resolve_stranger)).await
    }

    async fn operation(
        &self,
        tenant: Tenant,
        id: OperationId,
    ) -> Result<Option<OperationRecord>, StoreError> {
        self.read(flow!((tenant, id), flows::reads::operation)).await
    }

    async fn doubt(&self, tenant: Tenant, order: OrderId) -> Result<Option<Doubt>, StoreError> {
        self.read(flow!((tenant, order), flows::sweep::doubt)).await
    }

    async fn open_extras(&self, limit: u32) -> Result<Vec<ChargeRecord>, StoreError> {
        self.read(flow!(limit, flows::review::open_extras)).await
    }

    async fn put_fate(&self, command: PutFate) -> Result<bool, StoreError> {
        self.write(flow!(command, flows::review::put_fate)).await
    }

    async fn review(&self, limit: u32) -> Result<Review, StoreError> {
        self.read(flow!(limit, flows::review::list)).await
    }

    async fn review_item(&self, id: ReviewId) -> Result<Option<ReviewItem>, StoreError> {
        self.read(flow!(id, flows::review::find)).await
    }

    async fn checkout(
        &self,
        tenant: Tenant,
        id: CheckoutId,
    ) -> Result<Option<(CheckoutRecord, IntentRecord)>, StoreError> {
        self.read(flow!((tenant, id), flows::reads::checkout)).await
    }

    async fn intent(
        &self,
        tenant: Tenant,
        id: IntentId,
    ) -> Result<Option<(CheckoutRecord, IntentRecord)>, StoreError> {
        self.read(flow!((tenant, id), flows::reads::intent)).await
    }

    async fn order(
        &self,
        tenant: Tenant,
        order: OrderId,
    ) -> Result<Option<(CheckoutRecord, IntentRecord)>, StoreError> {
        self.read(flow!((tenant, order), flows::reads::order)).await
    }

    async fn story(&self, tenant: Tenant, id: IntentId) -> Result<Option<Story>, StoreError> {
        self.read(flow!((tenant, id), flows::reads::story)).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.read(flow!((), flows::reads::ping)).await
    }
}
