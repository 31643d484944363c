//! After execute-until nothing is sent (R17): what was never executed ends, what is unknown is looked for, then stands before a
//! person, and is still looked for.

use engine::SubmitOutcome;
use payment::{CanceledReason, CheckoutStatus, ReviewReason, State, StateName};

use crate::{
    bank::{Fault, WINDOW_MS},
    merchant::tenant,
    scenarios,
    world::{DAY, EXECUTE_MS, GAP_MS, HOUR, MINUTE, SECOND, World, create_key, fresh, terms},
};

scenarios! {
    r17_what_was_never_executed_ends_not_executed_without_a_listing,
    r17_what_is_unanswered_is_only_looked_for,
    r17_fault_45_what_the_listing_shows_has_succeeded,
    r17_found_on_a_later_page_and_among_strangers,
    r17_a_person_is_called_and_the_search_goes_on,
    r17_the_checkouts_end_and_the_keys_window_cut_it_shorter,
    fault_48_not_found_soon_after_a_timeout_is_still_confirming,
    fault_49_an_hour_without_the_bank,
    fault_66_a_submit_at_the_moment_of_expiry_is_either_never_both,
    paid_after_the_checkouts_time_is_recorded,
}

async fn r17_what_was_never_executed_ends_not_executed_without_a_listing(world: World) {
    let engine = world.engine();
    let start = world.clock.now();
    world.bank.next([Fault::RateLimited(None), Fault::Unauthorized, Fault::NotFound]);
    world.bank.every(Some(Fault::NotSent));
    let offer = world.paying(&engine, "1").await;
    world.settle(&engine).await;
    let state = world.intent(offer.intent.id).await.state;
    assert_eq!(state, State::Canceled { reason: CanceledReason::NotExecuted });
    let took = world.clock.now().since_ms(start);
    assert!((EXECUTE_MS..EXECUTE_MS + 6 * MINUTE).contains(&took), "after {took} ms");
    assert_eq!(world.bank.asked(), (0, 0));
    // Free by evidence: the next one may begin.
    world.bank.heal();
    let (_, next) = world.try_again(&engine, &offer, "again").await;
    assert_eq!(next.intent.previous, Some(offer.intent.id));
    world.pay(&engine, &next).await;
    assert_eq!((world.state(&next).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn r17_what_is_unanswered_is_only_looked_for(world: World) {
    let engine = world.engine();
    world.bank.next(std::iter::repeat_n(Fault::LoseRequest, 100));
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(EXECUTE_MS);
    let sends = world.bank.sends();
    for _ in 0..10 {
        world.wake(&engine, &offer).await;
        assert_eq!(world.state(&offer).await, StateName::Confirming, "not found proves nothing");
    }
    assert_eq!((world.bank.sends(), world.bank.asked().1), (sends, 10));
}

async fn r17_fault_45_what_the_listing_shows_has_succeeded(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.forget_keys();
    world.clock.advance(EXECUTE_MS);
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
    assert!(world.journal(&offer).await.last().unwrap().contains("found in the listing"));
}

async fn r17_found_on_a_later_page_and_among_strangers(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    for order in ["2", "3", "4", "5", "6"] {
        world.clock.advance(MINUTE);
        world.paying(&engine, order).await;
    }
    world.clock.advance(EXECUTE_MS);
    world.wake(&engine, &offer).await;
    assert_eq!(world.bank.asked().1, 3, "six objects on pages of two");
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 6));
}

async fn r17_a_person_is_called_and_the_search_goes_on(world: World) {
    let engine = world.engine();
    world.bank.proves_nothing();
    world.bank.listing_lags(3 * DAY);
    world.bank.next(std::iter::repeat_n(Fault::LoseAnswer, 100));
    let offer = world.paying(&engine, "1").await;
    let first_sent = world.clock.now();
    world.settle(&engine).await;
    let State::NeedsReview { why: ReviewReason::Overdue, since, .. } =
        world.intent(offer.intent.id).await.state
    else {
        panic!("a person is called")
    };
    let took = since.since_ms(first_sent);
    assert!((EXECUTE_MS + DAY..EXECUTE_MS + DAY + 2 * GAP_MS).contains(&took), "after {took} ms");
    let lines = world.journal(&offer).await.len();
    world.wake(&engine, &offer).await;
    assert_eq!(world.journal(&offer).await.len(), lines, "looking without finding leaves no line");
    world.clock.advance(2 * DAY);
    world.wake(&engine, &offer).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

async fn r17_the_checkouts_end_and_the_keys_window_cut_it_shorter(world: World) {
    let mut engine = world.engine();
    let key = create_key(&tenant(), "k", "1", "1500.00");
    let mut short = terms("1", "1500.00");
    short.expires_in_ms = MINUTE;
    fresh(engine.open_checkout(key, short).await.unwrap());
    let offer = world.order("1").await;
    world.clock.advance(10 * SECOND);
    world.bank.next([Fault::NotSent]);
    world.pay(&engine, &offer).await;
    let until = world.story(&offer).await.operation.execute_until;
    assert_eq!(until, Some(offer.checkout.expires_at));
    engine.settings.execute_ms = 100 * HOUR;
    let key = create_key(&tenant(), "k2", "2", "1500.00");
    let mut long = terms("2", "1500.00");
    long.expires_in_ms = 30 * DAY;
    fresh(engine.open_checkout(key, long).await.unwrap());
    let offer = world.order("2").await;
    world.pay(&engine, &offer).await;
    let until = world.story(&offer).await.operation.execute_until;
    assert_eq!(until, Some(world.clock.now().plus_ms(WINDOW_MS)));
}

async fn fault_48_not_found_soon_after_a_timeout_is_still_confirming(world: World) {
    let engine = world.engine();
    world.bank.listing_lags(GAP_MS);
    world.bank.next([Fault::LoseAnswer, Fault::NotFound]);
    let offer = world.paying(&engine, "1").await;
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Confirming, "404 to a later send");
    // A listing that fails, and one that does not show it yet.
    world.clock.advance(EXECUTE_MS);
    world.bank.listing_lags(EXECUTE_MS + 4 * GAP_MS);
    world.bank.listing_down(true);
    world.wake(&engine, &offer).await;
    world.bank.listing_down(false);
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// Every operation settles after it, none doubled, none sent after execute-until (the bank asserts that).
async fn fault_49_an_hour_without_the_bank(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let executed = world.paying(&engine, "executed").await;
    world.bank.every(Some(Fault::NotSent));
    let refused = world.paying(&engine, "refused").await;
    world.bank.every(Some(Fault::Error500Before));
    let vague = world.paying(&engine, "vague").await;
    let start = world.clock.now();
    while world.clock.now().since_ms(start) < HOUR {
        let down = if world.bank.sends().is_multiple_of(2) { Fault::NotSent } else { Fault::NotFound };
        world.bank.every(Some(down));
        world.clock.advance(7 * SECOND);
        while engine.run_once().await.unwrap() {}
    }
    world.bank.heal();
    world.settle(&engine).await;
    assert_eq!(world.state(&executed).await, StateName::Succeeded);
    assert_eq!(world.state(&refused).await, StateName::Canceled);
    let state = world.intent(vague.intent.id).await.state;
    assert_eq!(state, State::Canceled { reason: CanceledReason::Absent }, "not executed, by evidence");
    let late = world.paying(&engine, "late").await;
    assert_eq!((world.state(&late).await, world.bank.charges()), (StateName::Succeeded, 2));
}

async fn fault_66_a_submit_at_the_moment_of_expiry_is_either_never_both(world: World) {
    let engine = world.engine();
    let (just, late) = (world.offer(&engine, "1").await, world.offer(&engine, "2").await);
    world.clock.advance(DAY - 1);
    assert_eq!(engine.expire().await.unwrap(), 0);
    world.bank.next([Fault::NotSent]);
    world.pay(&engine, &just).await;
    world.clock.advance(1);
    let refused = engine.submit(late.submission("tok_1")).await.unwrap();
    assert!(matches!(refused, SubmitOutcome::NotOpen(_)), "expired, whether or not anybody noticed");
    assert_eq!(engine.expire().await.unwrap(), 1);
    assert_eq!(world.state(&late).await, StateName::Expired);
    assert_eq!(
        (world.state(&just).await, world.status(&just).await),
        (StateName::Processing, CheckoutStatus::Open)
    );
    let seen = engine.submit(late.submission("tok_1")).await.unwrap();
    assert!(matches!(seen, SubmitOutcome::Known { answer: None, .. }), "{seen:?}");
    world.settle(&engine).await;
    assert_eq!(world.state(&just).await, StateName::Canceled, "not executed, and its time is over");
    assert_eq!(engine.expire().await.unwrap(), 1);
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 0));
}

/// Also btcpayserver#7545 and PAYONE/magento-1#464: what was sent is ended by the provider's word only.
async fn paid_after_the_checkouts_time_is_recorded(world: World) {
    let engine = world.engine();
    world.bank.decides(crate::bank::pending());
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(DAY + MINUTE);
    assert_eq!(engine.expire().await.unwrap(), 0, "what was sent does not expire");
    world.bank.moves(offer.intent.id, payment::ObjectStatus::Succeeded);
    world.wake(&engine, &offer).await;
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Succeeded, CheckoutStatus::Paid)
    );
}
