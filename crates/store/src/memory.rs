//! The store in memory: the same flows over maps, with the same unique indexes and checks. For simulation and tests; its clock
//! is passed in.

mod attempt;
mod charge;
mod inbox;
mod operation;
mod outbox;
mod sweep;

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use futures_util::FutureExt;
use payment::{
    CheckoutId, CheckoutStatus, IntentId, JournalHash, KeyKind, OrderId, ProviderAccount, Stance, StateName,
    Timestamp,
};
use planted::Fault;

use crate::{
    Answer, Backend, CheckoutRecord, Clock, Flow, IntentRecord, JournalRecord, Rows, StoreError, Tables,
    Tenant,
    tables::{Abort, KeyRow},
};

/// Runs of one flow before its race is called endless.
const MAX_RUNS: usize = 16;

/// The store in memory.
pub struct MemoryStore {
    rows: Mutex<Shared>,
    clock: Clock,
}

impl MemoryStore {
    /// An empty store on `clock`.
    pub fn new(clock: Clock) -> Self {
        Self::of(Rows::default(), clock)
    }

    /// A store that holds these rows: a backup that is brought back.
    pub fn of(rows: impl Into<Arc<Rows>>, clock: Clock) -> Self {
        Self { rows: Mutex::new(Shared(rows.into())), clock }
    }

    /// All rows as they are now, in a store of their own: a backup.
    pub async fn copy(&self) -> Self {
        Self::of(self.rows(), Arc::clone(&self.clock))
    }

    /// All rows as they are now: the very same as before where nothing was written since.
    pub fn rows(&self) -> Arc<Rows> {
        Arc::clone(&self.locked().0)
    }

    /// A merchant's money goes to this account from now on.
    pub fn put_account(&self, tenant: Tenant, account: ProviderAccount) {
        let mut rows = self.locked();
        if rows.accounts.get(&tenant) != Some(&account) {
            rows.accounts.put(tenant, account);
        }
    }

    /// A flow that panics leaves the rows as they were before it.
    fn locked(&self) -> MutexGuard<'_, Shared> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a flow over `rows`: its result, and the rows as it left them. It waits for nothing: all that it calls is here.
    fn run<R>(&self, rows: &Shared, flow: &Flow<R>) -> Result<(R, Shared), StoreError> {
        for _ in 0..MAX_RUNS {
            let mut draft = Draft { rows: rows.clone(), clock: Arc::clone(&self.clock) };
            let result = flow(&mut draft).now_or_never().expect("a flow in memory waits for nothing");
            match result {
                Ok(result) => return Ok((result, draft.rows)),
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
        let mut rows = self.locked();
        let (result, written) = self.run(&rows, &flow)?;
        *rows = written;
        Ok(result)
    }

    async fn read<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        let rows = self.locked().clone();
        Ok(self.run(&rows, &flow)?.0)
    }
}

impl Rows {
    fn intent_taken(&self, row: &IntentRecord) -> bool {
        let occupies = |row: &IntentRecord| row.state.stance() != Stance::Free;
        self.intents
            .values()
            .filter(|other| other.checkout == row.checkout && other.id != row.id)
            .filter(|other| other.tenant.merchant == row.tenant.merchant)
            .any(|other| {
                let both = occupies(other) && occupies(row) && !planted::is(Fault::OccupyingIndex);
                other.number == row.number || both
            })
    }

    fn journal_of(
        &self,
        tenant: &Tenant,
        intent: IntentId,
    ) -> impl DoubleEndedIterator<Item = &JournalRecord> {
        let line = |seq| (tenant.clone(), intent, seq);
        self.journal.range(line(i64::MIN)..=line(i64::MAX))
    }
}

/// Rows that are copied when they are written to first: a transaction that only reads copies nothing.
#[derive(Clone)]
struct Shared(Arc<Rows>);

impl Deref for Shared {
    type Target = Rows;

    fn deref(&self) -> &Rows {
        &self.0
    }
}

impl DerefMut for Shared {
    fn deref_mut(&mut self) -> &mut Rows {
        Arc::make_mut(&mut self.0)
    }
}

/// One transaction's copy of the rows.
struct Draft {
    rows: Shared,
    clock: Clock,
}

fn refused(table: &str) -> StoreError {
    StoreError::Refused(Arc::new(std::io::Error::other(format!("{table}: a CHECK failed"))))
}

#[async_trait]
impl Tables for Draft {
    async fn now(&mut self) -> Result<Timestamp, Abort> {
        Ok((self.clock)())
    }

    async fn account(&mut self, tenant: &Tenant) -> Result<Option<ProviderAccount>, Abort> {
        Ok(self.rows.accounts.get(tenant).cloned())
    }

