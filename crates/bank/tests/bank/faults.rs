//! Each kind of fault does what it says, and the ledger tells the truth about it (N4).

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{CHALLENGE_CARD, GOOD_CARD, HOUR, PATIENCE, TestBank, id, payment};

/// One more of a payment, for a fault to meet.
async fn body(bank: &TestBank) -> Value {
    payment(&bank.token(GOOD_CARD).await)
}

async fn count(bank: &TestBank) -> usize {
    bank.ledger().await["payments"].as_array().unwrap().len()
}

#[tokio::test]
async fn n4_a_lost_request_closes_the_connection_without_a_byte_and_does_nothing() {
    let bank = TestBank::start().await;
    let body = body(&bank).await;
    bank.fault(json!({ "kind": "lose_request", "delay_ms": 20 })).await;
    assert_eq!(bank.raw_post("/v3/payments", "key", &body).await, b"");
    assert_eq!(count(&bank).await, 0);
    let request = bank.last_request().await;
    assert_eq!((&request["answered"], &request["status"]), (&json!(false), &json!(null)));
    assert_eq!(request["idempotence_key"], "key");
    bank.post("/v3/payments", "key", &body).await.ok();
    assert_eq!(bank.charges().await, 1);
}

#[tokio::test]
async fn n4_a_lost_answer_closes_the_connection_without_a_byte_but_the_money_moved() {
    let bank = TestBank::start().await;
    let body = body(&bank).await;
    bank.fault(json!({ "kind": "lose_answer", "times": 2 })).await;
    for _ in 0..2 {
        assert_eq!(bank.raw_post("/v3/payments", "key", &body).await, b"");
        let request = bank.last_request().await;
        assert_eq!((&request["answered"], &request["status"]), (&json!(false), &json!(null)));
        assert_eq!(bank.charges().await, 1);
    }
    let paid = bank.post("/v3/payments", "key", &body).await.ok();
    assert_eq!(paid["status"], "succeeded");
    assert_eq!(bank.last_request().await["replayed"], true);
    assert_eq!(count(&bank).await, 1);
}

#[tokio::test]
async fn n4_a_500_before_did_nothing_and_a_500_after_did_it() {
    let bank = TestBank::start().await;
    for (kind, charges) in [("error_500_before", 0), ("error_500_after", 2)] {
        bank.fault(json!({ "kind": kind })).await;
        let body = body(&bank).await;
        let got = bank.post("/v3/payments", kind, &body).await;
        assert_eq!((got.status.as_u16(), &got.body["code"]), (500, &json!("internal_server_error")));
        assert_eq!(bank.charges().await, charges);
        assert_eq!(bank.last_request().await["status"], 500);
        bank.post("/v3/payments", kind, &body).await.ok();
    }
    assert_eq!(bank.charges().await, 2);
}

#[tokio::test]
async fn n4_a_stored_500_stays_for_that_key() {
    let bank = TestBank::start().await;
    bank.fault(json!({ "kind": "error_500_stored" })).await;
    let body = body(&bank).await;
    for _ in 0..3 {
        assert_eq!(bank.post("/v3/payments", "key", &body).await.status, 500);
        bank.advance(HOUR);
    }
    assert_eq!(bank.charges().await, 1);
    let list = bank.get("/v3/payments").await.ok();
    assert_eq!(list["items"][0]["metadata"]["payment_intent_id"], "pi_1");
    assert_eq!(bank.last_request().await["path"], "/v3/payments");
}

#[tokio::test]
async fn n4_refusals_on_demand_do_nothing() {
    let bank = TestBank::start().await;
    for (kind, status, code) in [
        ("bad_request", 400, "invalid_request"),
        ("unauthorized", 401, "invalid_credentials"),
        ("rate_limit", 429, "too_many_requests"),
    ] {
        bank.fault(json!({ "kind": kind })).await;
        let body = body(&bank).await;
        let got = bank.post("/v3/payments", kind, &body).await;
        assert_eq!((got.status.as_u16(), &got.body["code"]), (status, &json!(code)));
        assert_eq!(count(&bank).await, 0);
    }
}

#[tokio::test]
async fn n4_a_rate_limit_says_when_to_come_back() {
    let bank = TestBank::start().await;
    bank.fault(json!({ "kind": "rate_limit", "on": "list" })).await;
    let answer = bank.request(reqwest::Method::GET, "/v3/payments").send().await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.headers()["retry-after"].to_str().unwrap()), (429, "1"));
}

