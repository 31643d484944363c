//! Two tabs, two cards, two intents, one checkout: one charge, and everybody is shown the same.

use engine::{CheckoutOutcome, IntentOutcome, SubmitOutcome};
use payment::{CheckoutStatus, Ending, ObjectStatus, State, StateName};

use crate::{
    bank::{Fault, pending},
    merchant::tenant,
    scenarios,
    world::{EXECUTE_MS, World, claimed, create_key, known, rub, terms},
};

scenarios! {
    fault_01_a_double_click_is_one_operation,
    fault_03_fault_67_two_tabs_with_two_cards,
    fault_61_a_stale_tab_tries_again_after_it_was_paid,
    fault_61_two_tabs_try_again_at_once,
    fault_63_a_second_capture_is_an_extra_and_stands_in_the_journal,
    fault_63_a_paid_object_stays_linked_beside_one_that_ended,
    fault_64_3ds_abandoned_offers_the_same_link,
    fault_65_an_amount_edited_while_a_tab_shows_the_old_one,
    fault_65_the_amount_is_frozen_while_a_payment_is_under_way,
    a_declined_intent_cannot_be_submitted_again,
}

fn declined() -> ObjectStatus {
    ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() })
}

/// Also adyen-web#2703: frantic clicking.
async fn fault_01_a_double_click_is_one_operation(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let claim = world.claim(&engine, &offer).await;
    for _ in 0..20 {
        let (seen, answer) = known(engine.submit(offer.submission("tok_1")).await.unwrap());
        assert_eq!((seen.id, answer), (offer.intent.id, None));
    }
    engine.drive(claim).await.unwrap();
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}

/// Also mollie/WooCommerce#1204: the second tab adopts the first's.
async fn fault_03_fault_67_two_tabs_with_two_cards(world: World) {
    let (here, there) = (world.engine(), world.engine());
    let offer = world.offer(&here, "1").await;
    let claim = claimed(here.submit(offer.submission("tok_mine")).await.unwrap());
    let (seen, _) = known(there.submit(offer.submission("tok_yours")).await.unwrap());
    assert_eq!(seen.id, offer.intent.id);
    here.drive(claim).await.unwrap();
    for tab in ["tok_mine", "tok_yours"] {
        let (seen, answer) = known(there.submit(offer.submission(tab)).await.unwrap());
        assert_eq!((seen.state.name(), answer.is_some()), (StateName::Succeeded, true));
        assert_eq!(seen.paid_with.unwrap().last4.as_deref(), Some("4444"), "both are told which card");
    }
    let sent = world.bank.sent();
    assert_eq!((sent.len(), world.bank.charges()), (1, 1));
    assert!(String::from_utf8_lossy(&sent[0].body).contains("tok_mine"));
}

async fn fault_61_a_stale_tab_tries_again_after_it_was_paid(world: World) {
    let engine = world.engine();
    world.bank.decides(declined());
    let first = world.paying(&engine, "1").await;
    assert_eq!(world.state(&first).await, StateName::Declined);
    let (_, second) = world.try_again(&engine, &first, "again").await;
    world.pay(&engine, &second).await;
    let (outcome, _) = world.try_again(&world.engine(), &first, "stale-tab").await;
    assert_eq!(outcome, IntentOutcome::Paid(second.intent.id));
    let outcome = engine.open_checkout(create_key(&tenant(), "k", "1", "1500.00"), terms("1", "1500.00"));
    assert_eq!(outcome.await.unwrap(), CheckoutOutcome::Paid(first.checkout.id));
    assert_eq!((world.bank.objects().len(), world.bank.charges()), (2, 1));
}

/// Also woocommerce-gateway-stripe#3638: one intent occupies a checkout.
async fn fault_61_two_tabs_try_again_at_once(world: World) {
    let (here, there) = (world.engine(), world.engine());
    world.bank.decides(declined());
    let first = world.paying(&here, "1").await;
    let (one, two) =
        tokio::join!(world.try_again(&here, &first, "tab-1"), world.try_again(&there, &first, "tab-2"));
    assert_eq!(one.1.intent.id, two.1.intent.id, "one occupying intent, whoever asked");
    assert_eq!(one.1.intent.number, 2);
    let claim = world.claim(&here, &one.1).await;
    known(there.submit(two.1.submission("tok_2")).await.unwrap());
    here.drive(claim).await.unwrap();
    assert_eq!(world.bank.charges(), 1);
}

/// The bank forgot its keys and charged twice: the checkout is paid once, and the second charge stands in the journal.
async fn fault_63_a_second_capture_is_an_extra_and_stands_in_the_journal(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseAnswer, Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.forget_keys();
    world.wake(&engine, &offer).await;
    assert_eq!(world.bank.charges(), 2);
    world.clock.advance(EXECUTE_MS);
    world.settle(&engine).await;
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Succeeded, CheckoutStatus::Paid)
    );
    let journal = world.journal(&offer).await;
    let paid = journal.iter().filter(|line| line.starts_with("observed")).count();
    let anomalies: Vec<_> = journal.iter().filter(|line| line.starts_with("anomaly")).collect();
    assert_eq!((paid, anomalies.len()), (2, 2), "{journal:?}");
    for object in world.bank.objects() {
        assert!(journal.iter().any(|line| line.contains(object.id.as_str())), "{} is not named", object.id);
    }
    linked_to_what_paid(&world, &offer).await;
}

