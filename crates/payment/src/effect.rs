//! What follows once from a payment, and for what it follows once (R20). Knows nothing of how it is delivered.

use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::{CheckoutId, EffectId, IntentId};

/// A follow-up effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// The merchant hears that the checkout is paid; for some it is the order to ship.
    CheckoutPaid,
    /// The shopper gets a receipt.
    Receipt,
    /// The shopper, who was told that the result is unknown, is told that no money was taken.
    ResultKnown,
}

impl EffectKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::CheckoutPaid, Self::Receipt, Self::ResultKnown];

    /// As stored; of a webhook its type as well.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CheckoutPaid => "checkout.paid",
            Self::Receipt => "receipt",
            Self::ResultKnown => "result_known",
        }
    }

    /// From its stored form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// How it goes out.
    pub fn channel(self) -> Channel {
        match self {
            Self::CheckoutPaid => Channel::Webhook,
            Self::Receipt | Self::ResultKnown => Channel::Mail,
        }
    }
}

/// A way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// To the merchant's server, which tells repeats by their id: sent until it is taken.
    Webhook,
    /// To the shopper, who cannot tell a repeat: never sent again once it may have arrived.
    Mail,
}

/// What an effect happens once for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectSubject {
    /// The checkout, whichever intent reports it.
    Checkout(CheckoutId),
    /// The intent.
    Intent(IntentId),
}

impl EffectSubject {
    /// As stored: its kind, and its id.
    pub fn parts(self) -> (&'static str, Uuid) {
        match self {
            Self::Checkout(id) => ("checkout", id.0),
            Self::Intent(id) => ("payment_intent", id.0),
        }
    }

    /// From its stored form.
    pub fn parse(kind: &str, id: Uuid) -> Option<Self> {
        [Self::Checkout(CheckoutId(id)), Self::Intent(IntentId(id))]
            .into_iter()
            .find(|subject| subject.parts().0 == kind)
    }
}

impl EffectId {
    /// Follows from what the effect is and what it is for: whoever writes it down, and however often, it is the same one.
    pub fn of(kind: EffectKind, subject: EffectSubject) -> Self {
        let (subject_kind, id) = subject.parts();
        let digest = Sha256::digest(format!("{}|{subject_kind}|{id}", kind.as_str()));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(Builder::from_custom_bytes(bytes).into_uuid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r20_one_effect_has_one_id_and_another_has_another() {
        let id = Uuid::from_u128(7);
        let subjects = [EffectSubject::Checkout(CheckoutId(id)), EffectSubject::Intent(IntentId(id))];
        let mut ids: Vec<_> = EffectKind::ALL
            .into_iter()
            .flat_map(|kind| subjects.map(|subject| EffectId::of(kind, subject)))
            .collect();
        assert_eq!(ids[0], EffectId::of(EffectKind::ALL[0], subjects[0]));
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 6);
    }

    #[test]
    fn kinds_and_subjects_read_back() {
        for kind in EffectKind::ALL {
            assert_eq!(EffectKind::parse(kind.as_str()), Some(kind));
        }
        let subject = EffectSubject::Intent(IntentId(Uuid::from_u128(7)));
        let (kind, id) = subject.parts();
        assert_eq!(EffectSubject::parse(kind, id), Some(subject));
        assert_eq!(EffectSubject::parse("order", id), None);
    }
}
