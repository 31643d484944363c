//! A store with a clock in the test's hand, and short words for what happens to it.

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU64, Ordering},
};

use payment::{
    AttemptId, CheckoutId, Event, Holder, IntentId, JournalLine, OrderId, ProviderAccount, State, StateName,
    Timestamp, transition,
};
use store::{
    Backend, CheckoutRecord, ClaimDue, Claimed, Clock, Commit, Committed, Directory, Flow, IntentRecord,
    LookOf, Looking, MemoryStore, OpenFollowUp, OpenedCheckout, OpenedFollowUp, OperationRecord, Rows,
    SqlStore, Sqlite, SqliteOptions, Stage, Store, StoreError, Story, Submitted, Task, Tenant,
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::commands::{self, merchant, tenant};

pub const SECOND: i64 = 1_000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;
/// Where every test's clock begins.
pub const START: Timestamp = Timestamp(1_800_000_000_000);

/// Ids that never repeat within a test's process.
static NEXT: AtomicU64 = AtomicU64::new(1);

pub fn uuid() -> Uuid {
    Uuid::from_u128(
        0x0190_0000_0000_7000_8000_0000_0000_0000 | u128::from(NEXT.fetch_add(1, Ordering::Relaxed)),
    )
}

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub struct Hands(Arc<AtomicI64>);

impl Default for Hands {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(START.0)))
    }
}

impl Hands {
    pub fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }

    pub fn set(&self, to: Timestamp) {
        self.0.store(to.0, Ordering::SeqCst);
    }

    pub fn clock(&self) -> Clock {
        let hands = self.clone();
        Arc::new(move || hands.now())
    }
}

/// What lies below the trait that the product calls.
enum Backing {
    Memory(Arc<MemoryStore>),
    Sqlite(Arc<SqlStore<Sqlite>>),
}

/// A store under test.
pub struct World {
    pub store: Arc<dyn Store>,
    backing: Backing,
    pub clock: Hands,
    /// The database file lives as long as the world.
    _folder: Option<TempDir>,
}

impl World {
    pub fn in_memory() -> Self {
        let clock = Hands::default();
        let store = Arc::new(MemoryStore::new(clock.clock()));
        Self { store: store.clone(), backing: Backing::Memory(store), clock, _folder: None }
    }

    pub async fn on_sqlite() -> Self {
        let (folder, clock) = (TempDir::new().unwrap(), Hands::default());
        let path = folder.path().join("test.db");
        let options = SqliteOptions { clock: Some(clock.clock()), ..SqliteOptions::new(path) };
        Self { _folder: Some(folder), ..Self::over(SqlStore::open(options).await.unwrap(), clock) }
    }

    /// Over a store whose clock is `clock`.
    pub fn over(store: SqlStore<Sqlite>, clock: Hands) -> Self {
        let store = Arc::new(store);
        Self { store: store.clone(), backing: Backing::Sqlite(store), clock, _folder: None }
    }

    /// Every row.
    pub async fn rows(&self) -> Rows {
        match &self.backing {
            Backing::Memory(store) => Rows::clone(&store.rows()),
            Backing::Sqlite(store) => store.rows().await.unwrap(),
        }
    }

    /// The directory is told where a merchant's money goes.
    pub async fn put_account(&self, tenant: Tenant, account: ProviderAccount) {
        match &self.backing {
            Backing::Memory(store) => store.put_account(tenant, account),
            Backing::Sqlite(store) => {
                store.put_merchant(merchant(tenant, account), Vec::new()).await.unwrap();
            }
        }
    }

    /// One transaction of the test's own making.
    pub async fn write<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        match &self.backing {
            Backing::Memory(store) => store.write(flow).await,
            Backing::Sqlite(store) => store.write(flow).await,
        }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Opens a checkout for `order`, or adopts it.
    pub async fn offer(&self, order: &str) -> (CheckoutRecord, IntentRecord) {
        let opened =
            self.store.open_checkout(commands::open(&format!("open-{order}-{}", uuid()), order)).await;
        let Ok(OpenedCheckout::Fresh(checkout, _)) = opened else { panic!("{opened:?}") };
        self.checkout(checkout.id).await
    }

    /// Opens a checkout and submits its intent.
    pub async fn sent(&self, order: &str) -> Claimed {
        let (checkout, intent) = self.offer(order).await;
        claimed(self.store.submit(commands::submit(&checkout, &intent)).await.unwrap())
    }

    /// Opens, submits and settles.
    pub async fn settled(&self, order: &str, state: State) -> Claimed {
        let claim = self.sent(order).await;
        self.commit(commands::outcome(&claim, state)).await;
        claim
    }