async fn linked_to_what_paid(world: &World, offer: &crate::world::Offer) {
    let (intent, operation) = (world.intent(offer.intent.id).await, world.story(offer).await.operation);
    let State::Succeeded { object, .. } = intent.state else { panic!("{:?}", intent.state) };
    assert_eq!(operation.object, Some(object), "the operation is linked to the object that paid");
}

/// Whichever of the two is the newer one.
async fn fault_63_a_paid_object_stays_linked_beside_one_that_ended(world: World) {
    for (order, decisions) in
        [("1", [declined(), ObjectStatus::Succeeded]), ("2", [ObjectStatus::Succeeded, declined()])]
    {
        let engine = world.engine();
        world.bank.next([Fault::LoseAnswer, Fault::LoseAnswer]);
        decisions.into_iter().for_each(|status| world.bank.decides(status));
        let offer = world.paying(&engine, order).await;
        world.bank.forget_keys();
        world.wake(&engine, &offer).await;
        world.clock.advance(EXECUTE_MS);
        world.settle(&engine).await;
        assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
        linked_to_what_paid(&world, &offer).await;
    }
}

async fn fault_64_3ds_abandoned_offers_the_same_link(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    let State::RequiresAction { url, .. } = world.intent(offer.intent.id).await.state else { panic!() };
    let (outcome, back) = world.try_again(&engine, &offer, "pay-by-card").await;
    assert!(matches!(outcome, IntentOutcome::Answer { ref answer, .. } if answer.status == 200));
    let State::RequiresAction { url: same, .. } = &back.intent.state else {
        panic!("{:?}", back.intent.state)
    };
    assert_eq!(*same, url);
    known(engine.submit(back.submission("tok_2")).await.unwrap());
    world.bank.moves(
        offer.intent.id,
        ObjectStatus::Ended(Ending::Expired { code: "expired_on_confirmation".into() }),
    );
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::Expired, "its own end frees the checkout");
    let (_, next) = world.try_again(&engine, &offer, "now-by-card").await;
    world.pay(&engine, &next).await;
    assert_eq!((world.bank.objects().len(), world.bank.charges()), (2, 1));
}

/// Also woocommerce-gateway-stripe#4093: after an edit, the new amount, under a new intent.
async fn fault_65_an_amount_edited_while_a_tab_shows_the_old_one(world: World) {
    let engine = world.engine();
    let old = world.offer(&engine, "1").await;
    let new = world.offer_for(&engine, "1", "1700.00", "edited").await;
    assert_ne!(new.intent.id, old.intent.id);
    let seen = engine.submit(old.submission("tok_1")).await.unwrap();
    assert!(
        matches!(&seen, SubmitOutcome::Known { intent, .. } if intent.state.name() == StateName::Canceled)
    );
    let mut stale = new.clone();
    stale.checkout.version = old.checkout.version;
    let changed = engine.submit(stale.submission("tok_1")).await.unwrap();
    let SubmitOutcome::Changed(terms) = changed else { panic!("{changed:?}") };
    assert_eq!(terms.amount, rub("1700.00"));
    assert_eq!(world.bank.sends(), 0);
    world.pay(&engine, &new).await;
    assert_eq!(world.bank.objects()[0].amount, rub("1700.00"));
}

/// Also vendure#2620 and woocommerce-payments#6977: order, amount and currency are fixed in what was sent.
async fn fault_65_the_amount_is_frozen_while_a_payment_is_under_way(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    let edit =
        |key: &str| engine.open_checkout(create_key(&tenant(), key, "1", "1700.00"), terms("1", "1700.00"));
    let refused = edit("edit-1").await.unwrap();
    assert_eq!(refused, CheckoutOutcome::InProgress(offer.checkout.id, offer.intent.id));
    world.settle(&engine).await;
    assert_eq!(edit("edit-2").await.unwrap(), CheckoutOutcome::Paid(offer.checkout.id));
    assert_eq!(world.bank.objects()[0].amount, rub("1500.00"));
}

async fn a_declined_intent_cannot_be_submitted_again(world: World) {
    let engine = world.engine();
    world.bank.decides(declined());
    let offer = world.paying(&engine, "1").await;
    let (first, answer) = known(engine.submit(offer.submission("tok_2")).await.unwrap());
    assert!(matches!(first.state, State::Declined { .. }));
    // Once more without its stored key: as after the replay's lifetime.
    let mut other_version = offer.submission("tok_3");
    other_version.version += 1;
    let again = engine.submit(other_version).await.unwrap();
    assert!(matches!(again, SubmitOutcome::Known { answer: ref seen, .. } if *seen == answer), "{again:?}");
    assert_eq!(world.bank.sends(), 1);
}
