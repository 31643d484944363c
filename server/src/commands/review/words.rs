//! States and reasons in the words of the person who has to decide. Never how the code writes them.

use payment::{
    CanceledReason, Channel, Currency, Mismatch, Money, NotExecutedReason, ObjectId, OperationState,
    ReviewReason, State, Suspect, UnknownReason,
};

use store::{EffectRecord, EffectState, StrangerRecord};

use crate::answers::rfc3339;

/// A sum that may be nothing.
pub(super) fn sum(minor: i64, currency: Currency) -> String {
    Money::from_minor(minor, currency).map_or_else(|_| "nothing".to_owned(), |money| money.to_string())
}

/// Where a stranger's money lies, and for whom it is asked about: several merchants may have the same account.
pub(super) fn account(found: &StrangerRecord) -> String {
    let (account, tenant) = (found.account.as_str(), &found.tenant);
    format!("account {account} of merchant {} ({})", tenant.merchant, tenant.mode.as_str())
}

/// Where a payment stands.
pub(super) fn standing(state: &State) -> String {
    match state {
        State::Created => "not submitted yet; nothing was sent".to_owned(),
        State::Processing { since, last: None } => format!("under way since {}", rfc3339(*since)),
        State::Processing { since, last: Some(last) } => {
            format!("under way since {}; {}", rfc3339(*since), not_executed(*last))
        }
        State::RequiresAction { .. } => "waits for the shopper at the provider's page".to_owned(),
        State::Confirming { since, why, .. } => {
            format!("result unknown since {}: {}", rfc3339(*since), unknown(*why))
        }
        State::Authorized { object } => format!("money is held by {object}, and not taken yet"),
        State::NeedsReview { since, why, object, suspects } => {
            let why = review(*why, object.as_ref(), suspects);
            format!("waits for a person since {}: {why}", rfc3339(*since))
        }
        State::Succeeded { object, at } => format!("paid by {object}, known since {}", rfc3339(*at)),
        State::Declined { by, code, .. } => {
            format!("declined by {}: {code}", by.as_str())
        }
        State::Canceled { reason } => format!("ended: {}", canceled(reason)),
        State::Expired { .. } => "ran out of time".to_owned(),
    }
}

/// Where a capture, cancel or refund stands.
pub(super) fn operation(state: &OperationState) -> String {
    match state {
        OperationState::Processing { last: None } => "under way".to_owned(),
        OperationState::Processing { last: Some(last) } => format!("under way; {}", not_executed(*last)),
        OperationState::Confirming { since, why } => {
            format!("result unknown since {}: {}", rfc3339(*since), unknown(*why))
        }
        OperationState::NeedsReview { since } => {
            format!("result unknown, waits for a person since {}", rfc3339(*since))
        }
        OperationState::Succeeded { at } => format!("done, known since {}", rfc3339(*at)),
        OperationState::Rejected { code, .. } => format!("refused by the provider: {code}"),
        OperationState::NotExecuted => "was not done, and will not be".to_owned(),
    }
}

/// Why a person has to decide.
pub(super) fn review(why: ReviewReason, object: Option<&ObjectId>, suspects: &[Suspect]) -> String {
    match (why, object) {
        (ReviewReason::Overdue, None) if !suspects.is_empty() => {
            let shown = suspects.iter().map(|suspect| suspect.object.as_str()).collect::<Vec<_>>().join(", ");
            format!("the provider shows {shown} for it, which is not what was asked for")
        }
        (ReviewReason::Overdue, None) => {
            "long after the last request, the provider has not said whether money was taken".to_owned()
        }
        (ReviewReason::Overdue, Some(object)) => {
            format!(
                "long after the last request, {object} has neither taken the money nor ended, as far as the provider has said"
            )
        }
        (ReviewReason::Stuck, _) => {
            "whoever works on it dies or fails, again and again; see the log".to_owned()
        }
        (ReviewReason::Mismatch(what), _) => format!("the provider's object {}", mismatch(what)),
    }
}

fn mismatch(what: Mismatch) -> &'static str {
    match what {
        Mismatch::Owner => "names another payment, or none",
        Mismatch::Amount => "has another sum or currency than was asked for",
        Mismatch::GivenBack => "took the money, and all of it was given back before we knew of it",
    }
}

fn unknown(why: UnknownReason) -> String {
    match why {
        UnknownReason::NoAnswer => "no answer came after the request was sent".to_owned(),
        UnknownReason::ProviderError => "the provider answered with an error that says nothing".to_owned(),
        UnknownReason::Accepted => "the provider took it and is still at it".to_owned(),
        UnknownReason::Unreadable => "the answer could not be read".to_owned(),
        UnknownReason::HolderLost => "the server that sent it went silent".to_owned(),
        UnknownReason::RejectedAfterUnknown => {
            "a repetition was rejected, which says nothing about the request before it".to_owned()
        }
        UnknownReason::Mismatch(what) => format!("the provider's object {}", mismatch(what)),
        UnknownReason::Pending => "it is pending at the provider".to_owned(),
    }
}

fn not_executed(why: NotExecutedReason) -> &'static str {
    match why {
        NotExecutedReason::NotSent => {
            "nothing was sent: the provider could not be reached, or did not show what it rests on"
        }
        NotExecutedReason::TooLate => "the process woke too late to send it",
        NotExecutedReason::NotAuthorized => "the provider does not accept our credentials (401 or 403)",
        NotExecutedReason::NotFound => "the provider does not know the address (404 or 405): check its URL",
        NotExecutedReason::RateLimited => "the provider wants us to slow down (429)",
    }
}

fn canceled(reason: &CanceledReason) -> String {
    match reason {
        CanceledReason::NotExecuted => "no request was executed".to_owned(),
        CanceledReason::Absent => "the provider's listings do not hold it".to_owned(),
        CanceledReason::JudgedNotCharged => "a person found that no money was taken".to_owned(),
        CanceledReason::Replaced => "the order's terms changed before anything was sent".to_owned(),
        CanceledReason::ByProvider { code } => format!("cancelled at the provider ({code})"),
    }
}

/// A webhook or a mail, and where its delivery stands.
pub(super) fn effect(effect: &EffectRecord) -> String {
    let what = match effect.kind.channel() {
        Channel::Webhook => format!("webhook {}", effect.kind.as_str()),
        Channel::Mail => format!("mail {}", effect.kind.as_str()),
    };
    let standing = match effect.state {
        EffectState::Waiting => "waits for its next try",
        EffectState::Delivered => "delivered",
        EffectState::DeliveryUnknown => {
            "may have arrived: its sender went silent in mid-send, and it is not sent twice"
        }
        EffectState::Abandoned => "given up",
        EffectState::NotWanted => "not wanted",
    };
    let outcome = effect.outcome.as_deref().map_or_else(String::new, |outcome| format!("; last: {outcome}"));
    format!("{what} {}, {standing} after {} tries{outcome}", effect.id, effect.tries)
}
