//! An operation's sends, in memory.

use async_trait::async_trait;
use payment::{AttemptId, OperationId};

use super::Draft;
use crate::{
    AttemptRecord, Tenant,
    tables::{Abort, AttemptTables},
};

#[async_trait]
impl AttemptTables for Draft {
    async fn insert_attempt(&mut self, tenant: &Tenant, row: &AttemptRecord) -> Result<bool, Abort> {
        let numbered = self
            .rows
            .attempts
            .values()
            .any(|other| other.operation == row.operation && other.number == row.number);
        Ok(!numbered && self.rows.attempts.insert((tenant.clone(), row.id), row.clone()))
    }

    async fn update_attempt_outcome(
        &mut self,
        tenant: &Tenant,
        id: AttemptId,
        outcome: &str,
    ) -> Result<bool, Abort> {
        let set = |row: &mut AttemptRecord| row.outcome = Some(outcome.to_owned());
        Ok(self.rows.attempts.change(&(tenant.clone(), id), |row| row.outcome.is_none(), set))
    }

    async fn attempts(
        &mut self,
        tenant: &Tenant,
        operation: OperationId,
    ) -> Result<Vec<AttemptRecord>, Abort> {
        let of_tenant = self
            .rows
            .attempts
            .iter()
            .filter(|((owner, _), row)| row.operation == operation && owner == tenant);
        let mut found: Vec<_> = of_tenant.map(|(_, row)| row.clone()).collect();
        found.sort_by_key(|row| row.number);
        Ok(found)
    }
}
