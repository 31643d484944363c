//! The whole story of a payment, for a person to read: what it is, what was sent, what took money, what happened (R24).

use anyhow::Result;
use engine::Engine;
use payment::{IntentId, OrderId, ReviewReason, State, Timestamp, UnknownReason};
use store::{
    ChargeRecord, CheckoutRecord, Doubt, EffectRecord, Fate, IntentRecord, OperationRecord, ReviewItem,
    Story, StrangerRecord, Task, Tenant,
};

use super::{choices, words};
use crate::answers::rfc3339;

/// The story that `id` leads to.
pub(super) async fn text(engine: &Engine, id: &str) -> Result<Option<String>> {
    if let Some((checkout, intent)) = find(engine, id).await? {
        return story_of(engine, &checkout, &intent).await;
    }
    let intent = match engine.review_item(id).await? {
        Some(ReviewItem::Operation { intent, .. }) => (intent.tenant.clone(), intent.id),
        Some(ReviewItem::Extra(charge)) => (charge.tenant.clone(), charge.intent),
        Some(ReviewItem::Stranger(found)) => {
            let choices = choices::of_stranger(engine, &found).await?;
            let shown = engine.shown_of(&found).await?;
            let shown =
                shown.map_or_else(String::new, |words| format!("\nThe provider shows it now: {words}."));
            return Ok(Some(format!("{}{shown}\n\n{choices}\n", stranger(&found))));
        }
        None => return Ok(None),
    };
    by_intent(engine, &intent.0, intent.1).await
}

fn stranger(found: &StrangerRecord) -> String {
    let (object, amount, account) = (&found.object, found.amount, words::account(found));
    let names = match &found.order {
        Some(order) => format!("It names {order}, which takes no payment until this is resolved."),
        None => "It names no order.".to_owned(),
    };
    let what = if found.took_money {
        format!("Object {object} took {amount} in {account}; no payment of ours asked for it.")
    } else {
        format!(
            "Object {object} waits in {account} and may take {amount}; no payment that we know of waits for it. It is asked \
             about with every sweep: should it end without money, its order is free by itself."
        )
    };
    format!("{what} {names}\nFound {}.", rfc3339(found.found_at))
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
    let Some(story) = story else { return Ok(None) };
    let doubt = engine.store.doubt(intent.tenant.clone(), checkout.order.clone()).await?;
    let mut text = told(checkout, intent, &story, &effects, doubt);
    text.push_str(&choices::of_payment(engine, intent, &story).await?);
    text.push('\n');
    Ok(Some(text))
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

/// Lines of a text.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn put(&mut self, words: &str) {
        self.0.push_str(words);
        self.0.push('\n');
    }

    /// A title, after an empty line.
    fn title(&mut self, words: &str) {
        self.put("");
        self.put(words);
    }
}

fn told(
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
    story: &Story,
    effects: &[EffectRecord],
    doubt: Option<Doubt>,
) -> String {
    let mut lines = Lines::default();
    payment(&mut lines, checkout, intent);
    lines.put("");
    operation(&mut lines, "pay", &story.operation);
    for attempt in &story.attempts {
        let (at, outcome) = (rfc3339(attempt.started_at), attempt.outcome.as_deref());
        let outcome = outcome.unwrap_or("no answer is known");
        lines.put(&format!("    send {}  {at}  {}  {outcome}", attempt.number, attempt.id));
    }
    for row in &story.follow_ups {
        follow_up(&mut lines, row);
    }
    money(&mut lines, &story.charges, &intent.state, doubt);
    if !effects.is_empty() {
        lines.title("What was told:");
    }
    for effect in effects {
        lines.put(&format!("  {}  {}", rfc3339(effect.created_at), words::effect(effect)));
    }
    lines.title("What happened:");
    for row in &story.journal {
        let (at, entry) = (rfc3339(row.line.at), &row.line);
        let (from, to, event, evidence) = (&entry.from, &entry.to, &entry.event, &entry.evidence);
        lines.put(&format!("  {at}  {from} → {to}  {event}: {evidence}"));
    }
    lines.put("");
    lines.0
}

fn payment(lines: &mut Lines, checkout: &CheckoutRecord, intent: &IntentRecord) {
    let tenant = &intent.tenant;
    lines.put(&format!(
        "Payment {} of order {} ({}), {}, merchant {} ({})",
        intent.id,
        checkout.order,
        checkout.id,
        intent.amount,
        tenant.merchant,
        tenant.mode.as_str()
    ));
    let (status, standing) = (checkout.status.as_str(), words::standing(&intent.state));
    lines.put(&format!("  checkout {status}, payment {standing}"));
    if let Some(previous) = intent.previous {
        lines.put(&format!("  tries {previous} again"));
    }
}

