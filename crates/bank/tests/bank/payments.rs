//! The dialect of payments: shapes, refusals, states, listings.

use std::time::Duration;

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::support::{CHALLENGE_CARD, GOOD_CARD, Got, HOUR, TestBank, id, payment};

#[tokio::test]
async fn a_payment_looks_like_yookassas() {
    let bank = TestBank::start().await;
    let mut paid = bank.pay("key", GOOD_CARD).await;
    let payment_id = id(&paid).to_owned();
    assert_eq!(payment_id.len(), 36);
    assert_eq!(bank.get(&format!("/v3/payments/{payment_id}")).await.ok(), paid);
    paid["id"] = json!("ID");
    paid["payment_method"]["id"] = json!("ID");
    let expected = json!({
        "id": "ID",
        "status": "succeeded",
        "paid": true,
        "amount": { "value": "1500.00", "currency": "RUB" },
        "income_amount": { "value": "1447.50", "currency": "RUB" },
        "refunded_amount": { "value": "0.00", "currency": "RUB" },
        "created_at": "2026-03-01T00:00:00.000Z",
        "captured_at": "2026-03-01T00:00:00.000Z",
        "description": "Order 7",
        "metadata": { "checkout_id": "chk_1", "order_id": "order-7", "payment_intent_id": "pi_1" },
        "payment_method": {
            "type": "bank_card",
            "id": "ID",
            "saved": false,
            "title": "Bank card *4444",
            "card": {
                "first6": "555555",
                "last4": "4444",
                "expiry_month": "12",
                "expiry_year": "2030",
                "card_type": "MasterCard",
            },
        },
        "recipient": { "account_id": "100500", "gateway_id": "100500" },
        "refundable": true,
        "test": true,
    });
    assert_eq!(paid, expected);
}

#[tokio::test]
async fn anything_but_the_shops_credentials_is_refused() {
    let bank = TestBank::start().await;
    let client = Client::new();
    let url = format!("{}/v3/payments", bank.url);
    let requests = [
        client.get(&url),
        client.get(&url).basic_auth("100500", Some("test_demo ")),
        client.get(&url).basic_auth("100501", Some("test_demo")),
        client.get(&url).bearer_auth("MTAwNTAwOnRlc3RfZGVtbw=="),
        client.get(&url).header("Authorization", "Basic !!!"),
        client.post(&url).json(&payment("tok")),
    ];
    for request in requests {
        Got::of(request).await.refused(401, "invalid_credentials", "Authorization");
    }
    assert_eq!(bank.last_request().await["status"], 401);
}

#[tokio::test]
async fn what_is_unknown_is_a_json_404() {
    let bank = TestBank::start().await;
    bank.get("/v3/payments/none").await.refused(404, "not_found", "payment_id");
    bank.get("/v3/refunds/none").await.refused(404, "not_found", "refund_id");
    bank.get("/v3/receipts").await.refused(404, "not_found", "path");
    bank.post_empty("/v3/payments/none/capture", "1").await.refused(404, "not_found", "payment_id");
}

