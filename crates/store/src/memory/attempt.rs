//! An operation's sends, in memory.

use async_trait::async_trait;
use payment::{AttemptId, OperationId};

use super::{Draft, put};
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
        Ok(!numbered && put(&mut self.rows.attempts, (tenant.clone(), row.id), row.clone()))
    }

    async fn update_attempt_outcome(
        &mut self,
        tenant: &Tenant,
        id: AttemptId,
        outcome: &str,
    ) -> Result<bool, Abort> {
        let row = self.rows.attempts.get_mut(&(tenant.clone(), id)).filter(|row| row.outcome.is_none());
        let Some(row) = row else { return Ok(false) };
        row.outcome = Some(outcome.to_owned());
        Ok(true)
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
            .filter(|((owner, _), row)| owner == tenant && row.operation == operation);
        let mut found: Vec<_> = of_tenant.map(|(_, row)| row.clone()).collect();
        found.sort_by_key(|row| row.number);
        Ok(found)
    }
}
