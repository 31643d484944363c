//! What a worker does next, for every state and every permission to send: tables, and what holds for any of them.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[expect(dead_code, reason = "the states are needed here, not the events")]
mod samples;

use payment::{
    Awaits, Dispatch, NotExecutedReason, ObjectId, OperationKind, OperationState, State, Step, Timestamp,
    UnknownReason, next_operation_step, next_step,
};
use samples::{BEFORE, OURS, object, states};

const DISPATCHES: [Dispatch; 3] = [Dispatch::Allowed, Dispatch::Held, Dispatch::Over];

/// Every permission, with and without an unanswered send.
fn situations() -> impl Iterator<Item = (Dispatch, bool)> {
    DISPATCHES.into_iter().flat_map(|dispatch| [(dispatch, false), (dispatch, true)])
}

/// While no object is known: the same request again if one may leave, a question if one may have arrived, else the end.
fn unlinked(dispatch: Dispatch, unanswered: bool) -> Step {
    match (dispatch, unanswered) {
        (Dispatch::Allowed, _) => Step::Send,
        (Dispatch::Held | Dispatch::Over, true) => Step::Find,
        (Dispatch::Held, false) => Step::Nothing,
        (Dispatch::Over, false) => Step::EndUnsent,
    }
}

#[test]
fn r13_every_state_of_an_intent_has_its_next_step() {
    for (name, state) in states() {
        for (dispatch, unanswered) in situations() {
            let ours = || Step::Query(object(OURS));
            let expected = match &state {
                State::Created
                | State::Succeeded { .. }
                | State::Declined { .. }
                | State::Canceled { .. }
                | State::Expired { .. } => Step::Nothing,
                State::Processing { .. } => unlinked(dispatch, unanswered),
                // That its result is unknown is itself an unanswered send.
                State::Confirming { object: None, .. } => unlinked(dispatch, true),
                State::NeedsReview { object: None, .. } => Step::Find,
                State::Confirming { object: Some(_), .. }
                | State::NeedsReview { object: Some(_), .. }
                | State::RequiresAction { .. }
                | State::Authorized { .. } => ours(),
            };
            assert_eq!(next_step(&state, dispatch, unanswered), expected, "{name} {dispatch:?} {unanswered}");
        }
    }
}

#[test]
fn r17_nothing_is_sent_where_it_may_not_be() {
    for (name, state) in states() {
        for (dispatch, unanswered) in situations() {
            let sends = next_step(&state, dispatch, unanswered) == Step::Send;
            assert!(!sends || dispatch == Dispatch::Allowed, "{name} {dispatch:?}");
            assert!(!sends || state.object().is_none(), "{name} has an object");
        }
    }
}

#[test]
fn r10_only_what_was_never_executed_is_ended_unsent() {
    for (name, state) in states() {
        for (dispatch, unanswered) in situations() {
            let ends = next_step(&state, dispatch, unanswered) == Step::EndUnsent;
            let never = matches!(state, State::Processing { .. }) && !unanswered;
            assert_eq!(ends, never && dispatch == Dispatch::Over, "{name} {dispatch:?} {unanswered}");
        }
    }
}

#[test]
fn a_worker_is_idle_only_where_none_is_awaited_or_the_gate_is_down() {
    for (name, state) in states() {
        for (dispatch, unanswered) in situations() {
            let idle = next_step(&state, dispatch, unanswered) == Step::Nothing;
            let nobody = matches!(state.name().awaits(), Awaits::FirstSubmit | Awaits::Nothing);
            let gated =
                dispatch == Dispatch::Held && matches!(state, State::Processing { .. }) && !unanswered;
            assert_eq!(idle, nobody || gated, "{name} {dispatch:?} {unanswered}");
        }
    }
}

/// One of each variant.
fn operation_states() -> [OperationState; 6] {
    [
        OperationState::Processing { last: Some(NotExecutedReason::RateLimited) },
        OperationState::Confirming { since: BEFORE, why: UnknownReason::NoAnswer },
        OperationState::NeedsReview { since: BEFORE },
        OperationState::Succeeded { at: Timestamp(1) },
        OperationState::Rejected { code: "no".into(), message: String::new() },
        OperationState::NotExecuted,
    ]
}

/// What such an operation asks for: a refund its own object, the others their payment.
fn question(kind: OperationKind, target: &ObjectId, made: Option<&ObjectId>) -> Step {
    match (kind, made) {
        (OperationKind::Refund, Some(made)) => Step::Query(made.clone()),
        (OperationKind::Refund, None) => Step::Find,
        (OperationKind::Pay | OperationKind::Capture | OperationKind::Cancel, _) => {
            Step::Query(target.clone())
        }
    }
}

#[test]
fn r13_every_state_of_a_follow_up_has_its_next_step() {
    let (target, refund) = (object("the payment"), object("the refund"));
    for kind in [OperationKind::Capture, OperationKind::Cancel, OperationKind::Refund] {
        for (state, made) in operation_states().iter().flat_map(|s| [(s, None), (s, Some(&refund))]) {
            for (dispatch, unanswered) in situations() {
                let asks = question(kind, &target, made);
                let sent = |unanswered| {
                    let step = unlinked(dispatch, unanswered);
                    if step == Step::Find { asks.clone() } else { step }
                };
                let expected = match state {
                    OperationState::Processing { .. } | OperationState::Confirming { .. }
                        if made.is_some() =>
                    {
                        asks
                    }
                    OperationState::Processing { .. } => sent(unanswered),
                    OperationState::Confirming { .. } => sent(true),
                    OperationState::NeedsReview { .. } => asks,
                    OperationState::Succeeded { .. }
                    | OperationState::Rejected { .. }
                    | OperationState::NotExecuted => Step::Nothing,
                };
                let step = next_operation_step(kind, state, (&target, made), dispatch, unanswered);
                assert_eq!(step, expected, "{kind:?} {state:?} {made:?} {dispatch:?} {unanswered}");
                assert!(step != Step::Send || (dispatch == Dispatch::Allowed && made.is_none()));
            }
        }
    }
}
