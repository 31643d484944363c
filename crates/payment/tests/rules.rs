//! The rules of the transition, over every pair of samples and over random histories.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod samples;

use payment::{
    Anomaly, Awaits, CanceledReason, DeclinedBy, Effect, Event, IntentId, Mismatch, ObjectStatus,
    ReviewReason, Stance, State, StateName, Suspect, Terms, Timestamp, TransitionError, UnknownReason,
    transition,
};
use proptest::prelude::*;
use samples::{
    BEFORE, NOW, OTHER, OURS, events, object, observation, shown, states, statuses, unknown_reasons,
};
use uuid::Uuid;

/// Every state with every event.
fn pairs() -> impl Iterator<Item = (State, Event)> {
    states()
        .into_iter()
        .flat_map(|(_, state)| events().into_iter().map(move |(event, _)| (state.clone(), event)))
}

/// What ends an unknown result: the provider's word, the proof that there is nothing, a person's finding. No timer is among them.
fn is_evidence(event: &Event) -> bool {
    match event {
        Event::Observed(_) | Event::Absent | Event::JudgedCharged { .. } | Event::JudgedNotCharged => true,
        Event::Submitted
        | Event::TakenOver
        | Event::NotExecuted(_)
        | Event::Unanswered(_)
        | Event::Rejected { .. }
        | Event::Mismatched { .. }
        | Event::ExecuteUntilPassed
        | Event::Overdue
        | Event::Stuck
        | Event::Expired
        | Event::Replaced => false,
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let all: Vec<Event> = events().into_iter().map(|(event, _)| event).collect();
    prop::sample::select(all)
}

/// A state after any history, and what it was before each step of it.
fn any_history() -> impl Strategy<Value = Vec<(State, Event, State)>> {
    prop::collection::vec((any_event(), 0_i64..1_000), 1..40).prop_map(|history| {
        let (mut state, mut now, mut steps) = (State::Created, Timestamp(0), Vec::new());
        for (event, later) in history {
            now = now.plus_ms(later);
            if let Ok(decision) = transition(&state, event.clone(), now) {
                steps.push((state, event, decision.next.clone()));
                state = decision.next;
            }
        }
        steps
    })
}

fn any_state() -> impl Strategy<Value = State> {
    let id = || "[a-z0-9-]{1,36}".prop_map(|text| object(&text));
    let suspect = || {
        let amount = prop::option::of((1..=i64::MAX).prop_map(samples::rub));
        (id(), amount).prop_map(|(object, amount)| Suspect { object, amount })
    };
    let suspects = || prop::collection::vec(suspect(), 0..3);
    let at = || any::<i64>().prop_map(Timestamp);
    let why = prop::sample::select(unknown_reasons());
    let review = prop::sample::select(vec![
        ReviewReason::Overdue,
        ReviewReason::Stuck,
        ReviewReason::Mismatch(Mismatch::Owner),
        ReviewReason::Mismatch(Mismatch::Amount),
        ReviewReason::Mismatch(Mismatch::GivenBack),
    ]);
    let by = prop::sample::select(vec![DeclinedBy::Issuer, DeclinedBy::ProviderRejected]);
    let last = prop::option::of(prop::sample::select(samples::not_executed_reasons()));
    let canceled = prop_oneof![
        Just(CanceledReason::NotExecuted),
        Just(CanceledReason::Absent),
        Just(CanceledReason::JudgedNotCharged),
        Just(CanceledReason::Replaced),
        ".*".prop_map(|code| CanceledReason::ByProvider { code }),
    ];
    prop_oneof![
        Just(State::Created),
        (at(), last).prop_map(|(since, last)| State::Processing { since, last }),
        (id(), ".*").prop_map(|(object, url)| State::RequiresAction { object, url }),
        (at(), why, prop::option::of(id()), suspects())
            .prop_map(|(since, why, object, suspects)| State::Confirming { since, why, object, suspects }),
        id().prop_map(|object| State::Authorized { object }),
        (at(), review, prop::option::of(id()), suspects())
            .prop_map(|(since, why, object, suspects)| State::NeedsReview { since, why, object, suspects }),
        (id(), at()).prop_map(|(object, at)| State::Succeeded { object, at }),
        (by, ".*", ".*").prop_map(|(by, code, message)| State::Declined { by, code, message }),
        canceled.prop_map(|reason| State::Canceled { reason }),
        prop::option::of(".*").prop_map(|code| State::Expired { code }),
    ]
}

proptest! {
    #[test]
    fn r10_no_history_ends_what_is_unknown_without_evidence(history in any_history()) {
        for (from, event, to) in history {
            let unknown = matches!(from, State::Confirming { .. } | State::NeedsReview { .. });
            if unknown && to.is_terminal() {
                prop_assert!(is_evidence(&event), "{from:?} became {to:?} by {event:?}");
            }
        }
    }

    #[test]
    fn r10_once_unanswered_a_history_without_evidence_never_ends(
        before in prop::collection::vec(any_event(), 0..10),
        after in prop::collection::vec(any_event(), 0..30),
    ) {
        let mut state = transition(&State::Created, Event::Submitted, NOW).unwrap().next;
        let unanswered = Event::Unanswered(payment::UnknownReason::NoAnswer);
        let quiet = before.into_iter().filter(|event| matches!(event, Event::NotExecuted(_)));
        for event in quiet.chain([unanswered]).chain(after.into_iter().filter(|event| !is_evidence(event))) {
            state = transition(&state, event, NOW).map_or(state, |decision| decision.next);
        }
        prop_assert!(matches!(state, State::Confirming { .. } | State::NeedsReview { .. }), "{state:?}");
    }

    #[test]
    fn invariant_9_terminals_absorb(state in any_state(), event in any_event()) {
        prop_assume!(state.is_terminal());
        match transition(&state, event.clone(), NOW) {
            Ok(decision) => prop_assert_eq!(decision.next, state),
            Err(refused) => {
                let (submits, judges) = (
                    matches!(event, Event::Submitted | Event::Replaced),
                    matches!(event, Event::JudgedCharged { .. } | Event::JudgedNotCharged),
                );
                prop_assert!(submits || judges, "{}", refused);
            }
        }
    }

    #[test]
    fn every_state_reads_back_from_its_stored_form(state in any_state()) {
        let stored = serde_json::to_string(&state)?;
        prop_assert_eq!(serde_json::from_str::<State>(&stored)?, state.clone());
        let tag = serde_json::from_str::<serde_json::Value>(&stored)?["state"].clone();
        prop_assert_eq!(tag, state.name().as_str(), "the stored tag is the state's name");
    }
}

#[test]
fn r10_only_evidence_leads_out_of_confirming_and_to_a_person_what_takes_too_long() {
    for (state, event) in pairs().filter(|(state, _)| state.name() == StateName::Confirming) {
        let Ok(decision) = transition(&state, event.clone(), NOW) else { continue };
        let left = decision.next.name() != StateName::Confirming;
        match event {
            Event::Observed(_) | Event::Absent => {}
            Event::Overdue | Event::Stuck => assert_eq!(decision.next.name(), StateName::NeedsReview),
            Event::Mismatched { mismatch: Mismatch::GivenBack, .. } => {
                assert!(!left || decision.next.name() == StateName::NeedsReview);
            }
            Event::Submitted
            | Event::TakenOver
            | Event::NotExecuted(_)
            | Event::Unanswered(_)
            | Event::Rejected { .. }
            | Event::Mismatched { mismatch: Mismatch::Owner | Mismatch::Amount, .. }
            | Event::ExecuteUntilPassed
            | Event::JudgedCharged { .. }
            | Event::JudgedNotCharged
            | Event::Expired
            | Event::Replaced => assert!(!left, "{state:?} left by {event:?}"),
        }
    }
}

#[test]
fn r10_time_alone_ends_only_what_was_never_executed() {
    let timers = [Event::ExecuteUntilPassed, Event::Overdue, Event::Expired];
    for (state, event) in pairs().filter(|(state, event)| timers.contains(event) && !state.is_terminal()) {
        let ended = transition(&state, event.clone(), NOW).is_ok_and(|decision| decision.next.is_terminal());
        // A send may be on its way while the checkout's time runs out; only the worker knows that none was executed.
        let may_end = match state.name() {
            StateName::Created => event == Event::Expired,
            StateName::Processing => event == Event::ExecuteUntilPassed,
            StateName::RequiresAction
            | StateName::Confirming
            | StateName::Authorized
            | StateName::NeedsReview
            | StateName::Succeeded
            | StateName::Declined
            | StateName::Canceled
            | StateName::Expired => false,
        };
        assert_eq!(ended, may_end, "{state:?} after {event:?}");
    }
}

#[test]
fn r12_being_created_at_the_provider_is_not_being_paid() {
    for (state, event) in pairs() {
        let Ok(decision) = transition(&state, event.clone(), NOW) else { continue };
        if decision.next.stance() == Stance::Paid && state.stance() != Stance::Paid {
            let said = matches!(&event, Event::Observed(seen) if seen.status == ObjectStatus::Succeeded);
            let judged = matches!(event, Event::JudgedCharged { .. });
            assert!(said || judged, "{state:?} was paid by {event:?}");
        }
    }
}

#[test]
fn n5_money_taken_is_a_charge_exactly_when_it_is_news() {
    for (state, event) in pairs() {
        let Ok(decision) = transition(&state, event.clone(), NOW) else { continue };
        let charges: Vec<_> = decision
            .effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Charge { object } => Some(object.clone()),
                Effect::Anomaly(_) => None,
            })
            .collect();
        let took = match &event {
            Event::Observed(seen) => (seen.status == ObjectStatus::Succeeded).then(|| seen.object.clone()),
            Event::JudgedCharged { object } => Some(object.clone()),
            Event::Submitted
            | Event::TakenOver
            | Event::NotExecuted(_)
            | Event::Unanswered(_)
            | Event::Rejected { .. }
            | Event::Mismatched { .. }
            | Event::ExecuteUntilPassed
            | Event::Absent
            | Event::Overdue
            | Event::Stuck
            | Event::JudgedNotCharged
            | Event::Expired
            | Event::Replaced => None,
        };
        let known = matches!(&state, State::Succeeded { object, .. } if Some(object) == took.as_ref());
        let expected: Vec<_> = took.filter(|_| !known).into_iter().collect();
        assert_eq!(charges, expected, "{state:?} after {event:?}");
    }
}