fn follow_up(lines: &mut Lines, row: &OperationRecord) {
    let Task::FollowUp(follow_up) = &row.task else { return };
    let amount = follow_up.amount.map_or_else(String::new, |amount| format!(" {amount}"));
    let (kind, target) = (follow_up.kind.as_str(), &follow_up.target);
    let what = format!("{kind}{amount} on {target}: {}", words::operation(&follow_up.state));
    operation(lines, &what, row);
}

fn operation(lines: &mut Lines, what: &str, row: &OperationRecord) {
    let at = |at: Option<Timestamp>| at.map_or_else(|| "—".to_owned(), rfc3339);
    lines.put(&format!("  operation {} {what}, provider key {}", row.id, row.provider_key));
    let is_ours = row.frozen.as_ref().is_none_or(|frozen| !frozen.method.is_empty());
    let account = row.frozen.as_ref().map_or("—", |frozen| frozen.account.as_str());
    let object = row.object.as_ref().map_or_else(|| "—".to_owned(), ToString::to_string);
    lines.put(&format!("    account {account}, object {object}"));
    let sent = if is_ours {
        format!("first sent {}, may be sent until {}", at(row.first_sent_at), at(row.execute_until))
    } else {
        "made by somebody else, never sent by us".to_owned()
    };
    lines.put(&format!("    {sent}, last look {}, next look {}", at(row.looked_at), at(row.wake_at)));
}

/// Whether the provider showed for this payment what was not asked for.
fn is_contradicted(state: &State) -> bool {
    !state.suspects().is_empty()
        || matches!(
            state,
            State::Confirming { why: UnknownReason::Mismatch(_), .. }
                | State::NeedsReview { why: ReviewReason::Mismatch(_), .. }
        )
}

/// Whether money may have been taken that nobody has told of yet.
fn is_open(state: &State) -> bool {
    match state {
        State::Processing { .. }
        | State::RequiresAction { .. }
        | State::Confirming { .. }
        | State::NeedsReview { .. } => true,
        State::Created
        | State::Authorized { .. }
        | State::Succeeded { .. }
        | State::Declined { .. }
        | State::Canceled { .. }
        | State::Expired { .. } => false,
    }
}

fn money(lines: &mut Lines, charges: &[ChargeRecord], state: &State, doubt: Option<Doubt>) {
    let title = match charges {
        [_, ..] => "Money taken for this order:",
        [] if is_contradicted(state) => {
            "No money is written down for this order, but what the provider showed for it may have taken some."
        }
        [] if is_open(state) => {
            "No money is written down for this order, but its result is not known yet: it may have been taken."
        }
        [] if doubt == Some(Doubt::Stranger) => {
            "No money is written down for this order, but other money that names it stands before a person: `payonce review list`."
        }
        [] if doubt == Some(Doubt::Gate) => {
            "No money is written down for this order, but this database may be an old copy: nothing is sent until the account is read."
        }
        [] => "No money was taken for this order, as far as is known.",
    };
    lines.title(title);
    for suspect in state.suspects() {
        let amount = suspect.amount.map_or_else(String::new, |amount| format!("{amount}  "));
        lines.put(&format!(
            "  {amount}{}  the provider showed it for this payment's own, with another name or sum, or with its money given back; look at it before you say anything",
            suspect.object
        ));
    }
    for charge in charges {
        let currency = charge.amount.currency();
        lines.put(&format!(
            "  {}  {}  {} by {}; known to be given back: {}, on its way back: {}{}",
            rfc3339(charge.at),
            charge.amount,
            charge.object,
            charge.intent,
            words::sum(charge.refunded_minor, currency),
            words::sum(charge.reserved_minor, currency),
            became(charge)
        ));
    }
}

/// What a charge is beside a payment of its order.
fn became(charge: &ChargeRecord) -> &'static str {
    match (charge.extra, charge.fate) {
        (false, None | Some(Fate::Kept)) => "",
        (false, Some(Fate::Returned)) => "  WENT BACK at the provider, by no refund of ours",
        (true, None) => "  EXTRA: the order was paid already",
        (true, Some(Fate::Kept)) => "  EXTRA, and pays: what had paid went back",
        (true, Some(Fate::Returned)) => {
            "  EXTRA: the order was paid already; went back at the provider, by no refund of ours"
        }
    }
}
