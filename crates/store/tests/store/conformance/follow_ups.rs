//! Captures, cancels and refunds: what is asked for, once, and never more than was taken (R23).

use payment::{
    Currency, Money, NotExecutedReason, OperationState, ProviderAccount, State, StateName, Step,
    UnknownReason,
};
use store::{Claimed, Committed, OpenFollowUp, OpenedFollowUp, OperationRecord, Stage, StoreError, Task};

use crate::{
    commands::{
        EXECUTE_MS, LEASE_MS, WAKE_MS, cancel, capture, confirming, follow_up_outcome, frozen, object,
        outcome, refund, rub, succeeded,
    },
    conformance::behaviours,
    world::{World, events, is},
};

behaviours!(
    r23_a_refund_is_sent_under_its_own_key,
    r23_a_refunds_sum_is_reserved_and_counted_when_it_is_done,
    r23_what_was_not_refunded_can_be_refunded_again,
    r23_two_refunds_together_never_exceed_what_was_taken,
    r23_while_one_refund_is_unfinished_another_waits,
    r23_a_repeated_command_is_the_same_refund,
    r23_another_currency_or_nothing_taken_is_not_refunded,
    r23_a_refund_that_somebody_else_made_is_counted_once_and_never_sent,
    r23_one_capture_or_cancel_at_a_time,
    r23_only_what_is_held_is_captured_or_canceled,
    r23_a_refund_and_a_capture_do_not_exclude_each_other,
    a_capture_that_is_done_puts_the_pay_operation_to_rest,
    a_rejected_capture_leaves_the_intent_alone,
    a_capture_wakes_an_intent_that_waited_for_a_person,
    r14_a_commit_that_leaves_the_intent_alone_is_not_stale_when_it_moved_on,
    r14_a_commit_that_touches_an_intent_that_moved_on_is_stale,
    fault_15_a_refunds_commit_again_counts_nothing_twice,
    past_execute_until_a_follow_up_is_not_sent,
    a_commit_of_another_kind_is_refused,
);

const DONE: OperationState = OperationState::Succeeded { at: crate::world::START };

fn rejected() -> OperationState {
    OperationState::Rejected { code: "no".into(), message: String::new() }
}

fn unknown() -> OperationState {
    OperationState::Confirming { since: crate::world::START, why: UnknownReason::NoAnswer }
}

fn state(operation: &OperationRecord) -> &OperationState {
    let Task::FollowUp(follow_up) = &operation.task else { panic!("{operation:?}") };
    &follow_up.state
}

impl World {
    async fn paid(&self) -> Claimed {
        self.settled("order-1", succeeded("object-1")).await
    }

    /// Money of `order-1` is held, and its pay operation waits.
    async fn held(&self) -> Claimed {
        self.settled("order-1", State::Authorized { object: object("object-1") }).await
    }

    /// Opens a follow-up and claims it.
    async fn at_work(&self, command: OpenFollowUp) -> Claimed {
        let id = self.followed(command).await.id;
        self.due(10).await.into_iter().find(|claim| claim.operation.id == id).unwrap()
    }

    /// Reserved and refunded of the first charge.
    async fn sums(&self, claim: &Claimed) -> (i64, i64) {
        let charge = self.story(claim.intent.id).await.charges.remove(0);
        (charge.reserved_minor, charge.refunded_minor)
    }

    async fn opens(&self, command: OpenFollowUp) -> OpenedFollowUp {
        self.store.open_follow_up(command).await.unwrap()
    }
}

async fn r23_a_refund_is_sent_under_its_own_key(world: World) {
    let claim = world.paid().await;
    let command = refund(&claim.intent, "object-1", "100.00");
    let opened = world.followed(command.clone()).await;
    assert_eq!((opened.stage, opened.wake_at, opened.fence), (Stage::Open, Some(world.now()), 0));
    assert_eq!(opened.execute_until, Some(world.now().plus_ms(EXECUTE_MS)));
    let story = world.story(claim.intent.id).await;
    assert_eq!(story.follow_ups, std::slice::from_ref(&opened));
    assert_eq!((story.operation.id, events(&story).last()), (claim.operation.id, Some(&"refund.opened")));
    assert!(story.journal.last().unwrap().line.evidence.ends_with("a test wants it"));
    let due = world.due(10).await.remove(0);
    assert_eq!((due.operation.id, due.step.clone(), due.unanswered), (opened.id, Step::Send, false));
    assert_eq!(due.operation.provider_key, command.provider_key);
    assert_eq!(due.operation.frozen.as_deref(), Some(&frozen("a follow-up")));
    assert_eq!((due.attempt.clone().unwrap().number, due.operation.fence), (1, 1));
    assert_eq!(due.intent, world.intent(claim.intent.id).await);
    // Not executed, and sent again, the same.
    let retry = OperationState::Processing { last: Some(NotExecutedReason::RateLimited) };
    world.commit(follow_up_outcome(&due, retry)).await;
    world.clock.advance(WAKE_MS);
    let again = world.due(10).await.remove(0);
    assert_eq!((again.step, again.attempt.unwrap().number), (Step::Send, 2));
    assert_eq!(
        (again.operation.provider_key, again.operation.frozen),
        (command.provider_key, due.operation.frozen)
    );
}

