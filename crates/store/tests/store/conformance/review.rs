//! What stands before a person: operations, extras and strangers, of every merchant.

use payment::{Event, OperationState};
use store::{Claimed, LookOf, Resolution, ReviewId, ReviewItem};

use crate::{
    commands::{
        WAKE_MS, charge, confirming, follow_up_outcome, look, object, outcome, refund, stranger, succeeded,
    },
    conformance::behaviours,
    world::{SECOND, World, after, looking},
};

behaviours!(
    nothing_stands_before_a_person_that_need_not,
    operations_that_wait_for_a_person_are_listed,
    extras_are_listed_until_they_are_refunded_in_full,
    strangers_are_listed_until_they_are_resolved,
    no_more_of_each_kind_than_asked_for,
    more_of_any_kind_than_asked_for_is_told,
    each_is_found_by_its_id_alone,
);

impl World {
    /// The review's list in short words.
    async fn review(&self, limit: u32) -> Vec<String> {
        self.store.review(limit).await.unwrap().items.into_iter().map(words).collect()
    }

    /// What of that id waits, in short words.
    async fn waits(&self, id: ReviewId) -> Option<String> {
        self.store.review_item(id).await.unwrap().map(words)
    }

    pub async fn overdue(&self, order: &str) -> Claimed {
        let claim = self.settled(order, confirming(None)).await;
        let seen = self.looked(claim.intent.id).await;
        self.commit(outcome(&seen, after(&seen, Event::Overdue))).await;
        claim
    }

    /// A payment with extras of 1500.00 each.
    async fn paid_with_extras(&self, order: &str, extras: &[&str]) -> Claimed {
        let claim = self.sent(order).await;
        let mut paid = outcome(&claim, succeeded(order));
        paid.charges.extend(extras.iter().map(|id| charge(object(id))));
        self.commit(paid).await;
        claim
    }
}

fn words(item: ReviewItem) -> String {
    match item {
        ReviewItem::Operation { checkout, intent, operation } => {
            assert_eq!((intent.checkout, operation.intent), (checkout.id, intent.id));
            format!("{} {}", operation.task.kind().as_str(), checkout.order)
        }
        ReviewItem::Extra(charge) => format!("extra {}", charge.object),
        ReviewItem::Stranger(found) => format!("stranger {}", found.object),
    }
}

async fn nothing_stands_before_a_person_that_need_not(world: World) {
    world.offer("order-1").await;
    world.sent("order-2").await;
    world.settled("order-3", confirming(None)).await;
    let paid = world.settled("order-4", succeeded("object-4")).await;
    world.followed(refund(&paid.intent, "object-4", "1.00")).await;
    assert_eq!(world.review(10).await, Vec::<String>::new());
}

async fn operations_that_wait_for_a_person_are_listed(world: World) {
    let first = world.overdue("order-1").await;
    world.overdue("order-2").await;
    let paid = world.settled("order-3", succeeded("object-3")).await;
    world.followed(refund(&paid.intent, "object-3", "1.00")).await;
    let work = world.due(10).await.remove(0);
    world.commit(follow_up_outcome(&work, OperationState::NeedsReview { since: world.now() })).await;
    assert_eq!(world.review(10).await, ["pay order-1", "pay order-2", "refund order-3"]);
    let seen = world.looked(first.intent.id).await;
    world.commit(outcome(&seen, after(&seen, Event::JudgedNotCharged))).await;
    assert_eq!(world.review(10).await, ["pay order-2", "refund order-3"]);
}

async fn extras_are_listed_until_they_are_refunded_in_full(world: World) {
    let claim = world.paid_with_extras("order-1", &["extra-1"]).await;
    for (sum, listed) in [("1000.00", true), ("500.00", false)] {
        assert_eq!(world.review(10).await, ["extra extra-1"]);
        world.followed(refund(&claim.intent, "extra-1", sum)).await;
        assert_eq!(world.review(10).await, ["extra extra-1"], "not yet done");
        let work = world.due(10).await.remove(0);
        world.commit(follow_up_outcome(&work, OperationState::Succeeded { at: world.now() })).await;
        assert_eq!(!world.review(10).await.is_empty(), listed);
    }
}

async fn strangers_are_listed_until_they_are_resolved(world: World) {
    let found = [stranger("b", Some("order-1")), stranger("a", None)];
    for stranger in &found {
        world.store.put_stranger(stranger.clone()).await.unwrap();
        world.clock.advance(SECOND);
    }
    assert_eq!(world.review(10).await, ["stranger b", "stranger a"], "the oldest first");
    for (stranger, left) in found.into_iter().zip([1, 0]) {
        let resolution = Resolution { linked: left == 1, reason: "seen".into() };
        world.store.resolve_stranger(stranger, resolution).await.unwrap();
        assert_eq!(world.review(10).await.len(), left);
    }
}

