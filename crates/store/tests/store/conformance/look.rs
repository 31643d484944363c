//! Claiming an operation in whatever stage, for one who learned something about it: fenced like any claim.

use payment::{Anomaly, CheckoutStatus, Event, Mode, OperationId, State, StateName, Step};
use store::{Asked, ClaimLook, Claimed, Commit, Committed, LookOf, Looking, Stage, Submitted};

use crate::{
    commands::{
        LEASE_MS, WAKE_MS, charge, confirming, declined, look, object, outcome, refund, submit, succeeded,
        tenant_of,
    },
    conformance::behaviours,
    world::{DAY, World, after, claimed, is, looking, uuid},
};

behaviours!(
    an_operation_is_looked_at_in_any_stage,
    an_operation_in_hand_is_not_looked_at,
    r14_a_look_fences_the_holder_before_it,
    r14_a_look_is_fenced_by_who_comes_after_it,
    what_a_dead_looker_held_is_due_again,
    a_look_tells_of_an_unanswered_send,
    a_follow_up_is_looked_at_by_itself,
    what_is_not_there_is_not_found,
    fault_62_a_look_charges_a_finished_intent,
    fault_62_money_of_an_intent_that_was_never_sent_is_charged,
    a_submission_overrules_a_looker,
    fault_15_a_submission_after_a_look_is_recognised,
    absence_begun_is_remembered_until_it_is_denied,
    a_finished_look_is_remembered,
    a_look_out_of_turn_leaves_the_plan_and_the_count,
);

impl World {
    async fn look_at(&self, of: LookOf) -> Looking {
        self.store.claim_look(look(of)).await.unwrap()
    }
}

async fn an_operation_is_looked_at_in_any_stage(world: World) {
    let (_, created) = world.offer("order-1").await;
    let open = world.settled("order-2", confirming(None)).await.intent;
    let review = world.settled("order-3", confirming(None)).await;
    world.clock.advance(WAKE_MS);
    for due in world.due(10).await {
        let state =
            if due.intent.id == review.intent.id { after(&due, Event::Overdue) } else { confirming(None) };
        world.commit(outcome(&due, state)).await;
    }
    let done = world.settled("order-4", declined()).await.intent;
    let stages = [Stage::Created, Stage::Open, Stage::Review, Stage::Done];
    for (id, stage) in [created.id, open.id, review.intent.id, done.id].into_iter().zip(stages) {
        let before = world.story(id).await.operation;
        let seen = world.looked(id).await;
        assert_eq!((seen.operation.stage, before.stage), (stage, stage));
        assert_eq!(seen.operation.fence, before.fence + 1);
        assert_eq!(seen.operation.lease.unwrap().until, world.now().plus_ms(LEASE_MS));
        assert_eq!((seen.step.clone(), seen.attempt.clone()), (Step::Nothing, None));
        assert_eq!((seen.operation.wake_at, seen.operation.tries), (before.wake_at, before.tries));
        assert_eq!(seen.operation.unfinished, before.unfinished, "a look is no try");
        assert_eq!(world.story(id).await.operation, seen.operation);
        assert_eq!((seen.intent.id, seen.now), (id, world.now()));
    }
}

async fn an_operation_in_hand_is_not_looked_at(world: World) {
    let claim = world.sent("order-1").await;
    world.clock.advance(LEASE_MS - 1);
    assert_eq!(world.look_at(LookOf::Intent(claim.intent.id)).await, Looking::Held);
    assert_eq!(world.story(claim.intent.id).await.operation, claim.operation);
    world.clock.advance(1);
    world.looked(claim.intent.id).await;
    assert_eq!(world.look_at(LookOf::Intent(claim.intent.id)).await, Looking::Held, "a look is a lease too");
}

async fn r14_a_look_fences_the_holder_before_it(world: World) {
    let claim = world.sent("order-1").await;
    world.clock.advance(LEASE_MS);
    let seen = world.looked(claim.intent.id).await;
    let stale = world.store.commit(outcome(&claim, declined())).await.unwrap();
    assert_eq!(stale, Committed::Stale { fence: seen.operation.fence, version: claim.intent.version });
    assert!(world.due(10).await.is_empty(), "nor is it anybody else's");
    assert_eq!(world.commit(outcome(&seen, succeeded("object-1"))).await, (true, false));
    is(&world.intent(claim.intent.id).await, StateName::Succeeded);
}

