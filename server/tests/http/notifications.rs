//! Notifications of the provider (R21, R22, faults 50–57, attack 45): committed before they are acknowledged, believed by nobody,
//! and in the end everything is as the bank's own ledger says.

use std::time::Duration;

use axum::http::StatusCode;
use payonce::config::RateLimit;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{
    ACCOUNT_SECRET, ALPHA, ALPHA_ID, Child, DECLINED, GOOD, NOTIFY_PATH, Reply, Sandbox, Setup, World,
    client, eventually, order, text,
};

/// YooKassa's words about an object.
fn notice(event: &str, object: &Value) -> Value {
    json!({ "type": "notification", "event": event, "object": object })
}

/// An object that nobody has seen but who made it up.
fn made_up(id: &str, status: &str, intent: &Value) -> Value {
    let event = format!("payment.{status}");
    notice(&event, &json!({ "id": id, "status": status, "metadata": { "payment_intent_id": intent } }))
}

impl World {
    async fn notify(&self, notice: &Value) -> Reply {
        self.post(NOTIFY_PATH).json(notice).send().await
    }

    /// States of the inbox's rows.
    fn inbox(&self) -> Vec<String> {
        inbox(&self.folder.path().join("payonce.db"))
    }

    async fn inbox_is(&self, wanted: &[&str]) {
        let what = format!("the inbox is {wanted:?}");
        eventually(&what, || async { (self.inbox() == wanted).then_some(()) }).await;
    }

    /// Questions that the bank was asked about one payment.
    async fn asked(&self, payment: &str) -> usize {
        let ledger = self.bank.ledger().await;
        let path = format!("/v3/payments/{payment}");
        ledger["requests"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|request| request["path"] == path.as_str())
            .count()
    }
}

fn inbox(database: &std::path::Path) -> Vec<String> {
    let connection = Connection::open(database).unwrap();
    let mut rows = connection.prepare("SELECT state FROM inbox ORDER BY received_at_ms, identity").unwrap();
    rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

async fn notified() -> World {
    World::with(Setup { notified: true, ..Setup::default() }).await
}

#[tokio::test]
async fn r21_fault_50_a_repeat_is_200_one_row_and_one_more_question() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let paid = world.pay(&checkout, GOOD).await.expect(200).json();
    let payment = world.bank.payments("1").await.remove(0);
    let id = text(&payment["id"]);
    let news = notice("payment.succeeded", &payment);
    for times in 1..=3 {
        assert!(world.notify(&news).await.expect(200).bytes.is_empty());
        world.inbox_is(&["done"]).await;
        assert_eq!(world.asked(id).await, times);
    }
    let seen = world.intent(&paid["id"]).await;
    assert_eq!((seen["state"].as_str(), world.bank.charges("1").await), (Some("succeeded"), 1));
}

/// A new state of the same object is another notification (fault 53).
#[tokio::test]
async fn r21_fault_53_another_status_is_another_row() {
    let world = World::start().await;
    world.pay(&world.checkout("1").await, GOOD).await.expect(200);
    let payment = world.bank.payments("1").await.remove(0);
    let mut earlier = payment.clone();
    earlier["status"] = json!("waiting_for_capture");
    world.notify(&notice("payment.waiting_for_capture", &earlier)).await.expect(200);
    world.notify(&notice("payment.succeeded", &payment)).await.expect(200);
    world.inbox_is(&["done", "done"]).await;
}

#[tokio::test]
async fn fault_54_attack_45_what_is_made_up_changes_nothing() {
    let world = World::start().await;
    let (unpaid, declined) = (world.checkout("unpaid").await, world.checkout("declined").await);
    world.pay(&declined, DECLINED).await.expect(200);
    for (id, checkout) in [("object-1", &unpaid), ("object-2", &declined)] {
        let intent = &checkout["payment_intent"]["id"];
        let before = world.intent(intent).await;
        world.notify(&made_up(id, "succeeded", intent)).await.expect(200);
        eventually("the bank is asked", || async { (world.asked(id).await > 0).then_some(()) }).await;
        let after = world.intent(intent).await;
        assert_eq!((&after["state"], &after["journal"]), (&before["state"], &before["journal"]));
        assert_eq!(world.shown(checkout).await["status"], "open");
    }
    // Nobody is named: nobody is asked.
    world.notify(&made_up("object-3", "succeeded", &json!(null))).await.expect(200);
    eventually("it is parked", || async { world.inbox().contains(&"parked".to_owned()).then_some(()) }).await;
    assert_eq!(world.asked("object-3").await, 0);
    world.pay(&unpaid, GOOD).await.expect(200);
    assert_eq!(world.bank.charges("unpaid").await, 1);
}

