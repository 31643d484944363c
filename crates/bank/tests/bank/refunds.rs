//! Refunds: never more than was taken (R23).

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::receiver::Receiver;
use crate::support::{CHALLENGE_CARD, GOOD_CARD, Got, HOUR, TestBank, id};

fn refund(payment: &Value, value: &str) -> Value {
    json!({ "payment_id": payment["id"], "amount": { "value": value, "currency": "RUB" }, "description": "re_1" })
}

#[tokio::test]
async fn a_refund_gives_money_back_once_per_key() {
    let bank = TestBank::start().await;
    let paid = bank.pay("pay", GOOD_CARD).await;
    let body = refund(&paid, "500.00");
    let mut made = bank.post("/v3/refunds", "refund", &body).await.ok();
    assert_eq!(bank.post("/v3/refunds", "refund", &body).await.ok(), made);
    assert_eq!(bank.get(&format!("/v3/refunds/{}", id(&made))).await.ok(), made);
    made["id"] = json!("ID");
    let expected = json!({
        "id": "ID",
        "payment_id": paid["id"],
        "status": "succeeded",
        "created_at": "2026-03-01T00:00:00.000Z",
        "amount": { "value": "500.00", "currency": "RUB" },
        "description": "re_1",
    });
    assert_eq!(made, expected);
    let after = bank.get(&format!("/v3/payments/{}", id(&paid))).await.ok();
    assert_eq!(after["refunded_amount"]["value"], "500.00");
    assert_eq!((&after["status"], &after["refundable"]), (&json!("succeeded"), &json!(true)));
}

