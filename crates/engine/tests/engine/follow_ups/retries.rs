//! What goes wrong with a send, and the end of the key's window.

use payment::{NotExecutedReason, OperationKind, OperationState, State, UnknownReason};

use super::{KINDS, assert_done_once, finish, now, open, ready_for, state, step, sum_of, sums, work_for};
use crate::{
    bank::{Fault, WINDOW_MS},
    scenarios,
    world::{DAY, HOUR, MINUTE, SECOND, World},
};

scenarios! {
    r15_r10_every_send_of_a_follow_up_is_the_same_whatever_went_wrong,
    r15_retry_after_is_honoured,
    r16_a_rejected_follow_up_is_over_and_lets_go_of_what_it_reserved,
    fault_43_a_rejection_after_an_unknown_send_is_unknown,
    r17_fault_45_after_the_window_a_refund_is_only_asked_for_and_a_person_is_called,
    r17_what_was_never_executed_ends_with_the_window,
    r17_a_capture_and_a_cancel_settle_by_the_payments_own_state,
    r17_what_was_not_captured_when_the_key_is_dead_never_will_be,
    a_capture_that_nobody_answers_for_stands_before_a_person,
}

/// Also fault 3, 4, 8, 10, 12, 14: a lost request, a lost answer, 500, 429, 202 at any of them.
/// Also medusa#16292: its row and its key outlive whatever went wrong.
async fn r15_r10_every_send_of_a_follow_up_is_the_same_whatever_went_wrong(world: World) {
    let faults = [
        Fault::NotSent,
        Fault::LoseRequest,
        Fault::LoseAnswer,
        Fault::Error500Before,
        Fault::Error500After,
        Fault::Unauthorized,
        Fault::NotFound,
        Fault::RateLimited(None),
        Fault::Accepted(5 * SECOND),
        Fault::Garbage,
    ];
    let engine = world.engine();
    for (number, kind) in KINDS.into_iter().enumerate() {
        for (index, fault) in faults.iter().enumerate() {
            let offer = ready_for(&world, &engine, kind, &format!("{number}-{index}")).await;
            world.bank.next_for(kind, [fault.clone(), fault.clone(), fault.clone()]);
            let operation = open(&engine, &offer, kind, sum_of(kind)).await;
            let mut waits = Vec::new();
            while !state(&world, &offer, operation.id).await.is_terminal() {
                // Whatever is deployed in between, and whoever sends.
                world.bank.deploy();
                waits.push(step(&world, &world.engine(), &offer, operation.id).await);
            }
            let sent = world.bank.sent_for(kind);
            let sent: Vec<_> = sent.iter().filter(|sent| sent.intent == offer.intent.id).collect();
            assert_eq!(sent.len(), 4, "{kind:?} {fault:?}");
            assert!(waits.is_sorted() && waits[3] >= 2 * SECOND, "{kind:?} {fault:?}: growing: {waits:?}");
            for again in &sent {
                assert_eq!((again.key, &again.body), (operation.provider_key, &sent[0].body));
                assert_eq!(again.account, sent[0].account);
            }
            assert_ne!(operation.provider_key, world.story(&offer).await.operation.provider_key);
            assert_done_once(&world, &offer, kind).await;
        }
    }
}

async fn r15_retry_after_is_honoured(world: World) {
    let engine = world.engine();
    for kind in KINDS {
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        world.bank.next_for(kind, [Fault::RateLimited(Some(20 * MINUTE)), Fault::Accepted(30 * MINUTE)]);
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        step(&world, &engine, &offer, operation.id).await;
        let limited = OperationState::Processing { last: Some(NotExecutedReason::RateLimited) };
        assert_eq!(state(&world, &offer, operation.id).await, limited);
        assert_eq!(step(&world, &engine, &offer, operation.id).await, 20 * MINUTE);
        assert_eq!(step(&world, &engine, &offer, operation.id).await, 30 * MINUTE);
        assert_done_once(&world, &offer, kind).await;
    }
}

