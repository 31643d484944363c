//! A payment as it goes on: what was done to learn its result (N2), the stream that tells of it (N1), and what somebody who waits
//! can ask for.

use jiff::Timestamp;
use payonce::config::MailTransport;
use serde_json::{Value, json};

use crate::outbox::ADDRESS;
use crate::support::{
    ALPHA, ALPHA_PUBLISHABLE, BETA, DECLINED, Events, GOOD, Sandbox, Setup, THREE_DS, World, at_once,
    eventually, text,
};

/// Nothing goes on by itself: the test drives.
async fn still() -> World {
    World::with(Setup { worker: false, ..Setup::default() }).await
}

async fn seen_by_shopper(world: &World, checkout: &Value) -> Value {
    let path = format!("/v1/payment_intents/{}", text(&checkout["payment_intent"]["id"]));
    world.get(&path).bearer(text(&checkout["client_token"])).send().await.expect(200).json()
}

/// Drives what is due until the intent is in this state.
async fn driven_to(world: &World, checkout: &Value, state: &str) {
    eventually(state, || async {
        world.engine.run_once().await.unwrap();
        (seen_by_shopper(world, checkout).await["state"] == state).then_some(())
    })
    .await;
}

async fn post(world: &World, checkout: &Value, below: &str) -> Value {
    let path = format!("/v1/payment_intents/{}{below}", text(&checkout["payment_intent"]["id"]));
    world.post(&path).bearer(text(&checkout["client_token"])).send().await.expect(202).json()
}

#[tokio::test]
async fn n1_a_stream_tells_the_state_at_once_then_every_change_and_ends_with_the_payment() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let (mut first, mut second) = (Events::of(&world, &checkout).await, Events::of(&world, &checkout).await);
    let at_once = first.next().await.unwrap();
    assert_eq!(at_once, seen_by_shopper(&world, &checkout).await, "the same as the answer to a question");
    assert_eq!(at_once["state"], "created");
    world.pay(&checkout, GOOD).await.expect(200);
    for stream in [&mut first, &mut second] {
        let last = stream.until("succeeded").await;
        assert_eq!(last, seen_by_shopper(&world, &checkout).await);
        assert_eq!(stream.next().await, None);
    }
    let mut late = Events::of(&world, &checkout).await;
    assert_eq!(late.next().await.unwrap()["state"], "succeeded");
    assert_eq!(late.next().await, None);
}

#[tokio::test]
async fn n1_a_hundred_streams_hear_of_one_payment() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let mut streams = Vec::new();
    for _ in 0..100 {
        let mut stream = Events::of(&world, &checkout).await;
        stream.next().await.unwrap();
        streams.push(stream);
    }
    world.pay(&checkout, GOOD).await.expect(200);
    let heard =
        at_once(streams.into_iter().map(|mut stream| async move { stream.until("succeeded").await })).await;
    assert_eq!(heard.len(), 100);
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn n2_what_was_done_to_learn_a_lost_answer_is_told_and_then_the_result() {
    let world = still().await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "lose_answer", "order_id": "1" })).await;
    let reply = world.pay(&checkout, GOOD).await.expect(202).json();
    assert_eq!((&reply["state"], reply.get("progress")), (&json!("confirming"), None));
    let progress = &seen_by_shopper(&world, &checkout).await["progress"];
    assert_eq!(progress["steps"].as_array().unwrap().len(), 1, "{progress}");
    assert_eq!(progress["steps"][0]["what"], "unanswered");
    assert_eq!(progress["steps"][0]["at"], progress["since"]);
    assert!(text(&progress["next_look_at"]) > text(&progress["since"]), "{progress}");
    assert!(text(&progress["last_look_at"]) >= text(&progress["since"]), "{progress}");

    let mut events = Events::of(&world, &checkout).await;
    assert_eq!(events.next().await.unwrap(), seen_by_shopper(&world, &checkout).await);
    driven_to(&world, &checkout, "succeeded").await;
    let last = events.until("succeeded").await;
    assert_eq!(last["progress"], Value::Null, "there is nothing to wait for any more");
    assert_eq!(events.next().await, None);
    assert_eq!(world.bank.charges("1").await, 1);
}

