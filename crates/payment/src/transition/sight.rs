//! What the provider shows of an object, and what follows from it for an intent. Pure.

use planted::Fault;

use super::{Anomaly, Decision, Effect};
use crate::{
    CanceledReason, DeclinedBy, Ending, MAX_SUSPECTS, Mismatch, ObjectStatus, Observation, ReviewReason,
    State, Suspect, Timestamp, UnknownReason,
};

pub(super) fn observed(state: &State, seen: Observation, now: Timestamp) -> Decision {
    if state.is_terminal() && planted::is(Fault::TerminalOverwritten) {
        return with_charge(Decision::to(follow(state, &seen, now)), &seen);
    }
    if state.object().is_some_and(|object| *object != seen.object) {
        return with_charge(Decision::stay(state).with(Effect::Anomaly(Anomaly::SecondObject)), &seen);
    }
    match state {
        State::Created => with_charge(
            Decision::to(follow(state, &seen, now)).with(Effect::Anomaly(Anomaly::NeverSent)),
            &seen,
        ),
        State::Processing { .. }
        | State::RequiresAction { .. }
        | State::Confirming { .. }
        | State::NeedsReview { .. } => with_charge(Decision::to(follow(state, &seen, now)), &seen),
        State::Authorized { .. } => match seen.status {
            ObjectStatus::Pending { .. } => Decision::stay(state).with(Effect::Anomaly(Anomaly::WentBack)),
            ObjectStatus::WaitingForCapture | ObjectStatus::Succeeded | ObjectStatus::Ended(_) => {
                with_charge(Decision::to(follow(state, &seen, now)), &seen)
            }
        },
        State::Succeeded { .. } => match seen.status {
            ObjectStatus::Succeeded => Decision::stay(state),
            ObjectStatus::Ended(_) => Decision::stay(state).with(Effect::Anomaly(Anomaly::Reversed)),
            ObjectStatus::Pending { .. } | ObjectStatus::WaitingForCapture => {
                Decision::stay(state).with(Effect::Anomaly(Anomaly::WentBack))
            }
        },
        State::Declined { .. } | State::Canceled { .. } | State::Expired { .. } => match seen.status {
            ObjectStatus::Succeeded if planted::is(Fault::LateMoneyIgnored) => Decision::stay(state),
            ObjectStatus::Succeeded => {
                with_charge(Decision::stay(state).with(Effect::Anomaly(Anomaly::PaidAfterEnd)), &seen)
            }
            ObjectStatus::Ended(_) => Decision::stay(state),
            ObjectStatus::Pending { .. } | ObjectStatus::WaitingForCapture => {
                Decision::stay(state).with(Effect::Anomaly(Anomaly::WentBack))
            }
        },
    }
}

/// The provider's word about our object, as a state of ours.
fn follow(state: &State, seen: &Observation, now: Timestamp) -> State {
    let object = seen.object.clone();
    // It contradicts nothing any more.
    let suspects: Vec<_> = state.suspects().iter().filter(|other| other.object != object).cloned().collect();
    match &seen.status {
        ObjectStatus::Pending { .. } if planted::is(Fault::PendingIsPaid) => {
            State::Succeeded { object, at: now }
        }
        ObjectStatus::Ended(Ending::Declined { .. }) if planted::is(Fault::DeclineNeverHeard) => {
            State::Confirming { since: now, why: UnknownReason::Pending, object: Some(object), suspects }
        }
        ObjectStatus::Pending { confirmation_url } => match (state, confirmation_url) {
            // What waits for a person goes on waiting for one: the shopper's time at the bank is long over.
            (State::NeedsReview { since, why, .. }, _) => {
                State::NeedsReview { since: *since, why: *why, object: Some(object), suspects }
            }
            (_, Some(url)) => State::RequiresAction { object, url: url.clone() },
            // A query does not repeat the page it once named.
            (State::RequiresAction { .. }, None) => state.clone(),
            (State::Confirming { since, .. }, None) => State::Confirming {
                since: *since,
                why: UnknownReason::Pending,
                object: Some(object),
                suspects,
            },
            (
                State::Created
                | State::Processing { .. }
                | State::Authorized { .. }
                | State::Succeeded { .. }
                | State::Declined { .. }
                | State::Canceled { .. }
                | State::Expired { .. },
                None,
            ) => {
                State::Confirming { since: now, why: UnknownReason::Pending, object: Some(object), suspects }
            }
        },
        ObjectStatus::WaitingForCapture => State::Authorized { object },
        ObjectStatus::Succeeded => State::Succeeded { object, at: now },
        ObjectStatus::Ended(Ending::Declined { code }) => {
            State::Declined { by: DeclinedBy::Issuer, code: code.clone(), message: String::new() }
        }
        ObjectStatus::Ended(Ending::Canceled { code }) => {
            State::Canceled { reason: CanceledReason::ByProvider { code: code.clone() } }
        }
        ObjectStatus::Ended(Ending::Expired { code }) => State::Expired { code: Some(code.clone()) },
    }
}

