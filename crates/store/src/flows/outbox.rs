//! Effects: written in the transition's transaction, once for what they are about (R19, R20); then claimed, tried and settled under a
//! fence.

use payment::{
    Channel, CheckoutStatus, EffectId, EffectKind, EffectSubject, IntentId, Money, Stance, State, StateName,
    Timestamp,
};
use planted::Fault;

use super::{promised, sweep::doubt, won};
use crate::{
    ChargeRecord, CheckoutRecord, ClaimEffects, ClaimedEffect, EffectRecord, EffectState, IntentRecord,
    Lease, NextTry, SettleEffect, SettledEffect, StoreError, Tables, Tenant, tables::Abort,
};

/// Rows beyond those asked for that are looked at, so that some that cannot be read do not hold up the others.
const SPARE: u32 = 64;
/// A submit waits this long for the provider; a shopper who got no result by then was told to wait.
const SUBMIT_PATIENCE_MS: i64 = 8_000;
/// What is not known to be true for now is looked at again after this.
const UNTRUE_LOOK_MS: i64 = 60_000;
/// The outcome of what waits for that.
const UNTRUE: &str = "whether money was taken for the order is looked into; it is told when that is settled";

/// A change that others may have to hear of.
pub struct Change<'c> {
    /// The checkout, as it was before.
    pub checkout: &'c CheckoutRecord,
    /// The intent, as it was before.
    pub intent: &'c IntentRecord,
    /// What happened to it, in order.
    pub steps: &'c [crate::Change],
    /// Where it stands now.
    pub after: StateName,
    /// Whether the checkout became paid by it.
    pub paid: bool,
}

/// Writes down what follows from a change. What was written before, by whatever road, is not written again.
pub async fn emit(tables: &mut dyn Tables, change: &Change<'_>, now: Timestamp) -> Result<(), Abort> {
    let (checkout, intent) = (EffectSubject::Checkout(change.checkout.id), change.intent);
    let mut effects = Vec::new();
    if change.paid && !planted::is(Fault::EffectMissing) {
        effects.push((EffectKind::CheckoutPaid, checkout));
        effects.extend((!planted::is(Fault::ReceiptMissing)).then_some((EffectKind::Receipt, checkout)));
    } else if is_bad_news_awaited(change, now) {
        effects.push((EffectKind::ResultKnown, EffectSubject::Intent(intent.id)));
    }
    for (kind, subject) in effects {
        // Of a mail to nobody nothing has to be remembered.
        if kind.channel() == Channel::Webhook || address(change.checkout, intent).is_some() {
            let effect = EffectRecord::new(kind, subject, intent, now);
            tables.insert_effect(&effect).await?;
            if planted::is(Fault::EffectTwice) {
                let id = EffectId::of(kind, EffectSubject::Intent(intent.id));
                tables.insert_effect(&EffectRecord { id, ..effect }).await?;
            }
        }
    }
    Ok(())
}

/// Whether the shopper was told that the result is not known yet, and it turns out that no money was taken.
fn is_bad_news_awaited(change: &Change<'_>, now: Timestamp) -> bool {
    let ended_without_money = change.after.stance() == Stance::Free;
    ended_without_money && has_shopper_waited(change, now) && change.checkout.status != CheckoutStatus::Paid
}

/// Whether the shopper saw no result where one was expected. What ends within the submit's own answer was waited for by nobody.
fn has_shopper_waited(change: &Change<'_>, now: Timestamp) -> bool {
    let state = &change.intent.state;
    let was_slow =
        matches!(state, State::Processing { since, .. } if now.since_ms(*since) > SUBMIT_PATIENCE_MS);
    // One commit can take a send over, which makes its result unknown, and end it too.
    let passed = change.steps.iter().any(|step| is_of_intent(step) && is_unknown(step.to));
    was_slow || is_unknown(state.name().as_str()) || passed
}

/// A capture's or a cancel's events are named after it: `cancel.observed`.
fn is_of_intent(step: &crate::Change) -> bool {
    !step.event.contains('.')
}

fn is_unknown(state: &str) -> bool {
    [StateName::Confirming, StateName::NeedsReview].iter().any(|name| name.as_str() == state)
}

/// Where mails of an intent go: as the shopper said, else as the merchant did.
fn address<'r>(checkout: &'r CheckoutRecord, intent: &'r IntentRecord) -> Option<&'r str> {
    intent.email.as_deref().or(checkout.email.as_deref())
}

/// The flow of a claim.
pub async fn claim(tables: &mut dyn Tables, claim: &ClaimEffects) -> Result<Vec<ClaimedEffect>, Abort> {
    let now = tables.now().await?;
    let mut claims = Vec::new();
    for (tenant, id) in tables.due_effects(now, &claim.busy, claim.most.saturating_add(SPARE)).await? {
        if claims.len() >= claim.most as usize {
            break;
        }
        match claim_one(tables, claim, &tenant, id, now).await {
            Ok(claimed) => claims.extend(claimed),
            // It was read before anything was written, and is left alone: a newer version wrote it, or a person has to look.
            Err(Abort::Failed(error @ StoreError::Unreadable(_))) => {
                tracing::error!(%error, effect = %id, "a due effect cannot be read and is left alone");
            }
            Err(aborted) => return Err(aborted),
        }
    }
    Ok(claims)
}

