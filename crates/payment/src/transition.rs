//! Decides what follows an event: the only place where an intent's state changes. Pure.

mod sight;

use planted::Fault;
use sight::{mismatched, observed};

use crate::{
    CanceledReason, DeclinedBy, Event, Mismatch, NotExecutedReason, ObjectId, ReviewReason, State, StateName,
    Suspect, Timestamp, UnknownReason,
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
