//! One key per intention, whoever repeats it, from wherever (R1–R9).

use std::collections::BTreeSet;

use engine::{CheckoutOutcome, IntentOutcome, SubmitOutcome};
use payment::StateName;

use crate::{
    bank::Fault,
    flaky::{Call, Flaky, When},
    merchant::{tenant, tenant_of},
    scenarios,
    world::{World, claimed, create_key, fresh, known, replayed, retry_key, rub, terms},
};

scenarios! {
    r1_the_key_is_made_before_the_first_send_and_kept_by_every_attempt,
    r2_a_repeat_returns_the_first_result,
    r3_fault_06_other_parameters_under_a_known_key_change_nothing,
    r4_fault_07_amounts_that_are_written_differently_are_the_same,
    r5_fault_09_two_equal_orders_are_two_charges,
    r6_fault_16_the_loser_of_a_submit_calls_nobody,
    r6_two_instances_open_one_order_once,
    r7_a_key_is_scoped_by_merchant_and_kind,
    r8_order_operation_and_attempt_are_told_apart_in_the_journal,
    r9_fault_02_fault_08_reload_and_second_device_find_the_one_intent,
    fault_05_a_repeated_post_is_one_operation,
    fault_13_a_crash_before_the_create_commits_leaves_nothing,
    fault_04_fault_14_a_crash_after_the_create_is_found_by_its_key,
    fault_15_a_submit_whose_commit_is_unknown_is_read_again,
    fault_15_a_result_whose_commit_is_unknown_is_read_again,
}

/// Also woocommerce-gateway-stripe#2477 and gocardless-pro-python#12: the key belongs to the intent, not to the try.
async fn r1_the_key_is_made_before_the_first_send_and_kept_by_every_attempt(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let provider_key = world.story(&offer).await.operation.provider_key;
    assert_eq!(world.bank.sends(), 0);
    world.bank.next([Fault::Error500Before, Fault::LoseRequest, Fault::RateLimited(None)]);
    world.pay(&engine, &offer).await;
    world.settle(&world.engine()).await;
    let keys: Vec<_> = world.bank.sent().iter().map(|sent| sent.key).collect();
    assert_eq!(keys, [provider_key; 4]);
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn r2_a_repeat_returns_the_first_result(world: World) {
    let engine = world.engine();
    let create = || engine.open_checkout(create_key(&tenant(), "k", "1", "1500.00"), terms("1", "1500.00"));
    let first = fresh(create().await.unwrap());
    assert_eq!(replayed(create().await.unwrap()), first);
    let offer = world.order("1").await;
    world.pay(&engine, &offer).await;
    let (intent, answer) = known(engine.submit(offer.submission("tok_2")).await.unwrap());
    assert_eq!(intent.state.name(), StateName::Succeeded);
    assert!(answer.is_some());
    let (_, again) = known(world.engine().submit(offer.submission("tok_3")).await.unwrap());
    assert_eq!(again, answer);
    assert_eq!(replayed(create().await.unwrap()), first, "an immutable receipt");
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}

/// Also idempot-js#183: the fingerprint is compared before anything else.
async fn r3_fault_06_other_parameters_under_a_known_key_change_nothing(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let dear = create_key(&tenant(), "create-1", "1", "5000.00");
    let refused = engine.open_checkout(dear.clone(), terms("1", "5000.00")).await.unwrap();
    assert_eq!(refused, CheckoutOutcome::KeyReused { field: "amount".into() });
    let claim = world.claim(&engine, &offer).await;
    let mut other = offer.clone();
    other.checkout.amount = rub("5000.00");
    for _ in 0..2 {
        let refused = engine.submit(other.submission("tok_2")).await.unwrap();
        assert!(matches!(&refused, SubmitOutcome::KeyReused { field } if field == "amount"), "{refused:?}");
    }
    engine.drive(claim).await.unwrap();
    let refused = engine.open_checkout(dear, terms("1", "5000.00")).await.unwrap();
    assert_eq!(refused, CheckoutOutcome::KeyReused { field: "amount".into() }, "although it is paid");
    assert_eq!(world.order("1").await.checkout.amount, rub("1500.00"));
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}

async fn r4_fault_07_amounts_that_are_written_differently_are_the_same(world: World) {
    let engine = world.engine();
    let key = create_key(&tenant(), "k", "1", "1500.00");
    let first = fresh(engine.open_checkout(key, terms("1", "1500.00")).await.unwrap());
    world.order("1").await;
    let key = create_key(&tenant(), "k", "1", "1500.0");
    assert_eq!(replayed(engine.open_checkout(key, terms("1", "1500.0")).await.unwrap()), first);
}

async fn r5_fault_09_two_equal_orders_are_two_charges(world: World) {
    let engine = world.engine();
    let (one, two) = (world.paying(&engine, "1").await, world.paying(&engine, "2").await);
    assert_eq!(one.checkout.amount, two.checkout.amount);
    for offer in [one, two] {
        assert_eq!(world.state(&offer).await, StateName::Succeeded);
    }
    assert_eq!(world.bank.charges(), 2);
}

/// Also mastodon#37879, pay-connector#4460, idempot-js#181, dbos-transact-py#541: claimed first, and the loser is told the state.
async fn r6_fault_16_the_loser_of_a_submit_calls_nobody(world: World) {
    let (here, there) = (world.engine(), world.engine());
    let offer = world.offer(&here, "1").await;
    let (one, two) =
        tokio::join!(here.submit(offer.submission("tok_1")), there.submit(offer.submission("tok_2")));
    let (mut claims, mut losers) = (Vec::new(), Vec::new());
    for outcome in [one.unwrap(), two.unwrap()] {
        if let SubmitOutcome::Claimed(claim) = outcome {
            claims.push(claim);
        } else {
            losers.push(known(outcome).0);
        }
    }
    assert_eq!((claims.len(), losers.len()), (1, 1));
    assert_eq!(losers[0].state.name(), StateName::Processing);
    assert!(!there.run_once().await.unwrap() && !here.run_once().await.unwrap(), "nobody else has work");
    assert_eq!(world.bank.sends(), 0);
    here.drive(*claims.remove(0)).await.unwrap();
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}

async fn r6_two_instances_open_one_order_once(world: World) {
    let (here, there) = (world.engine(), world.engine());
    let open = |engine: &engine::Engine, key: &str| {
        let (engine, key) = (engine.clone(), create_key(&tenant(), key, "1", "1500.00"));
        async move { engine.open_checkout(key, terms("1", "1500.00")).await.unwrap() }
    };
    let (one, two) = tokio::join!(open(&here, "k1"), open(&there, "k2"));
    let (one, two) = (fresh(one), fresh(two));
    assert_eq!(one.body, two.body, "one checkout, one intent, one token");
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 201]);
    world.order("1").await;
}

