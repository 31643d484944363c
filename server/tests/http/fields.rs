//! Fields that are not what they should be (attacks 10–12, 37): each is refused by its name, and nothing is done.

use serde_json::{Value, json};

use crate::support::{ALPHA, RETURN_ORIGIN, World, create, create_text, order, text, with};

#[tokio::test]
async fn attacks_10_11_what_is_no_sum_is_refused_and_the_field_is_named() {
    let world = World::start().await;
    for value in [
        json!("0"),
        json!("0.00"),
        json!("-1"),
        json!("+1"),
        json!("9223372036854775808"),
        json!("92233720368547758.08"),
        json!("NaN"),
        json!("Infinity"),
        json!("1e3"),
        json!("1500,00"),
        json!("1 500"),
        json!("1500.001"),
        json!(""),
        json!(" 1500"),
        json!("1500."),
        json!(".5"),
        json!("0x10"),
        json!("007"),
        json!("١٥"),
        json!("1\u{0}"),
        json!(1500),
        json!(1500.5),
        json!(-1),
        json!(9_007_199_254_740_993_u64),
    ] {
        let body = with("amount", json!({ "value": value, "currency": "RUB" }));
        create(&world, &body).await.blames(422, "invalid_field", "amount.value");
    }
    for (value, currency) in [("80.5", "JPY"), ("1.2345", "KWD")] {
        let body = with("amount", json!({ "value": value, "currency": currency }));
        create(&world, &body).await.blames(422, "invalid_field", "amount.value");
    }
    for currency in ["XYZ", "rub", "", "RUBLES", "XXX", "643", "₽"] {
        let body = with("amount", json!({ "value": "1", "currency": currency }));
        create(&world, &body).await.blames(422, "invalid_field", "amount.currency");
    }
    let checkout = world.checkout("2").await;
    let mut seen = checkout.clone();
    seen["amount"]["value"] = json!("1e3");
    world.submit(&seen, "token").send().await.blames(422, "invalid_field", "amount.value");
    for (order_id, value, currency, shown) in [("3", "80", "JPY", "80"), ("4", "1.234", "KWD", "1.234")] {
        let body = json!({ "order_id": order_id, "amount": { "value": value, "currency": currency } });
        let checkout = world.open(order_id, &body).send().await.expect(201).json();
        assert_eq!(checkout["amount"]["value"], shown);
    }
}

#[tokio::test]
async fn attack_12_unknown_and_repeated_fields_are_refused() {
    let world = World::start().await;
    for body in [
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB"},"colour":"red"}"#,
        r#"{"order_id":"1","order_id":"1","amount":{"value":"1","currency":"RUB"}}"#,
        r#"{"order_id":"1","amount":{"value":"1","value":"1","currency":"RUB"}}"#,
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB","exponent":2}}"#,
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB"},"metadata":{"a":"1","a":"1"}}"#,
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB"},"metadata":{"a":1}}"#,
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB"},"metadata":{"a":{"b":"c"}}}"#,
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB"},"customer":{"email":"a@b.c","name":"Anna"}}"#,
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB"},"capture":"later"}"#,
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB"},"expires_in":1.5}"#,
        r#"{"order_id":1,"amount":{"value":"1","currency":"RUB"}}"#,
        r#"{"order_id":"1","amount":"1500.00"}"#,
        r#"{"order_id":"1","amount":null}"#,
        r#"{"order_id":"1"}"#,
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB"}} {}"#,
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB"},}"#,
        r#"["1",{"value":"1","currency":"RUB"},null,null,null,null,null,null]"#,
        r#"{"order_id":"1","amount":["1","RUB"]}"#,
        r#"{"order_id":"1","amount":{"value":"1","currency":"RUB"},"customer":["anna@example.com"]}"#,
        "",
        "null",
        "[]",
        "{",
        "\"text\"",
        "\u{feff}{}",
        "{'order_id':'1'}",
        "NaN",
    ] {
        let reply = create_text(&world, body).await;
        assert_eq!(reply.problem(400, "invalid_json")["code"], "invalid_json", "{body}");
    }
    create_text(&world, b"{\"order_id\":\"\xff\"}".as_slice()).await.problem(400, "invalid_json");
    create_text(&world, br#"{"order_id":"\ud800"}"#.as_slice()).await.problem(400, "invalid_json");
    let checkout = world.checkout("2").await;
    let intent = text(&checkout["payment_intent"]["id"]);
    let call = || {
        world
            .post(&format!("/v1/payment_intents/{intent}/submit"))
            .bearer(ALPHA)
            .key(text(&checkout["payment_intent"]["submit_key"]))
    };
    for body in [
        r#"{"payment_method":{"type":"redirect"},"checkout_version":1,"amount":{"value":"1500.00","currency":"RUB"},"force":true}"#,
        r#"{"payment_method":{"type":"redirect"},"checkout_version":1,"checkout_version":1,"amount":{"value":"1500.00","currency":"RUB"}}"#,
        r#"{"payment_method":{"type":"redirect","type":"redirect"},"checkout_version":1,"amount":{"value":"1500.00","currency":"RUB"}}"#,
        r#"{"payment_method":{"type":"redirect"},"checkout_version":"1","amount":{"value":"1500.00","currency":"RUB"}}"#,
        r#"{"payment_method":{"type":"redirect"},"checkout_version":1}"#,
    ] {
        assert_eq!(
            call().text("application/json", body).send().await.problem(400, "invalid_json")["status"],
            400,
            "{body}"
        );
    }
    assert!(world.bank.creates().await.is_empty());
}

#[tokio::test]
async fn attack_12_trying_again_takes_no_fields() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    for (number, body) in ["", "{}", " {} "].into_iter().enumerate() {
        let call = world.again(&checkout, &format!("empty-{number}"));
        call.text("application/json", body).send().await.expect(200);
    }
    world.again(&checkout, "bare").send().await.expect(200);
    for body in [r#"{"amount":{"value":"1","currency":"RUB"}}"#, "[]", "null", "{", "x=1"] {
        world
            .again(&checkout, "fields")
            .text("application/json", body)
            .send()
            .await
            .problem(400, "invalid_json");
    }
    let big = world.again(&checkout, "big").text("application/json", vec![b' '; 100 << 10]);
    big.send().await.problem(413, "body_too_large");
}

