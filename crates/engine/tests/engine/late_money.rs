//! Money that turns up late, or twice: it is written down whatever its intent was, the first pays the order, and what is more than
//! that stands before a person (faults 61 to 63, N5).

use engine::{Engine, Looked, SubmitOutcome};
use payment::{CheckoutStatus, Ending, ObjectStatus, StateName};
use store::ReviewItem;

use crate::{
    bank::{Fault, Lie, pending},
    merchant::tenant,
    scenarios,
    world::{EXECUTE_MS, LEASE_MS, MINUTE, Offer, SECOND, World, known},
};

scenarios! {
    fault_62_late_money_of_another_sum_stands_before_a_person,
    fault_62_the_first_turns_out_paid_and_the_second_cannot_be_submitted,
    fault_62_the_second_waits_to_be_sent_and_is_not,
    fault_62_the_second_is_unknown_and_is_not_sent_again,
    fault_62_a_zombie_of_the_second_is_an_extra,
    fault_63_both_took_money,
    fault_63_either_order_of_learning_it_pays_once,
    n5_a_second_capture_is_found_linked_and_alarmed,
    n5_a_second_object_that_takes_no_money_is_told_once,
    fault_49d_reversed_both_ways,
    fault_49d_a_reversal_is_told_once,
    n5_a_provider_that_goes_on_contradicting_itself_is_told_of_once,
    a_paid_order_takes_no_further_payment,
    a_second_payment_waits_for_the_first,
}

fn declined() -> ObjectStatus {
    ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() })
}

/// A first intent that was declined, and a second one, not submitted yet.
async fn declined_then_again(world: &World, engine: &Engine) -> (Offer, Offer) {
    engine.start().await.unwrap();
    world.bank.decides(declined());
    let first = world.paying(engine, "1").await;
    assert_eq!(world.state(&first).await, StateName::Declined);
    let (_, second) = world.try_again(engine, &first, "again").await;
    (first, second)
}

impl World {
    /// The bank takes the money after all, and the next sweep sees it.
    async fn turns_out_paid(&self, engine: &Engine, offer: &Offer) {
        self.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
        engine.sweep_merchant(&self.merchant().await).await.unwrap();
    }

    async fn extras(&self, engine: &Engine) -> usize {
        let items = engine.review().await.unwrap().items;
        items.iter().filter(|item| matches!(item, ReviewItem::Extra(_))).count()
    }
}

async fn fault_62_the_first_turns_out_paid_and_the_second_cannot_be_submitted(world: World) {
    let engine = world.engine();
    let (first, second) = declined_then_again(&world, &engine).await;
    world.turns_out_paid(&engine, &first).await;
    assert_eq!(
        (world.state(&first).await, world.status(&first).await),
        (StateName::Declined, CheckoutStatus::Paid)
    );
    assert!(world.journal(&first).await.contains(&"anomaly: paid_after_end".to_owned()));
    let refused = engine.submit(second.submission("tok_2")).await.unwrap();
    assert!(matches!(refused, SubmitOutcome::Paid(id) if id == first.checkout.id), "{refused:?}");
    assert_eq!((world.bank.sends(), world.bank.charges(), world.extras(&engine).await), (1, 1, 0));
}

async fn fault_62_the_second_waits_to_be_sent_and_is_not(world: World) {
    let engine = world.engine();
    let (first, second) = declined_then_again(&world, &engine).await;
    world.bank.next([Fault::NotSent]);
    world.pay(&engine, &second).await;
    let sends = world.bank.sends();
    world.turns_out_paid(&engine, &first).await;
    world.settle(&engine).await;
    assert_eq!(world.state(&second).await, StateName::Canceled, "not executed: nothing was ever sent");
    assert_eq!((world.bank.sends(), world.bank.charges()), (sends, 1));
}

/// It is only looked for: two listings end it before its own execute-until would matter.
async fn fault_62_the_second_is_unknown_and_is_not_sent_again(world: World) {
    let engine = world.engine();
    let (first, second) = declined_then_again(&world, &engine).await;
    world.bank.next([Fault::LoseRequest]);
    world.pay(&engine, &second).await;
    let sends = world.bank.sends();
    world.turns_out_paid(&engine, &first).await;
    world.wake(&engine, &second).await;
    assert_eq!((world.bank.sends(), world.state(&second).await), (sends, StateName::Confirming));
    world.settle(&engine).await;
    assert_eq!((world.state(&second).await, world.bank.sends()), (StateName::Canceled, sends));
    assert_eq!(world.bank.charges(), 1);
}