#[tokio::test]
async fn n4_a_delayed_request_is_overtaken_by_the_next_one() {
    let bank = TestBank::start().await;
    bank.fault(json!({ "kind": "delay", "delay_ms": 300 })).await;
    let (slow, fast) = (body(&bank).await, body(&bank).await);
    let first = bank.post("/v3/payments", "slow", &slow);
    let second = async {
        // Until the delayed one has arrived.
        while bank.ledger().await["requests"] == json!([]) {}
        bank.post("/v3/payments", "fast", &fast).await
    };
    let (first, second) = tokio::join!(first, second);
    let ledger = bank.ledger().await;
    assert_eq!(ledger["payments"], json!([second.ok(), first.ok()]));
    assert_eq!(ledger["requests"][0]["idempotence_key"], "slow");
    assert_eq!(ledger["requests"][0]["status"], 200);
}

#[tokio::test]
async fn n4_a_delayed_request_is_done_though_its_client_has_gone() {
    let bank = TestBank::start().await;
    bank.fault(json!({ "kind": "delay", "delay_ms": 100 })).await;
    let body = body(&bank).await;
    let impatient = timeout(Duration::from_millis(20), bank.post("/v3/payments", "key", &body)).await;
    assert!(impatient.is_err());
    let arrived = async { while bank.charges().await == 0 {} };
    timeout(PATIENCE, arrived).await.unwrap();
}

#[tokio::test]
async fn n4_a_202_is_done_and_its_repeat_tells() {
    let bank = TestBank::start().await;
    bank.fault(json!({ "kind": "processing_202", "delay_ms": 1800 })).await;
    let body = body(&bank).await;
    let got = bank.post("/v3/payments", "key", &body).await;
    assert_eq!((got.status.as_u16(), &got.body["type"]), (202, &json!("processing")));
    assert_eq!(got.body["retry_after"], 1800);
    assert_eq!(bank.post("/v3/payments", "key", &body).await.ok()["status"], "succeeded");
    assert_eq!(bank.charges().await, 1);
}

#[tokio::test]
async fn n4_garbage_is_not_json_but_the_money_moved() {
    let bank = TestBank::start().await;
    bank.fault(json!({ "kind": "garbage" })).await;
    let body = body(&bank).await;
    let got = bank.post("/v3/payments", "key", &body).await;
    assert_eq!(got.status, 200);
    assert!(got.body.is_string(), "{got:?}");
    assert_eq!(bank.charges().await, 1);
}

#[tokio::test]
async fn n4_a_wrong_amount_is_in_the_answer_only() {
    let bank = TestBank::start().await;
    bank.fault(json!({ "kind": "wrong_amount" })).await;
    let paid = bank.pay("key", GOOD_CARD).await;
    assert_eq!(paid["amount"]["value"], "1501.00");
    bank.fault(json!({ "kind": "wrong_amount", "on": "list" })).await;
    assert_eq!(bank.get("/v3/payments").await.ok()["items"][0]["amount"]["value"], "1501.00");
    let show = format!("/v3/payments/{}", id(&paid));
    bank.fault(json!({ "kind": "wrong_amount", "on": "get" })).await;
    assert_eq!(bank.get(&show).await.ok()["amount"]["value"], "1501.00");
    assert_eq!(bank.get(&show).await.ok()["amount"]["value"], "1500.00");
}

#[tokio::test]
async fn n4_a_payment_can_stay_undecided_and_then_follow_its_card() {
    let bank = TestBank::start().await;
    bank.fault(json!({ "kind": "pending", "delay_ms": 60_000 })).await;
    let paid = bank.pay("key", GOOD_CARD).await;
    assert_eq!(
        (&paid["status"], &paid["paid"], paid.get("confirmation")),
        (&json!("pending"), &json!(false), None)
    );
    assert_eq!(bank.charges().await, 0);
    bank.advance(Duration::from_secs(60));
    assert_eq!(bank.get(&format!("/v3/payments/{}", id(&paid))).await.ok()["status"], "succeeded");

    bank.fault(json!({ "kind": "pending" })).await;
    let undecided = bank.pay("never", GOOD_CARD).await;
    bank.advance(HOUR);
    let ended = bank.get(&format!("/v3/payments/{}", id(&undecided))).await.ok();
    assert_eq!(ended["cancellation_details"]["reason"], "expired_on_confirmation");
}

