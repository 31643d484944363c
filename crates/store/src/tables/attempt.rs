//! The rows of an operation's sends.

use async_trait::async_trait;
use payment::{AttemptId, OperationId};

use super::Abort;
use crate::{AttemptRecord, Tenant};

/// One transaction's view of the sends.
#[async_trait]
pub trait AttemptTables: Send {
    /// A new send.
    async fn insert_attempt(&mut self, tenant: &Tenant, row: &AttemptRecord) -> Result<bool, Abort>;
    /// How a send ended, if it had not.
    async fn update_attempt_outcome(
        &mut self,
        tenant: &Tenant,
        id: AttemptId,
        outcome: &str,
    ) -> Result<bool, Abort>;
    /// An operation's sends, oldest first.
    async fn attempts(
        &mut self,
        tenant: &Tenant,
        operation: OperationId,
    ) -> Result<Vec<AttemptRecord>, Abort>;
}
