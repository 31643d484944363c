//! What is not known stays unknown until the bank has spoken, and an object is not yet money (R10–R12).

use engine::{IntentOutcome, SubmitOutcome};
use payment::{CheckoutStatus, ObjectStatus, State, StateName, UnknownReason};
use store::Stage;

use crate::{
    bank::{Fault, pending},
    scenarios,
    world::{DAY, EXECUTE_MS, HOUR, LEASE_MS, World, known},
};

scenarios! {
    r10_a_timeout_is_unknown_and_no_timer_ends_it,
    r10_a_500_is_unknown,
    r11_what_is_in_progress_is_stored,
    r12_fault_46_a_pending_object_is_not_paid,
    r12_held_money_is_not_taken,
    a_pending_object_without_a_page_is_asked_about,
    while_it_is_unknown_nothing_else_may_begin,
    the_ends_of_an_object_are_told_apart,
}

/// Also hyperswitch#2380, bcgov/entity#32832 and akash-network/console#3449: an unresolved payment never ages into a failed one.
async fn r10_a_timeout_is_unknown_and_no_timer_ends_it(world: World) {
    let engine = world.engine();
    world.bank.every(Some(Fault::LoseRequest));
    let offer = world.paying(&engine, "1").await;
    let mut seen = Vec::new();
    let start = world.clock.now();
    while world.clock.now().since_ms(start) < 2 * DAY {
        seen.push(world.state(&offer).await);
        world.wake(&engine, &offer).await;
        world.engine().expire().await.unwrap();
    }
    seen.dedup();
    assert_eq!(seen, [StateName::Confirming, StateName::NeedsReview]);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open, "an expired checkout waits for it, too");
}

async fn r10_a_500_is_unknown(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::Error500Before]);
    let offer = world.paying(&engine, "1").await;
    let State::Confirming { why: UnknownReason::ProviderError, object: None, .. } =
        world.intent(offer.intent.id).await.state
    else {
        panic!("a 500 says nothing about the payment")
    };
}

async fn r11_what_is_in_progress_is_stored(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let submitted_at = world.clock.now();
    world.claim(&engine, &offer).await;
    let (intent, story) = (world.intent(offer.intent.id).await, world.story(&offer).await);
    let operation = story.operation;
    assert_eq!(intent.state, State::Processing { since: submitted_at, last: None });
    assert_eq!(operation.stage, Stage::Open);
    let lease = operation.lease.unwrap();
    assert_eq!((lease.holder, lease.until), (engine.settings.holder, submitted_at.plus_ms(LEASE_MS)));
    assert_eq!(operation.first_sent_at, Some(submitted_at));
    assert_eq!(operation.execute_until, Some(submitted_at.plus_ms(EXECUTE_MS)));
    let frozen = operation.frozen.unwrap();
    assert!(!frozen.sealed_body.windows(5).any(|window| window == b"tok_1"), "a card token lies sealed");
    world.settle(&engine).await;
    let (intent, operation) = (world.intent(offer.intent.id).await, world.story(&offer).await.operation);
    assert!(
        matches!(&intent.state, State::Succeeded { object, .. } if Some(object) == operation.object.as_ref())
    );
    assert_eq!(intent.paid_with.unwrap().last4.as_deref(), Some("4444"));
}

/// Also polar#11941: success means settled.
async fn r12_fault_46_a_pending_object_is_not_paid(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    let intent = world.intent(offer.intent.id).await;
    assert!(matches!(intent.state, State::RequiresAction { .. }), "{:?}", intent.state);
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Open, 0));
    assert_eq!(
        known(engine.submit(offer.submission("tok_2")).await.unwrap()).1,
        None,
        "nothing final to replay"
    );
    world.wake(&engine, &offer).await;
    assert_eq!(
        world.intent(offer.intent.id).await.state,
        intent.state,
        "the same link; asking changes nothing"
    );
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    world.wake(&world.engine(), &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
    assert_eq!(world.bank.sends(), 1, "a known object is asked about, never asked for again");
}

async fn r12_held_money_is_not_taken(world: World) {
    let engine = world.engine();
    world.bank.decides(ObjectStatus::WaitingForCapture);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(2 * DAY);
    engine.expire().await.unwrap();
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Authorized, "no time of ours ends it");
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Open, 0));
}

async fn a_pending_object_without_a_page_is_asked_about(world: World) {
    let engine = world.engine();
    world.bank.decides(ObjectStatus::Pending { confirmation_url: None });
    let offer = world.paying(&engine, "1").await;
    let State::Confirming { why: UnknownReason::Pending, object: Some(_), .. } =
        world.intent(offer.intent.id).await.state
    else {
        panic!("it is being confirmed")
    };
    world.wake(&engine, &offer).await;
    assert_eq!((world.bank.sends(), world.bank.asked().0), (1, 1));
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    world.settle(&engine).await;
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

/// Also killbill#1015 (a new payment while the first is unknown).
async fn while_it_is_unknown_nothing_else_may_begin(world: World) {
    let engine = world.engine();
    world.bank.every(Some(Fault::LoseRequest));
    let offer = world.paying(&engine, "1").await;
    for hours in [0, 1, 23, 25, 48] {
        world.clock.advance(hours * HOUR);
        engine.run_once().await.unwrap();
        engine.expire().await.unwrap();
        let (outcome, found) = world.try_again(&engine, &offer, &format!("again-{hours}")).await;
        assert!(matches!(outcome, IntentOutcome::Answer { ref answer, .. } if answer.status == 200));
        assert_eq!(found.intent.id, offer.intent.id);
        assert!(matches!(
            engine.submit(found.submission("tok_2")).await.unwrap(),
            SubmitOutcome::Known { answer: None, .. }
        ));
    }
    assert_eq!(world.bank.objects().len(), 0);
}

async fn the_ends_of_an_object_are_told_apart(world: World) {
    use payment::Ending::{Canceled, Declined, Expired};
    let code = || "why".to_owned();
    for (order, ending, expected) in [
        ("1", Declined { code: code() }, StateName::Declined),
        ("2", Canceled { code: code() }, StateName::Canceled),
        ("3", Expired { code: code() }, StateName::Expired),
    ] {
        world.bank.decides(ObjectStatus::Ended(ending));
        let engine = world.engine();
        let offer = world.paying(&engine, order).await;
        assert_eq!(world.state(&offer).await, expected);
        assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
        assert!(
            known(engine.submit(offer.submission("tok_2")).await.unwrap()).1.is_some(),
            "a definite result"
        );
    }
    assert_eq!(world.bank.charges(), 0);
}
