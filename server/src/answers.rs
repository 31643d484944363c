//! Records as the API shows them.

mod progress;

use contract::{
    Amount, Attempt, Checkout, CheckoutIntent, CheckoutStatus, Decline, ExtraCharge, IntentState,
    JournalEntry, Metadata, NextAction, PaymentIntent, PaymentMethod, ProviderLink,
};
use engine::Answers;
use payment::{CanceledReason, Money, State, StateName, Timestamp};
use store::{Answer, ChargeRecord, CheckoutRecord, Fate, IntentRecord, Story};

/// What is said of a decline that came without words.
const ISSUER_DECLINED: &str = "The card was declined. No money was taken.";
/// The same, once its money was taken all the same (fault 49).
const PAID_AFTER_ALL: &str = "The card was declined at first; the money was taken after all.";

/// Writes answers with absolute links.
pub struct JsonAnswers {
    /// Base of every absolute link.
    pub public_url: String,
}

impl Answers for JsonAnswers {
    fn checkout(&self, status: u16, checkout: &CheckoutRecord, intent: &IntentRecord, token: &str) -> Answer {
        let view = checkout_view(&self.public_url, checkout, intent, token);
        Answer { status, location: Some(format!("/v1/checkouts/{}", checkout.id)), body: json(&view) }
    }

    fn intent(&self, status: u16, checkout: &CheckoutRecord, intent: &IntentRecord) -> Answer {
        let view = intent_view(checkout, intent);
        Answer { status, location: Some(intent_location(intent)), body: json(&view) }
    }
}

/// Where an intent is read.
pub(crate) fn intent_location(intent: &IntentRecord) -> String {
    format!("/v1/payment_intents/{}", intent.id)
}

pub(crate) fn json<T: serde::Serialize>(view: &T) -> Vec<u8> {
    serde_json::to_vec(view).expect("answers are JSON")
}

/// RFC 3339, UTC.
pub(crate) fn rfc3339(at: Timestamp) -> String {
    at.to_string()
}

pub(crate) fn amount(money: Money) -> Amount {
    Amount::new(money.decimal(), money.currency().code())
}

/// A checkout with the intent to show.
pub(crate) fn checkout_view(
    public_url: &str,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
    token: &str,
) -> Checkout {
    Checkout {
        id: checkout.id.to_string(),
        object: "checkout".to_owned(),
        status: status(checkout.status),
        order_id: checkout.order.to_string(),
        amount: amount(checkout.amount),
        charged: None,
        returned: false,
        in_question: None,
        description: checkout.description.clone(),
        url: format!("{public_url}/pay/{}?token={token}", checkout.id),
        client_token: token.to_owned(),
        version: checkout.version,
        payment_intent: CheckoutIntent {
            id: intent.id.to_string(),
            submit_key: intent.submit_key.to_string(),
            state: state(intent.state.name()),
        },
        metadata: Metadata(checkout.metadata.clone()),
        created_at: rfc3339(checkout.created_at),
        expires_at: rfc3339(checkout.expires_at),
    }
}

/// A checkout as it is now, with what the charge that paid it took, and whether all went back. What is answered to those who change it says nothing of charges:
/// a repeat gets the same.
pub(crate) fn checkout_with_charge(view: Checkout, story: &Story) -> Checkout {
    Checkout { charged: charged(story), returned: returned(&story.charges), ..view }
}

/// What the charge that paid the checkout took.
fn charged(story: &Story) -> Option<Amount> {
    ChargeRecord::paying(&story.charges).map(|paying| amount(paying.amount))
}

pub(crate) fn status(status: payment::CheckoutStatus) -> CheckoutStatus {
    match status {
        payment::CheckoutStatus::Open => CheckoutStatus::Open,
        payment::CheckoutStatus::Paid => CheckoutStatus::Paid,
        payment::CheckoutStatus::Canceled => CheckoutStatus::Canceled,
        payment::CheckoutStatus::Expired => CheckoutStatus::Expired,
    }
}

pub(crate) fn state(name: StateName) -> IntentState {
    match name {
        StateName::Created => IntentState::Created,
        StateName::Processing => IntentState::Processing,
        StateName::RequiresAction => IntentState::RequiresAction,
        StateName::Confirming => IntentState::Confirming,
        StateName::Authorized => IntentState::Authorized,
        StateName::NeedsReview => IntentState::NeedsReview,
        StateName::Succeeded => IntentState::Succeeded,
        StateName::Declined => IntentState::Declined,
        StateName::Canceled => IntentState::Canceled,
        StateName::Expired => IntentState::Expired,
    }
}

/// An intent as a shopper may see it.
pub(crate) fn intent_view(checkout: &CheckoutRecord, intent: &IntentRecord) -> PaymentIntent {
    // Another charge paid it: nobody is to confirm this one at the bank.
    let is_paid = checkout.status == payment::CheckoutStatus::Paid;
    PaymentIntent {
        id: intent.id.to_string(),
        object: "payment_intent".to_owned(),
        state: state(intent.state.name()),
        amount: amount(intent.amount),
        in_question: None,
        charged: None,
        checkout_id: intent.checkout.to_string(),
        checkout_version: intent.checkout_version,
        order_id: checkout.order.to_string(),
        submit_key: intent.submit_key.to_string(),
        payment_method: intent.method.map(|method| PaymentMethod {
            kind: method.as_str().to_owned(),
            last4: intent.paid_with.as_ref().and_then(|paid| paid.last4.clone()),
        }),
        decline: decline(&intent.state),
        cancel_reason: cancel_reason(&intent.state),
        paid_at: paid_at(&intent.state),
        next_action: next_action(&intent.state).filter(|_| !is_paid),
        progress: None,
        told_to: None,
        behind: is_paid && intent.state.name() != StateName::Succeeded,
        closed: false,
        extra_charge: None,
        returned: false,
        released_by: None,
        previous_intent_id: intent.previous.map(|id| id.to_string()),
        created_at: rfc3339(intent.created_at),
        provider: None,
        attempts: None,
        journal: None,
    }
}

