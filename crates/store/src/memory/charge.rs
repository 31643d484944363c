//! Charges, in memory.

use std::cmp::Reverse;

use async_trait::async_trait;
use payment::{CheckoutId, ObjectId, ProviderAccount};
use planted::Fault;

use super::{Draft, refused};
use crate::{
    ChargeRecord, Fate, Rows, Tenant,
    tables::{Abort, ChargeTables},
};

impl Rows {
    /// Those that were not refunded in full, oldest first.
    fn extras(&self) -> impl Iterator<Item = &ChargeRecord> {
        let open = |row: &&ChargeRecord| row.extra && row.refunded_minor < row.amount.minor();
        let mut found: Vec<_> = self.charges.values().filter(open).collect();
        found.sort_by_key(|row| (row.at, &row.object));
        found.into_iter()
    }
}

#[async_trait]
impl ChargeTables for Draft {
    async fn insert_charge(&mut self, row: &ChargeRecord) -> Result<bool, Abort> {
        let paid = self
            .rows
            .charges
            .values()
            .any(|other| other.checkout == row.checkout && !other.extra && !row.extra);
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        let paid = paid && !planted::is(Fault::EveryChargePays);
        if paid && self.rows.charges.get(&key).is_none() {
            return Err(Abort::Raced);
        }
        Ok(self.rows.charges.insert(key, row.clone()))
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
        let of_checkout = |row: &&ChargeRecord| row.checkout == checkout && row.tenant == *tenant;
        let mut found: Vec<_> = self.rows.charges.values().filter(of_checkout).cloned().collect();
        found.sort_by_key(|row| (row.at, row.object.clone()));
        Ok(found)
    }

    async fn open_extras(&mut self, limit: u32) -> Result<Vec<ChargeRecord>, Abort> {
        Ok(self.rows.extras().filter(|row| row.fate.is_none()).take(limit as usize).cloned().collect())
    }

    async fn replaced_charges(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        limit: u32,
    ) -> Result<Vec<ChargeRecord>, Abort> {
        let is_kept = |row: &ChargeRecord| {
            let mut charges = self.rows.charges.values();
            charges.any(|other| {
                other.tenant == row.tenant && other.checkout == row.checkout && other.fate == Some(Fate::Kept)
            })
        };
        let replaced = |row: &&ChargeRecord| {
            row.tenant == *tenant
                && row.account == *account
                && row.fate == Some(Fate::Returned)
                && is_kept(row)
        };
        let mut found: Vec<_> = self.rows.charges.values().filter(replaced).cloned().collect();
        found.sort_by_key(|row| (Reverse(row.at), row.object.clone()));
        found.truncate(limit as usize);
        Ok(found)
    }

    async fn extra(&mut self, object: &ObjectId) -> Result<Option<ChargeRecord>, Abort> {
        Ok(self
            .rows
            .extras()
            .filter(|row| row.object == *object)
            .min_by_key(|row| row.fate.is_some())
            .cloned())
    }

    async fn update_charge_sums(&mut self, row: &ChargeRecord, before: &ChargeRecord) -> Result<bool, Abort> {
        let sums = |row: &ChargeRecord| (row.reserved_minor, row.refunded_minor);
        let within = row.reserved_minor >= 0
            && row.refunded_minor >= 0
            && row.reserved_minor + row.refunded_minor <= row.amount.minor();
        if !within && !planted::is(Fault::RefundSumNotCompared) {
            return Err(refused("charge").into());
        }
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        let set = |found: &mut ChargeRecord| (found.reserved_minor, found.refunded_minor) = sums(row);
        Ok(self.rows.charges.change(&key, |found| sums(found) == sums(before), set))
    }

    async fn update_charge_fate(&mut self, row: &ChargeRecord, before: &ChargeRecord) -> Result<bool, Abort> {
        if row.fate == Some(Fate::Kept) && !row.extra {
            return Err(refused("charge").into());
        }
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        let kept = |other: &&ChargeRecord| {
            other.checkout == row.checkout && other.object != row.object && other.fate == Some(Fate::Kept)
        };
        if row.fate == Some(Fate::Kept) && self.rows.charges.values().any(|other| kept(&other)) {
            return Err(Abort::Raced);
        }
        let seen = |row: &ChargeRecord| (row.fate, row.reserved_minor, row.refunded_minor);
        Ok(self.rows.charges.change(&key, |found| seen(found) == seen(before), |found| found.fate = row.fate))
    }
}
