//! Claims what is due: a fresh fence for each, so that a stale holder is harmless (R14).

use payment::{
    AttemptId, CheckoutStatus, Dispatch, Event, Holder, OperationEvent, OperationId, ProviderAccount, State,
    StateName, Step, Timestamp, next_operation_step, next_step, transition,
};
use planted::Fault;

use super::{journal, promised, won};
use crate::{
    AttemptRecord, Change, CheckoutRecord, ClaimDue, ClaimLook, Claimed, IntentRecord, Lease, LookOf,
    Looking, OperationRecord, Stage, StoreError, SweepRow, Tables, Task, Tenant, Tenure, tables::Abort,
};

/// Rows beyond those asked for that are looked at, so that some that cannot be read do not hold up the others.
const SPARE: u32 = 64;
/// How often the gate is asked for what it holds, ms.
const HELD_LOOK_MS: i64 = 1_000;
/// The same where nothing can be sent any more.
const LATE_LOOK_MS: i64 = 120_000;
/// How often what always ended without a result is looked at, ms.
const STUCK_LOOK_MS: i64 = 3_600_000;

/// The flow: up to one operation for each request id brought along.
pub async fn run(tables: &mut dyn Tables, claim: &ClaimDue) -> Result<Vec<Claimed>, Abort> {
    let now = tables.now().await?;
    let mut attempts = claim.attempts.iter();
    let Some(mut attempt) = attempts.next() else { return Ok(Vec::new()) };
    let limit = u32::try_from(claim.attempts.len()).unwrap_or(u32::MAX).saturating_add(SPARE);
    let mut claims = Vec::new();
    for (tenant, operation) in tables.due_operations(now, &claim.busy, limit).await? {
        match one(tables, claim, &tenant, operation, *attempt, now).await {
            Ok(None) => continue,
            Ok(Some(claimed)) => claims.push(claimed),
            // It was read before anything was written, and is left alone: a newer version wrote it, or a person has to look.
            Err(Abort::Failed(error @ StoreError::Unreadable(_))) => {
                tracing::error!(%error, %operation, "a due operation cannot be read and is left alone");
                continue;
            }
            Err(aborted) => return Err(aborted),
        }
        match attempts.next() {
            Some(next) => attempt = next,
            None => break,
        }
    }
    Ok(claims)
}

/// The flow for one who learned something: of an operation in any stage, unless somebody works on it.
pub async fn look(tables: &mut dyn Tables, claim: &ClaimLook) -> Result<Looking, Abort> {
    let found = match claim.of {
        LookOf::Intent(intent) => tables.pay_operation(&claim.tenant, intent).await?,
        LookOf::Operation(operation) => tables.operation(&claim.tenant, operation).await?,
    };
    let Some(found) = found else { return Ok(Looking::NotFound) };
    let (checkout, intent, mut operation) = locked(tables, &claim.tenant, found.id).await?;
    let now = tables.now().await?;
    if operation.lease.is_some_and(|lease| now < lease.until) && !planted::is(Fault::LeaseIgnored) {
        return Ok(Looking::Held);
    }
    let unanswered = is_unanswered(&tables.attempts(&claim.tenant, operation.id).await?);
    let (fence, until) = (operation.fence, now.plus_ms(claim.lease_ms));
    operation.lease = Some(Lease { holder: claim.holder, until });
    operation.fence = fence + 1;
    // Were the looker to die, what is open would be looked at again at the latest when it is due.
    won(tables.update_operation(&operation, fence).await?)?;
    let step = Step::Nothing;
    Ok(Looking::Claimed(Box::new(Claimed {
        checkout,
        intent,
        operation,
        attempt: None,
        step,
        unanswered,
        now,
    })))
}

/// A holder ends, and lets go of what it works on: whatever it still learns is stale (R14), and the next one goes on at once (fault 35).
pub async fn hand_over(tables: &mut dyn Tables, (holder, lease_ms): &(Holder, i64)) -> Result<(), Abort> {
    let now = tables.now().await?;
    tables.release(*holder, now, now.plus_ms(*lease_ms)).await
}

/// An operation with its intent and its checkout, the checkout's row locked first, as every flow does.
async fn locked(
    tables: &mut dyn Tables,
    tenant: &Tenant,
    id: OperationId,
) -> Result<(CheckoutRecord, IntentRecord, OperationRecord), Abort> {
    let operation = promised(tables.operation(tenant, id).await?, "an operation")?;
    let intent = promised(tables.intent(tenant, operation.intent).await?, "an operation's intent")?;
    let checkout = promised(tables.lock_checkout(tenant, intent.checkout).await?, "an intent's checkout")?;
    let operation = promised(tables.operation(tenant, id).await?, "an operation")?;
    let intent = promised(tables.intent(tenant, operation.intent).await?, "an operation's intent")?;
    Ok((checkout, intent, operation))
}

