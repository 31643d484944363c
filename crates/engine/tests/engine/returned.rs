//! Money that was given back in full, in the provider's dashboard, before we knew that it was taken: it pays nothing, nobody is told of
//! a payment, and a person says what becomes of the order. What we knew as a charge before stays one.

use engine::{Engine, Looked, OutOfReach, Verdict};
use payment::{
    CheckoutStatus, EffectKind, Ending, Mismatch, ObjectId, ObjectStatus, RefundStatus, ReviewReason, State,
    StateName,
};
use store::MerchantRecord;

use crate::{
    bank::{Fault, pending},
    merchant::tenant,
    review::{REASON, Word, done, not_charged, object_of, refused, resolve, waiting},
    scenarios,
    world::{GAP_MS, HOUR, MINUTE, Offer, World, rub, suspected},
};

scenarios! {
    n5_what_was_given_back_before_we_knew_of_it_pays_nothing_and_stands_before_a_person_at_once,
    n5_what_was_given_back_in_part_pays,
    n5_a_person_says_that_the_order_can_be_paid_again_once_there_can_be_no_other_money,
    n5_the_part_of_a_hold_that_was_given_back_and_judged_is_no_stranger_later,
    n5_a_person_says_that_what_was_given_back_has_paid,
    n5_the_known_object_that_was_given_back_can_be_let_go_of_at_once,
    n5_a_refund_that_comes_to_nothing_pays_after_all,
    fault_23_after_a_restore_the_extra_that_was_given_back_does_not_pay_and_the_true_charge_stays,
    fault_23_after_a_restore_a_payment_that_was_given_back_holds_its_order,
    n5_a_charge_that_we_know_stays_one_when_it_is_given_back_and_is_told_once,
    n5_another_object_that_was_given_back_says_nothing_of_one_that_waits,
}

impl World {
    fn all_is_given_back(&self, object: &ObjectId) {
        self.bank.gives_back_by_hand(object, rub("1500.00"), RefundStatus::Succeeded);
    }

    async fn told_of_a_payment(&self, offer: &Offer) -> bool {
        let effects = self.store.effects(tenant(), offer.intent.id).await.unwrap();
        effects.iter().any(|effect| matches!(effect.kind, EffectKind::CheckoutPaid | EffectKind::Receipt))
    }
}

/// Its answer is lost, and its money given back before anybody asks again.
async fn given_back_unknown(world: &World, engine: &Engine) -> (Offer, ObjectId) {
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    let object = object_of(world, &offer);
    world.all_is_given_back(&object);
    (offer, object)
}

async fn n5_what_was_given_back_before_we_knew_of_it_pays_nothing_and_stands_before_a_person_at_once(
    world: World,
) {
    let engine = world.engine();
    let (offer, object) = given_back_unknown(&world, &engine).await;
    assert!(world.wake(&engine, &offer).await < MINUTE);
    let state = world.intent(offer.intent.id).await.state;
    let why = ReviewReason::Mismatch(Mismatch::GivenBack);
    assert!(matches!(&state, State::NeedsReview { why: told, .. } if *told == why), "{state:?}");
    assert_eq!(suspected(&state), [&object]);
    let lines = world.journal(&offer).await;
    world.settle(&engine).await;
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!(world.journal(&offer).await, lines, "it is told once");
    assert_eq!(waiting(&engine).await, [offer.intent.id.to_string()]);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
    assert!(!world.told_of_a_payment(&offer).await && world.story(&offer).await.charges.is_empty());
}

async fn n5_what_was_given_back_in_part_pays(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.gives_back_by_hand(&object_of(&world, &offer), rub("1499.99"), RefundStatus::Succeeded);
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, waiting(&engine).await.len()), (StateName::Succeeded, 0));
}

async fn n5_a_person_says_that_the_order_can_be_paid_again_once_there_can_be_no_other_money(world: World) {
    let engine = world.engine();
    let (offer, object) = given_back_unknown(&world, &engine).await;
    world.wake(&engine, &offer).await;
    refused(&world, &offer, offer.intent.id, not_charged(), "could still take money; wait").await;
    world.clock.advance(2 * HOUR);
    world.wake(&engine, &offer).await;
    world.clock.advance(GAP_MS);
    done(resolve(&engine, offer.intent.id, not_charged()).await);
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Canceled, CheckoutStatus::Open)
    );
    let line = world.journal(&offer).await.pop().unwrap();
    for part in ["judged_not_charged", REASON, object.as_str(), "gave all of its 1500.00 RUB back"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    // Nobody is asked twice.
    let swept = engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!((swept.news, swept.strangers, waiting(&engine).await.len()), (0, 0, 0));
    let (_, second) = world.try_again(&engine, &offer, "again").await;
    world.pay(&engine, &second).await;
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

/// What was captured of it is another sum than was asked for.
async fn n5_the_part_of_a_hold_that_was_given_back_and_judged_is_no_stranger_later(world: World) {
    let engine = world.engine();
    let (offer, object) = given_back_unknown(&world, &engine).await;
    world.bank.takes_part(&object, rub("100.00"));
    world.wake(&engine, &offer).await;
    world.clock.advance(2 * HOUR);
    world.wake(&engine, &offer).await;
    world.clock.advance(GAP_MS);
    world.wake(&engine, &offer).await;
    while world.state(&offer).await != StateName::NeedsReview {
        world.clock.advance(HOUR);
        world.wake(&engine, &offer).await;
    }
    done(resolve(&engine, offer.intent.id, not_charged()).await);
    let swept = engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!((swept.news, swept.strangers, waiting(&engine).await.len()), (0, 0, 0));
}

async fn n5_a_person_says_that_what_was_given_back_has_paid(world: World) {
    let engine = world.engine();
    let (offer, object) = given_back_unknown(&world, &engine).await;
    world.wake(&engine, &offer).await;
    done(resolve(&engine, offer.intent.id, Verdict::Charged(object)).await);
    assert_eq!((world.status(&offer).await, waiting(&engine).await.len()), (CheckoutStatus::Paid, 0));
}

async fn n5_the_known_object_that_was_given_back_can_be_let_go_of_at_once(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::RequiresAction);
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    let object = object_of(&world, &offer);
    world.all_is_given_back(&object);
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    done(resolve(&engine, offer.intent.id, not_charged()).await);
    let line = world.journal(&offer).await.pop().unwrap();
    assert!(line.contains(&format!("{object} gave all of its 1500.00 RUB back")), "{line}");
    assert!(!world.told_of_a_payment(&offer).await);
}