/// An intent in the state that is shown, with what was done to learn its result.
pub(crate) fn with_progress(view: PaymentIntent, story: &Story) -> PaymentIntent {
    PaymentIntent { progress: progress::progress(view.state, story), ..view }
}

/// An intent with what the charge that paid its checkout took, with what becomes of those beyond it, and whether all went back.
pub(crate) fn with_charges(view: PaymentIntent, story: &Story) -> PaymentIntent {
    let took = story.charges.iter().any(|charge| charge.intent.to_string() == view.id);
    let decline = view.decline.map(|decline| match took {
        true => Decline { message: PAID_AFTER_ALL.to_owned(), ..decline },
        false => decline,
    });
    let charges = &story.charges;
    PaymentIntent {
        charged: charged(story),
        extra_charge: extra_charge(charges),
        returned: returned(charges),
        decline,
        ..view
    }
}

/// Whether the shopper has all of the money back.
fn returned(charges: &[ChargeRecord]) -> bool {
    !charges.is_empty() && charges.iter().all(ChargeRecord::went_back)
}

/// What becomes of the charges beyond the one that pays.
fn extra_charge(charges: &[ChargeRecord]) -> Option<ExtraCharge> {
    let extras = || charges.iter().filter(|charge| charge.extra && charge.fate != Some(Fate::Kept));
    extras().next()?;
    Some(if extras().all(ChargeRecord::went_back) {
        ExtraCharge::Returned
    } else if ChargeRecord::paying(charges).is_some_and(ChargeRecord::went_back) {
        // It may be all that pays: nobody is promised that it goes back, too.
        ExtraCharge::InReview
    } else {
        ExtraCharge::ToBeReturned
    })
}

/// An intent as its merchant may see it: with operation, attempts, external id and journal (R8, R24).
pub(crate) fn intent_with_story(
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
    provider: &str,
    story: Story,
) -> PaymentIntent {
    let view = with_charges(with_progress(intent_view(checkout, intent), &story), &story);
    let attempts = story.attempts.into_iter().map(|attempt| Attempt {
        id: attempt.id.to_string(),
        operation_id: attempt.operation.to_string(),
        started_at: rfc3339(attempt.started_at),
        outcome: attempt.outcome,
    });
    let journal = story.journal.into_iter().map(|row| JournalEntry {
        seq: row.line.seq,
        at: rfc3339(row.line.at),
        from: row.line.from,
        event: row.line.event,
        to: row.line.to,
        evidence: row.line.evidence,
        hash: row.hash.to_string(),
    });
    let name = story.operation.frozen.map_or_else(|| provider.to_owned(), |frozen| frozen.provider.clone());
    PaymentIntent {
        provider: Some(ProviderLink { name, object_id: story.operation.object.map(|id| id.to_string()) }),
        attempts: Some(attempts.collect()),
        journal: Some(journal.collect()),
        ..view
    }
}

fn decline(state: &State) -> Option<Decline> {
    let State::Declined { by, code, message } = state else { return None };
    // An issuer gives a code and no words.
    let message = if message.is_empty() { ISSUER_DECLINED.to_owned() } else { message.clone() };
    Some(Decline { by: by.as_str().to_owned(), code: code.clone(), message })
}

fn cancel_reason(state: &State) -> Option<String> {
    let State::Canceled { reason } = state else { return None };
    let word = match reason {
        CanceledReason::NotExecuted => "not_executed",
        CanceledReason::Absent => "absent",
        CanceledReason::JudgedNotCharged => "judged_not_charged",
        CanceledReason::Replaced => "replaced",
        CanceledReason::ByProvider { code } => match code.as_str() {
            "canceled_by_merchant" => "by_shop",
            "expired_on_capture" => "hold_expired",
            _ => "by_provider",
        },
    };
    Some(word.to_owned())
}

fn paid_at(state: &State) -> Option<String> {
    let State::Succeeded { at, .. } = state else { return None };
    Some(rfc3339(*at))
}

fn next_action(state: &State) -> Option<NextAction> {
    let State::RequiresAction { url, .. } = state else { return None };
    Some(NextAction::Redirect { url: url.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_says_why_it_was_canceled() {
        let by = |code: &str| CanceledReason::ByProvider { code: code.to_owned() };
        for (reason, word) in [
            (CanceledReason::NotExecuted, "not_executed"),
            (CanceledReason::Absent, "absent"),
            (CanceledReason::JudgedNotCharged, "judged_not_charged"),
            (CanceledReason::Replaced, "replaced"),
            (by("canceled_by_merchant"), "by_shop"),
            (by("expired_on_capture"), "hold_expired"),
            (by("a_code_of_tomorrow"), "by_provider"),
        ] {
            assert_eq!(cancel_reason(&State::Canceled { reason }).as_deref(), Some(word));
        }
        assert_eq!(cancel_reason(&State::Created), None);
    }
}
