//! Table `outbox`.

use async_trait::async_trait;
use payment::{EffectId, EffectKind, EffectSubject, Holder, IntentId, MerchantId, Timestamp};

use super::{
    Row, SqlTables, Value,
    checkout::read_tenant,
    lines,
    session::unreadable,
    tables::{Done, scoped},
};
use crate::{EffectRecord, EffectState, Lease, StoreError, Tenant, tables::OutboxTables};

const INSERT: &str = "INSERT INTO outbox (merchant_id, mode, id, kind, subject_kind, subject_id, intent_id, created_at_ms, \
     state, fence, tries, wake_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
     ON CONFLICT (merchant_id, kind, subject_kind, subject_id) DO NOTHING";

const FIND: &str = "SELECT id, kind, subject_kind, subject_id, intent_id, created_at_ms, state, holder, lease_until_ms, fence, \
     tries, first_tried_at_ms, outcome, wake_at_ms FROM outbox WHERE merchant_id = $1 AND mode = $2 AND id = $3";

const UPDATE: &str = "UPDATE outbox SET state = $1, holder = $2, lease_until_ms = $3, fence = $4, tries = $5, \
     first_tried_at_ms = $6, outcome = $7, wake_at_ms = $8 \
     WHERE merchant_id = $9 AND mode = $10 AND id = $11 AND fence = $12 AND state = 'waiting'";

/// Only kinds this version knows: an older binary leaves newer rows alone. [`lines`] of those passed over.
const DUE: &str = "SELECT merchant_id, mode, id FROM outbox WHERE wake_at_ms <= $1 \
     AND replace($2, '\n' || merchant_id || '\n', '') = $2 AND state = 'waiting' \
     AND kind IN ('checkout.paid', 'receipt', 'result_known') ORDER BY wake_at_ms, id LIMIT $3";

const UNDELIVERED: &str = "SELECT merchant_id, mode, id FROM outbox WHERE state IN ('delivery_unknown', 'abandoned') \
     ORDER BY merchant_id, mode, id LIMIT $1";

#[async_trait]
impl OutboxTables for SqlTables<'_> {
    async fn insert_effect(&mut self, row: &EffectRecord) -> Done<bool> {
        let (subject_kind, subject_id) = row.subject.parts();
        let mut values = scoped(&row.tenant, row.id.0);
        values.extend([
            row.kind.as_str().into(),
            subject_kind.into(),
            subject_id.into(),
            row.intent.0.into(),
            row.created_at.0.into(),
            row.state.as_str().into(),
            row.fence.into(),
            row.tries.into(),
            row.wake_at.map(|at| at.0).into(),
        ]);
        self.one(INSERT, values).await
    }

    async fn effect(&mut self, tenant: &Tenant, id: EffectId) -> Done<Option<EffectRecord>> {
        self.first(FIND, scoped(tenant, id.0), |row| read(tenant, row)).await
    }

    async fn update_effect(&mut self, row: &EffectRecord, fence: i64) -> Done<bool> {
        let mut values: Vec<Value> = vec![
            row.state.as_str().into(),
            row.lease.map(|lease| lease.holder.0).into(),
            row.lease.map(|lease| lease.until.0).into(),
            row.fence.into(),
            row.tries.into(),
            row.first_tried_at.map(|at| at.0).into(),
            row.outcome.as_deref().into(),
            row.wake_at.map(|at| at.0).into(),
        ];
        values.extend(scoped(&row.tenant, row.id.0));
        values.push(fence.into());
        self.one(UPDATE, values).await
    }

    async fn due_effects(
        &mut self,
        now: Timestamp,
        busy: &[MerchantId],
        limit: u32,
    ) -> Done<Vec<(Tenant, EffectId)>> {
        self.all(DUE, vec![now.0.into(), lines(busy), i64::from(limit).into()], read_id).await
    }

    async fn undelivered_effects(&mut self, limit: u32) -> Done<Vec<(Tenant, EffectId)>> {
        self.all(UNDELIVERED, vec![i64::from(limit).into()], read_id).await
    }
}

fn read_id(mut row: Row) -> Result<(Tenant, EffectId), StoreError> {
    Ok((read_tenant(&mut row)?, EffectId(row.uuid()?)))
}

fn read(tenant: &Tenant, mut row: Row) -> Result<EffectRecord, StoreError> {
    Ok(EffectRecord {
        tenant: tenant.clone(),
        id: EffectId(row.uuid()?),
        kind: row.parsed(EffectKind::parse)?,
        subject: {
            let (kind, id) = (row.text()?, row.uuid()?);
            EffectSubject::parse(&kind, id).ok_or_else(|| unreadable("an effect's subject"))?
        },
        intent: IntentId(row.uuid()?),
        created_at: Timestamp(row.int()?),
        state: row.parsed(|text| EffectState::ALL.into_iter().find(|state| state.as_str() == text))?,
        lease: match (row.uuid_opt()?, row.int_opt()?) {
            (Some(holder), Some(until)) => Some(Lease { holder: Holder(holder), until: Timestamp(until) }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(unreadable("half a lease")),
        },
        fence: row.int()?,
        tries: row.int()?,
        first_tried_at: row.int_opt()?.map(Timestamp),
        outcome: row.text_opt()?,
        wake_at: row.int_opt()?.map(Timestamp),
    })
}
