//! The rows of what took money.

use async_trait::async_trait;
use payment::{CheckoutId, ObjectId, ProviderAccount};

use super::Abort;
use crate::{ChargeRecord, Tenant};

/// One transaction's view of the charges.
#[async_trait]
pub trait ChargeTables: Send {
    /// A charge of a checkout; one per provider object, one that pays per checkout.
    async fn insert_charge(&mut self, row: &ChargeRecord) -> Result<bool, Abort>;
    /// A charge.
    async fn charge(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<ChargeRecord>, Abort>;
    /// A checkout's charges, oldest first.
    async fn charges(&mut self, tenant: &Tenant, checkout: CheckoutId) -> Result<Vec<ChargeRecord>, Abort>;
    /// Extras that are not refunded in full and that nothing else became of, of every merchant.
    async fn open_extras(&mut self, limit: u32) -> Result<Vec<ChargeRecord>, Abort>;
    /// Charges of an account that went back and in whose place an extra is kept, newest first.
    async fn replaced_charges(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        limit: u32,
    ) -> Result<Vec<ChargeRecord>, Abort>;
    /// That extra, of whatever merchant, if it is open, or if it has a fate; the oldest open one where accounts name theirs alike.
    async fn extra(&mut self, object: &ObjectId) -> Result<Option<ChargeRecord>, Abort>;
    /// New sums, if they are still those of `before`.
    async fn update_charge_sums(&mut self, row: &ChargeRecord, before: &ChargeRecord) -> Result<bool, Abort>;
    /// A new fate, if fate and sums are still those of `before`; one extra is kept per checkout.
    async fn update_charge_fate(&mut self, row: &ChargeRecord, before: &ChargeRecord) -> Result<bool, Abort>;
}