    /// Writes an outcome that must be taken; whether it paid, whether it was an extra.
    pub async fn commit(&self, commit: Commit) -> (bool, bool) {
        let committed = self.store.commit(commit).await.unwrap();
        let Committed::Done { paid, extra, .. } = committed else { panic!("{committed:?}") };
        (paid, extra)
    }

    pub async fn checkout(&self, id: CheckoutId) -> (CheckoutRecord, IntentRecord) {
        self.store.checkout(tenant(), id).await.unwrap().unwrap()
    }

    pub async fn order(&self, order: &str) -> Option<(CheckoutRecord, IntentRecord)> {
        self.store.order(tenant(), OrderId::parse(order).unwrap()).await.unwrap()
    }

    pub async fn intent(&self, id: IntentId) -> IntentRecord {
        self.store.intent(tenant(), id).await.unwrap().unwrap().1
    }

    /// Everything about an intent, after checking what is always true of it.
    pub async fn story(&self, id: IntentId) -> Story {
        story(self.store.as_ref(), tenant(), id).await
    }

    /// Another intent of the checkout, submitted: the one before it is over.
    pub async fn tried_again(&self, checkout: CheckoutId) -> Claimed {
        let opened = commands::open_intent(&format!("again-{}", uuid()), checkout);
        self.store.open_intent(opened).await.unwrap();
        let (checkout, intent) = self.checkout(checkout).await;
        claimed(self.store.submit(commands::submit(&checkout, &intent)).await.unwrap())
    }

    /// Claims an intent's pay operation for one who learned something about it.
    pub async fn looked(&self, intent: IntentId) -> Claimed {
        looking(self.store.claim_look(commands::look(LookOf::Intent(intent))).await.unwrap())
    }

    /// Opens a capture, a cancel or a refund.
    pub async fn followed(&self, command: OpenFollowUp) -> OperationRecord {
        let opened = self.store.open_follow_up(command).await.unwrap();
        let OpenedFollowUp::Fresh(operation) = opened else { panic!("{opened:?}") };
        *operation
    }

    /// Claims up to `most` due operations.
    pub async fn due(&self, most: usize) -> Vec<Claimed> {
        self.store.claim_due(due(most)).await.unwrap()
    }
}

pub fn due(most: usize) -> ClaimDue {
    ClaimDue {
        holder: Holder(uuid()),
        lease_ms: commands::LEASE_MS,
        attempts: (0..most).map(|_| AttemptId(uuid())).collect(),
        busy: Vec::new(),
        most_unfinished: commands::MOST_UNFINISHED,
        review_after_ms: commands::REVIEW_AFTER_MS,
    }
}

pub fn claimed(submitted: Submitted) -> Claimed {
    let Submitted::Claimed(claimed) = submitted else { panic!("{submitted:?}") };
    *claimed
}

pub fn looking(looked: Looking) -> Claimed {
    let Looking::Claimed(claimed) = looked else { panic!("{looked:?}") };
    *claimed
}

/// Reads a story and checks it: the stage follows from the state, the journal's chain holds and ends where the intent stands.
pub async fn story(store: &dyn Store, tenant: Tenant, id: IntentId) -> Story {
    let (_, intent) = store.intent(tenant.clone(), id).await.unwrap().unwrap();
    let story = store.story(tenant, id).await.unwrap().unwrap();
    assert_eq!(story.operation.stage, Stage::of(intent.state.name()));
    assert_eq!(JournalLine::first_break(story.journal.iter().map(|row| (&row.line, row.hash))), None);
    // A line about a capture, a cancel or a refund says which: it ends with that operation's state.
    let of_intent = story.journal.iter().rev().find(|row| !row.line.event.contains('.'));
    assert_eq!(of_intent.unwrap().line.to, intent.state.name().as_str());
    for follow_up in &story.follow_ups {
        let Task::FollowUp(task) = &follow_up.task else { panic!("{follow_up:?}") };
        assert_eq!(follow_up.stage, Stage::of_follow_up(&task.state));
    }
    for charge in &story.charges {
        assert!(charge.reserved_minor >= 0 && charge.refunded_minor >= 0, "{charge:?}");
        assert!(charge.reserved_minor + charge.refunded_minor <= charge.amount.minor(), "{charge:?}");
    }
    let numbers: Vec<_> = story.attempts.iter().map(|attempt| attempt.number).collect();
    assert_eq!(numbers, (1..=story.attempts.len() as i64).collect::<Vec<_>>());
    story
}

/// The events of a journal, in order.
pub fn events(story: &Story) -> Vec<&str> {
    story.journal.iter().map(|row| row.line.event.as_str()).collect()
}

/// What `event` makes of a claim's intent.
pub fn after(claim: &Claimed, event: Event) -> State {
    transition(&claim.intent.state, event, claim.now).unwrap().next
}

pub fn is(intent: &IntentRecord, name: StateName) {
    assert_eq!(intent.state.name(), name);
}
