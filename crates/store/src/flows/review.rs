//! What stands before a person, and what becomes of charges otherwise than by a refund.

use payment::{ObjectId, OperationId, ProviderAccount};

use super::{journal, promised, won};
use crate::{
    Change, ChargeRecord, Fate, PutFate, Review, ReviewId, ReviewItem, StoreError, Tables, Tenant,
    tables::Abort,
};

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
    let extra = tables.extra(object).await?;
    if let Some(open) = extra.as_ref().filter(|extra| extra.fate.is_none()) {
        return Ok(Some(ReviewItem::Extra(Box::new(open.clone()))));
    }
    let found = tables.open_stranger(object).await?;
    let stranger = found.map(|stranger| ReviewItem::Stranger(Box::new(stranger)));
    // Who says again what he said of an extra is answered again.
    Ok(stranger.or_else(|| extra.map(|extra| ReviewItem::Extra(Box::new(extra)))))
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

/// Charges of checkouts that were paid already, that are not refunded in full and that nothing else became of.
pub async fn open_extras(tables: &mut dyn Tables, limit: &u32) -> Result<Vec<ChargeRecord>, Abort> {
    tables.open_extras(*limit).await
}

/// Charges of an account that went back and in whose place an extra is kept, newest first.
pub async fn replaced_charges(
    tables: &mut dyn Tables,
    (tenant, account, limit): &(Tenant, ProviderAccount, u32),
) -> Result<Vec<ChargeRecord>, Abort> {
    tables.replaced_charges(tenant, account, *limit).await
}

/// Writes a charge's fate down, if the charge still is what it was seen as and no refund of it is under way; whether that is its fate
/// now. One extra is kept at a time. Where the first that paid is there again, it takes its place again, and what was kept is an open
/// extra.
pub async fn put_fate(tables: &mut dyn Tables, command: &PutFate) -> Result<bool, Abort> {
    let PutFate { charge: seen, fate, evidence } = command;
    promised(tables.lock_checkout(&seen.tenant, seen.checkout).await?, "a charge's checkout")?;
    let charge = tables.charge(&seen.tenant, &seen.account, &seen.object).await?;
    let charge = promised(charge, "a charge")?;
    if charge.fate == *fate {
        return Ok(true);
    }
    if charge != *seen || charge.reserved_minor > 0 || (*fate == Some(Fate::Kept) && !charge.extra) {
        return Ok(false);
    }
    let mut others = tables.charges(&seen.tenant, seen.checkout).await?.into_iter();
    match (fate, others.find(|other| other.fate == Some(Fate::Kept))) {
        // Whoever looked saw another one pay.
        (Some(Fate::Kept), Some(_)) => return Ok(false),
        (None, Some(kept)) if !charge.extra => {
            let open = ChargeRecord { fate: None, ..kept.clone() };
            won(tables.update_charge_fate(&open, &kept).await?)?;
        }
        (None | Some(Fate::Kept | Fate::Returned), _) => {}
    }
    won(tables.update_charge_fate(&ChargeRecord { fate: *fate, ..charge.clone() }, &charge).await?)?;
    let intent = promised(tables.intent(&charge.tenant, charge.intent).await?, "a charge's intent")?;
    let (state, event) = (intent.state.name().as_str(), fate_event(*fate).to_owned());
    let change = Change { from: state, event, to: state, evidence: evidence.clone() };
    let now = tables.now().await?;
    journal::append(tables, &charge.tenant, charge.intent, now, &[change]).await?;
    Ok(true)
}

fn fate_event(fate: Option<Fate>) -> &'static str {
    match fate {
        Some(Fate::Kept) => "extra_kept",
        Some(Fate::Returned) => "charge_returned",
        None => "charge_came_back",
    }
}
