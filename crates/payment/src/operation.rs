//! What is asked of a provider besides a payment: capture, cancel, refund. Pure. (A pay operation's state is its intent's.)

use planted::Fault;
use serde::{Deserialize, Serialize};

use crate::{NotExecutedReason, Timestamp, UnknownReason};

/// What is asked of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationKind {
    /// Take money; born with its intent.
    Pay,
    /// Take money that is held.
    Capture,
    /// Let go of money that is held.
    Cancel,
    /// Give money back.
    Refund,
}

impl OperationKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pay, Self::Capture, Self::Cancel, Self::Refund];

    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pay => "pay",
            Self::Capture => "capture",
            Self::Cancel => "cancel",
            Self::Refund => "refund",
        }
    }
}

/// Where such an operation stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum OperationState {
    /// Every send so far was definitely not executed, or the first is still to come.
    Processing {
        /// Why the last send was not executed, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last: Option<NotExecutedReason>,
    },
    /// Some send has no answer, or the provider is still at it (R10).
    Confirming {
        /// Since when.
        since: Timestamp,
        /// Why.
        why: UnknownReason,
    },
    /// A person has to decide; queries go on.
    NeedsReview {
        /// Since when.
        since: Timestamp,
    },
    /// Done.
    Succeeded {
        /// When we learned it.
        at: Timestamp,
    },
    /// Refused by the provider.
    Rejected {
        /// The provider's code.
        code: String,
        /// The provider's words.
        message: String,
    },
    /// Never executed, for certain.
    NotExecuted,
}

/// What can happen to such an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationEvent {
    /// A lease ended with its send unanswered.
    TakenOver,
    /// A send was definitely not executed.
    NotExecuted(NotExecutedReason),
    /// A send has no definite answer, or the provider is still at it.
    Unanswered(UnknownReason),
    /// The provider said the request is wrong.
    Rejected {
        /// The provider's code.
        code: String,
        /// The provider's words.
        message: String,
    },
    /// The provider's object shows that it is done.
    Done,
    /// The provider's object shows that it was refused.
    Refused {
        /// The provider's code.
        code: String,
    },
    /// The moment after which nothing is sent any more has passed.
    ExecuteUntilPassed,
    /// The provider's object shows, when nothing can arrive any more, that it was not done.
    NotDone,
    /// Unknown, and nothing can be sent any more.
    Overdue,
    /// Work on it ended without a result again and again.
    Stuck,
    /// A person found that it was done.
    JudgedExecuted,
    /// A person found that it was not done.
    JudgedNotExecuted,
}

impl OperationEvent {
    /// The name in the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TakenOver => "taken_over",
            Self::NotExecuted(_) => "not_executed",
            Self::Unanswered(_) => "unanswered",
            Self::Rejected { .. } => "rejected",
            Self::Done => "done",
            Self::Refused { .. } => "refused",
            Self::ExecuteUntilPassed => "execute_until_passed",
            Self::NotDone => "not_done",
            Self::Overdue => "overdue",
            Self::Stuck => "stuck",
            Self::JudgedExecuted => "judged_executed",
            Self::JudgedNotExecuted => "judged_not_executed",
        }
    }
}

impl OperationState {
    /// The name in the journal and the API.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Processing { .. } => "processing",
            Self::Confirming { .. } => "confirming",
            Self::NeedsReview { .. } => "needs_review",
            Self::Succeeded { .. } => "succeeded",
            Self::Rejected { .. } => "rejected",
            Self::NotExecuted => "not_executed",
        }
    }

    /// Whether nothing changes it any more.
    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Succeeded { .. } | Self::Rejected { .. } | Self::NotExecuted => true,
            Self::Processing { .. } | Self::Confirming { .. } | Self::NeedsReview { .. } => false,
        }
    }

    /// What `event` makes of it, at `now`. Terminal states absorb.
    #[must_use]
    pub fn after(&self, event: OperationEvent, now: Timestamp) -> Self {
        if self.is_terminal() {
            return self.clone();
        }
        let unknown = !matches!(self, Self::Processing { .. });
        match event {
            OperationEvent::TakenOver => self.confirming(UnknownReason::HolderLost, now),
            OperationEvent::Unanswered(UnknownReason::NoAnswer | UnknownReason::ProviderError)
                if planted::is(Fault::UnansweredRefundIsRejected) =>
            {
                Self::Rejected { code: String::new(), message: String::new() }
            }
            OperationEvent::Unanswered(why) => self.confirming(why, now),
            // After an unanswered send neither of these says anything about that send.
            OperationEvent::NotExecuted(_) | OperationEvent::ExecuteUntilPassed if unknown => self.clone(),
            OperationEvent::Rejected { .. } if unknown => {
                self.confirming(UnknownReason::RejectedAfterUnknown, now)
            }
            OperationEvent::NotExecuted(reason) => Self::Processing { last: Some(reason) },
            OperationEvent::Rejected { code, message } => Self::Rejected { code, message },
            OperationEvent::Done | OperationEvent::JudgedExecuted => Self::Succeeded { at: now },
            OperationEvent::Refused { code } => Self::Rejected { code, message: String::new() },
            OperationEvent::ExecuteUntilPassed
            | OperationEvent::NotDone
            | OperationEvent::JudgedNotExecuted => Self::NotExecuted,
            OperationEvent::Overdue | OperationEvent::Stuck => self.reviewed(now),
        }
    }

    fn confirming(&self, why: UnknownReason, now: Timestamp) -> Self {
        match self {
            Self::Processing { .. } => Self::Confirming { since: now, why },
            Self::Confirming { since, .. } => Self::Confirming { since: *since, why },
            Self::NeedsReview { .. } | Self::Succeeded { .. } | Self::Rejected { .. } | Self::NotExecuted => {
                self.clone()
            }
        }
    }

    fn reviewed(&self, now: Timestamp) -> Self {
        match self {
            Self::Processing { .. } | Self::Confirming { .. } => Self::NeedsReview { since: now },
            Self::NeedsReview { .. } | Self::Succeeded { .. } | Self::Rejected { .. } | Self::NotExecuted => {
                self.clone()
            }
        }
    }
}
