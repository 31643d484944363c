//! Writes what came of a claim, fenced: state, journal, charge, wake-up and replay in one transaction.

use payment::{CheckoutStatus, KeyKind, Timestamp};

use super::{journal, promised, won};
use crate::{
    Change, CheckoutRecord, Commit, Committed, IntentRecord, OperationRecord, Stage, StoreError, Tables,
    tables::{Abort, ChargeRow},
};

/// The journal's event for what should not be.
const ANOMALY: &str = "anomaly";
/// Its evidence where a paid checkout was charged again.
const EXTRA_CHARGE: &str = "extra_charge";

/// The flow. A holder whose fence is not the newest writes nothing (R14).
pub async fn run(tables: &mut dyn Tables, commit: &Commit) -> Result<Committed, Abort> {
    let tenant = &commit.tenant;
    let checkout = promised(tables.lock_checkout(tenant, commit.checkout).await?, "a claim's checkout")?;
    let operation = promised(tables.operation(tenant, commit.operation).await?, "a claim's operation")?;
    let intent = promised(tables.intent(tenant, commit.intent).await?, "a claim's intent")?;
    let written = intent.version == commit.version + 1 && intent.state == commit.state;
    if operation.fence == commit.fence && operation.lease.is_none() && written {
        // Only this fence's holder writes this version: the commit is already there, its answer was lost. Had the holder come
        // to two conclusions, the second is stale: nobody may be told what is not written.
        return already(tables, commit, &checkout).await;
    }
    if operation.fence != commit.fence || intent.version != commit.version || operation.lease.is_none() {
        return Ok(Committed::Stale { fence: operation.fence, version: intent.version });
    }
    let now = tables.now().await?;
    let progressed = intent.state.name() != commit.state.name();
    release(tables, commit, operation, progressed, now).await?;
    let submit_key = intent.submit_key;
    settle_intent(tables, commit, intent).await?;
    if let Some((attempt, outcome)) = &commit.ended {
        won(tables.update_attempt_outcome(tenant, *attempt, outcome).await?)?;
    }
    let (paid, extra) = charge(tables, commit, &checkout, now).await?;
    let mut changes = commit.changes.clone();
    let state = commit.state.name().as_str();
    changes.extend(commit.anomalies.iter().map(|anomaly| anomaly_line(anomaly.as_str(), state)));
    if extra {
        changes.push(anomaly_line(EXTRA_CHARGE, state));
    }
    journal::append(tables, tenant, commit.intent, now, &changes).await?;
    if let Some(answer) = &commit.answer {
        let key = submit_key.to_string();
        tables.update_key_answer(tenant, KeyKind::Submit, &key, answer).await?;
    }
    Ok(Committed::Done { paid, extra })
}

fn anomaly_line(what: &str, state: &'static str) -> Change {
    Change { from: state, event: ANOMALY.to_owned(), to: state, evidence: what.to_owned() }
}

async fn already(
    tables: &mut dyn Tables,
    commit: &Commit,
    checkout: &CheckoutRecord,
) -> Result<Committed, Abort> {
    // Nothing was written since, so what this commit said about its charge is the journal's last line.
    let journal = tables.journal(&commit.tenant, commit.intent).await?;
    let last = journal.last().map(|row| (row.line.event.as_str(), row.line.evidence.as_str()));
    let extra = commit.charge.is_some() && last == Some((ANOMALY, EXTRA_CHARGE));
    let paid = commit.charge.is_some() && checkout.status == CheckoutStatus::Paid && !extra;
    Ok(Committed::Done { paid, extra })
}

async fn release(
    tables: &mut dyn Tables,
    commit: &Commit,
    mut operation: OperationRecord,
    progressed: bool,
    now: Timestamp,
) -> Result<(), Abort> {
    operation.stage = Stage::of(commit.state.name());
    operation.lease = None;
    if progressed {
        operation.tries = 0;
    }
    operation.object = commit.object.clone().or(operation.object);
    operation.wake_at = match operation.stage {
        Stage::Open | Stage::Review => commit.wake_in_ms.map(|ms| now.plus_ms(ms)),
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
) -> Result<(), Abort> {
    intent.state = commit.state.clone();
    // A provider that does not repeat the card takes back nothing it told before.
    let told = commit.paid_with.clone().filter(|paid_with| paid_with.last4.is_some());
    intent.paid_with = told.or(intent.paid_with);
    won(tables.update_intent(&intent, commit.version).await?)
}

/// Records an object that took money. The first makes the checkout paid, whatever its status was; others are extras.
async fn charge(
    tables: &mut dyn Tables,
    commit: &Commit,
    checkout: &CheckoutRecord,
    now: Timestamp,
) -> Result<(bool, bool), Abort> {
    let Some((object, amount)) = commit.charge.clone() else { return Ok((false, false)) };
    let operation =
        promised(tables.operation(&commit.tenant, commit.operation).await?, "a claim's operation")?;
    let frozen = promised(operation.frozen, "a charged operation's request")?;
    let extra = checkout.status == CheckoutStatus::Paid;
    let row = ChargeRow {
        tenant: commit.tenant.clone(),
        account: frozen.account,
        object,
        checkout: commit.checkout,
        intent: commit.intent,
        amount,
        extra,
        at: now,
    };
    if !tables.insert_charge(&row).await? {
        return Ok((false, false));
    }
    if !extra {
        let paid = CheckoutStatus::Paid;
        won(tables.update_checkout_status(&commit.tenant, commit.checkout, checkout.status, paid).await?)?;
    }
    Ok((!extra, extra))
}
