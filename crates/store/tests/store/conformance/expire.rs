//! Time ends only what was never sent (R10).

use payment::{CheckoutStatus, State, StateName};

use crate::{
    commands::{confirming, declined, object, succeeded},
    conformance::behaviours,
    world::{DAY, World, events, is},
};

behaviours!(
    a_checkout_that_nobody_paid_expires_with_its_intent,
    r10_what_was_sent_does_not_expire,
    what_ended_without_money_expires_and_keeps_its_end,
    a_run_ends_no_more_than_asked_for,
    what_does_not_expire_is_in_nobodys_way,
);

async fn a_checkout_that_nobody_paid_expires_with_its_intent(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    world.clock.set(checkout.expires_at.plus_ms(-1));
    assert_eq!(world.store.expire(10).await.unwrap().intents.len(), 0);
    world.clock.advance(1);
    assert_eq!(world.store.expire(10).await.unwrap().intents.len(), 1);
    assert_eq!(world.checkout(checkout.id).await.0.status, CheckoutStatus::Expired);
    assert_eq!(world.intent(intent.id).await.state, State::Expired { code: None });
    let story = world.story(intent.id).await;
    assert_eq!(events(&story), ["opened", "expired"]);
    assert_eq!(story.journal[1].line.at, world.now());
    assert_eq!(world.store.expire(10).await.unwrap().intents.len(), 0);
}

async fn r10_what_was_sent_does_not_expire(world: World) {
    let mut sent = vec![world.sent("order-1").await];
    sent.push(world.settled("order-2", confirming(None)).await);
    let url = "https://bank.example/3ds".to_owned();
    sent.push(world.settled("order-3", State::RequiresAction { object: object("o-3"), url }).await);
    sent.push(world.settled("order-4", State::Authorized { object: object("o-4") }).await);
    sent.push(world.settled("order-5", succeeded("o-5")).await);
    let mut before = Vec::new();
    for claim in &sent {
        before.push(world.checkout(claim.checkout.id).await);
    }
    world.clock.advance(30 * DAY);
    assert_eq!(world.store.expire(100).await.unwrap().intents.len(), 0);
    for (claim, before) in sent.iter().zip(before) {
        assert_eq!(world.checkout(claim.checkout.id).await, before);
    }
}

async fn what_ended_without_money_expires_and_keeps_its_end(world: World) {
    let claim = world.settled("order-1", declined()).await;
    world.clock.advance(DAY);
    assert_eq!(world.store.expire(10).await.unwrap().intents.len(), 1);
    assert_eq!(world.checkout(claim.checkout.id).await.0.status, CheckoutStatus::Expired);
    is(&world.intent(claim.intent.id).await, StateName::Declined);
    assert_eq!(events(&world.story(claim.intent.id).await), ["opened", "submitted", "observed"]);
}

async fn a_run_ends_no_more_than_asked_for(world: World) {
    for order in ["order-1", "order-2", "order-3"] {
        world.offer(order).await;
    }
    world.clock.advance(DAY);
    assert_eq!(world.store.expire(2).await.unwrap().intents.len(), 2);
    assert_eq!(world.store.expire(2).await.unwrap().intents.len(), 1);
    assert_eq!(world.store.expire(2).await.unwrap().intents.len(), 0);
}

async fn what_does_not_expire_is_in_nobodys_way(world: World) {
    for order in ["order-1", "order-2"] {
        world.settled(order, confirming(None)).await;
    }
    let (last, _) = world.offer("order-3").await;
    world.clock.advance(DAY);
    assert_eq!(world.store.expire(1).await.unwrap().intents.len(), 1);
    assert_eq!(world.checkout(last.id).await.0.status, CheckoutStatus::Expired);
}
