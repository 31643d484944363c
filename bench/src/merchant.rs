//! What a merchant's server and a shopper's browser send, and what the answers have to be. A wrong answer ends the benchmark:
//! speed without the money being right is worth nothing.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use contract::{
    Amount, Checkout, CreateCheckout, IDEMPOTENT_REPLAYED, IntentState, PaymentIntent, PaymentMethodInput,
    Submit,
};
use hyper::{StatusCode, body::Bytes};
use serde::Deserialize;

use crate::{
    http::{Answer, Client},
    processes::SECRET_KEY,
};

const CARD: &str =
    r#"{"card":{"number":"5555555555554444","expiry_month":"12","expiry_year":"2099","cvc":"123"}}"#;
const AMOUNT: (&str, &str) = ("1500.00", "RUB");

/// A payment that was made, with all it takes to ask for it again.
pub struct Paid {
    /// The merchant's reference.
    pub order: String,
    /// Where its page lies, without the origin.
    pub page: String,
    submit_path: String,
    intent_path: String,
    submit_key: String,
    submit_body: Vec<u8>,
    opened: Bytes,
    submitted: Bytes,
}

#[derive(Deserialize)]
struct Token {
    token: String,
}

#[derive(Deserialize)]
struct Ledger {
    payments: Vec<LedgerPayment>,
}

#[derive(Deserialize)]
struct LedgerPayment {
    status: String,
    metadata: LedgerMetadata,
}

#[derive(Deserialize)]
struct LedgerMetadata {
    order_id: String,
}

/// Tokens for `count` payments, from the bank.
pub async fn make_tokens(bank: &mut Client, count: usize) -> Result<Vec<String>> {
    let mut tokens = Vec::with_capacity(count);
    for _ in 0..count {
        let answer = bank.post("/v3/tokens", None, None, CARD.into()).await?;
        ensure!(answer.status == StatusCode::OK, "the bank made no token: {}", text(&answer));
        tokens.push(serde_json::from_slice::<Token>(&answer.body)?.token);
    }
    Ok(tokens)
}

/// Opens a checkout for `order` and pays it. The order's name is also its key.
pub async fn pay(server: &mut Client, order: String, token: String) -> Result<Paid> {
    let (paid, intent) = start(server, order, token).await?;
    ensure!(intent.state == IntentState::Succeeded, "not paid: {intent:?}");
    Ok(paid)
}

/// The same, whatever is known of the result when the submission is answered.
pub async fn start(server: &mut Client, order: String, token: String) -> Result<(Paid, PaymentIntent)> {
    let opened = open(server, &order).await?;
    ensure!(opened.status == StatusCode::CREATED, "no checkout: {}", text(&opened));
    let checkout: Checkout = serde_json::from_slice(&opened.body)?;
    let body = Submit {
        payment_method: PaymentMethodInput::CardToken { token },
        checkout_version: checkout.version,
        amount: checkout.amount,
        customer: None,
    };
    let mut paid = Paid {
        page: path_of(&checkout.url)?,
        order,
        intent_path: format!("/v1/payment_intents/{}", checkout.payment_intent.id),
        submit_path: format!("/v1/payment_intents/{}/submit", checkout.payment_intent.id),
        submit_key: checkout.payment_intent.submit_key,
        submit_body: serde_json::to_vec(&body)?,
        opened: opened.body,
        submitted: Bytes::new(),
    };
    let submitted = submit(server, &paid).await?;
    ensure!(submitted.status.is_success(), "not submitted: {}", text(&submitted));
    let intent: PaymentIntent = serde_json::from_slice(&submitted.body)?;
    paid.submitted = submitted.body;
    Ok((paid, intent))
}

/// Where its payment stands.
pub async fn state(server: &mut Client, paid: &Paid) -> Result<IntentState> {
    let answer = server.get_as(&paid.intent_path, &bearer()).await?;
    Ok(serde_json::from_slice::<PaymentIntent>(&answer.body)?.state)
}

/// Arms a fault at the bank.
pub async fn arm(bank: &mut Client, fault: &serde_json::Value) -> Result<()> {
    let answer = bank.post("/faults", None, None, fault.to_string().into_bytes()).await?;
    ensure!(answer.status.is_success(), "the bank takes no fault: {}", text(&answer));
    Ok(())
}

/// Asks for the checkout again under the same key: the same bytes, marked as a replay.
pub async fn replay_checkout(server: &mut Client, paid: &Paid) -> Result<()> {
    let answer = open(server, &paid.order).await?;
    check_replay(&answer, StatusCode::CREATED, &paid.opened)
}

/// Submits again under the same key: the same bytes, marked as a replay.
pub async fn replay_submit(server: &mut Client, paid: &Paid) -> Result<()> {
    let answer = submit(server, paid).await?;
    check_replay(&answer, StatusCode::OK, &paid.submitted)
}

/// The orders that the bank took money for, each as often as it did.
pub async fn charged_orders(bank: SocketAddr) -> Result<Vec<String>> {
    let answer = Client::connect(bank).await?.get("/ledger").await?;
    let ledger: Ledger = serde_json::from_slice(&answer.body).context("the bank's ledger cannot be read")?;
    let took_money = ledger.payments.into_iter().filter(|payment| payment.status == "succeeded");
    Ok(took_money.map(|payment| payment.metadata.order_id).collect())
}

async fn open(server: &mut Client, order: &str) -> Result<Answer> {
    let body = CreateCheckout {
        order_id: order.to_owned(),
        amount: Amount::new(AMOUNT.0, AMOUNT.1),
        description: Some("Coffee, 1 kg".to_owned()),
        customer: None,
        return_url: None,
        metadata: None,
        expires_in: None,
        capture: None,
    };
    server.post("/v1/checkouts", Some(&bearer()), Some(order), serde_json::to_vec(&body)?).await
}

async fn submit(server: &mut Client, paid: &Paid) -> Result<Answer> {
    server.post(&paid.submit_path, Some(&bearer()), Some(&paid.submit_key), paid.submit_body.clone()).await
}

fn bearer() -> String {
    format!("Bearer {SECRET_KEY}")
}

fn check_replay(answer: &Answer, status: StatusCode, body: &Bytes) -> Result<()> {
    let marked = answer.headers.get(IDEMPOTENT_REPLAYED).is_some_and(|value| value == "true");
    ensure!(marked && answer.status == status, "not a replay: {}", text(answer));
    ensure!(answer.body == body, "a replay with other bytes: {}", text(answer));
    Ok(())
}

fn path_of(url: &str) -> Result<String> {
    let rest = url.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    rest.map(|(_, path)| format!("/{path}")).with_context(|| format!("{url} is not absolute"))
}

fn text(answer: &Answer) -> String {
    format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body))
}