#[tokio::test]
async fn n4_a_stale_read_says_pending_once() {
    let bank = TestBank::start().await;
    let paid = bank.pay("key", GOOD_CARD).await;
    let show = format!("/v3/payments/{}", id(&paid));
    bank.fault(json!({ "kind": "pending", "on": "get" })).await;
    let stale = bank.get(&show).await.ok();
    assert_eq!(
        (&stale["status"], &stale["paid"], stale.get("captured_at")),
        (&json!("pending"), &json!(false), None)
    );
    assert_eq!(bank.get(&show).await.ok(), paid);
    bank.fault(json!({ "kind": "pending", "on": "list" })).await;
    assert_eq!(bank.get("/v3/payments").await.ok()["items"], json!([stale]));
    assert_eq!(bank.get("/v3/payments").await.ok()["items"], json!([paid]));
}

#[tokio::test]
async fn n4_not_found_hides_what_exists() {
    let bank = TestBank::start().await;
    let paid = bank.pay("key", GOOD_CARD).await;
    bank.fault(json!({ "kind": "not_found", "on": "get" })).await;
    bank.fault(json!({ "kind": "not_found", "on": "list" })).await;
    let show = format!("/v3/payments/{}", id(&paid));
    assert_eq!(bank.get(&show).await.status, 404);
    bank.fault(json!({ "kind": "not_found" })).await;
    let body = body(&bank).await;
    assert_eq!(bank.post("/v3/payments", "hidden", &body).await.status, 404);
    assert_eq!(bank.get("/v3/payments").await.ok()["items"], json!([]));
    assert_eq!(bank.get(&show).await.ok(), paid);
    assert_eq!(bank.get("/v3/payments").await.ok()["items"], json!([paid]));
}

#[tokio::test]
async fn n4_a_forgotten_key_makes_a_second_payment() {
    let bank = TestBank::start().await;
    let mut body = payment("");
    body.as_object_mut().unwrap().remove("payment_token");
    let first = bank.post("/v3/payments", "key", &body).await.ok();
    bank.fault(json!({ "kind": "forget_keys" })).await;
    let second = bank.post("/v3/payments", "key", &body).await.ok();
    assert_ne!(id(&first), id(&second));
    assert_eq!(bank.post("/v3/payments", "key", &body).await.ok(), second);
}

#[tokio::test]
async fn n4_a_reversal_takes_back_what_was_said() {
    let bank = TestBank::start().await;
    bank.fault(json!({ "kind": "reverse" })).await;
    let paid = bank.pay("key", GOOD_CARD).await;
    assert_eq!(paid["status"], "succeeded");
    let show = format!("/v3/payments/{}", id(&paid));
    assert_eq!(bank.get(&show).await.ok()["status"], "canceled");
    assert_eq!(bank.charges().await, 0);
    bank.fault(json!({ "kind": "reverse", "on": "get" })).await;
    let back = bank.get(&show).await.ok();
    assert_eq!((&back["status"], &back["paid"]), (&json!("succeeded"), &json!(true)));
    assert_eq!(bank.charges().await, 1);

    let held = bank.authorise("held").await;
    bank.fault(json!({ "kind": "reverse", "on": "cancel" })).await;
    let path = format!("/v3/payments/{}/cancel", id(&held));
    assert_eq!(bank.post_empty(&path, "cancel").await.ok()["status"], "canceled");
    assert_eq!(bank.charges().await, 2);
}

#[tokio::test]
async fn n4_a_reversal_leaves_a_payment_that_waits_or_was_refunded() {
    let bank = TestBank::start().await;
    let paid = bank.pay("key", GOOD_CARD).await;
    let refund = json!({ "payment_id": paid["id"], "amount": { "value": "1.00", "currency": "RUB" } });
    bank.post("/v3/refunds", "refund", &refund).await.ok();
    for payment in [paid, bank.pay("pending", CHALLENGE_CARD).await] {
        bank.fault(json!({ "kind": "reverse", "on": "get" })).await;
        assert_eq!(
            bank.get(&format!("/v3/payments/{}", id(&payment))).await.ok()["status"],
            payment["status"]
        );
    }
}
