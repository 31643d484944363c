//! Tables `heartbeat`, `sweep` and `stranger`.

use async_trait::async_trait;
use payment::{ObjectId, OrderId, ProviderAccount, Timestamp};

use super::{
    Row, SqlTables, Value,
    checkout::{read_money, read_tenant},
    session::unreadable,
    tables::{Done, money, scoped},
};
use crate::{
    Resolution, StoreError, StrangerRecord, Tenant,
    tables::{SweepRow, SweepTables, Tenure},
};

const HEARTBEAT: &str = "SELECT at_ms FROM heartbeat WHERE id = 1";
const PUT_HEARTBEAT: &str = "INSERT INTO heartbeat (id, at_ms) VALUES (1, $1) \
     ON CONFLICT (id) DO UPDATE SET at_ms = excluded.at_ms";

const SWEEPS: &str = "SELECT merchant_id, mode, provider_account, known_from_ms, swept_until_ms, gated_from_ms, \
     tenure FROM sweep \
     WHERE merchant_id = $1 AND mode = $2 ORDER BY provider_account";
const PUT_SWEEP: &str = "INSERT INTO sweep (merchant_id, mode, provider_account, known_from_ms, swept_until_ms, \
     gated_from_ms, tenure) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (merchant_id, mode, provider_account) \
     DO UPDATE SET swept_until_ms = excluded.swept_until_ms, gated_from_ms = excluded.gated_from_ms, tenure = excluded.tenure";
const PULL_BACK_SWEEPS: &str = "UPDATE sweep SET swept_until_ms = CASE WHEN swept_until_ms > $1 THEN $1 ELSE swept_until_ms END, \
     known_from_ms = CASE WHEN known_from_ms > $1 THEN $1 ELSE known_from_ms END \
     WHERE swept_until_ms > $1 OR known_from_ms > $1";
const DELETE_SWEEP: &str = "DELETE FROM sweep WHERE merchant_id = $1 AND mode = $2 AND provider_account = $3";

const INSERT_STRANGER: &str = "INSERT INTO stranger (merchant_id, mode, provider_account, provider_object_id, order_id, \
     amount_minor, currency, exponent, took_money, found_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
     ON CONFLICT (merchant_id, provider_account, provider_object_id) DO NOTHING";
const BLOCKS: &str = "SELECT 1 FROM stranger WHERE merchant_id = $1 AND mode = $2 AND order_id = $3 \
     AND resolution IS NULL LIMIT 1";
const RESOLVE: &str = "UPDATE stranger SET resolution = $1, reason = $2 WHERE merchant_id = $3 AND provider_account = $4 \
     AND provider_object_id = $5 AND resolution IS NULL AND ($1 = 'linked' OR took_money = $6)";

macro_rules! select_stranger {
    ($rest:literal) => {
        concat!(
            "SELECT merchant_id, mode, provider_account, provider_object_id, order_id, amount_minor, currency, exponent, \
             took_money, untold, found_at_ms, resolution, reason FROM stranger ",
            $rest
        )
    };
}

const STRANGER: &str = select_stranger!(
    "WHERE merchant_id = $1 AND mode = $2 AND provider_account = $3 AND provider_object_id = $4"
);
const OPEN_STRANGERS: &str =
    select_stranger!("WHERE resolution IS NULL ORDER BY found_at_ms, provider_object_id LIMIT $1");
const OPEN_STRANGER: &str =
    select_stranger!("WHERE resolution IS NULL AND provider_object_id = $1 ORDER BY found_at_ms LIMIT 1");

const WAITING_STRANGERS: &str = select_stranger!(
    "WHERE merchant_id = $1 AND mode = $2 AND provider_account = $3 AND resolution IS NULL AND took_money = 0 \
     ORDER BY found_at_ms, provider_object_id LIMIT $4"
);
const TOOK_MONEY: &str = "UPDATE stranger SET took_money = 1, untold = $1, amount_minor = $2, currency = $3, exponent = $4 \
     WHERE merchant_id = $5 AND mode = $6 AND provider_account = $7 AND provider_object_id = $8 AND resolution IS NULL \
     AND (took_money = 0 OR untold > $1)";

const LINKED: &str = "linked";
const RELEASED: &str = "released";

