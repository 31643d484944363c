//! Two days of a bank in trouble, on a clock in the test's hand that ends at now: a payment and a refund that nobody answered for, an
//! order that was paid twice, and money that nobody asked for. Written by the real engine over the real provider.

use std::{
    ffi::OsString,
    sync::{
        Arc, Once,
        atomic::{AtomicI64, Ordering},
    },
};

use bank::{Bank, Ledger};
use engine::{Engine, Submission, SubmitOutcome, item_id};
use jiff::Timestamp as Moment;
use payment::{
    Capture, Currency, Fingerprint, IdempotencyKey, KeyKind, MerchantId, Mode, Money, OperationKind, OrderId,
    Timestamp,
};
use payonce::{
    cli::Flags,
    config::{Config, Settings},
    folder::Folder,
    setup,
};
use providers::Method;
use reqwest::Client;
use serde_json::{Value, json};
use store::{
    CheckoutRecord, IntentRecord, KeyUse, OpenedFollowUp, SqlStore, Sqlite, SqliteOptions, SweepRow, Tenant,
    Terms,
};
use tokio::{net::TcpListener, runtime::Runtime};

use crate::support::{Place, SECRET};

const HOUR: i64 = 3_600_000;
/// How far the story goes back.
const BEGAN_MS: i64 = -60 * HOUR;
/// Longer than a refund's key lives, and than a payment stays unresolved before a person is called.
const SILENCE: i64 = 25 * HOUR;

/// What came of it. Its clock stands at now.
pub struct Trouble {
    pub place: Place,
    /// The payment in review, its checkout, and the object that took its money.
    pub payment: String,
    pub checkout: String,
    pub taken: String,
    /// The refund in review, whose payment's object it acts on, and the refund that the bank made.
    pub refund: String,
    pub refunded: String,
    pub made: String,
    /// Objects.
    pub extra: String,
    pub stranger: String,
    stage: Stage,
}

/// A bank, whoever talks to it, and the clock.
struct Stage {
    runtime: Runtime,
    url: String,
    client: Client,
    offset_ms: Arc<AtomicI64>,
    calls: AtomicI64,
}

fn now_ms(offset_ms: &AtomicI64) -> i64 {
    Moment::now().as_millisecond() + offset_ms.load(Ordering::SeqCst)
}

impl Trouble {
    /// All of it.
    pub fn new() -> Self {
        let mut trouble = Self::calm();
        let Self { stage, place, .. } = &trouble;
        let (payment, refund, objects) = stage.runtime.block_on(async {
            let engine = stage.engine(place).await;
            let (payment, refund) = stage.nobody_answers(&engine).await;
            let objects = stage.others_take_money(&engine).await;
            let mut waiting: Vec<_> = engine.review().await.unwrap().items.iter().map(item_id).collect();
            waiting.sort_unstable();
            let mut expected =
                vec![payment.1.id.to_string(), refund.clone(), objects.0.clone(), objects.1.clone()];
            expected.sort_unstable();
            assert_eq!(waiting, expected);
            (payment, refund, objects)
        });
        trouble.stage.offset_ms.store(0, Ordering::SeqCst);
        (trouble.payment, trouble.checkout) = (payment.1.id.to_string(), payment.0.id.to_string());
        trouble.refund = refund;
        (trouble.extra, trouble.stranger) = objects;
        let ledger = trouble.ledger();
        let of = |order: &str| {
            let mut payments = ledger["payments"].as_array().unwrap().iter();
            text(&payments.find(|payment| payment["metadata"]["order_id"] == order).unwrap()["id"])
        };
        (trouble.taken, trouble.refunded) = (of("A-1"), of("B-2"));
        trouble.made = text(&ledger["refunds"][0]["id"]);
        trouble
    }

