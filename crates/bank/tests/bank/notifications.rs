//! Notifications: what is announced, to the receiver's last answer, in which order.

use std::time::Duration;

use bank::{Bank, Clock, Config, Ledger, OpenError};
use reqwest::Client;
use serde_json::{Value, json};

use crate::receiver::Receiver;
use crate::support::{CHALLENGE_CARD, GOOD_CARD, HOUR, TestBank, id, payment};

const DECLINED_CARD: &str = "5555555555554600";
/// The gap after the first try.
const GAP: Duration = Duration::from_secs(10);

/// What the ledger says about the notifications: event, delivered, status, tries.
fn outcomes(ledger: &Value) -> Vec<Value> {
    let all = ledger["notifications"].as_array().unwrap().iter();
    all.map(|one| json!([one["event"], one["delivered"], one["status"], one["tries"]])).collect()
}

async fn until(bank: &TestBank, expected: &[Value]) {
    bank.until(|ledger| outcomes(ledger) == expected).await;
}

#[tokio::test]
async fn n4_each_change_is_announced_in_yookassas_words() {
    let (bank, receiver) = Receiver::beside_bank().await;
    let paid = bank.pay("paid", GOOD_CARD).await;
    let seen = receiver.seen(1).await;
    assert_eq!(
        seen[0].body(),
        json!({ "type": "notification", "event": "payment.succeeded", "object": paid })
    );
    assert_eq!(seen[0].headers["content-type"], "application/json");
    assert!(!seen[0].headers.contains_key("authorization"));

    let held = bank.authorise("held").await;
    receiver.seen(2).await;
    bank.post_empty(&format!("/v3/payments/{}/capture", id(&held)), "capture").await.ok();
    receiver.seen(3).await;
    let held = bank.authorise("again").await;
    receiver.seen(4).await;
    bank.post_empty(&format!("/v3/payments/{}/cancel", id(&held)), "cancel").await.ok();
    receiver.seen(5).await;
    bank.pay("declined", DECLINED_CARD).await;
    receiver.seen(6).await;
    let refund = json!({ "payment_id": paid["id"], "amount": { "value": "1.00", "currency": "RUB" } });
    let refunded = bank.post("/v3/refunds", "refund", &refund).await.ok();
    // A repeat and a question change nothing.
    bank.post("/v3/refunds", "refund", &refund).await.ok();
    bank.get(&format!("/v3/payments/{}", id(&paid))).await.ok();
    let expected = [
        "payment.succeeded",
        "payment.waiting_for_capture",
        "payment.succeeded",
        "payment.waiting_for_capture",
        "payment.canceled",
        "payment.canceled",
        "refund.succeeded",
    ];
    assert_eq!(receiver.events(7).await, expected);
    assert_eq!(receiver.seen(7).await[6].body()["object"], refunded);
    let ledger = bank.until(|ledger| ledger["notifications"][6]["delivered"] == true).await;
    let noted = json!({
        "event": "refund.succeeded",
        "object_id": refunded["id"],
        "at": "2026-03-01T00:00:00.000Z",
        "delivered": true,
        "status": 200,
        "tries": 1,
    });
    assert_eq!(ledger["notifications"][6], noted);
    assert_eq!(ledger["requests"].as_array().unwrap().len(), 9);
}

#[tokio::test]
async fn n4_the_page_and_a_reversal_are_announced() {
    let (bank, receiver) = Receiver::beside_bank().await;
    for (key, decision) in [("1", "confirm"), ("2", "refuse")] {
        let pending = bank.pay(key, CHALLENGE_CARD).await;
        let url = pending["confirmation"]["confirmation_url"].as_str().unwrap();
        bank.client.post(url).form(&[("decision", decision)]).send().await.unwrap();
    }
    bank.fault(json!({ "kind": "reverse" })).await;
    bank.pay("3", GOOD_CARD).await;
    let mut events = receiver.events(4).await;
    // Of different objects: in any order.
    events.sort();
    assert_eq!(events, ["payment.canceled", "payment.canceled", "payment.succeeded", "payment.succeeded"]);
    until(
        &bank,
        &[
            json!(["payment.succeeded", true, 200, 1]),
            json!(["payment.canceled", true, 200, 1]),
            json!(["payment.succeeded", true, 200, 1]),
            json!(["payment.canceled", true, 200, 1]),
        ],
    )
    .await;
}