#[async_trait]
impl SweepTables for SqlTables<'_> {
    async fn heartbeat(&mut self) -> Done<Option<Timestamp>> {
        self.first(HEARTBEAT, Vec::new(), |mut row| Ok(Timestamp(row.int()?))).await
    }

    async fn put_heartbeat(&mut self, at: Timestamp) -> Done<()> {
        self.one(PUT_HEARTBEAT, vec![at.0.into()]).await.map(drop)
    }

    async fn sweeps(&mut self, tenant: &Tenant) -> Done<Vec<SweepRow>> {
        let mut values = scoped(tenant, Value::Null);
        values.pop();
        self.all(SWEEPS, values, read_sweep).await
    }

    async fn put_sweep(&mut self, row: &SweepRow) -> Done<()> {
        let mut values = scoped(&row.tenant, row.account.as_str());
        values.extend([
            row.known_from.0.into(),
            row.swept_until.0.into(),
            row.gated_from.map(|at| at.0).into(),
            row.tenure.as_str().into(),
        ]);
        self.one(PUT_SWEEP, values).await.map(drop)
    }

    async fn pull_back_sweeps(&mut self, now: Timestamp) -> Done<()> {
        self.session.execute(PULL_BACK_SWEEPS, vec![now.0.into()]).await?;
        Ok(())
    }

    async fn delete_sweep(&mut self, row: &SweepRow) -> Done<()> {
        self.one(DELETE_SWEEP, scoped(&row.tenant, row.account.as_str())).await.map(drop)
    }

    async fn insert_stranger(&mut self, row: &StrangerRecord) -> Done<bool> {
        let mut values = scoped(&row.tenant, row.account.as_str());
        values.extend([row.object.as_str().into(), row.order.as_ref().map(OrderId::as_str).into()]);
        money(&mut values, row.amount);
        values.extend([i64::from(row.took_money).into(), row.found_at.0.into()]);
        self.one(INSERT_STRANGER, values).await
    }

    async fn stranger(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Done<Option<StrangerRecord>> {
        let mut values = scoped(tenant, account.as_str());
        values.push(object.as_str().into());
        self.first(STRANGER, values, read_stranger).await
    }

    async fn is_blocked(&mut self, tenant: &Tenant, order: &OrderId) -> Done<bool> {
        Ok(self.first(BLOCKS, scoped(tenant, order.as_str()), |_| Ok(())).await?.is_some())
    }

    async fn open_strangers(&mut self, limit: u32) -> Done<Vec<StrangerRecord>> {
        self.all(OPEN_STRANGERS, vec![i64::from(limit).into()], read_stranger).await
    }

    async fn open_stranger(&mut self, object: &ObjectId) -> Done<Option<StrangerRecord>> {
        self.first(OPEN_STRANGER, vec![object.as_str().into()], read_stranger).await
    }

    async fn waiting_strangers(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        limit: u32,
    ) -> Done<Vec<StrangerRecord>> {
        let mut values = scoped(tenant, account.as_str());
        values.push(i64::from(limit).into());
        self.all(WAITING_STRANGERS, values, read_stranger).await
    }

    async fn stranger_took_money(&mut self, row: &StrangerRecord) -> Done<bool> {
        let currency = row.amount.currency();
        let mut values = vec![
            i64::from(row.untold).into(),
            row.amount.minor().into(),
            currency.code().into(),
            i64::from(currency.exponent()).into(),
        ];
        values.extend(scoped(&row.tenant, row.account.as_str()));
        values.push(row.object.as_str().into());
        self.one(TOOK_MONEY, values).await
    }

    async fn resolve_stranger(&mut self, row: &StrangerRecord, resolution: &Resolution) -> Done<bool> {
        let values = vec![
            if resolution.linked { LINKED } else { RELEASED }.into(),
            resolution.reason.as_str().into(),
            row.tenant.merchant.as_str().into(),
            row.account.as_str().into(),
            row.object.as_str().into(),
            i64::from(row.took_money).into(),
        ];
        self.one(RESOLVE, values).await
    }
}

fn read_sweep(mut row: Row) -> Result<SweepRow, StoreError> {
    Ok(SweepRow {
        tenant: read_tenant(&mut row)?,
        account: row.parsed(|text| ProviderAccount::parse(text).ok())?,
        known_from: Timestamp(row.int()?),
        swept_until: Timestamp(row.int()?),
        gated_from: row.int_opt()?.map(Timestamp),
        tenure: row.parsed(Tenure::parse)?,
    })
}

fn read_stranger(mut row: Row) -> Result<StrangerRecord, StoreError> {
    Ok(StrangerRecord {
        tenant: read_tenant(&mut row)?,
        account: row.parsed(|text| ProviderAccount::parse(text).ok())?,
        object: row.parsed(|text| ObjectId::parse(text).ok())?,
        order: row.text_opt()?.map(OrderId::parse).transpose().map_err(|_| unreadable("an order"))?,
        amount: read_money(&mut row)?,
        took_money: row.int()? == 1,
        untold: row.int()? == 1,
        found_at: Timestamp(row.int()?),
        resolution: match (row.text_opt()?.as_deref(), row.text_opt()?) {
            (None, None) => None,
            (Some(LINKED), Some(reason)) => Some(Resolution { linked: true, reason }),
            (Some(RELEASED), Some(reason)) => Some(Resolution { linked: false, reason }),
            (..) => return Err(unreadable("a stranger's resolution")),
        },
    })
}
