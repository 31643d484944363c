//! Delivers what follows once from a payment: webhooks until they are taken, mails never twice (R19, R20). Decides nothing about money.

use async_trait::async_trait;
use payment::{Channel, CheckoutStatus, EffectId, EffectKind, MerchantId, Money, RetryPolicy, Timestamp};
use planted::Fault;
use providers::Secret;
use store::{
    ChargeRecord, CheckoutRecord, ClaimEffects, ClaimedEffect, EffectState, IntentRecord, MerchantRecord,
    NextTry, SettleEffect, SettledEffect, StoreError,
};

use crate::{Engine, EngineError, Seal, failpoint::failpoint};

/// How tries are spaced.
const RETRY: RetryPolicy = RetryPolicy { base_ms: 1_000, max_ms: 60 * 60 * 1_000 };
/// What is refused for so long after the first try is given up.
const GIVE_UP_AFTER_MS: i64 = 3 * 24 * 60 * 60 * 1_000;
/// But not before so many tries: no server may have lived in that time, or a clock may have been set (fault 31).
const FEWEST_TRIES: i64 = 12;

/// A webhook on its way.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// The same over all tries: the receiver tells a repeat by it.
    pub id: EffectId,
    /// What it tells.
    pub kind: EffectKind,
    /// Where it goes.
    pub url: String,
    /// What it is signed with.
    pub secret: Secret,
    /// When what it tells happened.
    pub happened_at: Timestamp,
    /// The moment of this try.
    pub at: Timestamp,
    /// The checkout.
    pub checkout: CheckoutRecord,
    /// The intent that it follows from.
    pub intent: IntentRecord,
    /// What was taken; the checkout's own sum may be another one.
    pub amount: Money,
}

/// A mail on its way.
#[derive(Clone, Debug)]
pub struct Mail {
    /// Stands in its `Message-ID`.
    pub id: EffectId,
    /// What it tells.
    pub kind: EffectKind,
    /// Where it goes.
    pub to: String,
    /// The merchant, as shoppers know it.
    pub shop: String,
    /// Where the shopper sees how things stand.
    pub status_url: String,
    /// When what it tells happened.
    pub happened_at: Timestamp,
    /// The checkout.
    pub checkout: CheckoutRecord,
    /// The intent that it follows from.
    pub intent: IntentRecord,
    /// The sum it tells: what was taken where money was, else what would have been.
    pub amount: Money,
    /// Whether no other charge for the order is known.
    pub once: bool,
}

/// What came of a try. The words are for people; they hold no secret and no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was taken.
    Delivered(String),
    /// It was definitely not taken.
    Refused(String, Again),
    /// Nobody knows.
    Unanswered(String),
}

/// Whether what was refused may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// The receiver's mind is made up.
    Never,
    /// Later, and not earlier than the receiver asked for, in ms.
    Later(Option<i64>),
}

/// The ways out.
#[async_trait]
pub trait Sender: Send + Sync {
    /// One try of a webhook.
    async fn webhook(&self, webhook: &Webhook) -> Delivery;
    /// One try of a mail.
    async fn mail(&self, mail: &Mail) -> Delivery;
    /// Whether there is a way out for mails. If not, none is promised.
    fn sends_mails(&self) -> bool;
}

/// What follows a try: words for people, and the next one or none.
struct Verdict {
    outcome: String,
    next: NextTry,
}

impl Verdict {
    fn end(state: EffectState, outcome: impl Into<String>) -> Self {
        Self { outcome: outcome.into(), next: NextTry::Never(state) }
    }
}

impl Engine {
    /// Claims up to `most` effects whose next try is due, none of the busy merchants'.
    pub async fn claim_effects(
        &self,
        most: u32,
        busy: Vec<MerchantId>,
    ) -> Result<Vec<ClaimedEffect>, EngineError> {
        let claim =
            ClaimEffects { holder: self.settings.holder, lease_ms: self.settings.lease_ms, most, busy };
        Ok(self.store.claim_effects(claim).await?)
    }

