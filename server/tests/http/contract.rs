//! The contract letter for letter: fields, statuses, headers, problems.

use serde_json::{Value, json};

use crate::support::{ALPHA, DECLINED, GOOD, PUBLIC_URL, RETURN_ORIGIN, THREE_DS, World, order, text};

fn names(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn is_id(value: &Value, prefix: &str) -> bool {
    text(value)
        .strip_prefix(prefix)
        .is_some_and(|hex| hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_utc(value: &Value) -> bool {
    text(value).ends_with('Z') && text(value).parse::<jiff::Timestamp>().is_ok()
}

#[tokio::test]
async fn a_checkout_has_these_fields_and_no_other() {
    let world = World::start().await;
    let body = json!({
        "order_id": "123", "amount": { "value": "1500", "currency": "RUB" }, "description": "Зерно, 2 kg",
        "customer": { "email": "anna@example.com" }, "return_url": format!("{RETURN_ORIGIN}/back?a=1"),
        "metadata": { "basket": "7" }, "expires_in": 600, "capture": "automatic",
    });
    let reply = world.open("key", &body).send().await.expect(201);
    assert_eq!(reply.header("Content-Type"), Some("application/json"));
    assert!(!reply.is_replay());
    let checkout = reply.json();
    let fields = [
        "amount",
        "client_token",
        "created_at",
        "description",
        "expires_at",
        "id",
        "metadata",
        "object",
        "order_id",
        "payment_intent",
        "status",
        "url",
        "version",
    ];
    assert_eq!(names(&checkout), fields);
    assert_eq!(names(&checkout["payment_intent"]), ["id", "state", "submit_key"]);
    let id = text(&checkout["id"]);
    assert_eq!(reply.header("Location"), Some(format!("/v1/checkouts/{id}").as_str()));
    assert!(is_id(&checkout["id"], "co_") && is_id(&checkout["payment_intent"]["id"], "pi_"), "{checkout}");
    let token = text(&checkout["client_token"]);
    assert!(token.starts_with("ct_"));
    assert_eq!(checkout["url"], format!("{PUBLIC_URL}/pay/{id}?token={token}"));
    assert_eq!(checkout["object"], "checkout");
    assert_eq!(checkout["status"], "open");
    assert_eq!(checkout["order_id"], "123");
    assert_eq!(checkout["amount"], json!({ "value": "1500.00", "currency": "RUB" }));
    assert_eq!(checkout["description"], "Зерно, 2 kg");
    assert_eq!(checkout["version"], 1);
    assert_eq!(checkout["metadata"], json!({ "basket": "7" }));
    assert_eq!(checkout["payment_intent"]["state"], "created");
    assert!(is_utc(&checkout["created_at"]) && is_utc(&checkout["expires_at"]), "{checkout}");
    let moment = |name: &str| text(&checkout[name]).parse::<jiff::Timestamp>().unwrap();
    assert_eq!(moment("expires_at").as_second() - moment("created_at").as_second(), 600);

    for credential in [ALPHA, token] {
        let shown = world.get(&format!("/v1/checkouts/{id}")).bearer(credential).send().await.expect(200);
        assert_eq!(shown.json(), checkout);
    }
}

#[tokio::test]
async fn what_is_left_out_has_its_default() {
    let world = World::start().await;
    let checkout = world.checkout("123").await;
    assert_eq!(checkout["description"], Value::Null);
    assert_eq!(checkout["metadata"], json!({}));
    let moment = |name: &str| text(&checkout[name]).parse::<jiff::Timestamp>().unwrap().as_second();
    assert_eq!(moment("expires_at") - moment("created_at"), 86_400);
}

#[tokio::test]
async fn an_intent_has_these_fields_and_more_for_its_merchant() {
    let world = World::start().await;
    let checkout = world.checkout("123").await;
    let intent = &checkout["payment_intent"];
    let path = format!("/v1/payment_intents/{}", text(&intent["id"]));
    let shopper = || world.get(&path).bearer(text(&checkout["client_token"])).send();
    let before = shopper().await.expect(200).json();
    let fields = [
        "amount",
        "checkout_id",
        "checkout_version",
        "created_at",
        "id",
        "object",
        "order_id",
        "state",
        "submit_key",
    ];
    assert_eq!(names(&before), fields);

    world.pay(&checkout, GOOD).await.expect(200);
    let after = shopper().await.expect(200).json();
    assert_eq!(after["id"], intent["id"]);
    assert_eq!(after["object"], "payment_intent");
    assert_eq!(after["state"], "succeeded");
    assert_eq!(after["amount"], json!({ "value": "1500.00", "currency": "RUB" }));
    assert_eq!(after["checkout_id"], checkout["id"]);
    assert_eq!(after["checkout_version"], 1);
    assert_eq!(after["order_id"], "123");
    assert_eq!(after["submit_key"], intent["submit_key"]);
    assert_eq!(after["payment_method"], json!({ "type": "card_token", "last4": "4444" }));
    assert!(is_utc(&after["created_at"]));

    let merchant = world.intent(&intent["id"]).await;
    let extra = ["attempts", "journal", "provider"];
    assert_eq!(
        names(&merchant).into_iter().filter(|name| !names(&after).contains(name)).collect::<Vec<_>>(),
        extra
    );
    assert_eq!(merchant["provider"]["name"], "yookassa");
    assert_eq!(merchant["provider"]["object_id"], world.bank.payments("123").await[0]["id"]);
    assert_eq!(names(&merchant["attempts"][0]), ["id", "operation_id", "outcome", "started_at"]);
    assert_eq!(names(&merchant["journal"][0]), ["at", "event", "evidence", "from", "hash", "seq", "to"]);
}

#[tokio::test]
async fn a_submission_answers_200_with_the_intent_where_the_result_is_known() {
    let world = World::start().await;
    for (card, state) in [(GOOD, "succeeded"), (DECLINED, "declined"), (THREE_DS, "requires_action")] {
        let checkout = world.checkout(state).await;
        let reply = world.pay(&checkout, card).await.expect(200);
        let intent = reply.json();
        assert_eq!(intent["state"], state, "{intent}");
        let id = text(&checkout["payment_intent"]["id"]);
        assert_eq!(reply.header("Location"), Some(format!("/v1/payment_intents/{id}").as_str()));
        assert_eq!(reply.header("Content-Type"), Some("application/json"));
        assert_eq!(reply.header("Retry-After"), None);
        assert!(!reply.is_replay());
        for secret_field in ["attempts", "journal", "provider"] {
            assert_eq!(intent.get(secret_field), None, "{intent}");
        }
        let declined = json!({ "by": "issuer", "code": "insufficient_funds" });
        match state {
            "declined" => {
                assert_eq!(intent["decline"]["by"], declined["by"], "{intent}");
                assert_eq!(intent["decline"]["code"], declined["code"], "{intent}");
                assert!(intent["decline"]["message"].is_string(), "{intent}");
            }
            "requires_action" => {
                assert_eq!(intent["next_action"]["type"], "redirect", "{intent}");
                assert!(text(&intent["next_action"]["url"]).starts_with(&world.bank.url), "{intent}");
            }
            _ => assert_eq!((intent.get("decline"), intent.get("next_action")), (None, None), "{intent}"),
        }
    }
}

#[tokio::test]
async fn a_redirect_needs_no_token_and_a_hold_is_authorized() {
    let world = World::start().await;
    let checkout = world.checkout("redirect").await;
    let reply = world.submit_method(&checkout, json!({ "type": "redirect" })).send().await.expect(200);
    assert_eq!(reply.json()["state"], "requires_action");
    assert_eq!(reply.json()["payment_method"]["type"], "redirect");
    let mut manual = order("hold");
    manual["capture"] = json!("manual");
    let checkout = world.open("hold", &manual).send().await.expect(201).json();
    assert_eq!(world.pay(&checkout, GOOD).await.expect(200).json()["state"], "authorized");
    assert_eq!(world.bank.charges("hold").await, 0);
}

#[tokio::test]
async fn after_a_decline_trying_again_makes_a_linked_intent() {
    let world = World::start().await;
    let checkout = world.checkout("123").await;
    world.pay(&checkout, DECLINED).await.expect(200);
    let reply = world.again(&checkout, "again-1").send().await.expect(201);
    let intent = reply.json();
    assert_eq!(intent["previous_intent_id"], checkout["payment_intent"]["id"]);
    assert_ne!(intent["id"], checkout["payment_intent"]["id"]);
    assert_ne!(intent["submit_key"], checkout["payment_intent"]["submit_key"]);
    assert_eq!(intent["state"], "created");
    assert_eq!(
        reply.header("Location"),
        Some(format!("/v1/payment_intents/{}", text(&intent["id"])).as_str())
    );
    // Under another key the intent that occupies the checkout; under the same one a replay.
    let other = world.again(&checkout, "again-2").send().await.expect(200);
    assert_eq!(other.json()["id"], intent["id"]);
    let replay = world.again(&checkout, "again-1").send().await.expect(201);
    assert!(replay.is_replay());
    assert_eq!(replay.bytes, reply.bytes);
    let now = world.shown(&checkout).await;
    assert_eq!(now["payment_intent"]["id"], intent["id"]);
    world.pay(&now, GOOD).await.expect(200);
    let paid = world.again(&checkout, "again-3").send().await;
    paid.problem(409, "order_paid");
    assert_eq!(world.shown(&checkout).await["status"], "paid");
    assert_eq!(world.bank.charges("123").await, 1);
}

#[tokio::test]
async fn every_answer_names_its_request_and_is_kept_by_nobody() {
    let world = World::start().await;
    let mut seen = std::collections::BTreeSet::new();
    for (method, path) in
        [("GET", "/healthz"), ("GET", "/nowhere"), ("POST", "/v1/checkouts"), ("DELETE", "/readyz")]
    {
        let reply = world.call(method, path).send().await;
        assert_eq!(reply.header("Cache-Control"), Some("no-store"), "{path}");
        let id = reply.header("Request-Id").unwrap().to_owned();
        assert!(id.starts_with("req_") && seen.insert(id), "{path}: {reply:?}");
    }
}

#[tokio::test]
async fn health_is_two_questions() {
    let world = World::start().await;
    assert_eq!(world.get("/healthz").send().await.expect(200).json()["status"], "ok");
    let ready = world.get("/readyz").send().await.expect(200).json();
    assert_eq!((&ready["database"], &ready["provider"]), (&json!("ok"), &json!("configured")));
}

#[tokio::test]
async fn attack_24_a_method_that_is_not_taken_is_405_with_allow() {
    let world = World::start().await;
    for (method, path, allow) in [
        ("GET", "/v1/checkouts", "POST"),
        ("PUT", "/v1/checkouts/co_1", "GET,HEAD"),
        ("GET", "/v1/payment_intents/pi_1/submit", "POST"),
        ("DELETE", "/v1/payment_intents/pi_1", "GET,HEAD"),
        ("POST", "/healthz", "GET,HEAD"),
        ("DELETE", "/pay/co_1/again", "GET,HEAD,POST"),
    ] {
        let reply = world.call(method, path).send().await;
        reply.problem(405, "method_not_allowed");
        assert_eq!(
            reply.header("Allow").map(|allow| allow.replace(' ', "")).as_deref(),
            Some(allow),
            "{method} {path}"
        );
    }
}
