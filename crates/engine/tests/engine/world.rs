//! A store on a clock in the test's hand, a bank, a merchant, and as many engines as a test wants: each is a process of its own.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use engine::{
    CheckoutOutcome, Claim, Driven, Engine, IntentOutcome, Memory, Settings, Submission, SubmitOutcome, Vault,
};
use payment::{
    Capture, CheckoutId, CheckoutStatus, Currency, Fingerprint, Holder, IdempotencyKey, IntentId, KeyKind,
    Money, ObjectId, OrderId, RetryPolicy, State, StateName, Timestamp,
};
use providers::Method;
use store::{
    Answer, CheckoutRecord, Directory as _, IntentRecord, KeyUse, MemoryStore, MerchantRecord, SqlStore,
    SqliteOptions, Stage, Store, Story, Tenant, Terms,
};
use tempfile::TempDir;

use crate::{
    bank::Bank,
    check,
    hands::Hands,
    merchant::{
        ACCOUNT, CountingIds, Merchants, OTHER_ACCOUNT, PlainAnswers, merchant, secret_of, tenant, tenant_of,
    },
    outside::Outside,
};

pub const SECOND: i64 = 1_000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;
pub const LEASE_MS: i64 = 30 * SECOND;
pub const EXECUTE_MS: i64 = 15 * MINUTE;
pub const GAP_MS: i64 = 5 * MINUTE;
pub const TOKEN_LIFE_MS: i64 = HOUR;
pub const TOKEN_MARGIN_MS: i64 = 10 * MINUTE;
pub const SILENCE_MS: i64 = 2 * MINUTE;
pub const MOST_UNFINISHED: i64 = 5;
pub const RETRY: RetryPolicy = RetryPolicy { base_ms: SECOND, max_ms: 5 * MINUTE };
/// Looks after which what is still open is open for ever: more than two days of them.
const MAX_LOOKS: usize = 2_000;

/// Hears of changes.
#[derive(Default)]
pub struct Heard(Mutex<Vec<IntentId>>);

impl Heard {
    /// Of which intents, each time.
    pub fn intents(&self) -> Vec<IntentId> {
        self.0.lock().unwrap().clone()
    }
}

impl engine::Changes for Heard {
    fn changed(&self, _: &Tenant, intent: IntentId) {
        self.0.lock().unwrap().push(intent);
    }
}

/// Where the rows are.
#[derive(Clone)]
pub enum Rows {
    Memory(Arc<MemoryStore>),
    File(PathBuf),
}

impl Rows {
    async fn open(&self, hands: &Hands) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::clone(store) as _,
            Self::File(path) => {
                let options = SqliteOptions { clock: Some(hands.clock()), ..SqliteOptions::new(path) };
                Arc::new(SqlStore::open(options).await.unwrap())
            }
        }
    }

    /// The directory's row, which the flows look at.
    async fn put_account(&self, hands: &Hands, merchant: MerchantRecord) {
        match self {
            Self::Memory(store) => store.put_account(merchant.tenant, merchant.account),
            Self::File(path) => {
                let options = SqliteOptions { clock: Some(hands.clock()), ..SqliteOptions::new(path) };
                SqlStore::open(options).await.unwrap().put_merchant(merchant, Vec::new()).await.unwrap();
            }
        }
    }

    async fn copy(&self) -> Self {
        match self {
            Self::Memory(store) => Self::Memory(Arc::new(store.copy().await)),
            Self::File(path) => {
                let mut copies = (1..).map(|number| path.with_extension(format!("backup{number}")));
                let copy = copies.find(|copy| !copy.exists()).unwrap();
                // Nobody writes just now, so the file and its log belong together.
                for end in ["", "-wal"] {
                    let with_end = |path: &Path| format!("{}{end}", path.display());
                    std::fs::copy(with_end(path), with_end(&copy)).unwrap();
                }
                Self::File(copy)
            }
        }
    }
}

/// The world.
#[derive(Clone)]
pub struct World {
    pub store: Arc<dyn Store>,
    rows: Rows,
    /// The rows that the last backup brought back.
    restored: Arc<Mutex<Option<Arc<dyn Store>>>>,
    pub clock: Hands,
    pub began: Timestamp,
    pub bank: Arc<Bank>,
    pub merchants: Arc<Merchants>,
    pub outside: Arc<Outside>,
    pub heard: Arc<Heard>,
    pub vault: Arc<Vault>,
    pub ids: Arc<CountingIds>,
    /// Every checkout that was opened.
    checkouts: Arc<Mutex<Vec<(Tenant, CheckoutId)>>>,
}

