//! `payonce bank` as a process of its own: its faults, and its ledger, by which all money is counted.

use std::{net::SocketAddr, path::PathBuf, process::Command};

use reqwest::Client;
use serde_json::{Value, json};

use crate::process::{Process, eventually, own_address};

/// A card that pays at once.
const GOOD: &str = "5555555555554444";
const ACCOUNT: &str = "100500";
/// The shop's secret with the bank.
pub const ACCOUNT_SECRET: &str = "test_demo";

/// The bank, over restarts.
pub struct Bank {
    pub url: String,
    listen: SocketAddr,
    folder: PathBuf,
    notify_url: Option<String>,
    client: Client,
    process: Option<Process>,
}

/// A request to make a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    pub key: String,
    pub body_sha256: String,
}

impl Bank {
    /// Starts one that keeps its books in `folder`.
    pub async fn start(client: &Client, folder: PathBuf, notify_url: Option<String>) -> Self {
        let listen = own_address();
        let url = format!("http://{listen}");
        let mut bank = Self { url, listen, folder, notify_url, client: client.clone(), process: None };
        std::fs::create_dir_all(&bank.folder).unwrap();
        bank.open().await;
        bank
    }

    /// Starts it, at its address and over its books.
    pub async fn open(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_payonce"));
        command.arg("bank").env_clear();
        command.env("PAYONCE_BANK_LISTEN", self.listen.to_string()).env("PAYONCE_DATA", &self.folder);
        command.envs(self.notify_url.iter().map(|url| ("PAYONCE_BANK_NOTIFY_URL", url)));
        self.process = Some(Process::start(command, &self.folder.join("bank.log")));
        let ledger = format!("{}/ledger", self.url);
        eventually("the bank answers", async || self.client.get(&ledger).send().await.ok()).await;
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.process.take().unwrap().kill();
    }

    /// What the page gets for a card.
    pub async fn token(&self) -> String {
        let card = json!({ "number": GOOD, "expiry_month": "12", "expiry_year": "2099", "cvc": "123" });
        let request = self.client.post(format!("{}/v3/tokens", self.url)).json(&json!({ "card": card }));
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        answer["token"].as_str().unwrap().to_owned()
    }

    /// Arms a fault.
    pub async fn fault(&self, fault: &Value) {
        let request = self.client.post(format!("{}/faults", self.url)).json(fault);
        assert!(request.send().await.unwrap().status().is_success(), "{fault}");
    }

    /// Forgets all faults.
    pub async fn disarm(&self) {
        let request = self.client.delete(format!("{}/faults", self.url));
        assert!(request.send().await.unwrap().status().is_success());
    }

    /// Takes money as if we had asked for it: what `like` says, under a key that we never used. Its id.
    pub async fn charge_again(&self, like: &Value) -> String {
        let body = json!({
            "amount": like["amount"], "capture": true, "metadata": like["metadata"], "payment_token": self.token().await,
        });
        let request = self.client.post(format!("{}/v3/payments", self.url)).json(&body);
        let request = request.basic_auth(ACCOUNT, Some(ACCOUNT_SECRET)).header("Idempotence-Key", "nobody's");
        let made: Value = request.send().await.unwrap().json().await.unwrap();
        assert_eq!(made["status"], "succeeded", "{made}");
        made["id"].as_str().unwrap().to_owned()
    }

    /// Everything it did and was asked.
    pub async fn ledger(&self) -> Value {
        let request = self.client.get(format!("{}/ledger", self.url));
        request.send().await.unwrap().json().await.unwrap()
    }

    /// Payments of an order, whatever came of them.
    pub async fn payments(&self, order: &str) -> Vec<Value> {
        let of_order = |payment: &&Value| payment["metadata"]["order_id"] == order;
        rows(&self.ledger().await, "payments").iter().filter(of_order).cloned().collect()
    }

    /// Requests to make a payment, in the order of their arrival.
    pub async fn creates(&self) -> Vec<Create> {
        self.posts("/v3/payments").await
    }

    /// Requests to give money back.
    pub async fn refund_requests(&self) -> Vec<Create> {
        self.posts("/v3/refunds").await
    }

    async fn posts(&self, path: &str) -> Vec<Create> {
        let ledger = self.ledger().await;
        let posts = rows(&ledger, "requests").iter();
        let posts = posts.filter(|request| request["method"] == "POST" && request["path"] == path);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        posts
            .map(|post| Create {
                key: text(&post["idempotence_key"]),
                body_sha256: text(&post["body_sha256"]),
            })
            .collect()
    }
}

/// A list of the ledger's.
pub fn rows<'l>(ledger: &'l Value, name: &str) -> &'l [Value] {
    ledger[name].as_array().unwrap()
}