#[tokio::test]
async fn n4_what_ends_by_the_clock_is_announced_though_nobody_asks() {
    let life = Duration::from_millis(20);
    let (bank, receiver) = Receiver::beside(|config| {
        config.clock = Clock::system();
        (config.pending_life, config.hold_life) = (life, life);
    })
    .await;
    let pending = bank.pay("pending", CHALLENGE_CARD).await;
    let seen = receiver.seen(1).await[0].body();
    assert_eq!((&seen["event"], &seen["object"]["id"]), (&json!("payment.canceled"), &pending["id"]));
    bank.authorise("held").await;
    let events = receiver.events(3).await;
    assert_eq!(events[1..], ["payment.waiting_for_capture", "payment.canceled"]);
    let object = &receiver.seen(3).await[2].body()["object"];
    assert_eq!(object["cancellation_details"]["reason"], "expired_on_capture");
}

#[tokio::test]
async fn n4_a_clock_that_jumps_is_noticed_though_nobody_asks() {
    let (bank, receiver) = Receiver::beside_bank().await;
    bank.pay("pending", CHALLENGE_CARD).await;
    bank.advance(HOUR);
    assert_eq!(receiver.events(1).await, ["payment.canceled"]);
}

#[tokio::test]
async fn n4_anything_but_200_is_tried_again_at_growing_gaps() {
    let (bank, receiver) = Receiver::beside_bank().await;
    receiver.answer(&[500, 202, 302]);
    bank.pay("key", GOOD_CARD).await;
    let tried = |status: u16, tries: u32| json!(["payment.succeeded", status == 200, status, tries]);
    until(&bank, &[tried(500, 1)]).await;
    for (gap, before, after) in [(GAP, 500, 202), (GAP * 2, 202, 302), (GAP * 4, 302, 200)] {
        let tries = outcomes(&bank.ledger().await)[0][3].as_u64().unwrap() as u32;
        bank.advance(gap - Duration::from_millis(1));
        for _ in 0..10 {
            assert_eq!(outcomes(&bank.ledger().await), [tried(before, tries)]);
        }
        bank.advance(Duration::from_millis(1));
        until(&bank, &[tried(after, tries + 1)]).await;
    }
    let seen = receiver.seen(4).await;
    assert!(seen.iter().all(|one| one.text == seen[0].text));
    bank.advance(HOUR * 3);
    bank.pay("other", GOOD_CARD).await;
    until(&bank, &[tried(200, 4), tried(200, 1)]).await;
}

#[tokio::test]
async fn n4_no_answer_is_tried_again() {
    let (bank, receiver) =
        Receiver::beside(|config| config.notify_patience = Duration::from_millis(30)).await;
    receiver.fall_silent();
    bank.pay("key", GOOD_CARD).await;
    until(&bank, &[json!(["payment.succeeded", false, null, 1])]).await;
    receiver.go_on();
    bank.advance(GAP);
    until(&bank, &[json!(["payment.succeeded", true, 200, 2])]).await;
}

#[tokio::test]
async fn n4_a_notification_is_given_up_when_its_life_ends() {
    let (bank, receiver) = Receiver::beside_bank().await;
    receiver.answer(&[500, 500]);
    bank.pay("key", GOOD_CARD).await;
    until(&bank, &[json!(["payment.succeeded", false, 500, 1])]).await;
    bank.advance(HOUR * 24);
    until(&bank, &[json!(["payment.succeeded", false, 500, 2])]).await;
    bank.advance(HOUR * 24);
    bank.pay("other", GOOD_CARD).await;
    until(&bank, &[json!(["payment.succeeded", false, 500, 2]), json!(["payment.succeeded", true, 200, 1])])
        .await;
}

