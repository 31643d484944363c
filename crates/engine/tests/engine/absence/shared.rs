//! One listing answers for many operations, and is evidence for each only of what held when it began.

use std::sync::Arc;

use engine::{Driven, Engine, EngineError};
use payment::{Ending, ObjectStatus, OrderId, RefundStatus, StateName, Timestamp};
use tokio::{sync::Notify, task::JoinHandle};

use super::{DEAD_MS, never_arrived};
use crate::{
    bank::{Fault, pending},
    merchant::{tenant, tenant_of},
    review::object_of,
    scenarios,
    world::{EXECUTE_MS, GAP_MS, LEASE_MS, MINUTE, Offer, SECOND, World, create_key, terms},
};

scenarios! {
    fault_49_one_listing_answers_for_all_that_are_unknown,
    a_listing_proves_nothing_of_a_token_that_died_after_it_began,
    a_listing_that_outlives_the_lease_is_evidence_all_the_same,
    the_gap_is_counted_from_the_end_of_a_listing,
    the_gap_is_counted_to_the_beginning_of_a_listing,
    r13_a_listing_whose_reader_died_is_read_again,
    what_another_account_lists_proves_nothing,
    a_listing_that_broke_off_is_not_asked_for_by_each,
    n2_who_is_answered_by_a_kept_listing_is_told_when_the_bank_was_asked,
    n5_a_kept_listing_says_nothing_of_a_payment_that_was_heard_of_since,
}

/// A payment whose request was lost.
async fn lost(world: &World, engine: &Engine, order: &str) -> Offer {
    world.bank.next([Fault::LoseRequest]);
    world.paying(engine, order).await
}

/// All of them are looked at, whatever they wait for.
async fn look_at(world: &World, engine: &Engine, offers: &[&Offer]) {
    world.clock.advance(SECOND);
    for offer in offers {
        world.store.look_now(offer.checkout.tenant.clone(), offer.intent.id).await.unwrap();
    }
    while engine.run_once().await.unwrap() {}
}

async fn absent_since(world: &World, offer: &Offer) -> Option<Timestamp> {
    world.story(offer).await.operation.absent_since
}

/// An engine that waits for the first page of the listing it reads.
async fn in_mid_listing(
    world: &World,
    engine: &Engine,
) -> (Arc<Notify>, JoinHandle<Result<Driven, EngineError>>) {
    let (gate, engine) = (Arc::new(Notify::new()), engine.clone());
    world.bank.listing_waits(Arc::clone(&gate));
    let claim = engine.claim_due(1, Vec::new()).await.unwrap().remove(0);
    let task = tokio::spawn(async move { engine.drive(claim).await });
    while world.bank.reading() == 0 {
        assert!(!task.is_finished(), "it never came to the listing");
        tokio::task::yield_now().await;
    }
    (gate, task)
}

async fn fault_49_one_listing_answers_for_all_that_are_unknown(world: World) {
    let engine = world.engine();
    let mut offers = Vec::new();
    for order in 0..10 {
        offers.push(lost(&world, &engine, &order.to_string()).await);
        world.clock.advance(SECOND);
    }
    world.bank.next([Fault::LoseAnswer]);
    let paid = world.paying(&engine, "paid").await;
    world.clock.advance(DEAD_MS);
    let all: Vec<_> = offers.iter().collect();
    look_at(&world, &engine, &all).await;
    assert_eq!((world.state(&paid).await, world.bank.asked().1), (StateName::Succeeded, 1));
    world.clock.advance(GAP_MS);
    look_at(&world, &engine, &all).await;
    for offer in all {
        assert_eq!(world.state(offer).await, StateName::Canceled, "order {}", offer.checkout.order);
    }
    assert_eq!(world.bank.asked().1, 2);
}

async fn a_listing_proves_nothing_of_a_token_that_died_after_it_began(world: World) {
    let engine = world.engine();
    let first = lost(&world, &engine, "1").await;
    world.clock.advance(MINUTE);
    let second = lost(&world, &engine, "2").await;
    world.clock.advance(DEAD_MS - MINUTE);
    look_at(&world, &engine, &[&first, &second]).await;
    let began = world.clock.now();
    // The second one's is dead now, too, and what was listed is not old yet.
    world.clock.advance(MINUTE);
    look_at(&world, &engine, &[&first, &second]).await;
    assert_eq!(
        (absent_since(&world, &first).await, absent_since(&world, &second).await),
        (Some(began), None)
    );
    assert_eq!(world.bank.asked().1, 1);
    world.clock.advance(GAP_MS - MINUTE);
    look_at(&world, &engine, &[&first, &second]).await;
    assert_eq!(
        (world.state(&first).await, world.state(&second).await),
        (StateName::Canceled, StateName::Confirming)
    );
    assert_eq!(absent_since(&world, &second).await, Some(world.clock.now()));
    world.clock.advance(GAP_MS);
    look_at(&world, &engine, &[&second]).await;
    assert_eq!((world.state(&second).await, world.bank.asked().1), (StateName::Canceled, 3));
}

