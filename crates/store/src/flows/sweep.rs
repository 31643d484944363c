//! The gate at a start and the progress of the sweep, and whom the sweep found.

use std::collections::BTreeSet;

use payment::{IntentId, ObjectId, OrderId, ProviderAccount, Timestamp};
use planted::Fault;

use super::promised;
use crate::{
    Doubt, GatedAccount, OperationRecord, Resolution, Standing, Start, StoreError, StrangerRecord, Tables,
    Tenant,
    tables::{Abort, SweepRow},
};

/// A server starts: if none was alive for longer than the gap, what happened meanwhile is not known, be it that a backup was
/// restored. Nothing is dispatched for any account until its listing has been read from there on. Whether the gate is down.
pub async fn start(tables: &mut dyn Tables, start: &Start) -> Result<bool, Abort> {
    let now = tables.now().await?;
    let last = tables.heartbeat().await?;
    let absent = silent_since(last, now, start.gap_ms).filter(|_| !planted::is(Fault::GateNotPutDown));
    let tenants: BTreeSet<_> = start.accounts.iter().map(|(tenant, _)| tenant).collect();
    let mut gated = false;
    for tenant in tenants {
        let known = tables.sweeps(tenant).await?;
        let accounts = start.accounts.iter().filter(|(of, _)| of == tenant).map(|(_, account)| account);
        let (mut asked, mut is_new) = (Vec::new(), false);
        for account in accounts {
            let row = known.iter().find(|row| row.account == *account).cloned();
            is_new |= row.is_none();
            let first_met = || SweepRow {
                tenant: tenant.clone(),
                account: account.clone(),
                known_from: last.unwrap_or(now).min(now),
                swept_until: last.unwrap_or(now).min(now),
                gated_from: None,
            };
            let mut row = row.unwrap_or_else(first_met);
            // The newest gap names the gate: who read the listing before it does not lift it. It is read from where it was read to.
            row.gated_from = absent.or(row.gated_from);
            gated |= row.gated_from.is_some();
            tables.put_sweep(&row).await?;
            asked.push(account);
        }
        let left = known.iter().filter(|row| !asked.contains(&&row.account));
        leave(tables, left, absent.filter(|_| is_new)).await?;
    }
    alive(tables, now).await?;
    Ok(gated)
}

/// The last sign of life, if it is older than the gap. One from the future is as good as none since then: some clock was ahead.
fn silent_since(last: Option<Timestamp>, now: Timestamp, gap_ms: i64) -> Option<Timestamp> {
    last.filter(|last| now.since_ms(*last).abs() > gap_ms).map(|last| last.min(now))
}

/// A server is alive. What a clock that was ahead wrote down as read, is read no further than now.
async fn alive(tables: &mut dyn Tables, now: Timestamp) -> Result<(), Abort> {
    tables.pull_back_sweeps(now).await?;
    tables.put_heartbeat(now).await
}

/// Accounts that are not asked for any more. Where the merchant moved in a gap, that one may be the copy's: money was taken there
/// meanwhile, perhaps, and it is read before the new one sends. Else they are forgotten, and met anew should the merchant come back:
/// what others take there meanwhile is none of ours.
async fn leave(
    tables: &mut dyn Tables,
    left: impl Iterator<Item = &SweepRow> + Send,
    moved_since: Option<Timestamp>,
) -> Result<(), Abort> {
    for row in left {
        match moved_since.or(row.gated_from) {
            None => tables.delete_sweep(row).await?,
            gated_from => tables.put_sweep(&SweepRow { gated_from, ..row.clone() }).await?,
        }
    }
    Ok(())
}

/// A merchant's accounts beside this one whose gate is down, each with its newest operation.
pub async fn gated_beside(
    tables: &mut dyn Tables,
    (tenant, account): &(Tenant, ProviderAccount),
) -> Result<Vec<GatedAccount>, Abort> {
    let mut found = Vec::new();
    for row in tables.sweeps(tenant).await? {
        if row.account != *account && row.gated_from.is_some() {
            let newest = tables.newest_of_account(tenant, &row.account).await?;
            found.push(GatedAccount { row, newest });
        }
    }
    Ok(found)
}

/// For each account to which unfinished operations are frozen, the newest of them.
pub async fn unfinished_accounts(tables: &mut dyn Tables, _: &()) -> Result<Vec<OperationRecord>, Abort> {
    let mut found = Vec::new();
    for (tenant, id) in tables.newest_unfinished().await? {
        match tables.operation(&tenant, id).await {
            Ok(operation) => found.extend(operation),
            // A newer version wrote it; the others are told.
            Err(Abort::Failed(error @ StoreError::Unreadable(_))) => {
                tracing::error!(%error, operation = %id, "an unfinished operation cannot be read");
            }
            Err(aborted) => return Err(aborted),
        }
    }
    Ok(found)
}

