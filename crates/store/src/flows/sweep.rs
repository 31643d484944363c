//! The gate at a start and the progress of the sweep, and whom the sweep found.

use std::collections::BTreeSet;

use payment::{IntentId, ObjectId, OrderId, ProviderAccount, Timestamp};
use planted::Fault;

use super::promised;
use crate::{
    Doubt, GatedAccount, OperationRecord, Resolution, Standing, Start, StoreError, StrangerRecord, Tables,
    Tenant,
    tables::{Abort, SweepRow, Tenure},
};

/// A server starts: if none was alive for longer than the gap, what happened meanwhile is not known, be it that a backup was
/// restored. Nothing is dispatched for any account until its listing has been read from there on. Whether a gate is down.
pub async fn start(tables: &mut dyn Tables, start: &Start) -> Result<bool, Abort> {
    let now = tables.now().await?;
    let last = tables.heartbeat().await?;
    let absent = silent_since(last, now, start.gap_ms).filter(|_| !planted::is(Fault::GateNotPutDown));
    let absent_left = absent.filter(|_| !planted::is(Fault::LeftNotGated));
    let tenants: BTreeSet<_> = start.own.iter().chain(&start.left).map(|(tenant, _)| tenant).collect();
    let mut gated = false;
    for tenant in tenants {
        let known = tables.sweeps(tenant).await?;
        let all = start.own.iter().chain(&start.left).filter(|(of, _)| of == tenant);
        let meets = Meets::new(tables, tenant, &known, all.map(|(_, account)| account), last, now).await?;
        let (mut asked, mut is_new) = (Vec::new(), false);
        for (accounts, is_own) in [(&start.own, true), (&start.left, false)] {
            for (_, account) in accounts.iter().filter(|(of, _)| of == tenant) {
                if asked.contains(&account) {
                    continue;
                }
                let mut row = if is_own { meets.own(account) } else { meets.left(account) };
                is_new |= row.tenure == Tenure::New;
                if absent.is_some() && is_unread(&row) {
                    row.swept_until = meets.read_from(row.swept_until);
                }
                // The newest gap names the gate: who read the listing before it does not lift it. It is read from where it was read to.
                let gap = if is_own { absent } else { absent_left };
                row.gated_from = gap.or(row.gated_from);
                tables.put_sweep(&row).await?;
                asked.push(account);
            }
        }
        let left = known.iter().filter(|row| !asked.contains(&&row.account));
        leave(tables, left, absent_left.filter(|_| is_new)).await?;
        gated |= !let_through(tables, tenant).await?;
    }
    alive(tables, now).await?;
    Ok(gated)
}

/// How long before a merchant's first order an account that is met is read from: the clocks that both are dated by may have been wrong.
const MET_MARGIN_MS: i64 = 86_400_000;

/// How long ago a merchant's lost orders may have been made, where this database has none of his.
const LOST_MS: i64 = 30 * 86_400_000;

/// A merchant's accounts are met.
struct Meets<'a> {
    tenant: &'a Tenant,
    known: &'a [SweepRow],
    /// Whether a server starts that is not the first: this database may be a copy, and an account that it does not know may have been
    /// used.
    lived: bool,
    /// The last sign of life, or now.
    alive: Timestamp,
    /// When his first order was made, if there is one and an account is met that was never read.
    first_order: Option<Timestamp>,
}