/// Its reader has lost the lease when it is read; it is not read again for that.
async fn a_listing_that_outlives_the_lease_is_evidence_all_the_same(world: World) {
    let engine = world.engine();
    let offer = never_arrived(&world, &engine).await;
    world.clock.advance(DEAD_MS);
    let (gate, task) = in_mid_listing(&world, &engine).await;
    world.clock.advance(LEASE_MS);
    assert!(engine.run_once().await.unwrap(), "its lease has ended");
    assert_eq!((world.bank.asked().1, absent_since(&world, &offer).await), (0, None), "one reads at a time");
    world.clock.advance(SECOND);
    gate.notify_one();
    task.await.unwrap().unwrap();
    assert_eq!(absent_since(&world, &offer).await, None, "who lost the lease writes nothing");
    assert!(engine.run_once().await.unwrap(), "and lets the next one look at once");
    assert_eq!((world.bank.asked().1, absent_since(&world, &offer).await), (1, Some(world.clock.now())));
    world.wake(&engine, &offer).await;
    assert_eq!((world.bank.asked().1, world.state(&offer).await), (2, StateName::Canceled));
}

/// However long a process slept between its claim and its first question.
async fn the_gap_is_counted_from_the_end_of_a_listing(world: World) {
    let engine = world.engine();
    let offer = never_arrived(&world, &engine).await;
    world.clock.advance(DEAD_MS);
    let (gate, task) = in_mid_listing(&world, &engine).await;
    world.clock.advance(GAP_MS);
    gate.notify_one();
    task.await.unwrap().unwrap();
    let ended = world.clock.now();
    assert_eq!(absent_since(&world, &offer).await, Some(ended));
    world.clock.advance(GAP_MS - 2 * SECOND);
    // Another process, so that nothing is kept.
    look_at(&world, &world.engine(), &[&offer]).await;
    assert_eq!((world.bank.asked().1, world.state(&offer).await), (2, StateName::Confirming));
    look_at(&world, &world.engine(), &[&offer]).await;
    assert_eq!((world.bank.asked().1, world.state(&offer).await), (3, StateName::Canceled));
}

/// However late somebody looks at what another process had listed too soon.
async fn the_gap_is_counted_to_the_beginning_of_a_listing(world: World) {
    let (engine, other) = (world.engine(), world.engine());
    let (first, second) = (lost(&world, &engine, "1").await, lost(&world, &engine, "2").await);
    world.clock.advance(DEAD_MS);
    look_at(&world, &engine, &[&first, &second]).await;
    world.clock.advance(GAP_MS - MINUTE);
    look_at(&world, &other, &[&second]).await;
    world.clock.advance(MINUTE);
    look_at(&world, &other, &[&first, &second]).await;
    for offer in [&first, &second] {
        assert_eq!((world.bank.asked().1, world.state(offer).await), (2, StateName::Confirming));
    }
    world.clock.advance(GAP_MS);
    look_at(&world, &other, &[&first, &second]).await;
    for offer in [&first, &second] {
        assert_eq!((world.bank.asked().1, world.state(offer).await), (3, StateName::Canceled));
    }
}

async fn r13_a_listing_whose_reader_died_is_read_again(world: World) {
    let engine = world.engine();
    let offer = never_arrived(&world, &engine).await;
    world.clock.advance(DEAD_MS);
    let (_gate, task) = in_mid_listing(&world, &engine).await;
    task.abort();
    assert!(task.await.is_err());
    world.wake(&engine, &offer).await;
    assert_eq!((world.bank.asked().1, absent_since(&world, &offer).await), (1, Some(world.clock.now())));
}