    /// Claims what is due and delivers one after the other; how many there were.
    pub async fn deliver_due(&self, most: u32) -> Result<usize, EngineError> {
        let claims = self.claim_effects(most, Vec::new()).await?;
        let found = claims.len();
        for claimed in claims {
            self.deliver(claimed).await?;
        }
        Ok(found)
    }

    /// Tries to deliver a claimed effect, and writes what came of it.
    pub async fn deliver(&self, claimed: ClaimedEffect) -> Result<(), EngineError> {
        failpoint!("outbox.claimed");
        let verdict = match claimed.effect.kind.channel() {
            Channel::Webhook => self.deliver_webhook(&claimed).await,
            Channel::Mail => self.deliver_mail(&claimed).await,
        };
        // Left unsettled it would look like a sender that went silent, and a mail would never be sent.
        let verdict = verdict
            .unwrap_or_else(|error| self.refused(&claimed, format!("not sent: {error}"), Again::Later(None)));
        failpoint!("outbox.sent");
        tell(&claimed, &verdict);
        let settle = SettleEffect {
            tenant: claimed.effect.tenant.clone(),
            id: claimed.effect.id,
            fence: claimed.effect.fence,
            outcome: verdict.outcome,
            next: verdict.next,
        };
        let settled = match self.store.settle_effect(settle.clone()).await {
            // It may be there: the same one is recognised by its fence.
            Err(StoreError::Unknown(_)) => self.store.settle_effect(settle).await,
            other => other,
        };
        failpoint!("outbox.settled");
        match settled? {
            SettledEffect::Done => {}
            SettledEffect::Stale => {
                tracing::warn!(effect = %claimed.effect.id, "the lease was lost; the next holder decides");
            }
        }
        Ok(())
    }

    async fn merchant_of(&self, claimed: &ClaimedEffect) -> Result<Option<MerchantRecord>, EngineError> {
        Ok(self.directory.merchant(&claimed.effect.tenant).await?)
    }

    /// An error is one before the send: nothing has left.
    async fn deliver_webhook(&self, claimed: &ClaimedEffect) -> Result<Verdict, EngineError> {
        let effect = &claimed.effect;
        let Some(endpoint) = self.merchant_of(claimed).await?.and_then(|merchant| merchant.webhook) else {
            return Ok(Verdict::end(EffectState::NotWanted, "the merchant has no webhook"));
        };
        let secret = self.vault.open(&endpoint.sealed_secret, &Seal::webhook(&effect.tenant))?;
        let again = planted::is(Fault::WebhookIdPerTry);
        let told = if planted::is(Fault::WebhookOfTerms) { claimed.checkout.amount } else { claimed.amount };
        let webhook = Webhook {
            id: if again { EffectId(self.ids.attempt().0) } else { effect.id },
            kind: effect.kind,
            url: endpoint.url,
            secret: Secret(String::from_utf8_lossy(&secret).into_owned()),
            happened_at: effect.created_at,
            at: claimed.now,
            checkout: claimed.checkout.clone(),
            intent: claimed.intent.clone(),
            amount: told,
        };
        Ok(match self.sender.webhook(&webhook).await {
            Delivery::Delivered(outcome) => Verdict::end(EffectState::Delivered, outcome),
            Delivery::Refused(outcome, again) => self.refused(claimed, outcome, again),
            // Its id tells the receiver that it has it already (fault 56).
            Delivery::Unanswered(outcome) => self.refused(claimed, outcome, Again::Later(None)),
        })
    }