async fn r23_a_refunds_sum_is_reserved_and_counted_when_it_is_done(world: World) {
    let claim = world.paid().await;
    let work = world.at_work(refund(&claim.intent, "object-1", "400.00")).await;
    assert_eq!(world.sums(&claim).await, (40_000, 0));
    world.commit(follow_up_outcome(&work, unknown())).await;
    assert_eq!(world.sums(&claim).await, (40_000, 0), "what is unknown stays reserved");
    world.clock.advance(WAKE_MS);
    let asked = world.due(10).await.remove(0);
    let mut done = follow_up_outcome(&asked, DONE);
    done.object = Some(object("refund-1"));
    assert_eq!(world.commit(done).await, (false, false));
    assert_eq!(world.sums(&claim).await, (0, 40_000));
    let refund = world.story(claim.intent.id).await.follow_ups.remove(0);
    assert_eq!((state(&refund), refund.stage, refund.wake_at), (&DONE, Stage::Done, None));
    assert_eq!((refund.object, refund.lease), (Some(object("refund-1")), None));
    let intent = world.intent(claim.intent.id).await;
    assert_eq!(intent.version, claim.intent.version + 1, "the payment's commit was the last to change it");
}

async fn r23_what_was_not_refunded_can_be_refunded_again(world: World) {
    let claim = world.paid().await;
    for ended in [rejected(), OperationState::NotExecuted] {
        let work = world.at_work(refund(&claim.intent, "object-1", "1500.00")).await;
        world.commit(follow_up_outcome(&work, ended)).await;
        assert_eq!(world.sums(&claim).await, (0, 0));
    }
    world.followed(refund(&claim.intent, "object-1", "1500.00")).await;
}

async fn r23_two_refunds_together_never_exceed_what_was_taken(world: World) {
    let claim = world.paid().await;
    let work = world.at_work(refund(&claim.intent, "object-1", "1000.00")).await;
    world.commit(follow_up_outcome(&work, DONE)).await;
    let exceeds = world.opens(refund(&claim.intent, "object-1", "500.01")).await;
    assert_eq!(exceeds, OpenedFollowUp::Exceeds { left_minor: 50_000 });
    assert_eq!(
        (world.sums(&claim).await, world.story(claim.intent.id).await.follow_ups.len()),
        ((0, 100_000), 1)
    );
    let work = world.at_work(refund(&claim.intent, "object-1", "500.00")).await;
    world.commit(follow_up_outcome(&work, DONE)).await;
    let exceeds = world.opens(refund(&claim.intent, "object-1", "0.01")).await;
    assert_eq!(exceeds, OpenedFollowUp::Exceeds { left_minor: 0 });
}

async fn r23_while_one_refund_is_unfinished_another_waits(world: World) {
    let claim = world.paid().await;
    let first = world.at_work(refund(&claim.intent, "object-1", "100.00")).await;
    for at in [unknown(), OperationState::NeedsReview { since: world.now() }] {
        let second = world.opens(refund(&claim.intent, "object-1", "100.00")).await;
        let OpenedFollowUp::Unfinished(rival) = second else { panic!("{second:?}") };
        assert_eq!(rival.id, first.operation.id);
        let work = world.due(10).await.pop().unwrap_or(first.clone());
        world.commit(follow_up_outcome(&work, at)).await;
        world.clock.advance(WAKE_MS);
    }
    let second = world.opens(refund(&claim.intent, "object-1", "100.00")).await;
    assert!(matches!(second, OpenedFollowUp::Unfinished(_)), "{second:?}");
    assert_eq!(world.sums(&claim).await, (10_000, 0));
    let asked = world.due(10).await.remove(0);
    world.commit(follow_up_outcome(&asked, DONE)).await;
    world.followed(refund(&claim.intent, "object-1", "100.00")).await;
    assert_eq!(world.sums(&claim).await, (10_000, 10_000));
}