    async fn key(&mut self, tenant: &Tenant, kind: KeyKind, key: &str) -> Result<Option<KeyRow>, Abort> {
        Ok(self.rows.keys.get(&(tenant.clone(), kind, key.to_owned())).cloned())
    }

    async fn insert_key(&mut self, row: &KeyRow) -> Result<bool, Abort> {
        let key = (row.key.tenant.clone(), row.key.kind, row.key.key.as_str().to_owned());
        if planted::is(Fault::KeyIndex) && self.rows.keys.replace(&key, |_| true, row.clone()) {
            return Ok(true);
        }
        Ok(self.rows.keys.insert(key, row.clone()))
    }

    async fn update_key_answer(
        &mut self,
        tenant: &Tenant,
        kind: KeyKind,
        key: &str,
        answer: &Answer,
    ) -> Result<bool, Abort> {
        let key = (tenant.clone(), kind, key.to_owned());
        let set = |row: &mut KeyRow| row.answer = Some(answer.clone());
        Ok(self.rows.keys.change(&key, |row| row.answer.is_none(), set))
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
        Ok(self.rows.checkouts.values().find(|row| row.order == *order && row.tenant == *tenant).cloned())
    }

    async fn first_order_at(&mut self, tenant: &Tenant) -> Result<Option<Timestamp>, Abort> {
        let own = self.rows.checkouts.values().filter(|row| row.tenant == *tenant);
        Ok(own.map(|row| row.created_at).min())
    }

    async fn insert_checkout(&mut self, row: &CheckoutRecord) -> Result<bool, Abort> {
        if self.order(&row.tenant, &row.order).await?.is_some() && !planted::is(Fault::OrderTwice) {
            return Ok(false);
        }
        Ok(self.rows.checkouts.insert((row.tenant.clone(), row.id), row.clone()))
    }

    async fn update_checkout_terms(&mut self, row: &CheckoutRecord, version: i64) -> Result<bool, Abort> {
        let writable =
            |found: &CheckoutRecord| found.version == version && found.status != CheckoutStatus::Paid;
        Ok(self.rows.checkouts.replace(&(row.tenant.clone(), row.id), writable, row.clone()))
    }

    async fn update_checkout_status(
        &mut self,
        tenant: &Tenant,
        id: CheckoutId,
        from: CheckoutStatus,
        to: CheckoutStatus,
    ) -> Result<bool, Abort> {
        let set = |row: &mut CheckoutRecord| row.status = to;
        Ok(self.rows.checkouts.change(&(tenant.clone(), id), |row| row.status == from, set))
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
        let sent = |row: &CheckoutRecord| sent(row) && !planted::is(Fault::ExpireEndsSent);
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
            self.rows.intents.values().filter(|row| row.checkout == checkout && row.tenant == *tenant);
        Ok(of_checkout.max_by_key(|row| row.number).cloned())
    }

    async fn insert_intent(&mut self, row: &IntentRecord) -> Result<bool, Abort> {
        Ok(!self.rows.intent_taken(row)
            && self.rows.intents.insert((row.tenant.clone(), row.id), row.clone()))
    }

    async fn update_intent(&mut self, row: &IntentRecord, version: i64) -> Result<bool, Abort> {
        if self.rows.intent_taken(row) {
            return Ok(false);
        }
        let next = IntentRecord { version: version + 1, ..row.clone() };
        let key = (row.tenant.clone(), row.id);
        let same = |found: &IntentRecord| found.version == version || planted::is(Fault::VersionNotCompared);
        Ok(self.rows.intents.replace(&key, same, next))
    }

    async fn set_intent_email(&mut self, tenant: &Tenant, id: IntentId, email: &str) -> Result<bool, Abort> {
        let set = |row: &mut IntentRecord| row.email = Some(email.to_owned());
        Ok(self.rows.intents.change(&(tenant.clone(), id), |_| true, set))
    }

    async fn journal_head(
        &mut self,
        tenant: &Tenant,
        intent: IntentId,
    ) -> Result<Option<(i64, JournalHash)>, Abort> {
        Ok(self.rows.journal_of(tenant, intent).next_back().map(|row| (row.line.seq, row.hash)))
    }

    async fn insert_journal(
        &mut self,
        tenant: &Tenant,
        intent: IntentId,
        row: &JournalRecord,
    ) -> Result<bool, Abort> {
        Ok(self.rows.journal.insert((tenant.clone(), intent, row.line.seq), row.clone()))
    }

    async fn journal(&mut self, tenant: &Tenant, intent: IntentId) -> Result<Vec<JournalRecord>, Abort> {
        Ok(self.rows.journal_of(tenant, intent).cloned().collect())
    }

    async fn rows(&mut self) -> Result<Rows, Abort> {
        Ok(Rows::clone(&self.rows))
    }
}
