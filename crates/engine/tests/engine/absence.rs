//! "Not executed, by evidence": two complete listings, some time apart, both begun when a straggling send could take no money any
//! more. Nothing less ends what is unknown.

mod shared;

use engine::Engine;
use payment::{CanceledReason, CheckoutStatus, State, StateName};

use crate::{
    bank::Fault,
    scenarios,
    world::{
        DAY, EXECUTE_MS, GAP_MS, HOUR, MINUTE, Offer, SECOND, TOKEN_LIFE_MS, TOKEN_MARGIN_MS, World, claimed,
    },
};

scenarios! {
    r10_two_listings_end_what_was_never_executed,
    r10_one_listing_ends_nothing,
    a_listing_before_the_tokens_death_is_no_evidence,
    an_incomplete_listing_is_no_evidence,
    a_listing_beyond_the_page_limit_is_no_evidence,
    what_only_the_second_listing_shows_is_taken,
    while_it_may_still_be_sent_no_listing_is_evidence,
    where_listings_prove_nothing_a_person_is_called,
    fault_48_not_found_proves_nothing,
    fault_47_what_was_seen_with_a_wrong_name_is_not_absent,
    fault_49_none_of_many_is_doubled_and_all_settle,
    fault_45_a_dead_key_is_not_sent_with,
    r13_a_kill_between_the_listings_costs_nothing,
    absence_frees_the_order_for_another_try,
    a_straggler_after_all_is_found_by_the_sweep,
}

const DEAD_MS: i64 = TOKEN_LIFE_MS + TOKEN_MARGIN_MS;

/// A payment whose every send was lost on the way there, at the moment of its execute-until.
async fn never_arrived(world: &World, engine: &Engine) -> Offer {
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(engine, "1").await;
    world.clock.advance(EXECUTE_MS);
    offer
}

/// Works until `until_ms` after the first send.
async fn work_until(world: &World, engine: &Engine, until_ms: i64) {
    while world.clock.now().since_ms(world.began) < until_ms {
        world.clock.advance(SECOND * 10);
        engine.run_once().await.unwrap();
    }
}

async fn r10_two_listings_end_what_was_never_executed(world: World) {
    let engine = world.engine();
    let offer = never_arrived(&world, &engine).await;
    world.settle(&engine).await;
    let state = world.intent(offer.intent.id).await.state;
    assert_eq!(state, State::Canceled { reason: CanceledReason::Absent });
    let took = world.clock.now().since_ms(world.began);
    assert!((DEAD_MS + GAP_MS..DEAD_MS + 3 * GAP_MS).contains(&took), "after {took} ms");
    assert_eq!((world.bank.sends(), world.bank.asked().0), (1, 0));
    assert!(
        world.journal(&offer).await.last().unwrap().starts_with("absent: no object of it in the listings")
    );
}

async fn r10_one_listing_ends_nothing(world: World) {
    let engine = world.engine();
    let offer = never_arrived(&world, &engine).await;
    world.clock.advance(DEAD_MS);
    world.wake(&engine, &offer).await;
    let first = world.story(&offer).await.operation.absent_since;
    assert_eq!(first, Some(world.clock.now()));
    // However often it is asked within the gap, by whomever.
    for _ in 0..5 {
        world.clock.advance(GAP_MS / 6);
        world.store.look_now(offer.checkout.tenant.clone(), offer.intent.id).await.unwrap();
        world.engine().run_once().await.unwrap();
        assert_eq!(world.state(&offer).await, StateName::Confirming);
        assert_eq!(world.story(&offer).await.operation.absent_since, first);
    }
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Canceled);
}

async fn a_listing_before_the_tokens_death_is_no_evidence(world: World) {
    let engine = world.engine();
    let offer = never_arrived(&world, &engine).await;
    while world.clock.now().since_ms(world.began) < DEAD_MS {
        assert_eq!(world.story(&offer).await.operation.absent_since, None);
        assert_eq!(world.state(&offer).await, StateName::Confirming);
        world.wake(&engine, &offer).await;
    }
    // The first that counts was begun after it, however many were before.
    let since = world.story(&offer).await.operation.absent_since.unwrap();
    assert!(since.since_ms(world.began) >= DEAD_MS);
    assert_eq!(world.state(&offer).await, StateName::Confirming);
}