/// Somebody names one order's payment as another's.
#[tokio::test]
async fn fault_54_attack_45_another_intents_payment_is_no_word_about_this_one() {
    let world = World::start().await;
    let victim = world.checkout("victim").await;
    let before = world.intent(&victim["payment_intent"]["id"]).await;
    // At the bank, and unknown to us: made by other software in the same account.
    let body = json!({
        "amount": { "value": "1500.00", "currency": "RUB" }, "capture": true,
        "payment_token": world.bank.token(GOOD).await,
    });
    let made = world
        .client
        .post(format!("{}/v3/payments", world.bank.url))
        .basic_auth("100500", Some(ACCOUNT_SECRET));
    let made = made.header("Idempotence-Key", "other-software").json(&body).send().await.unwrap();
    assert_eq!(made.status(), StatusCode::OK);
    let made: Value = made.json().await.unwrap();
    let forged = made_up(text(&made["id"]), "succeeded", &victim["payment_intent"]["id"]);
    world.notify(&forged).await.expect(200);
    world.inbox_is(&["parked"]).await;
    let after = world.intent(&victim["payment_intent"]["id"]).await;
    assert_eq!((&after["state"], &after["journal"]), (&before["state"], &before["journal"]));
    world.pay(&victim, GOOD).await.expect(200);
}

#[tokio::test]
async fn who_does_not_know_the_address_sees_nothing_of_it() {
    let world = World::start().await;
    let news = made_up("object-1", "succeeded", &json!(null));
    let wrong = [
        format!("/v1/webhooks/yookassa/{ALPHA_ID}/wrong"),
        format!("/v1/webhooks/yookassa/{ALPHA_ID}/{}", ALPHA),
        "/v1/webhooks/yookassa/mer_nobody/notify-secret-canary".to_owned(),
        // A merchant without such an address.
        "/v1/webhooks/yookassa/mer_beta/notify-secret-canary".to_owned(),
        "/v1/webhooks/yookassa/mer_beta/%00".to_owned(),
        "/v1/webhooks/yookassa/mer_beta/%ff".to_owned(),
        NOTIFY_PATH.replace("yookassa", "stripe"),
        "/v1/webhooks".to_owned(),
    ];
    let mut details = Vec::new();
    for path in wrong {
        let mut problem = world.post(&path).json(&news).send().await.problem(404, "not_found");
        problem.as_object_mut().unwrap().remove("request_id");
        details.push(problem);
    }
    assert!(details.iter().all(|problem| *problem == details[0]), "{details:?}");
    world.get(NOTIFY_PATH).send().await.problem(405, "method_not_allowed");
    assert!(world.inbox().is_empty());
}

#[tokio::test]
async fn only_who_does_not_know_the_address_is_slowed_down() {
    let world = World::with(Setup { rate: RateLimit::PerSecond(1), ..Setup::default() }).await;
    let news = made_up("object-1", "succeeded", &json!(null));
    let wrong = format!("/v1/webhooks/yookassa/{ALPHA_ID}/wrong");
    let mut answers = Vec::new();
    for _ in 0..10 {
        answers.push(world.post(&wrong).json(&news).send().await.status);
        world.notify(&news).await.expect(200);
    }
    assert_eq!((answers[0], answers.last()), (404, Some(&429)), "{answers:?}");
}

#[tokio::test]
async fn what_is_no_notification_is_told_so_or_left_alone() {
    let world = World::start().await;
    world.post(NOTIFY_PATH).text("text/plain", "hello").send().await.problem(400, "invalid_json");
    let long = json!({ "type": "notification", "padding": "x".repeat(70_000) });
    world.post(NOTIFY_PATH).json(&long).send().await.problem(413, "body_too_large");
    // About things that are none of ours, or that only a later version knows.
    let payout = json!({ "id": "po-1", "status": "succeeded" });
    world.notify(&notice("payout.succeeded", &payout)).await.expect(200);
    world.notify(&json!({ "type": "news" })).await.expect(200);
    let control = json!({ "id": "object\n1", "status": "succeeded" });
    world.notify(&notice("payment.succeeded", &control)).await.expect(200);
    assert!(world.inbox().is_empty());
}

