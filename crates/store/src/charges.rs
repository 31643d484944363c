//! What took money, and what became of it.

use payment::{CheckoutId, IntentId, Money, ObjectId, ProviderAccount, Timestamp};

use crate::Tenant;

/// An object that took money.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChargeRecord {
    /// Whose.
    pub tenant: Tenant,
    /// Taken by this account.
    pub account: ProviderAccount,
    /// The object.
    pub object: ObjectId,
    /// For this checkout.
    pub checkout: CheckoutId,
    /// By this intent.
    pub intent: IntentId,
    /// How much.
    pub amount: Money,
    /// Whether the checkout had been paid before.
    pub extra: bool,
    /// How much of it is being refunded, minor units.
    pub reserved_minor: i64,
    /// How much of it was refunded, minor units.
    pub refunded_minor: i64,
    /// What else became of it.
    pub fate: Option<Fate>,
    /// When we learned it.
    pub at: Timestamp,
}

impl ChargeRecord {
    /// How much of it is neither refunded nor being refunded, minor units.
    pub fn left_minor(&self) -> i64 {
        self.amount.minor() - self.reserved_minor - self.refunded_minor
    }

    /// Whether it is an extra that nothing became of yet; of its refunds the last may be under way.
    pub fn is_open_extra(&self) -> bool {
        self.extra && self.fate.is_none() && self.refunded_minor < self.amount.minor()
    }

    /// Whether all of it went back to the shopper, in whatever way.
    pub fn went_back(&self) -> bool {
        self.fate == Some(Fate::Returned) || self.refunded_minor >= self.amount.minor()
    }

    /// The one that pays, of a checkout's charges: the extra that a person kept in the place of the first, else the first.
    pub fn paying(charges: &[Self]) -> Option<&Self> {
        let kept = charges.iter().find(|charge| charge.fate == Some(Fate::Kept));
        kept.or_else(|| charges.iter().find(|charge| !charge.extra))
    }
}

/// What became of a charge otherwise than by a refund that we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// A person let this extra pay: the money that had paid went back.
    Kept,
    /// The provider shows that it went back: somebody gave all of it back, or the bank took it back.
    Returned,
}

impl Fate {
    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Returned => "returned",
        }
    }

    /// Reads what [`Fate::as_str`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Kept, Self::Returned].into_iter().find(|fate| fate.as_str() == text)
    }
}
