//! Trying again: a new intent, or the one that occupies the checkout.

use payment::{CheckoutId, CheckoutStatus, State, StateName};
use store::{KnownKey, OpenedIntent, SubmitCommand};

use crate::{
    commands::{LIMIT, charge, declined, object, open_intent, outcome, submit, succeeded},
    conformance::behaviours,
    world::{DAY, World, claimed, events, is, uuid},
};

behaviours!(
    r9_after_a_decline_a_new_intent_is_linked_to_the_first,
    r9_an_occupying_intent_is_named_and_not_doubled,
    r2_a_repeat_names_the_same_intent,
    r3_a_reused_key_is_refused,
    fault_61_a_paid_checkout_takes_no_new_intent,
    fault_61_a_checkout_that_was_paid_after_its_intents_end_takes_no_new_one,
    a_checkout_that_is_over_takes_no_new_intent,
    a_checkout_that_is_over_offers_only_what_was_sent,
    trying_again_keeps_the_shoppers_address,
    only_so_many_intents_are_tried,
    a_checkout_that_is_not_there_is_not_found,
);

fn fresh(opened: OpenedIntent) -> store::Answer {
    let OpenedIntent::Fresh(_, answer) = opened else { panic!("{opened:?}") };
    answer
}

async fn r9_after_a_decline_a_new_intent_is_linked_to_the_first(world: World) {
    let first = world.settled("order-1", declined()).await;
    let command = open_intent("try-2", first.checkout.id);
    assert_eq!(fresh(world.store.open_intent(command.clone()).await.unwrap()).status, 201);
    let (checkout, second) = world.checkout(first.checkout.id).await;
    assert_eq!((checkout.version, checkout.status), (1, CheckoutStatus::Open));
    assert_eq!((second.id, second.number, second.previous), (command.ids.intent, 2, Some(first.intent.id)));
    assert_eq!(
        (second.state.clone(), second.amount, second.checkout_version),
        (State::Created, checkout.amount, 1)
    );
    let story = world.story(second.id).await;
    assert_eq!(events(&story), ["opened"]);
    assert_ne!(story.operation.provider_key, first.operation.provider_key);
    let claim = claimed(world.store.submit(submit(&checkout, &second)).await.unwrap());
    assert_eq!(world.commit(outcome(&claim, succeeded("object-2"))).await, (true, false));
}

async fn r9_an_occupying_intent_is_named_and_not_doubled(world: World) {
    let (checkout, first) = world.offer("order-1").await;
    let answer = fresh(world.store.open_intent(open_intent("try-2", checkout.id)).await.unwrap());
    assert_eq!(answer.status, 200);
    world.store.submit(submit(&checkout, &first)).await.unwrap();
    let answer = fresh(world.store.open_intent(open_intent("try-3", checkout.id)).await.unwrap());
    assert_eq!(answer.status, 200);
    assert!(String::from_utf8(answer.body).unwrap().contains(&first.id.to_string()));
    assert_eq!(world.checkout(checkout.id).await.1.id, first.id);
}

async fn r2_a_repeat_names_the_same_intent(world: World) {
    let first = world.settled("order-1", declined()).await;
    let command = open_intent("try-2", first.checkout.id);
    let answer = fresh(world.store.open_intent(command.clone()).await.unwrap());
    let repeat = world.store.open_intent(open_intent("try-2", first.checkout.id)).await.unwrap();
    let OpenedIntent::Known(KnownKey::Same { intent, answer: replay, .. }) = repeat else {
        panic!("{repeat:?}")
    };
    assert_eq!((intent.id, replay), (command.ids.intent, Some(answer)));
}

async fn r3_a_reused_key_is_refused(world: World) {
    let (first, _) = world.offer("order-1").await;
    let (second, _) = world.offer("order-2").await;
    fresh(world.store.open_intent(open_intent("try", first.id)).await.unwrap());
    let refused = world.store.open_intent(open_intent("try", second.id)).await.unwrap();
    assert_eq!(refused, OpenedIntent::Known(KnownKey::Reused { field: "checkout".into() }));
}

