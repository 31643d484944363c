//! What stands before a person.

use payment::OperationId;

use super::promised;
use crate::{ChargeRecord, ReviewItem, StoreError, Tables, Tenant, tables::Abort};

/// Up to `limit` items of each kind, of every merchant.
pub async fn list(tables: &mut dyn Tables, limit: &u32) -> Result<Vec<ReviewItem>, Abort> {
    let mut items = Vec::new();
    for (tenant, id) in tables.operations_in_review(*limit).await? {
        match operation(tables, &tenant, id).await {
            Ok(item) => items.push(item),
            // A newer version wrote it; the others are shown.
            Err(Abort::Failed(error @ StoreError::Unreadable(_))) => {
                tracing::error!(%error, operation = %id, "an operation in review cannot be read");
            }
            Err(aborted) => return Err(aborted),
        }
    }
    let extras = tables.open_extras(*limit).await?;
    items.extend(extras.into_iter().map(|charge| ReviewItem::Extra(Box::new(charge))));
    let strangers = tables.open_strangers(*limit).await?;
    items.extend(strangers.into_iter().map(|stranger| ReviewItem::Stranger(Box::new(stranger))));
    Ok(items)
}

async fn operation(tables: &mut dyn Tables, tenant: &Tenant, id: OperationId) -> Result<ReviewItem, Abort> {
    let operation = promised(tables.operation(tenant, id).await?, "an operation")?;
    let intent = promised(tables.intent(tenant, operation.intent).await?, "an operation's intent")?;
    let checkout = promised(tables.checkout(tenant, intent.checkout).await?, "an intent's checkout")?;
    Ok(ReviewItem::Operation {
        checkout: Box::new(checkout),
        intent: Box::new(intent),
        operation: Box::new(operation),
    })
}

/// Charges of checkouts that were paid already and that are not refunded in full.
pub async fn open_extras(tables: &mut dyn Tables, limit: &u32) -> Result<Vec<ChargeRecord>, Abort> {
    tables.open_extras(*limit).await
}
