//! Writes what came of a claim, fenced: state, journal, charges, wake-up and replay in one transaction.

use std::sync::Arc;

use payment::{CheckoutStatus, KeyKind, Money, OperationKind, OperationState, Timestamp};
use planted::Fault;

use super::{journal, outbox, promised, won};
use crate::{
    Asked, Change, ChargeRecord, CheckoutRecord, Commit, Committed, FollowUp, IntentRecord, OperationRecord,
    Stage, StoreError, Tables, Task, tables::Abort,
};

/// The journal's event for what should not be.
const ANOMALY: &str = "anomaly";
/// Its evidence where a paid checkout was charged again.
const EXTRA_CHARGE: &str = "extra_charge";
/// Its evidence where the charge that paid the checkout took another sum than the checkout's.
const OTHER_SUM: &str = "other_sum";

/// The flow. A holder whose fence is not the newest writes nothing (R14).
pub async fn run(tables: &mut dyn Tables, commit: &Commit) -> Result<Committed, Abort> {
    let tenant = &commit.tenant;
    let checkout = promised(tables.lock_checkout(tenant, commit.checkout).await?, "a claim's checkout")?;
    let operation = promised(tables.operation(tenant, commit.operation).await?, "a claim's operation")?;
    let intent = promised(tables.intent(tenant, commit.intent).await?, "a claim's intent")?;
    if operation.fence == commit.fence && operation.lease.is_none() && is_written(commit, &operation, &intent)
    {
        // Only this fence's holder writes this: the commit is already there, its answer was lost. Had the holder come to two
        // conclusions, the second is stale: nobody may be told what is not written.
        return already(tables, commit, &checkout, &operation).await;
    }
    let overtaken =
        commit.touches_intent && intent.version != commit.version && !planted::is(Fault::VersionNotCompared);
    let overruled = operation.fence != commit.fence && !planted::is(Fault::FenceNotCompared);
    if overruled || overtaken || operation.lease.is_none() {
        return Ok(Committed::Stale { fence: operation.fence, version: intent.version });
    }
    let now = tables.now().await?;
    if let (Task::FollowUp(before), Some(after)) = (&operation.task, &commit.follow_up) {
        settle_sums(tables, &operation, before, after).await?;
    }
    let progressed = is_progress(commit, &operation, &intent);
    release(tables, commit, operation, progressed, now).await?;
    let (before, submit_key) = (intent.state.name(), intent.submit_key);
    if commit.touches_intent {
        settle_intent(tables, commit, intent.clone(), now).await?;
    }
    if let Some((attempt, outcome)) = &commit.ended
        && !planted::is(Fault::SendWithoutAttempt)
    {
        won(tables.update_attempt_outcome(tenant, *attempt, outcome).await?)?;
    }
    let (taken, extra) = charge(tables, commit, &checkout, now).await?;
    let (paid, other_sum) = (taken.is_some(), taken.is_some_and(|taken| taken != checkout.amount));
    let mut changes = commit.changes.clone();
    let after = if commit.touches_intent { commit.state.name() } else { before };
    let state = after.as_str();
    changes.extend(commit.anomalies.iter().map(|anomaly| anomaly_line(anomaly.as_str(), state)));
    for (is_so, what) in [(other_sum, OTHER_SUM), (extra, EXTRA_CHARGE)] {
        changes.extend(is_so.then(|| anomaly_line(what, state)));
    }
    if !planted::is(Fault::JournalLineMissing) {
        journal::append(tables, tenant, commit.intent, now, &changes).await?;
    }
    if let Some(answer) = &commit.answer {
        let key = submit_key.to_string();
        tables.update_key_answer(tenant, KeyKind::Submit, &key, answer).await?;
    }
    let change = outbox::Change { checkout: &checkout, intent: &intent, steps: &commit.changes, after, paid };
    outbox::emit(tables, &change, now).await?;
    Ok(Committed::Done { paid, extra, other_sum })
}