/// Two devices, two addresses: the first submission's is the one.
#[tokio::test]
async fn n1_where_the_result_is_told_is_told_to_every_device_alike_and_only_where_mails_are_sent() {
    for mails in [true, false] {
        let transport = mails.then_some(MailTransport::Folder);
        let world = World::with(Setup { worker: false, mails: transport, ..Setup::default() }).await;
        let checkout = world.checkout("1").await;
        world.bank.fault(json!({ "kind": "lose_answer", "order_id": "1" })).await;
        world.pay_with_address(&checkout, GOOD).await.expect(202);
        let second = world.pay(&checkout, GOOD).await.expect(202).json();
        assert_eq!(second.get("told_to"), None, "every repeat is answered alike");
        let seen = seen_by_shopper(&world, &checkout).await;
        assert_eq!(seen.get("told_to").is_some(), mails, "{seen}");
        if mails {
            assert_eq!(seen["told_to"], ADDRESS);
        }
        let merchants = world.intent(&checkout["payment_intent"]["id"]).await;
        assert_eq!(merchants.get("told_to"), None);
        driven_to(&world, &checkout, "succeeded").await;
        assert_eq!(seen_by_shopper(&world, &checkout).await.get("told_to"), None, "it was told");
    }
}

#[tokio::test]
async fn progress_is_for_whoever_waits_and_tells_a_shopper_neither_ids_nor_the_banks_words() {
    let world = still().await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "lose_answer", "order_id": "1", "times": 100 })).await;
    assert_eq!(seen_by_shopper(&world, &checkout).await["progress"], Value::Null, "not submitted yet");
    world.pay(&checkout, GOOD).await.expect(202);
    let id = &checkout["payment_intent"]["id"];
    let (shopper, merchant) = (seen_by_shopper(&world, &checkout).await, world.intent(id).await);
    assert_eq!(shopper["progress"], merchant["progress"]);
    for hidden in ["provider", "attempts", "journal"] {
        assert!(shopper.get(hidden).is_none() && merchant.get(hidden).is_some(), "{hidden}");
    }
    for step in shopper["progress"]["steps"].as_array().unwrap() {
        let members: Vec<_> = step.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, ["at", "what"]);
    }
    for word in [text(&merchant["attempts"][0]["id"]), text(&merchant["attempts"][0]["operation_id"])] {
        assert!(!shopper.to_string().contains(word), "{word}");
    }
}

#[tokio::test]
async fn at_most_twenty_steps_are_told_the_last_ones() {
    let world = still().await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "error_500_before", "order_id": "1", "times": 100 })).await;
    world.pay(&checkout, GOOD).await.expect(202);
    let id = &checkout["payment_intent"]["id"];
    let sends = eventually("more than twenty sends", || async {
        world.engine.run_once().await.unwrap();
        let attempts = world.intent(id).await["attempts"].as_array().unwrap().clone();
        (attempts.len() > 22).then_some(attempts)
    })
    .await;
    let progress = &seen_by_shopper(&world, &checkout).await["progress"];
    let steps = progress["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 20);
    assert_eq!(steps.last().unwrap()["at"], sends.last().unwrap()["started_at"]);
    assert_eq!(progress["since"], sends[0]["started_at"]);
}