#[test]
fn r8_another_object_never_replaces_the_one_that_is_known() {
    for (state, event) in pairs() {
        let (Some(known), Event::Observed(seen)) = (state.object(), &event) else { continue };
        let decision = transition(&state, event.clone(), NOW).unwrap();
        if seen.object != *known {
            assert_eq!(decision.next, state);
            assert!(decision.effects.contains(&Effect::Anomaly(Anomaly::SecondObject)));
        } else if !decision.next.is_terminal() {
            assert_eq!(decision.next.object(), Some(known));
        }
    }
}

#[test]
fn r16_a_rejection_ends_only_what_has_no_unanswered_send() {
    for (state, event) in pairs().filter(|(_, event)| matches!(event, Event::Rejected { .. })) {
        let ended = transition(&state, event, NOW).is_ok_and(|decision| decision.next != state);
        let allowed = matches!(state, State::Processing { .. } | State::Confirming { .. });
        assert_eq!(ended, allowed, "{state:?}");
    }
    let confirming = State::Confirming {
        since: BEFORE,
        why: payment::UnknownReason::NoAnswer,
        object: None,
        suspects: Vec::new(),
    };
    let rejected = Event::Rejected { code: "invalid".into(), message: String::new() };
    assert_eq!(transition(&confirming, rejected, NOW).unwrap().next.name(), StateName::Confirming);
}

