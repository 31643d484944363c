//! One sample of every variant of every state and event. The matches below name every variant, so that a new one does not
//! compile until it has a sample.

use payment::{
    CanceledReason, Currency, DeclinedBy, Ending, Event, Mismatch, Money, NotExecutedReason, ObjectId,
    ObjectStatus, Observation, ReviewReason, State, Timestamp, UnknownReason,
};

/// The object of every state that knows one.
pub const OURS: &str = "ours";
/// An object that no state knows.
pub const OTHER: &str = "other";
/// The moment of every transition.
pub const NOW: Timestamp = Timestamp(5_000);
/// The moment of everything before.
pub const BEFORE: Timestamp = Timestamp(1_000);

pub fn object(id: &str) -> ObjectId {
    ObjectId::parse(id).unwrap()
}

/// Every state, where it matters with and without the provider's object, under the name a reader sees.
pub fn states() -> Vec<(String, State)> {
    let ours = || object(OURS);
    let all = [
        State::Created,
        State::Processing { since: BEFORE, last: None },
        State::RequiresAction { object: ours(), url: "https://bank.example/3ds".into() },
        State::Confirming { since: BEFORE, why: UnknownReason::NoAnswer, object: None, suspects: Vec::new() },
        State::Confirming {
            since: BEFORE,
            why: UnknownReason::Accepted,
            object: Some(ours()),
            suspects: Vec::new(),
        },
        State::Authorized { object: ours() },
        State::NeedsReview { since: BEFORE, why: ReviewReason::Overdue, object: None, suspects: Vec::new() },
        State::NeedsReview {
            since: BEFORE,
            why: ReviewReason::Mismatch(Mismatch::Amount),
            object: Some(ours()),
            suspects: Vec::new(),
        },
        State::Succeeded { object: ours(), at: BEFORE },
        State::Declined { by: DeclinedBy::Issuer, code: "insufficient_funds".into(), message: "no".into() },
        State::Canceled { reason: CanceledReason::NotExecuted },
        State::Expired { code: Some("expired_on_confirmation".into()) },
    ];
    all.into_iter().map(|state| (shown(&state), state)).collect()
}

