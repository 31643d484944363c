//! What stands before a person: operations, extras and strangers, of every merchant.

use payment::{Event, OperationState};
use store::{Claimed, Resolution, ReviewItem};

use crate::{
    commands::{
        WAKE_MS, charge, confirming, follow_up_outcome, object, outcome, refund, stranger, succeeded,
    },
    conformance::behaviours,
    world::{SECOND, World, after},
};

behaviours!(
    nothing_stands_before_a_person_that_need_not,
    operations_that_wait_for_a_person_are_listed,
    extras_are_listed_until_they_are_refunded_in_full,
    strangers_are_listed_until_they_are_resolved,
    no_more_of_each_kind_than_asked_for,
);

impl World {
    /// The review's list in short words.
    async fn review(&self, limit: u32) -> Vec<String> {
        let items = self.store.review(limit).await.unwrap();
        let words = |item: ReviewItem| match item {
            ReviewItem::Operation { checkout, intent, operation } => {
                assert_eq!((intent.checkout, operation.intent), (checkout.id, intent.id));
                format!("{} {}", operation.task.kind().as_str(), checkout.order)
            }
            ReviewItem::Extra(charge) => format!("extra {}", charge.object),
            ReviewItem::Stranger(found) => format!("stranger {}", found.object),
        };
        items.into_iter().map(words).collect()
    }

    async fn overdue(&self, order: &str) -> Claimed {
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
