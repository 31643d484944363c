//! Bad input and attacks on the API (security.md 10–24): each has its answer, and none has an effect.

use std::time::Duration;

use payonce::config::RateLimit;
use serde_json::{Value, json};

use crate::support::{
    ALPHA, BETA, GOOD, RETURN_ORIGIN, Raw, Reply, Setup, World, at_once, eventually, order, text,
};

async fn create_text(world: &World, body: impl Into<Vec<u8>>) -> Reply {
    world.post("/v1/checkouts").bearer(ALPHA).key("key").text("application/json", body).send().await
}

async fn create(world: &World, body: &Value) -> Reply {
    create_text(world, body.to_string()).await
}

/// A minimal order with one member more.
fn with(name: &str, value: Value) -> Value {
    let mut body = order("1");
    body[name] = value;
    body
}

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

#[tokio::test]
async fn attack_13_a_body_that_is_too_long_is_refused_and_the_client_sees_it() {
    let world = World::start().await;
    let padded = |bytes: usize| {
        let body = order("1").to_string();
        format!("{body}{}", " ".repeat(bytes - body.len()))
    };
    create_text(&world, padded((64 << 10) + 1)).await.problem(413, "body_too_large");
    create_text(&world, padded(200 << 10)).await.problem(413, "body_too_large");
    create_text(&world, padded(1 << 20)).await.problem(413, "body_too_large");
    // Beyond what is read and dropped the connection may break, but nothing is done and the server lives.
    for bytes in [2 << 20, 8 << 20] {
        let call =
            world.post("/v1/checkouts").bearer(ALPHA).key("key").text("application/json", padded(bytes));
        if let Ok(reply) = call.try_send().await {
            reply.problem(413, "body_too_large");
        }
    }
    // Whoever has no key hears that, also after a long body.
    let anonymous = world.post("/v1/checkouts").key("key").text("application/json", padded(200 << 10));
    anonymous.send().await.problem(401, "unauthorized");
    let keyless = world.post("/v1/checkouts").bearer(ALPHA).text("application/json", padded(200 << 10));
    keyless.send().await.problem(400, "idempotency_key_missing");
    let wrong_type =
        world.post("/v1/checkouts").bearer(ALPHA).key("key").text("text/plain", padded(200 << 10));
    let status = wrong_type.send().await.status;
    assert!(status == 413 || status == 415, "{status}");
    let chunked = format!("{:x}\r\n{}\r\n0\r\n\r\n", 200 << 10, " ".repeat(200 << 10));
    let request = format!(
        "POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {ALPHA}\r\nIdempotency-Key: key\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"
    );
    assert!(Raw::exchange(&world.url, request).await.starts_with("HTTP/1.1 413"));
    let exact = create_text(&world, padded(64 << 10)).await.expect(201);
    assert!(!exact.is_replay());
}

#[tokio::test]
async fn attack_14_deep_nesting_is_refused() {
    let world = World::start().await;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        create_text(&world, nested.clone()).await.problem(400, "invalid_json");
        let inside = format!(
            r#"{{"order_id":"1","amount":{{"value":"1","currency":"RUB"}},"metadata":{{"a":{nested}}}}}"#
        );
        let reply = create_text(&world, inside).await;
        assert!(reply.status == 400 || reply.status == 413, "{reply:?}");
    }
    world.get("/healthz").send().await.expect(200);
}

#[tokio::test]
async fn attack_15_only_json_is_taken_for_json() {
    let world = World::start().await;
    let body = order("1").to_string();
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "multipart/form-data",
        "json",
        "*/*",
    ] {
        let call = world.post("/v1/checkouts").bearer(ALPHA).key("key").text(content_type, body.clone());
        call.send().await.problem(415, "unsupported_media_type");
    }
    let request = format!(
        "POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {ALPHA}\r\nIdempotency-Key: key\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert!(Raw::exchange(&world.url, request).await.starts_with("HTTP/1.1 415"));
    let call =
        world.post("/v1/checkouts").bearer(ALPHA).key("key").text("Application/JSON; charset=UTF-8", body);
    call.send().await.expect(201);
}

