//! Table `charge`.

use payment::{CheckoutId, IntentId, ObjectId, ProviderAccount, Timestamp};

use super::{
    Row,
    checkout::{read_money, read_tenant},
    session::unreadable,
};
use crate::{ChargeRecord, StoreError};

pub(super) const INSERT: &str = "INSERT INTO charge (merchant_id, provider_account, provider_object_id, checkout_id, \
     intent_id, amount_minor, currency, exponent, extra, reserved_minor, refunded_minor, at_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
     ON CONFLICT (merchant_id, provider_account, provider_object_id) DO NOTHING";

/// The mode is its checkout's.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT charge.merchant_id, checkout.mode, provider_account, provider_object_id, checkout_id, intent_id, \
             charge.amount_minor, charge.currency, charge.exponent, extra, reserved_minor, refunded_minor, at_ms FROM charge \
             JOIN checkout ON checkout.merchant_id = charge.merchant_id AND checkout.id = charge.checkout_id ",
            $rest
        )
    };
}

pub(super) const FIND: &str = select!(
    "WHERE charge.merchant_id = $1 AND checkout.mode = $2 AND provider_account = $3 AND provider_object_id = $4"
);
pub(super) const OF_CHECKOUT: &str = select!(
    "WHERE charge.merchant_id = $1 AND checkout.mode = $2 AND checkout_id = $3 ORDER BY at_ms, provider_object_id"
);
pub(super) const OPEN_EXTRAS: &str = select!(
    "WHERE extra = 1 AND refunded_minor < charge.amount_minor ORDER BY at_ms, provider_object_id LIMIT $1"
);

pub(super) const OPEN_EXTRA: &str = select!(
    "WHERE extra = 1 AND refunded_minor < charge.amount_minor AND provider_object_id = $1 ORDER BY at_ms LIMIT 1"
);

pub(super) const UPDATE_SUMS: &str = "UPDATE charge SET reserved_minor = $1, refunded_minor = $2 \
     WHERE merchant_id = $3 AND provider_account = $4 AND provider_object_id = $5 AND reserved_minor = $6 \
     AND refunded_minor = $7";

pub(super) fn read(mut row: Row) -> Result<ChargeRecord, StoreError> {
    Ok(ChargeRecord {
        tenant: read_tenant(&mut row)?,
        account: row.parsed(|text| ProviderAccount::parse(text).ok())?,
        object: row.parsed(|text| ObjectId::parse(text).ok())?,
        checkout: CheckoutId(row.uuid()?),
        intent: IntentId(row.uuid()?),
        amount: read_money(&mut row)?,
        extra: match row.int()? {
            0 => false,
            1 => true,
            _ => return Err(unreadable("whether a charge is an extra")),
        },
        reserved_minor: row.int()?,
        refunded_minor: row.int()?,
        at: Timestamp(row.int()?),
    })
}