async fn r16_a_rejected_follow_up_is_over_and_lets_go_of_what_it_reserved(world: World) {
    let engine = world.engine();
    for kind in KINDS {
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        let before = world.intent(offer.intent.id).await.state;
        world.bank.next_for(kind, [Fault::BadRequest]);
        let first = open(&engine, &offer, kind, sum_of(kind)).await;
        let OperationState::Rejected { code, .. } = finish(&world, &engine, &offer, first.id).await else {
            panic!("{kind:?} was rejected")
        };
        assert_eq!(code, "invalid_request");
        assert_eq!(world.intent(offer.intent.id).await.state, before, "{kind:?}");
        // The corrected request goes out under a key of its own.
        let second = open(&engine, &offer, kind, sum_of(kind)).await;
        assert_ne!(second.provider_key, first.provider_key);
        assert!(matches!(finish(&world, &engine, &offer, second.id).await, OperationState::Succeeded { .. }));
        assert_done_once(&world, &offer, kind).await;
    }
}

async fn fault_43_a_rejection_after_an_unknown_send_is_unknown(world: World) {
    let engine = world.engine();
    for lost in [Fault::LoseAnswer, Fault::LoseRequest] {
        let offer = ready_for(&world, &engine, OperationKind::Refund, &format!("{lost:?}")).await;
        world.bank.next_for(OperationKind::Refund, [lost, Fault::BadRequest]);
        let operation = open(&engine, &offer, OperationKind::Refund, sum_of(OperationKind::Refund)).await;
        step(&world, &engine, &offer, operation.id).await;
        step(&world, &engine, &offer, operation.id).await;
        let OperationState::Confirming { why: UnknownReason::RejectedAfterUnknown, .. } =
            state(&world, &offer, operation.id).await
        else {
            panic!("the rejection says nothing about the send before it")
        };
        assert_eq!(sums(&world, &offer).await, (150_000, 0), "what may be on its way stays reserved");
        finish(&world, &engine, &offer, operation.id).await;
        assert_done_once(&world, &offer, OperationKind::Refund).await;
    }
}

async fn r17_fault_45_after_the_window_a_refund_is_only_asked_for_and_a_person_is_called(world: World) {
    let (engine, kind) = (world.engine(), OperationKind::Refund);
    for (order, lost, arrived) in [("1", Fault::LoseRequest, false), ("2", Fault::LoseAnswer, true)] {
        let offer = ready_for(&world, &engine, kind, order).await;
        world.bank.every(Some(lost));
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        let dead_at = operation.execute_until.unwrap();
        assert_eq!(dead_at.since_ms(world.clock.now()), WINDOW_MS);
        let OperationState::NeedsReview { since } = finish(&world, &engine, &offer, operation.id).await
        else {
            panic!("nothing more can be sent, and it is unknown")
        };
        assert!(since >= dead_at && since.since_ms(dead_at) <= 5 * MINUTE, "{since} {dead_at}");
        work_for(&world, &engine, &offer, operation.id, 2 * DAY).await;
        let sent = world.bank.sent_for(kind);
        let sent: Vec<_> = sent.iter().filter(|sent| sent.intent == offer.intent.id).collect();
        assert!(sent.len() > 100 && sent.iter().all(|sent| sent.at < dead_at), "{}", sent.len());
        world.bank.every(None);
        work_for(&world, &engine, &offer, operation.id, DAY).await;
        assert_eq!(
            world.bank.sent_for(kind).iter().filter(|at| at.intent == offer.intent.id).count(),
            sent.len()
        );
        if arrived {
            assert_done_once(&world, &offer, kind).await;
        } else {
            let standing = state(&world, &offer, operation.id).await;
            assert_eq!(
                standing,
                OperationState::NeedsReview { since },
                "that it is not there, a person judges"
            );
            assert_eq!(sums(&world, &offer).await, (150_000, 0));
            assert!(now(&world, &offer, operation.id).await.absent_since.is_some(), "the evidence is kept");
        }
    }
}