#[tokio::test]
async fn n4_a_restart_sends_what_was_not_taken() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let settings = |config: &mut Config| {
        config.ledger = Ledger::File(folder.path().join("bank.db"));
        config.notify_url = Some(receiver.url.clone());
    };
    let bank = TestBank::with(settings).await;
    receiver.answer(&[500]);
    bank.pay("refused", GOOD_CARD).await;
    until(&bank, &[json!(["payment.succeeded", false, 500, 1])]).await;
    receiver.fall_silent();
    bank.pay("unanswered", GOOD_CARD).await;
    receiver.seen(2).await;
    bank.stop().await;

    receiver.go_on();
    let bank = TestBank::with(settings).await;
    bank.advance(GAP);
    until(&bank, &[json!(["payment.succeeded", true, 200, 2]), json!(["payment.succeeded", true, 200, 1])])
        .await;
    bank.stop().await;
}

#[tokio::test]
async fn n4_notifications_about_one_object_keep_their_order() {
    let (bank, receiver) = Receiver::beside_bank().await;
    receiver.answer(&[500]);
    let held = bank.authorise("held").await;
    receiver.seen(1).await;
    bank.post_empty(&format!("/v3/payments/{}/capture", id(&held)), "capture").await.ok();
    // Another object does not wait.
    bank.pay("other", GOOD_CARD).await;
    until(
        &bank,
        &[
            json!(["payment.waiting_for_capture", false, 500, 1]),
            json!(["payment.succeeded", false, null, 0]),
            json!(["payment.succeeded", true, 200, 1]),
        ],
    )
    .await;
    bank.advance(GAP);
    let seen = receiver.seen(4).await;
    let of_held: Vec<_> = seen
        .iter()
        .map(|one| one.body())
        .filter(|body| body["object"]["id"] == held["id"])
        .map(|body| body["object"]["status"].clone())
        .collect();
    assert_eq!(of_held, ["waiting_for_capture", "waiting_for_capture", "succeeded"]);
}

#[tokio::test]
async fn many_notifications_are_each_delivered_once() {
    let (bank, receiver) = Receiver::beside_bank().await;
    for number in 0..150 {
        let body = payment(&bank.token(GOOD_CARD).await);
        bank.post("/v3/payments", &number.to_string(), &body).await.ok();
    }
    bank.until(|ledger| {
        let all = ledger["notifications"].as_array().unwrap();
        all.len() == 150 && all.iter().all(|one| one["delivered"] == true && one["tries"] == 1)
    })
    .await;
    receiver.events(150).await;
}

#[tokio::test]
async fn a_bank_without_an_address_announces_nothing() {
    let bank = TestBank::start().await;
    bank.pay("key", GOOD_CARD).await;
    assert_eq!(bank.ledger().await["notifications"], json!([]));
    for order in [json!({ "kind": "notify_never" }), json!({ "kind": "delay", "on": "notify" })] {
        let answer = Client::new().post(format!("{}/faults", bank.url)).json(&order).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{order}");
        assert!(answer.text().await.unwrap().contains("sends no notifications"), "{order}");
    }
}

#[test]
fn an_address_that_cannot_be_is_refused_without_being_said() {
    rustls::crypto::ring::default_provider().install_default().ok();
    for wrong in ["ftp://host/s3cret", "s3cret"] {
        let mut config = Config::new(Ledger::Memory);
        config.notify_url = Some(wrong.to_owned());
        let error = Bank::open(config).err().unwrap();
        assert!(matches!(error, OpenError::NotifyUrl), "{error:?}");
        assert!(!error.to_string().contains("s3cret"));
    }
}
