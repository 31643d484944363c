//! The rows of the outbox.

use async_trait::async_trait;
use payment::{EffectId, MerchantId, Timestamp};

use super::Abort;
use crate::{EffectRecord, Tenant};

/// One transaction's view of the outbox.
#[async_trait]
pub trait OutboxTables: Send {
    /// Writes an effect down; false if it is there already.
    async fn insert_effect(&mut self, row: &EffectRecord) -> Result<bool, Abort>;
    /// An effect.
    async fn effect(&mut self, tenant: &Tenant, id: EffectId) -> Result<Option<EffectRecord>, Abort>;
    /// Everything but its identity, if it still waits and the fence is still `fence`.
    async fn update_effect(&mut self, row: &EffectRecord, fence: i64) -> Result<bool, Abort>;
    /// Effects whose next try is due, earliest first.
    async fn due_effects(
        &mut self,
        now: Timestamp,
        busy: &[MerchantId],
        limit: u32,
    ) -> Result<Vec<(Tenant, EffectId)>, Abort>;
    /// Effects that were abandoned, or may not have arrived.
    async fn undelivered_effects(&mut self, limit: u32) -> Result<Vec<(Tenant, EffectId)>, Abort>;
}
