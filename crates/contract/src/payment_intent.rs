//! Payment intents: submit, show.

use serde::{Deserialize, Serialize};

use crate::{Amount, Customer, InQuestion};

/// The body of `POST /v1/payment_intents/{id}/submit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Submit {
    /// How to pay.
    pub payment_method: PaymentMethodInput,
    /// The version of the checkout the shopper saw.
    pub checkout_version: i64,
    /// The amount the shopper saw.
    pub amount: Amount,
    /// Who pays, as the shopper says; what the checkout says stands where this is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<Customer>,
}

/// How a shopper wants to pay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum PaymentMethodInput {
    /// A card, tokenised by the browser with the provider. The number never comes here.
    CardToken {
        /// The provider's token.
        token: String,
    },
    /// The provider's own page.
    Redirect {},
}

/// Where an intent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// Waits for its first submit.
    Created,
    /// Under way.
    Processing,
    /// The shopper has to act at the bank.
    RequiresAction,
    /// Result unknown.
    Confirming,
    /// Money is held, not taken.
    Authorized,
    /// A person has to decide.
    NeedsReview,
    /// Paid.
    Succeeded,
    /// Refused by the issuer or the provider.
    Declined,
    /// Ended without money.
    Canceled,
    /// Never submitted in time.
    Expired,
}

impl IntentState {
    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Processing => "processing",
            Self::RequiresAction => "requires_action",
            Self::Confirming => "confirming",
            Self::Authorized => "authorized",
            Self::NeedsReview => "needs_review",
            Self::Succeeded => "succeeded",
            Self::Declined => "declined",
            Self::Canceled => "canceled",
            Self::Expired => "expired",
        }
    }

    /// Whether a shopper waits for a result. An authorised payment is settled as far as they are concerned.
    pub fn is_awaited(self) -> bool {
        match self {
            Self::Processing | Self::RequiresAction | Self::Confirming | Self::NeedsReview => true,
            Self::Created
            | Self::Authorized
            | Self::Succeeded
            | Self::Declined
            | Self::Canceled
            | Self::Expired => false,
        }
    }

    /// Whether it will never change again.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Declined | Self::Canceled | Self::Expired)
    }
}

/// One intention to pay a checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentIntent {
    /// `pi_…`.
    pub id: String,
    /// `"payment_intent"`.
    pub object: String,
    /// Where it stands.
    pub state: IntentState,
    /// What is paid.
    pub amount: Amount,
    /// Why it is not known whether money was taken for its order, whatever the state says. To a shopper the state says it, and this
    /// that nothing of the intent's own is awaited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_question: Option<InQuestion>,
    /// Once its checkout is paid: what the charge that paid it took, which may be another sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged: Option<Amount>,
    /// `co_…`.
    pub checkout_id: String,
    /// The version of the checkout it pays.
    pub checkout_version: i64,
    /// The merchant's reference.
    pub order_id: String,
    /// To be sent with every submission (R1).
    pub submit_key: String,
    /// What it is paid with, once the provider said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_method: Option<PaymentMethod>,
    /// Why it was declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decline: Option<Decline>,
    /// Why it was canceled: `not_executed`, `absent`, `judged_not_charged` (a person found that no money was taken, or that all of it
    /// was given back), `replaced`, `by_shop`, `hold_expired`, `by_provider`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<String>,
    /// When we learned that the money was taken. RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_at: Option<String>,
    /// What the shopper has to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_action: Option<NextAction>,
    /// What was done to learn the result, once it was submitted and while it is not settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// The mail address that the result will be told to; client token only, and only while it is awaited and mails are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_to: Option<String>,
    /// The checkout has gone on without this intent: it was paid by another charge, or has a newer intent. Read the checkout.
    #[serde(default, skip_serializing_if = "is_false")]
    pub behind: bool,
    /// The checkout is `expired` or `canceled`, or its time is over and that is not written yet: nothing of it can be tried any more.
    #[serde(default, skip_serializing_if = "is_false")]
    pub closed: bool,
    /// More than one charge of the checkout is known, and what becomes of those that paid nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_charge: Option<ExtraCharge>,
    /// All that was charged for the checkout, once or more often, went back to the shopper, by us or without us.
    #[serde(default, skip_serializing_if = "is_false")]
    pub returned: bool,
    /// In the answer to a release: when the provider lets go of it by itself, at the latest. RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_by: Option<String>,
    /// The intent this one tries again (`pi_…`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_intent_id: Option<String>,
    /// RFC 3339, UTC.
    pub created_at: String,
    /// The provider's object; secret key only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderLink>,
    /// Every send of the pay operation; secret key only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<Vec<Attempt>>,
    /// What happened, in order; secret key only (R24).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<Vec<JournalEntry>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// What was used to pay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentMethod {
    /// `card_token` or `redirect`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Last four digits of the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last4: Option<String>,
}

