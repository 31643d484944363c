//! A payment of others for an order of ours that was made long before it is paid: no listing of what was made reaches back to it, and the
//! listing of what took money shows it.

use engine::{Engine, Swept};
use payment::{CheckoutStatus, ObjectId, ObjectStatus, OrderId};
use store::ReviewItem;

use super::submits;
use crate::{
    bank::pending,
    merchant::{ACCOUNT, merchant, secret_of, tenant_of},
    scenarios,
    world::{HOUR, MINUTE, World},
};

scenarios! {
    n5_fault_54_money_of_others_that_was_taken_late_holds_its_order,
    n5_what_was_held_and_is_taken_late_in_the_dashboard_pays_its_order,
    fault_54_what_was_there_before_us_is_no_stranger_when_it_is_taken,
    fault_54_another_merchants_payment_is_none_of_ours_when_it_is_taken_late,
    what_was_made_since_is_read_once,
}

/// Others make a payment for the order "1", which waits for hours.
async fn waits_long(world: &World) -> (Engine, ObjectId) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let object = world.bank.stranger_waits(ACCOUNT, &OrderId::parse("1").unwrap(), pending());
    for _ in 0..3 {
        world.clock.advance(2 * HOUR);
        world.sweeps(&engine).await;
    }
    (engine, object)
}

async fn strangers(engine: &Engine) -> Vec<(ObjectId, bool)> {
    let items = engine.review().await.unwrap().items.into_iter();
    items
        .map(|item| match item {
            ReviewItem::Stranger(found) => (found.object.clone(), found.took_money),
            other @ (ReviewItem::Operation { .. } | ReviewItem::Extra(_)) => panic!("{other:?}"),
        })
        .collect()
}

async fn n5_fault_54_money_of_others_that_was_taken_late_holds_its_order(world: World) {
    let (engine, object) = waits_long(&world).await;
    assert_eq!(strangers(&engine).await, []);
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    for _ in 0..2 {
        world.sweeps(&engine).await;
        assert_eq!(strangers(&engine).await, [(object.clone(), true)]);
    }
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    assert_eq!((world.sends_within(&engine, MINUTE).await, world.bank.charges()), (0, 1));
}

async fn n5_what_was_held_and_is_taken_late_in_the_dashboard_pays_its_order(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(ObjectStatus::WaitingForCapture);
    let offer = world.paying(&engine, "1").await;
    for _ in 0..3 {
        world.clock.advance(2 * HOUR);
        world.sweeps(&engine).await;
    }
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    assert_eq!(world.sweeps(&engine).await.news, 1);
    assert_eq!(
        (world.status(&offer).await, world.story(&offer).await.charges.len()),
        (CheckoutStatus::Paid, 1)
    );
}

async fn fault_54_what_was_there_before_us_is_no_stranger_when_it_is_taken(world: World) {
    let object = world.bank.stranger_waits(ACCOUNT, &OrderId::parse("1").unwrap(), pending());
    world.clock.advance(2 * HOUR);
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    world.sweeps(&engine).await;
    assert_eq!(strangers(&engine).await, []);
}

async fn fault_54_another_merchants_payment_is_none_of_ours_when_it_is_taken_late(world: World) {
    let theirs = merchant(tenant_of("mer_2"), ACCOUNT, &secret_of(ACCOUNT), &world.vault);
    world.writes_down(theirs.clone()).await;
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(2 * HOUR);
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    engine.sweep_merchant(&theirs).await.unwrap();
    assert_eq!(strangers(&engine).await, []);
}

async fn what_was_made_since_is_read_once(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.paying(&engine, "1").await;
    assert_eq!(world.sweeps(&engine).await, Swept { read: 1, complete: true, ..Swept::default() });
}