    /// An error is one before the send: nothing has left.
    async fn deliver_mail(&self, claimed: &ClaimedEffect) -> Result<Verdict, EngineError> {
        let effect = &claimed.effect;
        if claimed.unanswered && !planted::is(Fault::MailSentAgain) {
            let outcome =
                "its sender went silent in mid-send; a person who got it could not tell a second one";
            return Ok(Verdict::end(EffectState::DeliveryUnknown, outcome));
        }
        let paid = claimed.checkout.status == CheckoutStatus::Paid;
        if claimed.effect.kind == EffectKind::ResultKnown && paid {
            return Ok(Verdict::end(EffectState::NotWanted, "the order was paid meanwhile"));
        }
        // The order stays paid, and its shop hears of it; the shopper is told no more of money that is his again.
        let charges = self.story(&effect.tenant, claimed.intent.id).await?.charges;
        let went_back = ChargeRecord::paying(&charges).is_some_and(ChargeRecord::went_back);
        if effect.kind == EffectKind::Receipt && went_back {
            if charges.iter().any(|charge| charge.extra && !charge.went_back()) {
                let outcome = "the money went back meanwhile, and another charge may pay".to_owned();
                return Ok(self.refused(claimed, outcome, Again::Later(None)));
            }
            return Ok(Verdict::end(EffectState::NotWanted, "the money went back meanwhile"));
        }
        if !self.sender.sends_mails() {
            return Ok(Verdict::end(EffectState::NotWanted, "no way to send mails is configured"));
        }
        let address = claimed.intent.email.clone().or_else(|| claimed.checkout.email.clone());
        let (Some(to), Some(merchant)) = (address, self.merchant_of(claimed).await?) else {
            return Ok(Verdict::end(EffectState::NotWanted, "there is no address any more"));
        };
        let mail = Mail {
            id: effect.id,
            kind: effect.kind,
            to,
            shop: merchant.name,
            status_url: self.status_url(&claimed.checkout),
            happened_at: effect.created_at,
            checkout: claimed.checkout.clone(),
            intent: claimed.intent.clone(),
            amount: claimed.amount,
            once: charges.len() <= 1,
        };
        Ok(match self.sender.mail(&mail).await {
            Delivery::Delivered(outcome) => Verdict::end(EffectState::Delivered, outcome),
            Delivery::Refused(outcome, again) => self.refused(claimed, outcome, again),
            Delivery::Unanswered(outcome) if planted::is(Fault::MailSentAgain) => {
                self.refused(claimed, outcome, Again::Later(None))
            }
            Delivery::Unanswered(outcome) => Verdict::end(EffectState::DeliveryUnknown, outcome),
        })
    }

    /// Later again, at growing intervals, unless that has gone on for too long.
    fn refused(&self, claimed: &ClaimedEffect, outcome: String, again: Again) -> Verdict {
        let effect = &claimed.effect;
        let since_ms = claimed.now.since_ms(effect.first_tried_at.unwrap_or(claimed.now));
        match again {
            Again::Later(_) if planted::is(Fault::WebhookGivenUp) => {
                Verdict::end(EffectState::Abandoned, outcome)
            }
            Again::Later(after_ms) if since_ms < GIVE_UP_AFTER_MS || effect.tries < FEWEST_TRIES => {
                let tries = u32::try_from(effect.tries).unwrap_or(u32::MAX);
                let wait_ms = RETRY.delay_ms(tries, self.ids.random(), after_ms).min(RETRY.max_ms);
                Verdict { outcome, next: NextTry::In(wait_ms) }
            }
            Again::Later(_) | Again::Never => Verdict::end(EffectState::Abandoned, outcome),
        }
    }
}

/// Tells the operator what did not go as it should.
fn tell(claimed: &ClaimedEffect, verdict: &Verdict) {
    let (effect, kind, tries) = (claimed.effect.id, claimed.effect.kind.as_str(), claimed.effect.tries);
    let (order, outcome) = (&claimed.checkout.order, &verdict.outcome);
    match verdict.next {
        NextTry::In(wait_ms) => {
            tracing::warn!(%effect, kind, %order, tries, wait_ms, outcome, "not delivered; it is tried again");
        }
        NextTry::Never(EffectState::Abandoned) => {
            tracing::error!(%effect, kind, %order, tries, outcome, "not delivered, and given up");
        }
        NextTry::Never(EffectState::DeliveryUnknown) => {
            tracing::error!(%effect, kind, %order, outcome, "it may have arrived or not, and is not sent again");
        }
        NextTry::Never(EffectState::Delivered | EffectState::NotWanted | EffectState::Waiting) => {
            tracing::debug!(%effect, kind, %order, tries, outcome, "settled");
        }
    }
}
