//! The bank misbehaves (faults 37–49): over HTTP, with the worker at work. In the end the money is there once, and nobody was told
//! anything untrue on the way.

use serde_json::{Value, json};

use crate::support::{DECLINED, GOOD, Setup, World, eventually, text};

/// Pays while the bank does `faults`; what was answered, and the intent once it has succeeded.
async fn pay_through(world: &World, order_id: &str, faults: &[Value]) -> (Value, Value) {
    let checkout = world.checkout(order_id).await;
    for fault in faults {
        world.bank.fault(fault.clone()).await;
    }
    let reply = world.pay(&checkout, GOOD).await;
    let told = reply.json();
    match text(&told["state"]) {
        "processing" | "confirming" => {
            assert_eq!((reply.status, reply.header("Retry-After")), (202, Some("1")), "{reply:?}");
        }
        "succeeded" => assert_eq!(reply.status, 200),
        other => panic!("{faults:?}: told {other}"),
    }
    let ended = world.reaches(&checkout, "succeeded").await;
    assert_eq!(world.shown(&checkout).await["status"], "paid");
    assert_eq!(
        (world.bank.charges(order_id).await, world.bank.payments(order_id).await.len()),
        (1, 1),
        "{faults:?}"
    );
    let journal: Vec<_> = ended["journal"].as_array().unwrap().iter().map(|line| text(&line["to"])).collect();
    for untrue in ["declined", "canceled", "expired"] {
        assert!(!journal.contains(&untrue), "{faults:?}: {journal:?}");
    }
    // Whoever repeats it now gets the first final answer.
    let replay = world.submit(&checkout, "another").send().await.expect(200);
    assert!(replay.is_replay() || told["state"] == "succeeded");
    (told, ended)
}

/// Checks that whatever was sent was sent under one key, as the same bytes.
async fn same_request_each_time(world: &World) -> usize {
    let creates = world.bank.creates().await;
    assert!(creates.iter().all(|create| *create == creates[0]), "{creates:?}");
    creates.len()
}

/// Also Nexuq#485: what the bank does not answer is 202, not an error of ours.
#[tokio::test]
async fn faults_37_38_41_47_an_answer_that_does_not_come_is_not_a_failure() {
    for kind in ["lose_request", "lose_answer", "error_500_before", "error_500_after", "garbage"] {
        let world = World::start().await;
        let (told, ended) = pay_through(&world, kind, &[json!({ "kind": kind })]).await;
        assert_eq!(told["state"], "confirming", "{kind}");
        let sends = same_request_each_time(&world).await;
        assert_eq!(ended["attempts"].as_array().unwrap().len(), sends, "{kind}");
    }
}

#[tokio::test]
async fn fault_38_the_answer_is_lost_again_and_again() {
    let world = World::start().await;
    let fault = json!({ "kind": "lose_answer", "times": 4 });
    pay_through(&world, "1", &[fault]).await;
    assert!(same_request_each_time(&world).await >= 2);
}

#[tokio::test]
async fn fault_39_a_request_that_is_repeated_on_the_way_makes_one_payment() {
    let world = World::with(Setup { doubled: true, ..Setup::default() }).await;
    for order_id in ["1", "2"] {
        let checkout = world.checkout(order_id).await;
        assert_eq!(world.pay(&checkout, GOOD).await.expect(200).json()["state"], "succeeded");
        assert_eq!(world.bank.payments(order_id).await.len(), 1);
    }
    assert_eq!(world.bank.creates().await.len(), 4);
}

#[tokio::test]
async fn fault_42_a_500_for_ever_is_got_round_by_the_listing() {
    let mut setup = Setup::default();
    setup.timing.execute_ms = 500;
    let world = World::with(setup).await;
    pay_through(&world, "1", &[json!({ "kind": "error_500_stored" })]).await;
    same_request_each_time(&world).await;
}

#[tokio::test]
async fn fault_43_a_rejected_request_declines_and_a_corrected_try_is_linked() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "bad_request" })).await;
    let intent = world.pay(&checkout, GOOD).await.expect(200).json();
    assert_eq!(
        (&intent["state"], &intent["decline"]["by"]),
        (&json!("declined"), &json!("provider_rejected"))
    );
    assert_eq!(world.bank.payments("1").await.len(), 0);
    let linked = world.again(&checkout, "again").send().await.expect(201).json();
    assert_eq!(linked["previous_intent_id"], intent["id"]);
    world.pay(&world.shown(&checkout).await, GOOD).await.expect(200);
    assert_eq!(world.bank.charges("1").await, 1);
    let creates = world.bank.creates().await;
    assert_ne!(creates[0].0, creates[1].0, "a new operation has a new key");
}