    /// A merchant and a database in which nothing happened yet.
    pub fn calm() -> Self {
        static TLS: Once = Once::new();
        TLS.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
        let runtime = Runtime::new().unwrap();
        let offset_ms = Arc::new(AtomicI64::new(BEGAN_MS));
        let hand = Arc::clone(&offset_ms);
        let clock = bank::Clock::new(move || Moment::from_millisecond(now_ms(&hand)).unwrap());
        let bank = Bank::open(bank::Config { clock, ..bank::Config::new(Ledger::Memory) }).unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(bank.serve(listener, std::future::pending()));
        let stage = Stage { runtime, url, client: Client::new(), offset_ms, calls: AtomicI64::new(0) };
        let place = Place::new().set("PAYONCE_SECRET", SECRET).toml(&stage.settings());
        stage.runtime.block_on(async { drop(stage.engine(&place).await) });
        let none = String::new;
        Self {
            place,
            payment: none(),
            checkout: none(),
            taken: none(),
            refund: none(),
            refunded: none(),
            made: none(),
            extra: none(),
            stranger: none(),
            stage,
        }
    }

    /// What stands before a person.
    pub fn ids(&self) -> [String; 4] {
        [&self.payment, &self.refund, &self.extra, &self.stranger].map(Clone::clone)
    }

    /// Somebody gives money of a payment back in the provider's dashboard; the refund.
    pub fn gives_back_by_hand(&self, payment: &str, value: &str) -> String {
        let body = json!({ "payment_id": payment, "amount": { "value": value, "currency": "RUB" } });
        text(&self.stage.runtime.block_on(self.stage.post("/v3/refunds", body))["id"])
    }

    /// What the bank has really done.
    pub fn ledger(&self) -> Value {
        let Stage { runtime, client, url, .. } = &self.stage;
        runtime.block_on(async {
            client.get(format!("{url}/ledger")).send().await.unwrap().json().await.unwrap()
        })
    }
}

impl Stage {
    fn settings(&self) -> String {
        format!(
            "listen = \"127.0.0.1:0\"\npublic_url = \"http://127.0.0.1:1\"\n[timing]\nretry_max_s = 1800\nlease_s = 3\n\
             [[merchant]]\nid = \"mer_1\"\nname = \"Zerno\"\nmode = \"test\"\nsecret_key = \"sk_test_zerno\"\n\
             provider = {{ kind = \"yookassa\", account = \"100500\", secret = \"test_demo\", url = \"{}\" }}\n",
            self.url
        )
    }

    /// The engine that `serve` would run, its database on the clock in hand.
    async fn engine(&self, place: &Place) -> Engine {
        let data = place.path("payonce-data");
        Folder::create(&data).unwrap();
        let environment = |variable: &str| -> Option<OsString> {
            match variable {
                "PAYONCE_DATA" => Some(data.clone().into()),
                "PAYONCE_SECRET" => Some(SECRET.into()),
                "PAYONCE_CONFIG" => Some(place.path("payonce.toml").into()),
                _ => None,
            }
        };
        let settings = Settings::load(&Flags::default(), &environment).unwrap();
        let secret = settings.given_secret.clone().unwrap();
        let engine = setup::engine(&Config { settings, secret }).await.unwrap();
        let hand = Arc::clone(&self.offset_ms);
        let clock: store::Clock = Arc::new(move || Timestamp(now_ms(&hand)));
        let options = SqliteOptions { clock: Some(clock), ..SqliteOptions::new(data.join("payonce.db")) };
        Engine { store: Arc::new(SqlStore::<Sqlite>::open(options).await.unwrap()), ..engine }
    }

    fn advance(&self, ms: i64) {
        self.offset_ms.fetch_add(ms, Ordering::SeqCst);
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}{path}", self.url)).basic_auth("100500", Some("test_demo"));
        let key = format!("by-hand-{}", self.calls.fetch_add(1, Ordering::SeqCst));
        let request = request.header("Idempotence-Key", key).json(&body);
        let response = request.send().await.unwrap();
        let (status, text) = (response.status(), response.text().await.unwrap());
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    async fn fault(&self, kind: &str, on: &str, times: u32) {
        self.post("/faults", json!({ "kind": kind, "on": on, "times": times })).await;
    }

    async fn card(&self) -> String {
        let card = json!({ "number": "5555555555554444", "expiry_month": "12", "expiry_year": "2099", "cvc": "123" });
        text(&self.post("/v3/tokens", json!({ "card": card })).await["token"])
    }