#[tokio::test]
async fn attack_16_a_body_that_comes_too_slowly_is_408() {
    let mut setup = Setup::default();
    setup.patience.body = Duration::from_millis(500);
    let world = World::with(setup).await;
    let head = format!(
        "POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {ALPHA}\r\nIdempotency-Key: key\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    let answer = Raw::exchange(&world.url, head).await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("request_timeout"), "{answer}");
    assert!(!world.open("key", &order("1")).send().await.expect(201).is_replay());
}

#[tokio::test]
async fn attack_17_with_two_lengths_one_request_is_seen() {
    let world = World::start().await;
    let body = order("1").to_string();
    let smuggled = "GET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    for lengths in [
        format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", body.len() + 100),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {}\r\n", body.len() + 100),
    ] {
        let request = format!(
            "POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {ALPHA}\r\nIdempotency-Key: key\r\n\
             Content-Type: application/json\r\n{lengths}\r\n{:x}\r\n{body}\r\n0\r\n\r\n{smuggled}",
            body.len()
        );
        let answer = Raw::exchange(&world.url, request).await;
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
        assert!(answer.starts_with("HTTP/1.1 201") || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    for lengths in [
        "Content-Length: 2\r\nContent-Length: 3\r\n",
        "Content-Length: -1\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
    ] {
        let request =
            format!("POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{lengths}\r\n{{}}x");
        let answer = Raw::exchange(&world.url, request).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{lengths}: {answer}");
    }
}

#[tokio::test]
async fn attack_18_sql_in_a_field_is_text() {
    let world = World::start().await;
    let nasty = "'; DROP TABLE checkout; -- \" \\ %_ \u{202e}\u{1f600}";
    let body = json!({
        "order_id": nasty, "amount": { "value": "1500.00", "currency": "RUB" }, "description": nasty,
        "metadata": { "'; --": nasty }, "customer": { "email": "'--@example.com" },
    });
    let call = world.post("/v1/checkouts").bearer(ALPHA).key("';DROP--").json(&body);
    let checkout = call.send().await.expect(201).json();
    let shown = world.shown(&checkout).await;
    assert_eq!((&shown["order_id"], &shown["description"]), (&json!(nasty), &json!(nasty)));
    assert_eq!(shown["metadata"], json!({ "'; --": nasty }));
    world.pay(&checkout, GOOD).await.expect(200);
    assert_eq!(world.bank.charges(nasty).await, 1);
    assert_eq!(world.bank.payments(nasty).await[0]["description"], nasty);
}

#[tokio::test]
async fn attack_19_no_path_leads_out() {
    let world = World::start().await;
    for path in [
        "/pkg/../manifest.json",
        "/pkg/..%2fmanifest.json",
        "/pkg/%2e%2e/manifest.json",
        "/pkg/..%5cmanifest.json",
        "/pkg//etc/passwd",
        "/pkg/%2fetc%2fpasswd",
        "/../../etc/passwd",
        "/pkg/",
        "/pkg",
        "/v1/checkouts/..%2f..%2fhealthz",
        "/pay/%2e%2e%2fhealthz",
        "/pkg/..",
        "/pkg/%00",
        "/.git/config",
        "/v1/../healthz",
    ] {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ALPHA}\r\nConnection: close\r\n\r\n"
        );
        let answer = Raw::exchange(&world.url, request).await;
        let status = answer.get(9..12).unwrap_or_default().to_owned();
        assert!(["404", "401"].contains(&status.as_str()), "{path}: {answer}");
    }
}

#[tokio::test]
async fn attack_20_errors_show_nothing_of_the_inside() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let mut seen = checkout.clone();
    seen["version"] = json!(i64::MIN);
    let folder = world.folder.path().display().to_string();
    let intent = format!("/v1/payment_intents/{}", "%ff");
    let mut replies = vec![
        world.submit(&seen, "token").send().await,
        world.get(&intent).bearer(ALPHA).send().await,
        world.get("/v1/checkouts/%ff").bearer(ALPHA).send().await,
        world.get("/pay/%ff").send().await,
        world.get("/pay/co_1?token=a&token=b").send().await,
        world.get("/pay/co_1/status?lang=%ff&lang=x").send().await,
        world.get("/nowhere").send().await,
        create_text(&world, "{").await,
        create(&world, &with("expires_in", json!("x"))).await,
        world.post("/pay/co_1/again").text("text/plain", vec![0xff, 0xfe]).send().await,
    ];
    // A database without its tables: every request fails inside.
    for table in
        ["idempotency_key", "journal", "attempt", "charge", "operation", "payment_intent", "checkout"]
    {
        break_table(&world, table).await;
    }
    replies.push(world.get(&format!("/v1/checkouts/{}", text(&checkout["id"]))).bearer(ALPHA).send().await);
    replies.push(world.get(&world.page(&checkout)).send().await);
    replies.push(world.open("broken", &order("2")).send().await);
    assert!(replies[10..].iter().all(|reply| reply.status >= 500), "{replies:?}");
    for reply in &replies {
        let shown = format!("{:?} {}", reply.headers, String::from_utf8_lossy(&reply.bytes)).to_lowercase();
        for inside in [
            "sql",
            "select",
            "table",
            "panicked",
            ".rs:",
            "src/",
            "rusqlite",
            "backtrace",
            "payonce.db",
            "serde",
            "deserialize",
            &folder,
            ALPHA,
        ] {
            assert!(!shown.contains(&inside.to_lowercase()), "{inside}: {reply:?}");
        }
        let kind = reply.header("Content-Type").unwrap_or_default().to_owned();
        assert!(kind == "application/problem+json" || kind.starts_with("text/html"), "{reply:?}");
    }
}