async fn r23_a_repeated_command_is_the_same_refund(world: World) {
    let claim = world.paid().await;
    let command = refund(&claim.intent, "object-1", "1000.00");
    let first = world.followed(command.clone()).await;
    assert_eq!(world.followed(command.clone()).await, first);
    let work = world.due(10).await.remove(0);
    world.commit(follow_up_outcome(&work, DONE)).await;
    let told = world.followed(command).await;
    assert_eq!((told.id, state(&told)), (first.id, &DONE));
    assert_eq!(
        (world.sums(&claim).await, world.story(claim.intent.id).await.follow_ups.len()),
        ((0, 100_000), 1)
    );
}

async fn r23_another_currency_or_nothing_taken_is_not_refunded(world: World) {
    let claim = world.paid().await;
    let eur = Money::from_minor(1, Currency::parse("EUR").unwrap()).unwrap();
    let foreign = OpenFollowUp { amount: Some(eur), ..refund(&claim.intent, "object-1", "1.00") };
    assert_eq!(world.opens(foreign).await, OpenedFollowUp::Exceeds { left_minor: 150_000 });
    let untaken = refund(&claim.intent, "object-9", "1.00");
    assert_eq!(world.opens(untaken).await, OpenedFollowUp::NotNow);
    let mut elsewhere = refund(&claim.intent, "object-1", "1.00");
    elsewhere.frozen.account = ProviderAccount::parse("200").unwrap();
    assert_eq!(world.opens(elsewhere).await, OpenedFollowUp::NotNow);
    assert_eq!(world.sums(&claim).await, (0, 0));
}

async fn r23_a_refund_that_somebody_else_made_is_counted_once_and_never_sent(world: World) {
    let claim = world.paid().await;
    let made =
        |id: &str, value| OpenFollowUp { made: Some(object(id)), ..refund(&claim.intent, "object-1", value) };
    let command = made("by-hand-1", "1000.00");
    let written = world.followed(command.clone()).await;
    assert_eq!((written.stage, written.wake_at, written.execute_until), (Stage::Done, None, None));
    assert_eq!((&written.object, state(&written)), (&Some(object("by-hand-1")), &DONE));
    let story = world.story(claim.intent.id).await;
    assert_eq!((story.follow_ups, world.sums(&claim).await), (vec![written.clone()], (0, 100_000)));
    let line = &story.journal.last().unwrap().line;
    assert_eq!((line.event.as_str(), &line.from), ("refund.found", &line.to));
    assert!(line.evidence.contains("by-hand-1") && line.evidence.ends_with("a test wants it"));
    assert!(world.due(10).await.is_empty(), "nobody sends it");
    // The same command, whose answer was lost; and the same word again.
    assert_eq!(world.followed(command).await, written);
    let again = world.opens(made("by-hand-1", "1.00")).await;
    assert_eq!(again, OpenedFollowUp::Known(Box::new(written)));
    assert_eq!(
        world.opens(made("by-hand-2", "500.01")).await,
        OpenedFollowUp::Exceeds { left_minor: 50_000 }
    );
    // One of ours that is not finished may be it.
    let ours = world.at_work(refund(&claim.intent, "object-1", "100.00")).await;
    let rival = world.opens(made("by-hand-2", "100.00")).await;
    assert!(matches!(&rival, OpenedFollowUp::Unfinished(row) if row.id == ours.operation.id), "{rival:?}");
    let mut done = follow_up_outcome(&ours, DONE);
    done.object = Some(object("refund-1"));
    world.commit(done).await;
    let own = world.opens(made("refund-1", "100.00")).await;
    assert!(matches!(&own, OpenedFollowUp::Known(row) if row.id == ours.operation.id), "{own:?}");
    world.followed(made("by-hand-2", "400.00")).await;
    assert_eq!(world.sums(&claim).await, (0, 150_000));
}

async fn r23_one_capture_or_cancel_at_a_time(world: World) {
    let claim = world.held().await;
    let work = world.at_work(capture(&claim.intent, "object-1")).await;
    world.commit(follow_up_outcome(&work, unknown())).await;
    for rival in [capture(&claim.intent, "object-1"), cancel(&claim.intent, "object-1")] {
        let refused = world.opens(rival).await;
        assert!(
            matches!(&refused, OpenedFollowUp::Unfinished(row) if row.id == work.operation.id),
            "{refused:?}"
        );
    }
    world.clock.advance(WAKE_MS);
    let asked = world.due(10).await.into_iter().find(|due| due.operation.id == work.operation.id).unwrap();
    world.commit(follow_up_outcome(&asked, OperationState::NotExecuted)).await;
    let cancel = world.followed(cancel(&claim.intent, "object-1")).await;
    assert_eq!((cancel.task.kind().as_str(), state(&cancel).name()), ("cancel", "processing"));
}

