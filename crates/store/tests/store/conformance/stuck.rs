//! What always ends its worker's life is tried no longer, and stands before a person (fault 33).

use payment::{OperationState, ReviewReason, State, StateName, Step};
use store::{ClaimDue, Claimed, Committed, Stage, Task};

use crate::{
    commands::{LEASE_MS, WAKE_MS, confirming, follow_up_outcome, outcome, refund, succeeded},
    conformance::behaviours,
    world::{self, DAY, HOUR, World, events},
};

behaviours!(
    fault_33_after_so_many_claims_a_person_has_to_look_and_the_others_flow,
    fault_33_a_commit_resets_the_count,
    fault_33_the_last_holder_is_fenced,
    fault_33_what_stands_before_a_person_is_asked_about_seldom,
    fault_33_a_refund_that_always_kills_its_worker_stands_before_a_person,
);

const MOST: i64 = 3;

impl World {
    async fn due_of(&self, most_unfinished: i64) -> Vec<Claimed> {
        self.store.claim_due(ClaimDue { most_unfinished, ..world::due(10) }).await.unwrap()
    }

    /// A submission and two more claims, none of which comes to anything; the last of them.
    async fn dies_again_and_again(&self, order: &str) -> Claimed {
        let mut last = self.sent(order).await;
        for tries in 2..=MOST {
            self.clock.advance(LEASE_MS);
            last = self.due_of(MOST).await.remove(0);
            assert_eq!((last.operation.unfinished, last.operation.tries), (tries, tries));
        }
        self.clock.advance(LEASE_MS);
        last
    }
}

async fn fault_33_after_so_many_claims_a_person_has_to_look_and_the_others_flow(world: World) {
    let last = world.dies_again_and_again("order-1").await;
    let other = world.settled("order-2", confirming(None)).await;
    world.clock.advance(WAKE_MS);
    let due = world.due_of(MOST).await;
    assert_eq!(due.iter().map(|claim| claim.intent.id).collect::<Vec<_>>(), [other.intent.id]);
    let intent = world.intent(last.intent.id).await;
    let stuck = State::NeedsReview {
        since: world.now(),
        why: ReviewReason::Stuck,
        object: None,
        suspects: Vec::new(),
    };
    assert_eq!((intent.state, intent.version), (stuck, last.intent.version + 1));
    let story = world.story(intent.id).await;
    assert_eq!((story.operation.stage, story.operation.lease), (Stage::Review, None));
    assert_eq!(story.operation.fence, last.operation.fence + 1, "it is out of every holder's hands");
    assert_eq!(story.operation.wake_at, Some(world.now().plus_ms(HOUR)));
    assert_eq!(events(&story), ["opened", "submitted", "stuck"]);
    assert_eq!(story.attempts.len() as i64, MOST, "it is not sent again");
}

async fn fault_33_a_commit_resets_the_count(world: World) {
    let last = world.dies_again_and_again("order-1").await;
    // The last holder was slow, not dead.
    world.commit(outcome(&last, last.intent.state.clone())).await;
    assert_eq!(world.story(last.intent.id).await.operation.unfinished, 0);
    for unfinished in 1..=MOST {
        world.clock.advance(LEASE_MS);
        assert_eq!(world.due_of(MOST).await[0].operation.unfinished, unfinished);
    }
    world.clock.advance(LEASE_MS);
    assert!(world.due_of(MOST).await.is_empty());
}

async fn fault_33_the_last_holder_is_fenced(world: World) {
    let last = world.dies_again_and_again("order-1").await;
    assert!(world.due_of(MOST).await.is_empty());
    let late = world.store.commit(outcome(&last, succeeded("object-1"))).await.unwrap();
    assert!(matches!(late, Committed::Stale { .. }), "{late:?}");
    // What it knows is not lost: a look finds it.
    let look = world.looked(last.intent.id).await;
    assert_eq!(world.commit(outcome(&look, succeeded("object-1"))).await, (true, false));
}

async fn fault_33_what_stands_before_a_person_is_asked_about_seldom(world: World) {
    let last = world.dies_again_and_again("order-1").await;
    world.due_of(MOST).await;
    for _ in 0..2 {
        world.clock.advance(HOUR - 1);
        assert!(world.due_of(MOST).await.is_empty());
        world.clock.advance(1);
        let asked = world.due_of(MOST).await.remove(0);
        // Its asking dies too: another hour.
        assert_eq!((asked.step, asked.attempt), (Step::Find, None));
    }
    assert_eq!(events(&world.story(last.intent.id).await), ["opened", "submitted", "stuck"], "told once");
    world.clock.advance(DAY);
    let asked = world.due_of(MOST).await.remove(0);
    world.commit(outcome(&asked, asked.intent.state.clone())).await;
    world.clock.advance(WAKE_MS);
    assert_eq!(world.due_of(MOST).await.len(), 1, "a commit resets this too");
}

async fn fault_33_a_refund_that_always_kills_its_worker_stands_before_a_person(world: World) {
    let claim = world.settled("order-1", succeeded("object-1")).await;
    let refund = world.followed(refund(&claim.intent, "object-1", "100.00")).await;
    let mut last = None;
    for unfinished in 1..=MOST {
        let due = world.due_of(MOST).await.remove(0);
        assert_eq!((due.operation.id, due.operation.unfinished), (refund.id, unfinished));
        world.clock.advance(LEASE_MS);
        last = Some(due);
    }
    assert!(world.due_of(MOST).await.is_empty());
    let story = world.story(claim.intent.id).await;
    let Task::FollowUp(stuck) = &story.follow_ups[0].task else { panic!("{story:?}") };
    assert_eq!(stuck.state, OperationState::NeedsReview { since: world.now() });
    assert_eq!(story.journal.last().unwrap().line.event, "refund.stuck");
    assert_eq!(world.intent(claim.intent.id).await.state.name(), StateName::Succeeded);
    assert_eq!(story.charges[0].reserved_minor, 10_000, "its sum stays reserved");
    let late = follow_up_outcome(&last.unwrap(), OperationState::Succeeded { at: world.now() });
    let late = world.store.commit(late).await.unwrap();
    assert!(matches!(late, Committed::Stale { .. }), "{late:?}");
}