/// A state's name as the document shows it.
pub fn shown(state: &State) -> String {
    let known = match state {
        State::Confirming { object, .. } | State::NeedsReview { object, .. } => object.is_some(),
        State::Created
        | State::Processing { .. }
        | State::RequiresAction { .. }
        | State::Authorized { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => false,
    };
    format!("{}{}", state.name(), if known { " (object known)" } else { "" })
}

/// Every event with the detail that tells its variants apart, if it has any.
pub fn events() -> Vec<(Event, Option<String>)> {
    let mut all = vec![Event::Submitted, Event::TakenOver];
    all.extend(not_executed_reasons().into_iter().map(Event::NotExecuted));
    all.extend(unknown_reasons().into_iter().map(Event::Unanswered));
    all.push(Event::Rejected { code: "invalid_request".into(), message: "amount".into() });
    for id in [OURS, OTHER] {
        all.extend(statuses().into_iter().map(|status| Event::Observed(observation(id, status))));
    }
    for mismatch in [Mismatch::Owner, Mismatch::Amount, Mismatch::GivenBack] {
        all.extend([OURS, OTHER].map(|id| mismatched(id, mismatch)));
    }
    all.extend([Event::ExecuteUntilPassed, Event::Absent, Event::Overdue, Event::Stuck]);
    for id in [OURS, OTHER] {
        all.push(Event::JudgedCharged { object: object(id) });
    }
    all.extend([Event::JudgedNotCharged, Event::Expired, Event::Replaced]);
    all.into_iter().map(|event| (event.clone(), detail(&event))).collect()
}

pub fn mismatched(id: &str, mismatch: Mismatch) -> Event {
    Event::Mismatched { object: object(id), amount: rub(150_000), mismatch }
}

/// Of kopecks.
pub fn rub(minor: i64) -> Money {
    Money::from_minor(minor, Currency::parse("RUB").unwrap()).unwrap()
}

pub fn observation(id: &str, status: ObjectStatus) -> Observation {
    Observation {
        object: object(id),
        status,
        amount: rub(150_000),
        given_back: false,
        intent: None,
        order: None,
        paid_with: None,
        created_at: None,
    }
}

pub fn statuses() -> Vec<ObjectStatus> {
    let code = || "a_code".to_owned();
    vec![
        ObjectStatus::Pending { confirmation_url: Some("https://bank.example/3ds".into()) },
        ObjectStatus::Pending { confirmation_url: None },
        ObjectStatus::WaitingForCapture,
        ObjectStatus::Succeeded,
        ObjectStatus::Ended(Ending::Declined { code: code() }),
        ObjectStatus::Ended(Ending::Canceled { code: code() }),
        ObjectStatus::Ended(Ending::Expired { code: code() }),
    ]
}

pub fn not_executed_reasons() -> Vec<NotExecutedReason> {
    use NotExecutedReason as Reason;
    let listed =
        vec![Reason::NotSent, Reason::TooLate, Reason::NotAuthorized, Reason::NotFound, Reason::RateLimited];
    for reason in &listed {
        match reason {
            Reason::NotSent
            | Reason::TooLate
            | Reason::NotAuthorized
            | Reason::NotFound
            | Reason::RateLimited => {}
        }
    }
    listed
}

pub fn unknown_reasons() -> Vec<UnknownReason> {
    use UnknownReason as Reason;
    let listed = vec![
        Reason::NoAnswer,
        Reason::ProviderError,
        Reason::Accepted,
        Reason::Unreadable,
        Reason::HolderLost,
        Reason::RejectedAfterUnknown,
        Reason::Mismatch(Mismatch::Owner),
        Reason::Mismatch(Mismatch::Amount),
        Reason::Mismatch(Mismatch::GivenBack),
        Reason::Pending,
    ];
    for reason in &listed {
        match reason {
            Reason::NoAnswer
            | Reason::ProviderError
            | Reason::Accepted
            | Reason::Unreadable
            | Reason::HolderLost
            | Reason::RejectedAfterUnknown
            | Reason::Mismatch(Mismatch::Owner | Mismatch::Amount | Mismatch::GivenBack)
            | Reason::Pending => {}
        }
    }
    listed
}

fn detail(event: &Event) -> Option<String> {
    match event {
        Event::NotExecuted(reason) => Some(word(reason)),
        Event::Unanswered(UnknownReason::Mismatch(mismatch)) => {
            Some(format!("mismatch of {}", word(mismatch)))
        }
        Event::Unanswered(reason) => Some(word(reason)),
        Event::Observed(seen) => Some(format!("{}{}", status(&seen.status), which(&seen.object))),
        Event::Mismatched { object, mismatch, .. } => Some(format!("{}{}", word(mismatch), which(object))),
        Event::JudgedCharged { object } => Some(format!("by {}", whose(object))),
        Event::Submitted
        | Event::TakenOver
        | Event::Rejected { .. }
        | Event::ExecuteUntilPassed
        | Event::Absent
        | Event::Overdue
        | Event::Stuck
        | Event::JudgedNotCharged
        | Event::Expired
        | Event::Replaced => None,
    }
}

fn which(id: &ObjectId) -> &'static str {
    if id.as_str() == OTHER { ", another object" } else { "" }
}

fn whose(id: &ObjectId) -> &'static str {
    if id.as_str() == OTHER { "another object" } else { "our object" }
}

fn status(status: &ObjectStatus) -> &'static str {
    match status {
        ObjectStatus::Pending { confirmation_url: Some(_) } => "pending with a page",
        ObjectStatus::Pending { confirmation_url: None } => "pending without a page",
        ObjectStatus::WaitingForCapture => "waiting for capture",
        ObjectStatus::Succeeded => "succeeded",
        ObjectStatus::Ended(Ending::Declined { .. }) => "ended: declined",
        ObjectStatus::Ended(Ending::Canceled { .. }) => "ended: canceled",
        ObjectStatus::Ended(Ending::Expired { .. }) => "ended: expired",
    }
}

/// `NotSent` as `not_sent`: the word the store keeps.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap().trim_matches('"').to_owned()
}
