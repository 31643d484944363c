//! The key layer: syntax, scope, fingerprint, replay.

use serde_json::{Value, json};

use crate::support::{ALPHA, ALPHA_LIVE, BETA, DECLINED, GOOD, RETURN_ORIGIN, Raw, World, order, text};

/// Checks that a key means nothing yet: it still opens a checkout.
async fn is_unused(world: &World, key: &str) {
    let reply = world.open(key, &order(&format!("fresh-{key}"))).send().await.expect(201);
    assert!(!reply.is_replay());
}

#[tokio::test]
async fn attack_1_whatever_creates_or_moves_money_needs_a_key() {
    let world = World::start().await;
    let checkout = world.checkout("123").await;
    let (id, intent) = (text(&checkout["id"]), text(&checkout["payment_intent"]["id"]));
    for path in [
        "/v1/checkouts".to_owned(),
        format!("/v1/checkouts/{id}/payment_intents"),
        format!("/v1/payment_intents/{intent}/submit"),
    ] {
        let reply = world.post(&path).bearer(ALPHA).json(&order("123")).send().await;
        reply.blames(400, "idempotency_key_missing", "Idempotency-Key");
    }
    assert!(world.bank.creates().await.is_empty());
}

#[tokio::test]
async fn attacks_2_to_4_what_is_no_key_is_refused() {
    let world = World::start().await;
    let long = "k".repeat(256);
    let wrong: &[&[u8]] = &[
        b"",
        b"a b",
        b"a,b",
        b"a\"b",
        b"a\\b",
        b"\"a",
        b"\"\"",
        b"\"a b\"",
        b"\"a\"b",
        "ключ".as_bytes(),
        b"a\xffb",
        b"a\tb",
    ];
    for key in wrong.iter().copied().chain([long.as_bytes()]) {
        let call = world.post("/v1/checkouts").bearer(ALPHA).header("Idempotency-Key", key).json(&order("1"));
        call.send().await.blames(400, "idempotency_key_invalid", "Idempotency-Key");
    }
    let quoted_long = format!("\"{}\"", "q".repeat(255));
    for key in ["!#$%&'()*+-./:;<=>?@[]^_`{|}~aZ09", &"k".repeat(255), &quoted_long] {
        let call = world
            .post("/v1/checkouts")
            .bearer(ALPHA)
            .header("Idempotency-Key", key)
            .json(&order(&format!("o{}", key.len())));
        call.send().await.expect(201);
    }
}

#[tokio::test]
async fn attack_3_control_characters_in_a_key_never_pass() {
    let world = World::start().await;
    let body = order("1").to_string();
    for key in [&b"a\0b"[..], b"a\rb", b"a\nX-Other: b", b"a\r\n folded"] {
        let mut request = b"POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n".to_vec();
        request.extend(
            format!("Authorization: Bearer {ALPHA}\r\nContent-Length: {}\r\nIdempotency-Key: ", body.len())
                .bytes(),
        );
        request.extend_from_slice(key);
        request.extend(format!("\r\n\r\n{body}").bytes());
        let answer = Raw::exchange(&world.url, request).await;
        // A bare line feed ends a header line in HTTP; the key is then what stands before it.
        if key.contains(&b'X') {
            assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
        } else {
            assert!(answer.starts_with("HTTP/1.1 400"), "{key:?}: {answer}");
        }
    }
}

/// Also test-task2#73.
#[tokio::test]
async fn attack_4_two_keys_are_none() {
    let world = World::start().await;
    let call = || world.post("/v1/checkouts").bearer(ALPHA).json(&order("1"));
    let twice = call().key("same").key("same").send().await;
    twice.blames(400, "idempotency_key_invalid", "Idempotency-Key");
    let alias_twice = call().header("Idempotence-Key", "a").header("Idempotence-Key", "a").send().await;
    alias_twice.blames(400, "idempotency_key_invalid", "Idempotence-Key");
    let unequal = call().key("a").header("Idempotence-Key", "b").send().await;
    unequal.blames(400, "idempotency_key_invalid", "Idempotency-Key");
    // Case matters.
    call().key("a").header("Idempotence-Key", "A").send().await.problem(400, "idempotency_key_invalid");
    for key in ["same", "a", "b", "A"] {
        is_unused(&world, key).await;
    }
}

#[tokio::test]
async fn bare_quoted_and_alias_are_one_key() {
    let world = World::start().await;
    let first = world.open("abc", &order("1")).send().await.expect(201);
    for (name, key) in [
        ("Idempotency-Key", "abc"),
        ("Idempotency-Key", "\"abc\""),
        ("Idempotency-Key", "\"abc\";v=1"),
        ("Idempotence-Key", "abc"),
        ("idempotence-key", "\"abc\""),
    ] {
        let reply = world
            .post("/v1/checkouts")
            .bearer(ALPHA)
            .header(name, key)
            .json(&order("1"))
            .send()
            .await
            .expect(201);
        assert!(reply.is_replay(), "{name}: {key}");
        assert_eq!(reply.bytes, first.bytes);
    }
    let both = world.open("abc", &order("1")).header("Idempotence-Key", "\"abc\"").send().await.expect(201);
    assert!(both.is_replay());
    assert!(!world.open("ABC", &order("2")).send().await.expect(201).is_replay());
}

