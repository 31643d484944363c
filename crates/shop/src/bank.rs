//! The shop's look behind the bank's counter: which fault is to come, and what was really charged. A demo's
//! privilege: no merchant can ask its bank for this. Must never be needed for selling anything.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Url, redirect::Policy};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::OpenError;

/// Longest wait for an answer: the bank is on this machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest answer that is read: the ledger of some ten thousand payments.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// Why the bank gave us nothing to go on with.
#[derive(Debug, thiserror::Error)]
pub enum BankError {
    /// No answer, a refusal, or half of an answer.
    #[error("the bank did not answer")]
    NoAnswer(#[from] reqwest::Error),
    /// An answer that is too long.
    #[error("the bank's answer is too long")]
    TooLong,
    /// An answer that is not what was asked for.
    #[error("the bank's answer makes no sense")]
    Garbled(#[from] serde_json::Error),
}

/// A fault, as `POST /faults` takes it.
#[derive(Clone, Debug, Serialize)]
pub struct FaultOrder<'a> {
    /// Which.
    pub kind: &'a str,
    /// How many requests are to meet it.
    pub times: u32,
    /// Only requests about this order.
    pub order_id: &'a str,
    /// How long it holds things up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u32>,
}

/// A fault that waits for a request, as `GET /faults` shows it.
#[derive(Clone, Debug, Deserialize)]
pub struct ArmedFault {
    /// Which.
    pub kind: String,
    /// How many requests it still waits for.
    pub times: u32,
    order_id: Option<String>,
}

#[derive(Deserialize)]
struct ArmedFaults {
    faults: Vec<ArmedFault>,
}

#[derive(Deserialize)]
struct Ledger {
    payments: Vec<LedgerPayment>,
}

#[derive(Deserialize)]
struct LedgerPayment {
    status: String,
    #[serde(default)]
    metadata: serde_json::Value,
}

/// The way to the bank.
pub struct Bank {
    client: Client,
    base: Url,
}

impl Bank {
    /// The bank at that address.
    ///
    /// # Errors
    /// When the client cannot be made.
    pub fn new(base: Url) -> Result<Self, OpenError> {
        let client = Client::builder()
            .timeout(ANSWER_TIMEOUT)
            .redirect(Policy::none())
            .no_proxy()
            .build()
            .map_err(OpenError::Client)?;
        Ok(Self { client, base })
    }

    /// Arms a fault.
    ///
    /// # Errors
    /// [`BankError`]: whether it is armed is not known.
    pub async fn arm(&self, fault: &FaultOrder<'_>) -> Result<(), BankError> {
        let _: serde_json::Value = ask(self.client.post(self.url("faults")).json(fault)).await?;
        Ok(())
    }

    /// The faults that wait for requests about an order.
    ///
    /// # Errors
    /// [`BankError`].
    pub async fn armed_for(&self, order: &str) -> Result<Vec<ArmedFault>, BankError> {
        let armed: ArmedFaults = ask(self.client.get(self.url("faults"))).await?;
        Ok(armed.faults.into_iter().filter(|fault| fault.order_id.as_deref() == Some(order)).collect())
    }

    /// How often the bank took money for an order: by its own ledger, whatever anybody was answered (R25).
    ///
    /// # Errors
    /// [`BankError`].
    pub async fn charges(&self, order: &str) -> Result<u64, BankError> {
        let ledger: Ledger = ask(self.client.get(self.url("ledger"))).await?;
        let is_charge = |payment: &&LedgerPayment| {
            payment.status == "succeeded" && payment.metadata["order_id"] == *order
        };
        Ok(ledger.payments.iter().filter(is_charge).count() as u64)
    }

    fn url(&self, name: &str) -> Url {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .expect("an http URL has a path: Shop::open accepts no other")
            .pop_if_empty()
            .push(name);
        url
    }
}

async fn ask<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, BankError> {
    let mut response = request.send().await?.error_for_status()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(BankError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(serde_json::from_slice(&body)?)
}
