//! Table `operation`.

use std::sync::Arc;

use async_trait::async_trait;
use payment::{
    Holder, IntentId, MerchantId, ObjectId, OperationId, OperationKind, ProviderAccount, ProviderKey,
    Timestamp,
};

use super::{
    Row, SqlTables, Value,
    checkout::{read_money_opt, read_tenant},
    lines,
    session::unreadable,
    tables::{Done, scoped},
};
use crate::{
    FollowUp, Frozen, Lease, OperationRecord, Stage, StoreError, Task, Tenant, tables::OperationTables,
};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, intent_id, kind, state_data, target_object_id, amount_minor, currency, exponent, stage, provider_key, \
             provider_kind, provider_account, provider_url, request_method, request_path, request_body, first_sent_at_ms, \
             execute_until_ms, provider_object_id, holder, lease_until_ms, fence, tries, unfinished, wake_at_ms, \
             not_before_ms, looked_at_ms, absent_since_ms FROM operation WHERE merchant_id = $1 AND mode = $2 AND ",
            $rest
        )
    };
}

const FIND: &str = select!("id = $3");
const FIND_PAY: &str = select!("intent_id = $3 AND kind = 'pay'");
const FOLLOW_UPS: &str = select!("intent_id = $3 AND kind <> 'pay' ORDER BY first_sent_at_ms, id");
const LINKED: &str =
    select!("provider_account = $3 AND provider_object_id = $4 AND kind IN ('pay', 'refund')");

const INSERT: &str = "INSERT INTO operation (merchant_id, mode, id, intent_id, kind, stage, provider_key, fence, \
     tries, unfinished) VALUES ($1, $2, $3, $4, 'pay', $5, $6, $7, $8, $9) \
     ON CONFLICT (merchant_id, intent_id) WHERE kind = 'pay' DO NOTHING";

/// Its unique indexes differ by kind: a conflict is told by the index, and the flow runs again.
const INSERT_FOLLOW_UP: &str = "INSERT INTO operation (merchant_id, mode, id, intent_id, kind, target_object_id, \
     amount_minor, currency, exponent, provider_key, state_data, stage, provider_kind, provider_account, provider_url, \
     request_method, request_path, request_body, first_sent_at_ms, execute_until_ms, fence, tries, unfinished, wake_at_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)";

const UPDATE: &str = "UPDATE operation SET state_data = $1, stage = $2, provider_kind = $3, provider_account = $4, \
     provider_url = $5, request_method = $6, request_path = $7, request_body = $8, first_sent_at_ms = $9, \
     execute_until_ms = $10, provider_object_id = $11, holder = $12, lease_until_ms = $13, fence = $14, tries = $15, \
     unfinished = $16, wake_at_ms = $17, not_before_ms = $18, looked_at_ms = $19, absent_since_ms = $20 \
     WHERE merchant_id = $21 AND mode = $22 AND id = $23 AND fence = $24";

const IN_REVIEW: &str = "SELECT merchant_id, mode, id FROM operation WHERE stage = 'review' \
     ORDER BY merchant_id, mode, id LIMIT $1";

const ONE_IN_REVIEW: &str = "SELECT merchant_id, mode, id FROM operation WHERE stage = 'review' AND id = $1";
const PAYMENT_IN_REVIEW: &str = "SELECT merchant_id, mode, id FROM operation WHERE stage = 'review' \
     AND kind = 'pay' AND intent_id = $1";

/// Found by when it wakes up: at the end of its lease at the latest.
const RELEASE: &str = "UPDATE operation SET holder = NULL, lease_until_ms = NULL, fence = fence + 1, wake_at_ms = $1 \
     WHERE holder = $2 AND wake_at_ms <= $3";

/// Only stages this version knows: an older binary leaves newer rows alone. [`lines`](super::lines) of those passed over.
const DUE: &str = "SELECT merchant_id, mode, id FROM operation WHERE wake_at_ms <= $1 \
     AND replace($2, '\n' || merchant_id || '\n', '') = $2 AND stage IN ('open', 'review') \
     ORDER BY wake_at_ms, id LIMIT $3";

/// Databases differ in where they put what has no time: what was only adopted, and never sent, is the oldest.
const NEWEST_OF_ACCOUNT: &str = select!(
    "provider_account = $3 ORDER BY first_sent_at_ms IS NULL, first_sent_at_ms DESC, id DESC LIMIT 1"
);

/// What is unfinished has a wake-up: the index of those that are due holds it.
const NEWEST_UNFINISHED: &str = "SELECT merchant_id, mode, id FROM (SELECT merchant_id, mode, id, \
     ROW_NUMBER() OVER (PARTITION BY merchant_id, mode, provider_account \
     ORDER BY first_sent_at_ms IS NULL, first_sent_at_ms DESC, id DESC) AS place \
     FROM operation WHERE wake_at_ms IS NOT NULL) AS unfinished WHERE place = 1 ORDER BY merchant_id, mode, id";

