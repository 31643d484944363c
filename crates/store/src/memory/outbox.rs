//! The rows of the outbox, in memory.

use async_trait::async_trait;
use payment::{EffectId, MerchantId, Timestamp};
use planted::Fault;

use super::{Draft, refused};
use crate::{
    EffectRecord, EffectState, StoreError, Tenant,
    tables::{Abort, OutboxTables},
};

fn check(row: &EffectRecord) -> Result<(), StoreError> {
    let waits = row.state == EffectState::Waiting;
    let fits = waits == row.wake_at.is_some()
        && (waits || row.lease.is_none())
        && (row.tries == 0) == row.first_tried_at.is_none();
    if fits { Ok(()) } else { Err(refused("outbox")) }
}

#[async_trait]
impl OutboxTables for Draft {
    async fn insert_effect(&mut self, row: &EffectRecord) -> Result<bool, Abort> {
        check(row)?;
        let twin = |other: &EffectRecord| {
            (other.kind, other.subject) == (row.kind, row.subject)
                && other.tenant.merchant == row.tenant.merchant
        };
        let once = !self.rows.effects.values().any(twin) || planted::is(Fault::EffectTwice);
        Ok(once && self.rows.effects.insert((row.tenant.clone(), row.id), row.clone()))
    }

    async fn effect(&mut self, tenant: &Tenant, id: EffectId) -> Result<Option<EffectRecord>, Abort> {
        Ok(self.rows.effects.get(&(tenant.clone(), id)).cloned())
    }

    async fn update_effect(&mut self, row: &EffectRecord, fence: i64) -> Result<bool, Abort> {
        check(row)?;
        let writable = |found: &EffectRecord| found.fence == fence && found.state == EffectState::Waiting;
        Ok(self.rows.effects.replace(&(row.tenant.clone(), row.id), writable, row.clone()))
    }

    async fn due_effects(
        &mut self,
        now: Timestamp,
        busy: &[MerchantId],
        limit: u32,
    ) -> Result<Vec<(Tenant, EffectId)>, Abort> {
        let rows = self.rows.effects.values().filter(|row| !busy.contains(&row.tenant.merchant));
        let waking = rows.filter_map(|row| row.wake_at.map(|at| (at, row)));
        let mut due: Vec<_> = waking.filter(|(at, _)| *at <= now).collect();
        due.sort_by_key(|(at, row)| (*at, row.id));
        Ok(due.into_iter().take(limit as usize).map(|(_, row)| (row.tenant.clone(), row.id)).collect())
    }

    async fn undelivered_effects(&mut self, limit: u32) -> Result<Vec<(Tenant, EffectId)>, Abort> {
        let lost =
            |row: &&EffectRecord| matches!(row.state, EffectState::DeliveryUnknown | EffectState::Abandoned);
        let found = self.rows.effects.values().filter(lost).take(limit as usize);
        Ok(found.map(|row| (row.tenant.clone(), row.id)).collect())
    }
}
