//! The states of a payment intent, and what follows from each without any event.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Mismatch, Money, NotExecutedReason, ObjectId, Timestamp, UnknownReason};

/// Most objects that are kept as suspects of one intent.
pub const MAX_SUSPECTS: usize = 16;

/// Where an intent stands. Data of a state lives in its variant; the serde form is what the store keeps.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// Waits for its first submit. Nothing was sent.
    Created,
    /// Claimed; every send so far was definitely not executed, or one is on its way.
    Processing {
        /// First submit.
        since: Timestamp,
        /// Why the last send was not executed, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last: Option<NotExecutedReason>,
    },
    /// The provider waits for the shopper.
    RequiresAction {
        /// The provider's object.
        object: ObjectId,
        /// The provider's page, the same on every device.
        url: String,
    },
    /// Some send has no answer: the result is unknown (R10).
    Confirming {
        /// Since when.
        since: Timestamp,
        /// Why.
        why: UnknownReason,
        /// The provider's object, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        object: Option<ObjectId>,
        /// Up to [`MAX_SUSPECTS`] that the provider showed for ours, and that contradict what was asked for: their money may be this
        /// payment's.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        suspects: Vec<Suspect>,
    },
    /// Money is held for us and waits for a capture.
    Authorized {
        /// The provider's object.
        object: ObjectId,
    },
    /// A person has to decide; queries go on.
    NeedsReview {
        /// Since when.
        since: Timestamp,
        /// Why.
        why: ReviewReason,
        /// The provider's object, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        object: Option<ObjectId>,
        /// Up to [`MAX_SUSPECTS`] that the provider showed for ours, and that contradict what was asked for: their money may be this
        /// payment's.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        suspects: Vec<Suspect>,
    },
    /// Money was taken.
    Succeeded {
        /// The provider's object.
        object: ObjectId,
        /// When we learned it.
        at: Timestamp,
    },
    /// Refused; no money was taken.
    Declined {
        /// By whom.
        by: DeclinedBy,
        /// The provider's code.
        code: String,
        /// The provider's words, for people.
        message: String,
    },
    /// Ended without money.
    Canceled {
        /// Why.
        reason: CanceledReason,
    },
    /// Ran out of time without money.
    Expired {
        /// The provider's code, where it was the provider who ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

/// An object that the provider showed for ours, and that contradicts what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "StoredSuspect")]
pub struct Suspect {
    /// The object.
    pub object: ObjectId,
    /// Its sum, as it was shown last; none in rows that were written before it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Money>,
}

/// Either form that rows hold.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredSuspect {
    Named(ObjectId),
    Shown { object: ObjectId, amount: Option<Money> },
}

impl From<StoredSuspect> for Suspect {
    fn from(stored: StoredSuspect) -> Self {
        match stored {
            StoredSuspect::Named(object) => Self { object, amount: None },
            StoredSuspect::Shown { object, amount } => Self { object, amount },
        }
    }
}

/// Who refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclinedBy {
    /// The card's bank, or a check on the way to it.
    Issuer,
    /// The provider: our request was wrong (R16).
    ProviderRejected,
}

impl DeclinedBy {
    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Issuer => "issuer",
            Self::ProviderRejected => "provider_rejected",
        }
    }
}

/// Why an intent ended without money.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum CanceledReason {
    /// Every send was definitely not executed, and no other may follow.
    NotExecuted,
    /// The provider's listings prove that no send was executed.
    Absent,
    /// A person found that no money was taken.
    JudgedNotCharged,
    /// The checkout's terms changed before anything was sent.
    Replaced,
    /// The provider's object was cancelled.
    ByProvider {
        /// The provider's code.
        code: String,
    },
}

/// Why a person has to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewReason {
    /// Still unknown long after the last send.
    Overdue,
    /// Work on it ended without a result again and again.
    Stuck,
    /// The provider's object contradicts what we asked for, and stays so.
    Mismatch(Mismatch),
}

/// What an intent means for its checkout. Index, rules, screens and sweeper derive from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// Another intent may begin.
    Free,
    /// This one is the only one.
    Occupying,
    /// It took the money.
    Paid,
}

/// What an intent's pay operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// The shopper's first submit.
    FirstSubmit,
    /// A worker: it has a wake-up.
    Worker,
    /// A person; a worker still asks.
    Person,
    /// Nothing any more.
    Nothing,
}

macro_rules! state_names {
    ($($name:ident => $text:literal),+ $(,)?) => {
        /// A state without its data: the name in the store, on the wire and in the graph.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum StateName {
            $(#[doc = concat!("`", $text, "`")] $name),+
        }

        impl StateName {
            /// All of them, in the order of an intent's life.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// As stored and as on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text),+
                }
            }
        }

        impl State {
            /// The name.
            pub fn name(&self) -> StateName {
                match self {
                    $(Self::$name { .. } => StateName::$name),+
                }
            }
        }
    };
}

state_names! {
    Created => "created",
    Processing => "processing",
    RequiresAction => "requires_action",
    Confirming => "confirming",
    Authorized => "authorized",
    NeedsReview => "needs_review",
    Succeeded => "succeeded",
    Declined => "declined",
    Canceled => "canceled",
    Expired => "expired",
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl StateName {
    /// What it means for the checkout.
    pub fn stance(self) -> Stance {
        match self {
            Self::Created
            | Self::Processing
            | Self::RequiresAction
            | Self::Confirming
            | Self::Authorized
            | Self::NeedsReview => Stance::Occupying,
            Self::Succeeded => Stance::Paid,
            Self::Declined | Self::Canceled | Self::Expired => Stance::Free,
        }
    }

    /// What its pay operation waits for.
    pub fn awaits(self) -> Awaits {
        match self {
            Self::Created => Awaits::FirstSubmit,
            Self::Processing | Self::RequiresAction | Self::Confirming | Self::Authorized => Awaits::Worker,
            Self::NeedsReview => Awaits::Person,
            Self::Succeeded | Self::Declined | Self::Canceled | Self::Expired => Awaits::Nothing,
        }
    }

    /// Whether nothing changes it any more.
    pub fn is_terminal(self) -> bool {
        self.awaits() == Awaits::Nothing
    }
}

impl State {
    /// What it means for the checkout.
    pub fn stance(&self) -> Stance {
        self.name().stance()
    }

    /// Whether nothing changes it any more.
    pub fn is_terminal(&self) -> bool {
        self.name().is_terminal()
    }

    /// The provider's object, where it is known.
    pub fn object(&self) -> Option<&ObjectId> {
        match self {
            Self::RequiresAction { object, .. }
            | Self::Authorized { object }
            | Self::Succeeded { object, .. } => Some(object),
            Self::Confirming { object, .. } | Self::NeedsReview { object, .. } => object.as_ref(),
            Self::Created
            | Self::Processing { .. }
            | Self::Declined { .. }
            | Self::Canceled { .. }
            | Self::Expired { .. } => None,
        }
    }

    /// Objects that the provider showed for ours, and that contradict what was asked for. Whether one of them took this payment's
    /// money, only it or a person can tell.
    pub fn suspects(&self) -> &[Suspect] {
        match self {
            Self::Confirming { suspects, .. } | Self::NeedsReview { suspects, .. } => suspects,
            Self::Created
            | Self::Processing { .. }
            | Self::RequiresAction { .. }
            | Self::Authorized { .. }
            | Self::Succeeded { .. }
            | Self::Declined { .. }
            | Self::Canceled { .. }
            | Self::Expired { .. } => &[],
        }
    }
}
