//! What a shopper who waits may ask for: a look now, and to be told.

use payment::{Event, Mode, State, StateName};
use store::Store;

use crate::{
    commands::{
        LEASE_MS, WAKE_MS, confirming, declined, object, outcome, submit, succeeded, tenant, tenant_of,
    },
    conformance::behaviours,
    world::{DAY, HOUR, SECOND, World, after, uuid},
};

behaviours!(
    n2_a_wish_wakes_the_operation_a_moment_after_the_last_look,
    n2_many_wishes_are_one,
    r15_a_wish_is_no_sooner_than_the_provider_wants,
    n2_a_wish_never_goes_over_a_lease,
    n2_a_wish_about_what_is_over_or_unknown_does_nothing,
    n2_a_wish_wakes_what_waits_for_a_person,
    an_address_is_taken_while_the_result_is_open_and_changes_no_version,
    an_address_comes_too_late_when_it_is_over,
);

impl World {
    async fn wish(&self, id: payment::IntentId) -> bool {
        self.store.look_now(tenant(), id).await.unwrap()
    }
}

async fn n2_a_wish_wakes_the_operation_a_moment_after_the_last_look(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    assert!(world.wish(claim.intent.id).await);
    let before = world.story(claim.intent.id).await.operation;
    assert_eq!(before.wake_at, Some(world.now().plus_ms(SECOND)), "it was looked at just now");
    assert!(world.due(1).await.is_empty());
    world.clock.advance(SECOND);
    let asked = world.due(1).await.remove(0);
    assert_eq!(asked.operation.fence, before.fence + 1);
    let mut later = outcome(&asked, confirming(None));
    later.wake_in_ms = Some(HOUR);
    world.commit(later).await;
    world.clock.advance(10 * SECOND);
    assert!(world.wish(claim.intent.id).await);
    assert_eq!(world.due(1).await.len(), 1, "the last look was long enough ago");
}

async fn r15_a_wish_is_no_sooner_than_the_provider_wants(world: World) {
    let claim = world.sent("order-1").await;
    let mut later = outcome(&claim, confirming(None));
    (later.wake_in_ms, later.not_before_ms) = (Some(DAY), Some(HOUR));
    world.commit(later).await;
    let told = world.now().plus_ms(HOUR);
    assert!(world.wish(claim.intent.id).await);
    assert_eq!(world.story(claim.intent.id).await.operation.wake_at, Some(told));
    assert!(!world.wish(claim.intent.id).await);
}

async fn n2_many_wishes_are_one(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    assert!(world.wish(claim.intent.id).await);
    let once = world.story(claim.intent.id).await;
    for _ in 0..5 {
        world.clock.advance(100);
        assert!(!world.wish(claim.intent.id).await);
    }
    assert_eq!(world.story(claim.intent.id).await, once);
    // What is due soon anyway is not put off.
    world.clock.advance(SECOND);
    assert!(!world.wish(claim.intent.id).await);
}

async fn n2_a_wish_never_goes_over_a_lease(world: World) {
    let claim = world.sent("order-1").await;
    world.clock.advance(LEASE_MS - 1);
    assert!(!world.wish(claim.intent.id).await);
    assert_eq!(world.story(claim.intent.id).await.operation, claim.operation);
    let mut later = outcome(&claim, confirming(None));
    later.wake_in_ms = Some(DAY);
    world.commit(later).await;
    world.looked(claim.intent.id).await;
    assert!(!world.wish(claim.intent.id).await, "nor over a look");
    world.clock.advance(LEASE_MS);
    assert!(world.wish(claim.intent.id).await, "a lease that ended is none");
}

async fn n2_a_wish_about_what_is_over_or_unknown_does_nothing(world: World) {
    let (_, created) = world.offer("order-1").await;
    let paid = world.settled("order-2", succeeded("object-2")).await;
    let over = world.settled("order-3", declined()).await;
    for id in [created.id, paid.intent.id, over.intent.id] {
        assert!(!world.wish(id).await);
    }
    assert!(!world.wish(payment::IntentId(uuid())).await);
    let open = world.settled("order-4", confirming(None)).await;
    let elsewhere = tenant_of("mer_1", Mode::Live);
    assert!(!world.store.look_now(elsewhere, open.intent.id).await.unwrap());
    world.clock.advance(SECOND);
    assert!(world.due(10).await.is_empty());
}

async fn n2_a_wish_wakes_what_waits_for_a_person(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    let mut review = outcome(&asked, after(&asked, Event::Overdue));
    review.wake_in_ms = None;
    world.commit(review).await;
    assert!(world.wish(claim.intent.id).await);
    world.clock.advance(SECOND);
    assert_eq!(world.due(1).await.len(), 1);
}

async fn set_email(store: &dyn Store, id: payment::IntentId, email: &str) -> bool {
    store.set_email(tenant(), id, email.to_owned()).await.unwrap()
}

async fn an_address_is_taken_while_the_result_is_open_and_changes_no_version(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    assert!(set_email(world.store.as_ref(), intent.id, "early@example.com").await);
    let mut command = submit(&checkout, &intent);
    command.email = Some("form@example.com".into());
    let claim = crate::world::claimed(world.store.submit(command).await.unwrap());
    for (email, state) in [("one@example.com", None), ("two@example.com", Some(confirming(None)))] {
        if let Some(state) = state {
            world.commit(outcome(&claim, state)).await;
        }
        let before = world.intent(intent.id).await;
        assert!(set_email(world.store.as_ref(), intent.id, email).await);
        let now = world.intent(intent.id).await;
        assert_eq!(
            (now.email.as_deref(), now.version, now.state),
            (Some(email), before.version, before.state)
        );
    }
    // A holder at work is not overtaken by it, and does not forget it.
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    assert!(set_email(world.store.as_ref(), intent.id, "three@example.com").await);
    world.commit(outcome(&asked, State::Authorized { object: object("object-1") })).await;
    let kept = world.intent(intent.id).await;
    assert_eq!(
        (kept.email.as_deref(), kept.state.name()),
        (Some("three@example.com"), StateName::Authorized)
    );
}

async fn an_address_comes_too_late_when_it_is_over(world: World) {
    for (order, state) in [("order-1", succeeded("object-1")), ("order-2", declined())] {
        let over = world.settled(order, state).await;
        let before = world.intent(over.intent.id).await;
        assert!(!set_email(world.store.as_ref(), over.intent.id, "late@example.com").await);
        assert_eq!(world.intent(over.intent.id).await, before);
    }
    assert!(!set_email(world.store.as_ref(), payment::IntentId(uuid()), "no@example.com").await);
    let open = world.sent("order-3").await;
    let elsewhere = tenant_of("mer_2", Mode::Test);
    assert!(!world.store.set_email(elsewhere, open.intent.id, "no@example.com".into()).await.unwrap());
}
