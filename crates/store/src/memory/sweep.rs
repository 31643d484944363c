//! The rows of the sweep, in memory.

use async_trait::async_trait;
use payment::{ObjectId, OrderId, ProviderAccount, Timestamp};

use super::{Draft, put};
use crate::{
    Resolution, StrangerRecord, Tenant,
    tables::{Abort, SweepRow, SweepTables},
};

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
        self.rows.sweeps.insert((row.tenant.clone(), row.account.clone()), row.clone());
        Ok(())
    }

    async fn pull_back_sweeps(&mut self, now: Timestamp) -> Result<(), Abort> {
        for row in self.rows.sweeps.values_mut() {
            row.known_from = row.known_from.min(now);
            row.swept_until = row.swept_until.min(now);
        }
        Ok(())
    }

    async fn delete_sweep(&mut self, row: &SweepRow) -> Result<(), Abort> {
        self.rows.sweeps.remove(&(row.tenant.clone(), row.account.clone()));
        Ok(())
    }

    async fn insert_stranger(&mut self, row: &StrangerRecord) -> Result<bool, Abort> {
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        Ok(put(&mut self.rows.strangers, key, row.clone()))
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
        let open = self.rows.strangers.values().filter(|row| row.resolution.is_none());
        let mut found: Vec<_> = open.cloned().collect();
        found.sort_by_key(|row| (row.found_at, row.object.clone()));
        found.truncate(limit as usize);
        Ok(found)
    }

    async fn open_stranger(&mut self, object: &ObjectId) -> Result<Option<StrangerRecord>, Abort> {
        Ok(self.open_strangers(u32::MAX).await?.into_iter().find(|row| row.object == *object))
    }

    async fn waiting_strangers(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        limit: u32,
    ) -> Result<Vec<StrangerRecord>, Abort> {
        let mut found = self.open_strangers(u32::MAX).await?;
        found.retain(|row| row.tenant == *tenant && row.account == *account && !row.took_money);
        found.truncate(limit as usize);
        Ok(found)
    }

    async fn stranger_took_money(&mut self, row: &StrangerRecord) -> Result<bool, Abort> {
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        let found = self.rows.strangers.get_mut(&key);
        let found = found
            .filter(|known| known.tenant == row.tenant && known.resolution.is_none() && !known.took_money);
        let Some(found) = found else { return Ok(false) };
        found.took_money = true;
        Ok(true)
    }

    async fn resolve_stranger(
        &mut self,
        row: &StrangerRecord,
        resolution: &Resolution,
    ) -> Result<bool, Abort> {
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        let found = self.rows.strangers.get_mut(&key).filter(|row| row.resolution.is_none());
        let Some(found) = found else { return Ok(false) };
        found.resolution = Some(resolution.clone());
        Ok(true)
    }
}
