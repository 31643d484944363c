//! What a provider says about its object, in our words.

use planted::Fault;
use serde::{Deserialize, Serialize};

use crate::{IntentId, Money, ObjectId, OperationId, OrderId, Timestamp};

/// One look at a provider's payment: from a response, a query, a listing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observation {
    /// The provider's id of it.
    pub object: ObjectId,
    /// Where it stands.
    pub status: ObjectStatus,
    /// Its sum.
    pub amount: Money,
    /// Whether money was taken, and all of it was given back.
    pub given_back: bool,
    /// The intent named in its metadata, if it is one of ours.
    pub intent: Option<IntentId>,
    /// The order named in its metadata, whoever made it.
    pub order: Option<OrderId>,
    /// What it is paid with, as far as the provider tells.
    pub paid_with: Option<PaidWith>,
    /// When the provider made it.
    pub created_at: Option<Timestamp>,
}

/// What an intent expects of its provider object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The intent.
    pub intent: IntentId,
    /// The sum it was to be.
    pub amount: Money,
}

/// How an object contradicts what we asked for. It is never taken for success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mismatch {
    /// Names another intent, or none.
    Owner,
    /// Another sum or currency.
    Amount,
    /// It took the money, and all of it was given back before we knew: whoever gave it back knows why, and nothing is paid.
    GivenBack,
}

impl Observation {
    /// Whether the object is the one we asked for, with our sum and currency, and has kept what it took.
    pub fn mismatch(&self, terms: &Terms) -> Option<Mismatch> {
        if self.intent != Some(terms.intent) && !planted::is(Fault::OwnerNotCompared) {
            Some(Mismatch::Owner)
        } else if self.amount != terms.amount && !planted::is(Fault::AmountNotCompared) {
            Some(Mismatch::Amount)
        } else if self.given_back {
            Some(Mismatch::GivenBack)
        } else {
            None
        }
    }
}

/// Where a provider's payment stands. Being created is not being paid (R12).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ObjectStatus {
    /// Waits, for the shopper where there is a page to go to.
    Pending {
        /// The provider's page.
        confirmation_url: Option<String>,
    },
    /// Money is held.
    WaitingForCapture,
    /// Money was taken.
    Succeeded,
    /// Ended without money.
    Ended(Ending),
}

/// How a provider's payment ended without money.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The issuer or a check refused it.
    Declined {
        /// The provider's code.
        code: String,
    },
    /// Someone withdrew it, or the hold ran out.
    Canceled {
        /// The provider's code.
        code: String,
    },
    /// The shopper did not confirm in time.
    Expired {
        /// The provider's code.
        code: String,
    },
}

/// One look at a provider's refund: from a response, a query, a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundObservation {
    /// The provider's id of it.
    pub object: ObjectId,
    /// The payment it returns money of.
    pub payment: ObjectId,
    /// Where it stands.
    pub status: RefundStatus,
    /// Its sum.
    pub amount: Money,
    /// Our operation named in it, if it is one of ours: equal sums are told apart by it.
    pub operation: Option<OperationId>,
    /// When the provider made it.
    pub created_at: Option<Timestamp>,
}

/// Where a provider's refund stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefundStatus {
    /// Under way.
    Pending,
    /// The money went back.
    Succeeded,
    /// It did not.
    Canceled {
        /// The provider's code.
        code: String,
    },
}

/// What was used to pay, for the shopper to recognise.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PaidWith {
    /// Last four digits of the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last4: Option<String>,
}