#[tokio::test]
async fn r21_what_is_not_committed_is_not_acknowledged() {
    let setup = Setup { store_patience: Duration::from_millis(300), ..Setup::default() };
    let world = World::with(setup).await;
    world.pay(&world.checkout("1").await, GOOD).await.expect(200);
    let news = notice("payment.succeeded", &world.bank.payments("1").await[0]);
    let locked = Connection::open(world.folder.path().join("payonce.db")).unwrap();
    locked.busy_timeout(Duration::from_secs(5)).unwrap();
    locked.execute_batch("BEGIN IMMEDIATE").unwrap();
    world.notify(&news).await.problem(503, "unavailable");
    locked.execute_batch("ROLLBACK").unwrap();
    assert!(world.inbox().is_empty());
    // Whoever is not answered says it again.
    eventually("it is acknowledged", || async { (world.notify(&news).await.status == 200).then_some(()) })
        .await;
    world.inbox_is(&["done"]).await;
}

#[tokio::test]
async fn r22_whenever_it_comes_the_order_is_paid_once() {
    let world = notified().await;
    for kind in ["notify_first", "notify_twice", "notify_late", "notify_reversed", "notify_never"] {
        let checkout = world.checkout(kind).await;
        world.bank.fault(json!({ "kind": kind, "order_id": kind, "delay_ms": 100 })).await;
        world.pay(&checkout, GOOD).await;
        let intent = world.reaches(&checkout, "succeeded").await;
        assert_eq!(world.shown(&checkout).await["status"], "paid", "{kind}");
        assert_eq!((world.bank.charges(kind).await, world.bank.payments(kind).await.len()), (1, 1), "{kind}");
        let ends = intent["journal"].as_array().unwrap().iter().filter(|line| line["to"] == "succeeded");
        assert_eq!(ends.count(), 1, "{kind}: {intent}");
    }
    world.inbox_is(&["done"; 4]).await;
}

/// Captured in the provider's own dashboard, and told in the wrong order.
#[tokio::test]
async fn fault_52_reversed_notifications_end_where_the_bank_stands() {
    let world = notified().await;
    let mut body = order("1");
    body["capture"] = json!("manual");
    let checkout = world.open("open", &body).send().await.expect(201).json();
    world.bank.fault(json!({ "kind": "notify_reversed", "delay_ms": 60_000 })).await;
    world.pay(&checkout, GOOD).await;
    world.reaches(&checkout, "authorized").await;
    let payment = world.bank.payments("1").await.remove(0);
    let capture = format!("{}/v3/payments/{}/capture", world.bank.url, text(&payment["id"]));
    let capture = world.client.post(capture).basic_auth("100500", Some(ACCOUNT_SECRET));
    let captured = capture.header("Idempotence-Key", "dashboard").send().await.unwrap();
    assert_eq!(captured.status(), StatusCode::OK);
    world.reaches(&checkout, "succeeded").await;
    world.inbox_is(&["done", "done"]).await;
    assert_eq!(
        (world.shown(&checkout).await["status"].as_str(), world.bank.charges("1").await),
        (Some("paid"), 1)
    );
}

#[tokio::test]
async fn r21_fault_55_what_was_acknowledged_before_a_crash_is_done_after_it() {
    let client = client();
    let bank = Sandbox::start(&client).await;
    let folder = tempfile::tempdir().unwrap();
    let child = Child::start(&client, &bank, folder.path(), "warn").await;
    let open = child.call("POST", "/v1/checkouts").bearer(ALPHA).key("open").json(&order("1"));
    let checkout = open.send().await.expect(201).json();
    let intent = &checkout["payment_intent"];
    let body = json!({
        "payment_method": { "type": "card_token", "token": bank.token(GOOD).await },
        "checkout_version": 1, "amount": checkout["amount"],
    });
    let submit = child.call("POST", &format!("/v1/payment_intents/{}/submit", text(&intent["id"])));
    submit.bearer(ALPHA).key(text(&intent["submit_key"])).json(&body).send().await.expect(200);
    // The bank lets the question wait for longer than the server lives.
    bank.fault(json!({ "kind": "delay", "on": "get", "delay_ms": 60_000 })).await;
    let news = notice("payment.succeeded", &bank.payments("1").await[0]);
    child.call("POST", NOTIFY_PATH).json(&news).send().await.expect(200);
    let database = folder.path().join("data/payonce.db");
    assert_eq!(inbox(&database), ["waiting"]);
    child.kill();
    assert_eq!(inbox(&database), ["waiting"]);
    let _child = Child::start(&client, &bank, folder.path(), "warn").await;
    eventually("it is done", || async { (inbox(&database) == ["done"]).then_some(()) }).await;
    assert_eq!(bank.charges("1").await, 1);
}
