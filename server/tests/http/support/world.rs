//! A server over a folder of its own, beside a bank of its own, and the usual requests.

use std::{
    sync::{Arc, Once},
    time::Duration,
};

use axum::Router;
use engine::Engine;
use payment::{MerchantId, Mode, RetryPolicy};
use payonce::{
    background::{self, Signals},
    config::{
        Config, Database, MailTransport, MerchantConfig, ProviderConfig, RateLimit, SecretBytes, SecretText,
        Settings, Timing, WebhookConfig,
    },
    http::{self, App, Patience},
    live::Hub,
    setup,
};
use reqwest::{Client, redirect::Policy};
use serde_json::{Value, json};
use store::{SqlStore, Sqlite, SqliteOptions};
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{Call, Reply, Sandbox, doubling};

pub const ALPHA_ID: &str = "mer_alpha";
pub const ALPHA: &str = "sk_test_alpha_canary";
pub const ALPHA_PUBLISHABLE: &str = "pk_test_alpha";
pub const ALPHA_LIVE: &str = "sk_live_alpha_canary";
pub const BETA: &str = "sk_test_beta_canary";
/// The merchants' secret with the bank.
pub const ACCOUNT_SECRET: &str = "bank_secret_canary";
/// The secret in the address that alpha's provider notifies.
pub const NOTIFY_SECRET: &str = "notify-secret-canary";
pub const PUBLIC_URL: &str = "https://pay.example";
pub const RETURN_ORIGIN: &str = "https://shop.example";
pub const FRAME_ORIGIN: &str = "https://frame.example";
pub const SECRET: [u8; 32] = [7; 32];

/// Where alpha's provider sends notifications.
pub const NOTIFY_PATH: &str = "/v1/webhooks/yookassa/mer_alpha/notify-secret-canary";

/// A test ends that waits longer for something to become true.
const DEADLINE: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a test may set.
pub struct Setup {
    pub timing: Timing,
    pub patience: Patience,
    pub rate: RateLimit,
    /// Whether due work and expiry are looked for.
    pub worker: bool,
    /// How long the store waits for a lock or a connection.
    pub store_patience: Duration,
    /// How many pages the database may have.
    pub max_pages: Option<u32>,
    /// Whether every request to the bank arrives twice.
    pub doubled: bool,
    /// Where merchant alpha hears of payments in test mode, and what that is signed with.
    pub webhook: Option<(String, String)>,
    /// How mails leave.
    pub mails: Option<MailTransport>,
    /// Whether the bank tells merchant alpha of what happens there.
    pub notified: bool,
}

impl Default for Setup {
    /// Retries at once, leases as in production: what needs a lease's end to go on fails its test.
    fn default() -> Self {
        let timing = Timing { retry_max_ms: 50, listing_gap_ms: 50, ..Timing::default() };
        let store_patience = Duration::from_secs(5);
        Self {
            timing,
            patience: Patience::default(),
            rate: RateLimit::Off,
            worker: true,
            store_patience,
            max_pages: None,
            doubled: false,
            webhook: None,
            mails: None,
            notified: false,
        }
    }
}

/// A bank, a server, and who asks.
pub struct World {
    pub bank: Sandbox,
    pub url: String,
    pub engine: Engine,
    pub store: Arc<SqlStore<Sqlite>>,
    pub client: Client,
    pub folder: TempDir,
    setup: Setup,
    provider_url: String,
    running: Running,
}

struct Running {
    tasks: TaskTracker,
    /// Dropping it tells the server to stop.
    stop: DropGuard,
    serving: JoinHandle<()>,
}

pub fn client() -> Client {
    static TLS: Once = Once::new();
    TLS.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap());
    Client::builder().redirect(Policy::none()).build().unwrap()
}

impl World {
    pub async fn start() -> Self {
        Self::with(Setup::default()).await
    }

    pub async fn with(setup: Setup) -> Self {
        let client = client();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let notify_url = format!("http://{}{NOTIFY_PATH}", listener.local_addr().unwrap());
        let bank = Sandbox::notifying(&client, setup.notified.then_some(notify_url)).await;
        let provider_url =
            if setup.doubled { doubling::start(&client, &bank.url).await } else { bank.url.clone() };
        let folder = tempfile::tempdir().unwrap();
        let (engine, store) = open(&folder, &provider_url, &setup).await;
        let config = config(&folder, &provider_url, &setup);
        let (url, running) = serve(engine.clone(), &config, &setup, listener).await;
        Self { bank, url, engine, store, client, folder, setup, provider_url, running }
    }