async fn an_incomplete_listing_is_no_evidence(world: World) {
    let engine = world.engine();
    for order in ["2", "3", "4"] {
        world.paying(&engine, order).await;
    }
    let offer = never_arrived(&world, &engine).await;
    world.clock.advance(DEAD_MS);
    for incomplete in 0..3 {
        world.bank.heal();
        match incomplete {
            0 => world.bank.listing_down(true),
            1 => world.bank.listing(|listing| listing.breaks_after = Some(1)),
            _ => world.bank.listing(|listing| listing.unreadable = 1),
        }
        for _ in 0..4 {
            world.wake(&engine, &offer).await;
            assert_eq!(world.state(&offer).await, StateName::Confirming, "{incomplete}");
            assert_eq!(world.story(&offer).await.operation.absent_since, None, "{incomplete}");
        }
    }
    world.bank.heal();
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::Canceled);
}

async fn a_listing_beyond_the_page_limit_is_no_evidence(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    world.bank.next([Fault::LoseRequest]);
    world.pay(&engine, &offer).await;
    for _ in 0..501 {
        world.bank.stranger_pays(
            crate::merchant::ACCOUNT,
            &payment::OrderId::parse("other").unwrap(),
            crate::world::rub("1.00"),
        );
    }
    world.bank.listing(|listing| listing.page = 1);
    world.clock.advance(DEAD_MS);
    for _ in 0..3 {
        world.wake(&engine, &offer).await;
        assert_eq!(world.state(&offer).await, StateName::Confirming);
    }
    assert_eq!(world.bank.asked().1, 3 * 500, "it ends somewhere");
    world.bank.listing(|listing| listing.page = 100);
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::Canceled);
}

async fn what_only_the_second_listing_shows_is_taken(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.listing_lags(DEAD_MS + GAP_MS);
    world.clock.advance(DEAD_MS);
    world.wake(&engine, &offer).await;
    assert!(world.story(&offer).await.operation.absent_since.is_some());
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.wake(&engine, &offer).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
    assert_eq!(world.story(&offer).await.operation.absent_since, None);
}

/// It waits at the gate, and is looked for meanwhile.
async fn while_it_may_still_be_sent_no_listing_is_evidence(world: World) {
    let mut engine = world.engine();
    engine.settings.execute_ms = 3 * HOUR;
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(GAP_MS);
    assert!(engine.start().await.unwrap(), "the gate is down");
    work_until(&world, &engine, DEAD_MS + 6 * GAP_MS).await;
    assert!(world.bank.asked().1 > 10);
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    assert_eq!(world.story(&offer).await.operation.absent_since, None);
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Succeeded, 2));
}

/// Also where a provider has no dead tokens.
async fn where_listings_prove_nothing_a_person_is_called(world: World) {
    let engine = world.engine();
    world.bank.proves_nothing();
    let offer = never_arrived(&world, &engine).await;
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    let took = world.clock.now().since_ms(world.began);
    assert!((DAY + EXECUTE_MS..DAY + HOUR).contains(&took), "after {took} ms");
    assert_eq!(world.bank.sends(), 1);
}

async fn fault_48_not_found_proves_nothing(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer, Fault::NotFound, Fault::NotFound, Fault::NotFound]);
    let offer = world.paying(&engine, "1").await;
    for _ in 0..3 {
        world.wake(&engine, &offer).await;
        assert_eq!(world.state(&offer).await, StateName::Confirming, "404 to a later send");
    }
    // An object that was known, and is not found any more.
    world.bank.decides(crate::bank::pending());
    let waiting = world.paying(&engine, "2").await;
    for _ in 0..20 {
        world.bank.next_query(Fault::NotFound);
        world.wake(&engine, &waiting).await;
    }
    assert_eq!(world.state(&waiting).await, StateName::RequiresAction);
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// The bank lists it under nobody's name, and once showed it: no listing proves that it is not ours.
async fn fault_47_what_was_seen_with_a_wrong_name_is_not_absent(world: World) {
    let engine = world.engine();
    world.bank.decides(crate::bank::pending());
    world.bank.lies(Some(crate::bank::Lie::Owner));
    let offer = world.paying(&engine, "1").await;
    // Later silence, and a rejection, do not take it back.
    world.bank.next([Fault::BadRequest]);
    world.bank.next(std::iter::repeat_n(Fault::LoseRequest, 100));
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::NeedsReview, "never absent");
    for _ in 0..5 {
        world.wake(&engine, &offer).await;
    }
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
}

