//! Money that is held: what a capture and a cancel make of the intent, and what happens when both are tried.

use engine::IntentOutcome;
use payment::{CheckoutStatus, ObjectStatus, OperationKind, OperationState, State, StateName};
use store::{OpenedFollowUp, Stage};

use super::{ask, finish, open, ready_for, state, step, sum_of, work_for};
use crate::{
    bank::Fault,
    merchant::tenant,
    scenarios,
    world::{HOUR, Offer, World, known, rub},
};

scenarios! {
    a_cancel_ends_intent_and_operation_and_frees_the_checkout,
    a_capture_pays_the_checkout,
    a_cancel_that_loses_against_a_capture_is_refused_and_the_money_is_seen,
    a_cancel_that_is_unknown_and_loses_settles_by_the_payments_state,
    a_capture_that_is_unknown_blocks_a_cancel,
    an_unknown_capture_leaves_the_intent_authorized,
    a_query_of_the_payment_under_way_loses_nothing,
    a_capture_goes_to_the_account_that_holds_the_money,
}

const CAPTURE: OperationKind = OperationKind::Capture;
const CANCEL: OperationKind = OperationKind::Cancel;

async fn held(world: &World) -> Offer {
    ready_for(world, &world.engine(), CANCEL, "1").await
}

async fn a_cancel_ends_intent_and_operation_and_frees_the_checkout(world: World) {
    let engine = world.engine();
    let offer = held(&world).await;
    let operation = open(&engine, &offer, CANCEL, None).await;
    step(&world, &engine, &offer, operation.id).await;
    assert!(matches!(state(&world, &offer, operation.id).await, OperationState::Succeeded { .. }));
    let intent = world.intent(offer.intent.id).await;
    assert!(matches!(intent.state, State::Canceled { .. }), "{:?}", intent.state);
    let pay = world.story(&offer).await.operation;
    assert_eq!((pay.stage, pay.wake_at, pay.lease), (Stage::Done, None, None));
    let (_, replay) = known(engine.submit(offer.submission("tok_2")).await.unwrap());
    assert!(replay.is_some(), "the submit key has its final answer");
    let (outcome, next) = world.try_again(&engine, &offer, "again").await;
    assert!(matches!(outcome, IntentOutcome::Answer { ref answer, .. } if answer.status == 201));
    world.pay(&engine, &next).await;
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

async fn a_capture_pays_the_checkout(world: World) {
    let engine = world.engine();
    let offer = held(&world).await;
    let operation = open(&engine, &offer, CAPTURE, Some(rub("1500.00"))).await;
    step(&world, &engine, &offer, operation.id).await;
    assert!(matches!(state(&world, &offer, operation.id).await, OperationState::Succeeded { .. }));
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
    assert_eq!(ask(&engine, offer.intent.id, CANCEL, None).await, OpenedFollowUp::NotNow);
}

/// Somebody captured it in the provider's own dashboard. Also PAYONE/magento-1#464: it is cancelled by the provider's word only.
async fn a_cancel_that_loses_against_a_capture_is_refused_and_the_money_is_seen(world: World) {
    let engine = world.engine();
    let offer = held(&world).await;
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    let operation = open(&engine, &offer, CANCEL, None).await;
    assert!(matches!(finish(&world, &engine, &offer, operation.id).await, OperationState::Rejected { .. }));
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

async fn a_cancel_that_is_unknown_and_loses_settles_by_the_payments_state(world: World) {
    let engine = world.engine();
    let offer = held(&world).await;
    world.bank.next_for(CANCEL, [Fault::LoseRequest]);
    let operation = open(&engine, &offer, CANCEL, None).await;
    step(&world, &engine, &offer, operation.id).await;
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    work_for(&world, &engine, &offer, operation.id, HOUR).await;
    let OperationState::Rejected { code, .. } = state(&world, &offer, operation.id).await else {
        panic!("the payment shows that it was not cancelled, and never will be")
    };
    assert_eq!(code, "succeeded");
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

/// Also killbill#639: a second capture waits until the first is known.
async fn a_capture_that_is_unknown_blocks_a_cancel(world: World) {
    let engine = world.engine();
    let offer = held(&world).await;
    world.bank.next_for(CAPTURE, [Fault::LoseRequest]);
    let capture = open(&engine, &offer, CAPTURE, sum_of(CAPTURE)).await;
    step(&world, &engine, &offer, capture.id).await;
    for kind in [CAPTURE, CANCEL] {
        let OpenedFollowUp::Unfinished(rival) = ask(&engine, offer.intent.id, kind, sum_of(kind)).await
        else {
            panic!("{kind:?} has to wait")
        };
        assert_eq!(rival.id, capture.id);
    }
    assert!(world.bank.sent_for(CANCEL).is_empty());
    finish(&world, &engine, &offer, capture.id).await;
    assert_eq!(world.bank.charges(), 1);
}

async fn an_unknown_capture_leaves_the_intent_authorized(world: World) {
    let engine = world.engine();
    let offer = held(&world).await;
    world.bank.next_for(CAPTURE, [Fault::LoseAnswer]);
    let capture = open(&engine, &offer, CAPTURE, sum_of(CAPTURE)).await;
    step(&world, &engine, &offer, capture.id).await;
    assert!(matches!(state(&world, &offer, capture.id).await, OperationState::Confirming { .. }));
    assert_eq!(world.state(&offer).await, StateName::Authorized);
    // The payment's own look may see it first; the capture agrees with it afterwards.
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    finish(&world, &engine, &offer, capture.id).await;
    assert_eq!((world.bank.charges(), world.story(&offer).await.charges.len()), (1, 1));
}

/// The cancel's commit and the query's are about the same intent: one of them is written, and neither leaves a trace of the other.
async fn a_query_of_the_payment_under_way_loses_nothing(world: World) {
    let (asking, canceling) = (world.engine(), world.engine());
    let offer = held(&world).await;
    let wake_at = world.story(&offer).await.operation.wake_at.unwrap();
    world.clock.advance(wake_at.since_ms(world.clock.now()));
    let claim = asking.claim_due(1, Vec::new()).await.unwrap().remove(0);
    let operation = open(&canceling, &offer, CANCEL, None).await;
    assert!(canceling.run_once().await.unwrap());
    assert_eq!(world.state(&offer).await, StateName::Canceled);
    asking.drive(claim).await.unwrap();
    finish(&world, &canceling, &offer, operation.id).await;
    let pay = world.story(&offer).await.operation;
    assert_eq!((pay.stage, pay.wake_at), (Stage::Done, None));
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Canceled, 0));
}

async fn a_capture_goes_to_the_account_that_holds_the_money(world: World) {
    let engine = world.engine();
    let offer = held(&world).await;
    let mut moved = crate::merchant::merchant(tenant(), "200600", "secret of 200600", &world.vault);
    moved.url = "https://elsewhere.example".into();
    world.merchants.put(moved);
    let operation = open(&engine, &offer, CAPTURE, sum_of(CAPTURE)).await;
    step(&world, &engine, &offer, operation.id).await;
    let sent = &world.bank.sent_for(CAPTURE)[0];
    assert_eq!((sent.account.id.as_str(), world.bank.charges()), (crate::merchant::ACCOUNT, 1));
}
