//! Claims what is due: a fresh fence for each, so that a stale holder is harmless (R14).

use payment::{AttemptId, OperationId, Step, Timestamp, next_step};

use super::{promised, won};
use crate::{AttemptRecord, ClaimDue, Claimed, Lease, Tables, Tenant, tables::Abort};

/// The flow: up to one operation for each request id brought along.
pub async fn run(tables: &mut dyn Tables, claim: &ClaimDue) -> Result<Vec<Claimed>, Abort> {
    let now = tables.now().await?;
    let limit = u32::try_from(claim.attempts.len()).unwrap_or(u32::MAX);
    let due = tables.due_operations(now, limit).await?;
    let mut claims = Vec::with_capacity(due.len());
    for ((tenant, operation), attempt) in due.into_iter().zip(&claim.attempts) {
        claims.extend(one(tables, claim, &tenant, operation, *attempt, now).await?);
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
