//! Money that is held for an intent of ours that does not wait for it: it can be taken long after its listing was read for the last
//! time, so it is asked about until it ends, and its order takes no other payment meanwhile.

use engine::{Engine, Resolved, Verdict};
use payment::{CheckoutStatus, Ending, Holder, ObjectId, ObjectStatus, OrderId, RefundStatus, StateName};
use store::{ClaimLook, LookOf, Looking, ReviewItem, StrangerRecord};

use super::submits;
use crate::{
    bank::{Lie, pending},
    merchant::tenant,
    review::resolve,
    scenarios,
    world::{HOUR, LEASE_MS, MINUTE, Offer, World, rub},
};

scenarios! {
    n5_money_held_for_an_intent_that_is_over_holds_its_order_until_it_ends,
    n5_money_held_for_an_intent_that_is_over_pays_its_order_once,
    n5_fault_49d_what_was_canceled_and_is_held_again_holds_its_order_and_pays_it,
    n5_a_second_object_that_was_held_and_is_taken_long_after_is_an_extra,
    n5_a_second_object_that_is_held_is_kept_while_the_first_one_waits,
    n5_a_notification_of_held_money_puts_it_before_a_person,
    n5_what_is_held_is_its_intents_order_whatever_is_written_on_it,
    n5_of_what_was_held_a_part_is_taken_and_a_person_ends_it,
    n5_what_is_taken_while_somebody_is_at_work_on_its_intent_is_counted_later,
    what_an_intent_waits_for_is_its_own,
}

fn declined() -> ObjectStatus {
    ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() })
}

fn released() -> ObjectStatus {
    ObjectStatus::Ended(Ending::Canceled { code: "expired_on_capture".into() })
}

/// What the bank made of the first request; then it forgets the key, and a repeat makes an object that holds the money.
async fn held(world: &World, first: ObjectStatus) -> (Engine, Offer, ObjectId) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(first);
    let offer = world.paying(&engine, "1").await;
    world.bank.forget_keys();
    world.bank.decides(ObjectStatus::WaitingForCapture);
    world.bank.repeat_last();
    (engine, offer, world.bank.objects()[1].id.clone())
}

async fn items(engine: &Engine) -> Vec<ReviewItem> {
    engine.review().await.unwrap().items
}

/// The one stranger that waits for a person.
async fn waits(engine: &Engine) -> StrangerRecord {
    match &items(engine).await[..] {
        [ReviewItem::Stranger(found)] => StrangerRecord::clone(found),
        others => panic!("{others:?}"),
    }
}

/// The charges of an offer's intents, by object.
async fn charged(world: &World, offer: &Offer) -> Vec<ObjectId> {
    world.story(offer).await.charges.into_iter().map(|charge| charge.object).collect()
}

/// The shopper is offered to pay again, and does.
async fn pays_again(world: &World, engine: &Engine, offer: &Offer) -> Offer {
    let (_, next) = world.try_again(engine, offer, "again").await;
    submits(engine, &next).await;
    next
}

