//! What stands before a person.

use super::promised;
use crate::{ReviewItem, Tables, tables::Abort};

/// Up to `limit` items of each kind, of every merchant.
pub async fn list(tables: &mut dyn Tables, limit: &u32) -> Result<Vec<ReviewItem>, Abort> {
    let mut items = Vec::new();
    for (tenant, id) in tables.operations_in_review(*limit).await? {
        let operation = promised(tables.operation(&tenant, id).await?, "an operation")?;
        let intent = promised(tables.intent(&tenant, operation.intent).await?, "an operation's intent")?;
        let checkout = promised(tables.checkout(&tenant, intent.checkout).await?, "an intent's checkout")?;
        items.push(ReviewItem::Operation {
            checkout: Box::new(checkout),
            intent: Box::new(intent),
            operation: Box::new(operation),
        });
    }
    let extras = tables.open_extras(*limit).await?;
    items.extend(extras.into_iter().map(|charge| ReviewItem::Extra(Box::new(charge))));
    let strangers = tables.open_strangers(*limit).await?;
    items.extend(strangers.into_iter().map(|stranger| ReviewItem::Stranger(Box::new(stranger))));
    Ok(items)
}
