//! A payment of others for an order of ours, made long before it is paid: no listing reaches back to it, and the provider's notification
//! is what tells of it.

use engine::Engine;
use payment::{ObjectId, ObjectStatus, OrderId, StateName};
use store::ReviewItem;

use super::submits;
use crate::{
    bank::{Fault, pending},
    merchant::{ACCOUNT, OTHER_ACCOUNT, merchant, secret_of, tenant, tenant_of},
    scenarios,
    world::{HOUR, MINUTE, World},
};

scenarios! {
    fault_54_money_of_others_for_an_order_that_was_paid_late_is_met_when_it_is_announced,
    fault_54_money_of_others_that_is_held_late_is_met_when_it_is_announced,
    fault_54_what_names_an_intent_is_its_own_although_the_notification_does_not_say_so,
    fault_54_what_a_silent_bank_does_not_show_is_asked_about_again,
    fault_54_what_was_there_before_us_is_no_stranger_when_it_is_announced,
    fault_54_another_merchants_payment_is_none_of_ours_when_it_is_announced,
    fault_54_made_up_ones_are_asked_about_within_a_merchants_share,
    fault_54_an_account_that_was_left_is_not_asked,
}

/// Others made a payment for the order "1" long ago, and it is paid now.
async fn paid_late(world: &World, status: ObjectStatus) -> (Engine, ObjectId) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let object = world.bank.stranger_waits(ACCOUNT, &OrderId::parse("1").unwrap(), pending());
    for _ in 0..3 {
        world.clock.advance(2 * HOUR);
        world.sweeps(&engine).await;
    }
    world.bank.moves_object(&object, status);
    world.sweeps(&engine).await;
    assert_eq!(strangers(&engine).await, [], "no listing reaches back to it");
    (engine, object)
}

async fn strangers(engine: &Engine) -> Vec<(ObjectId, bool)> {
    let items = engine.review().await.unwrap().items.into_iter();
    items
        .map(|item| {
            let ReviewItem::Stranger(found) = item else { panic!("{item:?}") };
            (found.object.clone(), found.took_money)
        })
        .collect()
}

async fn fault_54_money_of_others_for_an_order_that_was_paid_late_is_met_when_it_is_announced(world: World) {
    let (engine, object) = paid_late(&world, ObjectStatus::Succeeded).await;
    world.hears(object.as_str(), "succeeded", None).await;
    engine.work_inbox(10).await.unwrap();
    world.is_done(object.as_str(), "succeeded").await;
    assert_eq!(strangers(&engine).await, [(object, true)]);
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    assert_eq!((world.sends_within(&engine, MINUTE).await, world.bank.charges()), (0, 1));
}

async fn fault_54_money_of_others_that_is_held_late_is_met_when_it_is_announced(world: World) {
    let (engine, object) = paid_late(&world, ObjectStatus::WaitingForCapture).await;
    world.hears(object.as_str(), "waiting_for_capture", None).await;
    engine.work_inbox(10).await.unwrap();
    world.is_done(object.as_str(), "waiting_for_capture").await;
    assert_eq!(strangers(&engine).await, [(object, false)]);
}

async fn fault_54_what_names_an_intent_is_its_own_although_the_notification_does_not_say_so(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.hears("object-0", "succeeded", None).await;
    engine.work_inbox(10).await.unwrap();
    world.is_done("object-0", "succeeded").await;
    assert_eq!((world.state(&offer).await, strangers(&engine).await), (StateName::Succeeded, vec![]));
}

async fn fault_54_what_a_silent_bank_does_not_show_is_asked_about_again(world: World) {
    let (engine, object) = paid_late(&world, ObjectStatus::Succeeded).await;
    world.bank.next_query(Fault::LoseRequest);
    world.hears(object.as_str(), "succeeded", None).await;
    engine.work_inbox(10).await.unwrap();
    world.is_parked(object.as_str(), "succeeded").await;
    world.wake_notice(&engine, object.as_str(), "succeeded").await;
    assert_eq!(strangers(&engine).await, [(object, true)]);
}

async fn fault_54_what_was_there_before_us_is_no_stranger_when_it_is_announced(world: World) {
    let object = world.stranger("1");
    world.clock.advance(2 * HOUR);
    let engine = world.engine();
    engine.start().await.unwrap();
    world.hears(object.as_str(), "succeeded", None).await;
    engine.work_inbox(10).await.unwrap();
    world.is_done(object.as_str(), "succeeded").await;
    assert_eq!(strangers(&engine).await, []);
}

async fn fault_54_another_merchants_payment_is_none_of_ours_when_it_is_announced(world: World) {
    world.writes_down(merchant(tenant_of("mer_2"), ACCOUNT, &secret_of(ACCOUNT), &world.vault)).await;
    let engine = world.engine();
    engine.start().await.unwrap();
    world.paying(&engine, "1").await;
    let body = b"event=payment.succeeded\nobject=object-0\nstatus=succeeded\nintent=\n";
    world.hears_as(&tenant_of("mer_2"), body).await;
    engine.work_inbox(10).await.unwrap();
    assert_eq!((strangers(&engine).await, world.bank.asked().0), (vec![], 1));
}

/// They neither wake a bank up nor take another merchant's share; and the true one among them is asked about a minute later.
async fn fault_54_made_up_ones_are_asked_about_within_a_merchants_share(world: World) {
    let (engine, object) = paid_late(&world, ObjectStatus::Succeeded).await;
    for number in 0..200 {
        world.hears(&format!("made-up-{number}"), "succeeded", None).await;
    }
    let before = world.bank.asked().0;
    while engine.work_inbox(100).await.unwrap() > 0 {}
    assert_eq!(world.bank.asked().0 - before, 60);
    world.hears(object.as_str(), "succeeded", None).await;
    engine.work_inbox(1).await.unwrap();
    world.is_parked(object.as_str(), "succeeded").await;
    let body = b"event=payment.succeeded\nobject=theirs\nstatus=succeeded\nintent=\n";
    world.hears_as(&tenant_of("mer_2"), body).await;
    engine.work_inbox(1).await.unwrap();
    assert_eq!(world.bank.asked().0 - before, 61, "another merchant's");
    world.clock.advance(MINUTE);
    world.hears(object.as_str(), "succeeded", None).await;
    while engine.work_inbox(500).await.unwrap() > 0 {}
    assert_eq!(world.bank.asked().0 - before, 121);
    for _ in 0..10 {
        world.clock.advance(MINUTE);
        while engine.work_inbox(500).await.unwrap() > 0 {}
    }
    assert_eq!(strangers(&engine).await, [(object, true)]);
}

async fn fault_54_an_account_that_was_left_is_not_asked(world: World) {
    let (engine, object) = paid_late(&world, ObjectStatus::Succeeded).await;
    world.hears(object.as_str(), "succeeded", None).await;
    world.writes_down(merchant(tenant(), OTHER_ACCOUNT, &secret_of(OTHER_ACCOUNT), &world.vault)).await;
    let before = world.bank.asked().0;
    engine.work_inbox(10).await.unwrap();
    world.is_parked(object.as_str(), "succeeded").await;
    assert_eq!(world.bank.asked().0, before);
}