async fn r17_what_was_never_executed_ends_with_the_window(world: World) {
    let engine = world.engine();
    for kind in KINDS {
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        let before = world.intent(offer.intent.id).await.state;
        world.bank.every(Some(Fault::Unauthorized));
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        assert_eq!(finish(&world, &engine, &offer, operation.id).await, OperationState::NotExecuted);
        let late_ms = world.clock.now().since_ms(operation.execute_until.unwrap());
        assert!((0..=5 * MINUTE).contains(&late_ms), "{late_ms}");
        world.bank.every(None);
        assert_eq!(world.intent(offer.intent.id).await.state, before);
        // It stands in nobody's way.
        let again = open(&engine, &offer, kind, sum_of(kind)).await;
        finish(&world, &engine, &offer, again.id).await;
        assert_done_once(&world, &offer, kind).await;
    }
}

async fn r17_a_capture_and_a_cancel_settle_by_the_payments_own_state(world: World) {
    let engine = world.engine();
    for kind in [OperationKind::Capture, OperationKind::Cancel] {
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        world.bank.every(Some(Fault::LoseAnswer));
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        work_for(&world, &engine, &offer, operation.id, WINDOW_MS + MINUTE).await;
        let sends = world.bank.sent_for(kind).len();
        assert!(matches!(state(&world, &offer, operation.id).await, OperationState::Confirming { .. }));
        world.bank.every(None);
        assert!(matches!(
            finish(&world, &engine, &offer, operation.id).await,
            OperationState::Succeeded { .. }
        ));
        assert_eq!(world.bank.sent_for(kind).len(), sends, "it was asked, not sent again");
        assert_done_once(&world, &offer, kind).await;
    }
}

async fn r17_what_was_not_captured_when_the_key_is_dead_never_will_be(world: World) {
    let engine = world.engine();
    for kind in [OperationKind::Capture, OperationKind::Cancel] {
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        world.bank.every(Some(Fault::LoseRequest));
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        work_for(&world, &engine, &offer, operation.id, WINDOW_MS).await;
        world.bank.every(None);
        let key_dead = operation.execute_until.unwrap().plus_ms(2 * HOUR);
        work_for(&world, &engine, &offer, operation.id, 2 * HOUR - MINUTE).await;
        assert!(matches!(state(&world, &offer, operation.id).await, OperationState::Confirming { .. }));
        assert!(!world.journal(&offer).await.iter().any(|line| line.contains("not_done")));
        assert_eq!(finish(&world, &engine, &offer, operation.id).await, OperationState::NotExecuted);
        assert!(world.clock.now() >= key_dead, "a straggling request could still be executed");
        assert!(matches!(world.intent(offer.intent.id).await.state, State::Authorized { .. }));
        let again = open(&engine, &offer, kind, sum_of(kind)).await;
        finish(&world, &engine, &offer, again.id).await;
        assert_done_once(&world, &offer, kind).await;
    }
}

/// It would block every other capture and cancel of its payment for ever, and nobody would know.
async fn a_capture_that_nobody_answers_for_stands_before_a_person(world: World) {
    let engine = world.engine();
    for kind in [OperationKind::Capture, OperationKind::Cancel] {
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        world.bank.every(Some(Fault::LoseAnswer));
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        let OperationState::NeedsReview { since } = finish(&world, &engine, &offer, operation.id).await
        else {
            panic!("nobody answers")
        };
        let late_ms = since.since_ms(operation.execute_until.unwrap());
        assert!((DAY..=DAY + 5 * MINUTE).contains(&late_ms), "{late_ms}");
        world.bank.every(None);
        work_for(&world, &engine, &offer, operation.id, 5 * MINUTE).await;
        assert_done_once(&world, &offer, kind).await;
    }
}
