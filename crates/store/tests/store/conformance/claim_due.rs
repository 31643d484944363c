//! Claiming what is due: leases, fences, and what a worker is told to do.

use payment::{Event, Holder, NotExecutedReason, State, StateName, Step};
use store::{Committed, Stage};
use uuid::Uuid;

use crate::{
    commands::{
        EXECUTE_MS, LEASE_MS, WAKE_MS, confirming, declined, frozen, object, outcome, submit, succeeded,
    },
    conformance::behaviours,
    world::{DAY, HOUR, World, after, claimed, is},
};

behaviours!(
    a_lease_is_respected_until_it_ends,
    fault_26_after_a_lease_another_goes_on_with_the_next_fence,
    fault_35_what_a_holder_lets_go_of_is_anothers_at_once,
    fault_35_what_a_looker_lets_go_of_is_looked_at_at_once,
    r15_a_new_send_carries_the_same_key_and_bytes,
    r17_past_execute_until_what_is_unanswered_is_looked_for,
    r10_past_execute_until_what_was_never_executed_ends,
    a_known_object_is_asked_for,
    fault_33_a_review_is_still_asked_about,
    what_waits_for_nobody_is_never_due,
    the_earliest_come_first_and_no_more_than_asked_for,
    an_empty_hand_claims_nothing,
);

async fn a_lease_is_respected_until_it_ends(world: World) {
    let claim = world.sent("order-1").await;
    world.clock.advance(LEASE_MS - 1);
    assert!(world.due(10).await.is_empty());
    world.clock.advance(1);
    let taken = world.due(10).await;
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].operation.id, claim.operation.id);
    assert!(world.due(10).await.is_empty(), "the new lease is respected too");
}

async fn fault_26_after_a_lease_another_goes_on_with_the_next_fence(world: World) {
    let first = world.sent("order-1").await;
    world.clock.advance(LEASE_MS);
    let second = world.due(1).await.remove(0);
    assert!(second.unanswered, "nobody knows whether the first send arrived");
    assert_eq!((second.operation.fence, second.operation.tries), (first.operation.fence + 1, 2));
    assert_eq!((second.step.clone(), second.now), (Step::Send, world.now()));
    assert_eq!(second.intent, first.intent, "a claim by itself changes no state");
    let lease = second.operation.lease.unwrap();
    assert_eq!(lease.until, world.now().plus_ms(LEASE_MS));
    assert_eq!(second.operation.wake_at, Some(lease.until));
    let story = world.story(first.intent.id).await;
    assert_eq!(story.operation, second.operation);
    let attempt = second.attempt.unwrap();
    assert_eq!((attempt.number, attempt.fence, attempt.started_at), (2, 2, world.now()));
    assert_eq!(story.attempts[1], attempt);
    assert_eq!(story.attempts[0].outcome, None);
}

async fn fault_35_what_a_holder_lets_go_of_is_anothers_at_once(world: World) {
    let held = world.sent("order-1").await;
    let retry = world.sent("order-2").await;
    world.commit(outcome(&retry, after(&retry, Event::NotExecuted(NotExecutedReason::RateLimited)))).await;
    let holder = held.operation.lease.unwrap().holder;
    world.store.hand_over(Holder(Uuid::nil()), LEASE_MS).await.unwrap();
    assert!(world.due(10).await.is_empty(), "that was nobody's");
    world.store.hand_over(holder, LEASE_MS).await.unwrap();
    let stale = world.store.commit(outcome(&held, succeeded("object-1"))).await.unwrap();
    assert!(
        matches!(stale, Committed::Stale { .. }),
        "what it learns after that changes nothing (R14): {stale:?}"
    );
    let next = world.due(10).await;
    assert_eq!(next.len(), 1, "what waits by itself goes on waiting");
    let next = &next[0];
    assert_eq!(
        (next.operation.id, next.step.clone(), next.unanswered),
        (held.operation.id, Step::Send, true)
    );
    assert_eq!(next.operation.fence, held.operation.fence + 2);
    assert_eq!(next.attempt.as_ref().unwrap().number, 2);
}

/// Whoever looked at it out of turn left the wake-up where it was.
async fn fault_35_what_a_looker_lets_go_of_is_looked_at_at_once(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    let looking = world.looked(claim.intent.id).await;
    world.clock.advance(WAKE_MS);
    assert!(world.due(10).await.is_empty(), "it is held");
    let holder = looking.operation.lease.unwrap().holder;
    world.store.hand_over(holder, LEASE_MS).await.unwrap();
    assert_eq!(world.due(10).await.len(), 1);
}

async fn r15_a_new_send_carries_the_same_key_and_bytes(world: World) {
    let claim = world.sent("order-1").await;
    let retry = after(&claim, Event::NotExecuted(NotExecutedReason::RateLimited));
    world.commit(outcome(&claim, retry)).await;
    world.clock.advance(WAKE_MS);
    let again = world.due(1).await.remove(0);
    assert_eq!((again.step.clone(), again.unanswered), (Step::Send, false));
    assert_eq!(again.operation.provider_key, claim.operation.provider_key);
    assert_eq!(again.operation.frozen.as_deref(), Some(&frozen("a request")));
    assert_eq!(again.operation.first_sent_at, claim.operation.first_sent_at);
    assert_eq!(again.operation.execute_until, claim.operation.execute_until);
    assert_ne!(again.attempt.unwrap().id, claim.attempt.unwrap().id, "R8: each send has its own id");
}

