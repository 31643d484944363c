//! Claims what is due: a fresh fence for each, so that a stale holder is harmless (R14).

use payment::{AttemptId, OperationId, Step, Timestamp, next_step};

use super::{promised, won};
use crate::{AttemptRecord, ClaimDue, Claimed, Lease, StoreError, Tables, Tenant, tables::Abort};

/// Rows beyond those asked for that are looked at, so that some that cannot be read do not hold up the others.
const SPARE: u32 = 64;

/// The flow: up to one operation for each request id brought along.
pub async fn run(tables: &mut dyn Tables, claim: &ClaimDue) -> Result<Vec<Claimed>, Abort> {
    let now = tables.now().await?;
    let mut attempts = claim.attempts.iter();
    let Some(mut attempt) = attempts.next() else { return Ok(Vec::new()) };
    let limit = u32::try_from(claim.attempts.len()).unwrap_or(u32::MAX).saturating_add(SPARE);
    let mut claims = Vec::new();
    for (tenant, operation) in tables.due_operations(now, limit).await? {
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

async fn one(
    tables: &mut dyn Tables,
    claim: &ClaimDue,
    tenant: &Tenant,
    id: OperationId,
    attempt_id: AttemptId,
    now: Timestamp,
) -> Result<Option<Claimed>, Abort> {
    let operation = promised(tables.operation(tenant, id).await?, "a due operation")?;
    let intent = promised(tables.intent(tenant, operation.intent).await?, "an operation's intent")?;
    // Locks the checkout before the operation is written, as every flow does; then looks again.
    let checkout = promised(tables.lock_checkout(tenant, intent.checkout).await?, "an intent's checkout")?;
    let mut operation = promised(tables.operation(tenant, id).await?, "a due operation")?;
    let intent = promised(tables.intent(tenant, operation.intent).await?, "an operation's intent")?;
    if operation.wake_at.is_none_or(|at| at > now) {
        return Ok(None);
    }
    let attempts = tables.attempts(tenant, id).await?;
    let unanswered = attempts.iter().any(|attempt| attempt.outcome.is_none());
    let may_send = operation.execute_until.is_some_and(|until| now < until);
    let step = next_step(&intent.state, may_send, unanswered);

    let (fence, until) = (operation.fence, now.plus_ms(claim.lease_ms));
    operation.lease = Some(Lease { holder: claim.holder, until });
    operation.fence = fence + 1;
    operation.tries += 1;
    operation.wake_at = Some(until);
    won(tables.update_operation(&operation, fence).await?)?;
    let attempt = match step {
        Step::Send => {
            let attempt = AttemptRecord {
                id: attempt_id,
                operation: id,
                number: attempts.last().map_or(1, |last| last.number + 1),
                fence: operation.fence,
                started_at: now,
                outcome: None,
            };
            won(tables.insert_attempt(tenant, &attempt).await?)?;
            Some(attempt)
        }
        Step::Query(_) | Step::Find | Step::EndUnsent | Step::Nothing => None,
    };
    Ok(Some(Claimed { checkout, intent, operation, attempt, step, unanswered, now }))
}
