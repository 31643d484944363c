//! Money that no intent of ours asked for, in the listing: a stranger, and what it does to the order that it names.

use engine::{Engine, Resolved, Verdict};
use payment::{CheckoutStatus, ObjectId, ObjectStatus, OrderId, StateName};

use super::submits;
use crate::{
    bank::{Fault, pending},
    merchant::tenant_of,
    review::resolve,
    scenarios,
    world::{HOUR, MINUTE, Offer, SECOND, World, claimed},
};

scenarios! {
    fault_23_a_charge_of_an_order_that_the_backup_forgot_blocks_it_until_it_is_released,
    fault_23_a_charge_of_an_order_that_the_backup_forgot_pays_it_when_it_is_linked,
    what_was_there_before_us_is_no_stranger,
    strangers_are_only_what_took_money,
    fault_23_money_that_is_held_for_an_order_blocks_it,
    a_stranger_blocks_its_order_and_no_other,
    a_stranger_that_blocks_for_too_long_lets_it_end_unsent,
    n5_another_object_of_an_intent_takes_the_place_of_none,
}

/// An order that was paid after the backup, and whose shopper pays again.
async fn forgotten_order(world: &World) -> (World, Engine, Offer, ObjectId) {
    let (world, engine, offer) = world.forgets_a_payment(HOUR).await;
    submits(&engine, &offer).await;
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.news, swept.strangers), (true, 0, 1));
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0, "its money may be there already");
    let object = world.bank.objects()[0].id.clone();
    (world, engine, offer, object)
}

async fn fault_23_a_charge_of_an_order_that_the_backup_forgot_blocks_it_until_it_is_released(world: World) {
    let (world, engine, offer, object) = forgotten_order(&world).await;
    let other = world.paying(&engine, "2").await;
    assert_eq!(world.state(&other).await, StateName::Succeeded, "other orders flow");
    let resolved = resolve(&engine, &object, Verdict::NotCharged).await;
    assert!(matches!(resolved, engine::Resolved::Done(_)), "{resolved:?}");
    assert_eq!(world.sends_within(&engine, MINUTE).await, 1);
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn fault_23_a_charge_of_an_order_that_the_backup_forgot_pays_it_when_it_is_linked(world: World) {
    let (world, engine, offer, object) = forgotten_order(&world).await;
    let resolved = resolve(&engine, &object, Verdict::Charged(object.clone())).await;
    assert!(matches!(resolved, engine::Resolved::Done(_)), "{resolved:?}");
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    assert_eq!(world.sends_within(&engine, HOUR).await, 0);
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Canceled, 1));
}

/// A new database on an account with a history, or one that others use, too: nothing made before is ours.
async fn what_was_there_before_us_is_no_stranger(world: World) {
    world.stranger("1");
    world.clock.advance(2 * HOUR);
    let engine = world.engine();
    engine.start().await.unwrap();
    assert_eq!(world.sweeps(&engine).await.strangers, 0);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    world.clock.advance(SECOND);
    world.stranger("2");
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
}

async fn strangers_are_only_what_took_money(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let object = world.stranger("1");
    world.bank.moves_object(&object, pending());
    let offer = world.offer(&engine, "1").await;
    assert_eq!(world.sweeps(&engine).await.strangers, 0);
    world.bank.moves_object(&object, payment::ObjectStatus::Succeeded);
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
    assert_eq!(world.sweeps(&engine).await.strangers, 0, "once");
    submits(&engine, &offer).await;
    assert_eq!(engine.review().await.unwrap().items.len(), 1);
}

/// What is held can be taken at any time, and nobody reads its listing again then.
async fn fault_23_money_that_is_held_for_an_order_blocks_it(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let object = world.stranger("1");
    world.bank.moves_object(&object, ObjectStatus::WaitingForCapture);
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    let link = || resolve(&engine, &object, Verdict::Charged(object.clone()));
    let Resolved::Refused(words) = link().await else { panic!("it took no money yet") };
    assert!(words.contains("took no money"), "{words}");
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    assert!(matches!(link().await, Resolved::Done(_)));
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

async fn a_stranger_blocks_its_order_and_no_other(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    // One waits to be sent again when the stranger is found.
    world.bank.next([Fault::NotSent]);
    let blocked = world.paying(&engine, "1").await;
    world.stranger("1");
    world.sweeps(&engine).await;
    let other = world.paying(&engine, "10").await;
    assert_eq!(world.state(&other).await, StateName::Succeeded);
    assert_eq!(world.sends_within(&engine, 5 * MINUTE).await, 0);
    assert_eq!(world.state(&blocked).await, StateName::Processing);
    // The same order of another merchant is another order.
    let key = crate::world::create_key(&tenant_of("mer_2"), "k", "1", "1500.00");
    engine.open_checkout(key, crate::world::terms("1", "1500.00")).await.unwrap();
    let found = world.store.order(tenant_of("mer_2"), OrderId::parse("1").unwrap()).await.unwrap();
    let (checkout, intent) = found.unwrap();
    let theirs = Offer { checkout, intent };
    claimed(engine.submit(theirs.submission("tok_1")).await.unwrap());
}

async fn a_stranger_that_blocks_for_too_long_lets_it_end_unsent(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.stranger("1");
    world.sweeps(&engine).await;
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Canceled, 0));
    let (_, next) = world.try_again(&engine, &offer, "again").await;
    submits(&engine, &next).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0, "nor its next try");
}

/// The provider forgot a key. What is asked about, captured and refunded is the first object, as before.
async fn n5_another_object_of_an_intent_takes_the_place_of_none(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.forget_keys();
    world.wake(&engine, &offer).await;
    let first = world.story(&offer).await.operation.object;
    assert!(first.is_some());
    assert_eq!(world.sweeps(&engine).await.news, 1);
    assert_eq!(world.story(&offer).await.operation.object, first);
}