    /// Another server over the same folder, at the same address; the one before is gone first.
    pub async fn restart(self) -> Self {
        let Self { bank, url, engine, store, client, folder, setup, provider_url, running } = self;
        drop(running.stop);
        let ends = async {
            running.serving.await.unwrap();
            running.tasks.close();
            running.tasks.wait().await;
        };
        tokio::time::timeout(DEADLINE, ends).await.expect("a server that is told to stop stops");
        drop((engine, store));
        let listener = TcpListener::bind(url.trim_start_matches("http://")).await.unwrap();
        let (engine, store) = open(&folder, &provider_url, &setup).await;
        let config = config(&folder, &provider_url, &setup);
        let (url, running) = serve(engine.clone(), &config, &setup, listener).await;
        Self { bank, url, engine, store, client, folder, setup, provider_url, running }
    }

    pub fn call(&self, method: &str, path: &str) -> Call {
        Call::new(&self.client, method, format!("{}{path}", self.url))
    }

    pub fn post(&self, path: &str) -> Call {
        self.call("POST", path)
    }

    pub fn get(&self, path: &str) -> Call {
        self.call("GET", path)
    }

    /// `POST /v1/checkouts` as merchant alpha.
    pub fn open(&self, key: &str, body: &Value) -> Call {
        self.post("/v1/checkouts").bearer(ALPHA).key(key).json(body)
    }

    /// A fresh checkout of 1500.00 RUB.
    pub async fn checkout(&self, order_id: &str) -> Value {
        self.open(&format!("open-{order_id}"), &order(order_id)).send().await.expect(201).json()
    }

    /// `POST …/submit` of a checkout's intent with its client token and its submit key.
    pub fn submit(&self, checkout: &Value, card_token: &str) -> Call {
        self.submit_method(checkout, json!({ "type": "card_token", "token": card_token }))
    }

    pub fn submit_method(&self, checkout: &Value, method: Value) -> Call {
        let intent = &checkout["payment_intent"];
        let body = json!({
            "payment_method": method, "checkout_version": checkout["version"], "amount": checkout["amount"],
        });
        self.post(&format!("/v1/payment_intents/{}/submit", text(&intent["id"])))
            .bearer(text(&checkout["client_token"]))
            .key(text(&intent["submit_key"]))
            .json(&body)
    }

    /// Pays with a card.
    pub async fn pay(&self, checkout: &Value, card: &str) -> Reply {
        let token = self.bank.token(card).await;
        self.submit(checkout, &token).send().await
    }

    /// `POST /v1/checkouts/{id}/payment_intents` with the client token.
    pub fn again(&self, checkout: &Value, key: &str) -> Call {
        let path = format!("/v1/checkouts/{}/payment_intents", text(&checkout["id"]));
        self.post(&path).bearer(text(&checkout["client_token"])).key(key)
    }

    /// A checkout, as its merchant sees it now.
    pub async fn shown(&self, checkout: &Value) -> Value {
        self.get(&format!("/v1/checkouts/{}", text(&checkout["id"])))
            .bearer(ALPHA)
            .send()
            .await
            .expect(200)
            .json()
    }

    /// An intent, as its merchant sees it now.
    pub async fn intent(&self, id: &Value) -> Value {
        self.get(&format!("/v1/payment_intents/{}", text(id))).bearer(ALPHA).send().await.expect(200).json()
    }

    /// Waits until a checkout's intent is in this state.
    pub async fn reaches(&self, checkout: &Value, state: &str) -> Value {
        let id = &checkout["payment_intent"]["id"];
        eventually(state, || async {
            let intent = self.intent(id).await;
            (intent["state"] == state).then_some(intent)
        })
        .await
    }

    /// A worker that, where it learns nothing, looks again after hours.
    pub fn seldom(&self) -> Engine {
        let mut engine = self.engine.clone();
        let year_ms = 365 * 24 * 60 * 60 * 1_000;
        engine.settings.retry = RetryPolicy { base_ms: year_ms, max_ms: year_ms };
        engine
    }

    /// Everything in the database's files.
    pub fn database_bytes(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }

    /// Where the page of a checkout is on this server: its `url` begins with the public one.
    pub fn page(&self, checkout: &Value) -> String {
        text(&checkout["url"]).strip_prefix(PUBLIC_URL).unwrap().to_owned()
    }
}