async fn claim_one(
    tables: &mut dyn Tables,
    claim: &ClaimEffects,
    tenant: &Tenant,
    id: EffectId,
    now: Timestamp,
) -> Result<Option<ClaimedEffect>, Abort> {
    let mut effect = promised(tables.effect(tenant, id).await?, "a due effect")?;
    let intent = promised(tables.intent(tenant, effect.intent).await?, "an effect's intent")?;
    let checkout = promised(tables.checkout(tenant, intent.checkout).await?, "an intent's checkout")?;
    if effect.wake_at.is_none_or(|at| at > now) {
        return Ok(None);
    }
    if is_untrue(tables, &effect, &checkout).await? {
        // Nobody tried to send it: it is not given up, however long that takes.
        let fence = effect.fence;
        effect.wake_at = Some(now.plus_ms(UNTRUE_LOOK_MS));
        effect.outcome = Some(UNTRUE.to_owned());
        won(tables.update_effect(&effect, fence).await?)?;
        return Ok(None);
    }
    let amount = amount_of(tables, &effect, &intent).await?;
    let (fence, until) = (effect.fence, now.plus_ms(claim.lease_ms));
    let unanswered = effect.lease.is_some();
    effect.lease = Some(Lease { holder: claim.holder, until });
    effect.fence = fence + 1;
    effect.tries += 1;
    effect.first_tried_at = effect.first_tried_at.or(Some(now));
    effect.wake_at = Some(until);
    won(tables.update_effect(&effect, fence).await?)?;
    Ok(Some(ClaimedEffect { effect, intent, checkout, amount, unanswered, now }))
}

/// Whether "no money was taken" is not known of the order. What may have left already is not held back by it.
async fn is_untrue(
    tables: &mut dyn Tables,
    effect: &EffectRecord,
    checkout: &CheckoutRecord,
) -> Result<bool, Abort> {
    let tells_of_no_money = match effect.kind {
        EffectKind::ResultKnown => checkout.status != CheckoutStatus::Paid && effect.lease.is_none(),
        EffectKind::CheckoutPaid | EffectKind::Receipt => false,
    };
    if !tells_of_no_money {
        return Ok(false);
    }
    let newest = promised(tables.newest_intent(&checkout.tenant, checkout.id).await?, "a checkout's intent")?;
    // The order was tried again meanwhile, and that may have taken money.
    let tried = !newest.state.is_terminal() && newest.state != State::Created;
    let of = (checkout.tenant.clone(), checkout.order.clone());
    Ok(tried || doubt(tables, &of).await?.is_some())
}

/// The sum an effect tells. A checkout's terms may have changed since the intent that paid it was made.
async fn amount_of(
    tables: &mut dyn Tables,
    effect: &EffectRecord,
    intent: &IntentRecord,
) -> Result<Money, Abort> {
    match effect.kind {
        EffectKind::CheckoutPaid | EffectKind::Receipt => {
            let charges = tables.charges(&effect.tenant, intent.checkout).await?;
            Ok(promised(ChargeRecord::paying(&charges), "a paid checkout's charge")?.amount)
        }
        EffectKind::ResultKnown => Ok(intent.amount),
    }
}

/// The flow that writes what came of a try. A holder whose fence is not the newest writes nothing (R14).
pub async fn settle(tables: &mut dyn Tables, settle: &SettleEffect) -> Result<SettledEffect, Abort> {
    let mut effect = promised(tables.effect(&settle.tenant, settle.id).await?, "a claimed effect")?;
    if effect.fence != settle.fence {
        return Ok(SettledEffect::Stale);
    }
    if effect.lease.is_none() {
        // Only this fence's holder lets go of it: it is already written, the answer was lost.
        return Ok(SettledEffect::Done);
    }
    let now = tables.now().await?;
    effect.lease = None;
    effect.outcome = Some(settle.outcome.clone());
    (effect.state, effect.wake_at) = match settle.next {
        NextTry::In(ms) => (EffectState::Waiting, Some(now.plus_ms(ms))),
        NextTry::Never(state) => (state, None),
    };
    won(tables.update_effect(&effect, settle.fence).await?)?;
    Ok(SettledEffect::Done)
}

/// The effects of an intent and of its checkout. Their ids follow from what they are about.
pub async fn of_intent(
    tables: &mut dyn Tables,
    (tenant, id): &(Tenant, IntentId),
) -> Result<Vec<EffectRecord>, Abort> {
    let Some(intent) = tables.intent(tenant, *id).await? else { return Ok(Vec::new()) };
    let subjects = [EffectSubject::Checkout(intent.checkout), EffectSubject::Intent(intent.id)];
    let mut found = Vec::new();
    for subject in subjects {
        for kind in EffectKind::ALL {
            found.extend(tables.effect(tenant, EffectId::of(kind, subject)).await?);
        }
    }
    Ok(found)
}

/// Effects that did not, or may not have, arrived.
pub async fn undelivered(tables: &mut dyn Tables, limit: &u32) -> Result<Vec<EffectRecord>, Abort> {
    let mut found = Vec::new();
    for (tenant, id) in tables.undelivered_effects(*limit).await? {
        found.extend(tables.effect(&tenant, id).await?);
    }
    Ok(found)
}
