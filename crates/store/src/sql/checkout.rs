//! Table `checkout`.

use payment::{Capture, CheckoutId, CheckoutStatus, Currency, MerchantId, Mode, Money, OrderId, Timestamp};

use super::{Row, session::unreadable};
use crate::{CheckoutRecord, StoreError, Tenant};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, order_id, status, version, token_version, amount_minor, currency, exponent, capture, description, \
             return_url, email, metadata, created_at_ms, expires_at_ms FROM checkout WHERE merchant_id = $1 AND mode = $2 AND ",
            $rest
        )
    };
}

pub(super) const FIND: &str = select!("id = $3");
pub(super) const FIND_ORDER: &str = select!("order_id = $3");

/// With the row's lock: every transaction that changes a checkout, or claims under it, takes it first. READ COMMITTED does not
/// re-check a subquery, and only a lock makes what was read stay true.
pub(super) const LOCK: &str = select!("id = $3 FOR UPDATE");
pub(super) const LOCK_ORDER: &str = select!("order_id = $3 FOR UPDATE");

pub(super) const FIRST_ORDER_AT: &str =
    "SELECT MIN(created_at_ms) FROM checkout WHERE merchant_id = $1 AND mode = $2";

pub(super) const INSERT: &str = "INSERT INTO checkout (merchant_id, mode, id, order_id, status, version, token_version, \
     amount_minor, currency, exponent, capture, description, return_url, email, metadata, created_at_ms, expires_at_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) \
     ON CONFLICT (merchant_id, mode, order_id) DO NOTHING";

pub(super) const UPDATE_TERMS: &str = "UPDATE checkout SET status = $1, version = $2, amount_minor = $3, currency = $4, \
     exponent = $5, capture = $6, description = $7, return_url = $8, email = $9, metadata = $10, expires_at_ms = $11 \
     WHERE merchant_id = $12 AND mode = $13 AND id = $14 AND version = $15 AND status <> 'paid'";

pub(super) const UPDATE_STATUS: &str =
    "UPDATE checkout SET status = $1 WHERE merchant_id = $2 AND mode = $3 AND id = $4 AND status = $5";

pub(super) const EXPIRED: &str = "SELECT merchant_id, mode, id FROM checkout WHERE status = 'open' AND expires_at_ms <= $1 \
     AND NOT EXISTS (SELECT 1 FROM payment_intent WHERE payment_intent.merchant_id = checkout.merchant_id \
     AND payment_intent.checkout_id = checkout.id \
     AND payment_intent.state NOT IN ('created', 'succeeded', 'declined', 'canceled', 'expired')) \
     AND NOT EXISTS (SELECT 1 FROM sweep WHERE sweep.merchant_id = checkout.merchant_id AND sweep.mode = checkout.mode \
     AND sweep.gated_from_ms IS NOT NULL) \
     ORDER BY expires_at_ms, id LIMIT $2";

pub(super) fn read(tenant: &Tenant, mut row: Row) -> Result<CheckoutRecord, StoreError> {
    Ok(CheckoutRecord {
        tenant: tenant.clone(),
        id: CheckoutId(row.uuid()?),
        order: row.parsed(|text| OrderId::parse(text).ok())?,
        status: row.parsed(CheckoutStatus::parse)?,
        version: row.int()?,
        token_version: row.int()?,
        amount: read_money(&mut row)?,
        capture: row.parsed(Capture::parse)?,
        description: row.text_opt()?,
        return_url: row.text_opt()?,
        email: row.text_opt()?,
        metadata: row.parsed(|text| serde_json::from_str(text).ok())?,
        created_at: Timestamp(row.int()?),
        expires_at: Timestamp(row.int()?),
    })
}

/// Minor units, currency and the exponent they were written with: a currency whose exponent changed is not read as another sum.
pub(super) fn read_money(row: &mut Row) -> Result<Money, StoreError> {
    read_money_opt(row)?.ok_or_else(|| unreadable("a sum is null"))
}

/// The same three columns where there may be no sum.
pub(super) fn read_money_opt(row: &mut Row) -> Result<Option<Money>, StoreError> {
    match (row.int_opt()?, row.text_opt()?, row.int_opt()?) {
        (None, None, None) => Ok(None),
        (Some(minor), Some(code), Some(exponent)) => {
            let currency = Currency::parse(&code).map_err(|_| unreadable("a currency"))?;
            if exponent != i64::from(currency.exponent()) {
                return Err(unreadable("a sum with another exponent"));
            }
            let money = Money::from_minor(minor, currency);
            Ok(Some(money.map_err(|_| unreadable("a sum that is not positive"))?))
        }
        (..) => Err(unreadable("half a sum")),
    }
}

/// The owner of a row found without naming one.
pub(super) fn read_tenant(row: &mut Row) -> Result<Tenant, StoreError> {
    Ok(Tenant { merchant: row.parsed(|text| MerchantId::parse(text).ok())?, mode: row.parsed(Mode::parse)? })
}
