//! Opens a checkout for an order, or adopts the one the order has.

use payment::{CheckoutStatus, Event, State, StateName, Timestamp, transition};
use planted::Fault;

use super::{journal, keys, promised, sweep::is_gated, won};
use crate::{
    Change, CheckoutRecord, IntentRecord, NewIds, OpenCheckout, OpenedCheckout, OperationRecord, Stage,
    Tables, tables::Abort,
};

const CREATED: u16 = 201;
const OK: u16 = 200;

/// The flow.
pub async fn run(tables: &mut dyn Tables, command: &OpenCheckout) -> Result<OpenedCheckout, Abort> {
    if let Some(known) = keys::find(tables, &command.key).await? {
        return Ok(OpenedCheckout::Known(known));
    }
    let existing = tables.lock_order(&command.key.tenant, &command.terms.order).await?;
    let now = tables.now().await?;
    match existing.filter(|_| !planted::is(Fault::OrderTwice)) {
        None => open(tables, command, now).await,
        Some(checkout) => adopt(tables, command, checkout, now).await,
    }
}

async fn open(
    tables: &mut dyn Tables,
    command: &OpenCheckout,
    now: Timestamp,
) -> Result<OpenedCheckout, Abort> {
    let checkout = with_terms(
        CheckoutRecord {
            tenant: command.key.tenant.clone(),
            id: command.ids.checkout,
            order: command.terms.order.clone(),
            status: CheckoutStatus::Open,
            version: 1,
            token_version: 1,
            amount: command.terms.amount,
            capture: command.terms.capture,
            description: None,
            return_url: None,
            email: None,
            metadata: Default::default(),
            created_at: now,
            expires_at: now,
        },
        command,
        now,
    );
    won(tables.insert_checkout(&checkout).await?)?;
    let intent = insert_intent(tables, &checkout, &command.ids, None, now).await?;
    answer(tables, command, CREATED, checkout, intent, now).await
}

/// A known order under a new key: the same checkout, never a second one.
async fn adopt(
    tables: &mut dyn Tables,
    command: &OpenCheckout,
    checkout: CheckoutRecord,
    now: Timestamp,
) -> Result<OpenedCheckout, Abort> {
    let newest = promised(tables.newest_intent(&checkout.tenant, checkout.id).await?, "a checkout's intent")?;
    if checkout.status == CheckoutStatus::Paid {
        return Ok(OpenedCheckout::Paid(checkout.id));
    }
    let open = checkout.status == CheckoutStatus::Open && now < checkout.expires_at;
    if open && same_terms(&checkout, command) {
        return answer(tables, command, OK, checkout, newest, now).await;
    }
    if !newest.state.is_terminal() && newest.state.name() != StateName::Created {
        return Ok(OpenedCheckout::InProgress(checkout.id, newest.id));
    }
    if is_gated(tables, &checkout.tenant).await? {
        return Ok(OpenedCheckout::Gated);
    }
    reopen(tables, command, checkout, newest, now).await
}

async fn reopen(
    tables: &mut dyn Tables,
    command: &OpenCheckout,
    checkout: CheckoutRecord,
    newest: IntentRecord,
    now: Timestamp,
) -> Result<OpenedCheckout, Abort> {
    let version = checkout.version;
    let mut reopened = with_terms(checkout, command, now);
    reopened.version = version + 1;
    reopened.status = CheckoutStatus::Open;
    won(tables.update_checkout_terms(&reopened, version).await?)?;
    if newest.state == State::Created {
        replace_intent(tables, newest.clone(), now).await?;
    }
    // The merchant's new terms say where the receipt goes.
    let previous = IntentRecord { email: None, ..newest };
    let intent = insert_intent(tables, &reopened, &command.ids, Some(&previous), now).await?;
    answer(tables, command, OK, reopened, intent, now).await
}