#[tokio::test]
async fn r2_a_replay_is_the_first_answer_byte_for_byte_also_after_a_restart() {
    let world = World::start().await;
    let first = world.open("key", &order("1")).send().await.expect(201);
    let checkout = first.json();
    let declined = world.pay(&checkout, DECLINED).await.expect(200);
    let again = world.again(&checkout, "again").send().await.expect(201);
    let now = world.shown(&checkout).await;
    let paid = world.pay(&now, GOOD).await.expect(200);
    let world = world.restart().await;
    // The checkout is paid by now: the receipt says what was said then.
    for (call, receipt) in [
        (world.open("key", &order("1")), &first),
        (world.submit(&checkout, "another"), &declined),
        (world.again(&checkout, "again"), &again),
        (world.submit(&now, "another"), &paid),
    ] {
        let replay = call.send().await;
        assert!(replay.is_replay(), "{replay:?}");
        assert_eq!((replay.status, &replay.bytes), (receipt.status, &receipt.bytes));
        for name in ["Location", "Content-Type"] {
            assert_eq!(replay.header(name), receipt.header(name));
        }
        assert_eq!(replay.header("Retry-After"), None);
    }
    assert_eq!(world.bank.charges("1").await, 1);
    assert_eq!(world.bank.payments("1").await.len(), 2);
}

#[tokio::test]
async fn r7_a_key_belongs_to_its_merchant_mode_and_kind() {
    let world = World::start().await;
    let mut seen = std::collections::BTreeSet::new();
    for secret in [ALPHA, ALPHA_LIVE, BETA] {
        let call = || world.post("/v1/checkouts").bearer(secret).key("key").json(&order("1"));
        let reply = call().send().await.expect(201);
        assert!(!reply.is_replay());
        assert!(seen.insert(text(&reply.json()["id"]).to_owned()));
        let replay = call().send().await.expect(201);
        assert!(replay.is_replay());
        assert_eq!(replay.bytes, reply.bytes);
    }
    // Another kind of request under the same key is another request.
    let checkout = world.open("key", &order("1")).send().await.json();
    assert!(!world.again(&checkout, "key").send().await.expect(200).is_replay());
    // A submit key of ours as a merchant's key for something else.
    let submit_key = text(&checkout["payment_intent"]["submit_key"]);
    world.open(submit_key, &order("2")).send().await.expect(201);
    world.pay(&checkout, GOOD).await.expect(200);
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn fault_7_r4_the_same_request_written_otherwise_is_a_replay() {
    let world = World::start().await;
    let full = json!({
        "order_id": "1", "amount": { "value": "1500.00", "currency": "RUB" }, "metadata": { "a": "1", "b": "2" },
        "customer": { "email": "anna@example.com" },
    });
    let first = world.open("key", &full).send().await.expect(201);
    for text in [
        r#"{"metadata":{"b":"2","a":"1"},"customer":{"email":"anna@example.com"},"amount":{"currency":"RUB","value":"1500.0"},"order_id":"1"}"#,
        r#"{"order_id":"1","amount":{"value":"1500","currency":"RUB"},"metadata":{"a":"1","b":"2"},"customer":{"email":"anna@example.com"},
            "capture":"automatic","expires_in":86400,"description":null,"return_url":null}"#,
        r#"{"order_id":"\u0031","amount":{"value":"1500.0","currency":"RUB"},"metadata":{"a":"1","b":"2"},"customer":{"email":"anna@example.com"}}"#,
    ] {
        let call = world
            .post("/v1/checkouts")
            .bearer(ALPHA)
            .key("key")
            .text("application/json; charset=utf-8", text);
        let reply = call.send().await.expect(201);
        assert!(reply.is_replay());
        assert_eq!(reply.bytes, first.bytes);
    }
}

