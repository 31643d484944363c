//! Decides what follows an event: the only place where an intent's state changes. Pure.

use planted::Fault;

use crate::{
    CanceledReason, DeclinedBy, Ending, Event, MAX_SUSPECTS, Mismatch, NotExecutedReason, ObjectId,
    ObjectStatus, Observation, ReviewReason, State, StateName, Suspect, Timestamp, UnknownReason,
};

/// What follows an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The state from now on.
    pub next: State,
    /// What else has to be recorded, in the same transaction.
    pub effects: Vec<Effect>,
}

/// Something to record with the new state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The object took money: a charge of the checkout. The first makes it paid, whatever the state of its intent.
    Charge {
        /// The object.
        object: ObjectId,
    },
    /// Something that should not be: for the journal and the alarm.
    Anomaly(Anomaly),
}

/// Something that should not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anomaly {
    /// Money was taken for an intent that had ended without.
    PaidAfterEnd,
    /// The provider has another object for this intent.
    SecondObject,
    /// The provider ended what it had called paid.
    Reversed,
    /// The provider went back to an earlier status.
    WentBack,
    /// An object exists for an intent that was never sent.
    NeverSent,
    /// The object names our intent, and another order than the one it is for.
    OtherOrder,
}

impl Anomaly {
    /// The name in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PaidAfterEnd => "paid_after_end",
            Self::SecondObject => "second_object",
            Self::Reversed => "reversed",
            Self::WentBack => "went_back",
            Self::NeverSent => "never_sent",
            Self::OtherOrder => "other_order",
        }
    }
}

/// The event cannot happen in that state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{event}` cannot happen to an intent that is {state}")]
pub struct TransitionError {
    /// The state.
    pub state: StateName,
    /// The event's name.
    pub event: &'static str,
}

impl Decision {
    fn to(next: State) -> Self {
        Self { next, effects: Vec::new() }
    }

    fn stay(state: &State) -> Self {
        Self::to(state.clone())
    }