fn is_unanswered(attempts: &[AttemptRecord]) -> bool {
    attempts.iter().any(|attempt| attempt.outcome.is_none()) && !planted::is(Fault::SilentHolderSentNothing)
}

/// Whether a payment stands before a person of which this database knows no send.
fn is_unsent_in_review(intent: &IntentRecord, attempts: &[AttemptRecord]) -> bool {
    matches!(intent.state, State::NeedsReview { object: None, .. }) && attempts.is_empty()
}

async fn one(
    tables: &mut dyn Tables,
    claim: &ClaimDue,
    tenant: &Tenant,
    id: OperationId,
    attempt_id: AttemptId,
    now: Timestamp,
) -> Result<Option<Claimed>, Abort> {
    let (checkout, intent, operation) = locked(tables, tenant, id).await?;
    let held = operation.lease.is_some_and(|lease| now < lease.until) && !planted::is(Fault::LeaseIgnored);
    if held || operation.wake_at.is_none_or(|at| at > now) {
        return Ok(None);
    }
    let stuck = operation.unfinished >= claim.most_unfinished;
    if stuck && operation.stage == Stage::Open {
        let evidence = format!("{} claims of {id} in a row came to no result", operation.unfinished);
        return put_before_a_person(tables, intent, operation, now, evidence).await.map(|()| None);
    }
    let attempts = tables.attempts(tenant, id).await?;
    let unanswered = is_unanswered(&attempts);
    let dispatch = dispatch(tables, &checkout, &intent, &operation, &attempts, now).await?;
    let step = step(&intent, &operation, dispatch, unanswered);
    // What a copy calls unsent may have been sent, and to another account: until all are read, no listing of its own proves anything.
    let in_the_dark = dispatch == Dispatch::Held && is_unsent_in_review(&intent, &attempts);
    if step == Step::Nothing || in_the_dark {
        return wait(tables, claim, intent, operation, now).await.map(|()| None);
    }
    let operation = hold(tables, operation, claim, stuck, now).await?;
    let attempt = match step {
        Step::Send => {
            let number = attempts.last().map_or(1, |last| last.number + 1);
            Some(insert_attempt(tables, &operation, attempt_id, number, now).await?)
        }
        Step::Query(_) | Step::Find | Step::EndUnsent | Step::Nothing => None,
    };
    Ok(Some(Claimed { checkout, intent, operation, attempt, step, unanswered, now }))
}

fn step(intent: &IntentRecord, operation: &OperationRecord, dispatch: Dispatch, unanswered: bool) -> Step {
    match &operation.task {
        Task::Pay => next_step(&intent.state, dispatch, unanswered),
        Task::FollowUp(follow_up) => {
            let objects = (&follow_up.target, operation.object.as_ref());
            next_operation_step(follow_up.kind, &follow_up.state, objects, dispatch, unanswered)
        }
    }
}

/// Whether a request may leave. What was paid is not sent again, not even under its key; what the gate or a stranger's money
/// holds waits. The gate comes first: until the sweep, a database that may be an old copy does not even know what was not sent.
pub(super) async fn dispatch(
    tables: &mut dyn Tables,
    checkout: &CheckoutRecord,
    intent: &IntentRecord,
    operation: &OperationRecord,
    attempts: &[AttemptRecord],
    now: Timestamp,
) -> Result<Dispatch, Abort> {
    let pays = operation.task == Task::Pay;
    // Nothing of it has taken money: every send of it, if there was any, was proved not to be executed.
    let unsent = intent.state.name() == StateName::Processing && !is_unanswered(attempts);
    let first_pays = pays && (unsent || is_unsent_in_review(intent, attempts));
    let sweeps = tables.sweeps(&checkout.tenant).await?;
    let account = operation.frozen.as_ref().map(|frozen| &frozen.account);
    let mut gated = account.is_some_and(|account| is_gated(&sweeps, account, first_pays));
    if first_pays && !account.is_some_and(|account| sweeps.iter().any(|row| row.account == *account)) {
        // The next start meets it, and puts its gate down. Before the very first one there is none.
        gated |= tables.heartbeat().await?.is_some();
    }
    if gated && !planted::is(Fault::GateIgnored) {
        return Ok(Dispatch::Held);
    }
    let late = operation.execute_until.is_none_or(|until| now >= until)
        && !planted::is(Fault::SendAfterExecuteUntil);
    let paid = checkout.status == CheckoutStatus::Paid && !planted::is(Fault::PaidSendsAgain);
    if late || (pays && paid) {
        return Ok(Dispatch::Over);
    }
    let blocked = pays && tables.is_blocked(&checkout.tenant, &checkout.order).await?;
    let blocked = blocked && !planted::is(Fault::StrangerIgnored);
    Ok(if blocked { Dispatch::Held } else { Dispatch::Allowed })
}

