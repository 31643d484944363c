//! What states mean, written down a second time: the code is not asked.

use payment::{EffectKind, State};
use store::{ChargeRecord, Fate, Stage};

/// Whether an intent is over without money, so that its checkout is free for another.
pub(super) fn is_free(state: &State) -> bool {
    matches!(state, State::Declined { .. } | State::Canceled { .. } | State::Expired { .. })
}

/// Whether an intent is over.
pub(super) fn is_over(state: &State) -> bool {
    is_free(state) || matches!(state, State::Succeeded { .. })
}

/// What the operation of an intent waits for.
pub(super) fn stage(state: &State) -> Stage {
    match state {
        State::Created => Stage::Created,
        State::Processing { .. }
        | State::RequiresAction { .. }
        | State::Confirming { .. }
        | State::Authorized { .. } => Stage::Open,
        State::NeedsReview { .. } => Stage::Review,
        State::Succeeded { .. } | State::Declined { .. } | State::Canceled { .. } | State::Expired { .. } => {
            Stage::Done
        }
    }
}

/// Whether the money of a charge went back: by the provider, or by refunds of all of it.
pub(super) fn went_back(charge: &ChargeRecord) -> bool {
    charge.fate == Some(Fate::Returned) || charge.refunded_minor == charge.amount.minor()
}

/// Whether people get it: never twice.
pub(super) fn is_mail(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Receipt | EffectKind::ResultKnown)
}
