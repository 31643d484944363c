//! A store whose next transaction of a kind fails, before it is applied or after: a process that dies, a COMMIT without an answer.

mod inbox;
mod outbox;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use payment::{CheckoutId, Holder, IntentId, ObjectId, OperationId, OrderId, ProviderAccount, Timestamp};
use store::{
    ChargeRecord, CheckoutRecord, ClaimDue, ClaimLook, Claimed, Commit, Committed, Doubt, Expired,
    GatedAccount, IntentRecord, KeyUse, KnownKey, Looking, OpenCheckout, OpenFollowUp, OpenIntent,
    OpenedCheckout, OpenedFollowUp, OpenedIntent, OperationRecord, PutFate, Resolution, Review, ReviewId,
    ReviewItem, Standing, Start, Store, StoreError, Story, StrangerRecord, SubmitCommand, Submitted,
    SweepRow, Tenant,
};

/// Which transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    OpenCheckout,
    Submit,
    Commit,
    OpenFollowUp,
    Standing,
    Operation,
    ResolveStranger,
    PutFate,
    Settle,
    AcceptNotice,
    SettleNotice,
}

/// When it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Rolled back.
    Before,
    /// Applied, and nobody was told.
    After,
    /// Rolled back, and said so: the disk is full.
    Refused,
    /// Somebody else was first: a commit is stale.
    Overtaken,
    /// A newer version wrote the row.
    Unreadable,
}

/// The store.
pub struct Flaky {
    inner: Arc<dyn Store>,
    trips: Mutex<Vec<(Call, When)>>,
    /// Intents that were asked for, one by one.
    pub intents_read: AtomicUsize,
}

fn lost() -> StoreError {
    StoreError::Unknown(Arc::new(std::io::Error::other("the connection broke at COMMIT")))
}

fn full() -> StoreError {
    StoreError::Refused(Arc::new(std::io::Error::other("database or disk is full")))
}

impl Flaky {
    pub fn new(inner: Arc<dyn Store>, trips: &[(Call, When)]) -> Arc<Self> {
        Arc::new(Self { inner, trips: Mutex::new(trips.to_vec()), intents_read: AtomicUsize::new(0) })
    }

    fn trip(&self, call: Call) -> Option<When> {
        let mut trips = self.trips.lock().unwrap();
        let at = trips.iter().position(|(planned, _)| *planned == call)?;
        Some(trips.remove(at).1)
    }

    async fn through<R>(
        &self,
        call: Call,
        work: impl Future<Output = Result<R, StoreError>>,
    ) -> Result<R, StoreError> {
        match self.trip(call) {
            None => work.await,
            Some(When::Before) => Err(lost()),
            Some(When::Refused | When::Overtaken) => Err(full()),
            Some(When::Unreadable) => Err(StoreError::Unreadable("a newer version wrote it".to_owned())),
            Some(When::After) => {
                work.await?;
                Err(lost())
            }
        }
    }
}

type Found = Result<Option<(CheckoutRecord, IntentRecord)>, StoreError>;

#[async_trait]
impl Store for Flaky {
    async fn find_key(&self, key: KeyUse) -> Result<Option<KnownKey>, StoreError> {
        self.inner.find_key(key).await
    }

    async fn open_checkout(&self, command: OpenCheckout) -> Result<OpenedCheckout, StoreError> {
        self.through(Call::OpenCheckout, self.inner.open_checkout(command)).await
    }

    async fn open_intent(&self, command: OpenIntent) -> Result<OpenedIntent, StoreError> {
        self.inner.open_intent(command).await
    }

    async fn submit(&self, command: SubmitCommand) -> Result<Submitted, StoreError> {
        self.through(Call::Submit, self.inner.submit(command)).await
    }

    async fn claim_due(&self, claim: ClaimDue) -> Result<Vec<Claimed>, StoreError> {
        self.inner.claim_due(claim).await
    }

    async fn commit(&self, commit: Commit) -> Result<Committed, StoreError> {
        match self.trip(Call::Commit) {
            Some(When::Overtaken) => {
                Ok(Committed::Stale { fence: commit.fence + 1, version: commit.version })
            }
            tripped => {
                self.trips.lock().unwrap().extend(tripped.map(|when| (Call::Commit, when)));
                self.through(Call::Commit, self.inner.commit(commit)).await
            }
        }
    }

    async fn claim_look(&self, claim: ClaimLook) -> Result<Looking, StoreError> {
        self.inner.claim_look(claim).await
    }