async fn r14_a_look_is_fenced_by_who_comes_after_it(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    let seen = world.looked(claim.intent.id).await;
    world.clock.advance(LEASE_MS);
    let later = world.due(1).await.remove(0);
    assert_eq!(later.operation.fence, seen.operation.fence + 1);
    let stale = world.store.commit(outcome(&seen, declined())).await.unwrap();
    assert!(matches!(stale, Committed::Stale { .. }), "{stale:?}");
}

async fn what_a_dead_looker_held_is_due_again(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    world.clock.advance(WAKE_MS - 1);
    world.looked(claim.intent.id).await;
    world.clock.advance(LEASE_MS - 1);
    assert!(world.due(1).await.is_empty());
    world.clock.advance(1);
    assert_eq!(world.due(1).await[0].step, Step::Send);
}

async fn a_look_tells_of_an_unanswered_send(world: World) {
    let silent = world.sent("order-1").await;
    let answered = world.settled("order-2", confirming(None)).await;
    world.clock.advance(LEASE_MS);
    assert!(world.looked(silent.intent.id).await.unanswered);
    assert!(!world.looked(answered.intent.id).await.unanswered);
}

async fn a_follow_up_is_looked_at_by_itself(world: World) {
    let claim = world.settled("order-1", succeeded("object-1")).await;
    let refund = world.followed(refund(&claim.intent, "object-1", "100.00")).await;
    let seen = looking(world.look_at(LookOf::Operation(refund.id)).await);
    assert_eq!(
        (seen.operation.id, seen.operation.task, seen.intent.id),
        (refund.id, refund.task, claim.intent.id)
    );
    assert!(world.due(10).await.is_empty(), "the looker holds it");
    assert_eq!(world.looked(claim.intent.id).await.operation.id, claim.operation.id);
}

async fn what_is_not_there_is_not_found(world: World) {
    let claim = world.sent("order-1").await;
    world.clock.advance(LEASE_MS);
    let of = LookOf::Intent(claim.intent.id);
    let elsewhere = ClaimLook { tenant: tenant_of("mer_2", Mode::Test), ..look(of) };
    assert_eq!(world.store.claim_look(elsewhere).await.unwrap(), Looking::NotFound);
    let nothing = world.look_at(LookOf::Operation(OperationId(uuid()))).await;
    assert_eq!(nothing, Looking::NotFound);
}

async fn fault_62_a_look_charges_a_finished_intent(world: World) {
    let first = world.settled("order-1", declined()).await;
    world.tried_again(first.checkout.id).await;
    let seen = world.looked(first.intent.id).await;
    let mut paid = outcome(&seen, declined());
    paid.charges = vec![charge(object("object-1"))];
    paid.object = Some(object("object-1"));
    paid.anomalies = vec![Anomaly::PaidAfterEnd];
    assert_eq!(world.commit(paid.clone()).await, (true, false));
    assert_eq!(world.commit(paid).await, (true, false), "and again after a lost answer");
    let (checkout, _) = world.checkout(first.checkout.id).await;
    assert_eq!(checkout.status, CheckoutStatus::Paid);
    let intent = world.intent(first.intent.id).await;
    assert_eq!(intent.state, declined(), "the intent keeps its state");
    let story = world.story(intent.id).await;
    assert_eq!(
        (story.operation.stage, story.operation.wake_at, story.operation.lease),
        (Stage::Done, None, None)
    );
    assert_eq!((story.charges.len(), &story.charges[0].object), (1, &object("object-1")));
    assert_eq!(story.journal.last().unwrap().line.evidence, "paid_after_end");
    world.clock.advance(DAY);
    assert!(world.due(10).await.iter().all(|due| due.intent.id != intent.id), "it stays over");
}

/// A backup was restored: what it calls created had been sent and paid.
async fn fault_62_money_of_an_intent_that_was_never_sent_is_charged(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    let seen = world.looked(intent.id).await;
    let mut paid = outcome(&seen, succeeded("object-1"));
    paid.anomalies = vec![Anomaly::NeverSent];
    assert_eq!(world.commit(paid).await, (true, false));
    is(&world.intent(intent.id).await, StateName::Succeeded);
    let refused = world.store.submit(submit(&checkout, &intent)).await.unwrap();
    assert!(matches!(refused, Submitted::Over(..)), "{refused:?}");
}

