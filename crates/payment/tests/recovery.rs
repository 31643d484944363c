//! What ends, or stops, what could not be known: proof of absence, work that never comes to a result, and a person's word.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[expect(dead_code, reason = "the states are needed here, not the events")]
mod samples;

use payment::{
    Anomaly, Awaits, CanceledReason, Effect, Event, Mismatch, ReviewReason, Stance, State, StateName,
    UnknownReason, transition,
};
use samples::{NOW, OURS, object, states};

#[test]
fn absence_ends_only_what_has_no_object_and_no_money() {
    for (_, state) in states() {
        let absent = transition(&state, Event::Absent, NOW);
        match &state {
            State::Created => assert!(absent.is_err()),
            State::Processing { .. }
            | State::Confirming { object: None, .. }
            | State::NeedsReview { object: None, .. } => {
                let decision = absent.unwrap();
                assert_eq!(decision.next, State::Canceled { reason: CanceledReason::Absent });
                assert!(decision.effects.is_empty());
            }
            State::Confirming { object: Some(_), .. }
            | State::NeedsReview { object: Some(_), .. }
            | State::RequiresAction { .. }
            | State::Authorized { .. }
            | State::Succeeded { .. }
            | State::Declined { .. }
            | State::Canceled { .. }
            | State::Expired { .. } => assert_eq!(absent.unwrap().next, state),
        }
    }
}

#[test]
fn fault_33_what_is_stuck_stands_before_a_person_with_its_object() {
    for (_, state) in states() {
        let next = transition(&state, Event::Stuck, NOW).unwrap().next;
        let expected = if state.name().awaits() == Awaits::Worker {
            let object = state.object().cloned();
            State::NeedsReview { since: NOW, why: ReviewReason::Stuck, object }
        } else {
            state
        };
        assert_eq!(next, expected);
    }
}

/// A listing ends what is stuck, and must not end what was seen with a wrong sum or a wrong name.
#[test]
fn fault_47_what_contradicts_the_request_stays_known_when_its_worker_is_stuck() {
    for mismatch in [Mismatch::Amount, Mismatch::Owner] {
        for object in [None, Some(object(OURS))] {
            let why = UnknownReason::Mismatch(mismatch);
            let state = State::Confirming { since: NOW, why, object: object.clone() };
            let stuck = transition(&state, Event::Stuck, NOW).unwrap().next;
            let why = ReviewReason::Mismatch(mismatch);
            assert_eq!(stuck, State::NeedsReview { since: NOW, why, object });
            assert_eq!(transition(&stuck, Event::Absent, NOW).unwrap().next, stuck);
        }
    }
}

#[test]
fn a_persons_word_ends_only_what_waits_for_a_person() {
    let charged = Event::JudgedCharged { object: object(OURS) };
    for (name, state) in states() {
        let not_charged = transition(&state, Event::JudgedNotCharged, NOW);
        let charged = transition(&state, charged.clone(), NOW);
        if state.name() == StateName::NeedsReview {
            let reason = CanceledReason::JudgedNotCharged;
            assert_eq!(not_charged.unwrap().next, State::Canceled { reason });
            assert_eq!(charged.unwrap().next, State::Succeeded { object: object(OURS), at: NOW });
            continue;
        }
        assert!(not_charged.is_err(), "{name}");
        match charged {
            // Money found after the end is recorded and alarmed, and the intent keeps its state.
            Ok(decision) => {
                assert!(state.stance() == Stance::Free && decision.next == state, "{name}");
                let charge = Effect::Charge { object: object(OURS) };
                assert_eq!(decision.effects, [Effect::Anomaly(Anomaly::PaidAfterEnd), charge]);
            }
            Err(_) => assert_ne!(state.stance(), Stance::Free, "{name}"),
        }
    }
}