async fn n5_money_held_for_an_intent_that_is_over_holds_its_order_until_it_ends(world: World) {
    let (engine, offer, object) = held(&world, declined()).await;
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
    assert_eq!(
        (waits(&engine).await.object, world.state(&offer).await),
        (object.clone(), StateName::Declined)
    );
    let next = pays_again(&world, &engine, &offer).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0, "its money is held");
    let Resolved::Refused(words) = resolve(&engine, &object, Verdict::NotCharged).await else {
        panic!("it can still be taken")
    };
    assert!(words.contains("it may still take money"), "{words}");
    world.bank.moves_object(&object, released());
    assert_eq!(world.sweeps(&engine).await.strangers, 0, "once");
    assert_eq!(items(&engine).await, []);
    assert_eq!(world.sends_within(&engine, MINUTE).await, 1);
    assert_eq!((world.state(&next).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn n5_money_held_for_an_intent_that_is_over_pays_its_order_once(world: World) {
    let (engine, offer, object) = held(&world, declined()).await;
    world.sweeps(&engine).await;
    pays_again(&world, &engine, &offer).await;
    for _ in 0..3 {
        world.clock.advance(2 * HOUR);
        world.sweeps(&engine).await;
    }
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    let Resolved::Refused(words) = resolve(&engine, &object, Verdict::NotCharged).await else {
        panic!("it took the money that its intent asked for")
    };
    assert!(words.contains("counted for its order"), "{words}");
    world.sweeps(&engine).await;
    assert_eq!((items(&engine).await, world.status(&offer).await), (vec![], CheckoutStatus::Paid));
    assert_eq!(world.sends_within(&engine, HOUR).await, 0);
    assert_eq!((charged(&world, &offer).await, world.bank.charges()), (vec![object], 1));
}

async fn n5_fault_49d_what_was_canceled_and_is_held_again_holds_its_order_and_pays_it(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(declined());
    let offer = world.paying(&engine, "1").await;
    let object = world.bank.objects()[0].id.clone();
    world.bank.moves_object(&object, ObjectStatus::WaitingForCapture);
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
    pays_again(&world, &engine, &offer).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    world.sweeps(&engine).await;
    assert_eq!((items(&engine).await, world.status(&offer).await), (vec![], CheckoutStatus::Paid));
    assert_eq!((charged(&world, &offer).await, world.sends_within(&engine, HOUR).await), (vec![object], 0));
}

async fn n5_a_second_object_that_was_held_and_is_taken_long_after_is_an_extra(world: World) {
    let (engine, offer, object) = held(&world, ObjectStatus::Succeeded).await;
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
    assert_eq!(waits(&engine).await.object, object);
    for _ in 0..3 {
        world.clock.advance(2 * HOUR);
        world.sweeps(&engine).await;
    }
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    for _ in 0..2 {
        world.sweeps(&engine).await;
        assert!(matches!(&items(&engine).await[..], [ReviewItem::Extra(..)]), "{:?}", items(&engine).await);
    }
    assert_eq!(charged(&world, &offer).await.len(), 2);
}

async fn n5_a_second_object_that_is_held_is_kept_while_the_first_one_waits(world: World) {
    let (engine, offer, object) = held(&world, pending()).await;
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
    assert_eq!((waits(&engine).await.object, world.state(&offer).await), (object, StateName::RequiresAction));
}

async fn n5_a_notification_of_held_money_puts_it_before_a_person(world: World) {
    let (engine, offer, object) = held(&world, declined()).await;
    world.hears(object.as_str(), "waiting_for_capture", Some(offer.intent.id)).await;
    engine.work_inbox(10).await.unwrap();
    assert_eq!(waits(&engine).await.object, object);
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    world.hears(object.as_str(), "succeeded", Some(offer.intent.id)).await;
    engine.work_inbox(10).await.unwrap();
    assert_eq!(
        (charged(&world, &offer).await, world.status(&offer).await),
        (vec![object], CheckoutStatus::Paid)
    );
    // It is told once, and the next sweep knows it, long after its listing was read for the last time.
    world.clock.advance(5 * HOUR);
    world.sweeps(&engine).await;
    assert_eq!((items(&engine).await, charged(&world, &offer).await.len()), (vec![], 1));
}

async fn n5_what_is_held_is_its_intents_order_whatever_is_written_on_it(world: World) {
    for (lie, by_notice) in [(Lie::Order, false), (Lie::NoOrder, false), (Lie::NoOrder, true)] {
        let world = World::new_in_memory().await;
        let (engine, offer, object) = held(&world, declined()).await;
        world.bank.lies(Some(lie));
        if by_notice {
            world.hears(object.as_str(), "waiting_for_capture", Some(offer.intent.id)).await;
            engine.work_inbox(10).await.unwrap();
        } else {
            world.sweeps(&engine).await;
        }
        assert_eq!(waits(&engine).await.order, OrderId::parse("1").ok(), "{lie:?}");
    }
    drop(world);
}

async fn n5_of_what_was_held_a_part_is_taken_and_a_person_ends_it(world: World) {
    let (engine, offer, object) = held(&world, declined()).await;
    world.sweeps(&engine).await;
    world.clock.advance(5 * HOUR);
    world.sweeps(&engine).await;
    world.bank.takes_part(&object, rub("700.00"));
    world.sweeps(&engine).await;
    let found = waits(&engine).await;
    assert_eq!((found.took_money, found.amount), (true, rub("700.00")));
    let Resolved::Refused(words) = resolve(&engine, &object, Verdict::Charged(object.clone())).await else {
        panic!("a part does not pay the order")
    };
    assert!(words.contains("700.00 RUB was taken"), "{words}");
    world.bank.gives_back_by_hand(&object, rub("700.00"), RefundStatus::Succeeded);
    let Resolved::Refused(words) = resolve(&engine, &object, Verdict::NotCharged).await else {
        panic!("he may speak of what was held")
    };
    assert!(words.contains("it took 700.00 RUB after it was found"), "{words}");
    let released = resolve(&engine, &object, Verdict::NotCharged).await;
    assert!(matches!(released, Resolved::Done(_)), "{released:?}");
    assert_eq!((charged(&world, &offer).await, items(&engine).await), (vec![], vec![]));
}

async fn n5_what_is_taken_while_somebody_is_at_work_on_its_intent_is_counted_later(world: World) {
    let (engine, offer, object) = held(&world, declined()).await;
    world.sweeps(&engine).await;
    world.clock.advance(5 * HOUR);
    world.sweeps(&engine).await;
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    let (of, holder) = (LookOf::Intent(offer.intent.id), Holder(world.ids.uuid()));
    let claim = ClaimLook { tenant: tenant(), of, holder, lease_ms: LEASE_MS };
    assert!(matches!(world.store.claim_look(claim).await.unwrap(), Looking::Claimed(_)));
    world.sweeps(&engine).await;
    assert_eq!(charged(&world, &offer).await, []);
    assert_eq!(waits(&engine).await.object, object);
    world.clock.advance(LEASE_MS);
    world.sweeps(&engine).await;
    assert_eq!((charged(&world, &offer).await, items(&engine).await), (vec![object], vec![]));
}

/// Nobody has to look, and nothing is held up.
async fn what_an_intent_waits_for_is_its_own(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(ObjectStatus::WaitingForCapture);
    let offer = world.paying(&engine, "1").await;
    world.bank.decides(pending());
    let other = world.paying(&engine, "2").await;
    world.bank.moves(other.intent.id, ObjectStatus::WaitingForCapture);
    assert_eq!(world.sweeps(&engine).await.strangers, 0);
    assert_eq!(items(&engine).await, []);
    assert_eq!(
        (world.state(&offer).await, world.state(&other).await),
        (StateName::Authorized, StateName::Authorized)
    );
}
