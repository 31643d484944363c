//! Charges, in memory.

use async_trait::async_trait;
use payment::{CheckoutId, ObjectId, ProviderAccount};

use super::{Draft, put, refused};
use crate::{
    ChargeRecord, Tenant,
    tables::{Abort, ChargeTables},
};

#[async_trait]
impl ChargeTables for Draft {
    async fn insert_charge(&mut self, row: &ChargeRecord) -> Result<bool, Abort> {
        let paid = self
            .rows
            .charges
            .values()
            .any(|other| other.checkout == row.checkout && !other.extra && !row.extra);
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        if paid && !self.rows.charges.contains_key(&key) {
            return Err(Abort::Raced);
        }
        Ok(put(&mut self.rows.charges, key, row.clone()))
    }

    async fn charge(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<ChargeRecord>, Abort> {
        let key = (tenant.merchant.clone(), account.clone(), object.clone());
        Ok(self.rows.charges.get(&key).filter(|row| row.tenant == *tenant).cloned())
    }

    async fn charges(&mut self, tenant: &Tenant, checkout: CheckoutId) -> Result<Vec<ChargeRecord>, Abort> {
        let of_checkout = |row: &&ChargeRecord| row.tenant == *tenant && row.checkout == checkout;
        let mut found: Vec<_> = self.rows.charges.values().filter(of_checkout).cloned().collect();
        found.sort_by_key(|row| (row.at, row.object.clone()));
        Ok(found)
    }

    async fn open_extras(&mut self, limit: u32) -> Result<Vec<ChargeRecord>, Abort> {
        let open = |row: &&ChargeRecord| row.extra && row.refunded_minor < row.amount.minor();
        let mut found: Vec<_> = self.rows.charges.values().filter(open).cloned().collect();
        found.sort_by_key(|row| (row.at, row.object.clone()));
        found.truncate(limit as usize);
        Ok(found)
    }

    async fn open_extra(&mut self, object: &ObjectId) -> Result<Option<ChargeRecord>, Abort> {
        Ok(self.open_extras(u32::MAX).await?.into_iter().find(|row| row.object == *object))
    }

    async fn update_charge_sums(&mut self, row: &ChargeRecord, before: &ChargeRecord) -> Result<bool, Abort> {
        let sums = |row: &ChargeRecord| (row.reserved_minor, row.refunded_minor);
        let within = row.reserved_minor >= 0
            && row.refunded_minor >= 0
            && row.reserved_minor + row.refunded_minor <= row.amount.minor();
        if !within {
            return Err(refused("charge").into());
        }
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        let found = self.rows.charges.get_mut(&key).filter(|found| sums(found) == sums(before));
        let Some(found) = found else { return Ok(false) };
        (found.reserved_minor, found.refunded_minor) = sums(row);
        Ok(true)
    }
}
