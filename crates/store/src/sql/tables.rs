//! [`Tables`] over a session: binds typed rows to the statements of each table.

use async_trait::async_trait;
use payment::{
    CheckoutId, CheckoutStatus, IntentId, JournalHash, KeyKind, Money, OrderId, ProviderAccount, Timestamp,
};

use super::{
    Row, Session, SessionError, Value, checkout, idempotency_key, intent, journal, merchant,
    session::unreadable,
};
use crate::{
    Answer, CheckoutRecord, Clock, IntentRecord, JournalRecord, Rows, StoreError, Tables, Tenant,
    tables::{Abort, KeyRow},
};

/// A transaction's tables.
pub(crate) struct SqlTables<'s> {
    pub(crate) session: &'s mut dyn Session,
    /// In place of the database's clock, in tests.
    pub(crate) clock: Option<Clock>,
}

impl From<SessionError> for Abort {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Conflict => Self::Raced,
            SessionError::Failed(error) => Self::Failed(error),
        }
    }
}

pub(super) type Done<T> = Result<T, Abort>;

impl SqlTables<'_> {
    /// Runs a guarded write: true if it changed its one row.
    pub(super) async fn one(&mut self, sql: &'static str, values: Vec<Value>) -> Done<bool> {
        match self.session.execute(sql, values).await? {
            0 => Ok(false),
            1 => Ok(true),
            more => Err(unreadable(&format!("a guarded write changed {more} rows")).into()),
        }
    }

    pub(super) async fn first<T>(
        &mut self,
        sql: &'static str,
        values: Vec<Value>,
        read: impl FnOnce(Row) -> Result<T, StoreError>,
    ) -> Done<Option<T>> {
        let rows = self.session.query(sql, values).await?;
        Ok(rows.into_iter().next().map(read).transpose()?)
    }

    pub(super) async fn all<T>(
        &mut self,
        sql: &'static str,
        values: Vec<Value>,
        read: impl Fn(Row) -> Result<T, StoreError>,
    ) -> Done<Vec<T>> {
        let rows = self.session.query(sql, values).await?;
        Ok(rows.into_iter().map(read).collect::<Result<_, _>>()?)
    }
}

/// `$1` and `$2` of every statement that is about one merchant's rows, and `$3`.
pub(super) fn scoped(tenant: &Tenant, id: impl Into<Value>) -> Vec<Value> {
    vec![tenant.merchant.as_str().into(), tenant.mode.as_str().into(), id.into()]
}

pub(super) fn money(values: &mut Vec<Value>, amount: Money) {
    let currency = amount.currency();
    values.extend([amount.minor().into(), currency.code().into(), i64::from(currency.exponent()).into()]);
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("our rows are JSON")
}

