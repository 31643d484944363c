//! Table `operation`.

use payment::{Holder, IntentId, ObjectId, OperationId, ProviderAccount, ProviderKey, Timestamp};

use super::{Row, Value, session::unreadable};
use crate::{Frozen, Lease, OperationRecord, Stage, StoreError, Tenant};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, intent_id, stage, provider_key, provider_kind, provider_account, provider_url, request_method, \
             request_path, request_body, first_sent_at_ms, execute_until_ms, provider_object_id, holder, lease_until_ms, \
             fence, tries, wake_at_ms FROM operation WHERE merchant_id = $1 AND mode = $2 AND ",
            $rest
        )
    };
}

pub(super) const FIND: &str = select!("id = $3");
pub(super) const FIND_PAY: &str = select!("intent_id = $3 AND kind = 'pay'");

pub(super) const INSERT: &str = "INSERT INTO operation (merchant_id, mode, id, intent_id, kind, stage, provider_key, fence, \
     tries) VALUES ($1, $2, $3, $4, 'pay', $5, $6, $7, $8) ON CONFLICT (merchant_id, intent_id) WHERE kind = 'pay' DO NOTHING";

pub(super) const UPDATE: &str = "UPDATE operation SET stage = $1, provider_kind = $2, provider_account = $3, provider_url = $4, \
     request_method = $5, request_path = $6, request_body = $7, first_sent_at_ms = $8, execute_until_ms = $9, \
     provider_object_id = $10, holder = $11, lease_until_ms = $12, fence = $13, tries = $14, wake_at_ms = $15 \
     WHERE merchant_id = $16 AND mode = $17 AND id = $18 AND fence = $19";

/// Only stages this version knows: an older binary leaves newer rows alone.
pub(super) const DUE: &str = "SELECT merchant_id, mode, id FROM operation WHERE wake_at_ms <= $1 \
     AND stage IN ('open', 'review') ORDER BY wake_at_ms, id LIMIT $2";

pub(super) fn update_values(row: &OperationRecord, fence: i64) -> Vec<Value> {
    let frozen = row.frozen.as_ref();
    vec![
        row.stage.as_str().into(),
        frozen.map(|f| f.provider.as_str()).into(),
        frozen.map(|f| f.account.as_str()).into(),
        frozen.map(|f| f.url.as_str()).into(),
        frozen.map(|f| f.method.as_str()).into(),
        frozen.map(|f| f.path.as_str()).into(),
        frozen.map(|f| f.sealed_body.as_slice()).into(),
        row.first_sent_at.map(|at| at.0).into(),
        row.execute_until.map(|at| at.0).into(),
        row.object.as_ref().map(ObjectId::as_str).into(),
        row.lease.map(|lease| lease.holder.0).into(),
        row.lease.map(|lease| lease.until.0).into(),
        row.fence.into(),
        row.tries.into(),
        row.wake_at.map(|at| at.0).into(),
        row.tenant.merchant.as_str().into(),
        row.tenant.mode.as_str().into(),
        row.id.0.into(),
        fence.into(),
    ]
}

pub(super) fn read(tenant: &Tenant, mut row: Row) -> Result<OperationRecord, StoreError> {
    Ok(OperationRecord {
        tenant: tenant.clone(),
        id: OperationId(row.uuid()?),
        intent: IntentId(row.uuid()?),
        stage: row.parsed(|text| Stage::ALL.into_iter().find(|stage| stage.as_str() == text))?,
        provider_key: ProviderKey(row.uuid()?),
        frozen: read_frozen(&mut row)?,
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
        wake_at: row.int_opt()?.map(Timestamp),
    })
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