    /// Somebody takes money on an account that is ours.
    async fn take(&self, metadata: Value) -> String {
        let body = json!({
            "amount": { "value": "1500.00", "currency": "RUB" }, "capture": true,
            "payment_token": self.card().await, "metadata": metadata,
        });
        text(&self.post("/v3/payments", body).await["id"])
    }

    /// A payment and a refund whose answers are lost, at a bank whose listings fail, until a person is called to both.
    async fn nobody_answers(&self, engine: &Engine) -> ((CheckoutRecord, IntentRecord), String) {
        let (_, paid) = self.pay(engine, "B-2").await;
        // However often it is sent: on a slow machine it is due again before the first half hour has passed.
        self.fault("lose_answer", "create", 1_000).await;
        let unknown = self.pay(engine, "A-1").await;
        self.fault("error_500_before", "list", 1_000).await;
        self.fault("lose_answer", "refund", 1_000).await;
        let (kind, sum) = (OperationKind::Refund, Some(rub("500.00")));
        let opened = engine.open_follow_up(&tenant(), paid.id, kind, sum, "the shopper asked".into()).await;
        let OpenedFollowUp::Fresh(refund) = opened.unwrap() else { panic!("it can be refunded") };
        for _ in 0..=SILENCE / (HOUR / 2) {
            while engine.run_once().await.unwrap() {}
            self.advance(HOUR / 2);
        }
        (unknown, refund.id.to_string())
    }

    /// An order that is paid twice, and an order that somebody else takes money for: the objects.
    async fn others_take_money(&self, engine: &Engine) -> (String, String) {
        engine.start().await.unwrap();
        let merchant = engine.directory.merchant(&tenant()).await.unwrap().unwrap();
        // It was read while the listings showed nothing of what is unknown.
        let (row, now) = engine.store.sweep(tenant(), merchant.account.clone()).await.unwrap();
        engine.store.swept(SweepRow { swept_until: now, ..row }).await.unwrap();
        self.client.delete(format!("{}/faults", self.url)).send().await.unwrap();
        let (_, twice) = self.pay(engine, "C-3").await;
        let extra = self.take(json!({ "order_id": "C-3", "payment_intent_id": twice.id.to_string() })).await;
        self.open(engine, "D-4").await;
        let stranger = self.take(json!({ "order_id": "D-4" })).await;
        assert!(engine.sweep_merchant(&merchant).await.unwrap().complete);
        (extra, stranger)
    }

    async fn open(&self, engine: &Engine, order: &str) -> (CheckoutRecord, IntentRecord) {
        let order = OrderId::parse(order).unwrap();
        let terms = Terms {
            order: order.clone(),
            amount: rub("1500.00"),
            capture: Capture::Automatic,
            description: None,
            return_url: None,
            email: None,
            metadata: Default::default(),
            expires_in_ms: 240 * HOUR,
        };
        let key = key(KeyKind::CreateCheckout, order.as_str());
        engine.open_checkout(key, terms).await.unwrap();
        engine.store.order(tenant(), order).await.unwrap().unwrap()
    }

    async fn pay(&self, engine: &Engine, order: &str) -> (CheckoutRecord, IntentRecord) {
        let (checkout, intent) = self.open(engine, order).await;
        let submission = Submission {
            key: key(KeyKind::Submit, &intent.submit_key.to_string()),
            intent: intent.id,
            version: checkout.version,
            amount: checkout.amount,
            method: Method::CardToken(self.card().await),
            lang: None,
            email: None,
        };
        let SubmitOutcome::Claimed(claim) = engine.submit(submission).await.unwrap() else {
            panic!("the first")
        };
        let driven = engine.drive(*claim).await.unwrap();
        (driven.checkout, driven.intent)
    }
}

fn key(kind: KeyKind, text: &str) -> KeyUse {
    let key = IdempotencyKey::parse(text).unwrap();
    KeyUse { tenant: tenant(), kind, key, fingerprint: Fingerprint::new(kind, &[("key", text.to_owned())]) }
}

fn tenant() -> Tenant {
    Tenant { merchant: MerchantId::parse("mer_1").unwrap(), mode: Mode::Test }
}

fn rub(value: &str) -> Money {
    Money::parse(value, Currency::parse("RUB").unwrap()).unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