impl<'a> Meets<'a> {
    async fn new(
        tables: &mut dyn Tables,
        tenant: &'a Tenant,
        known: &'a [SweepRow],
        mut accounts: impl Iterator<Item = &ProviderAccount> + Send,
        last: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Self, Abort> {
        let unread =
            accounts.any(|account| known.iter().find(|row| row.account == *account).is_none_or(is_unread));
        let first_order = if unread { tables.first_order_at(tenant).await? } else { None };
        let alive = last.unwrap_or(now).min(now);
        Ok(Self { tenant, known, lived: last.is_some(), alive, first_order })
    }

    /// His money goes here. What comes to be his while a gate of his is down, the lost time may have had before: it is read as well.
    fn own(&self, account: &ProviderAccount) -> SweepRow {
        let met = SweepRow { tenure: Tenure::New, ..self.unknown(account) };
        match self.find(account) {
            None => met,
            Some(row) => match row.tenure {
                Tenure::Own | Tenure::New => row.clone(),
                Tenure::Left => SweepRow {
                    swept_until: row.swept_until.min(met.known_from),
                    gated_from: row
                        .gated_from
                        .or_else(|| self.known.iter().filter_map(|row| row.gated_from).min()),
                    tenure: Tenure::New,
                    ..row.clone()
                },
            },
        }
    }

    /// His money does not go here any more.
    fn left(&self, account: &ProviderAccount) -> SweepRow {
        let row = self.find(account).cloned().unwrap_or_else(|| self.unknown(account));
        SweepRow { tenure: Tenure::Left, ..row }
    }

    /// An account without a row is read from where the gaps begin that are not read yet, and is gated with the first of them. Where
    /// there is none, this database may be a copy all the same, whose gap was read before it was told of the account: it is read from
    /// the first order on, and gated until then.
    fn unknown(&self, account: &ProviderAccount) -> SweepRow {
        let read = |row: &SweepRow| if is_unread(row) { row.known_from } else { row.swept_until };
        let gates = || self.known.iter().filter_map(|row| row.gated_from.map(|gated| (gated, read(row))));
        let since = gates().fold(self.alive, |since, (gated, swept)| since.min(gated).min(swept));
        let from = if self.lived { self.read_from(since) } else { since };
        let met = (self.lived && !planted::is(Fault::GateNotPutDown)).then_some(from);
        SweepRow {
            tenant: self.tenant.clone(),
            account: account.clone(),
            known_from: since,
            swept_until: from,
            gated_from: gates().map(|(gated, _)| gated).min().or(met),
            tenure: Tenure::Left,
        }
    }

    /// From when an account is read that never was: before his first order, or, where he has none, as long ago as a copy may have been
    /// taken that knows neither him nor what he sold since.
    fn read_from(&self, since: Timestamp) -> Timestamp {
        let lost = self.alive.plus_ms(-LOST_MS);
        since.min(self.first_order.map_or(lost, |first| first.plus_ms(-MET_MARGIN_MS)))
    }

    fn find(&self, account: &ProviderAccount) -> Option<&SweepRow> {
        self.known.iter().find(|row| row.account == *account)
    }
}

/// Where no gate of a merchant is down, his new account does not have to wait for a later one of another. Whether none is down.
async fn let_through(tables: &mut dyn Tables, tenant: &Tenant) -> Result<bool, Abort> {
    let rows = tables.sweeps(tenant).await?;
    if rows.iter().any(|row| row.gated_from.is_some()) {
        return Ok(false);
    }
    for row in rows.into_iter().filter(|row| row.tenure == Tenure::New) {
        tables.put_sweep(&SweepRow { tenure: Tenure::Own, ..row }).await?;
    }
    Ok(true)
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
/// what others take there meanwhile is none of ours. So is at once what was a slip of the pen.
async fn leave(
    tables: &mut dyn Tables,
    left: impl Iterator<Item = &SweepRow> + Send,
    moved_since: Option<Timestamp>,
) -> Result<(), Abort> {
    for row in left {
        match moved_since.or(row.gated_from) {
            Some(_) if is_slip(tables, row).await? => tables.delete_sweep(row).await?,
            None => tables.delete_sweep(row).await?,
            gated_from => {
                let tenure = Tenure::Left;
                tables.put_sweep(&SweepRow { gated_from, tenure, ..row.clone() }).await?;
            }
        }
    }
    Ok(())
}

/// Whether no sweep has come to its end yet: it is as it was met, or was pulled back to when a clock was right again.
fn is_unread(row: &SweepRow) -> bool {
    row.swept_until <= row.known_from
}

/// Whether an account of his can be forgotten although it was never read: nothing is frozen for it, so nobody can read it any more, and
/// it was met when no gap was open, so that none but a copy which was read before it was told of the account would have used it. What has
/// a gate is read from before it was met; if not, it was read, and then pulled back (fault 31).
async fn is_slip(tables: &mut dyn Tables, row: &SweepRow) -> Result<bool, Abort> {
    let is_own = row.tenure == Tenure::Own;
    let no_gap = row
        .gated_from
        .map_or(is_own, |from| (is_own || from <= row.swept_until) && row.swept_until < row.known_from);
    Ok(is_unread(row) && no_gap && tables.newest_of_account(&row.tenant, &row.account).await?.is_none())
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

/// How far an account was read, and the time now. One that is not known is read as if it were met now.
pub async fn sweep(
    tables: &mut dyn Tables,
    (tenant, account): &(Tenant, ProviderAccount),
) -> Result<(SweepRow, Timestamp), Abort> {
    let now = tables.now().await?;
    let known = tables.sweeps(tenant).await?;
    let meets = Meets::new(tables, tenant, &known, std::iter::once(account), None, now).await?;
    let row = meets.find(account).cloned().unwrap_or_else(|| meets.unknown(account));
    Ok((row, now))
}

/// The listing was read until `swept_until`, from before the gate that `gated_from` names: that gate is lifted, a newer one stays.
/// Nothing is read beyond now. What a start does not know yet is not the merchant's own before the next one.
pub async fn swept(tables: &mut dyn Tables, read: &SweepRow) -> Result<(), Abort> {
    let now = tables.now().await?;
    let known = tables.sweeps(&read.tenant).await?;
    let met = std::iter::once(&read.account);
    let meets = Meets::new(tables, &read.tenant, &known, met, None, now).await?;
    if meets.find(&read.account).is_none() && !is_asked(tables, read).await? {
        return Ok(());
    }
    let (known_from, swept_until) = (read.known_from, read.swept_until);
    let unknown = || SweepRow { known_from, swept_until, ..meets.unknown(&read.account) };
    let mut row = meets.find(&read.account).cloned().unwrap_or_else(unknown);
    row.swept_until = row.swept_until.max(read.swept_until).min(now);
    if row.gated_from == read.gated_from {
        row.gated_from = None;
    }
    tables.put_sweep(&row).await?;
    let_through(tables, &read.tenant).await.map(drop)
}

/// Whether an account without a row is read for good: it is the merchant's, as the next start will find, or something was sent there.
/// Else he left it, and was forgotten, while somebody read it.
async fn is_asked(tables: &mut dyn Tables, read: &SweepRow) -> Result<bool, Abort> {
    let own = tables.account(&read.tenant).await?;
    let sent = tables.newest_of_account(&read.tenant, &read.account).await?.is_some();
    Ok(sent || own.is_none_or(|own| own == read.account))
}

/// Whether some account of a merchant has a gap that was not read yet: until then, a database that may be an old copy does not know
/// what of it was never sent.
pub(super) async fn is_gated(tables: &mut dyn Tables, tenant: &Tenant) -> Result<bool, Abort> {
    Ok(tables.sweeps(tenant).await?.iter().any(|row| row.gated_from.is_some()))
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

/// A stranger that waited took money, or somebody was told so; false if it does not wait any more, or he was before.
pub async fn stranger_took_money(tables: &mut dyn Tables, stranger: &StrangerRecord) -> Result<bool, Abort> {
    tables.stranger_took_money(stranger).await
}

/// What became of a stranger; false if something had, or its money was taken since it was read, and it is let go of.
pub async fn resolve_stranger(
    tables: &mut dyn Tables,
    (stranger, resolution): &(StrangerRecord, Resolution),
) -> Result<bool, Abort> {
    tables.resolve_stranger(stranger, resolution).await
}
