//! A fault strikes as often as it was armed, where it was armed, and nowhere else.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{GOOD_CARD, Got, TestBank, id, payment};

#[tokio::test]
async fn a_fault_waits_for_its_kind_of_request() {
    let bank = TestBank::start().await;
    let (first, second) = (bank.authorise("1").await, bank.authorise("2").await);
    for on in ["capture", "cancel", "refund", "get", "list"] {
        bank.fault(json!({ "kind": "error_500_after", "on": on })).await;
    }
    let path = |payment: &Value, action: &str| format!("/v3/payments/{}/{action}", id(payment));
    assert_eq!(bank.post_empty(&path(&first, "capture"), "c").await.status, 500);
    assert_eq!(bank.post_empty(&path(&first, "capture"), "c").await.ok()["status"], "succeeded");
    assert_eq!(bank.post_empty(&path(&second, "cancel"), "x").await.status, 500);
    assert_eq!(bank.post_empty(&path(&second, "cancel"), "x").await.ok()["status"], "canceled");
    let refund = json!({ "payment_id": first["id"], "amount": { "value": "1.00", "currency": "RUB" } });
    assert_eq!(bank.post("/v3/refunds", "r", &refund).await.status, 500);
    let refunded = bank.post("/v3/refunds", "r", &refund).await.ok();
    assert_eq!(bank.ledger().await["refunds"], json!([refunded]));
    assert_eq!(bank.get(&format!("/v3/payments/{}", id(&first))).await.status, 500);
    assert_eq!(bank.get("/v3/payments").await.status, 500);
    assert_eq!(bank.get("/faults").await.ok(), json!({ "faults": [] }));
}

#[tokio::test]
async fn a_fault_waits_for_its_order() {
    let bank = TestBank::start().await;
    for on in ["create", "get", "capture", "refund"] {
        bank.fault(json!({ "kind": "bad_request", "order_id": "order-8", "on": on })).await;
    }
    let held = bank.authorise("seven").await;
    bank.get(&format!("/v3/payments/{}", id(&held))).await.ok();
    bank.post_empty(&format!("/v3/payments/{}/capture", id(&held)), "capture").await.ok();
    let mut other = payment(&bank.token(GOOD_CARD).await);
    other["metadata"]["order_id"] = json!("order-8");
    bank.post("/v3/payments", "eight", &other).await.refused(400, "invalid_request", "body");
    let paid = bank.post("/v3/payments", "eight", &other).await.ok();
    let show = format!("/v3/payments/{}", id(&paid));
    bank.get(&show).await.refused(400, "invalid_request", "body");
    bank.get(&show).await.ok();
    let refund = json!({ "payment_id": paid["id"], "amount": { "value": "1.00", "currency": "RUB" } });
    bank.post("/v3/refunds", "r", &refund).await.refused(400, "invalid_request", "body");
    assert_eq!(bank.get("/faults").await.ok()["faults"][0]["on"], "capture");
}

#[tokio::test]
async fn faults_can_be_seen_and_cleared() {
    let bank = TestBank::start().await;
    bank.fault(json!({ "kind": "error_500_before", "times": 3 })).await;
    let body = payment(&bank.token(GOOD_CARD).await);
    assert_eq!(bank.post("/v3/payments", "key", &body).await.status, 500);
    let armed =
        json!({ "kind": "error_500_before", "times": 2, "order_id": null, "delay_ms": 0, "on": "create" });
    assert_eq!(bank.get("/faults").await.ok(), json!({ "faults": [armed] }));
    let cleared = Got::of(bank.client.delete(format!("{}/faults", bank.url))).await;
    assert_eq!(cleared.ok(), json!({ "faults": [] }));
    bank.post("/v3/payments", "key", &body).await.ok();
}

