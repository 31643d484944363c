//! Table `attempt`.

use async_trait::async_trait;
use payment::{AttemptId, OperationId, Timestamp};

use super::{Row, SqlTables, tables::Done};
use crate::{AttemptRecord, StoreError, Tenant, tables::AttemptTables};

const OF_OPERATION: &str = "SELECT id, operation_id, number, fence, started_at_ms, outcome FROM attempt \
     WHERE merchant_id = $1 AND operation_id = $2 ORDER BY number";

const INSERT: &str = "INSERT INTO attempt (merchant_id, id, operation_id, number, fence, started_at_ms) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (merchant_id, operation_id, number) DO NOTHING";

const OUTCOME: &str =
    "UPDATE attempt SET outcome = $1 WHERE merchant_id = $2 AND id = $3 AND outcome IS NULL";

#[async_trait]
impl AttemptTables for SqlTables<'_> {
    async fn insert_attempt(&mut self, tenant: &Tenant, row: &AttemptRecord) -> Done<bool> {
        let values = vec![
            tenant.merchant.as_str().into(),
            row.id.0.into(),
            row.operation.0.into(),
            row.number.into(),
            row.fence.into(),
            row.started_at.0.into(),
        ];
        self.one(INSERT, values).await
    }

    async fn update_attempt_outcome(&mut self, tenant: &Tenant, id: AttemptId, outcome: &str) -> Done<bool> {
        let values = vec![outcome.into(), tenant.merchant.as_str().into(), id.0.into()];
        self.one(OUTCOME, values).await
    }

    async fn attempts(&mut self, tenant: &Tenant, operation: OperationId) -> Done<Vec<AttemptRecord>> {
        self.all(OF_OPERATION, vec![tenant.merchant.as_str().into(), operation.0.into()], read).await
    }
}

fn read(mut row: Row) -> Result<AttemptRecord, StoreError> {
    Ok(AttemptRecord {
        id: AttemptId(row.uuid()?),
        operation: OperationId(row.uuid()?),
        number: row.int()?,
        fence: row.int()?,
        started_at: Timestamp(row.int()?),
        outcome: row.text_opt()?,
    })
}