#[async_trait]
impl Tables for SqlTables<'_> {
    async fn now(&mut self) -> Done<Timestamp> {
        match &self.clock {
            Some(clock) => Ok(clock()),
            None => Ok(Timestamp(self.session.now_ms().await?)),
        }
    }

    async fn account(&mut self, tenant: &Tenant) -> Done<Option<ProviderAccount>> {
        let values = vec![tenant.merchant.as_str().into(), tenant.mode.as_str().into()];
        let read = |mut row: Row| row.parsed(|text| ProviderAccount::parse(text).ok());
        self.first(merchant::ACCOUNT, values, read).await
    }

    async fn key(&mut self, tenant: &Tenant, kind: KeyKind, key: &str) -> Done<Option<KeyRow>> {
        let mut values = scoped(tenant, kind.as_str());
        values.push(key.into());
        self.first(idempotency_key::FIND, values, |row| idempotency_key::read(tenant, kind, row)).await
    }

    async fn insert_key(&mut self, row: &KeyRow) -> Done<bool> {
        let mut values = scoped(&row.key.tenant, row.key.kind.as_str());
        let answer = row.answer.as_ref();
        values.extend([
            row.key.key.as_str().into(),
            row.key.fingerprint.canonical().into(),
            row.key.fingerprint.digest().as_slice().into(),
            row.checkout.0.into(),
            row.intent.0.into(),
            row.created_at.0.into(),
            answer.map(|answer| i64::from(answer.status)).into(),
            answer.and_then(|answer| answer.location.as_deref()).into(),
            answer.map(|answer| answer.body.as_slice()).into(),
        ]);
        self.one(idempotency_key::INSERT, values).await
    }

    async fn update_key_answer(
        &mut self,
        tenant: &Tenant,
        kind: KeyKind,
        key: &str,
        answer: &Answer,
    ) -> Done<bool> {
        let mut values = vec![
            i64::from(answer.status).into(),
            answer.location.as_deref().into(),
            answer.body.as_slice().into(),
        ];
        values.extend(scoped(tenant, kind.as_str()));
        values.push(key.into());
        self.one(idempotency_key::ANSWER, values).await
    }

    async fn lock_checkout(&mut self, tenant: &Tenant, id: CheckoutId) -> Done<Option<CheckoutRecord>> {
        let sql = if self.session.locks_rows() { checkout::LOCK } else { checkout::FIND };
        self.first(sql, scoped(tenant, id.0), |row| checkout::read(tenant, row)).await
    }

    async fn lock_order(&mut self, tenant: &Tenant, order: &OrderId) -> Done<Option<CheckoutRecord>> {
        let sql = if self.session.locks_rows() { checkout::LOCK_ORDER } else { checkout::FIND_ORDER };
        self.first(sql, scoped(tenant, order.as_str()), |row| checkout::read(tenant, row)).await
    }

    async fn checkout(&mut self, tenant: &Tenant, id: CheckoutId) -> Done<Option<CheckoutRecord>> {
        self.first(checkout::FIND, scoped(tenant, id.0), |row| checkout::read(tenant, row)).await
    }

    async fn order(&mut self, tenant: &Tenant, order: &OrderId) -> Done<Option<CheckoutRecord>> {
        self.first(checkout::FIND_ORDER, scoped(tenant, order.as_str()), |row| checkout::read(tenant, row))
            .await
    }

    async fn first_order_at(&mut self, tenant: &Tenant) -> Done<Option<Timestamp>> {
        let values = vec![tenant.merchant.as_str().into(), tenant.mode.as_str().into()];
        let read = |mut row: Row| Ok(row.int_opt()?.map(Timestamp));
        Ok(self.first(checkout::FIRST_ORDER_AT, values, read).await?.flatten())
    }

    async fn insert_checkout(&mut self, row: &CheckoutRecord) -> Done<bool> {
        let mut values = scoped(&row.tenant, row.id.0);
        values.extend([
            row.order.as_str().into(),
            row.status.as_str().into(),
            row.version.into(),
            row.token_version.into(),
        ]);
        money(&mut values, row.amount);
        values.extend([
            row.capture.as_str().into(),
            row.description.as_deref().into(),
            row.return_url.as_deref().into(),
            row.email.as_deref().into(),
            json(&row.metadata).into(),
            row.created_at.0.into(),
            row.expires_at.0.into(),
        ]);
        self.one(checkout::INSERT, values).await
    }

    async fn update_checkout_terms(&mut self, row: &CheckoutRecord, version: i64) -> Done<bool> {
        let mut values: Vec<Value> = vec![row.status.as_str().into(), row.version.into()];
        money(&mut values, row.amount);
        values.extend([
            row.capture.as_str().into(),
            row.description.as_deref().into(),
            row.return_url.as_deref().into(),
            row.email.as_deref().into(),
            json(&row.metadata).into(),
            row.expires_at.0.into(),
        ]);
        values.extend(scoped(&row.tenant, row.id.0));
        values.push(version.into());
        self.one(checkout::UPDATE_TERMS, values).await
    }

    async fn update_checkout_status(
        &mut self,
        tenant: &Tenant,
        id: CheckoutId,
        from: CheckoutStatus,
        to: CheckoutStatus,
    ) -> Done<bool> {
        let mut values: Vec<Value> = vec![to.as_str().into()];
        values.extend(scoped(tenant, id.0));
        values.push(from.as_str().into());
        self.one(checkout::UPDATE_STATUS, values).await
    }

    async fn expired_checkouts(&mut self, now: Timestamp, limit: u32) -> Done<Vec<(Tenant, CheckoutId)>> {
        let values = vec![now.0.into(), i64::from(limit).into()];
        let read = |mut row: Row| Ok((checkout::read_tenant(&mut row)?, CheckoutId(row.uuid()?)));
        self.all(checkout::EXPIRED, values, read).await
    }

    async fn intent(&mut self, tenant: &Tenant, id: IntentId) -> Done<Option<IntentRecord>> {
        self.first(intent::FIND, scoped(tenant, id.0), |row| intent::read(tenant, row)).await
    }

    async fn newest_intent(&mut self, tenant: &Tenant, checkout: CheckoutId) -> Done<Option<IntentRecord>> {
        self.first(intent::NEWEST, scoped(tenant, checkout.0), |row| intent::read(tenant, row)).await
    }

    async fn insert_intent(&mut self, row: &IntentRecord) -> Done<bool> {
        let mut values = scoped(&row.tenant, row.id.0);
        values.extend([
            row.checkout.0.into(),
            row.number.into(),
            row.previous.map(|id| id.0).into(),
            row.submit_key.0.into(),
        ]);
        money(&mut values, row.amount);
        values.extend([
            row.checkout_version.into(),
            row.state.name().as_str().into(),
            json(&row.state).into(),
            row.method.map(|method| method.as_str()).into(),
            row.paid_with.as_ref().and_then(|paid| paid.last4.as_deref()).into(),
            row.email.as_deref().into(),
            row.version.into(),
            row.created_at.0.into(),
        ]);
        self.one(intent::INSERT, values).await
    }

    async fn update_intent(&mut self, row: &IntentRecord, version: i64) -> Done<bool> {
        let mut values: Vec<Value> = vec![
            row.state.name().as_str().into(),
            json(&row.state).into(),
            row.method.map(|method| method.as_str()).into(),
            row.paid_with.as_ref().and_then(|paid| paid.last4.as_deref()).into(),
            row.email.as_deref().into(),
        ];
        values.extend(scoped(&row.tenant, row.id.0));
        values.push(version.into());
        self.one(intent::UPDATE, values).await
    }

    async fn set_intent_email(&mut self, tenant: &Tenant, id: IntentId, email: &str) -> Done<bool> {
        let mut values: Vec<Value> = vec![email.into()];
        values.extend(scoped(tenant, id.0));
        self.one(intent::SET_EMAIL, values).await
    }

    async fn journal_head(&mut self, tenant: &Tenant, intent: IntentId) -> Done<Option<(i64, JournalHash)>> {
        let values = vec![tenant.merchant.as_str().into(), intent.0.into()];
        self.first(journal::HEAD, values, |mut row| Ok((row.int()?, journal::read_hash(&mut row)?))).await
    }

    async fn insert_journal(&mut self, tenant: &Tenant, intent: IntentId, row: &JournalRecord) -> Done<bool> {
        let line = &row.line;
        let values = vec![
            tenant.merchant.as_str().into(),
            intent.0.into(),
            line.seq.into(),
            line.at.0.into(),
            line.from.as_str().into(),
            line.event.as_str().into(),
            line.to.as_str().into(),
            line.evidence.as_str().into(),
            row.hash.0.as_slice().into(),
        ];
        self.one(journal::INSERT, values).await
    }

    async fn journal(&mut self, tenant: &Tenant, intent: IntentId) -> Done<Vec<JournalRecord>> {
        self.all(journal::ALL, vec![tenant.merchant.as_str().into(), intent.0.into()], journal::read).await
    }

    async fn rows(&mut self) -> Done<Rows> {
        self.every_row().await
    }
}
