//! Writing what came of a claim: fenced, whole, and once.

use payment::{
    Anomaly, CheckoutStatus, Event, NotExecutedReason, OperationState, PaidWith, State, StateName,
    UnknownReason,
};
use store::{Asked, Committed, KnownKey, StoreError, Submitted};

use crate::{
    commands::{
        LEASE_MS, WAKE_MS, charge, confirming, declined, final_answer, follow_up_outcome, object, outcome,
        refund, submit, succeeded,
    },
    conformance::behaviours,
    world::{DAY, START, World, after, events, is},
};

behaviours!(
    an_outcome_is_written_as_a_whole,
    r14_fault_28_a_stale_holder_writes_nothing,
    r14_a_holder_commits_once,
    r14_a_stale_version_writes_nothing,
    fault_15_the_same_commit_again_is_recognised,
    r2_the_replay_is_stored_once,
    r12_the_first_charge_pays_the_checkout,
    fault_63_a_second_charge_is_an_extra_and_told,
    fault_15_an_extra_is_told_again_as_the_extra_it_was,
    fault_15_a_commit_without_a_charge_tells_of_none,
    a_charge_pays_a_checkout_whose_time_is_over,
    the_same_object_is_charged_once,
    what_it_is_paid_with_is_not_forgotten,
    an_open_operation_without_a_wake_up_is_refused,
    r15_retries_are_counted_anew_once_something_has_changed,
    fault_15_a_charge_that_was_asked_for_earlier_is_told_again,
);

async fn an_outcome_is_written_as_a_whole(world: World) {
    let claim = world.sent("order-1").await;
    world.clock.advance(500);
    let unanswered = after(&claim, Event::Unanswered(UnknownReason::NoAnswer));
    assert_eq!(world.commit(outcome(&claim, unanswered.clone())).await, (false, false));
    let intent = world.intent(claim.intent.id).await;
    assert_eq!((intent.state.clone(), intent.version), (unanswered, claim.intent.version + 1));
    let story = world.story(intent.id).await;
    assert_eq!((story.operation.lease, story.operation.fence), (None, 1));
    assert_eq!(story.operation.wake_at, Some(world.now().plus_ms(WAKE_MS)));
    assert_eq!(story.attempts[0].outcome.as_deref(), Some("answered"));
    assert_eq!(events(&story), ["opened", "submitted", "observed"]);
    assert_eq!(story.journal[2].line.at, world.now());
    assert_eq!(
        (story.journal[2].line.from.as_str(), story.journal[2].line.to.as_str()),
        ("processing", "confirming")
    );
}

async fn r14_fault_28_a_stale_holder_writes_nothing(world: World) {
    let zombie = world.sent("order-1").await;
    world.clock.advance(LEASE_MS);
    let holder = world.due(1).await.remove(0);
    let before = (world.checkout(zombie.checkout.id).await, world.story(zombie.intent.id).await);
    let refused = world.store.commit(outcome(&zombie, succeeded("object-1"))).await.unwrap();
    assert_eq!(refused, Committed::Stale { fence: holder.operation.fence, version: holder.intent.version });
    let now = (world.checkout(zombie.checkout.id).await, world.story(zombie.intent.id).await);
    assert_eq!(now, before, "not a row changed");
    // The holder is not disturbed, and the zombie stays stale afterwards.
    world.commit(outcome(&holder, confirming(Some("object-1")))).await;
    let refused = world.store.commit(outcome(&zombie, declined())).await.unwrap();
    assert!(matches!(refused, Committed::Stale { fence: 2, .. }), "{refused:?}");
    is(&world.intent(zombie.intent.id).await, StateName::Confirming);
}

async fn r14_a_holder_commits_once(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    let mut second = outcome(&claim, declined());
    second.version += 1;
    let refused = world.store.commit(second).await.unwrap();
    assert_eq!(refused, Committed::Stale { fence: 1, version: claim.intent.version + 1 });
    is(&world.intent(claim.intent.id).await, StateName::Confirming);
}

