//! The shopper's address for the receipt: what may stand there, whose counts, where it is seen again.

use serde_json::{Value, json};

use crate::support::{Call, GOOD, World, order, text};

/// As [`World::submit`], with what the shopper says of themselves.
async fn submit(world: &World, checkout: &Value, customer: Value) -> Call {
    let body = json!({
        "payment_method": { "type": "card_token", "token": world.bank.token(GOOD).await },
        "checkout_version": checkout["version"],
        "amount": checkout["amount"],
        "customer": customer,
    });
    let intent = &checkout["payment_intent"];
    world
        .post(&format!("/v1/payment_intents/{}/submit", text(&intent["id"])))
        .bearer(text(&checkout["client_token"]))
        .key(text(&intent["submit_key"]))
        .json(&body)
}

/// What the page's own input holds.
async fn shown(world: &World, checkout: &Value) -> Option<String> {
    let html = world.get(&world.page(checkout)).send().await.expect(200).text();
    let (before, after) = html.split_once("autocomplete=\"email\"").unwrap();
    let input = format!("{}{}", before.rsplit('<').next().unwrap(), after.split('>').next().unwrap());
    input.split_once("value=\"").map(|(_, rest)| rest.split('"').next().unwrap().to_owned())
}

#[tokio::test]
async fn a_malformed_address_is_refused_and_nothing_is_started() {
    let world = World::start().await;
    let checkout = world.checkout("123").await;
    let long = format!("{}@example.com", "a".repeat(254));
    for email in
        ["", "anna", "@example.com", "anna@", "anna@a@b", "an na@example.com", "<script>@b.com", &long]
    {
        let refused = submit(&world, &checkout, json!({ "email": email })).await.send().await;
        refused.blames(422, "invalid_field", "customer.email");
    }
    submit(&world, &checkout, json!({ "phone": "1" })).await.send().await.problem(400, "invalid_json");
    assert_eq!(world.intent(&checkout["payment_intent"]["id"]).await["state"], "created");
    for nobody in [json!({}), Value::Null] {
        submit(&world, &checkout, nobody).await.send().await.expect(200);
    }
}

#[tokio::test]
async fn the_address_of_the_first_submission_stands_and_is_seen_after_a_reload() {
    let world = World::start().await;
    let mut terms = order("123");
    terms["customer"] = json!({ "email": "shop@example.com" });
    let checkout = world.open("open", &terms).send().await.expect(201).json();
    assert_eq!(shown(&world, &checkout).await.as_deref(), Some("shop@example.com"));
    for email in ["anna@example.com", "boris@example.com"] {
        let paid = submit(&world, &checkout, json!({ "email": email })).await.send().await.expect(200);
        assert_eq!(paid.json()["state"], "succeeded");
    }
    assert_eq!(shown(&world, &checkout).await.as_deref(), Some("anna@example.com"));
    let intent = world.intent(&checkout["payment_intent"]["id"]).await;
    assert!(!intent.to_string().contains("@example.com"), "{intent}");
}

#[tokio::test]
async fn the_merchants_address_stands_where_the_shopper_gives_none() {
    let world = World::start().await;
    let checkout = world.checkout("123").await;
    assert_eq!(shown(&world, &checkout).await, None);
    let mut terms = order("124");
    terms["customer"] = json!({ "email": "shop@example.com" });
    let checkout = world.open("open", &terms).send().await.expect(201).json();
    world.pay(&checkout, GOOD).await.expect(200);
    assert_eq!(shown(&world, &checkout).await.as_deref(), Some("shop@example.com"));
}

#[tokio::test]
async fn no_key_and_no_journal_keeps_an_address() {
    let world = World::start().await;
    let mut terms = order("123");
    terms["customer"] = json!({ "email": "shop@example.com" });
    let checkout = world.open("open", &terms).send().await.expect(201).json();
    submit(&world, &checkout, json!({ "email": "anna@example.com" })).await.send().await.expect(200);
    terms["customer"] = json!({ "email": "other@example.com" });
    world.open("open", &terms).send().await.blames(422, "idempotency_key_reused", "customer.email");

    let database = rusqlite::Connection::open(world.folder.path().join("payonce.db")).unwrap();
    for (table, texts) in
        [("idempotency_key", "canonical || coalesce(cast(answer_body AS text), '')"), ("journal", "evidence")]
    {
        let counts = format!("SELECT count(*), sum(instr({texts}, '@example.com')) FROM {table}");
        let (rows, found) = database
            .query_row(&counts, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
            .unwrap();
        assert!(rows > 0 && found == 0, "{table}: {rows} rows, {found} found");
    }
}