/// It was on its way when the first turned out paid.
async fn fault_62_a_zombie_of_the_second_is_an_extra(world: World) {
    let engine = world.engine();
    let (first, second) = declined_then_again(&world, &engine).await;
    let claim = world.claim(&engine, &second).await;
    world.turns_out_paid(&engine, &first).await;
    engine.drive(claim).await.unwrap();
    assert_eq!((world.bank.charges(), world.extras(&engine).await), (2, 1));
    assert_eq!(world.state(&second).await, StateName::Succeeded);
    assert!(world.journal(&second).await.contains(&"anomaly: extra_charge".to_owned()));
}

async fn fault_63_both_took_money(world: World) {
    let engine = world.engine();
    let (first, second) = declined_then_again(&world, &engine).await;
    world.pay(&engine, &second).await;
    assert_eq!(world.status(&second).await, CheckoutStatus::Paid);
    world.turns_out_paid(&engine, &first).await;
    world.settle(&engine).await;
    let charges = world.story(&first).await.charges;
    let mut extras: Vec<_> = charges.iter().map(|charge| (charge.extra, charge.intent)).collect();
    extras.sort_unstable();
    assert_eq!(extras, [(false, second.intent.id), (true, first.intent.id)]);
    assert_eq!((world.extras(&engine).await, world.bank.charges()), (1, 2));
    // A later sweep does not make it more.
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!(world.story(&first).await.charges.len(), 2);
}

async fn fault_63_either_order_of_learning_it_pays_once(world: World) {
    let engine = world.engine();
    let (first, second) = declined_then_again(&world, &engine).await;
    world.bank.next([Fault::LoseAnswer]);
    world.pay(&engine, &second).await;
    // Both are charged, and nobody has been told of either; the listing shows both at once.
    world.turns_out_paid(&engine, &first).await;
    let charges = world.story(&first).await.charges;
    assert_eq!(charges.iter().filter(|charge| !charge.extra).count(), 1);
    assert_eq!((charges.len(), world.extras(&engine).await), (2, 1));
    assert_eq!(world.status(&first).await, CheckoutStatus::Paid);
}

/// The provider forgot a key: a second object of one operation took money. Also mollie/WooCommerce#1204: it is not dropped silently.
async fn n5_a_second_capture_is_found_linked_and_alarmed(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.offer(&engine, "1").await;
    drop(world.claim(&engine, &offer).await);
    world.bank.next([Fault::LoseAnswer]);
    world.clock.advance(LEASE_MS);
    engine.run_once().await.unwrap();
    world.bank.forget_keys();
    world.wake(&engine, &offer).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 2));
    assert_eq!(world.story(&offer).await.charges.len(), 1, "only one of them is known");
    let swept = engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!((swept.news, swept.strangers), (1, 0));
    let charges = world.story(&offer).await.charges;
    assert!(charges.iter().all(|charge| charge.intent == offer.intent.id));
    assert_eq!((charges.len(), charges.iter().filter(|charge| charge.extra).count()), (2, 1));
    let journal = world.journal(&offer).await;
    for told in ["anomaly: second_object", "anomaly: extra_charge"] {
        assert!(journal.iter().any(|line| line == told), "{journal:?}");
    }
    assert_eq!(world.extras(&engine).await, 1);
    let effects = world.store.effects(tenant(), offer.intent.id).await.unwrap();
    assert_eq!(effects.iter().filter(|effect| effect.kind == payment::EffectKind::CheckoutPaid).count(), 1);
}

async fn n5_a_second_object_that_takes_no_money_is_told_once(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(ObjectStatus::Succeeded);
    world.bank.decides(pending());
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.forget_keys();
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::RequiresAction);
    for _ in 0..3 {
        engine.sweep_merchant(&world.merchant().await).await.unwrap();
    }
    // The other one, which had taken the money, pays.
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    let told = world.journal(&offer).await.iter().filter(|line| **line == "anomaly: second_object").count();
    assert_eq!((told, world.story(&offer).await.charges.len()), (1, 1));
}