/// What a shopper's page shows.
#[derive(Clone, Debug)]
pub struct Offer {
    pub checkout: CheckoutRecord,
    pub intent: IntentRecord,
}

pub fn in_memory<F: Future<Output = ()>>(scenario: fn(World) -> F) {
    run(async { play(World::new_in_memory().await, scenario).await });
}

pub fn on_sqlite<F: Future<Output = ()>>(scenario: fn(World) -> F) {
    let folder = TempDir::new().unwrap();
    run(async {
        play(World::over(Rows::File(folder.path().join("test.db")), Hands::new()).await, scenario).await
    });
}

async fn play<F: Future<Output = ()>>(world: World, scenario: fn(World) -> F) {
    scenario(world.clone()).await;
    let restored = world.restored.lock().unwrap().clone();
    let store = restored.unwrap_or_else(|| Arc::clone(&world.store));
    let world = World { store, ..world };
    check::check(&world).await;
    check::check_to_the_last_object(&world).await;
    check::check(&world).await;
}

pub fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

pub fn rub(value: &str) -> Money {
    Money::parse(value, Currency::parse("RUB").unwrap()).unwrap()
}

/// Who contradicts what was asked for.
pub fn suspected(state: &State) -> Vec<&ObjectId> {
    state.suspects().iter().map(|suspect| &suspect.object).collect()
}

fn key(tenant: &Tenant, kind: KeyKind, key: &str, fields: &[(&str, String)]) -> KeyUse {
    let (key, fingerprint) = (IdempotencyKey::parse(key).unwrap(), Fingerprint::new(kind, fields));
    KeyUse { tenant: tenant.clone(), kind, key, fingerprint }
}

pub fn create_key(tenant: &Tenant, text: &str, order: &str, amount: &str) -> KeyUse {
    let fields = [("order_id", order.to_owned()), ("amount", rub(amount).to_string())];
    key(tenant, KeyKind::CreateCheckout, text, &fields)
}

pub fn retry_key(tenant: &Tenant, text: &str, checkout: CheckoutId) -> KeyUse {
    key(tenant, KeyKind::CreateIntent, text, &[("checkout", checkout.to_string())])
}

pub fn terms(order: &str, amount: &str) -> Terms {
    Terms {
        order: OrderId::parse(order).unwrap(),
        amount: rub(amount),
        capture: Capture::Automatic,
        description: Some("Coffee, 1 kg".into()),
        return_url: None,
        email: None,
        metadata: [("cart".to_owned(), "7".to_owned())].into(),
        expires_in_ms: DAY,
    }
}

impl Offer {
    /// What the page posts; every tab has a card token of its own.
    pub fn submission(&self, token: &str) -> Submission {
        let (checkout, intent) = (&self.checkout, &self.intent);
        let fields = [
            ("payment_intent", intent.id.to_string()),
            ("checkout_version", checkout.version.to_string()),
            ("amount", checkout.amount.to_string()),
        ];
        Submission {
            key: key(&checkout.tenant, KeyKind::Submit, &intent.submit_key.to_string(), &fields),
            intent: intent.id,
            version: checkout.version,
            amount: checkout.amount,
            method: Method::CardToken(token.to_owned()),
            lang: None,
            email: None,
        }
    }
}

impl World {
    async fn over(rows: Rows, clock: Hands) -> Self {
        let (vault, merchants) = (Vault::new([1; 32], None), Merchants::default());
        for (tenant, account) in [(tenant(), ACCOUNT), (tenant_of("mer_2"), OTHER_ACCOUNT)] {
            merchants.put(merchant(tenant, account, &secret_of(account), &vault));
        }
        let store = rows.open(&clock).await;
        let tenants = vec![tenant(), tenant_of("mer_2")];
        Self {
            bank: Arc::new(Bank::new(Arc::clone(&store), tenants, clock.clock())),
            store,
            rows,
            restored: Arc::default(),
            began: clock.now(),
            clock,
            merchants: Arc::new(merchants),
            outside: Arc::default(),
            heard: Arc::default(),
            vault: Arc::new(vault),
            ids: Arc::new(CountingIds::default()),
            checkouts: Arc::default(),
        }
    }

    pub async fn new_in_memory() -> Self {
        let clock = Hands::new();
        Self::over(Rows::Memory(Arc::new(MemoryStore::new(clock.clock()))), clock).await
    }

