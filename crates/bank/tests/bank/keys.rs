//! One key, one object (R1, R2, R3, R6).

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::support::{GOOD_CARD, Got, HOUR, TestBank, id, payment};

#[tokio::test]
async fn a_repeated_key_gives_the_same_object_though_its_token_is_used_up() {
    let bank = TestBank::start().await;
    let body = payment(&bank.token(GOOD_CARD).await);
    let first = bank.post("/v3/payments", "key", &body).await.ok();
    bank.advance(HOUR * 2);
    let again = bank.post("/v3/payments", "key", &body).await.ok();
    assert_eq!(first, again);
    assert_eq!(bank.charges().await, 1);
    let request = bank.last_request().await;
    assert_eq!((&request["replayed"], &request["status"]), (&json!(true), &json!(200)));
}

#[tokio::test]
async fn the_order_of_fields_does_not_matter() {
    let bank = TestBank::start().await;
    let token = bank.token(GOOD_CARD).await;
    let send = |text: String| {
        let request = bank.request(Method::POST, "/v3/payments").header("Idempotence-Key", "key");
        Got::of(request.header("Content-Type", "application/json").body(text))
    };
    let amount = r#"{"value":"1.00","currency":"RUB"}"#;
    let first = send(format!(r#"{{"payment_token":"{token}","amount":{amount},"capture":true}}"#)).await.ok();
    let again =
        send(format!(r#"{{ "capture": true, "amount": {amount}, "payment_token": "{token}" }}"#)).await.ok();
    assert_eq!(first, again);
}

#[tokio::test]
async fn another_request_under_the_same_key_is_refused_and_changes_nothing() {
    let bank = TestBank::start().await;
    let body = payment(&bank.token(GOOD_CARD).await);
    let first = bank.post("/v3/payments", "key", &body).await.ok();
    let mut other = payment(&bank.token(GOOD_CARD).await);
    other["amount"]["value"] = json!("2.00");
    bank.post("/v3/payments", "key", &other).await.refused(400, "invalid_request", "Idempotence-Key");
    let refund = json!({ "payment_id": first["id"], "amount": first["amount"] });
    bank.post("/v3/refunds", "key", &refund).await.refused(400, "invalid_request", "Idempotence-Key");
    assert_eq!(bank.ledger().await["payments"], json!([first]));
}

#[tokio::test]
async fn a_key_is_wanted_where_something_changes() {
    let bank = TestBank::start().await;
    let body = payment(&bank.token(GOOD_CARD).await);
    let without = Got::of(bank.request(Method::POST, "/v3/payments").json(&body)).await;
    without.refused(400, "invalid_request", "Idempotence-Key");
    bank.post("/v3/payments", &"k".repeat(65), &body).await.refused(
        400,
        "invalid_request",
        "Idempotence-Key",
    );
    bank.post("/v3/payments", &"k".repeat(64), &body).await.ok();
}

#[tokio::test]
async fn two_equal_payments_under_two_keys_both_go_through() {
    let bank = TestBank::start().await;
    let (first, second) = (bank.pay("1", GOOD_CARD).await, bank.pay("2", GOOD_CARD).await);
    assert_ne!(first["id"], second["id"]);
    assert_eq!(bank.charges().await, 2);
}

#[tokio::test]
async fn n4_a_key_is_forgotten_after_a_day() {
    let bank = TestBank::with(|config| config.token_life = HOUR * 48).await;
    let mut body = payment("");
    body.as_object_mut().unwrap().remove("payment_token");
    let first = bank.post("/v3/payments", "key", &body).await.ok();
    bank.advance(HOUR * 24 - Duration::from_millis(1));
    let again = bank.post("/v3/payments", "key", &body).await.ok();
    assert_eq!(id(&first), id(&again));
    bank.advance(Duration::from_millis(1));
    let new = bank.post("/v3/payments", "key", &body).await.ok();
    assert_ne!(id(&first), id(&new));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn simultaneous_requests_with_one_key_make_one_object() {
    for in_file in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.db");
        let bank = if in_file { TestBank::on_file(&path).await } else { TestBank::start().await };
        for round in 0..5 {
            let body = payment(&bank.token(GOOD_CARD).await);
            let send = || {
                let key = format!("round-{round}");
                let request = bank.request(Method::POST, "/v3/payments").header("Idempotence-Key", key);
                tokio::spawn(Got::of(request.json(&body)))
            };
            let sent: Vec<_> = std::iter::repeat_with(send).take(16).collect();
            let answers: Vec<_> = join_all(sent).await.into_iter().map(|got| got.unwrap().ok()).collect();
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        }
        let ledger = bank.ledger().await;
        assert_eq!(ledger["payments"].as_array().unwrap().len(), 5);
        let requests = ledger["requests"].as_array().unwrap();
        assert_eq!(requests.iter().filter(|request| request["replayed"] == false).count(), 5);
        bank.stop().await;
    }
}