async fn r17_past_execute_until_what_is_unanswered_is_looked_for(world: World) {
    let silent = world.sent("order-1").await;
    let answered = world.settled("order-2", confirming(None)).await;
    world.clock.set(silent.operation.execute_until.unwrap());
    let due = world.due(10).await;
    assert_eq!(due.len(), 2);
    for claim in due {
        assert_eq!((claim.step.clone(), claim.attempt), (Step::Find, None));
        assert_eq!(claim.unanswered, claim.operation.id != answered.operation.id);
        is(&claim.intent, if claim.unanswered { StateName::Processing } else { StateName::Confirming });
    }
    assert_eq!(world.story(silent.intent.id).await.attempts.len(), 1, "nothing was sent again");
}

async fn r10_past_execute_until_what_was_never_executed_ends(world: World) {
    let claim = world.sent("order-1").await;
    let retry = after(&claim, Event::NotExecuted(NotExecutedReason::NotSent));
    world.commit(outcome(&claim, retry)).await;
    world.clock.advance(EXECUTE_MS - 1);
    assert_eq!(world.due(1).await[0].step, Step::Send, "until then it is sent");
    let (checkout, intent) = world.offer("order-2").await;
    let other = claimed(world.store.submit(submit(&checkout, &intent)).await.unwrap());
    let retry = after(&other, Event::NotExecuted(NotExecutedReason::NotSent));
    world.commit(outcome(&other, retry)).await;
    world.clock.set(other.operation.execute_until.unwrap());
    let due = world.due(10).await;
    let unsent = due.iter().find(|claim| claim.operation.id == other.operation.id).unwrap();
    assert_eq!((unsent.step.clone(), unsent.attempt.clone()), (Step::EndUnsent, None));
    let ended = after(unsent, Event::ExecuteUntilPassed);
    world.commit(outcome(unsent, ended)).await;
    is(&world.intent(other.intent.id).await, StateName::Canceled);
}

async fn a_known_object_is_asked_for(world: World) {
    let url = "https://bank.example/3ds".to_owned();
    let action = State::RequiresAction { object: object("object-1"), url };
    world.settled("order-1", action).await;
    world.settled("order-2", confirming(Some("object-2"))).await;
    world.settled("order-3", State::Authorized { object: object("object-3") }).await;
    world.clock.advance(WAKE_MS);
    let mut asked = Vec::new();
    for claim in world.due(10).await {
        let Step::Query(id) = claim.step.clone() else { panic!("{claim:?}") };
        assert_eq!((claim.operation.object.as_ref(), claim.attempt), (Some(&id), None));
        asked.push(id);
    }
    asked.sort();
    assert_eq!(asked, [object("object-1"), object("object-2"), object("object-3")]);
}

async fn fault_33_a_review_is_still_asked_about(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    world.clock.advance(DAY + HOUR);
    let late = world.due(1).await.remove(0);
    world.commit(outcome(&late, after(&late, Event::Overdue))).await;
    assert_eq!(world.story(claim.intent.id).await.operation.stage, Stage::Review);
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    assert_eq!(asked.step, Step::Find);
    // A person may also be the only one to wait for.
    let mut silent = outcome(&asked, asked.intent.state.clone());
    silent.wake_in_ms = None;
    world.commit(silent).await;
    world.clock.advance(10 * DAY);
    assert!(world.due(1).await.is_empty());
    assert_eq!(world.story(claim.intent.id).await.operation.wake_at, None);
}

async fn what_waits_for_nobody_is_never_due(world: World) {
    world.offer("order-1").await;
    world.settled("order-2", succeeded("object-2")).await;
    world.settled("order-3", declined()).await;
    world.clock.advance(30 * DAY);
    assert!(world.due(10).await.is_empty());
}

async fn the_earliest_come_first_and_no_more_than_asked_for(world: World) {
    let mut sent = Vec::new();
    for order in ["order-1", "order-2", "order-3"] {
        sent.push(world.settled(order, confirming(Some(order))).await.operation.id);
        world.clock.advance(1);
    }
    world.clock.advance(WAKE_MS);
    let first: Vec<_> = world.due(2).await.into_iter().map(|claim| claim.operation.id).collect();
    assert_eq!(first, sent[..2]);
    let rest: Vec<_> = world.due(2).await.into_iter().map(|claim| claim.operation.id).collect();
    assert_eq!(rest, sent[2..]);
}

async fn an_empty_hand_claims_nothing(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    world.clock.advance(HOUR);
    assert!(world.due(0).await.is_empty());
    assert_eq!(world.story(claim.intent.id).await.operation.fence, 1);
}
