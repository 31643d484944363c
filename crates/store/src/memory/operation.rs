//! Operations, in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use payment::{
    Holder, IntentId, MerchantId, ObjectId, OperationId, OperationKind, ProviderAccount, Timestamp,
};
use planted::Fault;

use super::{Draft, refused};
use crate::{
    OperationRecord, Rows, Stage, StoreError, Task, Tenant,
    tables::{Abort, OperationTables},
};

impl Rows {
    fn operation_taken(&self, row: &OperationRecord) -> bool {
        self.operations
            .values()
            .filter(|other| other.id != row.id && other.tenant.merchant == row.tenant.merchant)
            .any(|other| {
                let same_key = row.provider_key == other.provider_key;
                let same_object = row.object.is_some() && row.object == other.object;
                let own_objects = makes_object(row) && makes_object(other);
                one_of_its_kind(row, other)
                    || (account(row).is_some()
                        && account(row) == account(other)
                        && (same_key || (same_object && own_objects)))
            })
    }

    fn check_operation(row: &OperationRecord) -> Result<(), StoreError> {
        let unwatched = row.stage == Stage::Open && row.wake_at.is_none();
        let needless = matches!(row.stage, Stage::Created | Stage::Done) && row.wake_at.is_some();
        let bare = matches!(row.stage, Stage::Open | Stage::Review)
            && (row.frozen.is_none() || row.execute_until.is_none());
        if unwatched || needless || bare {
            return Err(refused("operation"));
        }
        Ok(())
    }
}

/// The account it is frozen to.
fn account(row: &OperationRecord) -> Option<&ProviderAccount> {
    row.frozen.as_ref().map(|frozen| &frozen.account)
}

/// Whether the object it is linked to is its own: a capture or a cancel only acts on another's.
fn makes_object(row: &OperationRecord) -> bool {
    match row.task.kind() {
        OperationKind::Pay | OperationKind::Refund => true,
        OperationKind::Capture | OperationKind::Cancel => false,
    }
}

/// What the partial unique indexes allow once: an intent's pay operation, its unfinished capture or cancel, a payment's
/// unfinished refund.
fn one_of_its_kind(row: &OperationRecord, other: &OperationRecord) -> bool {
    let unfinished = row.stage != Stage::Done && other.stage != Stage::Done;
    match (&row.task, &other.task) {
        (Task::Pay, Task::Pay) => row.intent == other.intent,
        (Task::FollowUp(a), Task::FollowUp(b)) => {
            let refunds = (a.kind == OperationKind::Refund, b.kind == OperationKind::Refund);
            unfinished
                && match refunds {
                    (true, true) => a.target == b.target && !planted::is(Fault::SecondRefund),
                    (false, false) => row.intent == other.intent,
                    (true, false) | (false, true) => false,
                }
        }
        (Task::Pay, Task::FollowUp(_)) | (Task::FollowUp(_), Task::Pay) => false,
    }
}

#[async_trait]
impl OperationTables for Draft {
    async fn operation(
        &mut self,
        tenant: &Tenant,
        id: OperationId,
    ) -> Result<Option<OperationRecord>, Abort> {
        Ok(self.rows.operations.get(&(tenant.clone(), id)).cloned())
    }

    async fn pay_operation(
        &mut self,
        tenant: &Tenant,
        intent: IntentId,
    ) -> Result<Option<OperationRecord>, Abort> {
        let pays =
            |row: &&OperationRecord| row.intent == intent && row.tenant == *tenant && row.task == Task::Pay;
        Ok(self.rows.operations.values().find(pays).cloned())
    }

    async fn follow_ups(&mut self, tenant: &Tenant, intent: IntentId) -> Result<Vec<OperationRecord>, Abort> {
        let follows =
            |row: &&OperationRecord| row.intent == intent && row.tenant == *tenant && row.task != Task::Pay;
        let mut found: Vec<_> = self.rows.operations.values().filter(follows).cloned().collect();
        found.sort_by_key(|row| (row.first_sent_at, row.id));
        Ok(found)
    }