    pub fn tenants(&self) -> [Tenant; 2] {
        [tenant(), tenant_of("mer_2")]
    }

    /// The merchant whose orders these are.
    pub async fn merchant(&self) -> MerchantRecord {
        self.merchants.merchant(&tenant()).await.unwrap().unwrap()
    }

    /// The directory is written where a server writes it: beside the payments' rows.
    pub async fn writes_down(&self, merchant: MerchantRecord) {
        self.rows.put_account(&self.clock, merchant.clone()).await;
        self.merchants.put(merchant);
    }

    /// A copy of all rows.
    pub async fn backup(&self) -> Rows {
        self.rows.copy().await
    }

    /// The world after that backup was brought back: the bank keeps what it has, and knows what we do not.
    pub async fn restored(&self, backup: Rows) -> Self {
        let store = backup.open(&self.clock).await;
        self.bank.witnesses(Arc::clone(&store));
        *self.restored.lock().unwrap() = Some(Arc::clone(&store));
        let world = Self { store, rows: backup, ..self.clone() };
        world.checkouts.lock().unwrap().clear();
        world
    }

    /// A process with a life of its own.
    pub fn engine(&self) -> Engine {
        Engine {
            store: Arc::clone(&self.store),
            directory: Arc::clone(&self.merchants) as _,
            provider: Arc::clone(&self.bank) as _,
            sender: Arc::clone(&self.outside) as _,
            ids: Arc::clone(&self.ids) as _,
            answers: Arc::new(PlainAnswers),
            clock: Arc::new(self.clock.clone()),
            changes: Arc::clone(&self.heard) as _,
            memory: Memory::default(),
            vault: Arc::clone(&self.vault),
            settings: Settings {
                holder: Holder(self.ids.uuid()),
                public_url: "https://pay.example".into(),
                lease_ms: LEASE_MS,
                execute_ms: EXECUTE_MS,
                retry: RETRY,
                token_life_ms: TOKEN_LIFE_MS,
                token_margin_ms: TOKEN_MARGIN_MS,
                listing_gap_ms: GAP_MS,
                review_after_ms: DAY,
                intents_per_checkout: 3,
                most_unfinished: MOST_UNFINISHED,
                gap_ms: SILENCE_MS,
                // A sweep lifts the gate at once, except where a test waits for what is on its way.
                on_its_way_ms: 0,
            },
        }
    }

    /// Opens a checkout of 1500.00 for `order`, under a key named after it.
    pub async fn offer(&self, engine: &Engine, order: &str) -> Offer {
        self.offer_for(engine, order, "1500.00", &format!("create-{order}")).await
    }

    pub async fn offer_for(&self, engine: &Engine, order: &str, amount: &str, key: &str) -> Offer {
        let key = create_key(&tenant(), key, order, amount);
        fresh(engine.open_checkout(key, terms(order, amount)).await.unwrap());
        self.order(order).await
    }

    /// What a page of that order shows now.
    pub async fn order(&self, order: &str) -> Offer {
        let found = self.store.order(tenant(), OrderId::parse(order).unwrap()).await.unwrap();
        let (checkout, intent) = found.unwrap();
        self.note(&checkout);
        Offer { checkout, intent }
    }

    pub fn note(&self, checkout: &CheckoutRecord) {
        let (mut checkouts, row) = (self.checkouts.lock().unwrap(), (checkout.tenant.clone(), checkout.id));
        if !checkouts.contains(&row) {
            checkouts.push(row);
        }
    }

    /// "Try again", and what the page then shows.
    pub async fn try_again(&self, engine: &Engine, offer: &Offer, key: &str) -> (IntentOutcome, Offer) {
        let checkout = &offer.checkout;
        let key = retry_key(&checkout.tenant, key, checkout.id);
        let outcome = engine.open_intent(key, checkout.id).await.unwrap();
        (outcome, self.order(checkout.order.as_str()).await)
    }

    /// The shopper presses Pay; the caller is the first.
    pub async fn claim(&self, engine: &Engine, offer: &Offer) -> Claim {
        claimed(engine.submit(offer.submission("tok_1")).await.unwrap())
    }

    /// The shopper presses Pay and waits for the first answer.
    pub async fn pay(&self, engine: &Engine, offer: &Offer) -> Driven {
        let claim = self.claim(engine, offer).await;
        engine.drive(claim).await.unwrap()
    }

