//! Reads, each on one snapshot.

use payment::{CheckoutId, Dispatch, IntentId, OperationId, OrderId};

use super::{claim::dispatch, promised};
use crate::{CheckoutRecord, IntentRecord, OperationRecord, Story, Tables, Tenant, tables::Abort};

type Found = Result<Option<(CheckoutRecord, IntentRecord)>, Abort>;

/// A checkout with its newest intent.
pub async fn checkout(tables: &mut dyn Tables, (tenant, id): &(Tenant, CheckoutId)) -> Found {
    let checkout = tables.checkout(tenant, *id).await?;
    with_newest(tables, tenant, checkout).await
}

/// An order's checkout with its newest intent.
pub async fn order(tables: &mut dyn Tables, (tenant, order): &(Tenant, OrderId)) -> Found {
    let checkout = tables.order(tenant, order).await?;
    with_newest(tables, tenant, checkout).await
}

/// An intent with its checkout.
pub async fn intent(tables: &mut dyn Tables, (tenant, id): &(Tenant, IntentId)) -> Found {
    let Some(intent) = tables.intent(tenant, *id).await? else { return Ok(None) };
    let checkout = promised(tables.checkout(tenant, intent.checkout).await?, "an intent's checkout")?;
    Ok(Some((checkout, intent)))
}

async fn with_newest(tables: &mut dyn Tables, tenant: &Tenant, checkout: Option<CheckoutRecord>) -> Found {
    let Some(checkout) = checkout else { return Ok(None) };
    let intent = promised(tables.newest_intent(tenant, checkout.id).await?, "a checkout's intent")?;
    Ok(Some((checkout, intent)))
}

/// An operation.
pub async fn operation(
    tables: &mut dyn Tables,
    (tenant, id): &(Tenant, OperationId),
) -> Result<Option<OperationRecord>, Abort> {
    tables.operation(tenant, *id).await
}

/// Operation, attempts and journal of an intent.
pub async fn story(
    tables: &mut dyn Tables,
    (tenant, id): &(Tenant, IntentId),
) -> Result<Option<Story>, Abort> {
    let Some(operation) = tables.pay_operation(tenant, *id).await? else { return Ok(None) };
    let intent = promised(tables.intent(tenant, *id).await?, "an operation's intent")?;
    let checkout = promised(tables.checkout(tenant, intent.checkout).await?, "an intent's checkout")?;
    let now = tables.now().await?;
    let attempts = tables.attempts(tenant, operation.id).await?;
    Ok(Some(Story {
        held: dispatch(tables, &checkout, &intent, &operation, &attempts, now).await? == Dispatch::Held,
        follow_ups: tables.follow_ups(tenant, *id).await?,
        charges: tables.charges(tenant, intent.checkout).await?,
        attempts,
        journal: tables.journal(tenant, *id).await?,
        operation,
    }))
}

/// Whether the database answers.
pub async fn ping(tables: &mut dyn Tables, _: &()) -> Result<(), Abort> {
    tables.now().await?;
    Ok(())
}