async fn n5_a_refund_that_comes_to_nothing_pays_after_all(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    let refund =
        world.bank.gives_back_by_hand(&object_of(&world, &offer), rub("1500.00"), RefundStatus::Succeeded);
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
    world.bank.moves_refund_by_hand(&refund, RefundStatus::Canceled { code: "general_decline".into() });
    world.wake(&engine, &offer).await;
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Succeeded, CheckoutStatus::Paid)
    );
}

/// The provider lists the newest first.
async fn fault_23_after_a_restore_the_extra_that_was_given_back_does_not_pay_and_the_true_charge_stays(
    world: World,
) {
    world.merchants.put(MerchantRecord { refund_extras: true, ..world.merchant().await });
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.offer(&engine, "1").await;
    let backup = world.backup().await;
    world.bank.next([Fault::LoseAnswer]);
    world.pay(&engine, &offer).await;
    world.bank.forget_keys();
    world.wake(&engine, &offer).await;
    let [first, second] = &world.bank.objects()[..] else { panic!("it was charged twice") };
    world.all_is_given_back(&second.id);
    world.clock.advance(HOUR);
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(engine.start().await.unwrap(), "the gate is down");
    for _ in 0..2 {
        assert!(engine.sweep_merchant(&world.merchant().await).await.unwrap().complete);
    }
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    let charges = world.story(&offer).await.charges;
    let paying: Vec<_> = charges.iter().map(|charge| (&charge.object, charge.extra)).collect();
    assert_eq!((paying, world.status(&offer).await), (vec![(&first.id, false)], CheckoutStatus::Paid));
    assert_eq!(waiting(&engine).await, [second.id.to_string()], "a person is told of the other");
    done(resolve(&engine, &second.id, not_charged()).await);
    assert_eq!(engine.sweep_merchant(&world.merchant().await).await.unwrap().strangers, 0);
}

async fn fault_23_after_a_restore_a_payment_that_was_given_back_holds_its_order(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.offer(&engine, "1").await;
    let backup = world.backup().await;
    world.pay(&engine, &offer).await;
    let object = object_of(&world, &offer);
    world.all_is_given_back(&object);
    world.clock.advance(HOUR);
    let world = world.restored(backup).await;
    let engine = world.engine();
    engine.start().await.unwrap();
    assert_eq!(engine.sweep_merchant(&world.merchant().await).await.unwrap().strangers, 1);
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Created, CheckoutStatus::Open)
    );
    engine.submit(offer.submission("tok_again")).await.unwrap();
    let sends = world.bank.sends();
    assert!(!engine.run_once().await.unwrap() && world.bank.sends() == sends, "its order takes no dispatch");
    let charged = Verdict::Charged(object.clone());
    refused(&world, &offer, &object, charged.clone(), "all of it was given back").await;
    done(resolve(&engine, &object, Word(charged, Some("it was shipped, and came back"))).await);
    assert_eq!((world.status(&offer).await, waiting(&engine).await.len()), (CheckoutStatus::Paid, 0));
}

async fn n5_a_charge_that_we_know_stays_one_when_it_is_given_back_and_is_told_once(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let paid = world.paying(&engine, "1").await;
    world.bank.decides(ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() }));
    let late = world.paying(&engine, "2").await;
    world.bank.moves(late.intent.id, ObjectStatus::Succeeded);
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    for (offer, state) in [(&paid, StateName::Succeeded), (&late, StateName::Declined)] {
        let object = object_of(&world, offer);
        world.all_is_given_back(&object);
        let mut lines = world.journal(offer).await;
        lines.push(format!(
            "charge_returned: found by the sweep: object {object} is succeeded, and all of it was given back"
        ));
        for _ in 0..2 {
            let swept = engine.sweep_merchant(&world.merchant().await).await.unwrap();
            assert_eq!((swept.news, swept.strangers), (0, 0));
            let looked = engine.look(&tenant(), offer.intent.id, &object).await.unwrap();
            assert_eq!(looked, Looked::Saw(ObjectStatus::Succeeded));
        }
        assert_eq!((world.state(offer).await, world.status(offer).await), (state, CheckoutStatus::Paid));
        assert_eq!((world.journal(offer).await, waiting(&engine).await.len()), (lines, 0));
    }
}

/// The shopper was charged by one, which was given back, and still stands at the bank's page of the other.
async fn n5_another_object_that_was_given_back_says_nothing_of_one_that_waits(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(ObjectStatus::Succeeded);
    world.bank.decides(pending());
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.forget_keys();
    world.wake(&engine, &offer).await;
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    let charge = world.story(&offer).await.charges.remove(0);
    world.all_is_given_back(&charge.object);
    let swept = engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!((swept.news, swept.strangers), (0, 0));
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::RequiresAction, CheckoutStatus::Paid)
    );
}