#[async_trait]
impl OperationTables for SqlTables<'_> {
    async fn operation(&mut self, tenant: &Tenant, id: OperationId) -> Done<Option<OperationRecord>> {
        self.first(FIND, scoped(tenant, id.0), |row| read(tenant, row)).await
    }

    async fn pay_operation(&mut self, tenant: &Tenant, intent: IntentId) -> Done<Option<OperationRecord>> {
        self.first(FIND_PAY, scoped(tenant, intent.0), |row| read(tenant, row)).await
    }

    async fn follow_ups(&mut self, tenant: &Tenant, intent: IntentId) -> Done<Vec<OperationRecord>> {
        self.all(FOLLOW_UPS, scoped(tenant, intent.0), |row| read(tenant, row)).await
    }

    async fn linked_operation(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Done<Option<OperationRecord>> {
        let mut values = scoped(tenant, account.as_str());
        values.push(object.as_str().into());
        self.first(LINKED, values, |row| read(tenant, row)).await
    }

    async fn operations_in_review(&mut self, limit: u32) -> Done<Vec<(Tenant, OperationId)>> {
        self.all(IN_REVIEW, vec![i64::from(limit).into()], read_name).await
    }

    async fn newest_of_account(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
    ) -> Done<Option<OperationRecord>> {
        let values = scoped(tenant, account.as_str());
        self.first(NEWEST_OF_ACCOUNT, values, |row| read(tenant, row)).await
    }

    async fn newest_unfinished(&mut self) -> Done<Vec<(Tenant, OperationId)>> {
        self.all(NEWEST_UNFINISHED, Vec::new(), read_name).await
    }

    async fn operation_in_review(&mut self, id: OperationId) -> Done<Option<(Tenant, OperationId)>> {
        self.first(ONE_IN_REVIEW, vec![id.0.into()], read_name).await
    }

    async fn payment_in_review(&mut self, intent: IntentId) -> Done<Option<(Tenant, OperationId)>> {
        self.first(PAYMENT_IN_REVIEW, vec![intent.0.into()], read_name).await
    }

    async fn insert_operation(&mut self, row: &OperationRecord) -> Done<bool> {
        let mut values = scoped(&row.tenant, row.id.0);
        values.push(row.intent.0.into());
        match &row.task {
            Task::Pay => {
                values.extend([
                    row.stage.as_str().into(),
                    row.provider_key.0.into(),
                    row.fence.into(),
                    row.tries.into(),
                    row.unfinished.into(),
                ]);
                self.one(INSERT, values).await
            }
            Task::FollowUp(follow_up) => {
                values.extend(follow_up_values(row, follow_up));
                self.one(INSERT_FOLLOW_UP, values).await
            }
        }
    }

    async fn update_operation(&mut self, row: &OperationRecord, fence: i64) -> Done<bool> {
        self.one(UPDATE, update_values(row, fence)).await
    }

    async fn due_operations(
        &mut self,
        now: Timestamp,
        busy: &[MerchantId],
        limit: u32,
    ) -> Done<Vec<(Tenant, OperationId)>> {
        let values = vec![now.0.into(), lines(busy), i64::from(limit).into()];
        self.all(DUE, values, read_name).await
    }

    async fn release(&mut self, holder: Holder, now: Timestamp, until: Timestamp) -> Done<()> {
        let values = vec![now.0.into(), holder.0.into(), until.0.into()];
        self.session.execute(RELEASE, values).await?;
        Ok(())
    }
}

fn frozen_values(row: &OperationRecord) -> [Value; 6] {
    let frozen = row.frozen.as_ref();
    [
        frozen.map(|f| f.provider.as_str()).into(),
        frozen.map(|f| f.account.as_str()).into(),
        frozen.map(|f| f.url.as_str()).into(),
        frozen.map(|f| f.method.as_str()).into(),
        frozen.map(|f| f.path.as_str()).into(),
        frozen.map(|f| f.sealed_body.as_slice()).into(),
    ]
}

fn state_value(row: &OperationRecord) -> Value {
    match &row.task {
        Task::Pay => Value::Null,
        Task::FollowUp(follow_up) => serde_json::to_string(&follow_up.state).expect("a state is JSON").into(),
    }
}