    fn with(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}

/// What `event` makes of an intent in `state`, at `now`.
///
/// Terminal states absorb every event but those that cannot happen to what was sent (`Submitted`, `Replaced`).
pub fn transition(state: &State, event: Event, now: Timestamp) -> Result<Decision, TransitionError> {
    let illegal = TransitionError { state: state.name(), event: event.name() };
    let decision = match event {
        Event::Submitted => submitted(state, now),
        Event::TakenOver => unanswered(state, UnknownReason::HolderLost, now),
        Event::NotExecuted(reason) => not_executed(state, reason),
        Event::Unanswered(why) => unanswered(state, why, now),
        Event::Rejected { code, message } => rejected(state, code, message),
        Event::Observed(observation) => Some(observed(state, observation, now)),
        Event::Mismatched { object, amount, mismatch } => {
            Some(mismatched(state, Suspect { object, amount: Some(amount) }, mismatch, now))
        }
        Event::ExecuteUntilPassed => execute_until_passed(state),
        Event::Absent => absent(state),
        Event::Overdue => Some(overdue(state, now)),
        Event::Stuck => Some(stuck(state, now)),
        Event::JudgedCharged { object } => judged_charged(state, object, now),
        Event::JudgedNotCharged => judged_not_charged(state),
        Event::Expired => Some(expired(state)),
        Event::Replaced => replaced(state),
    };
    decision.ok_or(illegal)
}

fn submitted(state: &State, now: Timestamp) -> Option<Decision> {
    (*state == State::Created).then(|| Decision::to(State::Processing { since: now, last: None }))
}

/// Nothing left us, so nothing is unknown that was not before.
fn not_executed(state: &State, reason: NotExecutedReason) -> Option<Decision> {
    match state {
        State::Created => None,
        State::Processing { since, .. } => {
            Some(Decision::to(State::Processing { since: *since, last: Some(reason) }))
        }
        State::RequiresAction { .. }
        | State::Confirming { .. }
        | State::Authorized { .. }
        | State::NeedsReview { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => Some(Decision::stay(state)),
    }
}

/// A send without a definite answer makes the result unknown, and only evidence ends that (R10).
fn unanswered(state: &State, why: UnknownReason, now: Timestamp) -> Option<Decision> {
    match state {
        State::Created => None,
        State::Processing { .. }
            if matches!(why, UnknownReason::NoAnswer | UnknownReason::ProviderError)
                && planted::is(Fault::UnansweredIsDeclined) =>
        {
            rejected(state, String::new(), String::new())
        }
        State::Processing { .. } => {
            Some(Decision::to(State::Confirming { since: now, why, object: None, suspects: Vec::new() }))
        }
        State::Confirming { since, why: before, object, suspects } => Some(Decision::to(State::Confirming {
            since: *since,
            why: still_unknown(*before, why),
            object: object.clone(),
            suspects: suspects.clone(),
        })),
        State::RequiresAction { .. }
        | State::Authorized { .. }
        | State::NeedsReview { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => Some(Decision::stay(state)),
    }
}

/// An object that contradicted us exists: no later silence takes that back.
fn still_unknown(before: UnknownReason, why: UnknownReason) -> UnknownReason {
    match before {
        UnknownReason::Mismatch(_) => before,
        UnknownReason::NoAnswer
        | UnknownReason::ProviderError
        | UnknownReason::Accepted
        | UnknownReason::Unreadable
        | UnknownReason::HolderLost
        | UnknownReason::RejectedAfterUnknown
        | UnknownReason::Pending => why,
    }
}

/// What contradicts what was asked for is never success: the result is unknown, until the provider says otherwise or a person
/// decides; who it was is kept, for it may have taken the money. An intent that was never sent cannot have an object at all.
fn mismatched(state: &State, seen: Suspect, mismatch: Mismatch, now: Timestamp) -> Decision {
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

/// A rejection ends the intent only if no send before it is unanswered (R16, fault 43).
fn rejected(state: &State, code: String, message: String) -> Option<Decision> {
    match state {
        State::Created => None,
        State::Processing { .. } => {
            Some(Decision::to(State::Declined { by: DeclinedBy::ProviderRejected, code, message }))
        }
        State::Confirming { .. } if planted::is(Fault::RejectedAfterUnknown) => {
            Some(Decision::to(State::Declined { by: DeclinedBy::ProviderRejected, code, message }))
        }
        State::Confirming { since, why, object, suspects } => Some(Decision::to(State::Confirming {
            since: *since,
            why: still_unknown(*why, UnknownReason::RejectedAfterUnknown),
            object: object.clone(),
            suspects: suspects.clone(),
        })),
        State::RequiresAction { .. }
        | State::Authorized { .. }
        | State::NeedsReview { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => Some(Decision::stay(state)),
    }
}

fn observed(state: &State, seen: Observation, now: Timestamp) -> Decision {
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

/// Nothing is sent any more. What was never executed ends; what is unknown stays unknown.
fn execute_until_passed(state: &State) -> Option<Decision> {
    match state {
        State::Created => None,
        State::Processing { .. } => {
            Some(Decision::to(State::Canceled { reason: CanceledReason::NotExecuted }))
        }
        State::Confirming { .. } if planted::is(Fault::TimerEndsUnknown) => {
            Some(Decision::to(State::Canceled { reason: CanceledReason::NotExecuted }))
        }
        State::RequiresAction { .. }
        | State::Confirming { .. }
        | State::Authorized { .. }
        | State::NeedsReview { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => Some(Decision::stay(state)),
    }
}

/// Listings prove it only for what has no object: an object that is known is asked for itself, and one that contradicted us may
/// be ours, whatever name it is listed under (fault 47).
fn absent(state: &State) -> Option<Decision> {
    let ended = Decision::to(State::Canceled { reason: CanceledReason::Absent });
    if !state.suspects().is_empty() {
        return Some(Decision::stay(state));
    }
    match state {
        State::Created => None,
        State::Confirming { why: UnknownReason::Mismatch(_), .. }
        | State::NeedsReview { why: ReviewReason::Mismatch(_), .. } => Some(Decision::stay(state)),
        State::Processing { .. }
        | State::Confirming { object: None, .. }
        | State::NeedsReview { object: None, .. } => Some(ended),
        State::Confirming { object: Some(_), .. }
        | State::NeedsReview { object: Some(_), .. }
        | State::RequiresAction { .. }
        | State::Authorized { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => Some(Decision::stay(state)),
    }
}

/// What always ends its worker's life stops being tried, and stands before a person.
fn stuck(state: &State, now: Timestamp) -> Decision {
    match state {
        // What contradicts the request stays known: listings must not end it.
        State::Confirming { why: UnknownReason::Mismatch(mismatch), .. } => {
            reviewed(state, ReviewReason::Mismatch(*mismatch), now)
        }
        State::Processing { .. }
        | State::RequiresAction { .. }
        | State::Confirming { .. }
        | State::Authorized { .. } => reviewed(state, ReviewReason::Stuck, now),
        State::Created
        | State::NeedsReview { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => Decision::stay(state),
    }
}

/// A person's word ends only what waits for a person; on an ended intent the money is recorded and the state stays.
fn judged_charged(state: &State, object: ObjectId, now: Timestamp) -> Option<Decision> {
    let charge = Effect::Charge { object: object.clone() };
    match state {
        State::NeedsReview { .. } => Some(Decision::to(State::Succeeded { object, at: now }).with(charge)),
        State::Declined { .. } | State::Canceled { .. } | State::Expired { .. } => {
            Some(Decision::stay(state).with(Effect::Anomaly(Anomaly::PaidAfterEnd)).with(charge))
        }
        State::Created
        | State::Processing { .. }
        | State::RequiresAction { .. }
        | State::Confirming { .. }
        | State::Authorized { .. }
        | State::Succeeded { .. } => None,
    }
}

fn judged_not_charged(state: &State) -> Option<Decision> {
    match state {
        State::NeedsReview { .. } => {
            Some(Decision::to(State::Canceled { reason: CanceledReason::JudgedNotCharged }))
        }
        State::Created
        | State::Processing { .. }
        | State::RequiresAction { .. }
        | State::Confirming { .. }
        | State::Authorized { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => None,
    }
}

/// A person has to look; the question stays open.
fn overdue(state: &State, now: Timestamp) -> Decision {
    match state {
        State::Processing { .. } | State::RequiresAction { .. } | State::Authorized { .. } => {
            reviewed(state, ReviewReason::Overdue, now)
        }
        State::Confirming { why, .. } => reviewed(state, review_reason(*why), now),
        State::Created
        | State::NeedsReview { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => Decision::stay(state),
    }
}

fn reviewed(state: &State, why: ReviewReason, now: Timestamp) -> Decision {
    let (object, suspects) = (state.object().cloned(), state.suspects().to_vec());
    Decision::to(State::NeedsReview { since: now, why, object, suspects })
}

fn review_reason(why: UnknownReason) -> ReviewReason {
    match why {
        UnknownReason::Mismatch(mismatch @ (Mismatch::Owner | Mismatch::Amount | Mismatch::GivenBack)) => {
            ReviewReason::Mismatch(mismatch)
        }
        UnknownReason::NoAnswer
        | UnknownReason::ProviderError
        | UnknownReason::Accepted
        | UnknownReason::Unreadable
        | UnknownReason::HolderLost
        | UnknownReason::RejectedAfterUnknown
        | UnknownReason::Pending => ReviewReason::Overdue,
    }
}

/// Time ends only what was never sent.
fn expired(state: &State) -> Decision {
    if !state.is_terminal() && planted::is(Fault::ExpireEndsSent) {
        return Decision::to(State::Expired { code: None });
    }
    match state {
        State::Created => Decision::to(State::Expired { code: None }),
        State::Processing { .. }
        | State::RequiresAction { .. }
        | State::Confirming { .. }
        | State::Authorized { .. }
        | State::NeedsReview { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => Decision::stay(state),
    }
}

fn replaced(state: &State) -> Option<Decision> {
    (*state == State::Created).then(|| Decision::to(State::Canceled { reason: CanceledReason::Replaced }))
}