/// Renames a table away, as no migration would.
async fn break_table(world: &World, table: &str) {
    let path = world.folder.path().join("payonce.db");
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    connection.execute_batch(&format!("ALTER TABLE {table} RENAME TO {table}_gone")).unwrap();
}

#[tokio::test]
async fn attack_21_a_card_number_in_text_is_refused_and_never_echoed_or_kept() {
    let world = World::start().await;
    let numbers = [
        "5555555555554444",
        "5555 5555 5555 4444",
        "4111-1111-1111-1111",
        "2200000000000004",
        "378282246310005",
        "4000 0000 0000 0000 006",
    ];
    for number in numbers {
        for (name, value, field) in [
            ("description", json!(format!("my card {number}, thanks")), "description"),
            ("metadata", json!({ "note": number }), "metadata.note"),
        ] {
            let reply = create(&world, &with(name, value)).await;
            reply.blames(422, "card_number_in_text", field);
            assert!(!reply.text().contains(number), "{reply:?}");
        }
        // As a name, or where a word or a number is expected: refused one way or another, and not said again.
        for body in [
            with("metadata", json!({ number: "note" })),
            with("metadata", json!({ number: number })),
            with(number, json!("note")),
            with("capture", json!(number)),
            with("expires_in", json!(number)),
            with("amount", json!({ "value": number, "currency": number })),
            with("customer", json!({ number: number })),
            with("customer", json!({ "email": number })),
            with("return_url", json!(number)),
        ] {
            let reply = create(&world, &body).await;
            assert!(reply.status == 400 || reply.status == 422, "{reply:?}");
            assert!(!format!("{reply:?}").contains(number), "{reply:?}");
        }
    }
    // Never in ids and keys.
    let mut by_number = order("5555555555554444");
    by_number["description"] = json!("phone +7 999 123-45-67, account 40817810099910004312");
    let call = world.post("/v1/checkouts").bearer(ALPHA).key("4111111111111111").json(&by_number);
    call.send().await.expect(201);
    let kept = world.database_bytes();
    for number in ["5555 5555 5555 4444", "4111-1111-1111-1111", "378282246310005"] {
        assert!(!kept.windows(number.len()).any(|window| window == number.as_bytes()), "{number}");
    }
}

#[tokio::test]
async fn attack_23_a_flood_is_429_and_others_go_on() {
    let world = World::with(Setup { rate: RateLimit::PerSecond(5), ..Setup::default() }).await;
    let flood = (0..60).map(|_| world.get("/v1/checkouts/co_1").bearer(ALPHA).send());
    let (refused, passed): (Vec<_>, Vec<_>) =
        at_once(flood).await.into_iter().partition(|reply| reply.status == 429);
    assert!(
        passed.len() >= 20 && passed.iter().all(|reply| reply.status == 404),
        "the burst: {}",
        passed.len()
    );
    let refused = refused.first().unwrap();
    refused.problem(429, "rate_limited");
    let seconds: u32 = refused.header("Retry-After").unwrap().parse().unwrap();
    assert!((1..=2).contains(&seconds), "{seconds}");
    world.get("/v1/checkouts/co_1").bearer(BETA).send().await.problem(404, "not_found");
    world.get("/healthz").send().await.expect(200);
    // A key that was refused means nothing yet.
    let checkout = eventually("the flood is forgiven", || async {
        let reply = world.open("key", &order("1")).send().await;
        (reply.status != 429).then_some(reply)
    })
    .await;
    assert!(!checkout.expect(201).is_replay());
}

#[tokio::test]
async fn odd_requests_do_not_hurt() {
    let world = World::start().await;
    for request in [
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        "\r\n\r\n".to_owned(),
        "GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n".to_owned(),
        "x".repeat(1000),
        format!("GET /{} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "a".repeat(70_000)),
        format!(
            "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: {}\r\n\r\n",
            "a".repeat(500_000)
        ),
        format!("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{}\r\n", "X: a\r\n".repeat(200)),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nConnection: close\r\n\r\n".to_owned(),
    ] {
        let mut raw = Raw::connect(&world.url).await;
        raw.write(&request).await;
        raw.end().await;
        let answer = raw.rest().await;
        assert!(!answer.contains("HTTP/1.1 5"), "{answer}");
    }
    world.get("/healthz").send().await.expect(200);
}