#[tokio::test]
async fn a_wrong_request_is_refused_by_its_field() {
    let bank = TestBank::start().await;
    let token = bank.token(GOOD_CARD).await;
    let many: Value = (0..17).map(|n| (n.to_string(), json!("v"))).collect::<serde_json::Map<_, _>>().into();
    let wrong = [
        ("/amount", json!(null), "amount.value"),
        ("/amount/value", json!("0"), "amount.value"),
        ("/amount/value", json!("1.001"), "amount.value"),
        ("/amount/value", json!("-1.00"), "amount.value"),
        ("/amount/value", json!(1500.0), "amount.value"),
        ("/amount/currency", json!("XXX"), "amount.currency"),
        ("/capture", json!("yes"), "capture"),
        ("/description", json!("я".repeat(129)), "description"),
        ("/metadata", many, "metadata"),
        ("/metadata/order_id", json!({ "a": 1 }), "metadata.order_id"),
        ("/metadata/order_id", json!("v".repeat(513)), "metadata.order_id"),
        ("/confirmation/type", json!("embedded"), "confirmation.type"),
        ("/confirmation/return_url", json!("javascript:alert(1)"), "confirmation.return_url"),
    ];
    for (number, (field, value, parameter)) in wrong.into_iter().enumerate() {
        let mut body = payment(&token);
        *body.pointer_mut(field).unwrap() = value;
        let got = bank.post("/v3/payments", &number.to_string(), &body).await;
        got.refused(400, "invalid_request", parameter);
    }
    let neither = json!({ "amount": { "value": "1.00", "currency": "RUB" } });
    bank.post("/v3/payments", "neither", &neither).await.refused(400, "invalid_request", "payment_token");
    let raw = bank.request(Method::POST, "/v3/payments").header("Idempotence-Key", "raw").body("{");
    Got::of(raw).await.refused(400, "invalid_request", "body");
    let mut body = payment(&token);
    body["description"] = json!("я".repeat(128));
    body["something_new"] = json!({ "of": ["theirs"] });
    bank.post("/v3/payments", "good", &body).await.ok();
    assert_eq!(bank.ledger().await["payments"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn money_is_taken_at_once_only_when_asked() {
    let bank = TestBank::start().await;
    let mut body = payment(&bank.token(GOOD_CARD).await);
    body.as_object_mut().unwrap().remove("capture");
    let held = bank.post("/v3/payments", "key", &body).await.ok();
    assert_eq!((&held["status"], &held["paid"]), (&json!("waiting_for_capture"), &json!(true)));
    assert_eq!(held["expires_at"], "2026-03-08T00:00:00.000Z");
    assert_eq!(held["refundable"], false);
    assert_eq!(held.get("captured_at"), None);
}

#[tokio::test]
async fn a_hold_is_captured_whole_by_an_empty_body_and_only_once() {
    let bank = TestBank::start().await;
    let held = bank.authorise("hold").await;
    let path = format!("/v3/payments/{}/capture", id(&held));
    bank.advance(HOUR);
    let taken = bank.post_empty(&path, "capture").await.ok();
    assert_eq!((&taken["status"], &taken["amount"]), (&json!("succeeded"), &held["amount"]));
    assert_eq!(taken["captured_at"], "2026-03-01T01:00:00.000Z");
    assert_eq!(bank.post_empty(&path, "capture").await.ok(), taken);
    assert_eq!(bank.post(&path, "capture", &json!({})).await.ok(), taken, "no body and {{}} are the same");
    bank.post_empty(&path, "another").await.refused(400, "invalid_request", "payment_id");
}

#[tokio::test]
async fn a_hold_can_be_captured_in_part_but_not_beyond() {
    let bank = TestBank::start().await;
    let held = bank.authorise("hold").await;
    let path = format!("/v3/payments/{}/capture", id(&held));
    let amount = |value: &str, currency: &str| json!({ "amount": { "value": value, "currency": currency } });
    bank.post(&path, "1", &amount("1500.01", "RUB")).await.refused(400, "invalid_request", "amount.value");
    bank.post(&path, "2", &amount("1.00", "USD")).await.refused(400, "invalid_request", "amount.currency");
    let taken = bank.post(&path, "3", &amount("400.00", "RUB")).await.ok();
    assert_eq!(taken["status"], "succeeded");
    assert_eq!(taken["amount"]["value"], "400.00");
}

#[tokio::test]
async fn only_a_hold_can_be_canceled() {
    let bank = TestBank::start().await;
    let held = bank.authorise("hold").await;
    let path = format!("/v3/payments/{}/cancel", id(&held));
    let canceled = bank.post_empty(&path, "cancel").await.ok();
    assert_eq!((&canceled["status"], &canceled["paid"]), (&json!("canceled"), &json!(false)));
    let details = json!({ "party": "merchant", "reason": "canceled_by_merchant" });
    assert_eq!(canceled["cancellation_details"], details);
    assert_eq!(bank.post_empty(&path, "cancel").await.ok(), canceled);
    bank.post_empty(&path, "again").await.refused(400, "invalid_request", "payment_id");
    for (key, number) in [("paid", GOOD_CARD), ("pending", CHALLENGE_CARD)] {
        let path = format!("/v3/payments/{}/cancel", id(&bank.pay(key, number).await));
        bank.post_empty(&path, &format!("cancel-{key}")).await.refused(400, "invalid_request", "payment_id");
    }
    assert_eq!(bank.charges().await, 1);
}

#[tokio::test]
async fn what_waits_ends_by_itself() {
    let bank = TestBank::start().await;
    let (held, pending) = (bank.authorise("hold").await, bank.pay("pending", CHALLENGE_CARD).await);
    let show = |payment: &Value| format!("/v3/payments/{}", id(payment));
    bank.advance(HOUR - Duration::from_millis(1));
    assert_eq!(bank.get(&show(&pending)).await.ok()["status"], "pending");
    bank.advance(Duration::from_millis(1));
    let ended = bank.get(&show(&pending)).await.ok();
    assert_eq!(
        ended["cancellation_details"],
        json!({ "party": "yoo_money", "reason": "expired_on_confirmation" })
    );
    assert_eq!(bank.get(&show(&held)).await.ok()["status"], "waiting_for_capture");
    bank.advance(HOUR * 24 * 7);
    bank.post_empty(&format!("{}/capture", show(&held)), "late").await.refused(
        400,
        "invalid_request",
        "payment_id",
    );
    let ended = bank.get(&show(&held)).await.ok();
    assert_eq!(
        ended["cancellation_details"],
        json!({ "party": "yoo_money", "reason": "expired_on_capture" })
    );
}

#[tokio::test]
async fn lives_are_settable() {
    let second = Duration::from_secs(1);
    let bank = TestBank::with(|config| {
        (config.token_life, config.pending_life, config.hold_life, config.key_life) =
            (second, second, second, second);
    })
    .await;
    let (held, pending) = (bank.authorise("hold").await, bank.pay("pending", CHALLENGE_CARD).await);
    let token = bank.token(GOOD_CARD).await;
    bank.advance(second);
    bank.post("/v3/payments", "hold", &payment(&token)).await.refused(
        400,
        "invalid_request",
        "payment_token",
    );
    for payment in [held, pending] {
        assert_eq!(bank.get(&format!("/v3/payments/{}", id(&payment))).await.ok()["status"], "canceled");
    }
}

/// The ids of all pages of a listing.
async fn walk(bank: &TestBank, query: &str) -> Vec<String> {
    let mut ids = Vec::new();
    let mut cursor = String::new();
    loop {
        let list = bank.get(&format!("/v3/payments?{query}{cursor}")).await.ok();
        assert_eq!(list["type"], "list");
        ids.extend(list["items"].as_array().unwrap().iter().map(|item| id(item).to_owned()));
        match list.get("next_cursor") {
            None => return ids,
            Some(next) => cursor = format!("&cursor={}", next.as_str().unwrap()),
        }
    }
}

#[tokio::test]
async fn a_listing_is_complete_newest_first_whatever_the_size_of_its_pages() {
    let bank = TestBank::start().await;
    let mut ids = Vec::new();
    for number in 0..7 {
        ids.insert(0, id(&bank.pay(&number.to_string(), GOOD_CARD).await).to_owned());
        // Some share their millisecond.
        bank.advance(Duration::from_millis(number % 2));
    }
    for limit in [1, 2, 7, 100] {
        assert_eq!(walk(&bank, &format!("limit={limit}")).await, ids, "{limit}");
    }
    assert_eq!(walk(&bank, "").await, ids);
}

#[tokio::test]
async fn a_listing_is_filtered_by_time_and_state() {
    let bank = TestBank::start().await;
    let mut ids = Vec::new();
    for (number, card) in [GOOD_CARD, CHALLENGE_CARD, GOOD_CARD].into_iter().enumerate() {
        ids.push(id(&bank.pay(&number.to_string(), card).await).to_owned());
        bank.advance(Duration::from_millis(1));
    }
    let at = |ms: u32| format!("2026-03-01T00:00:00.{ms:03}Z");
    let cases = [
        (format!("created_at.gte={}", at(1)), vec![2, 1]),
        (format!("created_at.gt={}", at(1)), vec![2]),
        (format!("created_at.lte={}", at(1)), vec![1, 0]),
        (format!("created_at.lt={}", at(1)), vec![0]),
        (format!("created_at.gte={}&created_at.lt={}", at(1), at(2)), vec![1]),
        ("created_at.gt=2026-03-01T00:00:00.0005Z".to_owned(), vec![2, 1]),
        // What took no money is dated by none.
        (format!("captured_at.gte={}", at(0)), vec![2, 0]),
        (format!("captured_at.gt={}", at(0)), vec![2]),
        (format!("captured_at.lte={}&created_at.gte={}", at(2), at(1)), vec![2]),
        (format!("captured_at.lt={}", at(2)), vec![0]),
        ("status=succeeded".to_owned(), vec![2, 0]),
        ("status=pending&limit=1".to_owned(), vec![1]),
        ("payment_method=bank_card".to_owned(), vec![2, 1, 0]),
        ("payment_method=sbp".to_owned(), vec![]),
    ];
    for (query, expected) in cases {
        let expected: Vec<_> = expected.into_iter().map(|number: usize| ids[number].clone()).collect();
        assert_eq!(walk(&bank, &query).await, expected, "{query}");
    }
    for (query, parameter) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("created_at.gte=yesterday", "created_at.gte"),
        ("captured_at.lt=tomorrow", "captured_at.lt"),
        ("captured_at.on=2026-03-01T00:00:00Z", "captured_at.on"),
        ("status=paid", "status"),
        ("cursor=none", "cursor"),
        ("colour=red", "colour"),
    ] {
        bank.get(&format!("/v3/payments?{query}")).await.refused(400, "invalid_request", parameter);
    }
}

#[tokio::test]
async fn fault_31_answers_tell_the_time_of_the_banks_own_clock() {
    let bank = TestBank::start().await;
    let told = async || {
        let response = bank.request(Method::GET, "/v3/payments").send().await.unwrap();
        let date = response.headers()["date"].to_str().unwrap().to_owned();
        jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date).unwrap()
    };
    let before = told().await;
    bank.advance(Duration::from_secs(7200));
    assert_eq!(told().await.duration_since(before).as_secs(), 7200);
}
