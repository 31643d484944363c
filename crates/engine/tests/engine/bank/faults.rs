//! What can go wrong with one exchange, and what the caller hears of it.

use std::sync::Arc;

use payment::{NotExecutedReason, UnknownReason};
use providers::Reply;
use tokio::sync::Notify;

/// What happens to one exchange.
#[derive(Clone, Debug)]
pub enum Fault {
    /// No connection: not a byte left.
    NotSent,
    /// Lost on the way there.
    LoseRequest,
    /// Done, and the answer lost.
    LoseAnswer,
    /// HTTP 500, nothing done.
    Error500Before,
    /// HTTP 500, and done.
    Error500After,
    /// HTTP 400.
    BadRequest,
    /// HTTP 401.
    Unauthorized,
    /// HTTP 404.
    NotFound,
    /// Done, and a firewall between us answers with this in its place.
    TurnedAway(NotExecutedReason),
    /// HTTP 429 with its `Retry-After`, ms.
    RateLimited(Option<i64>),
    /// HTTP 503 with its `Retry-After`, ms, of somebody on the way; nothing done.
    Unavailable(i64),
    /// HTTP 202 with its `retry_after`, ms; done.
    Accepted(i64),
    /// Done, and an answer nobody can read.
    Garbage,
    /// The process is paused when it is connected and about to send; the last look comes after it.
    Paused(Arc<Notify>),
    /// Waits before it is looked at, then goes on as if nothing had been.
    Held(Arc<Notify>),
}

fn unknown<O>(reason: UnknownReason, retry_after_ms: Option<i64>) -> Reply<O> {
    Reply::Unknown { reason, turned_away: None, retry_after_ms }
}

pub fn not_executed<O>(reason: NotExecutedReason, retry_after_ms: Option<i64>) -> Reply<O> {
    Reply::NotExecuted { reason, retry_after_ms }
}

/// The answer to what was not done.
pub fn refused<O>(fault: &Fault) -> Option<Reply<O>> {
    match fault {
        Fault::NotSent => Some(not_executed(NotExecutedReason::NotSent, None)),
        Fault::LoseRequest => Some(unknown(UnknownReason::NoAnswer, None)),
        Fault::Error500Before => Some(unknown(UnknownReason::ProviderError, None)),
        Fault::Unavailable(after) => Some(unknown(UnknownReason::ProviderError, Some(*after))),
        Fault::BadRequest => {
            Some(Reply::Rejected { code: "invalid_request".into(), message: "Bad token".into() })
        }
        Fault::Unauthorized => Some(not_executed(NotExecutedReason::NotAuthorized, None)),
        Fault::NotFound => Some(not_executed(NotExecutedReason::NotFound, None)),
        Fault::RateLimited(after) => Some(not_executed(NotExecutedReason::RateLimited, *after)),
        Fault::LoseAnswer
        | Fault::Error500After
        | Fault::Accepted(_)
        | Fault::Garbage
        | Fault::TurnedAway(_)
        | Fault::Paused(_)
        | Fault::Held(_) => None,
    }
}

/// The answer to what was done, as it arrives.
pub fn distorted<O>(fault: Option<Fault>, told: Reply<O>) -> Reply<O> {
    let Some(fault) = fault else { return told };
    match fault {
        Fault::LoseAnswer => unknown(UnknownReason::NoAnswer, None),
        Fault::Error500After => unknown(UnknownReason::ProviderError, None),
        Fault::Accepted(after) => unknown(UnknownReason::Accepted, Some(after)),
        Fault::Garbage => unknown(UnknownReason::Unreadable, None),
        Fault::TurnedAway(reason) => Reply::Unknown {
            reason: UnknownReason::Unreadable,
            turned_away: Some(reason),
            retry_after_ms: None,
        },
        Fault::NotSent
        | Fault::LoseRequest
        | Fault::Error500Before
        | Fault::Unavailable(_)
        | Fault::BadRequest
        | Fault::Unauthorized
        | Fault::NotFound
        | Fault::RateLimited(_)
        | Fault::Paused(_)
        | Fault::Held(_) => told,
    }
}
