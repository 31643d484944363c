//! Table `charge`.

use async_trait::async_trait;
use payment::{CheckoutId, IntentId, ObjectId, ProviderAccount, Timestamp};

use super::{
    Row, SqlTables, Value,
    checkout::{read_money, read_tenant},
    session::unreadable,
    tables::{Done, money, scoped},
};
use crate::{ChargeRecord, Fate, StoreError, Tenant, tables::ChargeTables};

const INSERT: &str = "INSERT INTO charge (merchant_id, provider_account, provider_object_id, checkout_id, \
     intent_id, amount_minor, currency, exponent, extra, reserved_minor, refunded_minor, fate, at_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
     ON CONFLICT (merchant_id, provider_account, provider_object_id) DO NOTHING";

/// The mode is its checkout's.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT charge.merchant_id, checkout.mode, charge.provider_account, charge.provider_object_id, charge.checkout_id, charge.intent_id, \
             charge.amount_minor, charge.currency, charge.exponent, charge.extra, charge.reserved_minor, charge.refunded_minor, charge.fate, \
             charge.at_ms FROM charge \
             JOIN checkout ON checkout.merchant_id = charge.merchant_id AND checkout.id = charge.checkout_id ",
            $rest
        )
    };
}

const FIND: &str = select!(
    "WHERE charge.merchant_id = $1 AND checkout.mode = $2 AND provider_account = $3 AND provider_object_id = $4"
);
const OF_CHECKOUT: &str = select!(
    "WHERE charge.merchant_id = $1 AND checkout.mode = $2 AND checkout_id = $3 ORDER BY at_ms, provider_object_id"
);
const OPEN_EXTRAS: &str = select!(
    "WHERE extra = 1 AND refunded_minor < charge.amount_minor AND fate IS NULL ORDER BY at_ms, provider_object_id LIMIT $1"
);

const EXTRA: &str = select!(
    "WHERE extra = 1 AND refunded_minor < charge.amount_minor AND provider_object_id = $1 ORDER BY fate IS NOT NULL, at_ms LIMIT 1"
);

/// The few that are kept lead to them, by an index of their own.
const REPLACED: &str = select!(
    "JOIN charge AS kept ON kept.merchant_id = charge.merchant_id AND kept.checkout_id = charge.checkout_id AND kept.fate = 'kept' \
     WHERE charge.merchant_id = $1 AND checkout.mode = $2 AND charge.provider_account = $3 AND charge.fate = 'returned' \
     ORDER BY charge.at_ms DESC, charge.provider_object_id LIMIT $4"
);

const UPDATE_SUMS: &str = "UPDATE charge SET reserved_minor = $1, refunded_minor = $2 \
     WHERE merchant_id = $3 AND provider_account = $4 AND provider_object_id = $5 AND reserved_minor = $6 \
     AND refunded_minor = $7";

const UPDATE_FATE: &str = "UPDATE charge SET fate = $1 \
     WHERE merchant_id = $2 AND provider_account = $3 AND provider_object_id = $4 AND coalesce(fate, '') = $5 \
     AND reserved_minor = $6 AND refunded_minor = $7";

#[async_trait]
impl ChargeTables for SqlTables<'_> {
    async fn insert_charge(&mut self, row: &ChargeRecord) -> Done<bool> {
        let mut values: Vec<Value> = vec![
            row.tenant.merchant.as_str().into(),
            row.account.as_str().into(),
            row.object.as_str().into(),
            row.checkout.0.into(),
            row.intent.0.into(),
        ];
        money(&mut values, row.amount);
        values.extend([
            i64::from(row.extra).into(),
            row.reserved_minor.into(),
            row.refunded_minor.into(),
            row.fate.map(Fate::as_str).into(),
            row.at.0.into(),
        ]);
        self.one(INSERT, values).await
    }

    async fn charge(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Done<Option<ChargeRecord>> {
        let mut values = scoped(tenant, account.as_str());
        values.push(object.as_str().into());
        self.first(FIND, values, read).await
    }

    async fn charges(&mut self, tenant: &Tenant, checkout: CheckoutId) -> Done<Vec<ChargeRecord>> {
        self.all(OF_CHECKOUT, scoped(tenant, checkout.0), read).await
    }

    async fn open_extras(&mut self, limit: u32) -> Done<Vec<ChargeRecord>> {
        self.all(OPEN_EXTRAS, vec![i64::from(limit).into()], read).await
    }

    async fn replaced_charges(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        limit: u32,
    ) -> Done<Vec<ChargeRecord>> {
        let mut values = scoped(tenant, account.as_str());
        values.push(i64::from(limit).into());
        self.all(REPLACED, values, read).await
    }

    async fn extra(&mut self, object: &ObjectId) -> Done<Option<ChargeRecord>> {
        self.first(EXTRA, vec![object.as_str().into()], read).await
    }

    async fn update_charge_sums(&mut self, row: &ChargeRecord, before: &ChargeRecord) -> Done<bool> {
        let values = vec![
            row.reserved_minor.into(),
            row.refunded_minor.into(),
            row.tenant.merchant.as_str().into(),
            row.account.as_str().into(),
            row.object.as_str().into(),
            before.reserved_minor.into(),
            before.refunded_minor.into(),
        ];
        self.one(UPDATE_SUMS, values).await
    }

    async fn update_charge_fate(&mut self, row: &ChargeRecord, before: &ChargeRecord) -> Done<bool> {
        let values = vec![
            row.fate.map(Fate::as_str).into(),
            row.tenant.merchant.as_str().into(),
            row.account.as_str().into(),
            row.object.as_str().into(),
            before.fate.map_or("", Fate::as_str).into(),
            before.reserved_minor.into(),
            before.refunded_minor.into(),
        ];
        self.one(UPDATE_FATE, values).await
    }
}

fn read(mut row: Row) -> Result<ChargeRecord, StoreError> {
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
        fate: row.parsed_opt(Fate::parse)?,
        at: Timestamp(row.int()?),
    })
}