#[test]
fn stance_and_what_is_awaited_agree_with_every_state() {
    for (_, state) in states() {
        let (name, stance, awaits) = (state.name(), state.stance(), state.name().awaits());
        assert_eq!(stance, name.stance());
        assert_eq!(stance == Stance::Paid, matches!(state, State::Succeeded { .. }), "{name}");
        assert_eq!(stance == Stance::Occupying, awaits != Awaits::Nothing, "{name}");
        assert_eq!(state.is_terminal(), stance != Stance::Occupying, "{name}");
        assert_eq!(awaits == Awaits::FirstSubmit, state == State::Created, "{name}");
        assert_eq!(awaits == Awaits::Person, name == StateName::NeedsReview, "{name}");
    }
}

#[test]
fn only_a_created_intent_is_submitted_or_replaced() {
    for event in [Event::Submitted, Event::Replaced] {
        for (name, state) in states() {
            let refused = TransitionError { state: state.name(), event: event.name() };
            match transition(&state, event.clone(), NOW) {
                Ok(_) => assert_eq!(state, State::Created),
                Err(error) => assert_eq!(error, refused, "{name}"),
            }
        }
    }
}

#[test]
fn r12_what_contradicts_our_request_is_never_taken_for_success() {
    let terms = Terms {
        intent: IntentId(Uuid::from_u128(1)),
        amount: observation(OURS, ObjectStatus::Succeeded).amount,
    };
    let seen = |intent| payment::Observation { intent, ..observation(OTHER, ObjectStatus::Succeeded) };
    assert_eq!(seen(Some(terms.intent)).mismatch(&terms), None);
    assert_eq!(seen(None).mismatch(&terms), Some(Mismatch::Owner));
    assert_eq!(seen(Some(IntentId(Uuid::from_u128(2)))).mismatch(&terms), Some(Mismatch::Owner));
    let dearer =
        Terms { amount: payment::Money::parse("1500.01", terms.amount.currency()).unwrap(), ..terms };
    assert_eq!(seen(Some(terms.intent)).mismatch(&dearer), Some(Mismatch::Amount));
    let given_back = payment::Observation { given_back: true, ..seen(Some(terms.intent)) };
    assert_eq!(given_back.mismatch(&terms), Some(Mismatch::GivenBack));
    assert_eq!(given_back.mismatch(&dearer), Some(Mismatch::Amount), "that is more than was ever asked for");
    for (state, event) in pairs().filter(|(_, event)| matches!(event, Event::Mismatched { .. })) {
        let given_back = matches!(event, Event::Mismatched { mismatch: Mismatch::GivenBack, .. });
        let decision = transition(&state, event, NOW).unwrap();
        let charges = decision.effects.iter().any(|effect| matches!(effect, Effect::Charge { .. }));
        assert!(!charges && decision.next.stance() == state.stance(), "{}", shown(&state));
        // What has an object keeps it, and its result is unknown from now on.
        if !given_back && matches!(state, State::Authorized { .. } | State::RequiresAction { .. }) {
            assert!(matches!(decision.next, State::Confirming { why: UnknownReason::Mismatch(_), .. }));
            assert_eq!(decision.next.object(), state.object());
        }
        let anomalies = usize::from(state == State::Created);
        assert_eq!(decision.effects.len(), anomalies, "what was never sent has no object");
    }
    assert_eq!(statuses().len(), 7);
}