    async fn linked_operation(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<OperationRecord>, Abort> {
        let linked = |row: &&OperationRecord| {
            row.tenant == *tenant
                && makes_object(row)
                && row.object.as_ref() == Some(object)
                && self::account(row) == Some(account)
        };
        Ok(self.rows.operations.values().find(linked).cloned())
    }

    async fn operations_in_review(&mut self, limit: u32) -> Result<Vec<(Tenant, OperationId)>, Abort> {
        let waiting = self.rows.operations.values().filter(|row| row.stage == Stage::Review);
        Ok(waiting.take(limit as usize).map(|row| (row.tenant.clone(), row.id)).collect())
    }

    async fn operation_in_review(&mut self, id: OperationId) -> Result<Option<(Tenant, OperationId)>, Abort> {
        let found = |row: &&OperationRecord| row.stage == Stage::Review && row.id == id;
        Ok(self.rows.operations.values().find(found).map(|row| (row.tenant.clone(), row.id)))
    }

    async fn payment_in_review(&mut self, intent: IntentId) -> Result<Option<(Tenant, OperationId)>, Abort> {
        let found = |row: &&OperationRecord| {
            row.stage == Stage::Review && row.task == Task::Pay && row.intent == intent
        };
        Ok(self.rows.operations.values().find(found).map(|row| (row.tenant.clone(), row.id)))
    }

    async fn newest_of_account(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
    ) -> Result<Option<OperationRecord>, Abort> {
        let of_account =
            |row: &&OperationRecord| row.tenant == *tenant && self::account(row) == Some(account);
        let newest = self.rows.operations.values().filter(of_account);
        Ok(newest.max_by_key(|row| (row.first_sent_at, row.id)).cloned())
    }

    async fn newest_unfinished(&mut self) -> Result<Vec<(Tenant, OperationId)>, Abort> {
        let mut newest = BTreeMap::new();
        let mut unfinished: Vec<_> =
            self.rows.operations.values().filter(|row| row.wake_at.is_some()).collect();
        unfinished.sort_by_key(|row| (row.first_sent_at, row.id));
        for row in unfinished {
            newest.insert((&row.tenant, account(row)), row.id);
        }
        Ok(newest.into_iter().map(|((tenant, _), id)| (tenant.clone(), id)).collect())
    }

    async fn insert_operation(&mut self, row: &OperationRecord) -> Result<bool, Abort> {
        Rows::check_operation(row)?;
        let free = !self.rows.operation_taken(row);
        if !free && row.task != Task::Pay {
            return Err(Abort::Raced);
        }
        Ok(free && self.rows.operations.insert((row.tenant.clone(), row.id), row.clone()))
    }

    async fn update_operation(&mut self, row: &OperationRecord, fence: i64) -> Result<bool, Abort> {
        Rows::check_operation(row)?;
        if self.rows.operation_taken(row) {
            return Ok(false);
        }
        let key = (row.tenant.clone(), row.id);
        let same = |found: &OperationRecord| found.fence == fence || planted::is(Fault::FencePredicate);
        Ok(self.rows.operations.replace(&key, same, row.clone()))
    }

    async fn release(&mut self, holder: Holder, now: Timestamp, until: Timestamp) -> Result<(), Abort> {
        let ends = |row: &OperationRecord| {
            let is_held = row.lease.is_some_and(|lease| lease.holder == holder);
            is_held && row.wake_at.is_some_and(|at| at <= until)
        };
        self.rows.operations.change_all(ends, |row| {
            (row.lease, row.wake_at) = (None, Some(now));
            row.fence += 1;
        });
        Ok(())
    }

    async fn due_operations(
        &mut self,
        now: Timestamp,
        busy: &[MerchantId],
        limit: u32,
    ) -> Result<Vec<(Tenant, OperationId)>, Abort> {
        let rows = self.rows.operations.values().filter(|row| !busy.contains(&row.tenant.merchant));
        let waking = rows.filter_map(|row| row.wake_at.map(|at| (at, row)));
        let mut due: Vec<_> = waking.filter(|(at, _)| *at <= now).collect();
        due.sort_by_key(|(at, row)| (*at, row.id));
        Ok(due.into_iter().take(limit as usize).map(|(_, row)| (row.tenant.clone(), row.id)).collect())
    }
}