    async fn open_follow_up(&self, command: OpenFollowUp) -> Result<OpenedFollowUp, StoreError> {
        self.through(Call::OpenFollowUp, self.inner.open_follow_up(command)).await
    }

    async fn look_now(&self, tenant: Tenant, intent: IntentId) -> Result<bool, StoreError> {
        self.inner.look_now(tenant, intent).await
    }

    async fn set_email(&self, tenant: Tenant, intent: IntentId, email: String) -> Result<bool, StoreError> {
        self.inner.set_email(tenant, intent, email).await
    }

    async fn start(&self, start: Start) -> Result<bool, StoreError> {
        self.inner.start(start).await
    }

    async fn hand_over(&self, holder: Holder, lease_ms: i64) -> Result<(), StoreError> {
        self.inner.hand_over(holder, lease_ms).await
    }

    async fn beat(&self) -> Result<(), StoreError> {
        self.inner.beat().await
    }

    async fn unfinished_accounts(&self) -> Result<Vec<OperationRecord>, StoreError> {
        self.inner.unfinished_accounts().await
    }

    async fn gated_beside(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
    ) -> Result<Vec<GatedAccount>, StoreError> {
        self.inner.gated_beside(tenant, account).await
    }

    async fn sweep(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
    ) -> Result<(SweepRow, Timestamp), StoreError> {
        self.inner.sweep(tenant, account).await
    }

    async fn swept(&self, read: SweepRow) -> Result<(), StoreError> {
        self.inner.swept(read).await
    }

    async fn standing(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
        object: ObjectId,
        intent: Option<IntentId>,
    ) -> Result<Standing, StoreError> {
        self.through(Call::Standing, self.inner.standing(tenant, account, object, intent)).await
    }

    async fn put_stranger(&self, found: StrangerRecord) -> Result<bool, StoreError> {
        self.inner.put_stranger(found).await
    }

    async fn waiting_strangers(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
        limit: u32,
    ) -> Result<Vec<StrangerRecord>, StoreError> {
        self.inner.waiting_strangers(tenant, account, limit).await
    }

    async fn replaced_charges(
        &self,
        tenant: Tenant,
        account: ProviderAccount,
        limit: u32,
    ) -> Result<Vec<ChargeRecord>, StoreError> {
        self.inner.replaced_charges(tenant, account, limit).await
    }

    async fn stranger_took_money(&self, stranger: StrangerRecord) -> Result<bool, StoreError> {
        self.inner.stranger_took_money(stranger).await
    }

    async fn resolve_stranger(
        &self,
        stranger: StrangerRecord,
        resolution: Resolution,
    ) -> Result<bool, StoreError> {
        self.through(Call::ResolveStranger, self.inner.resolve_stranger(stranger, resolution)).await
    }

    async fn operation(
        &self,
        tenant: Tenant,
        id: OperationId,
    ) -> Result<Option<OperationRecord>, StoreError> {
        self.through(Call::Operation, self.inner.operation(tenant, id)).await
    }

    async fn doubt(&self, tenant: Tenant, order: OrderId) -> Result<Option<Doubt>, StoreError> {
        self.inner.doubt(tenant, order).await
    }

    async fn open_extras(&self, limit: u32) -> Result<Vec<ChargeRecord>, StoreError> {
        self.inner.open_extras(limit).await
    }

    async fn put_fate(&self, command: PutFate) -> Result<bool, StoreError> {
        self.through(Call::PutFate, self.inner.put_fate(command)).await
    }

    async fn review(&self, limit: u32) -> Result<Review, StoreError> {
        self.inner.review(limit).await
    }

    async fn review_item(&self, id: ReviewId) -> Result<Option<ReviewItem>, StoreError> {
        self.inner.review_item(id).await
    }

    async fn expire(&self, limit: u32) -> Result<Expired, StoreError> {
        self.inner.expire(limit).await
    }

    async fn checkout(&self, tenant: Tenant, id: CheckoutId) -> Found {
        self.inner.checkout(tenant, id).await
    }

    async fn intent(&self, tenant: Tenant, id: IntentId) -> Found {
        self.intents_read.fetch_add(1, Ordering::SeqCst);
        self.inner.intent(tenant, id).await
    }

    async fn order(&self, tenant: Tenant, order: OrderId) -> Found {
        self.inner.order(tenant, order).await
    }

    async fn story(&self, tenant: Tenant, id: IntentId) -> Result<Option<Story>, StoreError> {
        self.inner.story(tenant, id).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.inner.ping().await
    }
}
