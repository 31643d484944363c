//! What a shopper who waits may ask for: another way to pay, a look now, a mail.

use engine::Released;
use payment::{ObjectStatus, OperationKind, State, StateName};

use crate::{
    bank::{Fault, PENDING_MS, pending},
    merchant::tenant,
    scenarios,
    world::{HOUR, MINUTE, SECOND, World},
};

scenarios! {
    a_payment_that_waits_at_the_bank_ends_an_hour_after_the_bank_made_it,
    a_bank_that_is_silent_is_taken_to_have_made_it_with_the_first_send,
    held_money_is_not_the_shoppers_to_let_go,
    a_bank_that_can_is_asked_to_let_go_of_what_waits,
    held_money_that_is_being_captured_is_not_let_go,
    there_is_nothing_to_let_go_elsewhere,
    a_look_now_is_sooner_and_many_wishes_are_one,
    a_look_now_wakes_nothing_that_is_over_or_in_hand,
    an_address_is_taken_while_the_result_is_open,
}

async fn a_payment_that_waits_at_the_bank_ends_an_hour_after_the_bank_made_it(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    world.bank.next([Fault::NotSent]);
    let offer = world.offer(&engine, "1").await;
    let submitted_at = world.clock.now();
    world.pay(&engine, &offer).await;
    world.wake(&engine, &offer).await;
    let made_at = world.bank.objects()[0].at;
    assert!(made_at > submitted_at, "the first send did not arrive");
    world.clock.advance(20 * MINUTE);
    let released = engine.release(&tenant(), offer.intent.id).await.unwrap();
    assert_eq!(released, Released::EndsBy(made_at.plus_ms(PENDING_MS)), "whenever it is asked");
    assert_eq!(world.state(&offer).await, StateName::RequiresAction, "only the bank's word ends it");
    assert!(world.bank.sent_for(OperationKind::Cancel).is_empty());
    let code = "expired_on_confirmation".to_owned();
    world.bank.moves(offer.intent.id, ObjectStatus::Ended(payment::Ending::Expired { code }));
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Expired);
}

async fn a_bank_that_is_silent_is_taken_to_have_made_it_with_the_first_send(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.offer(&engine, "1").await;
    let submitted_at = world.clock.now();
    world.pay(&engine, &offer).await;
    world.bank.every(Some(Fault::LoseRequest));
    world.clock.advance(10 * MINUTE);
    let released = engine.release(&tenant(), offer.intent.id).await.unwrap();
    assert_eq!(released, Released::EndsBy(submitted_at.plus_ms(PENDING_MS)));
    world.bank.every(None);
}

/// Money that is held is the merchant's to let go, also PAYONE/magento-1#464: nothing is cancelled here alone.
async fn held_money_is_not_the_shoppers_to_let_go(world: World) {
    let engine = world.engine();
    world.bank.decides(ObjectStatus::WaitingForCapture);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(engine.release(&tenant(), offer.intent.id).await.unwrap(), Released::Nothing);
    while engine.run_once().await.unwrap() {}
    assert_eq!(world.state(&offer).await, StateName::Authorized);
    assert!(world.bank.sent_for(OperationKind::Cancel).is_empty());
}

/// Where the provider lets go of what waits for the shopper it is asked, once, and only its word ends the intent.
async fn a_bank_that_can_is_asked_to_let_go_of_what_waits(world: World) {
    let engine = world.engine();
    world.bank.cancels_what_waits();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    for _ in 0..3 {
        assert_eq!(world.engine().release(&tenant(), offer.intent.id).await.unwrap(), Released::Asked);
    }
    assert_eq!(world.state(&offer).await, StateName::RequiresAction, "it was only asked for");
    while engine.run_once().await.unwrap() {}
    let State::Canceled { .. } = world.intent(offer.intent.id).await.state else { panic!("it is let go") };
    assert_eq!((world.bank.sent_for(OperationKind::Cancel).len(), world.bank.charges()), (1, 0));
    assert_eq!(engine.release(&tenant(), offer.intent.id).await.unwrap(), Released::Nothing);
}

async fn held_money_that_is_being_captured_is_not_let_go(world: World) {
    let engine = world.engine();
    world.bank.decides(ObjectStatus::WaitingForCapture);
    let offer = world.paying(&engine, "1").await;
    let whole = Some(offer.checkout.amount);
    let (kind, reason) = (OperationKind::Capture, "shipped".to_owned());
    engine.open_follow_up(&tenant(), offer.intent.id, kind, whole, reason).await.unwrap();
    assert_eq!(
        engine.release(&tenant(), offer.intent.id).await.unwrap(),
        Released::Nothing,
        "nobody was asked"
    );
}

async fn there_is_nothing_to_let_go_elsewhere(world: World) {
    let engine = world.engine();
    let fresh = world.offer(&engine, "fresh").await;
    world.bank.next([Fault::LoseRequest]);
    let unknown = world.paying(&engine, "unknown").await;
    let paid = world.paying(&engine, "paid").await;
    for offer in [&fresh, &unknown, &paid] {
        let before = world.story(offer).await;
        assert_eq!(engine.release(&tenant(), offer.intent.id).await.unwrap(), Released::Nothing);
        assert_eq!(world.story(offer).await, before);
    }
}

async fn a_look_now_is_sooner_and_many_wishes_are_one(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    // What waits for the shopper is asked about more and more seldom.
    for _ in 0..8 {
        world.wake(&engine, &offer).await;
    }
    let (asked, _) = world.bank.asked();
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    for _ in 0..5 {
        engine.check_now(&tenant(), offer.intent.id).await.unwrap();
    }
    let wake_at = world.story(&offer).await.operation.wake_at.unwrap();
    assert!(wake_at.since_ms(world.clock.now()) <= SECOND, "never closer than a second to the last look");
    world.wake(&engine, &offer).await;
    assert_eq!((world.state(&offer).await, world.bank.asked().0), (StateName::Succeeded, asked + 1));
    assert!(!engine.run_once().await.unwrap());
}

async fn a_look_now_wakes_nothing_that_is_over_or_in_hand(world: World) {
    let engine = world.engine();
    let fresh = world.offer(&engine, "fresh").await;
    let paid = world.paying(&engine, "paid").await;
    let in_hand = world.offer(&engine, "in-hand").await;
    let _claim = world.claim(&engine, &in_hand).await;
    for offer in [&fresh, &paid, &in_hand] {
        let before = world.story(offer).await;
        engine.check_now(&tenant(), offer.intent.id).await.unwrap();
        assert_eq!(world.story(offer).await, before);
    }
    assert!(!engine.run_once().await.unwrap());
    world.clock.advance(HOUR);
    world.settle(&engine).await;
}

async fn an_address_is_taken_while_the_result_is_open(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    for email in ["a@example.com", "b@example.com"] {
        assert!(engine.set_email(&tenant(), offer.intent.id, email.into()).await.unwrap());
        assert_eq!(world.intent(offer.intent.id).await.email.as_deref(), Some(email));
    }
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded, "whoever works on it loses nothing by it");
    assert!(!engine.set_email(&tenant(), offer.intent.id, "c@example.com".into()).await.unwrap());
    assert_eq!(world.intent(offer.intent.id).await.email.as_deref(), Some("b@example.com"));
}