fn with_charge(decision: Decision, seen: &Observation) -> Decision {
    match seen.status {
        ObjectStatus::Succeeded => decision.with(Effect::Charge { object: seen.object.clone() }),
        ObjectStatus::Pending { .. } if planted::is(Fault::PendingIsPaid) => {
            decision.with(Effect::Charge { object: seen.object.clone() })
        }
        ObjectStatus::Pending { .. } | ObjectStatus::WaitingForCapture | ObjectStatus::Ended(_) => decision,
    }
}

/// What contradicts what was asked for is never success: the result is unknown, until the provider says otherwise or a person
/// decides; who it was is kept, for it may have taken the money. An intent that was never sent cannot have an object at all.
pub(super) fn mismatched(state: &State, seen: Suspect, mismatch: Mismatch, now: Timestamp) -> Decision {
    if mismatch == Mismatch::GivenBack {
        return given_back(state, seen, now);
    }
    let why = UnknownReason::Mismatch(mismatch);
    let suspects = suspecting(state, seen);
    match state {
        State::Created => Decision::stay(state).with(Effect::Anomaly(Anomaly::NeverSent)),
        State::Processing { .. } => {
            Decision::to(State::Confirming { since: now, why, object: None, suspects })
        }
        State::Confirming { since, object, .. } => {
            Decision::to(State::Confirming { since: *since, why, object: object.clone(), suspects })
        }
        State::RequiresAction { object, .. } | State::Authorized { object } => {
            Decision::to(State::Confirming { since: now, why, object: Some(object.clone()), suspects })
        }
        State::NeedsReview { since, why, object, .. } => {
            Decision::to(State::NeedsReview { since: *since, why: *why, object: object.clone(), suspects })
        }
        State::Succeeded { .. } | State::Declined { .. } | State::Canceled { .. } | State::Expired { .. } => {
            Decision::stay(state)
        }
    }
}

/// What was given back is not waited for: a person has to look at once. Money of another object than the intent's own, and given back,
/// says nothing of the intent's own.
fn given_back(state: &State, seen: Suspect, now: Timestamp) -> Decision {
    let why = ReviewReason::Mismatch(Mismatch::GivenBack);
    match state {
        State::Created => Decision::stay(state).with(Effect::Anomaly(Anomaly::NeverSent)),
        State::Processing { .. }
        | State::RequiresAction { .. }
        | State::Confirming { .. }
        | State::Authorized { .. }
        | State::NeedsReview { .. } => {
            let object = state.object().cloned();
            if object.as_ref().is_some_and(|own| *own != seen.object) {
                return Decision::stay(state);
            }
            let since = if let State::NeedsReview { since, .. } = state { *since } else { now };
            Decision::to(State::NeedsReview { since, why, object, suspects: suspecting(state, seen) })
        }
        State::Succeeded { .. } | State::Declined { .. } | State::Canceled { .. } | State::Expired { .. } => {
            Decision::stay(state)
        }
    }
}

/// Those known before, and this one, with the sum that it is shown with now.
fn suspecting(state: &State, seen: Suspect) -> Vec<Suspect> {
    let mut suspects = state.suspects().to_vec();
    if let Some(known) = suspects.iter_mut().find(|known| known.object == seen.object) {
        *known = seen;
    } else if suspects.len() < MAX_SUSPECTS {
        suspects.push(seen);
    }
    suspects
}
