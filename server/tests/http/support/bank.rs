//! The sandbox bank as a test uses it: tokens, faults, and its ledger, by which all money is counted.

use std::{sync::Arc, time::Duration};

use bank::{Bank, Config, Ledger};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

use super::world::ACCOUNT_SECRET;

pub const GOOD: &str = "5555555555554444";
pub const VISA: &str = "4111111111111111";
pub const MIR: &str = "2200000000000004";
pub const DECLINED: &str = "5555555555554600";
pub const THREE_DS: &str = "5555555555554477";

/// A bank at work; ends with the test.
pub struct Sandbox {
    pub url: String,
    client: Client,
    stop: Arc<Notify>,
    _serving: JoinHandle<()>,
}

impl Sandbox {
    pub async fn start(client: &Client) -> Self {
        Self::notifying(client, None).await
    }

    /// One that tells of what happens there.
    pub async fn notifying(client: &Client, notify_url: Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut config = Config::new(Ledger::Memory);
        config.secret = ACCOUNT_SECRET.to_owned();
        config.pending_life = Duration::from_secs(3600);
        config.notify_url = notify_url;
        config.notify_gap = Duration::from_millis(50);
        let bank = Bank::open(config).unwrap();
        let stop = Arc::new(Notify::new());
        let told = Arc::clone(&stop);
        let serving = tokio::spawn(async move { bank.serve(listener, told.notified()).await.unwrap() });
        Self { url, client: client.clone(), stop, _serving: serving }
    }

    pub async fn token(&self, number: &str) -> String {
        let card = json!({ "card": { "number": number, "expiry_month": "12", "expiry_year": "2099", "cvc": "123" } });
        let response = self.client.post(format!("{}/v3/tokens", self.url)).json(&card).send().await.unwrap();
        response.json::<Value>().await.unwrap()["token"].as_str().unwrap().to_owned()
    }

    pub async fn fault(&self, fault: Value) {
        let response = self.client.post(format!("{}/faults", self.url)).json(&fault).send().await.unwrap();
        assert!(response.status().is_success(), "{fault}");
    }

    pub async fn ledger(&self) -> Value {
        let response = self.client.get(format!("{}/ledger", self.url)).send().await.unwrap();
        response.json().await.unwrap()
    }

    /// Payments of an order, whatever came of them.
    pub async fn payments(&self, order: &str) -> Vec<Value> {
        let ledger = self.ledger().await;
        let payments = ledger["payments"].as_array().unwrap().iter();
        payments.filter(|payment| payment["metadata"]["order_id"] == order).cloned().collect()
    }

    /// Charges of an order: `bank=n`.
    pub async fn charges(&self, order: &str) -> usize {
        self.payments(order).await.iter().filter(|payment| payment["status"] == "succeeded").count()
    }

    /// Requests to make a payment: (key, hash of the body).
    pub async fn creates(&self) -> Vec<(String, String)> {
        let ledger = self.ledger().await;
        let requests = ledger["requests"].as_array().unwrap().iter();
        let creates =
            requests.filter(|request| request["method"] == "POST" && request["path"] == "/v3/payments");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        creates.map(|request| (text(&request["idempotence_key"]), text(&request["body_sha256"]))).collect()
    }

    /// The payer's answer on the bank's page.
    pub async fn decide(&self, payment: &str, decision: &str) {
        let form = format!("decision={decision}");
        let request = self.client.post(format!("{}/confirm/{payment}", self.url));
        let request = request.header("Content-Type", "application/x-www-form-urlencoded").body(form);
        let status = request.send().await.unwrap().status();
        assert!(status.is_success() || status.is_redirection(), "{status}");
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stop.notify_one();
    }
}