/// None is sent after execute-until: the bank asserts that at each arrival.
async fn fault_49_none_of_many_is_doubled_and_all_settle(world: World) {
    let engine = world.engine();
    let faults = [
        Fault::LoseRequest,
        Fault::LoseAnswer,
        Fault::Error500Before,
        Fault::Error500After,
        Fault::NotSent,
        Fault::Garbage,
        Fault::Accepted(MINUTE),
        Fault::RateLimited(Some(MINUTE)),
    ];
    let mut offers = Vec::new();
    for (number, fault) in faults.iter().enumerate() {
        world.bank.every(Some(fault.clone()));
        offers.push(world.paying(&engine, &format!("order-{number}")).await);
    }
    world.bank.every(Some(Fault::NotSent));
    work_until(&world, &engine, HOUR).await;
    world.bank.heal();
    world.settle(&engine).await;
    let mut paid = 0;
    for offer in &offers {
        let state = world.intent(offer.intent.id).await.state;
        let taken = world.bank.objects().iter().filter(|object| object.intent == offer.intent.id).count();
        let not_executed =
            matches!(state, State::Canceled { reason: CanceledReason::Absent | CanceledReason::NotExecuted });
        let settled = not_executed || matches!(state, State::Succeeded { .. });
        assert!(settled, "{} has not settled: {state:?}", offer.checkout.order);
        assert_eq!(taken, usize::from(!not_executed), "{}", offer.checkout.order);
        paid += taken;
    }
    assert_eq!((paid, world.bank.charges()), (4, 4));
}

async fn fault_45_a_dead_key_is_not_sent_with(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(EXECUTE_MS);
    world.bank.forget_keys();
    world.bank.listing_down(true);
    work_until(&world, &engine, 25 * HOUR).await;
    assert_eq!((world.bank.sends(), world.state(&offer).await), (1, StateName::NeedsReview));
    world.bank.heal();
    world.wake(&engine, &offer).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

async fn r13_a_kill_between_the_listings_costs_nothing(world: World) {
    let engine = world.engine();
    let offer = never_arrived(&world, &engine).await;
    world.clock.advance(DEAD_MS);
    world.wake(&engine, &offer).await;
    let since = world.story(&offer).await.operation.absent_since;
    // The next holder dies; the one after it has the first one's evidence.
    world.clock.advance(GAP_MS);
    drop(world.engine().claim_due(1, Vec::new()).await.unwrap());
    assert_eq!(world.story(&offer).await.operation.absent_since, since);
    world.wake(&world.engine(), &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Canceled);
}

async fn absence_frees_the_order_for_another_try(world: World) {
    let engine = world.engine();
    let offer = never_arrived(&world, &engine).await;
    let (_, same) = world.try_again(&engine, &offer, "too-early").await;
    assert_eq!(same.intent.id, offer.intent.id, "what is unknown occupies");
    world.settle(&engine).await;
    let (_, next) = world.try_again(&engine, &offer, "again").await;
    assert_eq!(next.intent.previous, Some(offer.intent.id));
    let claim = claimed(engine.submit(next.submission("tok_2")).await.unwrap());
    engine.drive(claim).await.unwrap();
    assert_eq!((world.status(&next).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

/// The bank breaks its word: money turns up all the same. It pays the order, and somebody is told.
async fn a_straggler_after_all_is_found_by_the_sweep(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.breaks_its_word();
    world.bank.listing_lags(DAY);
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(EXECUTE_MS);
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::Canceled);
    world.clock.advance(DAY);
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Canceled, CheckoutStatus::Paid)
    );
    assert!(world.journal(&offer).await.contains(&"anomaly: paid_after_end".to_owned()));
}