async fn fault_49d_reversed_both_ways(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let paid = world.paying(&engine, "1").await;
    world.bank.decides(declined());
    let refused = world.paying(&engine, "2").await;
    world.bank.moves(paid.intent.id, declined());
    world.turns_out_paid(&engine, &refused).await;
    assert_eq!(
        (world.state(&paid).await, world.status(&paid).await),
        (StateName::Succeeded, CheckoutStatus::Paid)
    );
    assert!(world.journal(&paid).await.contains(&"anomaly: reversed".to_owned()));
    assert_eq!(
        (world.state(&refused).await, world.status(&refused).await),
        (StateName::Declined, CheckoutStatus::Paid)
    );
    assert!(world.journal(&refused).await.contains(&"anomaly: paid_after_end".to_owned()));
    assert_eq!((world.story(&paid).await.charges.len(), world.story(&refused).await.charges.len()), (1, 1));
}

async fn fault_49d_a_reversal_is_told_once(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.paying(&engine, "1").await;
    for status in [declined(), pending(), declined(), ObjectStatus::Succeeded, declined()] {
        world.bank.moves(offer.intent.id, status);
        world.clock.advance(MINUTE);
        engine.sweep_merchant(&world.merchant().await).await.unwrap();
    }
    let journal = world.journal(&offer).await;
    let told = |what: &str| journal.iter().filter(|line| *line == what).count();
    assert_eq!((told("anomaly: reversed"), told("anomaly: went_back")), (1, 0), "{journal:?}");
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn n5_a_provider_that_goes_on_contradicting_itself_is_told_of_once(world: World) {
    let engine = world.engine();
    world.bank.decides(ObjectStatus::WaitingForCapture);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Authorized);
    world.bank.moves(offer.intent.id, pending());
    let (queries, _) = world.bank.asked();
    for _ in 0..5 {
        world.clock.advance(10 * MINUTE);
        engine.check_now(&tenant(), offer.intent.id).await.unwrap();
        world.clock.advance(10 * SECOND);
        engine.run_once().await.unwrap();
    }
    assert!(world.bank.asked().0 >= queries + 5, "each look asks");
    let journal = world.journal(&offer).await;
    let went_back = journal.iter().filter(|line| *line == "anomaly: went_back").count();
    let observed = journal.iter().filter(|line| line.contains("is pending")).count();
    assert_eq!((went_back, observed), (1, 1), "{journal:?}");
    assert_eq!(world.state(&offer).await, StateName::Authorized);
}

async fn a_paid_order_takes_no_further_payment(world: World) {
    let engine = world.engine();
    let (first, second) = declined_then_again(&world, &engine).await;
    world.pay(&engine, &second).await;
    for offer in [&first, &second] {
        known(engine.submit(offer.submission("tok_9")).await.unwrap());
    }
    assert_eq!(world.bank.sends(), 2);
    assert_eq!(
        world.bank.objects().iter().map(|object| object.amount.minor()).collect::<Vec<_>>(),
        [150_000; 2]
    );
}

/// Also killbill#1015: while the first is unknown there is no second.
async fn a_second_payment_waits_for_the_first(world: World) {
    let engine = world.engine();
    world.bank.every(Some(Fault::LoseRequest));
    let offer = world.paying(&engine, "1").await;
    while world.clock.now().since_ms(world.began) < EXECUTE_MS + 10 * MINUTE {
        let key = format!("again-{}", world.clock.now().0);
        let (_, same) = world.try_again(&engine, &offer, &key).await;
        assert_eq!(same.intent.id, offer.intent.id);
        known(world.engine().submit(same.submission("tok_2")).await.unwrap());
        world.clock.advance(97 * SECOND);
        engine.run_once().await.unwrap();
    }
}

/// No question of the intent's own finds it: it is over. Its order is held, and a person decides.
async fn fault_62_late_money_of_another_sum_stands_before_a_person(world: World) {
    let engine = world.engine();
    let (first, second) = declined_then_again(&world, &engine).await;
    world.bank.moves(first.intent.id, ObjectStatus::Succeeded);
    world.bank.lies(Some(Lie::Amount));
    let object = world.bank.objects()[0].id.clone();
    let looked = engine.look(&first.checkout.tenant, first.intent.id, &object).await.unwrap();
    assert_eq!(looked, Looked::Saw(ObjectStatus::Succeeded));
    world.bank.lies(None);
    let items = engine.review().await.unwrap().items;
    assert!(matches!(&items[..], [ReviewItem::Stranger(found)] if found.object == object), "{items:?}");
    engine.submit(second.submission("token")).await.unwrap();
    world.settle(&engine).await;
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
    // Once: a second look finds it there.
    engine.look(&first.checkout.tenant, first.intent.id, &object).await.unwrap();
    assert_eq!(engine.review().await.unwrap().items.len(), items.len());
}