async fn a_submission_overrules_a_looker(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    let seen = world.looked(intent.id).await;
    let sent = claimed(world.store.submit(submit(&checkout, &intent)).await.unwrap());
    assert_eq!(sent.operation.fence, seen.operation.fence + 1);
    assert_eq!(sent.attempt.as_ref().unwrap().fence, sent.operation.fence);
    let stale = world.store.commit(outcome(&seen, State::Expired { code: None })).await.unwrap();
    assert!(matches!(stale, Committed::Stale { .. }), "{stale:?}");
    assert_eq!(world.commit(outcome(&sent, succeeded("object-1"))).await, (true, false));
}

async fn fault_15_a_submission_after_a_look_is_recognised(world: World) {
    let (checkout, intent) = world.offer("order-1").await;
    world.looked(intent.id).await;
    let command = submit(&checkout, &intent);
    let first = claimed(world.store.submit(command.clone()).await.unwrap());
    let again = claimed(world.store.submit(command.clone()).await.unwrap());
    assert_eq!(again, first, "its answer was lost, and its claim still holds");
    // The same process holds it for another reason: that is not the submission's claim.
    world.clock.advance(LEASE_MS);
    let mut later = crate::world::due(1);
    later.holder = command.holder;
    world.store.claim_due(later).await.unwrap();
    let known = world.store.submit(command).await.unwrap();
    assert!(matches!(known, Submitted::Known(_)), "{known:?}");
}

async fn absence_begun_is_remembered_until_it_is_denied(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    let remembered = async |claim: &Claimed| world.story(claim.intent.id).await.operation.absent_since;
    assert_eq!(remembered(&claim).await, None);
    world.clock.advance(WAKE_MS);
    let first = world.due(1).await.remove(0);
    let begun = first.now;
    let mut absent = outcome(&first, confirming(None));
    absent.absent_since = Some(begun);
    world.commit(absent).await;
    world.clock.advance(WAKE_MS);
    let second = world.due(1).await.remove(0);
    assert_eq!((second.operation.absent_since, remembered(&claim).await), (Some(begun), Some(begun)));
    let seen = outcome(&second, confirming(None));
    assert_eq!(seen.absent_since, None);
    world.commit(seen).await;
    assert_eq!(remembered(&claim).await, None);
}

async fn a_look_out_of_turn_leaves_the_plan_and_the_count(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    world.clock.advance(WAKE_MS);
    // A claim that comes to nothing, twice.
    for _ in 0..2 {
        world.due(1).await;
        world.clock.advance(LEASE_MS);
    }
    let before = world.story(claim.intent.id).await.operation;
    assert_eq!(before.unfinished, 2);
    let seen = world.looked(claim.intent.id).await;
    let mut look = outcome(&seen, confirming(None));
    (look.out_of_turn, look.wake_in_ms) = (true, Some(DAY));
    world.commit(look).await;
    let after = world.story(claim.intent.id).await.operation;
    assert_eq!((after.unfinished, after.wake_at), (before.unfinished, before.wake_at));
    assert_eq!(after.lease, None);
}

async fn a_finished_look_is_remembered(world: World) {
    let claim = world.sent("order-1").await;
    let looked_at = async || world.story(claim.intent.id).await.operation.looked_at;
    assert_eq!(looked_at().await, None);
    world.clock.advance(1);
    world.commit(outcome(&claim, confirming(None))).await;
    let at = world.now();
    assert_eq!(looked_at().await, Some(at));
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    assert_eq!(
        (asked.operation.looked_at, looked_at().await),
        (Some(at), Some(at)),
        "a claim has seen nothing"
    );
    world.commit(outcome(&asked, confirming(None))).await;
    let at = world.now();
    assert_eq!(looked_at().await, Some(at));
    // Who only heard what others had asked says when that was; who heard nothing says nothing, and nobody goes back.
    for (asked, told) in
        [(Asked::Not, at), (Asked::At(at.plus_ms(5)), at.plus_ms(5)), (Asked::At(at), at.plus_ms(5))]
    {
        world.clock.advance(WAKE_MS);
        let claim = world.due(1).await.remove(0);
        world.commit(Commit { asked, ..outcome(&claim, confirming(None)) }).await;
        assert_eq!(looked_at().await, Some(told), "{asked:?}");
    }
}