#[tokio::test]
async fn fault_43_a_rejection_after_an_unknown_send_is_unknown() {
    let world = World::start().await;
    let faults = [json!({ "kind": "lose_answer" }), json!({ "kind": "bad_request", "times": 2 })];
    let (told, _) = pay_through(&world, "1", &faults).await;
    assert_eq!(told["state"], "confirming");
    same_request_each_time(&world).await;
}

#[tokio::test]
async fn faults_44_49_what_was_not_executed_is_sent_again_under_the_same_key() {
    for kind in ["rate_limit", "unauthorized", "processing_202"] {
        let world = World::start().await;
        let fault = json!({ "kind": kind, "delay_ms": 50 });
        pay_through(&world, kind, &[fault]).await;
        same_request_each_time(&world).await;
    }
}

#[tokio::test]
async fn fault_46_a_pending_object_is_not_paid() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "pending", "delay_ms": 2000 })).await;
    let told = world.pay(&checkout, GOOD).await;
    assert_ne!(told.json()["state"], "succeeded");
    assert_eq!(world.shown(&checkout).await["status"], "open");
    world.reaches(&checkout, "succeeded").await;
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn fault_47_a_wrong_sum_is_never_taken_for_success() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "wrong_amount", "times": 1000 })).await;
    world.bank.fault(json!({ "kind": "wrong_amount", "on": "get", "times": 1000 })).await;
    let told = world.pay(&checkout, GOOD).await.expect(202).json();
    assert!(["confirming", "needs_review"].contains(&text(&told["state"])), "{told}");
    eventually("it is asked again", || async { (world.bank.creates().await.len() >= 4).then_some(()) }).await;
    let intent = world.intent(&checkout["payment_intent"]["id"]).await;
    assert!(["confirming", "needs_review"].contains(&text(&intent["state"])), "{intent}");
    assert_eq!(world.shown(&checkout).await["status"], "open");
    world.again(&checkout, "again").send().await.expect(200);
    assert_eq!(world.bank.payments("1").await.len(), 1);
}

#[tokio::test]
async fn fault_48_not_found_soon_after_a_timeout_proves_nothing() {
    let world = World::start().await;
    let faults = [
        json!({ "kind": "lose_answer" }),
        json!({ "kind": "not_found", "on": "list", "times": 2 }),
        json!({ "kind": "not_found", "on": "get", "times": 2 }),
    ];
    pay_through(&world, "1", &faults).await;
}

/// Also killbill#1015.
#[tokio::test]
async fn while_the_first_is_unknown_no_second_begins() {
    let world = World::with(Setup { worker: false, ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "lose_answer" })).await;
    let told = world.pay(&checkout, GOOD).await.expect(202).json();
    assert_eq!(told["state"], "confirming");
    let same = world.again(&checkout, "again").send().await.expect(200).json();
    assert_eq!((&same["id"], &same["state"]), (&told["id"], &json!("confirming")));
    let other_terms = json!({ "order_id": "1", "amount": { "value": "900", "currency": "RUB" } });
    world.open("other", &other_terms).send().await.problem(409, "intent_in_progress");
    let repeat = world.submit(&checkout, "another").send().await.expect(202);
    assert_eq!((repeat.json()["state"].clone(), repeat.is_replay()), (json!("confirming"), false));
    assert_eq!(world.bank.creates().await.len(), 1);
}

#[tokio::test]
async fn fault_61_after_decline_retry_and_payment_a_stale_tab_is_refused() {
    let world = World::start().await;
    let first = world.checkout("1").await;
    world.pay(&first, DECLINED).await.expect(200);
    world.again(&first, "again").send().await.expect(201);
    world.pay(&world.shown(&first).await, GOOD).await.expect(200);
    world.again(&first, "stale").send().await.problem(409, "order_paid");
    // The first intent's receipt is what it was.
    let replay = world.pay(&first, GOOD).await.expect(200);
    assert_eq!((replay.json()["state"].clone(), replay.is_replay()), (json!("declined"), true));
    assert_eq!(world.bank.charges("1").await, 1);
}