/// Ends a `created` intent whose terms are no longer offered.
async fn replace_intent(
    tables: &mut dyn Tables,
    mut intent: IntentRecord,
    now: Timestamp,
) -> Result<(), Abort> {
    let Ok(decision) = transition(&intent.state, Event::Replaced, now) else { return Err(Abort::Raced) };
    let change = Change {
        from: intent.state.name().as_str(),
        event: "replaced".to_owned(),
        to: decision.next.name().as_str(),
        evidence: "the checkout's terms changed before anything was sent".to_owned(),
    };
    let (version, tenant) = (intent.version, intent.tenant.clone());
    intent.state = decision.next;
    won(tables.update_intent(&intent, version).await?)?;
    finish_unsent_operation(tables, &intent).await?;
    journal::append(tables, &tenant, intent.id, now, &[change]).await
}

/// The pay operation of an intent that ended before its first submit.
pub(super) async fn finish_unsent_operation(
    tables: &mut dyn Tables,
    intent: &IntentRecord,
) -> Result<(), Abort> {
    let mut operation =
        promised(tables.pay_operation(&intent.tenant, intent.id).await?, "an intent's operation")?;
    operation.stage = Stage::of(intent.state.name());
    let fence = operation.fence;
    won(tables.update_operation(&operation, fence).await?)
}

/// A new occupying intent with its pay operation and the first line of its journal.
pub(super) async fn insert_intent(
    tables: &mut dyn Tables,
    checkout: &CheckoutRecord,
    ids: &NewIds,
    previous: Option<&IntentRecord>,
    now: Timestamp,
) -> Result<IntentRecord, Abort> {
    let intent = IntentRecord {
        tenant: checkout.tenant.clone(),
        id: ids.intent,
        checkout: checkout.id,
        number: previous.map_or(1, |previous| previous.number + 1),
        previous: previous.map(|previous| previous.id),
        submit_key: ids.submit_key,
        amount: checkout.amount,
        checkout_version: checkout.version,
        state: State::Created,
        method: None,
        paid_with: None,
        // The shopper need not write the address again.
        email: previous.and_then(|previous| previous.email.clone()),
        version: 1,
        created_at: now,
    };
    won(tables.insert_intent(&intent).await?)?;
    won(tables.insert_operation(&OperationRecord::created(&intent, ids)).await?)?;
    let evidence = match previous {
        Some(previous) => format!("follows {}", previous.id),
        None => "first of its checkout".to_owned(),
    };
    let change =
        Change { from: "none", event: "opened".to_owned(), to: intent.state.name().as_str(), evidence };
    journal::append(tables, &checkout.tenant, intent.id, now, &[change]).await?;
    Ok(intent)
}

async fn answer(
    tables: &mut dyn Tables,
    command: &OpenCheckout,
    status: u16,
    checkout: CheckoutRecord,
    intent: IntentRecord,
    now: Timestamp,
) -> Result<OpenedCheckout, Abort> {
    let answer = (command.render)(status, &checkout, &intent);
    keys::claim(tables, &command.key, &checkout, &intent, Some(answer.clone()), now).await?;
    Ok(OpenedCheckout::Fresh(Box::new(checkout), answer))
}

fn with_terms(checkout: CheckoutRecord, command: &OpenCheckout, now: Timestamp) -> CheckoutRecord {
    let terms = command.terms.clone();
    CheckoutRecord {
        amount: terms.amount,
        capture: terms.capture,
        description: terms.description,
        return_url: terms.return_url,
        email: terms.email,
        metadata: terms.metadata,
        expires_at: now.plus_ms(terms.expires_in_ms),
        ..checkout
    }
}

fn same_terms(checkout: &CheckoutRecord, command: &OpenCheckout) -> bool {
    let terms = &command.terms;
    checkout.amount == terms.amount
        && checkout.capture == terms.capture
        && checkout.description == terms.description
        && checkout.return_url == terms.return_url
        && checkout.email == terms.email
        && checkout.metadata == terms.metadata
}
