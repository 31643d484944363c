//! Table `payment_intent`.

use payment::{CheckoutId, IntentId, MethodKind, PaidWith, SubmitKey, Timestamp};

use super::{Row, checkout::read_money, session::unreadable};
use crate::{IntentRecord, StoreError, Tenant};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, checkout_id, number, previous_id, submit_key, amount_minor, currency, exponent, checkout_version, \
             state_data, method, last4, email, version, created_at_ms FROM payment_intent \
             WHERE merchant_id = $1 AND mode = $2 AND ",
            $rest
        )
    };
}

pub(super) const FIND: &str = select!("id = $3");
pub(super) const NEWEST: &str = select!("checkout_id = $3 ORDER BY number DESC LIMIT 1");

pub(super) const INSERT: &str = "INSERT INTO payment_intent (merchant_id, mode, id, checkout_id, number, previous_id, \
     submit_key, amount_minor, currency, exponent, checkout_version, state, state_data, method, last4, email, version, \
     created_at_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) \
     ON CONFLICT (merchant_id, checkout_id) WHERE state NOT IN ('declined', 'canceled', 'expired') DO NOTHING";

pub(super) const UPDATE: &str = "UPDATE payment_intent SET state = $1, state_data = $2, method = $3, last4 = $4, \
     email = $5, version = version + 1 WHERE merchant_id = $6 AND mode = $7 AND id = $8 AND version = $9";

pub(super) const SET_EMAIL: &str =
    "UPDATE payment_intent SET email = $1 WHERE merchant_id = $2 AND mode = $3 AND id = $4";

pub(super) fn read(tenant: &Tenant, mut row: Row) -> Result<IntentRecord, StoreError> {
    Ok(IntentRecord {
        tenant: tenant.clone(),
        id: IntentId(row.uuid()?),
        checkout: CheckoutId(row.uuid()?),
        number: row.int()?,
        previous: row.uuid_opt()?.map(IntentId),
        submit_key: SubmitKey(row.uuid()?),
        amount: read_money(&mut row)?,
        checkout_version: row.int()?,
        state: row.parsed(|text| serde_json::from_str(text).ok())?,
        method: row
            .text_opt()?
            .map(|text| MethodKind::parse(&text).ok_or_else(|| unreadable("a method")))
            .transpose()?,
        paid_with: row.text_opt()?.map(|last4| PaidWith { last4: Some(last4) }),
        email: row.text_opt()?,
        version: row.int()?,
        created_at: Timestamp(row.int()?),
    })
}
