//! Submitting: one claim, whoever repeats it, however slow the bank is.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{DECLINED, GOOD, MIR, Setup, THREE_DS, VISA, World, at_once, order, text};

/// Waits that a test can afford.
fn hasty() -> Setup {
    let mut setup = Setup::default();
    setup.patience.submit = Duration::from_millis(150);
    setup.patience.repeat = Duration::from_millis(150);
    setup
}

/// Repeats wait until there is a result, however slow the machine is.
fn patient() -> Setup {
    let mut setup = Setup::default();
    setup.patience.repeat = Duration::from_secs(8);
    setup
}

#[tokio::test]
async fn a_slow_bank_is_answered_202_and_the_work_goes_on() {
    let world = World::with(hasty()).await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "delay", "delay_ms": 2000 })).await;
    let reply = world.pay(&checkout, GOOD).await.expect(202);
    let id = text(&checkout["payment_intent"]["id"]);
    assert_eq!(reply.json()["state"], "processing");
    assert_eq!(reply.header("Location"), Some(format!("/v1/payment_intents/{id}").as_str()));
    assert_eq!(reply.header("Retry-After"), Some("1"));
    assert!(!reply.is_replay());
    world.reaches(&checkout, "succeeded").await;
    let replay = world.submit(&checkout, "another").send().await.expect(200);
    assert!(replay.is_replay());
    assert_eq!(replay.json()["state"], "succeeded");
    assert_eq!((world.bank.charges("1").await, world.bank.creates().await.len()), (1, 1));
}

#[tokio::test]
async fn a_repeat_while_the_first_runs_waits_a_little_then_is_told_the_true_state() {
    let world = World::with(hasty()).await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "delay", "delay_ms": 5000 })).await;
    world.pay(&checkout, GOOD).await.expect(202);
    let id = text(&checkout["payment_intent"]["id"]);
    for _ in 0..2 {
        let repeat = world.submit(&checkout, "another").send().await.expect(202);
        assert_eq!(repeat.json()["state"], "processing");
        assert_eq!(repeat.header("Location"), Some(format!("/v1/payment_intents/{id}").as_str()));
        assert_eq!(repeat.header("Retry-After"), Some("1"));
        assert!(!repeat.is_replay());
    }
    assert_eq!(world.bank.creates().await.len(), 1);
}

#[tokio::test]
async fn a_repeat_that_waits_hears_the_result_as_the_first_does() {
    let world = World::with(patient()).await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "delay", "delay_ms": 300 })).await;
    // Either may be first.
    let tokens = [world.bank.token(GOOD).await, world.bank.token(GOOD).await];
    let calls = tokens.map(|token| world.submit(&checkout, &token));
    let replies = at_once(calls.into_iter().map(|call| call.send())).await;
    for reply in &replies {
        assert_eq!((reply.status, reply.json()["state"].clone()), (200, json!("succeeded")), "{reply:?}");
    }
    assert_eq!(replies[0].bytes, replies[1].bytes);
    assert_eq!(replies.iter().filter(|reply| reply.is_replay()).count(), 1);
}

#[tokio::test]
async fn faults_1_3_5_many_submissions_at_once_are_one_payment() {
    for (order_id, card, state) in [
        ("paid", GOOD, "succeeded"),
        ("declined", DECLINED, "declined"),
        ("challenged", THREE_DS, "requires_action"),
    ] {
        let world = World::with(patient()).await;
        let checkout = world.checkout(order_id).await;
        world.bank.fault(json!({ "kind": "delay", "delay_ms": 100 })).await;
        let mut calls = Vec::new();
        for _ in 0..24 {
            calls.push(world.submit(&checkout, &world.bank.token(card).await));
        }
        let replies = at_once(calls.into_iter().map(|call| call.send())).await;
        for reply in &replies {
            assert_eq!(reply.status, 200, "{reply:?}");
            assert_eq!(reply.json()["id"], checkout["payment_intent"]["id"]);
            assert_eq!(reply.json()["state"], state);
            assert_eq!(reply.bytes, replies[0].bytes);
        }
        assert_eq!(world.bank.creates().await.len(), 1);
        assert_eq!(world.bank.payments(order_id).await.len(), 1);
    }
}