/// Also devlink#1195 (kind) and hono-idempotency#126 (another tenant's answer).
async fn r7_a_key_is_scoped_by_merchant_and_kind(world: World) {
    let engine = world.engine();
    let key = |tenant| create_key(&tenant, "k", "1", "1500.00");
    let mine = fresh(engine.open_checkout(key(tenant()), terms("1", "1500.00")).await.unwrap());
    let theirs = fresh(engine.open_checkout(key(tenant_of("mer_2")), terms("1", "1500.00")).await.unwrap());
    assert_ne!(mine.body, theirs.body);
    let offer = world.order("1").await;
    // The same text for another kind of operation is another key.
    let outcome = engine.open_intent(retry_key(&tenant(), "k", offer.checkout.id), offer.checkout.id).await;
    assert!(matches!(outcome.unwrap(), IntentOutcome::Answer { replayed: false, .. }));
    // A key grants no right: another merchant with the right key and id finds nothing.
    let mut submission = offer.submission("tok_1");
    submission.key.tenant = tenant_of("mer_2");
    assert!(matches!(engine.submit(submission).await.unwrap(), SubmitOutcome::NotFound));
    // Nor does the key of one intent submit another.
    let other = world.offer(&engine, "2").await;
    let mut crossed = other.submission("tok_1");
    crossed.key.key = offer.submission("tok_1").key.key;
    assert!(matches!(engine.submit(crossed).await.unwrap(), SubmitOutcome::WrongKey));
    assert_eq!(world.bank.sends(), 0);
}

async fn r8_order_operation_and_attempt_are_told_apart_in_the_journal(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest, Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    world.settle(&engine).await;
    let story = world.story(&offer).await;
    let mut ids: BTreeSet<_> = story.attempts.iter().map(|attempt| attempt.id.to_string()).collect();
    assert_eq!(ids.len(), 3);
    ids.extend([
        offer.checkout.order.to_string(),
        offer.intent.id.to_string(),
        offer.checkout.id.to_string(),
    ]);
    ids.extend([story.operation.id.to_string(), story.operation.provider_key.to_string()]);
    ids.insert(offer.intent.submit_key.to_string());
    assert_eq!(ids.len(), 9);
    let journal = world.journal(&offer).await.join("\n");
    assert!(journal.contains(&story.operation.id.to_string()));
    for attempt in [&story.attempts[0], &story.attempts[2]] {
        assert!(journal.contains(&attempt.id.to_string()), "{journal}");
    }
    assert!(story.attempts.iter().all(|attempt| attempt.outcome.is_some()));
}

