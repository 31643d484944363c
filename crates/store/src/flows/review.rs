//! What stands before a person.

use payment::{ObjectId, OperationId};

use super::promised;
use crate::{ChargeRecord, Review, ReviewId, ReviewItem, StoreError, Tables, Tenant, tables::Abort};

/// Up to `limit` items of each kind, of every merchant.
pub async fn list(tables: &mut dyn Tables, limit: &u32) -> Result<Review, Abort> {
    let (mut items, mut more) = (Vec::new(), false);
    let one_more = limit.saturating_add(1);
    let operations = tables.operations_in_review(one_more).await?;
    for (tenant, id) in shown(operations, *limit, &mut more) {
        match operation(tables, &tenant, id).await {
            Ok(item) => items.push(item),
            // A newer version wrote it; the others are shown.
            Err(Abort::Failed(error @ StoreError::Unreadable(_))) => {
                tracing::error!(%error, operation = %id, "an operation in review cannot be read");
            }
            Err(aborted) => return Err(aborted),
        }
    }
    let extras = tables.open_extras(one_more).await?;
    items.extend(shown(extras, *limit, &mut more).map(|charge| ReviewItem::Extra(Box::new(charge))));
    let strangers = tables.open_strangers(one_more).await?;
    items.extend(shown(strangers, *limit, &mut more).map(|found| ReviewItem::Stranger(Box::new(found))));
    Ok(Review { items, more })
}

fn shown<T>(rows: Vec<T>, limit: u32, more: &mut bool) -> impl Iterator<Item = T> {
    let limit = limit as usize;
    *more |= rows.len() > limit;
    rows.into_iter().take(limit)
}

/// What of that id stands before a person, whoever's it is, and however much stands before it.
pub async fn find(tables: &mut dyn Tables, id: &ReviewId) -> Result<Option<ReviewItem>, Abort> {
    let waiting = match id {
        ReviewId::Intent(id) => tables.payment_in_review(*id).await?,
        ReviewId::Operation(id) => tables.operation_in_review(*id).await?,
        ReviewId::Object(object) => return money(tables, object).await,
    };
    match waiting {
        Some((tenant, id)) => operation(tables, &tenant, id).await.map(Some),
        None => Ok(None),
    }
}

async fn money(tables: &mut dyn Tables, object: &ObjectId) -> Result<Option<ReviewItem>, Abort> {
    if let Some(charge) = tables.open_extra(object).await? {
        return Ok(Some(ReviewItem::Extra(Box::new(charge))));
    }
    let found = tables.open_stranger(object).await?;
    Ok(found.map(|stranger| ReviewItem::Stranger(Box::new(stranger))))
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
