//! Faults of notifications: repeated, late, early, reversed, swallowed, cut, lost (N4).

use std::time::Duration;

use serde_json::{Value, json};

use crate::receiver::Receiver;
use crate::support::{CHALLENGE_CARD, GOOD_CARD, Got, TestBank, id, payment};

/// The gap after the first try.
const GAP: Duration = Duration::from_secs(10);

async fn capture(bank: &TestBank, held: &Value) {
    bank.post_empty(&format!("/v3/payments/{}/capture", id(held)), id(held)).await.ok();
}

/// Waits for tries and delivery of each notification.
async fn until(bank: &TestBank, expected: &[(u32, bool)]) {
    bank.until(|ledger| {
        let all = ledger["notifications"].as_array().unwrap();
        let is = |(one, (tries, delivered)): (&Value, &(u32, bool))| {
            one["tries"] == *tries && one["delivered"] == *delivered
        };
        all.len() == expected.len() && all.iter().zip(expected).all(is)
    })
    .await;
}

#[tokio::test]
async fn fault_50_notify_twice_repeats_what_was_taken() {
    let (bank, receiver) = Receiver::beside_bank().await;
    bank.fault(json!({ "kind": "notify_twice" })).await;
    bank.pay("1", GOOD_CARD).await;
    until(&bank, &[(2, true)]).await;
    let seen = receiver.seen(2).await;
    assert_eq!(seen[0].text, seen[1].text);
    bank.pay("2", GOOD_CARD).await;
    until(&bank, &[(2, true), (1, true)]).await;
    receiver.events(3).await;
    // The second copy was refused, the first was taken nevertheless.
    bank.fault(json!({ "kind": "notify_twice" })).await;
    receiver.answer(&[200, 500]);
    bank.pay("3", GOOD_CARD).await;
    until(&bank, &[(2, true), (1, true), (2, true)]).await;
}

#[tokio::test]
async fn n4_notify_late_is_overtaken() {
    let (bank, receiver) = Receiver::beside_bank().await;
    bank.fault(json!({ "kind": "notify_late", "delay_ms": 60_000 })).await;
    let held = bank.authorise("held").await;
    capture(&bank, &held).await;
    until(&bank, &[(0, false), (1, true)]).await;
    bank.advance(Duration::from_secs(60));
    assert_eq!(receiver.events(2).await, ["payment.succeeded", "payment.waiting_for_capture"]);
}

#[tokio::test]
async fn fault_51_r22_notify_first_arrives_before_the_answer() {
    let (bank, receiver) = Receiver::beside_bank().await;
    bank.fault(json!({ "kind": "notify_first" })).await;
    let body = payment(&bank.token(GOOD_CARD).await);
    receiver.fall_silent();
    let paying = {
        let request = bank.request(reqwest::Method::POST, "/v3/payments").header("Idempotence-Key", "key");
        tokio::spawn(Got::of(request.json(&body)))
    };
    let announced = receiver.seen(1).await[0].body();
    // The money has moved, and whoever asks learns it; only the answer waits.
    assert_eq!(bank.charges().await, 1);
    assert!(!paying.is_finished());
    receiver.go_on();
    assert_eq!(paying.await.unwrap().ok(), announced["object"]);
    until(&bank, &[(1, true)]).await;
}

#[tokio::test]
async fn n4_r22_notify_first_goes_before_an_answer_that_is_lost() {
    let (bank, receiver) = Receiver::beside_bank().await;
    bank.fault(json!({ "kind": "notify_first" })).await;
    bank.fault(json!({ "kind": "lose_answer" })).await;
    let body = payment(&bank.token(GOOD_CARD).await);
    assert_eq!(bank.raw_post("/v3/payments", "key", &body).await, b"");
    assert_eq!(receiver.so_far(), 1);
    assert_eq!(receiver.events(1).await, ["payment.succeeded"]);
}

