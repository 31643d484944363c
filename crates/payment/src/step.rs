//! What a worker does next with an intent: send, ask, or neither.

use crate::{ObjectId, State};

/// The next thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send the frozen request, with the operation's key (R15).
    Send,
    /// Ask for the provider's object.
    Query(ObjectId),
    /// Look for our object in the provider's listing.
    Find,
    /// Nothing was executed and nothing may be sent any more: end it.
    EndUnsent,
    /// Nothing: it waits for the shopper or is over.
    Nothing,
}

/// The next step. `may_send` is false from execute-until on (R17); `unanswered` tells whether some send has no answer, be it
/// only that its holder went silent.
pub fn next_step(state: &State, may_send: bool, unanswered: bool) -> Step {
    match state {
        State::Created
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => Step::Nothing,
        State::Processing { .. } if may_send => Step::Send,
        State::Processing { .. } if unanswered => Step::Find,
        State::Processing { .. } => Step::EndUnsent,
        State::Confirming { object: Some(object), .. } => Step::Query(object.clone()),
        State::Confirming { object: None, .. } if may_send => Step::Send,
        State::Confirming { object: None, .. } => Step::Find,
        State::RequiresAction { object, .. } | State::Authorized { object } => Step::Query(object.clone()),
        State::NeedsReview { object: Some(object), .. } => Step::Query(object.clone()),
        State::NeedsReview { object: None, .. } => Step::Find,
    }
}