#[tokio::test]
async fn fault_67_two_tabs_with_two_cards_make_one_charge_and_both_hear_which_card() {
    let world = World::with(patient()).await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "delay", "delay_ms": 100 })).await;
    let mut calls = Vec::new();
    for card in [VISA, MIR] {
        calls.push(world.submit(&checkout, &world.bank.token(card).await));
    }
    let replies = at_once(calls.into_iter().map(|call| call.send())).await;
    let charged = world.bank.payments("1").await;
    assert_eq!(charged.len(), 1);
    let last4 = &charged[0]["payment_method"]["card"]["last4"];
    for reply in &replies {
        assert_eq!(reply.json()["payment_method"]["last4"], *last4, "{reply:?}");
    }
}

#[tokio::test]
async fn fault_4_a_merchant_that_creates_in_parallel_gets_one_checkout() {
    let world = World::start().await;
    let same_key = at_once((0..16).map(|_| world.open("key", &order("1")).send())).await;
    assert!(
        same_key.iter().all(|reply| reply.status == 201 && reply.bytes == same_key[0].bytes),
        "{same_key:?}"
    );
    assert_eq!(same_key.iter().filter(|reply| !reply.is_replay()).count(), 1);
    let own_keys = at_once((0..16).map(|n| world.open(&format!("key-{n}"), &order("2")).send())).await;
    assert_eq!(own_keys.iter().filter(|reply| reply.status == 201).count(), 1);
    assert!(own_keys.iter().all(|reply| reply.json() == own_keys[0].json()));
}

#[tokio::test]
async fn attack_9_terms_that_were_not_shown_are_refused_with_the_true_ones() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let token = world.bank.token(GOOD).await;
    for (name, value) in [
        ("version", json!(2)),
        ("version", json!(0)),
        ("amount", json!({ "value": "1.00", "currency": "RUB" })),
        ("amount", json!({ "value": "1500.00", "currency": "USD" })),
    ] {
        let mut seen = checkout.clone();
        seen[name] = value;
        let problem = world.submit(&seen, &token).send().await.problem(409, "checkout_changed");
        assert_eq!(problem["checkout"], checkout);
    }
    assert!(world.bank.creates().await.is_empty());
    assert_eq!(world.submit(&checkout, &token).send().await.expect(200).json()["state"], "succeeded");
}

#[tokio::test]
async fn the_merchants_server_may_submit_too() {
    let world = World::start().await;
    let mut checkout = world.checkout("1").await;
    checkout["client_token"] = json!(crate::support::ALPHA);
    let intent = world.pay(&checkout, GOOD).await.expect(200).json();
    assert_eq!((&intent["state"], intent.get("journal")), (&json!("succeeded"), None));
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn a_challenge_is_confirmed_at_the_bank_and_found_by_asking() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let waiting = world.pay(&checkout, THREE_DS).await.expect(200).json();
    // The same link on any device.
    let repeat = world.submit(&checkout, "another").send().await.expect(200);
    assert_eq!(repeat.json()["next_action"], waiting["next_action"]);
    assert!(!repeat.is_replay(), "only a final state is a receipt");
    let payment = world.bank.payments("1").await[0]["id"].clone();
    world.bank.decide(text(&payment), "confirm").await;
    let paid = world.reaches(&checkout, "succeeded").await;
    assert_eq!(paid.get("next_action"), None);
    assert_eq!(world.shown(&checkout).await["status"], "paid");
    let replay = world.submit(&checkout, "another").send().await.expect(200);
    assert!(replay.is_replay());
    assert_eq!(replay.json()["state"], "succeeded");
    assert_eq!((world.bank.charges("1").await, world.bank.creates().await.len()), (1, 1));
}

#[tokio::test]
async fn what_is_no_payment_method_is_refused() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    for method in [
        json!({ "type": "card_token" }),
        json!({ "type": "card", "number": GOOD }),
        json!({}),
        Value::Null,
        json!({ "type": "redirect", "token": "t" }),
        json!({ "type": "card_token", "token": "t", "cvc": "123" }),
        json!({ "type": "card_token", "token": 5 }),
    ] {
        let reply = world.submit_method(&checkout, method.clone()).send().await;
        let problem = reply.problem(400, "invalid_json");
        assert!(!problem.to_string().contains(GOOD), "{problem}");
    }
    for token in ["", &"t".repeat(4097)] {
        let reply = world.submit(&checkout, token).send().await;
        reply.blames(422, "invalid_field", "payment_method.token");
    }
    assert!(world.bank.creates().await.is_empty());
    assert_eq!(world.pay(&checkout, GOOD).await.expect(200).json()["state"], "succeeded");
}