async fn what_another_account_lists_proves_nothing(world: World) {
    let engine = world.engine();
    let offer = lost(&world, &engine, "1").await;
    let key = create_key(&tenant_of("mer_2"), "k", "1", "1500.00");
    engine.open_checkout(key, terms("1", "1500.00")).await.unwrap();
    let found = world.store.order(tenant_of("mer_2"), OrderId::parse("1").unwrap()).await.unwrap();
    let (checkout, intent) = found.unwrap();
    world.note(&checkout);
    let theirs = Offer { checkout, intent };
    world.bank.next([Fault::LoseAnswer]);
    world.pay(&engine, &theirs).await;
    world.clock.advance(DEAD_MS);
    look_at(&world, &engine, &[&offer, &theirs]).await;
    assert_eq!(world.bank.asked().1, 2);
    assert_eq!(world.story(&theirs).await.charges.len(), 1);
    assert!(absent_since(&world, &offer).await.is_some());
}

async fn n2_who_is_answered_by_a_kept_listing_is_told_when_the_bank_was_asked(world: World) {
    let engine = world.engine();
    let (first, second) = (lost(&world, &engine, "1").await, lost(&world, &engine, "2").await);
    let looked_at = async |offer: &Offer| world.story(offer).await.operation.looked_at.unwrap();
    world.clock.advance(DEAD_MS);
    let before = looked_at(&second).await;
    let (gate, task) = in_mid_listing(&world, &engine).await;
    let began = world.clock.now();
    world.clock.advance(SECOND);
    assert!(engine.run_once().await.unwrap(), "the other one finds that it is being read");
    gate.notify_one();
    task.await.unwrap().unwrap();
    let times = [looked_at(&first).await, looked_at(&second).await];
    assert!(times.contains(&began) && times.contains(&before), "{times:?}: {began} and {before}");
    world.clock.advance(MINUTE);
    look_at(&world, &engine, &[&first, &second]).await;
    assert_eq!([looked_at(&first).await, looked_at(&second).await], [began; 2]);
    assert_eq!(world.bank.asked().1, 1);
}

/// It shows that the payment ended; the bank changed its mind, support gave the money back, and a notification put it before a person.
async fn n5_a_kept_listing_says_nothing_of_a_payment_that_was_heard_of_since(world: World) {
    let (engine, notified) = (world.engine(), world.engine());
    world.bank.next([Fault::LoseAnswer, Fault::LoseAnswer]);
    world.bank.decides(pending());
    let code = "expired_on_confirmation".to_owned();
    world.bank.decides(ObjectStatus::Ended(Ending::Expired { code }));
    let (other, offer) = (world.paying(&engine, "1").await, world.paying(&engine, "2").await);
    world.clock.advance(EXECUTE_MS);
    // Both are due, and learn nothing; then one of them is looked at.
    world.bank.listing_down(true);
    look_at(&world, &notified, &[]).await;
    world.bank.heal();
    look_at(&world, &engine, &[&other]).await;
    let states = [world.state(&other).await, world.state(&offer).await];
    assert_eq!(states, [StateName::RequiresAction, StateName::Confirming]);
    let read = world.bank.asked().1;

    let object = object_of(&world, &offer);
    world.clock.advance(SECOND);
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    world.bank.gives_back_by_hand(&object, offer.intent.amount, RefundStatus::Succeeded);
    notified.look(&tenant(), offer.intent.id, &object).await.unwrap();
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    look_at(&world, &engine, &[&offer]).await;
    assert_eq!((world.state(&offer).await, world.bank.asked().1), (StateName::NeedsReview, read + 1));
    // What is read anew is kept: it is newer than the word.
    look_at(&world, &engine, &[&offer]).await;
    assert_eq!((world.state(&offer).await, world.bank.asked().1), (StateName::NeedsReview, read + 1));
}

async fn a_listing_that_broke_off_is_not_asked_for_by_each(world: World) {
    let engine = world.engine();
    let offers = [lost(&world, &engine, "1").await, lost(&world, &engine, "2").await];
    world.clock.advance(DEAD_MS);
    world.bank.listing_down(true);
    look_at(&world, &engine, &[&offers[0], &offers[1]]).await;
    world.bank.heal();
    look_at(&world, &engine, &[&offers[0], &offers[1]]).await;
    for offer in &offers {
        assert_eq!((absent_since(&world, offer).await, world.bank.asked().1), (None, 1));
    }
    world.clock.advance(GAP_MS);
    look_at(&world, &engine, &[&offers[0], &offers[1]]).await;
    for offer in &offers {
        assert_eq!((absent_since(&world, offer).await, world.bank.asked().1), (Some(world.clock.now()), 2));
    }
}
