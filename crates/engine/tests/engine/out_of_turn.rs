//! A look that was not due: it leaves what was planned, and is no sooner than the provider wants to be asked (R15).

use engine::{Looked, Verdict};
use payment::StateName;

use crate::{
    bank::{Fault, pending},
    follow_ups::{finish, now, refund},
    merchant::tenant,
    review::{object_of, refused},
    scenarios,
    world::{EXECUTE_MS, MINUTE, Offer, SECOND, World},
};

scenarios! {
    a_look_for_a_notification_leaves_the_plan,
    a_persons_word_that_is_refused_leaves_the_plan,
    r15_a_shoppers_wish_is_no_sooner_than_the_provider_wants,
    n2_between_two_listings_a_shoppers_wish_is_heard,
}

async fn wake_in_ms(world: &World, offer: &Offer) -> i64 {
    world.story(offer).await.operation.wake_at.unwrap().since_ms(world.clock.now())
}

async fn a_look_for_a_notification_leaves_the_plan(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    for _ in 0..5 {
        world.wake(&engine, &offer).await;
    }
    let planned = world.story(&offer).await.operation.wake_at;
    world.clock.advance(SECOND);
    let looked = engine.look(&tenant(), offer.intent.id, &object_of(&world, &offer)).await.unwrap();
    assert!(matches!(looked, Looked::Saw(_)), "{looked:?}");
    assert_eq!(world.story(&offer).await.operation.wake_at, planned);
}

async fn a_persons_word_that_is_refused_leaves_the_plan(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.bank.every(Some(Fault::LoseRequest));
    let id = refund(&engine, &offer, "500.00").await.id;
    finish(&world, &engine, &offer, id).await;
    world.bank.every(None);
    let planned = now(&world, &offer, id).await.wake_at;
    world.clock.advance(SECOND);
    refused(&world, &offer, id, Verdict::NotExecuted, "could still be executed").await;
    assert_eq!(now(&world, &offer, id).await.wake_at, planned);
}

async fn r15_a_shoppers_wish_is_no_sooner_than_the_provider_wants(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    world.bank.next_query(Fault::RateLimited(Some(MINUTE)));
    world.wake(&engine, &offer).await;
    engine.check_now(&tenant(), offer.intent.id).await.unwrap();
    assert_eq!(wake_in_ms(&world, &offer).await, MINUTE);
    // Somebody who looked meanwhile did not make the provider forget it.
    engine.look(&tenant(), offer.intent.id, &object_of(&world, &offer)).await.unwrap();
    engine.check_now(&tenant(), offer.intent.id).await.unwrap();
    assert_eq!(wake_in_ms(&world, &offer).await, MINUTE);
}

/// They are some time apart because two of them prove something, not because the provider asked for it.
async fn n2_between_two_listings_a_shoppers_wish_is_heard(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(EXECUTE_MS);
    world.wake(&engine, &offer).await;
    assert!(wake_in_ms(&world, &offer).await >= MINUTE);
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    engine.check_now(&tenant(), offer.intent.id).await.unwrap();
    assert_eq!(wake_in_ms(&world, &offer).await, SECOND);
}