#[tokio::test]
async fn every_limit_of_a_field_is_kept() {
    let world = World::start().await;
    let pairs = |count: usize| Value::from_iter((0..count).map(|n| (format!("name-{n}"), "v")));
    let long = |count: usize| "я".repeat(count);
    for (name, value, field) in [
        ("order_id", json!(""), "order_id"),
        ("order_id", json!(long(65)), "order_id"),
        ("order_id", json!("a\u{0}b"), "order_id"),
        ("description", json!(long(129)), "description"),
        // No database of ours could keep it.
        ("description", json!("a\u{0}b"), "description"),
        ("metadata", json!({ "note": "a\u{0}b" }), "metadata.note"),
        ("metadata", json!({ "a\u{0}b": "note" }), "metadata"),
        ("metadata", pairs(14), "metadata"),
        ("metadata", json!({ "checkout_id": "x" }), "metadata.checkout_id"),
        ("metadata", json!({ "order_id": "x" }), "metadata.order_id"),
        ("metadata", json!({ "payment_intent_id": "x" }), "metadata.payment_intent_id"),
        ("metadata", json!({ "": "x" }), "metadata"),
        ("metadata", json!({ long(33): "x" }), "metadata"),
        ("metadata", json!({ "name": long(513) }), "metadata.name"),
        ("expires_in", json!(0), "expires_in"),
        ("expires_in", json!(-1), "expires_in"),
        ("expires_in", json!(2_592_001), "expires_in"),
        ("expires_in", json!(i64::MAX), "expires_in"),
        ("customer", json!({ "email": "anna" }), "customer.email"),
        ("customer", json!({ "email": "a@b@c" }), "customer.email"),
        ("customer", json!({ "email": "<script>@b.com" }), "customer.email"),
        ("customer", json!({ "email": "a@b\r\nBcc: c@d" }), "customer.email"),
        ("customer", json!({ "email": format!("{}@b", "a".repeat(254)) }), "customer.email"),
    ] {
        create(&world, &with(name, value)).await.blames(422, "invalid_field", field);
    }
    let most = json!({
        "order_id": long(64), "amount": { "value": "1", "currency": "RUB" }, "description": long(128), "metadata": pairs(13),
        "expires_in": 2_592_000,
    });
    world.open("most", &most).send().await.expect(201);
}

#[tokio::test]
async fn attack_37_only_listed_origins_are_gone_back_to() {
    let world = World::start().await;
    for url in [
        "https://evil.example/",
        "http://shop.example/",
        "https://shop.example.evil.example/",
        "https://shop.example@evil.example/",
        "https://user@shop.example/",
        "https://shop.example:444/",
        "//shop.example/",
        "/back",
        "javascript:alert(1)",
        "shop.example",
        "https://shop.example\\@evil.example/",
        "https://shop.example /",
        "https://shop.example/\r\nX: y",
        "",
        "https:/shop.example",
    ] {
        create(&world, &with("return_url", json!(url))).await.blames(422, "invalid_field", "return_url");
    }
    for (number, url) in
        [RETURN_ORIGIN.to_owned(), format!("{RETURN_ORIGIN}/a?b=c#d"), "HTTPS://SHOP.example/".to_owned()]
            .iter()
            .enumerate()
    {
        let mut body = order(&format!("ok-{number}"));
        body["return_url"] = json!(url);
        world.open(&format!("ok-{number}"), &body).send().await.expect(201);
    }
}
