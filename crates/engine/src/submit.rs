//! Submitting an intent: the terms the shopper saw, the request frozen, the claim. Whoever claims drives; nobody else calls the
//! provider (R6).

use payment::{CheckoutId, IntentId, MethodKind, Money};
use providers::{Method, PayRequest};
use store::{
    Answer, CheckoutRecord, Frozen, IntentRecord, KeyUse, KnownKey, StoreError, SubmitCommand, Submitted,
};

use crate::{Claim, Engine, EngineError, Seal, failpoint::failpoint, frozen::Content};

/// How often a submission is made out, should the merchant's account change meanwhile.
const MOST_FREEZES: usize = 16;

/// A submission, as it comes in.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The key: the intent's submit key.
    pub key: KeyUse,
    /// Which intent.
    pub intent: IntentId,
    /// The version the shopper saw.
    pub version: i64,
    /// The amount the shopper saw.
    pub amount: Money,
    /// How the shopper pays. Not part of the fingerprint: every tab tokenises the card afresh.
    pub method: Method,
    /// The language the page spoke, as its `lang=`: the shopper comes back from the provider's page to the same. Not part of the
    /// fingerprint either.
    pub lang: Option<&'static str>,
    /// Where the receipt goes, if the shopper says so. Not part of the fingerprint either: the first tab's counts.
    pub email: Option<String>,
}

/// What came of a submission.
#[derive(Debug)]
pub enum SubmitOutcome {
    /// Claimed: the caller now drives it.
    Claimed(Box<Claim>),
    /// Submitted before: the intent as it is, and the first final answer if there is one (R2).
    Known {
        /// The checkout.
        checkout: Box<CheckoutRecord>,
        /// The intent.
        intent: Box<IntentRecord>,
        /// The replay.
        answer: Option<Answer>,
    },
    /// The key was used with other parameters (R3).
    KeyReused {
        /// The first that differs.
        field: String,
    },
    /// The key is not this intent's submit key.
    WrongKey,
    /// No such intent.
    NotFound,
    /// The terms are not those the shopper saw.
    Changed(Box<CheckoutRecord>),
    /// The order is paid by another intent.
    Paid(CheckoutId),
    /// The checkout is over.
    NotOpen(Box<CheckoutRecord>),
}

impl Engine {
    /// Claims the intent's pay operation for this caller, or tells who was first.
    pub async fn submit(&self, submission: Submission) -> Result<SubmitOutcome, EngineError> {
        if let Some(known) = self.store.find_key(submission.key.clone()).await? {
            return Ok(known_outcome(known, submission.intent));
        }
        let tenant = submission.key.tenant.clone();
        let Some((checkout, intent)) = self.store.intent(tenant, submission.intent).await? else {
            return Ok(SubmitOutcome::NotFound);
        };
        for _ in 0..MOST_FREEZES {
            let command = self.command(&submission, &checkout, &intent).await?;
            let began = self.clock.moments();
            let submitted = match self.store.submit(command.clone()).await {
                // The claim may be there: the same command finds it by its key.
                Err(StoreError::Unknown(_)) => self.store.submit(command).await,
                other => other,
            };
            failpoint!("submit.claimed");
            return Ok(match submitted? {
                Submitted::Moved => continue,
                Submitted::Claimed(work) => SubmitOutcome::Claimed(Box::new(Claim { work: *work, began })),
                Submitted::Known(known) => known_outcome(known, submission.intent),
                Submitted::Over(checkout, intent) => SubmitOutcome::Known { checkout, intent, answer: None },
                Submitted::WrongKey => SubmitOutcome::WrongKey,
                Submitted::NotFound => SubmitOutcome::NotFound,
                Submitted::Changed(checkout) => SubmitOutcome::Changed(checkout),
                Submitted::Paid(checkout) => SubmitOutcome::Paid(checkout),
                Submitted::NotOpen(checkout) => SubmitOutcome::NotOpen(checkout),
            });
        }
        Err(StoreError::Busy(None).into())
    }

    async fn command(
        &self,
        submission: &Submission,
        checkout: &CheckoutRecord,
        intent: &IntentRecord,
    ) -> Result<SubmitCommand, EngineError> {
        let method = match submission.method {
            Method::CardToken(_) => MethodKind::CardToken,
            Method::Redirect => MethodKind::Redirect,
        };
        // The key of an operation dies with the provider's window, however long we would like to go on (R17).
        // One without keys is never re-sent to; none of ours is without.
        let window_ms = self.provider.resend_window_ms().unwrap_or(0);
        Ok(SubmitCommand {
            key: submission.key.clone(),
            checkout: checkout.id,
            intent: intent.id,
            version: submission.version,
            amount: submission.amount,
            method,
            email: submission.email.clone(),
            frozen: self.freeze(submission, checkout, intent).await?,
            attempt: self.ids.attempt(),
            holder: self.settings.holder,
            lease_ms: self.settings.lease_ms,
            execute_ms: self.settings.execute_ms.min(window_ms),
        })
    }

    /// The request as bytes, once: every send of this operation is these bytes, to this account (R15).
    async fn freeze(
        &self,
        submission: &Submission,
        checkout: &CheckoutRecord,
        intent: &IntentRecord,
    ) -> Result<Frozen, EngineError> {
        let (account, merchant) = self.current_account(&checkout.tenant).await?;
        let encoded = self.provider.encode_pay(&PayRequest {
            checkout: checkout.id,
            intent: intent.id,
            order: checkout.order.clone(),
            amount: intent.amount,
            capture: checkout.capture,
            method: submission.method.clone(),
            description: checkout.description.clone(),
            metadata: checkout.metadata.clone(),
            return_url: return_url(self.status_url(checkout), submission.lang),
        });
        let seal = Seal::request(&checkout.tenant, intent.id);
        let content = Content { secret: account.secret, body: encoded.body };
        Ok(Frozen {
            provider: merchant.provider,
            account: merchant.account,
            url: account.url,
            method: encoded.method.to_owned(),
            path: encoded.path,
            sealed_body: self.vault.seal(&content.to_bytes(), &seal, self.ids.nonce()),
        })
    }
}

/// The page to read, in the language of the one that was left.
fn return_url(status_url: String, lang: Option<&str>) -> String {
    match lang {
        Some(lang) => format!("{status_url}&lang={lang}"),
        None => status_url,
    }
}

/// A known submit key: of this intent, or of another one (then it is not this intent's key).
fn known_outcome(known: KnownKey, intent_id: IntentId) -> SubmitOutcome {
    match known {
        KnownKey::Reused { field } if field == "payment_intent" => SubmitOutcome::WrongKey,
        KnownKey::Reused { field } => SubmitOutcome::KeyReused { field },
        KnownKey::Same { intent, .. } if intent.id != intent_id => SubmitOutcome::WrongKey,
        KnownKey::Same { checkout, intent, answer } => SubmitOutcome::Known { checkout, intent, answer },
    }
}