async fn r23_only_what_is_held_is_captured_or_canceled(world: World) {
    let claim = world.held().await;
    assert_eq!(world.opens(capture(&claim.intent, "object-9")).await, OpenedFollowUp::NotNow);
    let part = OpenFollowUp { amount: Some(rub("1.00")), ..capture(&claim.intent, "object-1") };
    assert_eq!(world.opens(part).await, OpenedFollowUp::NotNow, "the intent asks for one sum");
    let unknown = world.settled("order-2", confirming(Some("object-2"))).await;
    let paid = world.settled("order-3", succeeded("object-3")).await;
    for (intent, id) in [(&unknown.intent, "object-2"), (&paid.intent, "object-3")] {
        assert_eq!(world.opens(capture(intent, id)).await, OpenedFollowUp::NotNow);
        assert_eq!(world.opens(cancel(intent, id)).await, OpenedFollowUp::NotNow);
        assert!(world.story(intent.id).await.follow_ups.is_empty());
    }
}

async fn r23_a_refund_and_a_capture_do_not_exclude_each_other(world: World) {
    let claim = world.held().await;
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    let mut extra = outcome(&asked, asked.intent.state.clone());
    extra.charges = vec![crate::commands::charge(object("other"))];
    world.commit(extra).await;
    world.followed(capture(&claim.intent, "object-1")).await;
    let refund = world.followed(refund(&claim.intent, "other", "1500.00")).await;
    let story = world.story(claim.intent.id).await;
    assert_eq!((story.follow_ups.len(), story.follow_ups[1].id), (2, refund.id));
}

async fn a_capture_that_is_done_puts_the_pay_operation_to_rest(world: World) {
    let claim = world.held().await;
    let work = world.at_work(capture(&claim.intent, "object-1")).await;
    assert!(world.story(claim.intent.id).await.operation.wake_at.is_some());
    let mut done = outcome(&work, succeeded("object-1"));
    (done.follow_up, done.object, done.wake_in_ms) = (Some(DONE), Some(object("object-1")), None);
    assert_eq!(world.commit(done.clone()).await, (true, false));
    is(&world.intent(claim.intent.id).await, StateName::Succeeded);
    let story = world.story(claim.intent.id).await;
    assert_eq!((story.operation.stage, story.operation.wake_at), (Stage::Done, None));
    assert_eq!((story.follow_ups[0].stage, state(&story.follow_ups[0])), (Stage::Done, &DONE));
    world.clock.advance(crate::world::DAY);
    assert!(world.due(10).await.is_empty());
    assert_eq!(world.commit(done).await, (true, false), "and again after a lost answer");
    assert_eq!(world.story(claim.intent.id).await, story);
}

async fn a_rejected_capture_leaves_the_intent_alone(world: World) {
    let claim = world.held().await;
    let before = world.story(claim.intent.id).await.operation;
    let work = world.at_work(capture(&claim.intent, "object-1")).await;
    world.commit(follow_up_outcome(&work, rejected())).await;
    let intent = world.intent(claim.intent.id).await;
    assert_eq!((intent.state.name(), intent.version), (StateName::Authorized, work.intent.version));
    assert_eq!(world.story(intent.id).await.operation, before);
}

async fn a_capture_wakes_an_intent_that_waited_for_a_person(world: World) {
    let claim = world.held().await;
    let work = world.at_work(capture(&claim.intent, "object-1")).await;
    let seen = world.looked(claim.intent.id).await;
    let mut review = outcome(&seen, crate::world::after(&seen, payment::Event::Stuck));
    review.wake_in_ms = None;
    world.commit(review).await;
    world.commit(follow_up_outcome(&work, unknown())).await;
    world.clock.advance(WAKE_MS);
    let asked = world.due(10).await.remove(0);
    let mut still_held = outcome(&asked, State::Authorized { object: object("object-1") });
    (still_held.follow_up, still_held.wake_in_ms) = (Some(unknown()), Some(WAKE_MS));
    world.commit(still_held).await;
    let pay = world.story(claim.intent.id).await.operation;
    assert_eq!((pay.stage, pay.wake_at), (Stage::Open, Some(world.now())));
}

