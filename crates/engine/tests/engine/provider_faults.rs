//! What a provider can do to a request, and what must be true in the end: one charge, and never success without its word.

use payment::{
    Ending, Mismatch, NotExecutedReason, ObjectStatus, ReviewReason, State, StateName, UnknownReason,
};

use crate::{
    bank::{Fault, Lie, pending},
    scenarios,
    world::{DAY, EXECUTE_MS, LEASE_MS, MINUTE, Offer, World},
};

scenarios! {
    fault_37_the_request_is_lost,
    fault_38_the_answer_is_lost,
    fault_39_the_request_is_repeated_on_the_way,
    fault_41_500_after_the_charge,
    fault_44_429_backs_off_with_the_same_key,
    fault_47_garbage_is_asked_again,
    fault_47_a_wrong_answer_is_never_paid,
    fault_47_a_wrong_answer_that_is_put_right_is_taken,
    fault_47_another_order_is_told_and_the_intent_decides,
    fault_47_another_order_is_told_by_every_road,
    fault_47_another_order_is_told_with_each_step_and_not_with_each_look,
    a_provider_that_names_no_order_tells_nothing_new,
    fault_49b_401_is_no_decline,
    fault_49b_a_firewalls_403_after_the_charge_ends_nothing,
    fault_49d_what_was_paid_stays_recorded,
    a_query_that_fails_changes_nothing,
    every_fault_in_a_row_is_one_charge,
}

async fn confirming_then_succeeded(world: &World, fault: Fault, sends: usize) {
    let engine = world.engine();
    world.bank.next([fault]);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.settle(&world.engine()).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.bank.sends(), world.bank.objects().len(), world.bank.charges()), (sends, 1, 1));
}

async fn fault_37_the_request_is_lost(world: World) {
    confirming_then_succeeded(&world, Fault::LoseRequest, 2).await;
}

async fn fault_38_the_answer_is_lost(world: World) {
    confirming_then_succeeded(&world, Fault::LoseAnswer, 2).await;
}

async fn fault_41_500_after_the_charge(world: World) {
    confirming_then_succeeded(&world, Fault::Error500After, 2).await;
}

async fn fault_47_garbage_is_asked_again(world: World) {
    confirming_then_succeeded(&world, Fault::Garbage, 2).await;
}

/// To a payment, and when nothing may be sent any more the listing has it.
async fn fault_49b_a_firewalls_403_after_the_charge_ends_nothing(world: World) {
    let engine = world.engine();
    for reason in
        [NotExecutedReason::NotAuthorized, NotExecutedReason::NotFound, NotExecutedReason::RateLimited]
    {
        let (order, charges) = (format!("{reason:?}"), world.bank.charges());
        world.bank.next([Fault::TurnedAway(reason)]);
        let offer = world.paying(&engine, &order).await;
        assert_eq!(world.state(&offer).await, StateName::Confirming, "{reason:?}");
        world.clock.advance(EXECUTE_MS);
        world.settle(&engine).await;
        assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, charges + 1));
    }
}

async fn fault_39_the_request_is_repeated_on_the_way(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.repeat_last();
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.objects().len()), (StateName::Succeeded, 1));
    world.bank.repeat_last();
    assert_eq!(world.bank.charges(), 1);
}

