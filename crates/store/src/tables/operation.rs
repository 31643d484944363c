//! The rows of operations.

use async_trait::async_trait;
use payment::{Holder, IntentId, MerchantId, ObjectId, OperationId, ProviderAccount, Timestamp};

use super::Abort;
use crate::{OperationRecord, Tenant};

/// One transaction's view of the operations.
#[async_trait]
pub trait OperationTables: Send {
    /// An operation.
    async fn operation(&mut self, tenant: &Tenant, id: OperationId)
    -> Result<Option<OperationRecord>, Abort>;
    /// An intent's pay operation.
    async fn pay_operation(
        &mut self,
        tenant: &Tenant,
        intent: IntentId,
    ) -> Result<Option<OperationRecord>, Abort>;
    /// An intent's captures, cancels and refunds, oldest first.
    async fn follow_ups(&mut self, tenant: &Tenant, intent: IntentId) -> Result<Vec<OperationRecord>, Abort>;
    /// The operation that is linked to a provider's object.
    async fn linked_operation(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<OperationRecord>, Abort>;
    /// Operations that wait for a person, oldest first.
    async fn operations_in_review(&mut self, limit: u32) -> Result<Vec<(Tenant, OperationId)>, Abort>;
    /// Whose operation it is, if it waits for a person.
    async fn operation_in_review(&mut self, id: OperationId) -> Result<Option<(Tenant, OperationId)>, Abort>;
    /// The pay operation of an intent that waits for a person, and whose.
    async fn payment_in_review(&mut self, intent: IntentId) -> Result<Option<(Tenant, OperationId)>, Abort>;
    /// The newest operation that is frozen to an account, finished or not.
    async fn newest_of_account(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
    ) -> Result<Option<OperationRecord>, Abort>;
    /// The newest of the unfinished operations of each account.
    async fn newest_unfinished(&mut self) -> Result<Vec<(Tenant, OperationId)>, Abort>;
    /// A new operation; one pay operation per intent, one unfinished capture or cancel, one unfinished refund per payment.
    async fn insert_operation(&mut self, row: &OperationRecord) -> Result<bool, Abort>;
    /// Everything but its identity, if the fence is still `fence`.
    async fn update_operation(&mut self, row: &OperationRecord, fence: i64) -> Result<bool, Abort>;
    /// Operations whose wake-up has come, earliest first; none of the busy merchants'.
    async fn due_operations(
        &mut self,
        now: Timestamp,
        busy: &[MerchantId],
        limit: u32,
    ) -> Result<Vec<(Tenant, OperationId)>, Abort>;
    /// What this holder holds and would have to wake up by `until` is due now, under the next fence.
    async fn release(&mut self, holder: Holder, now: Timestamp, until: Timestamp) -> Result<(), Abort>;
}