fn is_written(commit: &Commit, operation: &OperationRecord, intent: &IntentRecord) -> bool {
    let intent_is =
        !commit.touches_intent || (intent.version == commit.version + 1 && intent.state == commit.state);
    let operation_is = match (&operation.task, &commit.follow_up) {
        (Task::FollowUp(follow_up), Some(state)) => follow_up.state == *state,
        (Task::Pay, None) => true,
        (Task::Pay, Some(_)) | (Task::FollowUp(_), None) => false,
    };
    intent_is && operation_is
}

fn is_progress(commit: &Commit, operation: &OperationRecord, intent: &IntentRecord) -> bool {
    match (&operation.task, &commit.follow_up) {
        (Task::FollowUp(follow_up), Some(state)) => follow_up.state.name() != state.name(),
        (Task::Pay, _) | (Task::FollowUp(_), None) => intent.state.name() != commit.state.name(),
    }
}

fn anomaly_line(what: &str, state: &'static str) -> Change {
    Change { from: state, event: ANOMALY.to_owned(), to: state, evidence: what.to_owned() }
}

/// What this very commit answered the first time.
async fn already(
    tables: &mut dyn Tables,
    commit: &Commit,
    checkout: &CheckoutRecord,
    operation: &OperationRecord,
) -> Result<Committed, Abort> {
    let (mut paid, mut extra, mut other_sum) = (false, false, false);
    for charge in &commit.charges {
        let row = tables.charge(&commit.tenant, &charge.account, &charge.object).await?;
        // What was recorded before this commit was no news then either.
        if let Some(row) = row.filter(|row| operation.looked_at == Some(row.at)) {
            (paid, extra) = (paid || !row.extra, extra || row.extra);
            other_sum |= !row.extra && row.amount != checkout.amount;
        }
    }
    Ok(Committed::Done { paid, extra, other_sum })
}

async fn release(
    tables: &mut dyn Tables,
    commit: &Commit,
    mut operation: OperationRecord,
    progressed: bool,
    now: Timestamp,
) -> Result<(), Abort> {
    operation.stage = match (&mut operation.task, &commit.follow_up) {
        (Task::FollowUp(follow_up), Some(state)) => {
            follow_up.state = state.clone();
            Stage::of_follow_up(state)
        }
        (Task::Pay, None) => Stage::of(commit.state.name()),
        (Task::Pay, Some(_)) | (Task::FollowUp(_), None) => {
            let what = "a commit speaks of another kind of operation";
            return Err(StoreError::Unreadable(what.to_owned()).into());
        }
    };
    operation.lease = None;
    if !commit.out_of_turn {
        operation.unfinished = 0;
    }
    operation.looked_at = match commit.asked {
        // A charge is told from an earlier one by the moment of its commit.
        Asked::At(at) if commit.charges.is_empty() => operation.looked_at.max(Some(at)),
        Asked::Now | Asked::At(_) => Some(now),
        Asked::Not => operation.looked_at,
    };
    operation.absent_since = commit.absent_since;
    if progressed {
        operation.tries = 0;
    }
    operation.object = commit.object.clone().or(operation.object);
    if let (None, Some(adopted)) = (&operation.frozen, &commit.adopted) {
        operation.frozen = Some(Arc::new(adopted.clone()));
        // Asked about from now on, and never sent.
        operation.execute_until = Some(now);
    }
    operation.not_before = commit.not_before_ms.map(|ms| now.plus_ms(ms)).or(operation.not_before);
    let planned = operation.wake_at.filter(|_| commit.out_of_turn);
    operation.wake_at = match operation.stage {
        Stage::Open | Stage::Review if planted::is(Fault::WakeUpForgotten) => Some(now.plus_ms(1 << 38)),
        Stage::Open | Stage::Review => planned.or(commit.wake_in_ms.map(|ms| now.plus_ms(ms))),
        Stage::Created | Stage::Done => None,
    };
    if operation.stage == Stage::Open && operation.wake_at.is_none() {
        return Err(
            StoreError::Unreadable("a commit leaves an open operation without a wake-up".to_owned()).into()
        );
    }
    won(tables.update_operation(&operation, commit.fence).await?)
}