async fn r14_a_stale_version_writes_nothing(world: World) {
    let claim = world.sent("order-1").await;
    let mut stale = outcome(&claim, succeeded("object-1"));
    stale.version -= 1;
    // Its lease is held, so this is not the commit that was already written.
    let refused = world.store.commit(stale).await.unwrap();
    assert_eq!(refused, Committed::Stale { fence: 1, version: claim.intent.version });
    is(&world.intent(claim.intent.id).await, StateName::Processing);
    assert_eq!(world.checkout(claim.checkout.id).await.0.status, CheckoutStatus::Open);
}

async fn fault_15_the_same_commit_again_is_recognised(world: World) {
    let claim = world.sent("order-1").await;
    let commit = outcome(&claim, succeeded("object-1"));
    let first = world.store.commit(commit.clone()).await.unwrap();
    let story = world.story(claim.intent.id).await;
    assert_eq!(first, Committed::Done { paid: true, extra: false, other_sum: false });
    assert_eq!(world.store.commit(commit).await.unwrap(), first);
    assert_eq!(world.story(claim.intent.id).await, story, "it is not written twice");
}

async fn r2_the_replay_is_stored_once(world: World) {
    let claim = world.sent("order-1").await;
    let mut early = outcome(&claim, confirming(None));
    early.answer = Some(final_answer("first"));
    world.commit(early).await;
    world.clock.advance(WAKE_MS);
    let later = world.due(1).await.remove(0);
    let mut second = outcome(&later, declined());
    second.answer = Some(final_answer("second"));
    world.commit(second).await;
    let read = world.store.submit(submit(&claim.checkout, &claim.intent)).await.unwrap();
    let Submitted::Known(KnownKey::Same { answer, .. }) = read else { panic!("{read:?}") };
    assert_eq!(answer, Some(final_answer("first")));
}

async fn r12_the_first_charge_pays_the_checkout(world: World) {
    let claim = world.sent("order-1").await;
    assert_eq!(world.commit(outcome(&claim, succeeded("object-1"))).await, (true, false));
    let (checkout, intent) = world.checkout(claim.checkout.id).await;
    assert_eq!(checkout.status, CheckoutStatus::Paid);
    is(&intent, StateName::Succeeded);
    assert_eq!(world.story(intent.id).await.operation.object, Some(object("object-1")));
}

/// Another object takes money while ours is held; then ours is captured too.
async fn charged_twice(world: &World) -> (store::Commit, store::Commit) {
    let claim = world.settled("order-1", State::Authorized { object: object("ours") }).await;
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    let mut second_object = outcome(&asked, asked.intent.state.clone());
    second_object.charges = vec![charge(object("other"))];
    second_object.anomalies = vec![Anomaly::SecondObject];
    assert_eq!(world.commit(second_object.clone()).await, (true, false));
    is(&world.intent(claim.intent.id).await, StateName::Authorized);
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    let ours = outcome(&asked, succeeded("ours"));
    assert_eq!(world.commit(ours.clone()).await, (false, true));
    (second_object, ours)
}

async fn fault_63_a_second_charge_is_an_extra_and_told(world: World) {
    let (_, ours) = charged_twice(&world).await;
    assert_eq!(world.checkout(ours.checkout).await.0.status, CheckoutStatus::Paid);
    let story = world.story(ours.intent).await;
    let alarms: Vec<_> = story.journal.iter().filter(|row| row.line.event == "anomaly").collect();
    let evidence: Vec<_> = alarms.iter().map(|row| row.line.evidence.as_str()).collect();
    assert_eq!(evidence, ["second_object", "extra_charge"]);
}

async fn fault_15_an_extra_is_told_again_as_the_extra_it_was(world: World) {
    let (_, ours) = charged_twice(&world).await;
    assert_eq!(world.commit(ours).await, (false, true));
}

async fn fault_15_a_commit_without_a_charge_tells_of_none(world: World) {
    let claim = world.settled("order-1", State::Authorized { object: object("ours") }).await;
    for other in ["other-1", "other-2"] {
        world.clock.advance(WAKE_MS);
        let asked = world.due(1).await.remove(0);
        let mut second_object = outcome(&asked, asked.intent.state.clone());
        second_object.charges = vec![charge(object(other))];
        world.commit(second_object).await;
    }
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    let nothing_new = outcome(&asked, asked.intent.state.clone());
    assert_eq!(world.commit(nothing_new.clone()).await, (false, false));
    assert_eq!(world.commit(nothing_new).await, (false, false), "told again as it was told first");
    is(&world.intent(claim.intent.id).await, StateName::Authorized);
}