async fn no_more_of_each_kind_than_asked_for(world: World) {
    for order in ["order-1", "order-2"] {
        world.overdue(order).await;
        world.store.put_stranger(stranger(&format!("of {order}"), None)).await.unwrap();
    }
    world.clock.advance(WAKE_MS);
    world.paid_with_extras("order-3", &["extra-1", "extra-2"]).await;
    assert_eq!(world.review(1).await, ["pay order-1", "extra extra-1", "stranger of order-1"]);
    assert_eq!(world.review(0).await, Vec::<String>::new());
    assert_eq!(world.review(10).await.len(), 6);
}

async fn more_of_any_kind_than_asked_for_is_told(world: World) {
    let more = async |limit| world.store.review(limit).await.unwrap().more;
    assert!(!more(0).await, "there is nothing");
    world.store.put_stranger(stranger("a", None)).await.unwrap();
    assert_eq!((more(0).await, more(1).await), (true, false));
    world.overdue("order-1").await;
    world.clock.advance(WAKE_MS);
    world.paid_with_extras("order-3", &["extra-1", "extra-2"]).await;
    assert_eq!((more(1).await, more(2).await), (true, false), "an extra");
    for order in ["order-4", "order-5"] {
        world.overdue(order).await;
    }
    assert_eq!((more(2).await, more(3).await), (true, false), "an operation");
    assert!(!more(u32::MAX).await);
}

/// Whatever else waits, and only while it does.
async fn each_is_found_by_its_id_alone(world: World) {
    let overdue = world.overdue("order-1").await;
    let paid = world.settled("order-2", succeeded("object-2")).await;
    let refunding = world.followed(refund(&paid.intent, "object-2", "1.00")).await;
    let (of_payment, of_refund) = (ReviewId::Intent(overdue.intent.id), ReviewId::Operation(refunding.id));
    assert_eq!(world.waits(of_refund.clone()).await, None, "a worker is at it");
    let work = world.due(10).await.remove(0);
    world.commit(follow_up_outcome(&work, OperationState::NeedsReview { since: world.now() })).await;
    world.clock.advance(WAKE_MS);
    let twice = world.paid_with_extras("order-3", &["extra-1"]).await;
    let found = stranger("stranger-1", None);
    world.store.put_stranger(found.clone()).await.unwrap();
    let (of_extra, of_stranger) =
        (ReviewId::Object(object("extra-1")), ReviewId::Object(found.object.clone()));

    assert_eq!(world.waits(of_payment.clone()).await.as_deref(), Some("pay order-1"));
    let by_operation = ReviewId::Operation(overdue.operation.id);
    assert_eq!(world.waits(by_operation).await.as_deref(), Some("pay order-1"), "by its operation as well");
    assert_eq!(world.waits(of_refund.clone()).await.as_deref(), Some("refund order-2"));
    assert_eq!(world.waits(of_extra.clone()).await.as_deref(), Some("extra extra-1"));
    assert_eq!(world.waits(of_stranger.clone()).await.as_deref(), Some("stranger stranger-1"));
    let none = [
        ReviewId::Intent(paid.intent.id),
        ReviewId::Operation(paid.operation.id),
        ReviewId::Object(object("object-2")),
        ReviewId::Object(object("order-3")),
    ];
    for id in none {
        assert_eq!(world.waits(id.clone()).await, None, "{id:?}");
    }

    let seen = world.looked(overdue.intent.id).await;
    world.commit(outcome(&seen, after(&seen, Event::JudgedNotCharged))).await;
    let seen = looking(world.store.claim_look(look(LookOf::Operation(refunding.id))).await.unwrap());
    world.commit(follow_up_outcome(&seen, OperationState::NotExecuted)).await;
    world.followed(refund(&twice.intent, "extra-1", "1500.00")).await;
    let work = world.due(10).await.remove(0);
    world.commit(follow_up_outcome(&work, OperationState::Succeeded { at: world.now() })).await;
    let resolution = Resolution { linked: false, reason: "seen".into() };
    world.store.resolve_stranger(found, resolution).await.unwrap();
    for id in [of_payment, of_refund, of_extra, of_stranger] {
        assert_eq!(world.waits(id.clone()).await, None, "{id:?} is over");
    }
}
