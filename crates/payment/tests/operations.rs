//! What an event makes of a capture, a cancel or a refund: every state with every event, and what no history can do.

use payment::{NotExecutedReason, OperationEvent, OperationState, Timestamp, UnknownReason};
use proptest::prelude::*;

const BEFORE: Timestamp = Timestamp(1_000);
const NOW: Timestamp = Timestamp(5_000);

/// One of each variant, the ones that go on first.
fn states() -> [OperationState; 6] {
    [
        OperationState::Processing { last: None },
        OperationState::Confirming { since: BEFORE, why: UnknownReason::NoAnswer },
        OperationState::NeedsReview { since: BEFORE },
        OperationState::Succeeded { at: BEFORE },
        OperationState::Rejected { code: "first".into(), message: "first".into() },
        OperationState::NotExecuted,
    ]
}

/// One of each variant.
fn events() -> [OperationEvent; 12] {
    [
        OperationEvent::TakenOver,
        OperationEvent::NotExecuted(NotExecutedReason::RateLimited),
        OperationEvent::Unanswered(UnknownReason::ProviderError),
        OperationEvent::Rejected { code: "invalid".into(), message: "wrong".into() },
        OperationEvent::Done,
        OperationEvent::Refused { code: "no_funds".into() },
        OperationEvent::ExecuteUntilPassed,
        OperationEvent::NotDone,
        OperationEvent::Overdue,
        OperationEvent::Stuck,
        OperationEvent::JudgedExecuted,
        OperationEvent::JudgedNotExecuted,
    ]
}

/// What each event makes of an operation none of whose sends was executed so far.
fn of_processing(event: &OperationEvent) -> OperationState {
    match event {
        OperationEvent::TakenOver => confirming(NOW, UnknownReason::HolderLost),
        OperationEvent::NotExecuted(reason) => OperationState::Processing { last: Some(*reason) },
        OperationEvent::Unanswered(why) => confirming(NOW, *why),
        OperationEvent::Rejected { code, message } => {
            OperationState::Rejected { code: code.clone(), message: message.clone() }
        }
        OperationEvent::ExecuteUntilPassed => OperationState::NotExecuted,
        OperationEvent::Overdue | OperationEvent::Stuck => OperationState::NeedsReview { since: NOW },
        OperationEvent::Done
        | OperationEvent::Refused { .. }
        | OperationEvent::NotDone
        | OperationEvent::JudgedExecuted
        | OperationEvent::JudgedNotExecuted => by_evidence(event),
    }
}

/// And of one whose result is unknown: neither a timer nor the refusal of a later send says anything about the first.
fn of_confirming(event: &OperationEvent, before: &OperationState) -> OperationState {
    match event {
        OperationEvent::TakenOver => confirming(BEFORE, UnknownReason::HolderLost),
        OperationEvent::Unanswered(why) => confirming(BEFORE, *why),
        OperationEvent::Rejected { .. } => confirming(BEFORE, UnknownReason::RejectedAfterUnknown),
        OperationEvent::NotExecuted(_) | OperationEvent::ExecuteUntilPassed => before.clone(),
        OperationEvent::Overdue | OperationEvent::Stuck => OperationState::NeedsReview { since: NOW },
        OperationEvent::Done
        | OperationEvent::Refused { .. }
        | OperationEvent::NotDone
        | OperationEvent::JudgedExecuted
        | OperationEvent::JudgedNotExecuted => by_evidence(event),
    }
}

/// And of one that waits for a person: evidence ends it, everything else leaves it there.
fn of_review(event: &OperationEvent, before: &OperationState) -> OperationState {
    if is_evidence(event) { by_evidence(event) } else { before.clone() }
}

fn is_evidence(event: &OperationEvent) -> bool {
    match event {
        OperationEvent::Done
        | OperationEvent::Refused { .. }
        | OperationEvent::NotDone
        | OperationEvent::JudgedExecuted
        | OperationEvent::JudgedNotExecuted => true,
        OperationEvent::TakenOver
        | OperationEvent::NotExecuted(_)
        | OperationEvent::Unanswered(_)
        | OperationEvent::Rejected { .. }
        | OperationEvent::ExecuteUntilPassed
        | OperationEvent::Overdue
        | OperationEvent::Stuck => false,
    }
}

