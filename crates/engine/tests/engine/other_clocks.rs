//! The provider dates its objects by its own clock, which may be up to an hour from ours, either way: what a listing is asked for
//! allows for it. Else what took money would be taken for absent.

use engine::{Resolved, Verdict};
use payment::{OperationState, StateName};

use crate::{
    bank::Fault,
    follow_ups::{finish, now, refund, state},
    review::resolve,
    scenarios,
    world::{EXECUTE_MS, HOUR, MINUTE, Offer, TOKEN_LIFE_MS, World},
};

scenarios! {
    r10_a_payment_dated_before_its_own_send_is_found,
    r10_a_payment_dated_long_after_its_token_died_is_found,
    a_refund_dated_before_its_own_send_is_found,
    a_refund_dated_before_its_own_send_contradicts_a_person,
}

/// Almost an hour.
const FAR_MS: i64 = HOUR - MINUTE;

/// Nothing of it is answered, so that the listing alone can tell; and how it ends.
async fn ends(world: &World, offer: &Offer) -> StateName {
    world.settle(&world.engine()).await;
    world.state(offer).await
}

async fn r10_a_payment_dated_before_its_own_send_is_found(world: World) {
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&world.engine(), "1").await;
    world.bank.dates_what_it_made(-FAR_MS);
    world.clock.advance(EXECUTE_MS);
    assert_eq!((ends(&world, &offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// A send that was under way for as long as it can be.
async fn r10_a_payment_dated_long_after_its_token_died_is_found(world: World) {
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&world.engine(), "1").await;
    world.clock.advance(TOKEN_LIFE_MS);
    world.bank.repeat_last();
    world.bank.dates_what_it_made(FAR_MS);
    // It lists by its own clock, too.
    world.bank.listing_lags(-FAR_MS);
    assert_eq!((ends(&world, &offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn a_refund_dated_before_its_own_send_is_found(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(HOUR);
    world.bank.every(Some(Fault::LoseAnswer));
    let operation = refund(&engine, &offer, "500.00").await.id;
    assert!(engine.run_once().await.unwrap());
    world.bank.dates_what_it_made(-FAR_MS);
    // Nothing is sent any more.
    let execute_until = now(&world, &offer, operation).await.execute_until.unwrap();
    world.clock.advance(execute_until.since_ms(world.clock.now()));
    world.bank.every(None);
    assert!(matches!(finish(&world, &engine, &offer, operation).await, OperationState::Succeeded { .. }));
}

async fn a_refund_dated_before_its_own_send_contradicts_a_person(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(HOUR);
    world.bank.every(Some(Fault::LoseAnswer));
    let operation = refund(&engine, &offer, "500.00").await.id;
    finish(&world, &engine, &offer, operation).await;
    world.bank.every(None);
    assert!(matches!(state(&world, &offer, operation).await, OperationState::NeedsReview { .. }));
    world.bank.dates_what_it_made(-FAR_MS);
    world.clock.advance(2 * HOUR);
    let resolved = resolve(&engine, operation, Verdict::NotExecuted).await;
    let Resolved::Refused(words) = resolved else { panic!("{resolved:?}") };
    assert!(words.contains("the listing holds this refund"), "{words}");
}
