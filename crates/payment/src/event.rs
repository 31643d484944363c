//! What can happen to an intent.

use serde::{Deserialize, Serialize};

use crate::{Mismatch, Money, ObjectId, Observation};

/// Something that happened, with its evidence. No timer is among them that could end what is unknown (R10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first submit was claimed.
    Submitted,
    /// A lease ended with its send unanswered, and another holder goes on (R14).
    TakenOver,
    /// A send was definitely not executed.
    NotExecuted(NotExecutedReason),
    /// A send has no definite answer.
    Unanswered(UnknownReason),
    /// The provider said the request is wrong (HTTP 400).
    Rejected {
        /// The provider's code.
        code: String,
        /// The provider's words.
        message: String,
    },
    /// The provider showed its object, and it is what we asked for.
    Observed(Observation),
    /// The provider showed an object that contradicts what we asked for.
    Mismatched {
        /// The object.
        object: ObjectId,
        /// Its sum.
        amount: Money,
        /// In what.
        mismatch: Mismatch,
    },
    /// The moment after which nothing is sent any more has passed.
    ExecuteUntilPassed,
    /// Two complete listings, some time apart and both begun when a straggling send could take no money any more, do not hold an
    /// object of this intent: the evidence that there is none.
    Absent,
    /// Too long unknown, even for queries; of money that is held: not shown, long after its hold is over by itself.
    Overdue,
    /// Work on it ended without a result again and again.
    Stuck,
    /// A person found the object that took the money.
    JudgedCharged {
        /// The object.
        object: ObjectId,
    },
    /// A person found that no money was taken.
    JudgedNotCharged,
    /// The checkout's time has run out.
    Expired,
    /// The checkout's terms changed.
    Replaced,
}

impl Event {
    /// The name in the journal and in the graph.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::TakenOver => "taken_over",
            Self::NotExecuted(_) => "not_executed",
            Self::Unanswered(_) => "unanswered",
            Self::Rejected { .. } => "rejected",
            Self::Observed(_) => "observed",
            Self::Mismatched { .. } => "mismatched",
            Self::ExecuteUntilPassed => "execute_until_passed",
            Self::Absent => "absent",
            Self::Overdue => "overdue",
            Self::Stuck => "stuck",
            Self::JudgedCharged { .. } => "judged_charged",
            Self::JudgedNotCharged => "judged_not_charged",
            Self::Expired => "expired",
            Self::Replaced => "replaced",
        }
    }
}

/// Why a send was definitely not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotExecutedReason {
    /// Not a byte of the request left: there was no connection, or we held it back.
    NotSent,
    /// The process woke too late: its claim had run out before the first byte could leave (R14, R17).
    TooLate,
    /// 401 or 403: our credentials are not accepted.
    NotAuthorized,
    /// 404 or 405: no such door.
    NotFound,
    /// 429: later.
    RateLimited,
}

/// Why a result is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownReason {
    /// The connection broke or the deadline passed after the first byte.
    NoAnswer,
    /// The provider answered with an error that says nothing about the payment (500, 502, …).
    ProviderError,
    /// The provider is still at it (YooKassa's 202).
    Accepted,
    /// The answer could not be read.
    Unreadable,
    /// The holder of the lease went silent.
    HolderLost,
    /// A 400 after an unanswered send says nothing about that send.
    RejectedAfterUnknown,
    /// The object contradicts what we asked for.
    Mismatch(Mismatch),
    /// The object waits at the provider, and not for the shopper.
    Pending,
}