#[tokio::test]
async fn a_fault_that_the_bank_cannot_do_is_refused_with_what_it_can() {
    let bank = TestBank::start().await;
    for (order, says) in [
        (json!({ "kind": "explode" }), "allowed: lose_request, lose_answer"),
        (json!({ "kind": "pending", "on": "capture" }), "allowed: create, get, list, refund"),
        (json!({ "kind": "delay", "on": "token" }), "allowed: create, get, list"),
        (json!({ "kind": "reverse", "on": "list" }), "allowed: create, get, capture, cancel"),
        (json!({ "kind": "delay", "on": "list", "order_id": "1" }), "a listing belongs to no order"),
        (json!({ "kind": "delay", "times": 0 }), "times"),
        (json!({ "kind": "delay", "delay_ms": 3_600_001 }), "delay_ms"),
        (json!({ "kind": "delay", "delay": 1 }), "unknown field"),
        (json!({ "times": 1 }), "kind"),
    ] {
        let got = Got::of(bank.client.post(format!("{}/faults", bank.url)).json(&order)).await;
        assert_eq!(got.status, 400, "{order}");
        assert!(got.body["error"].as_str().unwrap().contains(says), "{order}: {got:?}");
    }
    assert_eq!(bank.get("/faults").await.ok(), json!({ "faults": [] }));
}

#[tokio::test]
async fn every_request_meets_the_faults_that_make_sense_on_it() {
    let statuses = [
        ("error_500_before", 500),
        ("error_500_after", 500),
        ("rate_limit", 429),
        ("bad_request", 400),
        ("unauthorized", 401),
        ("not_found", 404),
    ];
    for on in ["create", "get", "list", "capture", "cancel", "refund"] {
        let bank = TestBank::start().await;
        let paid = bank.pay("paid", GOOD_CARD).await;
        for kind in ["lose_request", "lose_answer"] {
            bank.fault(json!({ "kind": kind, "on": on })).await;
            assert!(ask(&bank, on, kind, &paid).await.is_none(), "{kind} on {on}");
            assert_eq!(bank.last_request().await["answered"], false);
        }
        for (kind, status) in statuses {
            bank.fault(json!({ "kind": kind, "on": on })).await;
            let (got, _) = ask(&bank, on, kind, &paid).await.unwrap();
            // A listing that finds nothing is an empty one.
            let expected = if (kind, on) == ("not_found", "list") { 200 } else { status };
            assert_eq!(got, expected, "{kind} on {on}");
        }
        bank.fault(json!({ "kind": "garbage", "on": on })).await;
        let (status, text) = ask(&bank, on, "garbage", &paid).await.unwrap();
        assert!(status == 200 && serde_json::from_str::<Value>(&text).is_err(), "garbage on {on}: {text}");
        bank.fault(json!({ "kind": "wrong_amount", "on": on })).await;
        let (_, text) = ask(&bank, on, "wrong_amount", &paid).await.unwrap();
        assert!(text.contains("1501.00") || text.contains("2.00"), "wrong_amount on {on}: {text}");
        bank.fault(json!({ "kind": "delay", "on": on, "delay_ms": 20 })).await;
        assert_eq!(ask(&bank, on, "delay", &paid).await.unwrap().0, 200, "delay on {on}");
        if !matches!(on, "get" | "list") {
            bank.fault(json!({ "kind": "processing_202", "on": on })).await;
            assert_eq!(ask(&bank, on, "processing_202", &paid).await.unwrap().0, 202, "{on}");
        }
        assert_eq!(bank.get("/faults").await.ok(), json!({ "faults": [] }));
    }
}

/// Asks something that would succeed. Status and text of the answer, if there is one.
async fn ask(bank: &TestBank, on: &str, key: &str, paid: &Value) -> Option<(u16, String)> {
    let refund = json!({ "payment_id": paid["id"], "amount": { "value": "1.00", "currency": "RUB" } });
    let post = |path: &str| bank.request(Method::POST, path).header("Idempotence-Key", key);
    let request = match on {
        "create" => post("/v3/payments").json(&payment(&bank.token(GOOD_CARD).await)),
        "get" => bank.request(Method::GET, &format!("/v3/payments/{}", id(paid))),
        "list" => bank.request(Method::GET, "/v3/payments"),
        "refund" => post("/v3/refunds").json(&refund),
        _ => {
            let held = bank.authorise(&format!("held for {key}").replace(' ', "-")).await;
            post(&format!("/v3/payments/{}/{on}", id(&held)))
        }
    };
    let answer = request.send().await.ok()?;
    Some((answer.status().as_u16(), answer.text().await.unwrap()))
}
