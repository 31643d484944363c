//! A mail says nothing that is not known: "no money was taken" waits while money of the order that may be its shopper's is looked into.

use engine::{Engine, Resolved, Submission, Verdict};
use payment::{CheckoutStatus, EffectKind, Ending, ObjectId, ObjectStatus, StateName};
use store::EffectState;

use super::{ADDRESS, pay_with_address};
use crate::{
    bank::Fault,
    review::resolve,
    scenarios,
    world::{DAY, EXECUTE_MS, HOUR, MINUTE, Offer, SECOND, World, known},
};

scenarios! {
    r10_fault_23_no_money_was_taken_is_not_told_while_money_of_the_order_stands_before_a_person,
    r10_fault_23_who_turns_out_to_have_paid_is_not_told_that_no_money_was_taken,
    n5_a_late_receipt_says_once_only_where_no_other_charge_is_known,
    n5_who_has_the_money_back_gets_no_receipt_of_it,
    n5_a_receipt_waits_while_another_charge_may_pay_and_goes_out_once_it_does,
}

/// The order "1" was paid after the backup. Its shopper presses Pay again while the gate is down, and the sweep comes too late to send
/// it: it ends unsent, while the money that was taken is a stranger's.
async fn ended_unsent(world: &World) -> (World, Engine, Offer, ObjectId) {
    let (world, engine, offer) = world.forgets_a_payment(HOUR).await;
    let submission = Submission { email: Some(ADDRESS.into()), ..offer.submission("tok_1") };
    let (seen, _) = known(engine.submit(submission).await.unwrap());
    assert_eq!(seen.state.name(), StateName::Processing);
    world.clock.advance(EXECUTE_MS + SECOND);
    assert!(engine.sweep_merchant(&world.merchant().await).await.unwrap().complete);
    world.clock.advance(2 * MINUTE);
    while engine.run_once().await.unwrap() {}
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Canceled, 1));
    let object = world.bank.objects()[0].id.clone();
    (world, engine, offer, object)
}

/// However long that takes.
async fn waits(world: &World, engine: &Engine, offer: &Offer) {
    let until = world.clock.now().plus_ms(4 * DAY);
    while world.clock.now() < until {
        assert_eq!(engine.deliver_due(10).await.unwrap(), 0);
        world.clock.advance(HOUR);
    }
    let effect = world.effect(offer, EffectKind::ResultKnown).await;
    assert_eq!((effect.state, effect.tries), (EffectState::Waiting, 0), "and it is not given up");
    assert!(effect.outcome.unwrap().contains("looked into"));
    assert_eq!(world.arrived(), (0, 0));
}

async fn r10_fault_23_no_money_was_taken_is_not_told_while_money_of_the_order_stands_before_a_person(
    world: World,
) {
    let (world, engine, offer, object) = ended_unsent(&world).await;
    waits(&world, &engine, &offer).await;
    let resolved = resolve(&engine, &object, Verdict::NotCharged).await;
    assert!(matches!(resolved, Resolved::Done(_)), "{resolved:?}");
    world.deliver_all(&offer).await;
    let mails: Vec<_> = world.outside.mails().iter().map(|mail| mail.kind).collect();
    assert_eq!(mails, [EffectKind::ResultKnown], "a person said that it is not the order's");
}

async fn r10_fault_23_who_turns_out_to_have_paid_is_not_told_that_no_money_was_taken(world: World) {
    let (world, engine, offer, object) = ended_unsent(&world).await;
    waits(&world, &engine, &offer).await;
    let resolved = resolve(&engine, &object, Verdict::Charged(object.clone())).await;
    assert!(matches!(resolved, Resolved::Done(_)), "{resolved:?}");
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    world.deliver_all(&offer).await;
    let mails: Vec<_> = world.outside.mails().iter().map(|mail| mail.kind).collect();
    assert_eq!(mails, [EffectKind::Receipt], "the receipt says it all");
    assert_eq!(world.effect(&offer, EffectKind::ResultKnown).await.state, EffectState::NotWanted);
}

/// The mail server was away meanwhile.
async fn n5_a_late_receipt_says_once_only_where_no_other_charge_is_known(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let one = pay_with_address(&world, "1").await;
    world.bank.forget_keys();
    world.settle(&engine).await;
    let two = pay_with_address(&world, "2").await;
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    for (offer, once) in [(&one, false), (&two, true)] {
        world.deliver_all(offer).await;
        let mails = world.outside.mails();
        let mail = mails.iter().find(|mail| mail.intent.id == offer.intent.id).unwrap();
        assert_eq!((mail.kind, mail.once), (EffectKind::Receipt, once));
    }
}

/// The shop is told all the same: the order was paid, and may be again.
async fn n5_who_has_the_money_back_gets_no_receipt_of_it(world: World) {
    let offer = pay_with_address(&world, "1").await;
    let object = world.bank.objects()[0].id.clone();
    world.bank.moves_object(&object, ObjectStatus::Ended(Ending::Declined { code: "issuer".into() }));
    let engine = world.engine();
    engine.start().await.unwrap();
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    world.deliver_all(&offer).await;
    assert_eq!(world.effect(&offer, EffectKind::Receipt).await.state, EffectState::NotWanted);
    assert_eq!(world.arrived(), (1, 0));
}

async fn n5_a_receipt_waits_while_another_charge_may_pay_and_goes_out_once_it_does(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = pay_with_address(&world, "1").await;
    world.bank.forget_keys();
    world.settle(&engine).await;
    let objects = world.bank.objects();
    let charges = async || world.story(&offer).await.charges;
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    let paying = charges().await.into_iter().find(|charge| !charge.extra).unwrap().object;
    let extra = objects.iter().find(|object| object.id != paying).unwrap().id.clone();
    world.bank.moves_object(&paying, ObjectStatus::Ended(Ending::Declined { code: "issuer".into() }));
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    for _ in 0..3 {
        engine.deliver_due(10).await.unwrap();
        world.clock.advance(HOUR);
    }
    assert_eq!(world.effect(&offer, EffectKind::Receipt).await.state, EffectState::Waiting);
    let resolved = resolve(&engine, &extra, Verdict::Charged(extra.clone())).await;
    assert!(matches!(resolved, Resolved::Done(_)), "{resolved:?}");
    world.deliver_all(&offer).await;
    assert_eq!(world.effect(&offer, EffectKind::Receipt).await.state, EffectState::Delivered);
    assert_eq!(world.arrived(), (1, 1));
}