async fn fault_61_a_paid_checkout_takes_no_new_intent(world: World) {
    let claim = world.settled("order-1", succeeded("object-1")).await;
    let refused = world.store.open_intent(open_intent("try-2", claim.checkout.id)).await.unwrap();
    assert_eq!(refused, OpenedIntent::Paid(claim.intent.id));
    assert_eq!(world.checkout(claim.checkout.id).await.1.id, claim.intent.id);
}

async fn a_checkout_that_is_over_takes_no_new_intent(world: World) {
    let claim = world.settled("order-1", declined()).await;
    world.clock.set(claim.checkout.expires_at);
    // At the very moment, and after the sweep.
    let refused = world.store.open_intent(open_intent("try-2", claim.checkout.id)).await.unwrap();
    assert_eq!(refused, OpenedIntent::NotOpen);
    world.store.expire(10).await.unwrap();
    assert_eq!(world.checkout(claim.checkout.id).await.0.status, CheckoutStatus::Expired);
    let refused = world.store.open_intent(open_intent("try-3", claim.checkout.id)).await.unwrap();
    assert_eq!(refused, OpenedIntent::NotOpen);
    world.clock.advance(DAY);
    is(&world.checkout(claim.checkout.id).await.1, StateName::Declined);
}

async fn trying_again_keeps_the_shoppers_address(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    let anna = SubmitCommand { email: Some("anna@example.com".to_owned()), ..submit(&checkout, &intent) };
    let claim = claimed(world.store.submit(anna).await.unwrap());
    world.commit(outcome(&claim, declined())).await;
    world.store.open_intent(open_intent("try-2", checkout.id)).await.unwrap();
    assert_eq!(world.checkout(checkout.id).await.1.email.as_deref(), Some("anna@example.com"));
}

async fn a_checkout_that_is_over_offers_only_what_was_sent(world: World) {
    let (unsent, _) = world.offer("order-1").await;
    let sent = world.sent("order-2").await;
    world.clock.set(unsent.expires_at);
    let refused = world.store.open_intent(open_intent("try-1", unsent.id)).await.unwrap();
    assert_eq!(refused, OpenedIntent::NotOpen);
    let answer = fresh(world.store.open_intent(open_intent("try-2", sent.checkout.id)).await.unwrap());
    assert_eq!(answer.status, 200);
    assert!(String::from_utf8(answer.body).unwrap().contains(&sent.intent.id.to_string()));
}

async fn only_so_many_intents_are_tried(world: World) {
    let first = world.settled("order-1", declined()).await;
    for number in 2..=LIMIT {
        let key = format!("try-{number}");
        assert_eq!(
            fresh(world.store.open_intent(open_intent(&key, first.checkout.id)).await.unwrap()).status,
            201
        );
        let (checkout, intent) = world.checkout(first.checkout.id).await;
        assert_eq!(intent.number, number);
        let claim = claimed(world.store.submit(submit(&checkout, &intent)).await.unwrap());
        world.commit(outcome(&claim, declined())).await;
    }
    let refused = world.store.open_intent(open_intent("one-more", first.checkout.id)).await.unwrap();
    assert_eq!(refused, OpenedIntent::TooMany);
}

async fn a_checkout_that_is_not_there_is_not_found(world: World) {
    let refused = world.store.open_intent(open_intent("try", CheckoutId(uuid()))).await.unwrap();
    assert_eq!(refused, OpenedIntent::NotFound);
}

/// Paid is a fact of the checkout: its intent was declined and stays so.
async fn fault_61_a_checkout_that_was_paid_after_its_intents_end_takes_no_new_one(world: World) {
    let claim = world.sent("order-1").await;
    let mut paid = outcome(&claim, declined());
    paid.charges.push(charge(object("object-1")));
    assert_eq!(world.commit(paid).await, (true, false));
    is(&world.intent(claim.intent.id).await, StateName::Declined);
    let opened = world.store.open_intent(open_intent("try-2", claim.checkout.id)).await.unwrap();
    assert!(matches!(opened, OpenedIntent::Paid(id) if id == claim.intent.id), "{opened:?}");
}