#[tokio::test]
async fn fault_6_r3_a_key_with_other_parameters_is_refused_and_the_field_is_named() {
    let world = World::start().await;
    let first = json!({
        "order_id": "1", "amount": { "value": "1500.00", "currency": "RUB" }, "description": "coffee",
        "customer": { "email": "anna@example.com" }, "return_url": format!("{RETURN_ORIGIN}/a"),
        "metadata": { "a": "1" }, "expires_in": 600, "capture": "automatic",
    });
    let opened = world.open("key", &first).send().await.expect(201);
    let before = world.shown(&opened.json()).await;
    for (pointer, value, field) in [
        ("/order_id", json!("2"), "order_id"),
        ("/amount/value", json!("1500.01"), "amount"),
        ("/amount/currency", json!("EUR"), "amount"),
        ("/description", json!("Coffee"), "description"),
        // The same letters to the eye, other code points.
        ("/description", json!("co\u{fb00}ee"), "description"),
        ("/description", Value::Null, "description"),
        ("/customer/email", json!("anna@example.org"), "customer.email"),
        ("/customer", Value::Null, "customer.email"),
        ("/return_url", json!(format!("{RETURN_ORIGIN}/b")), "return_url"),
        ("/metadata/a", json!("2"), "metadata"),
        ("/metadata", json!({ "a": "1", "b": "" }), "metadata"),
        ("/expires_in", json!(601), "expires_in"),
        ("/expires_in", Value::Null, "expires_in"),
        ("/capture", json!("manual"), "capture"),
    ] {
        let mut other = first.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        world.open("key", &other).send().await.blames(422, "idempotency_key_reused", field);
    }
    assert_eq!(world.shown(&opened.json()).await, before);
    assert_eq!(world.open("key", &first).send().await.expect(201).bytes, opened.bytes);
    // No second order came to be.
    let second = world.open("other", &order("2")).send().await.expect(201);
    assert_eq!(second.json()["order_id"], "2");
}

#[tokio::test]
async fn r4_an_empty_text_is_not_the_same_as_none() {
    let world = World::start().await;
    let mut empty = order("1");
    empty["description"] = json!("");
    world.open("key", &empty).send().await.expect(201);
    world.open("key", &order("1")).send().await.blames(422, "idempotency_key_reused", "description");
}

#[tokio::test]
async fn r3_a_submit_key_with_other_terms_is_refused_and_the_method_does_not_count() {
    let world = World::start().await;
    let (checkout, other) = (world.checkout("1").await, world.checkout("2").await);
    let paid = world.pay(&checkout, GOOD).await.expect(200);
    for (name, value, field) in [
        ("checkout_version", json!(2), "checkout_version"),
        ("amount", json!({ "value": "1500.01", "currency": "RUB" }), "amount"),
        ("amount", json!({ "value": "1500.00", "currency": "USD" }), "amount"),
    ] {
        let mut changed = checkout.clone();
        changed[if name == "amount" { "amount" } else { "version" }] = value;
        world.submit(&changed, "token").send().await.blames(422, "idempotency_key_reused", field);
    }
    for method in [json!({ "type": "card_token", "token": "another" }), json!({ "type": "redirect" })] {
        let replay = world.submit_method(&checkout, method).send().await.expect(200);
        assert!(replay.is_replay());
        assert_eq!(replay.bytes, paid.bytes);
    }
    // A submit key is one intent's; any other key is none.
    let mut mixed = other.clone();
    mixed["payment_intent"]["submit_key"] = checkout["payment_intent"]["submit_key"].clone();
    world.submit(&mixed, "token").send().await.blames(422, "submit_key_mismatch", "Idempotency-Key");
    mixed["payment_intent"]["submit_key"] = json!("my-own-key");
    world.submit(&mixed, "token").send().await.blames(422, "submit_key_mismatch", "Idempotency-Key");
    assert_eq!(world.bank.creates().await.len(), 1);
    assert_eq!(world.pay(&other, GOOD).await.expect(200).json()["state"], "succeeded");
}

#[tokio::test]
async fn a_refused_request_leaves_its_key_unused() {
    let world = World::start().await;
    let wrong_amount = json!({ "order_id": "1", "amount": { "value": "0", "currency": "RUB" } });
    world.open("refused", &wrong_amount).send().await.problem(422, "invalid_field");
    world.open("refused", &json!({ "order": 1 })).send().await.problem(400, "invalid_json");
    world.post("/v1/checkouts").key("refused").json(&order("1")).send().await.problem(401, "unauthorized");
    world
        .post("/v1/checkouts")
        .bearer(ALPHA)
        .key("refused")
        .text("text/plain", "x")
        .send()
        .await
        .problem(415, "unsupported_media_type");
    let big = "x".repeat(100 << 10);
    world
        .post("/v1/checkouts")
        .bearer(ALPHA)
        .key("refused")
        .text("application/json", big)
        .send()
        .await
        .problem(413, "body_too_large");
    is_unused(&world, "refused").await;

    let checkout = world.checkout("2").await;
    let nowhere = "/v1/checkouts/co_00000000000000000000000000000000/payment_intents";
    world.post(nowhere).bearer(ALPHA).key("again").send().await.problem(404, "not_found");
    world.pay(&checkout, DECLINED).await.expect(200);
    assert!(!world.again(&checkout, "again").send().await.expect(201).is_replay());
}

#[tokio::test]
async fn a_conflict_is_not_kept_as_the_keys_answer() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, GOOD).await.expect(200);
    world.open("late", &order("1")).send().await.problem(409, "order_paid");
    world.again(&checkout, "late").send().await.problem(409, "order_paid");
    is_unused(&world, "late").await;
    let mut seen = world.checkout("2").await;
    seen["version"] = json!(7);
    world.submit(&seen, "token").send().await.problem(409, "checkout_changed");
    seen["version"] = json!(1);
    assert!(!world.pay(&seen, GOOD).await.expect(200).is_replay());
}
