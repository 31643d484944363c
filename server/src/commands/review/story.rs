//! The whole story of a payment, for a person to read: what it is, what was sent, what took money, what happened, what can be done
//! (R24).

use anyhow::Result;
use engine::Engine;
use payment::{IntentId, ObjectId, OperationKind, OrderId, State};
use store::{
    ChargeRecord, CheckoutRecord, EffectRecord, IntentRecord, OperationRecord, ReviewItem, Stage, Story,
    Task, Tenant,
};

use super::words;
use crate::answers::rfc3339;

/// The story that `id` leads to.
pub(super) async fn text(engine: &Engine, id: &str) -> Result<Option<String>> {
    if let Some((checkout, intent)) = find(engine, id).await? {
        return story_of(engine, &checkout, &intent).await;
    }
    let intent = match engine.review_item(id).await? {
        Some(ReviewItem::Operation { intent, .. }) => (intent.tenant.clone(), intent.id),
        Some(ReviewItem::Extra(charge)) => (charge.tenant.clone(), charge.intent),
        Some(ReviewItem::Stranger(stranger)) => {
            let order = stranger.order.as_ref().map_or("no order", OrderId::as_str);
            let (object, amount, account) = (&stranger.object, stranger.amount, stranger.account.as_str());
            return Ok(Some(format!(
                "Object {object} took {amount} in account {account}; no payment of ours asked for it. It names {order}.\n\
                 Found {}. Until it is resolved that order takes no payment.\n\n\
                 What you can do:\n  \
                 payonce review resolve {object} --charged {object} --reason TEXT\n      \
                 it pays that order\n  \
                 payonce review resolve {object} --not-charged --reason TEXT\n      \
                 it has nothing to do with us: the order can be paid\n",
                rfc3339(stranger.found_at)
            )));
        }
        None => return Ok(None),
    };
    by_intent(engine, &intent.0, intent.1).await
}

async fn by_intent(engine: &Engine, tenant: &Tenant, intent: IntentId) -> Result<Option<String>> {
    let Some((checkout, intent)) = engine.store.intent(tenant.clone(), intent).await? else {
        return Ok(None);
    };
    story_of(engine, &checkout, &intent).await
}

async fn story_of(
    engine: &Engine,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
) -> Result<Option<String>> {
    let story = engine.store.story(intent.tenant.clone(), intent.id).await?;
    let effects = engine.store.effects(intent.tenant.clone(), intent.id).await?;
    Ok(story.map(|story| told(checkout, intent, &story, &effects)))
}

