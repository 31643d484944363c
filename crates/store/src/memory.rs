//! The store in memory: the same flows over maps, with the same unique indexes and checks. For simulation and tests; its clock
//! is passed in.

mod attempt;
mod charge;
mod inbox;
mod operation;
mod outbox;
mod sweep;

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use payment::{
    AttemptId, CheckoutId, CheckoutStatus, EffectId, IntentId, JournalHash, KeyKind, MerchantId, ObjectId,
    OperationId, OrderId, ProviderAccount, Stance, StateName, Timestamp,
};
use tokio::sync::Mutex;

use crate::{
    Answer, AttemptRecord, Backend, ChargeRecord, CheckoutRecord, Clock, EffectRecord, Flow, IntentRecord,
    JournalRecord, NoticeKey, NoticeRecord, OperationRecord, StoreError, StrangerRecord, Tables, Tenant,
    tables::{Abort, KeyRow, SweepRow},
};

/// Runs of one flow before its race is called endless.
const MAX_RUNS: usize = 16;

/// The store in memory.
pub struct MemoryStore {
    rows: Mutex<Rows>,
    clock: Clock,
}

impl MemoryStore {
    /// An empty store on `clock`.
    pub fn new(clock: Clock) -> Self {
        Self { rows: Mutex::new(Rows::default()), clock }
    }

    /// All rows as they are now, in a store of their own: a backup.
    pub async fn copy(&self) -> Self {
        Self { rows: Mutex::new(self.rows.lock().await.clone()), clock: Arc::clone(&self.clock) }
    }

    async fn run<R>(&self, flow: Flow<R>, keep: bool) -> Result<R, StoreError> {
        let mut rows = self.rows.lock().await;
        for _ in 0..MAX_RUNS {
            let mut draft = Draft { rows: rows.clone(), clock: Arc::clone(&self.clock) };
            match flow(&mut draft).await {
                Ok(result) => {
                    if keep {
                        *rows = draft.rows;
                    }
                    return Ok(result);
                }
                Err(Abort::Raced) => {}
                Err(Abort::Failed(error)) => return Err(error),
            }
        }
        Err(StoreError::Busy(None))
    }
}

#[async_trait]
impl Backend for MemoryStore {
    async fn write<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        self.run(flow, true).await
    }

    async fn read<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        self.run(flow, false).await
    }
}

#[derive(Clone, Default)]
struct Rows {
    keys: BTreeMap<(Tenant, &'static str, String), KeyRow>,
    checkouts: BTreeMap<(Tenant, CheckoutId), CheckoutRecord>,
    intents: BTreeMap<(Tenant, IntentId), IntentRecord>,
    operations: BTreeMap<(Tenant, OperationId), OperationRecord>,
    attempts: BTreeMap<(Tenant, AttemptId), AttemptRecord>,
    charges: BTreeMap<(MerchantId, ProviderAccount, ObjectId), ChargeRecord>,
    effects: BTreeMap<(Tenant, EffectId), EffectRecord>,
    heartbeat: Option<Timestamp>,
    sweeps: BTreeMap<(Tenant, ProviderAccount), SweepRow>,
    strangers: BTreeMap<(MerchantId, ProviderAccount, ObjectId), StrangerRecord>,
    journal: BTreeMap<(Tenant, IntentId, i64), JournalRecord>,
    inbox: BTreeMap<NoticeKey, NoticeRecord>,
}

impl Rows {
    fn intent_taken(&self, row: &IntentRecord) -> bool {
        let occupies = |row: &IntentRecord| row.state.stance() != Stance::Free;
        self.intents
            .values()
            .filter(|other| other.id != row.id && other.tenant.merchant == row.tenant.merchant)
            .filter(|other| other.checkout == row.checkout)
            .any(|other| other.number == row.number || (occupies(other) && occupies(row)))
    }
}

/// One transaction's copy of the rows.
struct Draft {
    rows: Rows,
    clock: Clock,
}

fn refused(table: &str) -> StoreError {
    StoreError::Refused(Arc::new(std::io::Error::other(format!("{table}: a CHECK failed"))))
}

fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: V) -> bool {
    let free = !map.contains_key(&key);
    if free {
        map.insert(key, value);
    }
    free
}

#[async_trait]
impl Tables for Draft {
    async fn now(&mut self) -> Result<Timestamp, Abort> {
        Ok((self.clock)())
    }

    async fn key(&mut self, tenant: &Tenant, kind: KeyKind, key: &str) -> Result<Option<KeyRow>, Abort> {
        Ok(self.rows.keys.get(&(tenant.clone(), kind.as_str(), key.to_owned())).cloned())
    }

    async fn insert_key(&mut self, row: &KeyRow) -> Result<bool, Abort> {
        let key = (row.key.tenant.clone(), row.key.kind.as_str(), row.key.key.as_str().to_owned());
        Ok(put(&mut self.rows.keys, key, row.clone()))
    }

    async fn update_key_answer(
        &mut self,
        tenant: &Tenant,
        kind: KeyKind,
        key: &str,
        answer: &Answer,
    ) -> Result<bool, Abort> {
        let row = self.rows.keys.get_mut(&(tenant.clone(), kind.as_str(), key.to_owned()));
        let Some(row) = row.filter(|row| row.answer.is_none()) else { return Ok(false) };
        row.answer = Some(answer.clone());
        Ok(true)
    }