async fn open(folder: &TempDir, provider_url: &str, setup: &Setup) -> (Engine, Arc<SqlStore<Sqlite>>) {
    let mut engine = setup::engine(&config(folder, provider_url, setup)).await.unwrap();
    let mut options = SqliteOptions::new(folder.path().join("payonce.db"));
    (options.patience, options.max_pages) = (setup.store_patience, setup.max_pages);
    let store = Arc::new(SqlStore::<Sqlite>::open(options).await.unwrap());
    engine.store = store.clone();
    engine.directory = store.clone();
    (engine, store)
}

async fn serve(
    mut engine: Engine,
    config: &Config,
    setup: &Setup,
    listener: TcpListener,
) -> (String, Running) {
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let live = Arc::new(Hub::default());
    engine.changes = live.clone();
    let mut app = App::new(engine.clone(), live, config, tasks.clone());
    if setup.worker {
        engine.start().await.unwrap();
        let sweep_every = Duration::from_millis(setup.timing.sweep_ms.unsigned_abs());
        background::start(engine, &tasks, &stop, Signals { inbox: app.inbox.clone(), sweep_every });
    }
    app.patience = setup.patience;
    let url = format!("http://{}", listener.local_addr().unwrap());
    let told = stop.clone().cancelled_owned();
    let serving = http::serve(listener, app, Router::new(), told, GRACE);
    let serving = tokio::spawn(async move { serving.await.unwrap() });
    (url, Running { tasks, stop: stop.drop_guard(), serving })
}

/// Open requests get this long when a world ends.
const GRACE: Duration = Duration::from_secs(5);

fn config(folder: &TempDir, provider_url: &str, setup: &Setup) -> Config {
    let mut alpha = merchant(ALPHA_ID, Mode::Test, ALPHA, provider_url);
    let webhook = setup.webhook.clone();
    alpha.webhook = webhook.map(|(url, secret)| WebhookConfig { url, secret: SecretText(secret) });
    alpha.provider.notify_secret = Some(SecretText(NOTIFY_SECRET.to_owned()));
    let merchants = vec![
        MerchantConfig { publishable_key: Some(ALPHA_PUBLISHABLE.to_owned()), ..alpha },
        merchant(ALPHA_ID, Mode::Live, ALPHA_LIVE, provider_url),
        merchant("mer_beta", Mode::Test, BETA, provider_url),
    ];
    let anywhere = "127.0.0.1:0".parse().unwrap();
    let settings = Settings {
        listen: anywhere,
        bank_listen: anywhere,
        data: folder.path().to_owned(),
        database: Database::Sqlite(folder.path().join("payonce.db")),
        public_url: PUBLIC_URL.to_owned(),
        bank_url: provider_url.to_owned(),
        bank_notify_url: None,
        given_secret: None,
        secret_old: None,
        demo_secret_key: SecretText("sk_test_unused".to_owned()),
        mails: setup.mails.clone(),
        mail_from: "mails@pay.example".parse().unwrap(),
        rate_limit: setup.rate,
        timing: setup.timing,
        merchants,
    };
    Config { settings, secret: SecretBytes(SECRET) }
}

fn merchant(id: &str, mode: Mode, key: &str, bank_url: &str) -> MerchantConfig {
    MerchantConfig {
        id: MerchantId::parse(id).unwrap(),
        name: "Зерно & <b>Co</b>".to_owned(),
        mode,
        secret_key: SecretText(key.to_owned()),
        publishable_key: None,
        provider: ProviderConfig {
            kind: "yookassa".to_owned(),
            account: "100500".to_owned(),
            secret: SecretText(ACCOUNT_SECRET.to_owned()),
            url: bank_url.to_owned(),
            notify_secret: None,
        },
        return_origins: vec![RETURN_ORIGIN.to_owned()],
        frame_origins: vec![FRAME_ORIGIN.to_owned()],
        refund_extras: false,
        webhook: None,
    }
}

/// The least that opens a checkout.
pub fn order(id: &str) -> Value {
    json!({ "order_id": id, "amount": { "value": "1500.00", "currency": "RUB" } })
}

#[track_caller]
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// The one place that waits: looks until there is something to see.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let looking = async {
        loop {
            if let Some(seen) = look().await {
                return seen;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tokio::time::timeout(DEADLINE, looking)
        .await
        .unwrap_or_else(|_| panic!("not within {DEADLINE:?}: {what}"))
}

/// Starts all of them, then waits for all; what came of each, in order.
pub async fn at_once<T: Send + 'static>(
    calls: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let running: Vec<_> = calls.map(tokio::spawn).collect();
    let mut done = Vec::with_capacity(running.len());
    for call in running {
        done.push(call.await.unwrap());
    }
    done
}