async fn r14_a_commit_that_leaves_the_intent_alone_is_not_stale_when_it_moved_on(world: World) {
    let claim = world.held().await;
    let work = world.at_work(capture(&claim.intent, "object-1")).await;
    let seen = world.looked(claim.intent.id).await;
    world.commit(outcome(&seen, succeeded("object-1"))).await;
    world.commit(follow_up_outcome(&work, DONE)).await;
    let story = world.story(claim.intent.id).await;
    assert_eq!(state(&story.follow_ups[0]), &DONE);
    is(&world.intent(claim.intent.id).await, StateName::Succeeded);
}

async fn r14_a_commit_that_touches_an_intent_that_moved_on_is_stale(world: World) {
    let claim = world.held().await;
    let work = world.at_work(capture(&claim.intent, "object-1")).await;
    let seen = world.looked(claim.intent.id).await;
    world.commit(outcome(&seen, succeeded("object-1"))).await;
    let mut touches = outcome(&work, State::Authorized { object: object("object-1") });
    (touches.follow_up, touches.wake_in_ms) = (Some(unknown()), Some(WAKE_MS));
    let stale = world.store.commit(touches).await.unwrap();
    assert_eq!(stale, Committed::Stale { fence: 1, version: work.intent.version + 1 });
    is(&world.intent(claim.intent.id).await, StateName::Succeeded);
    // A stale fence writes nothing either, whatever it leaves alone.
    world.clock.advance(LEASE_MS);
    let later = world.due(10).await.remove(0);
    let stale = world.store.commit(follow_up_outcome(&work, DONE)).await.unwrap();
    assert!(matches!(stale, Committed::Stale { fence: 2, .. }), "{stale:?}");
    world.commit(follow_up_outcome(&later, DONE)).await;
}

async fn fault_15_a_refunds_commit_again_counts_nothing_twice(world: World) {
    let claim = world.paid().await;
    let work = world.at_work(refund(&claim.intent, "object-1", "400.00")).await;
    let done = follow_up_outcome(&work, DONE);
    world.commit(done.clone()).await;
    let story = world.story(claim.intent.id).await;
    world.commit(done).await;
    assert_eq!(world.story(claim.intent.id).await, story);
    assert_eq!(world.sums(&claim).await, (0, 40_000));
    let other = world.store.commit(follow_up_outcome(&work, rejected())).await.unwrap();
    assert!(matches!(other, Committed::Stale { .. }), "{other:?}: another conclusion is none");
}

async fn past_execute_until_a_follow_up_is_not_sent(world: World) {
    let claim = world.paid().await;
    let never = world.at_work(refund(&claim.intent, "object-1", "100.00")).await;
    let retry = OperationState::Processing { last: Some(NotExecutedReason::NotSent) };
    world.commit(follow_up_outcome(&never, retry)).await;
    let held = world.settled("order-2", State::Authorized { object: object("object-2") }).await;
    let silent = world.at_work(capture(&held.intent, "object-2")).await;
    world.clock.advance(EXECUTE_MS);
    let due = world.due(10).await;
    let step = |id| due.iter().find(|claim| claim.operation.id == id).unwrap();
    let (never, silent) = (step(never.operation.id), step(silent.operation.id));
    assert_eq!((never.step.clone(), never.attempt.clone()), (Step::EndUnsent, None));
    assert_eq!((silent.step.clone(), silent.unanswered), (Step::Query(object("object-2")), true));
    world.commit(follow_up_outcome(never, OperationState::NotExecuted)).await;
    assert_eq!(world.sums(&claim).await, (0, 0));
}

async fn a_commit_of_another_kind_is_refused(world: World) {
    let claim = world.paid().await;
    let work = world.at_work(refund(&claim.intent, "object-1", "100.00")).await;
    let mut pays = follow_up_outcome(&work, DONE);
    pays.follow_up = None;
    let refused = world.store.commit(pays).await;
    assert!(matches!(refused, Err(StoreError::Unreadable(_))), "{refused:?}");
    let sent = world.sent("order-2").await;
    let mut follows = outcome(&sent, confirming(None));
    follows.follow_up = Some(DONE);
    let refused = world.store.commit(follows).await;
    assert!(matches!(refused, Err(StoreError::Unreadable(_))), "{refused:?}");
    assert_eq!(world.story(sent.intent.id).await.operation, sent.operation);
}
