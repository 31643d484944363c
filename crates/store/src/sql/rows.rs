//! Every row, for tests and simulation: named by its table, then read as a transaction reads it.

use payment::{
    CheckoutId, EffectId, IdempotencyKey, IntentId, KeyKind, ObjectId, OperationId, ProviderAccount,
};
use uuid::Uuid;

use super::{Row, SqlTables, checkout::read_tenant, inbox, merchant, session::unreadable, tables::Done};
use crate::{
    Rows, StoreError, Tables, Tenant,
    tables::{AttemptTables, ChargeTables, InboxTables, OperationTables, OutboxTables, SweepTables},
};

const KEYS: &str = "SELECT merchant_id, mode, kind, key FROM idempotency_key";
const CHECKOUTS: &str = "SELECT merchant_id, mode, id FROM checkout";
const INTENTS: &str = "SELECT merchant_id, mode, id FROM payment_intent";
const OPERATIONS: &str = "SELECT merchant_id, mode, id FROM operation";
const EFFECTS: &str = "SELECT merchant_id, mode, id FROM outbox";
const SWEPT: &str = "SELECT DISTINCT merchant_id, mode FROM sweep";
const STRANGERS: &str = "SELECT merchant_id, mode, provider_account, provider_object_id FROM stranger";
const NOTICES: &str = "SELECT merchant_id, provider_account, identity FROM inbox";

impl SqlTables<'_> {
    pub(super) async fn every_row(&mut self) -> Done<Rows> {
        let mut rows = Rows { heartbeat: self.heartbeat().await?, ..Rows::default() };
        for tenant in self.all(merchant::MERCHANTS, Vec::new(), |mut row| read_tenant(&mut row)).await? {
            let account = there(self.account(&tenant).await?)?;
            rows.accounts.put(tenant, account);
        }
        self.add_payments(&mut rows).await?;
        for (tenant, id) in self.all(EFFECTS, Vec::new(), named(EffectId)).await? {
            let row = there(self.effect(&tenant, id).await?)?;
            rows.effects.put((tenant, id), row);
        }
        for tenant in self.all(SWEPT, Vec::new(), |mut row| read_tenant(&mut row)).await? {
            for row in self.sweeps(&tenant).await? {
                rows.sweeps.put((tenant.clone(), row.account.clone()), row);
            }
        }
        for (tenant, account, object) in self.all(STRANGERS, Vec::new(), read_stranger).await? {
            let row = there(self.stranger(&tenant, &account, &object).await?)?;
            rows.strangers.put((tenant.merchant, account, object), row);
        }
        for key in self.all(NOTICES, Vec::new(), inbox::read_key).await? {
            let row = there(self.notice(&key).await?)?;
            rows.inbox.put(key, row);
        }
        Ok(rows)
    }

    /// What belongs to a row is read with it, as its foreign key allows: charges with their checkout, lines with their intent,
    /// sends with their operation.
    async fn add_payments(&mut self, rows: &mut Rows) -> Done<()> {
        for (tenant, kind, key) in self.all(KEYS, Vec::new(), read_key).await? {
            let row = there(self.key(&tenant, kind, key.as_str()).await?)?;
            rows.keys.put((tenant, kind, key.as_str().to_owned()), row);
        }
        for (tenant, id) in self.all(CHECKOUTS, Vec::new(), named(CheckoutId)).await? {
            for row in self.charges(&tenant, id).await? {
                rows.charges.put((tenant.merchant.clone(), row.account.clone(), row.object.clone()), row);
            }
            let row = there(self.checkout(&tenant, id).await?)?;
            rows.checkouts.put((tenant, id), row);
        }
        for (tenant, id) in self.all(INTENTS, Vec::new(), named(IntentId)).await? {
            for row in self.journal(&tenant, id).await? {
                rows.journal.put((tenant.clone(), id, row.line.seq), row);
            }
            let row = there(self.intent(&tenant, id).await?)?;
            rows.intents.put((tenant, id), row);
        }
        for (tenant, id) in self.all(OPERATIONS, Vec::new(), named(OperationId)).await? {
            for row in self.attempts(&tenant, id).await? {
                rows.attempts.put((tenant.clone(), row.id), row);
            }
            let row = there(self.operation(&tenant, id).await?)?;
            rows.operations.put((tenant, id), row);
        }
        Ok(())
    }
}

fn there<T>(row: Option<T>) -> Result<T, StoreError> {
    row.ok_or_else(|| unreadable("a row is not found by its name"))
}

fn named<I>(id: fn(Uuid) -> I) -> impl Fn(Row) -> Result<(Tenant, I), StoreError> {
    move |mut row| Ok((read_tenant(&mut row)?, id(row.uuid()?)))
}

fn read_key(mut row: Row) -> Result<(Tenant, KeyKind, IdempotencyKey), StoreError> {
    let tenant = read_tenant(&mut row)?;
    Ok((tenant, row.parsed(KeyKind::parse)?, row.parsed(|text| IdempotencyKey::parse(text).ok())?))
}

fn read_stranger(mut row: Row) -> Result<(Tenant, ProviderAccount, ObjectId), StoreError> {
    let tenant = read_tenant(&mut row)?;
    let account = row.parsed(|text| ProviderAccount::parse(text).ok())?;
    Ok((tenant, account, row.parsed(|text| ObjectId::parse(text).ok())?))
}