async fn fault_44_429_backs_off_with_the_same_key(world: World) {
    let engine = world.engine();
    world.bank.next(std::iter::repeat_n(Fault::RateLimited(None), 5));
    let offer = world.paying(&engine, "1").await;
    let mut waits = Vec::new();
    for _ in 0..5 {
        assert_eq!(world.state(&offer).await, StateName::Processing);
        waits.push(world.wake(&engine, &offer).await);
    }
    assert!(waits[4] > waits[0], "{waits:?}");
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// A wrong sum, currency or owner that stays so: a person, and never paid.
async fn fault_47_a_wrong_answer_is_never_paid(world: World) {
    for (order, lie, mismatch) in [
        ("1", Lie::Amount, Mismatch::Amount),
        ("2", Lie::Currency, Mismatch::Amount),
        ("3", Lie::Owner, Mismatch::Owner),
    ] {
        let engine = world.engine();
        // The money is not taken, so that the ledger and the screens agree.
        world.bank.decides(pending());
        world.bank.lies(Some(lie));
        let offer = world.paying(&engine, order).await;
        let state = world.intent(offer.intent.id).await.state;
        let wrong = UnknownReason::Mismatch(mismatch);
        assert!(matches!(&state, State::Confirming { why, .. } if *why == wrong), "{state:?}");
        world.settle(&engine).await;
        let State::NeedsReview { why, .. } = world.intent(offer.intent.id).await.state else {
            panic!("a person has to look")
        };
        assert_eq!(why, ReviewReason::Mismatch(mismatch), "order {order}");
        let journal = world.journal(&offer).await.join("\n");
        assert!(journal.contains("not what was asked for"), "{journal}");
    }
}

async fn fault_47_a_wrong_answer_that_is_put_right_is_taken(world: World) {
    let engine = world.engine();
    world.bank.lies(Some(Lie::Amount));
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.bank.lies(None);
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// How often it was told that an object names another order.
async fn told(world: &World, offer: &Offer) -> usize {
    let journal = world.journal(offer).await;
    let named = journal.iter().filter(|line| line.ends_with("it names order another-order")).count();
    let alarmed = journal.iter().filter(|line| *line == "anomaly: other_order").count();
    assert_eq!(named, alarmed, "{journal:?}");
    alarmed
}

/// The money is not lost, and not taken in silence.
async fn fault_47_another_order_is_told_and_the_intent_decides(world: World) {
    let engine = world.engine();
    world.bank.lies(Some(Lie::Order));
    let offer = world.paying(&engine, "1").await;
    assert_eq!((world.state(&offer).await, told(&world, &offer).await), (StateName::Succeeded, 1));
    assert_eq!(world.status(&offer).await, payment::CheckoutStatus::Paid);
}

/// A query, a listing, a notification, the sweep.
async fn fault_47_another_order_is_told_by_every_road(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(pending());
    let mut offers = vec![world.paying(&engine, "asked").await];
    for order in ["listed", "announced", "swept"] {
        world.bank.next([Fault::LoseAnswer]);
        offers.push(world.paying(&engine, order).await);
    }
    let [asked, listed, announced, swept] = &offers[..] else { unreachable!() };
    world.bank.lies(Some(Lie::Order));
    let object = world.bank.objects()[2].id.clone();
    engine.look(&announced.checkout.tenant, announced.intent.id, &object).await.unwrap();
    world.bank.moves(asked.intent.id, ObjectStatus::Succeeded);
    world.clock.advance(EXECUTE_MS);
    for claim in engine.claim_due(offers.len(), Vec::new()).await.unwrap() {
        if claim.work.intent.id != swept.intent.id {
            engine.drive(claim).await.unwrap();
        }
    }
    world.clock.advance(LEASE_MS);
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    for offer in [asked, listed, announced, swept] {
        let order = &offer.checkout.order;
        assert_eq!(
            (world.state(offer).await, told(&world, offer).await),
            (StateName::Succeeded, 1),
            "{order}"
        );
    }
    assert_eq!((world.bank.sends(), world.bank.charges()), (4, 4));
}

async fn fault_47_another_order_is_told_with_each_step_and_not_with_each_look(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    world.bank.lies(Some(Lie::Order));
    let offer = world.paying(&engine, "1").await;
    for _ in 0..3 {
        world.wake(&engine, &offer).await;
    }
    assert_eq!((world.state(&offer).await, told(&world, &offer).await), (StateName::RequiresAction, 1));
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    world.wake(&engine, &offer).await;
    let object = world.bank.objects()[0].id.clone();
    engine.look(&offer.checkout.tenant, offer.intent.id, &object).await.unwrap();
    assert_eq!((world.state(&offer).await, told(&world, &offer).await), (StateName::Succeeded, 2));
}

async fn a_provider_that_names_no_order_tells_nothing_new(world: World) {
    let engine = world.engine();
    world.bank.lies(Some(Lie::NoOrder));
    let offer = world.paying(&engine, "1").await;
    assert_eq!((world.state(&offer).await, told(&world, &offer).await), (StateName::Succeeded, 0));
}

async fn fault_49b_401_is_no_decline(world: World) {
    let engine = world.engine();
    world.bank.next(std::iter::repeat_n(Fault::Unauthorized, 4));
    let offer = world.paying(&engine, "1").await;
    for _ in 0..3 {
        world.wake(&engine, &offer).await;
        assert_eq!(world.state(&offer).await, StateName::Processing);
    }
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// Also mollie/WooCommerce#668: the bank says "expired" about what was paid.
async fn fault_49d_what_was_paid_stays_recorded(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    world.wake(&engine, &offer).await;
    world.bank.moves(offer.intent.id, ObjectStatus::Ended(Ending::Expired { code: "late".into() }));
    world.clock.advance(2 * DAY);
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    engine.expire().await.unwrap();
    assert!(world.journal(&offer).await.contains(&"anomaly: reversed".to_owned()), "it was heard");
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!(world.status(&offer).await, payment::CheckoutStatus::Paid);
}

async fn a_query_that_fails_changes_nothing(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    let before = world.intent(offer.intent.id).await;
    for fault in [
        Fault::LoseRequest,
        Fault::NotFound,
        Fault::BadRequest,
        Fault::Unauthorized,
        Fault::Error500Before,
        Fault::Garbage,
        Fault::RateLimited(Some(MINUTE)),
    ] {
        world.bank.next_query(fault.clone());
        world.wake(&engine, &offer).await;
        let now = world.intent(offer.intent.id).await;
        assert_eq!(now.state, before.state, "{fault:?}");
    }
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    assert!(world.wake(&engine, &offer).await >= MINUTE);
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Succeeded, 1));
}

async fn every_fault_in_a_row_is_one_charge(world: World) {
    let mut engine = world.engine();
    engine.settings.execute_ms = 20 * 60 * MINUTE;
    world.bank.next([
        Fault::NotSent,
        Fault::RateLimited(Some(1)),
        Fault::Unauthorized,
        Fault::NotFound,
        Fault::LoseRequest,
        Fault::Error500Before,
        Fault::BadRequest,
        Fault::LoseAnswer,
        Fault::Error500After,
        Fault::Accepted(1_800),
        Fault::Garbage,
        Fault::BadRequest,
        Fault::NotSent,
    ]);
    let offer = world.paying(&engine, "1").await;
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.bank.sends(), world.bank.objects().len(), world.bank.charges()), (14, 1, 1));
}
