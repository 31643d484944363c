//! The outbox as the rest of the product sees it: effects that wait to go out, who delivers one, and what came of it.

use async_trait::async_trait;
use payment::{EffectId, EffectKind, EffectSubject, Holder, IntentId, MerchantId, Money, Timestamp};

use crate::{CheckoutRecord, IntentRecord, Lease, StoreError, Tenant};

/// Where the delivery of an effect stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectState {
    /// It waits for its next try.
    Waiting,
    /// It was taken.
    Delivered,
    /// It may have arrived, and the receiver could not tell a repeat: it is not sent again.
    DeliveryUnknown,
    /// It was refused, for good or for too long.
    Abandoned,
    /// Nobody wants it: no address to send it to, or no way to send it.
    NotWanted,
}

impl EffectState {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Waiting, Self::Delivered, Self::DeliveryUnknown, Self::Abandoned, Self::NotWanted];

    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::DeliveryUnknown => "delivery_unknown",
            Self::Abandoned => "abandoned",
            Self::NotWanted => "not_wanted",
        }
    }
}

/// Something that follows once from a payment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EffectRecord {
    /// Whose.
    pub tenant: Tenant,
    /// Its id, the same over all tries.
    pub id: EffectId,
    /// What it is.
    pub kind: EffectKind,
    /// What it happens once for.
    pub subject: EffectSubject,
    /// The intent whose change it follows from.
    pub intent: IntentId,
    /// When it was written: the moment of that change.
    pub created_at: Timestamp,
    /// Where its delivery stands.
    pub state: EffectState,
    /// Who tries to deliver it; one that has ended is a try without an answer.
    pub lease: Option<Lease>,
    /// Rises with every claim.
    pub fence: i64,
    /// Tries so far.
    pub tries: i64,
    /// When the first one began.
    pub first_tried_at: Option<Timestamp>,
    /// What came of the last one, in words.
    pub outcome: Option<String>,
    /// When the next one is due.
    pub wake_at: Option<Timestamp>,
}

impl EffectRecord {
    /// One that nobody has tried to deliver, due at once.
    pub(crate) fn new(
        kind: EffectKind,
        subject: EffectSubject,
        intent: &IntentRecord,
        now: Timestamp,
    ) -> Self {
        Self {
            tenant: intent.tenant.clone(),
            id: EffectId::of(kind, subject),
            kind,
            subject,
            intent: intent.id,
            created_at: now,
            state: EffectState::Waiting,
            lease: None,
            fence: 0,
            tries: 0,
            first_tried_at: None,
            outcome: None,
            wake_at: Some(now),
        }
    }
}

/// Asks for effects to deliver.
#[derive(Clone, Debug)]
pub struct ClaimEffects {
    /// Who.
    pub holder: Holder,
    /// For how long, ms.
    pub lease_ms: i64,
    /// At most so many.
    pub most: u32,
    /// Merchants whose effects are passed over: enough of theirs are in work.
    pub busy: Vec<MerchantId>,
}

/// An effect in the holder's hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedEffect {
    /// The effect, lease and fence included.
    pub effect: EffectRecord,
    /// Its intent, now.
    pub intent: IntentRecord,
    /// The checkout, now.
    pub checkout: CheckoutRecord,
    /// The sum it tells: what was taken where money was, else what would have been.
    pub amount: Money,
    /// Whether an earlier try has no answer.
    pub unanswered: bool,
    /// The claim's moment, by the database.
    pub now: Timestamp,
}

/// What came of a try.
#[derive(Clone, Debug)]
pub struct SettleEffect {
    /// Whose.
    pub tenant: Tenant,
    /// Which effect.
    pub id: EffectId,
    /// The fence it was claimed under.
    pub fence: i64,
    /// In words.
    pub outcome: String,
    /// What follows.
    pub next: NextTry,
}

/// What follows a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextTry {
    /// Another one, ms from now.
    In(i64),
    /// None: it stays so.
    Never(EffectState),
}

/// What came of a [`SettleEffect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettledEffect {
    /// Written.
    Done,
    /// Another holder has the effect: nothing was written (R14).
    Stale,
}

/// The transactions of the outbox.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Claims the next effects whose try is due, each with a fresh fence.
    async fn claim_effects(&self, claim: ClaimEffects) -> Result<Vec<ClaimedEffect>, StoreError>;

    /// Writes what came of a try, fenced.
    async fn settle_effect(&self, settle: SettleEffect) -> Result<SettledEffect, StoreError>;

    /// The effects of an intent and of its checkout.
    async fn effects(&self, tenant: Tenant, intent: IntentId) -> Result<Vec<EffectRecord>, StoreError>;

    /// Effects that did not, or may not have, arrived, of every merchant: for a person. Oldest merchant's first.
    async fn undelivered_effects(&self, limit: u32) -> Result<Vec<EffectRecord>, StoreError>;
}