    async fn lock_checkout(
        &mut self,
        tenant: &Tenant,
        id: CheckoutId,
    ) -> Result<Option<CheckoutRecord>, Abort> {
        self.checkout(tenant, id).await
    }

    async fn lock_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderId,
    ) -> Result<Option<CheckoutRecord>, Abort> {
        self.order(tenant, order).await
    }

    async fn checkout(&mut self, tenant: &Tenant, id: CheckoutId) -> Result<Option<CheckoutRecord>, Abort> {
        Ok(self.rows.checkouts.get(&(tenant.clone(), id)).cloned())
    }

    async fn order(&mut self, tenant: &Tenant, order: &OrderId) -> Result<Option<CheckoutRecord>, Abort> {
        Ok(self.rows.checkouts.values().find(|row| row.tenant == *tenant && row.order == *order).cloned())
    }

    async fn insert_checkout(&mut self, row: &CheckoutRecord) -> Result<bool, Abort> {
        if self.order(&row.tenant, &row.order).await?.is_some() {
            return Ok(false);
        }
        Ok(put(&mut self.rows.checkouts, (row.tenant.clone(), row.id), row.clone()))
    }

    async fn update_checkout_terms(&mut self, row: &CheckoutRecord, version: i64) -> Result<bool, Abort> {
        let found = self.rows.checkouts.get_mut(&(row.tenant.clone(), row.id));
        let writable =
            |found: &CheckoutRecord| found.version == version && found.status != CheckoutStatus::Paid;
        let Some(found) = found.filter(|found| writable(found)) else { return Ok(false) };
        *found = row.clone();
        Ok(true)
    }

    async fn update_checkout_status(
        &mut self,
        tenant: &Tenant,
        id: CheckoutId,
        from: CheckoutStatus,
        to: CheckoutStatus,
    ) -> Result<bool, Abort> {
        let found = self.rows.checkouts.get_mut(&(tenant.clone(), id));
        let Some(found) = found.filter(|found| found.status == from) else { return Ok(false) };
        found.status = to;
        Ok(true)
    }

    async fn expired_checkouts(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Tenant, CheckoutId)>, Abort> {
        let sent = |row: &CheckoutRecord| {
            self.rows.intents.values().any(|intent| {
                intent.checkout == row.id
                    && !intent.state.is_terminal()
                    && intent.state.name() != StateName::Created
            })
        };
        let mut due: Vec<_> =
            self.rows.checkouts.values().filter(|row| row.status == CheckoutStatus::Open).collect();
        let gated = |row: &CheckoutRecord| {
            self.rows.sweeps.values().any(|sweep| sweep.tenant == row.tenant && sweep.gated_from.is_some())
        };
        due.retain(|row| row.expires_at <= now && !sent(row) && !gated(row));
        due.sort_by_key(|row| (row.expires_at, row.id));
        Ok(due.into_iter().take(limit as usize).map(|row| (row.tenant.clone(), row.id)).collect())
    }

    async fn intent(&mut self, tenant: &Tenant, id: IntentId) -> Result<Option<IntentRecord>, Abort> {
        Ok(self.rows.intents.get(&(tenant.clone(), id)).cloned())
    }

    async fn newest_intent(
        &mut self,
        tenant: &Tenant,
        checkout: CheckoutId,
    ) -> Result<Option<IntentRecord>, Abort> {
        let of_checkout =
            self.rows.intents.values().filter(|row| row.tenant == *tenant && row.checkout == checkout);
        Ok(of_checkout.max_by_key(|row| row.number).cloned())
    }

    async fn insert_intent(&mut self, row: &IntentRecord) -> Result<bool, Abort> {
        Ok(!self.rows.intent_taken(row)
            && put(&mut self.rows.intents, (row.tenant.clone(), row.id), row.clone()))
    }

    async fn update_intent(&mut self, row: &IntentRecord, version: i64) -> Result<bool, Abort> {
        if self.rows.intent_taken(row) {
            return Ok(false);
        }
        let found = self.rows.intents.get_mut(&(row.tenant.clone(), row.id));
        let Some(found) = found.filter(|found| found.version == version) else { return Ok(false) };
        *found = IntentRecord { version: version + 1, ..row.clone() };
        Ok(true)
    }

    async fn set_intent_email(&mut self, tenant: &Tenant, id: IntentId, email: &str) -> Result<bool, Abort> {
        let Some(found) = self.rows.intents.get_mut(&(tenant.clone(), id)) else { return Ok(false) };
        found.email = Some(email.to_owned());
        Ok(true)
    }

    async fn journal_head(
        &mut self,
        tenant: &Tenant,
        intent: IntentId,
    ) -> Result<Option<(i64, JournalHash)>, Abort> {
        Ok(self.journal(tenant, intent).await?.last().map(|row| (row.line.seq, row.hash)))
    }

    async fn insert_journal(
        &mut self,
        tenant: &Tenant,
        intent: IntentId,
        row: &JournalRecord,
    ) -> Result<bool, Abort> {
        Ok(put(&mut self.rows.journal, (tenant.clone(), intent, row.line.seq), row.clone()))
    }

    async fn journal(&mut self, tenant: &Tenant, intent: IntentId) -> Result<Vec<JournalRecord>, Abort> {
        let range = (tenant.clone(), intent, i64::MIN)..=(tenant.clone(), intent, i64::MAX);
        Ok(self.rows.journal.range(range).map(|(_, row)| row.clone()).collect())
    }
}