async fn find(engine: &Engine, id: &str) -> Result<Option<(CheckoutRecord, IntentRecord)>> {
    for merchant in engine.directory.merchants().await? {
        let (store, tenant) = (&engine.store, merchant.tenant);
        let found = match (id.parse().ok(), id.parse().ok(), OrderId::parse(id)) {
            (Some(intent), _, _) => store.intent(tenant, intent).await?,
            (None, Some(checkout), _) => store.checkout(tenant, checkout).await?,
            (None, None, Ok(order)) => store.order(tenant, order).await?,
            (None, None, Err(_)) => None,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn told(checkout: &CheckoutRecord, intent: &IntentRecord, story: &Story, effects: &[EffectRecord]) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    let tenant = &intent.tenant;
    line(format!(
        "Payment {} of order {} ({}), {}, merchant {} ({})",
        intent.id,
        checkout.order,
        checkout.id,
        intent.amount,
        tenant.merchant,
        tenant.mode.as_str()
    ));
    line(format!("  checkout {}, payment {}", checkout.status.as_str(), words::standing(&intent.state)));
    if let Some(previous) = intent.previous {
        line(format!("  tries {previous} again"));
    }
    line(String::new());
    operation(&mut line, "pay", &story.operation);
    for attempt in &story.attempts {
        let outcome = attempt.outcome.as_deref().unwrap_or("no answer is known");
        line(format!(
            "    send {}  {}  {}  {outcome}",
            attempt.number,
            rfc3339(attempt.started_at),
            attempt.id
        ));
    }
    for row in &story.follow_ups {
        let Task::FollowUp(follow_up) = &row.task else { continue };
        let amount = follow_up.amount.map_or_else(String::new, |amount| format!(" {amount}"));
        let what = format!(
            "{}{amount} on {}: {}",
            follow_up.kind.as_str(),
            follow_up.target,
            words::operation(&follow_up.state)
        );
        operation(&mut line, &what, row);
    }
    line(String::new());
    line(
        if story.charges.is_empty() {
            "No money was taken for this order, as far as is known."
        } else {
            "Money taken for this order:"
        }
        .to_owned(),
    );
    for charge in &story.charges {
        line(format!(
            "  {}  {}  {} by {}; given back: {}, on its way back: {}{}",
            rfc3339(charge.at),
            charge.amount,
            charge.object,
            charge.intent,
            words::sum(charge.refunded_minor, charge.amount.currency()),
            words::sum(charge.reserved_minor, charge.amount.currency()),
            if charge.extra { "  EXTRA: the order was paid already" } else { "" }
        ));
    }
    if !effects.is_empty() {
        line(String::new());
        line("What was told:".to_owned());
    }
    for effect in effects {
        line(format!("  {}  {}", rfc3339(effect.created_at), words::effect(effect)));
    }
    line(String::new());
    line("What happened:".to_owned());
    for row in &story.journal {
        let entry = &row.line;
        let (from, to) = (&entry.from, &entry.to);
        line(format!("  {}  {from} → {to}  {}: {}", rfc3339(entry.at), entry.event, entry.evidence));
    }
    line(String::new());
    line(what_can_be_done(intent, story));
    text
}

fn operation(line: &mut impl FnMut(String), what: &str, row: &OperationRecord) {
    let at = |at: Option<payment::Timestamp>| at.map_or_else(|| "—".to_owned(), rfc3339);
    line(format!("  operation {} {what}, provider key {}", row.id, row.provider_key));
    let account = row.frozen.as_ref().map_or("—", |frozen| frozen.account.as_str());
    let object = row.object.as_ref().map_or_else(|| "—".to_owned(), ToString::to_string);
    line(format!("    account {account}, object {object}"));
    line(format!(
        "    first sent {}, may be sent until {}, last look {}, next look {}",
        at(row.first_sent_at),
        at(row.execute_until),
        at(row.looked_at),
        at(row.wake_at)
    ));
}

fn what_can_be_done(intent: &IntentRecord, story: &Story) -> String {
    let id = intent.id.to_string();
    let mut choices = Vec::new();
    let mut choice = |id: &str, verdict: &str, meaning: &str| {
        choices.push(format!("  payonce review resolve {id} {verdict} --reason TEXT\n      {meaning}\n"));
    };
    if let State::NeedsReview { object, .. } = &intent.state {
        let object = object.as_ref().map_or("OBJECT", ObjectId::as_str);
        let charged = format!("--charged {object}");
        choice(
            &id,
            &charged,
            "this object of the provider took the money: the order is paid (it is asked first)",
        );
        choice(
            &id,
            "--not-charged",
            "no money was taken: the order can be paid again (refused until that is proved)",
        );
    }
    for row in story.follow_ups.iter().filter(|row| row.stage == Stage::Review) {
        let id = row.id.to_string();
        let object = match (row.task.kind(), &row.object, &row.task) {
            (OperationKind::Refund, Some(refund), _) => refund.as_str(),
            (OperationKind::Refund, None, _) | (_, _, Task::Pay) => "REFUND",
            (_, _, Task::FollowUp(follow_up)) => follow_up.target.as_str(),
        };
        choice(&id, &format!("--executed {object}"), "it was done (the provider is asked first)");
        choice(&id, "--not-executed", "it was not done (refused until that is proved)");
    }
    let open = |charge: &&ChargeRecord| {
        charge.extra && charge.reserved_minor + charge.refunded_minor < charge.amount.minor()
    };
    for charge in story.charges.iter().filter(open) {
        choice(charge.object.as_str(), "--refund-extra", "give it back");
    }
    if choices.is_empty() {
        return "Nothing waits for a person here.".to_owned();
    }
    format!("What you can do:\n{}", choices.concat().trim_end())
}
