//! Texts that want to be more than text, and what must not come out (attacks 18–21).

use std::time::Duration;

use serde_json::json;

use crate::support::{ALPHA, GOOD, Raw, Reply, World, create, create_text, order, text, with};

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
    // Rows that cannot be read, and a secret that does not open.
    let corrupt = |sql: &str| database(&world).execute_batch(sql).unwrap();
    corrupt("UPDATE payment_intent SET state_data = '{\"canary_of_a_row'");
    replies.push(world.get(&format!("/v1/checkouts/{}", text(&checkout["id"]))).bearer(ALPHA).send().await);
    let other = world.checkout("2").await;
    corrupt("UPDATE merchant SET provider_secret = x'00'");
    replies.push(world.submit(&other, "token").send().await);
    for reply in &replies[10..] {
        let problem = reply.problem(500, "internal");
        assert!(text(&problem["detail"]).starts_with("The server failed. Repeat the request"), "{problem}");
    }
    // A database without its tables: every request fails inside.
    for table in
        ["idempotency_key", "journal", "attempt", "charge", "operation", "payment_intent", "checkout"]
    {
        corrupt(&format!("ALTER TABLE {table} RENAME TO {table}_gone"));
    }
    replies.push(world.get(&format!("/v1/checkouts/{}", text(&checkout["id"]))).bearer(ALPHA).send().await);
    replies.push(world.get(&world.page(&checkout)).send().await);
    replies.push(world.open("broken", &order("3")).send().await);
    assert!(replies[10..].iter().all(|reply| reply.status >= 500), "{replies:?}");
    replies.iter().for_each(|reply| shows_nothing(&world, reply));
}

/// Checks that an answer is a problem or a page, and holds no word of the inside.
fn shows_nothing(world: &World, reply: &Reply) {
    const INSIDE: &str = "canary sql select table panicked .rs: src/ backtrace payonce.db serde deserialize";
    let told = format!("{:?} {}", reply.headers, String::from_utf8_lossy(&reply.bytes));
    // A token is made of chance, and may spell any short word.
    let is_token = |word: &&str| !word.starts_with("ct_");
    let words = told.split(['"', '=', '&', '?', ' ']).filter(is_token);
    let shown = words.collect::<Vec<_>>().join(" ").to_lowercase();
    let folder = world.folder.path().display().to_string();
    for inside in INSIDE.split(' ').chain([ALPHA, folder.as_str()]) {
        assert!(!shown.contains(&inside.to_lowercase()), "{inside}: {reply:?}");
    }
    let kind = reply.header("Content-Type").unwrap_or_default();
    assert!(kind == "application/problem+json" || kind.starts_with("text/html"), "{reply:?}");
}

/// The database's file, opened beside the server.
fn database(world: &World) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(world.folder.path().join("payonce.db")).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    connection
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
