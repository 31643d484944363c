//! Clients that go away in the middle (fault 10): what was claimed is finished, and nothing of the server is used up.

use serde_json::{Value, json};

use crate::support::{ALPHA, DECLINED, GOOD, Raw, World, eventually, order, text};

/// Requests, each left a little later than the one before.
const TRIES: usize = 60;

fn request(path: &str, bearer: &str, key: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {bearer}\r\nIdempotency-Key: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    format!("{head}{body}").into_bytes()
}

/// Sends and leaves, after the server's tasks had `turns` turns.
async fn send_and_leave(world: &World, request: &[u8], turns: usize) {
    let mut raw = Raw::connect(&world.url).await;
    raw.write(request).await;
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
}

/// Checks that no connection of the pool is held, and that the server says it is well.
async fn is_clean(world: &World) {
    eventually("every connection is back", || async {
        let readers = world.store.dialect().readers();
        (readers.num_idle() == readers.size()).then_some(())
    })
    .await;
    world.get("/readyz").send().await.expect(200);
}

#[tokio::test]
async fn fault_10_a_submission_that_nobody_waits_for_is_finished() {
    let world = World::start().await;
    let mut checkouts = Vec::new();
    for number in 0..TRIES {
        let checkout = world.checkout(&number.to_string()).await;
        let (intent, token) = (&checkout["payment_intent"], world.bank.token(GOOD).await);
        let body = json!({
            "payment_method": { "type": "card_token", "token": token },
            "checkout_version": checkout["version"], "amount": checkout["amount"],
        });
        let path = format!("/v1/payment_intents/{}/submit", text(&intent["id"]));
        let bytes = request(&path, text(&checkout["client_token"]), text(&intent["submit_key"]), &body);
        send_and_leave(&world, &bytes, number * number / 2).await;
        checkouts.push(checkout);
    }
    let mut finished = 0;
    for checkout in &checkouts {
        // Long before any lease ends: it never arrived, or it was carried through.
        let state = eventually("it is settled", || async {
            let intent = world.intent(&checkout["payment_intent"]["id"]).await;
            ["created", "succeeded"]
                .contains(&text(&intent["state"]))
                .then(|| text(&intent["state"]).to_owned())
        })
        .await;
        finished += usize::from(state == "succeeded");
        let paid = world.pay(checkout, GOOD).await.expect(200);
        assert_eq!(paid.json()["state"], "succeeded");
        assert_eq!(world.bank.payments(text(&checkout["order_id"])).await.len(), 1);
    }
    assert!(finished > 0, "every request was left too early to say anything");
    is_clean(&world).await;
}

#[tokio::test]
async fn fault_10_creations_that_nobody_waits_for_are_whole_or_not_there() {
    let world = World::start().await;
    let declined = world.checkout("declined").await;
    world.pay(&declined, DECLINED).await.expect(200);
    let again = format!("/v1/checkouts/{}/payment_intents", text(&declined["id"]));
    for number in 0..TRIES {
        let (key, order_id) = (format!("key-{number}"), format!("order-{number}"));
        let bytes = request("/v1/checkouts", ALPHA, &key, &order(&order_id));
        let cut = if number % 4 == 0 { bytes.len() - number / 4 - 1 } else { bytes.len() };
        send_and_leave(&world, &bytes[..cut], number * 3).await;
        send_and_leave(
            &world,
            &request(&again, text(&declined["client_token"]), "again", &json!({})),
            number * 3,
        )
        .await;
    }
    for number in 0..TRIES {
        let call = world.open(&format!("key-{number}"), &order(&format!("order-{number}")));
        let checkout = call.send().await.expect(201).json();
        assert_eq!(world.shown(&checkout).await, checkout);
    }
    let next = world.again(&declined, "again").send().await.expect(201).json();
    assert_eq!(next["previous_intent_id"], declined["payment_intent"]["id"]);
    is_clean(&world).await;
}

#[tokio::test]
async fn fault_10_pages_and_reads_left_half_way_hold_nothing() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    for number in 0..TRIES {
        for path in
            [world.page(&checkout), format!("/v1/checkouts/{}", text(&checkout["id"])), "/readyz".to_owned()]
        {
            let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ALPHA}\r\n\r\n");
            send_and_leave(&world, request.as_bytes(), number * 2).await;
        }
    }
    is_clean(&world).await;
    world.get(&world.page(&checkout)).send().await.expect(200);
}