#[tokio::test]
async fn n2_a_payment_that_cannot_be_passed_on_is_told_with_the_time_until_which_it_is_tried() {
    let mut world = still().await;
    let checkout = world.checkout("1").await;
    let token = world.bank.token(GOOD).await;
    // Nobody listens at its address any more.
    world.bank = Sandbox::start(&world.client).await;
    let reply = world.submit(&checkout, &token).send().await.expect(202).json();
    assert_eq!(reply["state"], "processing");
    let progress = &seen_by_shopper(&world, &checkout).await["progress"];
    let steps = progress["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["what"] == "not_executed"), "{progress}");
    let at = |name: &str| text(&progress[name]).parse::<Timestamp>().unwrap();
    let tried = at("unreached_until").duration_since(at("since"));
    assert_eq!(tried.as_secs(), 15 * 60, "{progress}");
    let html = world.get(&(world.page(&checkout) + "&lang=en")).send().await.expect(200).text();
    assert!(!heading(&html, "unreached").contains("hidden"));
}

/// A start after a silence, or a restored backup: the copy does not know what happened, be it that the money was taken.
#[tokio::test]
async fn fault_23_what_is_held_at_the_gate_is_said_to_wait_and_nothing_is_said_of_the_money() {
    let world = still().await;
    let (fresh, tried) = (world.checkout("1").await, world.checkout("2").await);
    world.bank.fault(json!({ "kind": "unauthorized", "order_id": "2" })).await;
    world.pay(&tried, GOOD).await.expect(202);
    world.gate_down().await;

    assert_eq!(world.pay(&fresh, GOOD).await.expect(202).json()["state"], "processing");
    for checkout in [&fresh, &tried] {
        let seen = seen_by_shopper(&world, checkout).await;
        let progress = &seen["progress"];
        assert_eq!((&seen["state"], &progress["held"]), (&json!("processing"), &json!(true)), "{seen}");
        assert_eq!(progress.get("unreached_until"), None, "{seen}");
        assert_eq!(progress.get("next_look_at"), None, "nobody asks the bank for it then: {seen}");
        let html = world.get(&(world.page(checkout) + "&lang=en")).send().await.expect(200).text();
        assert!(!heading(&html, "held").contains("hidden"));
        assert!(
            heading(&html, "unreached").contains("hidden") && heading(&html, "reached").contains("hidden")
        );
    }
    assert!(world.bank.payments("1").await.is_empty());

    world.gate_up().await;
    for checkout in [&fresh, &tried] {
        let progress = &seen_by_shopper(&world, checkout).await["progress"];
        assert_eq!(progress.get("held"), None, "{progress}");
        assert_eq!(progress.get("unreached_until").is_some(), checkout == &tried, "{progress}");
    }
    // Whoever drives one may drive the other as well.
    for checkout in [&fresh, &tried] {
        driven_to(&world, checkout, "succeeded").await;
    }
}

/// The opening tag of one of the headings that the processing screen has.
fn heading<'a>(html: &'a str, name: &str) -> &'a str {
    html.split(&format!("data-heading=\"{name}\"")).nth(1).unwrap().split('>').next().unwrap()
}

#[tokio::test]
async fn n2_what_was_sent_and_has_no_answer_is_never_said_to_have_taken_no_money() {
    let world = still().await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "unauthorized", "order_id": "1" })).await;
    world.bank.fault(json!({ "kind": "lose_answer", "order_id": "1" })).await;
    assert_eq!(world.pay(&checkout, GOOD).await.expect(202).json()["state"], "processing");
    let turned_away = &seen_by_shopper(&world, &checkout).await["progress"];
    assert!(turned_away["unreached_until"].is_string(), "{turned_away}");
    driven_to(&world, &checkout, "confirming").await;
    let sent = &seen_by_shopper(&world, &checkout).await["progress"];
    assert!(sent.is_object() && sent["unreached_until"].is_null(), "{sent}");
}

#[tokio::test]
async fn n1_after_a_decline_the_stream_tells_that_the_order_has_run_out_and_ends() {
    let world = World::start().await;
    let terms =
        json!({ "order_id": "1", "amount": { "value": "1500.00", "currency": "RUB" }, "expires_in": 2 });
    let checkout = world.open("1", &terms).send().await.expect(201).json();
    world.pay(&checkout, DECLINED).await.expect(200);
    let mut events = Events::of(&world, &checkout).await;
    let declined = events.next().await.unwrap();
    assert_eq!((&declined["state"], declined.get("closed")), (&json!("declined"), None));
    let closed = events.next().await.unwrap();
    assert_eq!((&closed["state"], &closed["closed"]), (&json!("declined"), &json!(true)));
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn n1_a_stream_tells_when_the_money_was_taken() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let submitted = world.pay(&checkout, GOOD).await.expect(200).json();
    let told = Events::of(&world, &checkout).await.next().await.unwrap();
    assert!(told["paid_at"].is_string() && told["paid_at"] == submitted["paid_at"], "{told}");
    let html = world.get(&world.page(&checkout)).send().await.expect(200).text();
    assert!(html.contains(&format!("datetime=\"{}\"", text(&told["paid_at"]))), "the same on the page");
}