#[tokio::test]
async fn n4_notify_first_waits_for_a_silent_receiver_only_so_long() {
    let (bank, receiver) =
        Receiver::beside(|config| config.notify_patience = Duration::from_millis(30)).await;
    receiver.fall_silent();
    bank.fault(json!({ "kind": "notify_first" })).await;
    bank.pay("key", GOOD_CARD).await;
    let ledger = bank.ledger().await;
    assert_eq!(ledger["notifications"][0]["tries"], 1);
    assert_eq!(ledger["notifications"][0]["status"], json!(null));
}

#[tokio::test]
async fn n4_notify_first_is_before_the_page_goes_back_too() {
    let (bank, receiver) = Receiver::beside_bank().await;
    let pending = bank.pay("key", CHALLENGE_CARD).await;
    bank.fault(json!({ "kind": "notify_first" })).await;
    let url = pending["confirmation"]["confirmation_url"].as_str().unwrap();
    bank.client.post(url).form(&[("decision", "confirm")]).send().await.unwrap();
    assert_eq!(bank.ledger().await["notifications"][0]["delivered"], true);
    receiver.events(1).await;
}

#[tokio::test]
async fn fault_52_r21_notify_reversed_puts_the_end_before_the_beginning() {
    let (bank, receiver) = Receiver::beside_bank().await;
    bank.fault(json!({ "kind": "notify_reversed" })).await;
    let held = bank.authorise("held").await;
    // Another object's does not count, and does not wait.
    bank.pay("other", GOOD_CARD).await;
    until(&bank, &[(0, false), (1, true)]).await;
    // Even if the one in front has to be sent again.
    receiver.answer(&[500]);
    capture(&bank, &held).await;
    until(&bank, &[(0, false), (1, true), (1, false)]).await;
    bank.advance(GAP);
    until(&bank, &[(1, true), (1, true), (2, true)]).await;
    let seen = receiver.seen(4).await;
    let statuses: Vec<_> = seen[1..].iter().map(|one| one.body()["object"]["status"].clone()).collect();
    assert_eq!(statuses, ["succeeded", "succeeded", "waiting_for_capture"]);
}

#[tokio::test]
async fn n4_notify_reversed_is_not_withheld_for_ever() {
    let (bank, receiver) = Receiver::beside_bank().await;
    bank.fault(json!({ "kind": "notify_reversed" })).await;
    bank.fault(json!({ "kind": "notify_reversed", "delay_ms": 60_000 })).await;
    let first = bank.authorise("first").await;
    bank.pay("second", GOOD_CARD).await;
    bank.advance(Duration::from_secs(10));
    until(&bank, &[(1, true), (0, false)]).await;
    // Too late to overtake.
    capture(&bank, &first).await;
    bank.advance(Duration::from_secs(50));
    until(&bank, &[(1, true), (1, true), (1, true)]).await;
    assert_eq!(receiver.events(3).await[0], "payment.waiting_for_capture");
}

#[tokio::test]
async fn n4_notify_never_is_swallowed_and_holds_nothing_up() {
    let (bank, receiver) = Receiver::beside_bank().await;
    bank.fault(json!({ "kind": "notify_never" })).await;
    let held = bank.authorise("held").await;
    capture(&bank, &held).await;
    until(&bank, &[(0, false), (1, true)]).await;
    bank.advance(Duration::from_secs(86_400));
    bank.pay("other", GOOD_CARD).await;
    until(&bank, &[(0, false), (1, true), (1, true)]).await;
    assert_eq!(receiver.events(2).await, ["payment.succeeded", "payment.succeeded"]);
}

