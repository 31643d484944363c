//! What a shopper who waits may ask for: to look now, and to be told.

use payment::IntentId;

use super::won;
use crate::{Stage, Tables, Tenant, tables::Abort};

/// Closest two looks at a shopper's wish, ms.
const LOOK_GAP_MS: i64 = 1_000;

/// Wakes an intent's pay operation, unless somebody is at it or was a moment ago; many wishes are one.
pub async fn look_now(tables: &mut dyn Tables, (tenant, intent): &(Tenant, IntentId)) -> Result<bool, Abort> {
    let Some(mut operation) = tables.pay_operation(tenant, *intent).await? else { return Ok(false) };
    let now = tables.now().await?;
    let held = operation.lease.is_some_and(|lease| now < lease.until);
    let waits = matches!(operation.stage, Stage::Open | Stage::Review);
    let soon = operation.looked_at.map_or(now, |at| at.plus_ms(LOOK_GAP_MS)).max(now);
    let soon = operation.not_before.map_or(soon, |at| at.max(soon));
    if held || !waits || operation.wake_at.is_some_and(|at| at <= soon) {
        return Ok(false);
    }
    let fence = operation.fence;
    operation.wake_at = Some(soon);
    won(tables.update_operation(&operation, fence).await?)?;
    Ok(true)
}

/// Where the shopper is told: while the intent is not over.
pub async fn set_email(
    tables: &mut dyn Tables,
    (tenant, intent, email): &(Tenant, IntentId, String),
) -> Result<bool, Abort> {
    match tables.intent(tenant, *intent).await? {
        Some(found) if !found.state.is_terminal() => tables.set_intent_email(tenant, *intent, email).await,
        Some(_) | None => Ok(false),
    }
}