/// Why an intent was declined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decline {
    /// `issuer` or `provider_rejected`.
    pub by: String,
    /// The provider's code, for example `insufficient_funds`.
    pub code: String,
    /// For people.
    pub message: String,
}

/// What becomes of money that was taken for an order that is paid already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtraCharge {
    /// It is to be given back.
    ToBeReturned,
    /// It went back, by us or without us.
    Returned,
    /// What had paid went back, and a person decides whether this pays; or, with a client token only, no intent of the checkout asked
    /// for it, it only names the order, and a person finds out whose it is.
    InReview,
}

impl ExtraCharge {
    /// As on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToBeReturned => "to_be_returned",
            Self::Returned => "returned",
            Self::InReview => "in_review",
        }
    }
}

/// What the shopper has to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum NextAction {
    /// Open the provider's page.
    Redirect {
        /// Where it is.
        url: String,
    },
}

/// What was done to learn a result, for the shopper who waits for it (N2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// First submit. RFC 3339, UTC.
    pub since: String,
    /// When the provider was last asked. RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_look_at: Option<String>,
    /// When it will be asked next. RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_look_at: Option<String>,
    /// Every try so far was turned away unexecuted or never left, so no money was taken: it is tried anew without anybody's doing,
    /// until then at the latest. RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreached_until: Option<String>,
    /// Accepted, and kept back for now: what happened at the provider while nobody looked is found out first. It goes on by itself.
    #[serde(default, skip_serializing_if = "is_false")]
    pub held: bool,
    /// What was done, oldest first.
    pub steps: Vec<ProgressStep>,
}

/// One thing that was done or happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgressStep {
    /// RFC 3339, UTC.
    pub at: String,
    /// What.
    pub what: ProgressKind,
}

/// What was done or happened on the way to a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressKind {
    /// Sent to the provider; its answer is awaited.
    Sent,
    /// Sent, and no answer that says anything came back.
    Unanswered,
    /// Could not be sent, or was turned away unread: nothing was executed.
    NotExecuted,
    /// Sent, and answered.
    Answered,
    /// The provider waits for the shopper.
    AtBank,
    /// A person looks at it.
    InReview,
}

/// The provider's object behind an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderLink {
    /// `yookassa`.
    pub name: String,
    /// Its id there, once known.
    #[serde(default)]
    pub object_id: Option<String>,
}

/// One send of the pay operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// `att_…`: the request id of this send (R8).
    pub id: String,
    /// `op_…`: what was asked (R8).
    pub operation_id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// What came of it; absent while it is not known to have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Counts from 1 within the intent.
    pub seq: i64,
    /// RFC 3339, UTC.
    pub at: String,
    /// State before.
    pub from: String,
    /// What happened.
    pub event: String,
    /// State after.
    pub to: String,
    /// What justified it.
    pub evidence: String,
    /// SHA-256 over the previous hash and this line, hex: an edit shows.
    pub hash: String,
}