#[tokio::test]
async fn a_fault_of_notifications_waits_for_its_order_and_strikes_as_often_as_armed() {
    let (bank, _receiver) = Receiver::beside_bank().await;
    bank.fault(json!({ "kind": "notify_never", "order_id": "order-8", "times": 2 })).await;
    bank.pay("seven", GOOD_CARD).await;
    let mut other = payment(&bank.token(GOOD_CARD).await);
    other["metadata"]["order_id"] = json!("order-8");
    let paid = bank.post("/v3/payments", "eight", &other).await.ok();
    let refund = json!({ "payment_id": paid["id"], "amount": { "value": "1.00", "currency": "RUB" } });
    bank.post("/v3/refunds", "1", &refund).await.ok();
    bank.post("/v3/refunds", "2", &refund).await.ok();
    until(&bank, &[(1, true), (0, false), (0, false), (1, true)]).await;
    assert_eq!(bank.get("/faults").await.ok(), json!({ "faults": [] }));
}

#[tokio::test]
async fn n4_a_lost_notification_never_arrives_and_one_whose_answer_is_lost_arrives_again() {
    let (bank, receiver) = Receiver::beside_bank().await;
    bank.fault(json!({ "kind": "lose_request", "on": "notify", "order_id": "order-7" })).await;
    bank.fault(json!({ "kind": "lose_answer", "on": "notify", "order_id": "order-7" })).await;
    bank.pay("key", GOOD_CARD).await;
    until(&bank, &[(1, false)]).await;
    bank.advance(GAP);
    receiver.events(1).await;
    until(&bank, &[(2, false)]).await;
    assert_eq!(bank.ledger().await["notifications"][0]["status"], json!(null));
    bank.advance(GAP * 2);
    until(&bank, &[(3, true)]).await;
    receiver.events(2).await;
}

#[tokio::test]
async fn n4_a_try_can_be_delayed_cut_or_wrong() {
    let (bank, receiver) = Receiver::beside_bank().await;
    bank.fault(json!({ "kind": "delay", "on": "notify", "delay_ms": 20 })).await;
    let paid = bank.pay("1", GOOD_CARD).await;
    assert_eq!(receiver.seen(1).await[0].body()["object"], paid);
    bank.fault(json!({ "kind": "garbage", "on": "notify" })).await;
    receiver.answer(&[400]);
    bank.pay("2", GOOD_CARD).await;
    until(&bank, &[(1, true), (1, false)]).await;
    let seen = receiver.seen(2).await[1].text.clone();
    assert!(seen.starts_with('{') && serde_json::from_str::<Value>(&seen).is_err(), "{seen}");
    bank.fault(json!({ "kind": "wrong_amount", "on": "notify" })).await;
    bank.advance(GAP);
    until(&bank, &[(1, true), (2, true)]).await;
    assert_eq!(receiver.seen(3).await[2].body()["object"]["amount"]["value"], "1501.00");
}

#[tokio::test]
async fn what_makes_no_sense_on_notify_is_refused_with_what_does() {
    let (bank, _receiver) = Receiver::beside_bank().await;
    for (order, says) in [
        (json!({ "kind": "error_500_before", "on": "notify" }), "allowed: create, get, list"),
        (json!({ "kind": "processing_202", "on": "notify" }), "no meaning"),
        (json!({ "kind": "reverse", "on": "notify" }), "no meaning"),
        (json!({ "kind": "notify_twice", "on": "create" }), "allowed: notify"),
        (json!({ "kind": "notify_late", "delay_ms": 0 }), "delay_ms of at least 1"),
    ] {
        let got = Got::of(bank.client.post(format!("{}/faults", bank.url)).json(&order)).await;
        assert_eq!(got.status, 400, "{order}");
        assert!(got.body["error"].as_str().unwrap().contains(says), "{order}: {got:?}");
    }
    for (kind, delay_ms) in [("notify_twice", 0), ("notify_late", 30_000)] {
        let armed = Got::of(bank.client.post(format!("{}/faults", bank.url)).json(&json!({ "kind": kind })));
        let armed = armed.await.ok();
        assert_eq!((&armed["on"], &armed["delay_ms"]), (&json!("notify"), &json!(delay_ms)));
    }
}
