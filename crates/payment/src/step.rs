//! What a worker does next with an operation: send, ask, or neither.

use planted::Fault;

use crate::{ObjectId, OperationKind, OperationState, State};

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
    /// Nothing: it waits for the shopper, for the gate, or is over.
    Nothing,
}

/// Whether a request may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// It may.
    Allowed,
    /// Not now: the account's listing has to be read first, or a stranger's money for this order stands before a person.
    Held,
    /// Never again: execute-until has passed (R17), or the checkout is paid already.
    Over,
}

/// The next step of a pay operation. `unanswered` tells whether some send has no answer, be it only that its holder went silent.
pub fn next_step(state: &State, dispatch: Dispatch, unanswered: bool) -> Step {
    match state {
        State::Created
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => Step::Nothing,
        State::Processing { .. } => unlinked(dispatch, unanswered),
        State::Confirming { object: Some(object), .. } => Step::Query(object.clone()),
        State::Confirming { object: None, .. } => unlinked(dispatch, true),
        State::RequiresAction { object, .. } | State::Authorized { object } => Step::Query(object.clone()),
        State::NeedsReview { object: Some(object), .. } => Step::Query(object.clone()),
        State::NeedsReview { object: None, .. } => Step::Find,
    }
}

/// The next step of a capture, a cancel (both act on the payment `target`) or a refund (which makes an `object` of its own).
pub fn next_operation_step(
    kind: OperationKind,
    state: &OperationState,
    (target, object): (&ObjectId, Option<&ObjectId>),
    dispatch: Dispatch,
    unanswered: bool,
) -> Step {
    let ask = match (kind, object) {
        (OperationKind::Refund, Some(refund)) => Step::Query(refund.clone()),
        (OperationKind::Refund, None) => Step::Find,
        (OperationKind::Pay | OperationKind::Capture | OperationKind::Cancel, _) => {
            Step::Query(target.clone())
        }
    };
    match state {
        OperationState::Processing { .. } | OperationState::Confirming { .. } if object.is_some() => ask,
        OperationState::Processing { .. } | OperationState::Confirming { .. } => {
            let unknown = unanswered || matches!(state, OperationState::Confirming { .. });
            let step = unlinked(dispatch, unknown);
            if step == Step::Find { ask } else { step }
        }
        OperationState::NeedsReview { .. } => ask,
        OperationState::Succeeded { .. } | OperationState::Rejected { .. } | OperationState::NotExecuted => {
            Step::Nothing
        }
    }
}

/// While no object is known: the same request again if one may leave, else a question.
fn unlinked(dispatch: Dispatch, unanswered: bool) -> Step {
    match dispatch {
        Dispatch::Allowed => Step::Send,
        Dispatch::Over if planted::is(Fault::TimerEndsUnknown) => Step::EndUnsent,
        Dispatch::Held | Dispatch::Over if unanswered => Step::Find,
        Dispatch::Held => Step::Nothing,
        Dispatch::Over => Step::EndUnsent,
    }
}