async fn settle_intent(
    tables: &mut dyn Tables,
    commit: &Commit,
    mut intent: IntentRecord,
    now: Timestamp,
) -> Result<(), Abort> {
    intent.state = commit.state.clone();
    // A provider that does not repeat the card takes back nothing it told before.
    let told = commit.paid_with.clone().filter(|paid_with| paid_with.last4.is_some());
    intent.paid_with = told.or(intent.paid_with);
    won(tables.update_intent(&intent, commit.version).await?)?;
    if commit.follow_up.is_none() {
        return Ok(());
    }
    // Learned by a capture or a cancel: the pay operation waits for what its intent waits for now.
    let pay = tables.pay_operation(&intent.tenant, intent.id).await?;
    let mut pay = promised(pay, "an intent's operation")?;
    pay.stage = Stage::of(intent.state.name());
    pay.wake_at = match pay.stage {
        Stage::Created | Stage::Done => None,
        Stage::Open => pay.wake_at.or(Some(now)),
        Stage::Review => pay.wake_at,
    };
    let fence = pay.fence;
    won(tables.update_operation(&pay, fence).await?)
}

/// A refund that ends gives back what it reserved; one that is done is counted.
async fn settle_sums(
    tables: &mut dyn Tables,
    operation: &OperationRecord,
    before: &FollowUp,
    after: &OperationState,
) -> Result<(), Abort> {
    let ends = !before.state.is_terminal() && after.is_terminal();
    let ends = ends
        || (planted::is(Fault::ReservationReleased)
            && matches!(before.state, OperationState::Processing { .. })
            && matches!(after, OperationState::Confirming { .. }));
    let (OperationKind::Refund, true, Some(amount), Some(frozen)) =
        (before.kind, ends, before.amount, &operation.frozen)
    else {
        return Ok(());
    };
    let charge = tables.charge(&operation.tenant, &frozen.account, &before.target).await?;
    let charge = promised(charge, "a refund's charge")?;
    let mut settled = charge.clone();
    if !planted::is(Fault::ReservationKept) {
        settled.reserved_minor -= amount.minor();
    }
    if matches!(after, OperationState::Succeeded { .. }) && !planted::is(Fault::RefundNotCounted) {
        settled.refunded_minor += amount.minor();
    }
    won(tables.update_charge_sums(&settled, &charge).await?)
}

/// Records the objects that took money. The first makes the checkout paid, whatever its status was, and its sum is told; others are
/// extras.
async fn charge(
    tables: &mut dyn Tables,
    commit: &Commit,
    checkout: &CheckoutRecord,
    now: Timestamp,
) -> Result<(Option<Money>, bool), Abort> {
    let (mut taken, mut extras) = (None, false);
    for charge in &commit.charges {
        let paid = taken.is_some() || checkout.status == CheckoutStatus::Paid;
        let extra = paid && !planted::is(Fault::EveryChargePays);
        let row = ChargeRecord {
            tenant: commit.tenant.clone(),
            account: charge.account.clone(),
            object: charge.object.clone(),
            checkout: commit.checkout,
            intent: commit.intent,
            amount: charge.amount,
            extra,
            reserved_minor: 0,
            refunded_minor: 0,
            fate: None,
            at: now,
        };
        if tables.charge(&row.tenant, &row.account, &row.object).await?.is_some() {
            continue;
        }
        won(tables.insert_charge(&row).await?)?;
        (taken, extras) = (taken.or((!extra).then_some(row.amount)), extras || extra);
    }
    if taken.is_some() && !planted::is(Fault::PaidNotWritten) {
        let status = CheckoutStatus::Paid;
        won(tables.update_checkout_status(&commit.tenant, commit.checkout, checkout.status, status).await?)?;
    }
    Ok((taken, extras))
}