#[tokio::test]
async fn refunds_together_never_exceed_what_was_captured() {
    let bank = TestBank::start().await;
    let held = bank.authorise("hold").await;
    let part = json!({ "amount": { "value": "400.00", "currency": "RUB" } });
    bank.post(&format!("/v3/payments/{}/capture", id(&held)), "capture", &part).await.ok();
    bank.post("/v3/refunds", "1", &refund(&held, "400.01")).await.refused(
        400,
        "invalid_request",
        "amount.value",
    );
    bank.post("/v3/refunds", "2", &refund(&held, "300.00")).await.ok();
    bank.post("/v3/refunds", "3", &refund(&held, "100.01")).await.refused(
        400,
        "invalid_request",
        "amount.value",
    );
    bank.post("/v3/refunds", "4", &refund(&held, "100.00")).await.ok();
    let after = bank.get(&format!("/v3/payments/{}", id(&held))).await.ok();
    assert_eq!(after["refundable"], false);
    assert_eq!(
        bank.get(&format!("/v3/refunds?payment_id={}", id(&held))).await.ok()["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn only_taken_money_can_be_refunded() {
    let bank = TestBank::start().await;
    for payment in [bank.authorise("hold").await, bank.pay("pending", CHALLENGE_CARD).await] {
        let got = bank.post("/v3/refunds", id(&payment), &refund(&payment, "1.00")).await;
        got.refused(400, "invalid_request", "payment_id");
    }
    let none = refund(&json!({ "id": "none" }), "1.00");
    bank.post("/v3/refunds", "none", &none).await.refused(404, "not_found", "payment_id");
    let mut dollars = refund(&bank.pay("pay", GOOD_CARD).await, "1.00");
    dollars["amount"]["currency"] = json!("USD");
    bank.post("/v3/refunds", "dollars", &dollars).await.refused(400, "invalid_request", "amount.currency");
    assert_eq!(bank.ledger().await["refunds"], json!([]));
}

#[tokio::test]
async fn n4_an_undecided_refund_keeps_its_sum_reserved_and_then_succeeds() {
    let (bank, receiver) = Receiver::beside_bank().await;
    let paid = bank.pay("pay", GOOD_CARD).await;
    receiver.seen(1).await;
    bank.fault(json!({ "kind": "pending", "on": "refund", "delay_ms": 60_000 })).await;
    let body = refund(&paid, "1000.00");
    let made = bank.post("/v3/refunds", "key", &body).await.ok();
    assert_eq!(made["status"], "pending");
    let given_back = async || {
        bank.get(&format!("/v3/payments/{}", id(&paid))).await.ok()["refunded_amount"]["value"].clone()
    };
    assert_eq!(given_back().await, "0.00", "what is on its way is told by the refunds alone");
    bank.post("/v3/refunds", "more", &refund(&paid, "500.01")).await.refused(
        400,
        "invalid_request",
        "amount.value",
    );
    assert_eq!(bank.post("/v3/refunds", "key", &body).await.ok(), made);
    assert_eq!(bank.get("/v3/refunds?status=pending").await.ok()["items"], json!([made]));
    assert_eq!(bank.get("/v3/refunds?status=succeeded").await.ok()["items"], json!([]));
    assert_eq!(receiver.so_far(), 1);
    bank.advance(Duration::from_secs(60));
    let done = bank.get(&format!("/v3/refunds/{}", id(&made))).await.ok();
    assert_eq!(done["status"], "succeeded");
    assert_eq!(given_back().await, "1000.00");
    assert_eq!(receiver.events(2).await[1], "refund.succeeded");
    assert_eq!(receiver.seen(2).await[1].body()["object"], done);
}

#[tokio::test]
async fn n4_an_undecided_refund_that_nothing_decides_gives_its_sum_back() {
    let bank = TestBank::start().await;
    let paid = bank.pay("pay", GOOD_CARD).await;
    bank.fault(json!({ "kind": "pending", "on": "refund" })).await;
    let made = bank.post("/v3/refunds", "key", &refund(&paid, "1500.00")).await.ok();
    bank.advance(HOUR);
    let ended = bank.get(&format!("/v3/refunds/{}", id(&made))).await.ok();
    assert_eq!(ended["status"], "canceled");
    let details = json!({ "party": "refund_network", "reason": "general_decline" });
    assert_eq!(ended["cancellation_details"], details);
    bank.post("/v3/refunds", "again", &refund(&paid, "1500.00")).await.ok();
}

#[tokio::test]
async fn refunds_are_listed_by_time_and_payment() {
    let bank = TestBank::start().await;
    let (one, other) = (bank.pay("1", GOOD_CARD).await, bank.pay("2", GOOD_CARD).await);
    let first = bank.post("/v3/refunds", "a", &refund(&one, "1.00")).await.ok();
    bank.advance(HOUR);
    let second = bank.post("/v3/refunds", "b", &refund(&one, "1.00")).await.ok();
    bank.post("/v3/refunds", "c", &refund(&other, "1.00")).await.ok();
    let of_one = format!("payment_id={}", id(&one));
    for (filter, expected) in [
        (String::new(), json!([second, first])),
        ("&created_at.gte=2026-03-01T01:00:00Z".to_owned(), json!([second])),
        ("&created_at.gt=2026-03-01T01:00:00Z".to_owned(), json!([])),
        ("&created_at.lte=2026-03-01T00:00:00Z".to_owned(), json!([first])),
        ("&created_at.lt=2026-03-01T00:00:00Z".to_owned(), json!([])),
    ] {
        let got = bank.get(&format!("/v3/refunds?{of_one}{filter}")).await.ok();
        assert_eq!(got["items"], expected, "{filter}");
    }
}

#[tokio::test]
async fn a_refund_keeps_its_description_and_metadata() {
    let bank = TestBank::start().await;
    let mut body = refund(&bank.pay("pay", GOOD_CARD).await, "1.00");
    body["metadata"] = json!({ "refund_id": "re_1" });
    let made = bank.post("/v3/refunds", "key", &body).await.ok();
    for seen in [made.clone(), bank.get(&format!("/v3/refunds/{}", id(&made))).await.ok()] {
        assert_eq!((&seen["description"], &seen["metadata"]), (&json!("re_1"), &body["metadata"]));
    }
}

/// YooKassa takes more of it than of a payment's.
#[tokio::test]
async fn a_refunds_description_has_up_to_250_characters() {
    let bank = TestBank::start().await;
    let mut body = refund(&bank.pay("pay", GOOD_CARD).await, "1.00");
    body["description"] = json!("я".repeat(251));
    bank.post("/v3/refunds", "long", &body).await.refused(400, "invalid_request", "description");
    body["description"] = json!("я".repeat(250));
    bank.post("/v3/refunds", "key", &body).await.ok();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn simultaneous_refunds_never_exceed_the_sum() {
    let bank = TestBank::start().await;
    let paid = bank.pay("pay", GOOD_CARD).await;
    let body = refund(&paid, "400.00");
    let sent: Vec<_> = (0..12)
        .map(|number| {
            let request =
                bank.request(Method::POST, "/v3/refunds").header("Idempotence-Key", number.to_string());
            tokio::spawn(Got::of(request.json(&body)))
        })
        .collect();
    let answers = join_all(sent).await;
    assert_eq!(answers.into_iter().filter(|got| got.as_ref().unwrap().status == 200).count(), 3);
    let ledger = bank.ledger().await;
    assert_eq!(ledger["refunds"].as_array().unwrap().len(), 3);
    assert_eq!(ledger["payments"][0]["refunded_amount"]["value"], "1200.00");
}

#[tokio::test]
async fn refunds_are_listed_newest_first() {
    let bank = TestBank::start().await;
    let paid = bank.pay("pay", GOOD_CARD).await;
    let mut ids = Vec::new();
    for key in ["1", "2", "3"] {
        ids.insert(0, id(&bank.post("/v3/refunds", key, &refund(&paid, "1.00")).await.ok()).to_owned());
    }
    let first = bank.get("/v3/refunds?limit=2").await.ok();
    let rest = bank
        .get(&format!("/v3/refunds?limit=2&cursor={}", first["next_cursor"].as_str().unwrap()))
        .await
        .ok();
    let listed: Vec<_> = [&first, &rest]
        .iter()
        .flat_map(|list| list["items"].as_array().unwrap())
        .map(|item| id(item).to_owned())
        .collect();
    assert_eq!(listed, ids);
    assert_eq!(rest.get("next_cursor"), None);
}