    /// Opens, submits and drives once.
    pub async fn paying(&self, engine: &Engine, order: &str) -> Offer {
        let offer = self.offer(engine, order).await;
        self.pay(engine, &offer).await;
        offer
    }

    pub async fn intent(&self, id: IntentId) -> IntentRecord {
        self.store.intent(tenant(), id).await.unwrap().unwrap().1
    }

    pub async fn state(&self, offer: &Offer) -> StateName {
        self.intent(offer.intent.id).await.state.name()
    }

    pub async fn status(&self, offer: &Offer) -> CheckoutStatus {
        self.store.checkout(tenant(), offer.checkout.id).await.unwrap().unwrap().0.status
    }

    pub async fn story(&self, offer: &Offer) -> Story {
        self.store.story(offer.checkout.tenant.clone(), offer.intent.id).await.unwrap().unwrap()
    }

    /// Events and evidence of the journal, a line each.
    pub async fn journal(&self, offer: &Offer) -> Vec<String> {
        let story = self.story(offer).await;
        story.journal.iter().map(|row| format!("{}: {}", row.line.event, row.line.evidence)).collect()
    }

    /// Moves the clock to the intent's wake-up and lets `engine` work once; how long that was, in ms.
    pub async fn wake(&self, engine: &Engine, offer: &Offer) -> i64 {
        let wake_at = self.story(offer).await.operation.wake_at.expect("it waits for nothing");
        let wait = wake_at.since_ms(self.clock.now()).max(0);
        self.clock.advance(wait);
        assert!(engine.run_once().await.unwrap(), "nothing was due");
        wait
    }

    /// Works until nothing is open: all is settled, waits for the shopper, or stands before a person.
    pub async fn settle(&self, engine: &Engine) {
        for _ in 0..MAX_LOOKS {
            let Some(wake_at) = self.next_wake().await else { return };
            self.clock.advance(wake_at.since_ms(self.clock.now()).max(0));
            engine.run_once().await.unwrap();
        }
        panic!("something stays open for ever");
    }

    pub fn opened(&self) -> Vec<(Tenant, CheckoutId)> {
        self.checkouts.lock().unwrap().clone()
    }

    /// Every intent of every checkout that was opened, oldest first, with its story.
    pub async fn intents(&self) -> Vec<(CheckoutRecord, Vec<(IntentRecord, Story)>)> {
        let mut all = Vec::new();
        for (tenant, id) in self.opened() {
            let (checkout, newest) = self.store.checkout(tenant.clone(), id).await.unwrap().unwrap();
            let (mut chain, mut next) = (Vec::new(), Some(newest));
            while let Some(intent) = next.take() {
                let story = self.store.story(tenant.clone(), intent.id).await.unwrap().unwrap();
                if let Some(previous) = intent.previous {
                    next = Some(self.store.intent(tenant.clone(), previous).await.unwrap().unwrap().1);
                }
                chain.push((intent, story));
            }
            chain.reverse();
            all.push((checkout, chain));
        }
        all
    }

    /// When the next operation is looked at that is open and does not wait for a capture.
    async fn next_wake(&self) -> Option<Timestamp> {
        let intents = self.intents().await.into_iter().flat_map(|(_, chain)| chain);
        let awaited = intents.flat_map(|(intent, story)| {
            let pays = (intent.state.name() != StateName::Authorized).then_some(story.operation);
            pays.into_iter().chain(story.follow_ups)
        });
        awaited.filter(|row| row.stage == Stage::Open).filter_map(|row| row.wake_at).min()
    }
}

pub fn claimed(outcome: SubmitOutcome) -> Claim {
    let SubmitOutcome::Claimed(claimed) = outcome else { panic!("{outcome:?}") };
    *claimed
}

/// An answer that was given for the first time.
pub fn fresh(outcome: CheckoutOutcome) -> Answer {
    let CheckoutOutcome::Answer { answer, replayed: false } = outcome else { panic!("{outcome:?}") };
    answer
}

/// An answer that had been given before.
pub fn replayed(outcome: CheckoutOutcome) -> Answer {
    let CheckoutOutcome::Answer { answer, replayed: true } = outcome else { panic!("{outcome:?}") };
    answer
}

/// The winner's intent, for one who came later.
pub fn known(outcome: SubmitOutcome) -> (IntentRecord, Option<Answer>) {
    let SubmitOutcome::Known { intent, answer, .. } = outcome else { panic!("{outcome:?}") };
    (*intent, answer)
}