async fn r9_fault_02_fault_08_reload_and_second_device_find_the_one_intent(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    let before = world.order("1").await;
    assert_eq!(before.intent.id, offer.intent.id);
    // Another device comes by the shop: a new key for a known order.
    let device = world.offer_for(&world.engine(), "1", "1500.00", "other-device").await;
    assert_eq!((device.intent.id, device.intent.version), (before.intent.id, before.intent.version));
    let (outcome, found) = world.try_again(&engine, &device, "again").await;
    assert!(matches!(outcome, IntentOutcome::Answer { ref answer, .. } if answer.status == 200));
    assert_eq!(found.intent.id, offer.intent.id, "the occupying one is named, none is made");
    let (seen, _) = known(engine.submit(device.submission("tok_2")).await.unwrap());
    assert_eq!(seen.state.name(), StateName::Confirming);
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// Also okhttp#2394 and rancher#35424: clients and ingresses that silently send again.
async fn fault_05_a_repeated_post_is_one_operation(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let submission = offer.submission("tok_1");
    let claim = claimed(engine.submit(submission.clone()).await.unwrap());
    let (seen, answer) = known(engine.submit(submission.clone()).await.unwrap());
    assert_eq!((seen.state.name(), answer), (StateName::Processing, None), "its true state, not success");
    engine.drive(claim).await.unwrap();
    assert!(known(engine.submit(submission).await.unwrap()).1.is_some());
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}

async fn fault_13_a_crash_before_the_create_commits_leaves_nothing(world: World) {
    let mut engine = world.engine();
    engine.store = Flaky::new(world.store.clone(), &[(Call::OpenCheckout, When::Before)]);
    let key = create_key(&tenant(), "k", "1", "1500.00");
    assert!(engine.open_checkout(key.clone(), terms("1", "1500.00")).await.is_err());
    let answer = fresh(world.engine().open_checkout(key, terms("1", "1500.00")).await.unwrap());
    assert_eq!(answer.status, 201);
    let offer = world.order("1").await;
    world.pay(&engine, &offer).await;
    assert_eq!(world.bank.charges(), 1);
}

async fn fault_04_fault_14_a_crash_after_the_create_is_found_by_its_key(world: World) {
    let mut engine = world.engine();
    engine.store = Flaky::new(world.store.clone(), &[(Call::OpenCheckout, When::After)]);
    let key = create_key(&tenant(), "k", "1", "1500.00");
    assert!(engine.open_checkout(key.clone(), terms("1", "1500.00")).await.is_err());
    let made = world.order("1").await;
    let answer = replayed(world.engine().open_checkout(key, terms("1", "1500.00")).await.unwrap());
    assert_eq!(answer.status, 201);
    let text = String::from_utf8(answer.body).unwrap();
    assert!(text.starts_with(&made.checkout.id.to_string()) && text.contains(&made.intent.id.to_string()));
    assert!(text.ends_with(&engine.token(&made.checkout)), "the token is made again: {text}");
}

async fn fault_15_a_submit_whose_commit_is_unknown_is_read_again(world: World) {
    for (order, when) in [("1", When::Before), ("2", When::After)] {
        let mut engine = world.engine();
        let offer = world.offer(&engine, order).await;
        engine.store = Flaky::new(world.store.clone(), &[(Call::Submit, when)]);
        world.pay(&engine, &offer).await;
        assert_eq!(world.state(&offer).await, StateName::Succeeded, "{when:?}");
        assert_eq!(world.story(&offer).await.attempts.len(), 1);
    }
    assert_eq!((world.bank.sends(), world.bank.charges()), (2, 2));
}

async fn fault_15_a_result_whose_commit_is_unknown_is_read_again(world: World) {
    for (order, when) in [("1", When::Before), ("2", When::After)] {
        let mut engine = world.engine();
        engine.store = Flaky::new(world.store.clone(), &[(Call::Commit, when)]);
        let offer = world.paying(&engine, order).await;
        assert_eq!(world.state(&offer).await, StateName::Succeeded, "{when:?}");
    }
    assert_eq!((world.bank.sends(), world.bank.charges()), (2, 2));
}
