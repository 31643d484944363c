//! The rows of the sweep, in memory.

use async_trait::async_trait;
use payment::{ObjectId, OrderId, ProviderAccount, Timestamp};

use super::Draft;
use crate::{
    Resolution, Rows, StrangerRecord, Tenant,
    tables::{Abort, SweepRow, SweepTables},
};

impl Rows {
    /// Oldest first.
    fn open_strangers(&self) -> impl Iterator<Item = &StrangerRecord> {
        let mut found: Vec<_> = self.strangers.values().filter(|row| row.resolution.is_none()).collect();
        found.sort_by_key(|row| (row.found_at, &row.object));
        found.into_iter()
    }
}

#[async_trait]
impl SweepTables for Draft {
    async fn heartbeat(&mut self) -> Result<Option<Timestamp>, Abort> {
        Ok(self.rows.heartbeat)
    }

    async fn put_heartbeat(&mut self, at: Timestamp) -> Result<(), Abort> {
        self.rows.heartbeat = Some(at);
        Ok(())
    }

    async fn sweeps(&mut self, tenant: &Tenant) -> Result<Vec<SweepRow>, Abort> {
        Ok(self.rows.sweeps.values().filter(|row| row.tenant == *tenant).cloned().collect())
    }

    async fn put_sweep(&mut self, row: &SweepRow) -> Result<(), Abort> {
        self.rows.sweeps.put((row.tenant.clone(), row.account.clone()), row.clone());
        Ok(())
    }

    async fn pull_back_sweeps(&mut self, now: Timestamp) -> Result<(), Abort> {
        let ahead = |row: &SweepRow| row.known_from > now || row.swept_until > now;
        self.rows.sweeps.change_all(ahead, |row| {
            row.known_from = row.known_from.min(now);
            row.swept_until = row.swept_until.min(now);
        });
        Ok(())
    }

    async fn delete_sweep(&mut self, row: &SweepRow) -> Result<(), Abort> {
        self.rows.sweeps.remove(&(row.tenant.clone(), row.account.clone()));
        Ok(())
    }

    async fn insert_stranger(&mut self, row: &StrangerRecord) -> Result<bool, Abort> {
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        Ok(self.rows.strangers.insert(key, row.clone()))
    }

    async fn stranger(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<StrangerRecord>, Abort> {
        let key = (tenant.merchant.clone(), account.clone(), object.clone());
        Ok(self.rows.strangers.get(&key).filter(|row| row.tenant == *tenant).cloned())
    }

    async fn is_blocked(&mut self, tenant: &Tenant, order: &OrderId) -> Result<bool, Abort> {
        Ok(self.rows.strangers.values().any(|row| {
            row.tenant == *tenant && row.order.as_ref() == Some(order) && row.resolution.is_none()
        }))
    }

    async fn open_strangers(&mut self, limit: u32) -> Result<Vec<StrangerRecord>, Abort> {
        Ok(self.rows.open_strangers().take(limit as usize).cloned().collect())
    }

    async fn open_stranger(&mut self, object: &ObjectId) -> Result<Option<StrangerRecord>, Abort> {
        Ok(self.rows.open_strangers().find(|row| row.object == *object).cloned())
    }

    async fn waiting_strangers(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        limit: u32,
    ) -> Result<Vec<StrangerRecord>, Abort> {
        let waits =
            |row: &&StrangerRecord| row.tenant == *tenant && row.account == *account && !row.took_money;
        Ok(self.rows.open_strangers().filter(waits).take(limit as usize).cloned().collect())
    }

    async fn stranger_took_money(&mut self, row: &StrangerRecord) -> Result<bool, Abort> {
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        let waits = |known: &StrangerRecord| {
            let news = !known.took_money || known.untold && !row.untold;
            known.tenant == row.tenant && known.resolution.is_none() && news
        };
        let set = |known: &mut StrangerRecord| {
            (known.took_money, known.untold, known.amount) = (true, row.untold, row.amount);
        };
        Ok(self.rows.strangers.change(&key, waits, set))
    }

    async fn resolve_stranger(
        &mut self,
        row: &StrangerRecord,
        resolution: &Resolution,
    ) -> Result<bool, Abort> {
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        let set = |known: &mut StrangerRecord| known.resolution = Some(resolution.clone());
        let as_read = |known: &StrangerRecord| resolution.linked || known.took_money == row.took_money;
        Ok(self.rows.strangers.change(&key, |known| known.resolution.is_none() && as_read(known), set))
    }
}
