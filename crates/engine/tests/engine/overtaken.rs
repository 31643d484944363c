//! Whoever lost its lease wrote nothing, and nobody is told otherwise (R14).

use std::sync::Arc;

use engine::{Engine, Looked, Resolved, Verdict};
use payment::{CheckoutStatus, OperationState, StateName};

use crate::{
    bank::Fault,
    flaky::{Call, Flaky, When},
    follow_ups::{self, finish, refund},
    merchant::tenant,
    review::{done, in_review, object_of, resolve},
    scenarios,
    world::{LEASE_MS, SILENCE_MS, World},
};

scenarios! {
    r14_a_persons_word_about_a_payment_that_was_overtaken_is_not_told_as_done,
    r14_a_persons_word_about_a_refund_that_was_overtaken_is_not_told_as_done,
    r14_a_sweep_that_was_overtaken_is_not_complete_and_keeps_the_gate,
    r14_n4_a_notification_whose_look_was_overtaken_is_asked_about_again,
}

/// One whose next commit comes too late.
fn overtaken(world: &World) -> Engine {
    let store = Flaky::new(Arc::clone(&world.store), &[(Call::Commit, When::Overtaken)]);
    Engine { store, ..world.engine() }
}

#[track_caller]
fn not_yet(resolved: Resolved) {
    assert!(matches!(&resolved, Resolved::Refused(words) if words.contains("try again")), "{resolved:?}");
}

async fn r14_a_persons_word_about_a_payment_that_was_overtaken_is_not_told_as_done(world: World) {
    let engine = world.engine();
    let offer = in_review(&world, &engine, "1", Fault::LoseAnswer).await;
    let charged = || Verdict::Charged(object_of(&world, &offer));
    not_yet(resolve(&overtaken(&world), offer.intent.id, charged()).await);
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    world.clock.advance(LEASE_MS);
    done(resolve(&engine, offer.intent.id, charged()).await);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

async fn r14_a_persons_word_about_a_refund_that_was_overtaken_is_not_told_as_done(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.bank.every(Some(Fault::LoseAnswer));
    let operation = refund(&engine, &offer, "500.00").await.id;
    finish(&world, &engine, &offer, operation).await;
    world.bank.every(None);
    let executed = || Verdict::Executed(world.bank.refunds()[0].id.clone());
    not_yet(resolve(&overtaken(&world), operation, executed()).await);
    let state = follow_ups::state(&world, &offer, operation).await;
    assert!(matches!(state, OperationState::NeedsReview { .. }), "{state:?}");
    world.clock.advance(LEASE_MS);
    done(resolve(&engine, operation, executed()).await);
}

/// Else the gate is lifted over what the listing told and nobody wrote down.
async fn r14_a_sweep_that_was_overtaken_is_not_complete_and_keeps_the_gate(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(SILENCE_MS + 1);
    assert!(engine.start().await.unwrap());
    let swept = overtaken(&world).sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!((swept.news, swept.complete), (1, false));
    let account = world.merchant().await.account;
    assert!(world.store.sweep(tenant(), account.clone()).await.unwrap().0.gated_from.is_some());
    world.clock.advance(LEASE_MS);
    assert!(engine.sweep_merchant(&world.merchant().await).await.unwrap().complete);
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!(world.store.sweep(tenant(), account).await.unwrap().0.gated_from, None);
}

/// Else it is settled, and what it announced has no effect.
async fn r14_n4_a_notification_whose_look_was_overtaken_is_asked_about_again(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    let object = object_of(&world, &offer);
    let looked = overtaken(&world).look(&tenant(), offer.intent.id, &object).await.unwrap();
    assert_eq!(looked, Looked::Held, "what it saw is not written down");
    world.clock.advance(LEASE_MS);
    world.hears(object.as_str(), "succeeded", Some(offer.intent.id)).await;
    assert_eq!(overtaken(&world).work_inbox(1).await.unwrap(), 1);
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.clock.advance(LEASE_MS);
    assert_eq!(engine.work_inbox(1).await.unwrap(), 1, "it waits");
    world.is_done(object.as_str(), "succeeded").await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}