#[tokio::test]
async fn a_step_tells_a_send_that_was_not_executed_from_one_without_an_answer_and_that_the_bank_waits() {
    let world = still().await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "unauthorized", "order_id": "1" })).await;
    world.bank.fault(json!({ "kind": "lose_answer", "order_id": "1" })).await;
    world.pay(&checkout, THREE_DS).await.expect(202);
    driven_to(&world, &checkout, "requires_action").await;
    let seen = seen_by_shopper(&world, &checkout).await;
    let steps = seen["progress"]["steps"].as_array().unwrap();
    let kinds: Vec<_> = steps.iter().map(|step| text(&step["what"])).collect();
    assert_eq!(kinds, ["not_executed", "unanswered", "answered", "at_bank"]);
    assert!(steps.iter().map(|step| text(&step["at"])).is_sorted());
}

#[tokio::test]
async fn a_stream_is_for_the_checkouts_own_token_or_its_merchant_and_no_key_stands_in_an_address() {
    let world = World::start().await;
    let (checkout, other) = (world.checkout("1").await, world.checkout("2").await);
    world.pay(&checkout, GOOD).await.expect(200);
    let path = format!("/v1/payment_intents/{}/events", text(&checkout["payment_intent"]["id"]));
    let (token, other_token) = (text(&checkout["client_token"]), text(&other["client_token"]));
    for (query, bearer, status) in [
        (format!("?token={token}"), None, 200),
        (String::new(), Some(token), 200),
        (String::new(), Some(ALPHA), 200),
        // The header is what is meant where there is one.
        (format!("?token={other_token}"), Some(token), 200),
        (format!("?token={token}"), Some(other_token), 404),
        (String::new(), None, 401),
        ("?token=".to_owned(), None, 401),
        (format!("?token={token}x"), None, 401),
        (format!("?token={ALPHA}"), None, 401),
        (format!("?token={other_token}"), None, 404),
        (String::new(), Some(other_token), 404),
        (String::new(), Some(BETA), 404),
        (String::new(), Some(ALPHA_PUBLISHABLE), 403),
    ] {
        let call = world.get(&format!("{path}{query}"));
        let call = if let Some(bearer) = bearer { call.bearer(bearer) } else { call };
        let reply = call.send().await.expect(status);
        let is_stream = reply.header("Content-Type") == Some("text/event-stream");
        assert_eq!(is_stream, status == 200, "{reply:?}");
    }
    world.get("/v1/payment_intents/pi_1/events").bearer(ALPHA).send().await.problem(404, "not_found");
    // Elsewhere the address grants nothing.
    let shown = path.replace("/events", &format!("?token={token}"));
    world.get(&shown).send().await.problem(401, "unauthorized");
}

#[tokio::test]
async fn a_stop_of_the_server_ends_its_streams() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let mut events = Events::of(&world, &checkout).await;
    events.next().await.unwrap();
    let (world, end) = tokio::join!(world.restart(), events.next());
    assert_eq!(end, None);
    let mut events = Events::of(&world, &checkout).await;
    assert_eq!(events.next().await.unwrap()["state"], "created", "and the next server tells again");
}

