//! A bank on a free port, and a client that knows the dialect.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bank::{Bank, Clock, Config, Ledger};
use jiff::Timestamp;
use reqwest::{Client, Method, RequestBuilder, StatusCode, redirect};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub const GOOD_CARD: &str = "5555555555554444";
pub const CHALLENGE_CARD: &str = "5555555555554477";
pub const HOUR: Duration = Duration::from_secs(3600);

/// Midnight of 1 March 2026.
const START_MS: i64 = 1_772_323_200_000;

pub struct TestBank {
    pub url: String,
    pub client: Client,
    now_ms: Arc<AtomicI64>,
    shutdown: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
}

/// Longer than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What happens sooner or later.
pub async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.unwrap()
}

/// What came back.
#[derive(Debug)]
pub struct Got {
    pub status: StatusCode,
    pub body: Value,
}

impl TestBank {
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub async fn on_file(path: &Path) -> Self {
        Self::with(|config| config.ledger = Ledger::File(path.to_owned())).await
    }

    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        rustls::crypto::ring::default_provider().install_default().ok();
        let now_ms = Arc::new(AtomicI64::new(START_MS));
        let read = Arc::clone(&now_ms);
        let mut config = Config::new(Ledger::Memory);
        config.clock = Clock::new(move || Timestamp::from_millisecond(read.load(Ordering::SeqCst)).unwrap());
        change(&mut config);
        let bank = Bank::open(config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (shutdown, asked) = oneshot::channel();
        let serving = tokio::spawn(bank.serve(listener, async { asked.await.unwrap_or_default() }));
        let client = Client::builder().redirect(redirect::Policy::none()).build().unwrap();
        Self { url, client, now_ms, shutdown, serving }
    }

    pub async fn stop(self) {
        drop(self.client);
        self.shutdown.send(()).unwrap();
        self.serving.await.unwrap().unwrap();
    }

    pub fn advance(&self, by: Duration) {
        self.now_ms.fetch_add(by.as_millis() as i64, Ordering::SeqCst);
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url)).basic_auth("100500", Some("test_demo"))
    }

    pub async fn get(&self, path: &str) -> Got {
        Got::of(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, key: &str, body: &Value) -> Got {
        Got::of(self.request(Method::POST, path).header("Idempotence-Key", key).json(body)).await
    }

    /// A POST without a body, as the SDK sends captures and cancels.
    pub async fn post_empty(&self, path: &str, key: &str) -> Got {
        Got::of(self.request(Method::POST, path).header("Idempotence-Key", key)).await
    }

    pub async fn token(&self, number: &str) -> String {
        let got = self.tokenise(&card(number)).await;
        assert_eq!(got.status, 200, "{got:?}");
        got.body["token"].as_str().unwrap().to_owned()
    }

    pub async fn tokenise(&self, card: &Value) -> Got {
        Got::of(self.client.post(format!("{}/v3/tokens", self.url)).json(&json!({ "card": card }))).await
    }

    /// A payment of 1500.00 with a card, taken at once.
    pub async fn pay(&self, key: &str, number: &str) -> Value {
        let body = payment(&self.token(number).await);
        self.post("/v3/payments", key, &body).await.ok()
    }

    /// The same, authorised only.
    pub async fn authorise(&self, key: &str) -> Value {
        let mut body = payment(&self.token(GOOD_CARD).await);
        body["capture"] = false.into();
        let held = self.post("/v3/payments", key, &body).await.ok();
        assert_eq!(held["status"], "waiting_for_capture");
        held
    }

    pub async fn fault(&self, order: Value) {
        let got = Got::of(self.client.post(format!("{}/faults", self.url)).json(&order)).await;
        assert_eq!(got.status, 200, "{got:?}");
    }

    pub async fn ledger(&self) -> Value {
        self.get("/ledger").await.ok()
    }

    /// The ledger, once it `is` so.
    pub async fn until(&self, is: impl Fn(&Value) -> bool) -> Value {
        let mut ledger = Value::Null;
        let reached = async {
            loop {
                ledger = self.ledger().await;
                if is(&ledger) {
                    break;
                }
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, reached).await.is_ok();
        assert!(in_time, "still {:#}", ledger["notifications"]);
        ledger
    }

    /// How many payments took money.
    pub async fn charges(&self) -> usize {
        let ledger = self.ledger().await;
        ledger["payments"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|payment| payment["status"] == "succeeded")
            .count()
    }

    /// The last request that the bank noted.
    pub async fn last_request(&self) -> Value {
        self.ledger().await["requests"].as_array().unwrap().last().unwrap().clone()
    }

    /// Every byte that comes back before the connection closes.
    pub async fn raw_post(&self, path: &str, key: &str, body: &Value) -> Vec<u8> {
        let address = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Basic MTAwNTAwOnRlc3RfZGVtbw==\r\n\
             Idempotence-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        answer
    }
}

impl Got {
    pub async fn of(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        Self { status, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
    }

    pub fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.body
    }

    /// Asserts an error of the dialect.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str, parameter: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.body["type"], "error", "{self:?}");
        assert_eq!(self.body["code"], code, "{self:?}");
        assert_eq!(self.body["parameter"], parameter, "{self:?}");
        assert!(self.body["id"].is_string() && self.body["description"].is_string(), "{self:?}");
    }
}

pub fn card(number: &str) -> Value {
    json!({ "number": number, "expiry_month": "12", "expiry_year": "2030", "cvc": "123", "cardholder": "A B" })
}

pub fn payment(token: &str) -> Value {
    json!({
        "payment_token": token,
        "amount": { "value": "1500.00", "currency": "RUB" },
        "capture": true,
        "confirmation": { "type": "redirect", "return_url": "https://shop.example/back?a=1" },
        "description": "Order 7",
        "metadata": { "checkout_id": "chk_1", "order_id": "order-7", "payment_intent_id": "pi_1" },
    })
}

pub fn id(object: &Value) -> &str {
    object["id"].as_str().unwrap()
}