/// A server is alive.
pub async fn beat(tables: &mut dyn Tables, (): &()) -> Result<(), Abort> {
    let now = tables.now().await?;
    alive(tables, now).await
}

/// How far an account was read, and the time now.
pub async fn sweep(
    tables: &mut dyn Tables,
    (tenant, account): &(Tenant, ProviderAccount),
) -> Result<(SweepRow, Timestamp), Abort> {
    let now = tables.now().await?;
    let row = sweep_of(tables, tenant, account).await?;
    let unknown = || SweepRow {
        tenant: tenant.clone(),
        account: account.clone(),
        known_from: now,
        swept_until: now,
        gated_from: None,
    };
    Ok((row.unwrap_or_else(unknown), now))
}

/// The listing was read until `swept_until`, from before the gate that `gated_from` names: that gate is lifted, a newer one stays.
/// Nothing is read beyond now.
pub async fn swept(tables: &mut dyn Tables, read: &SweepRow) -> Result<(), Abort> {
    let now = tables.now().await?;
    let row = sweep_of(tables, &read.tenant, &read.account).await?;
    let mut row = row.unwrap_or_else(|| read.clone());
    row.swept_until = row.swept_until.max(read.swept_until).min(now);
    if row.gated_from == read.gated_from {
        row.gated_from = None;
    }
    tables.put_sweep(&row).await
}

/// Whether some account of a merchant has a gap that was not read yet: until then, a database that may be an old copy does not know
/// what of it was never sent.
pub(super) async fn is_gated(tables: &mut dyn Tables, tenant: &Tenant) -> Result<bool, Abort> {
    Ok(tables.sweeps(tenant).await?.iter().any(|row| row.gated_from.is_some()))
}

async fn sweep_of(
    tables: &mut dyn Tables,
    tenant: &Tenant,
    account: &ProviderAccount,
) -> Result<Option<SweepRow>, Abort> {
    Ok(tables.sweeps(tenant).await?.into_iter().find(|row| row.account == *account))
}

/// What we know of a provider's object.
pub async fn standing(
    tables: &mut dyn Tables,
    (tenant, account, object, intent): &(Tenant, ProviderAccount, ObjectId, Option<IntentId>),
) -> Result<Standing, Abort> {
    let named = match intent {
        Some(id) => tables.intent(tenant, *id).await?,
        None => None,
    };
    let intent = match named {
        Some(intent) => {
            let operation = tables.pay_operation(tenant, intent.id).await?;
            Some((intent, promised(operation, "an intent's operation")?))
        }
        None => None,
    };
    let charge = tables.charge(tenant, account, object).await?;
    let stranger = tables.stranger(tenant, account, object).await?;
    let linked = tables.linked_operation(tenant, account, object).await?;
    Ok(Standing { intent, charge, stranger, linked })
}

/// Why it is not known whether money was taken for an order.
pub async fn doubt(
    tables: &mut dyn Tables,
    (tenant, order): &(Tenant, OrderId),
) -> Result<Option<Doubt>, Abort> {
    if tables.is_blocked(tenant, order).await? {
        return Ok(Some(Doubt::Stranger));
    }
    Ok(is_gated(tables, tenant).await?.then_some(Doubt::Gate))
}

/// Puts a stranger before a person; whether it is a new one. One whose money is a charge already is none.
pub async fn put_stranger(tables: &mut dyn Tables, found: &StrangerRecord) -> Result<bool, Abort> {
    if tables.charge(&found.tenant, &found.account, &found.object).await?.is_some() {
        return Ok(false);
    }
    let now = tables.now().await?;
    tables.insert_stranger(&StrangerRecord { found_at: now, ..found.clone() }).await
}

/// Strangers of an account that wait at the provider, up to `limit`, oldest first.
pub async fn waiting_strangers(
    tables: &mut dyn Tables,
    (tenant, account, limit): &(Tenant, ProviderAccount, u32),
) -> Result<Vec<StrangerRecord>, Abort> {
    tables.waiting_strangers(tenant, account, *limit).await
}

/// A stranger that waited took money; false if it does not wait any more.
pub async fn stranger_took_money(tables: &mut dyn Tables, stranger: &StrangerRecord) -> Result<bool, Abort> {
    tables.stranger_took_money(stranger).await
}

/// What became of a stranger; false if something had.
pub async fn resolve_stranger(
    tables: &mut dyn Tables,
    (stranger, resolution): &(StrangerRecord, Resolution),
) -> Result<bool, Abort> {
    tables.resolve_stranger(stranger, resolution).await
}
