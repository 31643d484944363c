//! Table `idempotency_key`: what a key names, for ever.

use payment::{CheckoutId, Fingerprint, IdempotencyKey, IntentId, KeyKind, Timestamp};

use super::{Row, session::unreadable};
use crate::{Answer, KeyUse, StoreError, Tenant, tables::KeyRow};

pub(super) const FIND: &str = "SELECT key, canonical, checkout_id, intent_id, created_at_ms, answer_status, answer_location, \
     answer_body FROM idempotency_key WHERE merchant_id = $1 AND mode = $2 AND kind = $3 AND key = $4";

pub(super) const INSERT: &str = "INSERT INTO idempotency_key (merchant_id, mode, kind, key, canonical, digest, checkout_id, \
     intent_id, created_at_ms, answer_status, answer_location, answer_body) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (merchant_id, mode, kind, key) DO NOTHING";

pub(super) const ANSWER: &str = "UPDATE idempotency_key SET answer_status = $1, answer_location = $2, answer_body = $3 \
     WHERE merchant_id = $4 AND mode = $5 AND kind = $6 AND key = $7 AND answer_status IS NULL";

pub(super) fn read(tenant: &Tenant, kind: KeyKind, mut row: Row) -> Result<KeyRow, StoreError> {
    let key = row.parsed(|text| IdempotencyKey::parse(text).ok())?;
    let fingerprint = Fingerprint::from_canonical(row.text()?);
    let (checkout, intent) = (CheckoutId(row.uuid()?), IntentId(row.uuid()?));
    let created_at = Timestamp(row.int()?);
    let (status, location, body) = (row.int_opt()?, row.text_opt()?, row.bytes_opt()?);
    let answer = status.zip(body).map(|(status, body)| {
        let status = u16::try_from(status).map_err(|_| unreadable("an answer's status"))?;
        Ok::<_, StoreError>(Answer { status, location, body })
    });
    let key = KeyUse { tenant: tenant.clone(), kind, key, fingerprint };
    Ok(KeyRow { key, checkout, intent, created_at, answer: answer.transpose()? })
}
