//! The first claim: who submits an intent first owns its one dispatch; everybody else reads the winner's state and calls nobody
//! (R6).

use std::sync::Arc;

use payment::{CheckoutStatus, Dispatch, Event, State, StateName, Step, Timestamp, transition};
use planted::Fault;

use super::{claim::dispatch, journal, keys, promised, won};
use crate::{
    AttemptRecord, Change, CheckoutRecord, Claimed, IntentRecord, KnownKey, Lease, OperationRecord, Stage,
    SubmitCommand, Submitted, Tables, tables::Abort,
};

/// The flow: key first, then the terms the shopper saw, then the account that the merchant has by now, then the claim. So whatever was
/// claimed before a start that meets another account is written down before it, and nothing goes to the one of before after it.
pub async fn run(tables: &mut dyn Tables, command: &SubmitCommand) -> Result<Submitted, Abort> {
    let tenant = &command.key.tenant;
    let Some(checkout) = tables.lock_checkout(tenant, command.checkout).await? else {
        return Ok(Submitted::NotFound);
    };
    let Some(intent) = tables.intent(tenant, command.intent).await?.filter(|i| i.checkout == checkout.id)
    else {
        return Ok(Submitted::NotFound);
    };
    if command.key.key.as_str() != intent.submit_key.to_string() {
        return Ok(Submitted::WrongKey);
    }
    if let Some(known) = keys::find(tables, &command.key).await? {
        return known_key(tables, command, checkout, intent, known).await;
    }
    let now = tables.now().await?;
    if let Some(refused) = refusal(&checkout, &intent, command, now) {
        return Ok(refused);
    }
    if tables.account(tenant).await?.is_some_and(|own| own != command.frozen.account)
        && !planted::is(Fault::ClaimedForAccountOfBefore)
    {
        return Ok(Submitted::Moved);
    }
    claim(tables, command, checkout, intent, now).await
}

/// A key that was claimed before. If the claim is this very command's (its commit's answer was lost), it still holds.
async fn known_key(
    tables: &mut dyn Tables,
    command: &SubmitCommand,
    checkout: CheckoutRecord,
    intent: IntentRecord,
    known: KnownKey,
) -> Result<Submitted, Abort> {
    let operation =
        promised(tables.pay_operation(&intent.tenant, intent.id).await?, "an intent's operation")?;
    let ours = operation.lease.is_some_and(|lease| lease.holder == command.holder);
    let first = tables.attempts(&intent.tenant, operation.id).await?.into_iter().next();
    match first {
        Some(attempt) if ours && (attempt.id, attempt.fence) == (command.attempt, operation.fence) => {
            let now = attempt.started_at;
            Ok(Submitted::Claimed(Box::new(claimed(checkout, intent, operation, attempt, now))))
        }
        Some(_) | None => Ok(Submitted::Known(known)),
    }
}

fn refusal(
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
    command: &SubmitCommand,
    now: Timestamp,
) -> Option<Submitted> {
    if intent.state != State::Created {
        return Some(Submitted::Over(Box::new(checkout.clone()), Box::new(intent.clone())));
    }
    match checkout.status {
        CheckoutStatus::Paid if planted::is(Fault::PaidSendsAgain) => {}
        CheckoutStatus::Paid => return Some(Submitted::Paid(checkout.id)),
        CheckoutStatus::Canceled | CheckoutStatus::Expired => {
            return Some(Submitted::NotOpen(Box::new(checkout.clone())));
        }
        CheckoutStatus::Open => {}
    }
    if now >= checkout.expires_at && !planted::is(Fault::SubmitAfterExpiry) {
        return Some(Submitted::NotOpen(Box::new(checkout.clone())));
    }
    let seen = checkout.version == command.version && checkout.amount == command.amount;
    (!seen).then(|| Submitted::Changed(Box::new(checkout.clone())))
}

async fn claim(
    tables: &mut dyn Tables,
    command: &SubmitCommand,
    checkout: CheckoutRecord,
    mut intent: IntentRecord,
    now: Timestamp,
) -> Result<Submitted, Abort> {
    let Ok(decision) = transition(&intent.state, Event::Submitted, now) else { return Err(Abort::Raced) };
    keys::claim(tables, &command.key, &checkout, &intent, None, now).await?;
    let version = intent.version;
    intent.state = decision.next;
    intent.method = Some(command.method);
    intent.email = command.email.clone();
    won(tables.update_intent(&intent, version).await?)?;
    intent.version = version + 1;

    let operation = hold(tables, command, &checkout, &intent, now).await?;
    if operation.lease.is_none() {
        let change = submitted_line(&operation, "dispatch waits", intent.state.name());
        journal::append(tables, &intent.tenant, intent.id, now, &[change]).await?;
        let (checkout, intent) = (Box::new(checkout), Box::new(intent));
        return Ok(Submitted::Known(KnownKey::Same { checkout, intent, answer: None }));
    }
    let attempt = AttemptRecord {
        id: command.attempt,
        operation: operation.id,
        number: 1,
        fence: operation.fence,
        started_at: now,
        outcome: None,
    };
    won(planted::is(Fault::SendWithoutAttempt) || tables.insert_attempt(&intent.tenant, &attempt).await?)?;
    let change = submitted_line(&operation, &format!("attempt {}", attempt.id), intent.state.name());
    journal::append(tables, &intent.tenant, intent.id, now, &[change]).await?;
    Ok(Submitted::Claimed(Box::new(claimed(checkout, intent, operation, attempt, now))))
}

/// The frozen request, in the claiming transaction; and a lease, unless dispatch has to wait: then a worker sends it. The new fence
/// overrules whoever looked at the intent before it was submitted.
async fn hold(
    tables: &mut dyn Tables,
    command: &SubmitCommand,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
    now: Timestamp,
) -> Result<OperationRecord, Abort> {
    let mut operation =
        promised(tables.pay_operation(&intent.tenant, intent.id).await?, "an intent's operation")?;
    let (fence, until) = (operation.fence, now.plus_ms(command.lease_ms));
    operation.stage = Stage::of(intent.state.name());
    operation.frozen = Some(Arc::new(command.frozen.clone()));
    operation.first_sent_at = Some(now);
    operation.execute_until = Some(now.plus_ms(command.execute_ms).min(checkout.expires_at));
    if planted::is(Fault::SubmitAfterExpiry) {
        operation.execute_until = Some(now.plus_ms(command.execute_ms));
    }
    operation.fence = fence + 1;
    operation.lease = None;
    operation.wake_at = Some(now);
    if dispatch(tables, checkout, intent, &operation, &[], now).await? == Dispatch::Allowed {
        operation.lease = Some(Lease { holder: command.holder, until });
        operation.tries = 1;
        operation.unfinished = 1;
        operation.wake_at = Some(until);
    }
    won(tables.update_operation(&operation, fence).await?)?;
    Ok(operation)
}

fn submitted_line(operation: &OperationRecord, how: &str, to: StateName) -> Change {
    Change {
        from: StateName::Created.as_str(),
        event: "submitted".to_owned(),
        to: to.as_str(),
        evidence: format!(
            "{}: operation {}, {how}, fence {}",
            operation.intent, operation.id, operation.fence
        ),
    }
}

fn claimed(
    checkout: CheckoutRecord,
    intent: IntentRecord,
    operation: OperationRecord,
    attempt: AttemptRecord,
    now: Timestamp,
) -> Claimed {
    Claimed { checkout, intent, operation, attempt: Some(attempt), step: Step::Send, unanswered: false, now }
}