fn by_evidence(event: &OperationEvent) -> OperationState {
    match event {
        OperationEvent::Done | OperationEvent::JudgedExecuted => OperationState::Succeeded { at: NOW },
        OperationEvent::Refused { code } => {
            OperationState::Rejected { code: code.clone(), message: String::new() }
        }
        OperationEvent::NotDone | OperationEvent::JudgedNotExecuted => OperationState::NotExecuted,
        OperationEvent::TakenOver
        | OperationEvent::NotExecuted(_)
        | OperationEvent::Unanswered(_)
        | OperationEvent::Rejected { .. }
        | OperationEvent::ExecuteUntilPassed
        | OperationEvent::Overdue
        | OperationEvent::Stuck => panic!("{event:?} is no evidence"),
    }
}

fn confirming(since: Timestamp, why: UnknownReason) -> OperationState {
    OperationState::Confirming { since, why }
}

#[test]
fn r23_every_event_in_every_state() {
    for before in states() {
        for event in events() {
            let expected = match &before {
                OperationState::Processing { .. } => of_processing(&event),
                OperationState::Confirming { .. } => of_confirming(&event, &before),
                OperationState::NeedsReview { .. } => of_review(&event, &before),
                OperationState::Succeeded { .. }
                | OperationState::Rejected { .. }
                | OperationState::NotExecuted => before.clone(),
            };
            assert_eq!(before.after(event.clone(), NOW), expected, "{before:?} after {event:?}");
        }
    }
}

#[test]
fn invariant_9_terminals_are_those_that_absorb_every_event() {
    for state in states() {
        let absorbs = events().into_iter().all(|event| state.after(event, NOW) == state);
        assert_eq!(absorbs, state.is_terminal(), "{state:?}");
    }
}

#[test]
fn every_name_is_told_apart_and_every_state_reads_back() {
    let mut names: Vec<_> = states().iter().map(OperationState::name).collect();
    names.extend(events().iter().map(OperationEvent::name));
    let told = names.len();
    names.sort_unstable();
    names.dedup();
    // "rejected" and "not_executed" are both what happened and what it came to.
    assert_eq!(names.len(), told - 2, "{names:?}");
    for state in states() {
        let stored = serde_json::to_value(&state).expect("a state is JSON");
        assert_eq!(stored["state"], state.name());
        assert_eq!(serde_json::from_value::<OperationState>(stored).expect("as it was stored"), state);
    }
}

fn any_event() -> impl Strategy<Value = OperationEvent> {
    prop::sample::select(events().to_vec())
}

proptest! {
    #[test]
    fn r10_once_unanswered_only_evidence_ends_it(
        before in prop::collection::vec(any_event(), 0..10),
        after in prop::collection::vec(any_event(), 0..30),
    ) {
        let mut state = OperationState::Processing { last: None };
        let quiet = before.into_iter().filter(|event| matches!(event, OperationEvent::NotExecuted(_)));
        let unanswered = OperationEvent::Unanswered(UnknownReason::NoAnswer);
        for event in quiet.chain([unanswered]).chain(after.into_iter().filter(|event| !is_evidence(event))) {
            state = state.after(event, NOW);
            prop_assert!(!state.is_terminal());
        }
        let unknown = matches!(state, OperationState::Confirming { .. } | OperationState::NeedsReview { .. });
        prop_assert!(unknown, "{:?}", state);
    }

    #[test]
    fn invariant_9_the_first_end_is_the_last(history in prop::collection::vec(any_event(), 1..40)) {
        let (mut state, mut now) = (OperationState::Processing { last: None }, NOW);
        for event in history {
            now = now.plus_ms(1);
            let next = state.after(event, now);
            prop_assert!(!state.is_terminal() || next == state);
            state = next;
        }
    }

    #[test]
    fn since_when_it_is_unknown_is_kept(why in prop::sample::select(vec![UnknownReason::Accepted, UnknownReason::Pending])) {
        let state = confirming(BEFORE, UnknownReason::NoAnswer).after(OperationEvent::Unanswered(why), NOW);
        prop_assert_eq!(state, confirming(BEFORE, why));
    }
}
