//! Opens a capture, a cancel or a refund: a worker does it. What is refunded never exceeds what was taken, since it is reserved
//! here (R23).

use std::sync::Arc;

use payment::{OperationKind, OperationState, State, Timestamp};
use planted::Fault;

use super::{journal, promised, won};
use crate::{
    Change, Fate, FollowUp, IntentRecord, OpenFollowUp, OpenedFollowUp, OperationRecord, Stage, StoreError,
    Tables, Task, tables::Abort,
};

/// The flow.
pub async fn open(tables: &mut dyn Tables, command: &OpenFollowUp) -> Result<OpenedFollowUp, Abort> {
    let intent = promised(tables.intent(&command.tenant, command.intent).await?, "an intent")?;
    promised(tables.lock_checkout(&command.tenant, intent.checkout).await?, "an intent's checkout")?;
    let intent = promised(tables.intent(&command.tenant, command.intent).await?, "an intent")?;
    let earlier = tables.follow_ups(&command.tenant, command.intent).await?;
    if let Some(written) = earlier.iter().find(|row| row.id == command.operation) {
        // This very command, whose commit's answer was lost.
        return Ok(OpenedFollowUp::Fresh(Box::new(written.clone())));
    }
    if let Some(made) = &command.made
        && let Some(known) = tables.linked_operation(&command.tenant, &command.frozen.account, made).await?
    {
        return Ok(OpenedFollowUp::Known(Box::new(known)));
    }
    if let Some(rival) = earlier.into_iter().find(|row| excludes(row, command)) {
        return Ok(OpenedFollowUp::Unfinished(Box::new(rival)));
    }
    let refused = match command.kind {
        OperationKind::Refund => reserve(tables, command).await?,
        OperationKind::Capture | OperationKind::Cancel => {
            let waits = match &intent.state {
                // A part of what is held is not captured: the intent asks for one sum.
                State::Authorized { object } => {
                    let whole =
                        command.kind == OperationKind::Cancel || command.amount == Some(intent.amount);
                    whole && *object == command.target
                }
                // Only some providers let go of what waits for the shopper: the caller knows.
                State::RequiresAction { object, .. } => {
                    command.kind == OperationKind::Cancel && *object == command.target
                }
                State::Created
                | State::Processing { .. }
                | State::Confirming { .. }
                | State::NeedsReview { .. }
                | State::Succeeded { .. }
                | State::Declined { .. }
                | State::Canceled { .. }
                | State::Expired { .. } => false,
            };
            (!waits).then_some(OpenedFollowUp::NotNow)
        }
        OperationKind::Pay => {
            return Err(StoreError::Unreadable("a pay operation is born with its intent".to_owned()).into());
        }
    };
    match refused {
        Some(refused) => Ok(refused),
        None => insert(tables, command, &intent).await,
    }
}

/// One unfinished refund of a payment, one unfinished capture or cancel of an intent.
fn excludes(row: &OperationRecord, command: &OpenFollowUp) -> bool {
    let Task::FollowUp(other) = &row.task else { return false };
    let refunds = (other.kind == OperationKind::Refund, command.kind == OperationKind::Refund);
    row.stage != Stage::Done
        && match refunds {
            (true, true) => other.target == command.target && !planted::is(Fault::SecondRefund),
            (false, false) => true,
            (true, false) | (false, true) => false,
        }
}

/// Takes the sum out of what can still be refunded, and counts what was refunded already; says no where there is not enough left.
async fn reserve(tables: &mut dyn Tables, command: &OpenFollowUp) -> Result<Option<OpenedFollowUp>, Abort> {
    let charge = tables.charge(&command.tenant, &command.frozen.account, &command.target).await?;
    let (Some(charge), Some(amount)) = (charge, command.amount) else {
        return Ok(Some(OpenedFollowUp::NotNow));
    };
    // What went back is not given back, nor what pays by now because it was taken twice before.
    let ended = charge.fate == Some(Fate::Returned) || (command.of_open_extra && charge.fate.is_some());
    let left_minor = if ended { 0 } else { charge.left_minor() };
    let too_much = amount.minor() > left_minor && !planted::is(Fault::RefundSumNotCompared);
    if amount.currency() != charge.amount.currency() || too_much {
        return Ok(Some(OpenedFollowUp::Exceeds { left_minor }));
    }
    let mut taken = charge.clone();
    match command.made {
        None => taken.reserved_minor += amount.minor(),
        Some(_) => taken.refunded_minor += amount.minor(),
    }
    won(tables.update_charge_sums(&taken, &charge).await?)?;
    Ok(None)
}

async fn insert(
    tables: &mut dyn Tables,
    command: &OpenFollowUp,
    intent: &IntentRecord,
) -> Result<OpenedFollowUp, Abort> {
    let now = tables.now().await?;
    let operation = opened(command, now);
    won(tables.insert_operation(&operation).await?)?;
    if operation.object.is_some() {
        // A new row has no object yet; the index over objects arbitrates here.
        won(tables.update_operation(&operation, operation.fence).await?)?;
    }
    let (name, kind) = (intent.state.name().as_str(), command.kind.as_str());
    let told = format!("operation {} on object {}: {}", operation.id, command.target, command.reason);
    let (event, evidence) = match &command.made {
        None => (format!("{kind}.opened"), told),
        Some(made) => (format!("{kind}.found"), format!("{kind} {made}, made by somebody else; {told}")),
    };
    let change = Change { from: name, event, to: name, evidence };
    journal::append(tables, &command.tenant, intent.id, now, &[change]).await?;
    Ok(OpenedFollowUp::Fresh(Box::new(operation)))
}

fn opened(command: &OpenFollowUp, now: Timestamp) -> OperationRecord {
    let follow_up = FollowUp {
        kind: command.kind,
        target: command.target.clone(),
        amount: command.amount,
        state: match command.made {
            None => OperationState::Processing { last: None },
            Some(_) => OperationState::Succeeded { at: now },
        },
    };
    let is_open = command.made.is_none();
    OperationRecord {
        tenant: command.tenant.clone(),
        id: command.operation,
        intent: command.intent,
        stage: Stage::of_follow_up(&follow_up.state),
        task: Task::FollowUp(follow_up),
        provider_key: command.provider_key,
        frozen: Some(Arc::new(command.frozen.clone())),
        first_sent_at: Some(now),
        execute_until: is_open.then(|| now.plus_ms(command.execute_ms)),
        object: command.made.clone(),
        lease: None,
        fence: 0,
        tries: 0,
        unfinished: 0,
        wake_at: is_open.then_some(now),
        not_before: None,
        looked_at: None,
        absent_since: None,
    }
}
