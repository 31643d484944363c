//! What ends, or stops, what could not be known: proof of absence, work that never comes to a result, and a person's word.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

#[expect(dead_code, reason = "the states are needed here, not the events")]
mod samples;

use payment::{
    Anomaly, Awaits, CanceledReason, Effect, Event, MAX_SUSPECTS, Mismatch, ObjectStatus, ReviewReason,
    Stance, State, StateName, Suspect, UnknownReason, transition,
};
use samples::{NOW, OTHER, OURS, mismatched, object, observation, rub, states};

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
            State::NeedsReview { since: NOW, why: ReviewReason::Stuck, object, suspects: Vec::new() }
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
            let suspects = vec![Suspect { object: self::object(OTHER), amount: None }];
            let state =
                State::Confirming { since: NOW, why, object: object.clone(), suspects: suspects.clone() };
            let stuck = transition(&state, Event::Stuck, NOW).unwrap().next;
            let why = ReviewReason::Mismatch(mismatch);
            assert_eq!(stuck, State::NeedsReview { since: NOW, why, object, suspects });
            assert_eq!(transition(&stuck, Event::Absent, NOW).unwrap().next, stuck);
        }
    }
}

/// Two providers' answers under our key, or the same one again: who was shown for ours is kept, once, until the intent is over.
#[test]
fn fault_47_whoever_was_shown_for_ours_is_kept_to_be_asked() {
    let shown = |object: &str| mismatched(object, Mismatch::Owner);
    let mut state = State::Processing { since: NOW, last: None };
    let silence = Event::Unanswered(UnknownReason::NoAnswer);
    for event in [shown("x"), silence, shown("x"), shown("y"), Event::Overdue, shown("z"), Event::Absent] {
        state = transition(&state, event, NOW).unwrap().next;
    }
    assert!(matches!(state, State::NeedsReview { object: None, .. }), "{state:?}");
    let suspect = |id, minor| Suspect { object: object(id), amount: Some(rub(minor)) };
    assert_eq!(state.suspects(), ["x", "y", "z"].map(|id| suspect(id, 150_000)));
    let part = Event::Mismatched { object: object("y"), amount: rub(60_000), mismatch: Mismatch::Amount };
    state = transition(&state, part, NOW).unwrap().next;
    let expected = [suspect("x", 150_000), suspect("y", 60_000), suspect("z", 150_000)];
    assert_eq!(state.suspects(), expected, "its sum is what it was shown with last");
    for many in 0..2 * MAX_SUSPECTS {
        state = transition(&state, shown(&many.to_string()), NOW).unwrap().next;
    }
    assert_eq!(state.suspects().len(), MAX_SUSPECTS);
    let json = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<State>(&json).unwrap(), state);
}

/// The money is there no more: nobody is told of a payment, and nobody waits for a day.
#[test]
fn r12_what_was_given_back_in_full_stands_before_a_person_at_once() {
    for (name, state) in states() {
        for seen in [OURS, OTHER] {
            let event = mismatched(seen, Mismatch::GivenBack);
            let decision = transition(&state, event.clone(), NOW).unwrap();
            let own = state.object().cloned();
            // Another object's money, which is back, says nothing of the intent's own.
            let of_another = own.is_some() && own != Some(object(seen));
            if of_another || !matches!(state.name().awaits(), Awaits::Worker | Awaits::Person) {
                assert_eq!(decision.next, state, "{name}");
                continue;
            }
            let State::NeedsReview { why, object: kept, suspects, .. } = &decision.next else {
                panic!("{name}: {decision:?}")
            };
            assert_eq!((*why, kept), (ReviewReason::Mismatch(Mismatch::GivenBack), &own), "{name}");
            assert_eq!(suspects.len(), 1, "{name}: it is kept, once");
            // It is told once; no silence ends it; and should the money come to us after all, it is paid.
            assert_eq!(transition(&decision.next, event, NOW).unwrap().next, decision.next);
            assert_eq!(transition(&decision.next, Event::Absent, NOW).unwrap().next, decision.next);
            let taken = observation(seen, ObjectStatus::Succeeded);
            let paid = transition(&decision.next, Event::Observed(taken), NOW).unwrap();
            assert_eq!(paid.next, State::Succeeded { object: object(seen), at: NOW });
            assert_eq!(paid.effects, [Effect::Charge { object: object(seen) }]);
        }
    }
}

/// What is as it was asked for contradicts nothing any more; what contradicts still does.
#[test]
fn fault_47_whoever_is_shown_as_it_was_asked_for_is_no_suspect() {
    let mut state = State::Processing { since: NOW, last: None };
    let pending = observation(OURS, ObjectStatus::Pending { confirmation_url: None });
    for event in
        [mismatched(OURS, Mismatch::Owner), mismatched(OTHER, Mismatch::Owner), Event::Observed(pending)]
    {
        state = transition(&state, event, NOW).unwrap().next;
    }
    assert_eq!(state.object(), Some(&object(OURS)));
    assert_eq!(state.suspects(), [Suspect { object: object(OTHER), amount: Some(rub(150_000)) }]);
}

/// As it was written before the sums of suspects were kept.
#[test]
fn a_row_of_suspects_without_sums_is_read() {
    let old = r#"{"state":"confirming","since":5000,"why":"no_answer","suspects":["x"]}"#;
    let state: State = serde_json::from_str(old).unwrap();
    assert_eq!(state.suspects(), [Suspect { object: object("x"), amount: None }]);
    let json = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<State>(&json).unwrap(), state);
}

/// As it was written before suspects were kept.
#[test]
fn a_row_without_suspects_is_read() {
    let old = r#"{"state":"needs_review","since":5000,"why":{"mismatch":"owner"}}"#;
    let state = State::NeedsReview {
        since: NOW,
        why: ReviewReason::Mismatch(Mismatch::Owner),
        object: None,
        suspects: Vec::new(),
    };
    assert_eq!(
        (serde_json::from_str::<State>(old).unwrap(), serde_json::to_string(&state).unwrap().as_str()),
        (state, old)
    );
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