/// The values of `INSERT_FOLLOW_UP` from the kind on.
fn follow_up_values(row: &OperationRecord, follow_up: &FollowUp) -> Vec<Value> {
    let amount = follow_up.amount;
    let mut values = vec![
        follow_up.kind.as_str().into(),
        follow_up.target.as_str().into(),
        amount.map(|amount| amount.minor()).into(),
        amount.map(|amount| amount.currency().code()).into(),
        amount.map(|amount| i64::from(amount.currency().exponent())).into(),
        row.provider_key.0.into(),
        state_value(row),
        row.stage.as_str().into(),
    ];
    values.extend(frozen_values(row));
    values.extend([
        row.first_sent_at.map(|at| at.0).into(),
        row.execute_until.map(|at| at.0).into(),
        row.fence.into(),
        row.tries.into(),
        row.unfinished.into(),
        row.wake_at.map(|at| at.0).into(),
    ]);
    values
}

fn update_values(row: &OperationRecord, fence: i64) -> Vec<Value> {
    let mut values = vec![state_value(row), row.stage.as_str().into()];
    values.extend(frozen_values(row));
    values.extend([
        row.first_sent_at.map(|at| at.0).into(),
        row.execute_until.map(|at| at.0).into(),
        row.object.as_ref().map(ObjectId::as_str).into(),
        row.lease.map(|lease| lease.holder.0).into(),
        row.lease.map(|lease| lease.until.0).into(),
        row.fence.into(),
        row.tries.into(),
        row.unfinished.into(),
        row.wake_at.map(|at| at.0).into(),
        row.not_before.map(|at| at.0).into(),
        row.looked_at.map(|at| at.0).into(),
        row.absent_since.map(|at| at.0).into(),
        row.tenant.merchant.as_str().into(),
        row.tenant.mode.as_str().into(),
        row.id.0.into(),
        fence.into(),
    ]);
    values
}

/// Which operation it is, and whose.
fn read_name(mut row: Row) -> Result<(Tenant, OperationId), StoreError> {
    Ok((read_tenant(&mut row)?, OperationId(row.uuid()?)))
}

fn read(tenant: &Tenant, mut row: Row) -> Result<OperationRecord, StoreError> {
    Ok(OperationRecord {
        tenant: tenant.clone(),
        id: OperationId(row.uuid()?),
        intent: IntentId(row.uuid()?),
        task: read_task(&mut row)?,
        stage: row.parsed(|text| Stage::ALL.into_iter().find(|stage| stage.as_str() == text))?,
        provider_key: ProviderKey(row.uuid()?),
        frozen: read_frozen(&mut row)?.map(Arc::new),
        first_sent_at: row.int_opt()?.map(Timestamp),
        execute_until: row.int_opt()?.map(Timestamp),
        object: row.text_opt()?.map(object_id).transpose()?,
        lease: match (row.uuid_opt()?, row.int_opt()?) {
            (Some(holder), Some(until)) => Some(Lease { holder: Holder(holder), until: Timestamp(until) }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(unreadable("half a lease")),
        },
        fence: row.int()?,
        tries: row.int()?,
        unfinished: row.int()?,
        wake_at: row.int_opt()?.map(Timestamp),
        not_before: row.int_opt()?.map(Timestamp),
        looked_at: row.int_opt()?.map(Timestamp),
        absent_since: row.int_opt()?.map(Timestamp),
    })
}

fn read_task(row: &mut Row) -> Result<Task, StoreError> {
    let kind = row.parsed(|text| OperationKind::ALL.into_iter().find(|kind| kind.as_str() == text))?;
    let (state, target, amount) = (row.text_opt()?, row.text_opt()?, read_money_opt(row)?);
    match (kind, state, target) {
        (OperationKind::Pay, None, None) => Ok(Task::Pay),
        (
            OperationKind::Capture | OperationKind::Cancel | OperationKind::Refund,
            Some(state),
            Some(target),
        ) => {
            let state = serde_json::from_str(&state).map_err(|_| unreadable("an operation's state"))?;
            Ok(Task::FollowUp(FollowUp { kind, target: object_id(target)?, amount, state }))
        }
        (..) => Err(unreadable("half an operation")),
    }
}

fn object_id(text: String) -> Result<ObjectId, StoreError> {
    ObjectId::parse(text).map_err(|_| unreadable("a provider's object id"))
}

fn read_frozen(row: &mut Row) -> Result<Option<Frozen>, StoreError> {
    let (provider, account, url) = (row.text_opt()?, row.text_opt()?, row.text_opt()?);
    let (method, path, sealed_body) = (row.text_opt()?, row.text_opt()?, row.bytes_opt()?);
    match (provider, account, url, method, path, sealed_body) {
        (Some(provider), Some(account), Some(url), Some(method), Some(path), Some(sealed_body)) => {
            let account = ProviderAccount::parse(account).map_err(|_| unreadable("a provider account"))?;
            Ok(Some(Frozen { provider, account, url, method, path, sealed_body }))
        }
        (None, None, None, None, None, None) => Ok(None),
        (..) => Err(unreadable("half a frozen request")),
    }
}