#[tokio::test]
async fn an_intent_that_was_left_behind_says_so() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, DECLINED).await.expect(200);
    assert_eq!(seen_by_shopper(&world, &checkout).await.get("behind"), None);
    world.again(&checkout, "again").send().await.expect(201);
    assert_eq!(seen_by_shopper(&world, &checkout).await["behind"], true, "a newer intent");
    assert_eq!(world.intent(&checkout["payment_intent"]["id"]).await["behind"], true);
    let mut events = Events::of(&world, &checkout).await;
    let last = events.next().await.unwrap();
    assert_eq!((&last["state"], &last["behind"]), (&json!("declined"), &json!(true)));
    assert_eq!(events.next().await, None);

    let now = world.shown(&checkout).await;
    assert_eq!(seen_by_shopper(&world, &now).await.get("behind"), None);
    world.pay(&now, GOOD).await.expect(200);
    assert_eq!(seen_by_shopper(&world, &now).await.get("behind"), None, "it paid the checkout itself");
    assert_eq!(seen_by_shopper(&world, &checkout).await["behind"], true);
}

/// On whatever device, and with scripts there or without.
#[tokio::test]
async fn n1_whoever_looks_at_a_decline_hears_at_once_of_the_next_try() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, DECLINED).await.expect(200);
    let mut events = Events::of(&world, &checkout).await;
    assert_eq!(events.next().await.unwrap().get("behind"), None);
    world.again(&checkout, "again").send().await.expect(201);
    assert_eq!(events.next().await.unwrap()["behind"], true, "long before the stream would look by itself");
    assert_eq!(events.next().await, None);
}

/// The next look is hours away.
#[tokio::test]
async fn n2_check_now_brings_the_result_long_before_the_next_look() {
    let world = still().await;
    let (checkout, seldom) = (world.checkout("1").await, world.seldom());
    world.bank.fault(json!({ "kind": "lose_answer", "order_id": "1", "times": 2 })).await;
    world.pay(&checkout, GOOD).await.expect(202);
    eventually("the look that is soon", || async { seldom.run_once().await.unwrap().then_some(()) }).await;
    let seen = post(&world, &checkout, "/check").await;
    assert_eq!(seen["state"], "confirming", "it was asked for");
    eventually("succeeded", || async {
        seldom.run_once().await.unwrap();
        (seen_by_shopper(&world, &checkout).await["state"] == "succeeded").then_some(())
    })
    .await;
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn check_now_moves_nothing_where_there_is_nothing_to_learn() {
    let world = World::start().await;
    let created = world.checkout("created").await;
    assert_eq!(post(&world, &created, "/check").await["state"], "created");
    let paid = world.checkout("paid").await;
    world.pay(&paid, GOOD).await.expect(200);
    let requests = world.bank.ledger().await["requests"].as_array().unwrap().len();
    for _ in 0..20 {
        assert_eq!(post(&world, &paid, "/check").await["state"], "succeeded");
    }
    assert_eq!(world.bank.ledger().await["requests"].as_array().unwrap().len(), requests);
    assert!(world.bank.payments("created").await.is_empty());
}

#[tokio::test]
async fn paying_another_way_than_at_the_bank_says_when_the_bank_lets_go_at_the_latest() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let before = post(&world, &checkout, "/release").await;
    assert_eq!((&before["state"], before.get("released_by")), (&json!("created"), None));
    world.pay(&checkout, THREE_DS).await.expect(200);
    let seen = post(&world, &checkout, "/release").await;
    assert_eq!(seen["state"], "requires_action");
    assert!(text(&seen["released_by"]) > text(&seen["created_at"]), "{seen}");
    assert_eq!(seen["next_action"], seen_by_shopper(&world, &checkout).await["next_action"], "the same link");
    // Until then no other payment can begin.
    let again = world.again(&checkout, "again").send().await.expect(200).json();
    assert_eq!(again["id"], checkout["payment_intent"]["id"]);
    assert_eq!(world.bank.payments("1").await.len(), 1);
}

#[tokio::test]
async fn what_somebody_who_waits_can_ask_for_takes_no_fields() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    for below in ["check", "release"] {
        let path = format!("/v1/payment_intents/{}/{below}", text(&checkout["payment_intent"]["id"]));
        let post = || world.post(&path).bearer(text(&checkout["client_token"]));
        post().json(&json!({})).send().await.expect(202);
        post().json(&json!({ "now": true })).send().await.problem(400, "invalid_json");
        world.get(&path).bearer(ALPHA).send().await.problem(405, "method_not_allowed");
    }
}