/// Whether a gate holds what goes to this account. Each holds its own. A payment of which nothing was executed, and that goes where the
/// merchant's money did not go before, may have been made in any other that is not read yet.
fn is_gated(sweeps: &[SweepRow], account: &ProviderAccount, first_pays: bool) -> bool {
    let row = sweeps.iter().find(|row| row.account == *account);
    let waits = first_pays
        && row.is_none_or(|row| row.tenure != Tenure::Own)
        && !planted::is(Fault::GateBesideIgnored);
    sweeps.iter().any(|row| row.gated_from.is_some() && (waits || row.account == *account))
}

/// Lease and fence. What was stuck before is not tried again as soon as its lease ends.
async fn hold(
    tables: &mut dyn Tables,
    mut operation: OperationRecord,
    claim: &ClaimDue,
    stuck: bool,
    now: Timestamp,
) -> Result<OperationRecord, Abort> {
    let (fence, until) = (operation.fence, now.plus_ms(claim.lease_ms));
    if planted::is(Fault::FreshStartAtLeaseEnd)
        && let (Some(_), Some(first), Some(last)) =
            (operation.lease, operation.first_sent_at, operation.execute_until)
    {
        (operation.first_sent_at, operation.execute_until) =
            (Some(now), Some(now.plus_ms(last.since_ms(first))));
    }
    operation.lease = Some(Lease { holder: claim.holder, until });
    operation.fence = fence + 1;
    operation.tries += 1;
    operation.unfinished += 1;
    operation.wake_at = Some(if stuck { until.max(now.plus_ms(STUCK_LOOK_MS)) } else { until });
    if planted::is(Fault::LeaseIgnored) {
        operation.wake_at = Some(now);
    }
    won(tables.update_operation(&operation, fence).await?)?;
    Ok(operation)
}

async fn insert_attempt(
    tables: &mut dyn Tables,
    operation: &OperationRecord,
    id: AttemptId,
    number: i64,
    now: Timestamp,
) -> Result<AttemptRecord, Abort> {
    let attempt = AttemptRecord {
        id,
        operation: operation.id,
        number,
        fence: operation.fence,
        started_at: now,
        outcome: None,
    };
    won(planted::is(Fault::SendWithoutAttempt) || tables.insert_attempt(&operation.tenant, &attempt).await?)?;
    Ok(attempt)
}

/// Held: nothing is done, and the gate is asked again a little later. One that stays down for too long is a person's.
async fn wait(
    tables: &mut dyn Tables,
    claim: &ClaimDue,
    intent: IntentRecord,
    mut operation: OperationRecord,
    now: Timestamp,
) -> Result<(), Abort> {
    let late_ms = operation.execute_until.map_or(0, |until| now.since_ms(until));
    if late_ms >= claim.review_after_ms && operation.stage == Stage::Open {
        let evidence = "the gate of its account stays down: it was not sent, as far as this database knows";
        return put_before_a_person(tables, intent, operation, now, evidence.to_owned()).await;
    }
    let fence = operation.fence;
    if operation.lease.take().is_some() {
        // Whoever held it decided before the gate went down (R14).
        operation.fence += 1;
    }
    operation.wake_at = Some(now.plus_ms(if late_ms < 0 { HELD_LOOK_MS } else { LATE_LOOK_MS }));
    won(tables.update_operation(&operation, fence).await?)
}

/// What came to no commit again and again stops being tried, so that the others flow (fault 33).
async fn put_before_a_person(
    tables: &mut dyn Tables,
    mut intent: IntentRecord,
    mut operation: OperationRecord,
    now: Timestamp,
    evidence: String,
) -> Result<(), Abort> {
    let (fence, version, tenant) = (operation.fence, intent.version, intent.tenant.clone());
    let (from, event, to) = match &mut operation.task {
        Task::Pay => {
            let from = intent.state.name().as_str();
            let Ok(decision) = transition(&intent.state, Event::Stuck, now) else { return Err(Abort::Raced) };
            intent.state = decision.next;
            won(tables.update_intent(&intent, version).await?)?;
            (from, Event::Stuck.name().to_owned(), intent.state.name().as_str())
        }
        Task::FollowUp(follow_up) => {
            let from = follow_up.state.name();
            follow_up.state = follow_up.state.after(OperationEvent::Stuck, now);
            let event = format!("{}.{}", follow_up.kind.as_str(), OperationEvent::Stuck.name());
            (from, event, follow_up.state.name())
        }
    };
    tracing::error!(intent = %intent.id, %evidence, "this operation stands before a person now");
    operation.stage = Stage::Review;
    operation.lease = None;
    operation.fence = fence + 1;
    operation.wake_at = Some(now.plus_ms(STUCK_LOOK_MS));
    won(tables.update_operation(&operation, fence).await?)?;
    journal::append(tables, &tenant, intent.id, now, &[Change { from, event, to, evidence }]).await
}
