//! Table `attempt`.

use payment::{AttemptId, OperationId, Timestamp};

use super::Row;
use crate::{AttemptRecord, StoreError};

pub(super) const OF_OPERATION: &str = "SELECT id, operation_id, number, fence, started_at_ms, outcome FROM attempt \
     WHERE merchant_id = $1 AND operation_id = $2 ORDER BY number";

pub(super) const INSERT: &str = "INSERT INTO attempt (merchant_id, id, operation_id, number, fence, started_at_ms) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (merchant_id, operation_id, number) DO NOTHING";

pub(super) const OUTCOME: &str =
    "UPDATE attempt SET outcome = $1 WHERE merchant_id = $2 AND id = $3 AND outcome IS NULL";

pub(super) fn read(mut row: Row) -> Result<AttemptRecord, StoreError> {
    Ok(AttemptRecord {
        id: AttemptId(row.uuid()?),
        operation: OperationId(row.uuid()?),
        number: row.int()?,
        fence: row.int()?,
        started_at: Timestamp(row.int()?),
        outcome: row.text_opt()?,
    })
}