async fn a_charge_pays_a_checkout_whose_time_is_over(world: World) {
    let claim = world.settled("order-1", confirming(Some("object-1"))).await;
    world.clock.advance(3 * DAY);
    assert_eq!(world.store.expire(10).await.unwrap().intents.len(), 0);
    let late = world.due(1).await.remove(0);
    assert_eq!(world.commit(outcome(&late, succeeded("object-1"))).await, (true, false));
    assert_eq!(world.checkout(claim.checkout.id).await.0.status, CheckoutStatus::Paid);
}

async fn the_same_object_is_charged_once(world: World) {
    let claim = world.settled("order-1", State::Authorized { object: object("ours") }).await;
    for expected in [(true, false), (false, false)] {
        world.clock.advance(WAKE_MS);
        let asked = world.due(1).await.remove(0);
        let mut seen = outcome(&asked, asked.intent.state.clone());
        seen.charges = vec![charge(object("other"))];
        assert_eq!(world.commit(seen).await, expected);
    }
    assert!(!events(&world.story(claim.intent.id).await).contains(&"anomaly"));
}

async fn what_it_is_paid_with_is_not_forgotten(world: World) {
    let claim = world.sent("order-1").await;
    let card = PaidWith { last4: Some("4477".into()) };
    let mut told = outcome(&claim, confirming(Some("object-1")));
    told.paid_with = Some(card.clone());
    world.commit(told).await;
    for silent in [None, Some(PaidWith { last4: None })] {
        world.clock.advance(WAKE_MS);
        let asked = world.due(1).await.remove(0);
        let mut untold = outcome(&asked, confirming(Some("object-1")));
        untold.paid_with = silent;
        world.commit(untold).await;
        assert_eq!(world.intent(claim.intent.id).await.paid_with, Some(card.clone()));
    }
}

async fn an_open_operation_without_a_wake_up_is_refused(world: World) {
    let claim = world.sent("order-1").await;
    let mut forgotten = outcome(&claim, confirming(None));
    forgotten.wake_in_ms = None;
    let refused = world.store.commit(forgotten).await;
    assert!(matches!(refused, Err(StoreError::Unreadable(_))), "{refused:?}");
    is(&world.intent(claim.intent.id).await, StateName::Processing);
    assert_eq!(world.story(claim.intent.id).await.operation, claim.operation);
    world.commit(outcome(&claim, confirming(None))).await;
}

/// The growing wait is for what stays as it is, a payment's state or a refund's.
async fn r15_retries_are_counted_anew_once_something_has_changed(world: World) {
    let tries = async || {
        world.clock.advance(WAKE_MS);
        let claim = world.due(1).await.remove(0);
        (claim.operation.tries, claim)
    };
    let sent = world.sent("order-1").await;
    let not_sent = after(&sent, Event::NotExecuted(NotExecutedReason::NotSent));
    world.commit(outcome(&sent, not_sent)).await;
    let (second, claim) = tries().await;
    world.commit(outcome(&claim, confirming(None))).await;
    let (changed, claim) = tries().await;
    assert_eq!((second, changed), (2, 1));

    world.commit(outcome(&claim, succeeded("object-1"))).await;
    world.followed(refund(&sent.intent, "object-1", "1.00")).await;
    let unknown = || OperationState::Confirming { since: START, why: UnknownReason::NoAnswer };
    let (first, claim) = tries().await;
    world.commit(follow_up_outcome(&claim, unknown())).await;
    let (changed, claim) = tries().await;
    world.commit(follow_up_outcome(&claim, unknown())).await;
    let (second, _) = tries().await;
    assert_eq!((first, changed, second), (1, 1, 2));
}

/// Its charge is of the moment of the commit, whenever the provider was asked.
async fn fault_15_a_charge_that_was_asked_for_earlier_is_told_again(world: World) {
    let claim = world.sent("order-1").await;
    world.clock.advance(WAKE_MS);
    let mut commit = outcome(&claim, succeeded("object-1"));
    commit.asked = Asked::At(claim.now);
    assert_eq!(world.commit(commit.clone()).await, (true, false));
    assert_eq!(world.commit(commit).await, (true, false));
}
