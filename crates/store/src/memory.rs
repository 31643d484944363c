//! The store in memory: the same flows over maps, with the same unique indexes and checks. For simulation and tests; its clock
//! is passed in.

mod inbox;
mod outbox;
mod sweep;

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use payment::{
    AttemptId, CheckoutId, CheckoutStatus, EffectId, Holder, IntentId, JournalHash, KeyKind, MerchantId,
    ObjectId, OperationId, OperationKind, OrderId, ProviderAccount, ProviderKey, Stance, StateName,
    Timestamp,
};
use tokio::sync::Mutex;

use crate::{
    Answer, AttemptRecord, Backend, ChargeRecord, CheckoutRecord, Clock, EffectRecord, Flow, IntentRecord,
    JournalRecord, NoticeKey, NoticeRecord, OperationRecord, Stage, StoreError, StrangerRecord, Tables, Task,
    Tenant,
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

    fn operation_taken(&self, row: &OperationRecord) -> bool {
        let account = |op: &OperationRecord| op.frozen.as_ref().map(|frozen| frozen.account.clone());
        let sent = |op: &OperationRecord| account(op).map(|account| (account, op.provider_key));
        let linked = |op: &OperationRecord| account(op).zip(op.object.clone()).filter(|_| makes_object(op));
        self.operations
            .values()
            .filter(|other| other.id != row.id && other.tenant.merchant == row.tenant.merchant)
            .any(|other| {
                let key: (Option<(ProviderAccount, ProviderKey)>, _) = (sent(row), sent(other));
                one_of_its_kind(row, other)
                    || (key.0.is_some() && key.0 == key.1)
                    || (linked(row).is_some() && linked(row) == linked(other))
            })
    }

    fn check_operation(row: &OperationRecord) -> Result<(), StoreError> {
        let unwatched = row.stage == Stage::Open && row.wake_at.is_none();
        let needless = matches!(row.stage, Stage::Created | Stage::Done) && row.wake_at.is_some();
        let bare = matches!(row.stage, Stage::Open | Stage::Review)
            && (row.frozen.is_none() || row.execute_until.is_none());
        if unwatched || needless || bare {
            return Err(refused("operation"));
        }
        Ok(())
    }
}

/// Whether the object it is linked to is its own: a capture or a cancel only acts on another's.
fn makes_object(row: &OperationRecord) -> bool {
    match row.task.kind() {
        OperationKind::Pay | OperationKind::Refund => true,
        OperationKind::Capture | OperationKind::Cancel => false,
    }
}

/// What the partial unique indexes allow once: an intent's pay operation, its unfinished capture or cancel, a payment's
/// unfinished refund.
fn one_of_its_kind(row: &OperationRecord, other: &OperationRecord) -> bool {
    let unfinished = row.stage != Stage::Done && other.stage != Stage::Done;
    match (&row.task, &other.task) {
        (Task::Pay, Task::Pay) => row.intent == other.intent,
        (Task::FollowUp(a), Task::FollowUp(b)) => {
            let refunds = (a.kind == OperationKind::Refund, b.kind == OperationKind::Refund);
            unfinished
                && match refunds {
                    (true, true) => a.target == b.target,
                    (false, false) => row.intent == other.intent,
                    (true, false) | (false, true) => false,
                }
        }
        (Task::Pay, Task::FollowUp(_)) | (Task::FollowUp(_), Task::Pay) => false,
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

    async fn operation(
        &mut self,
        tenant: &Tenant,
        id: OperationId,
    ) -> Result<Option<OperationRecord>, Abort> {
        Ok(self.rows.operations.get(&(tenant.clone(), id)).cloned())
    }

    async fn pay_operation(
        &mut self,
        tenant: &Tenant,
        intent: IntentId,
    ) -> Result<Option<OperationRecord>, Abort> {
        let pays =
            |row: &&OperationRecord| row.tenant == *tenant && row.intent == intent && row.task == Task::Pay;
        Ok(self.rows.operations.values().find(pays).cloned())
    }

    async fn follow_ups(&mut self, tenant: &Tenant, intent: IntentId) -> Result<Vec<OperationRecord>, Abort> {
        let follows =
            |row: &&OperationRecord| row.tenant == *tenant && row.intent == intent && row.task != Task::Pay;
        let mut found: Vec<_> = self.rows.operations.values().filter(follows).cloned().collect();
        found.sort_by_key(|row| (row.first_sent_at, row.id));
        Ok(found)
    }

    async fn linked_operation(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<OperationRecord>, Abort> {
        let linked = |row: &&OperationRecord| {
            row.tenant == *tenant
                && makes_object(row)
                && row.object.as_ref() == Some(object)
                && row.frozen.as_ref().is_some_and(|frozen| frozen.account == *account)
        };
        Ok(self.rows.operations.values().find(linked).cloned())
    }

    async fn operations_in_review(&mut self, limit: u32) -> Result<Vec<(Tenant, OperationId)>, Abort> {
        let waiting = self.rows.operations.values().filter(|row| row.stage == Stage::Review);
        Ok(waiting.take(limit as usize).map(|row| (row.tenant.clone(), row.id)).collect())
    }

    async fn operation_in_review(&mut self, id: OperationId) -> Result<Option<(Tenant, OperationId)>, Abort> {
        let found = |row: &&OperationRecord| row.stage == Stage::Review && row.id == id;
        Ok(self.rows.operations.values().find(found).map(|row| (row.tenant.clone(), row.id)))
    }

    async fn payment_in_review(&mut self, intent: IntentId) -> Result<Option<(Tenant, OperationId)>, Abort> {
        let found = |row: &&OperationRecord| {
            row.stage == Stage::Review && row.task == Task::Pay && row.intent == intent
        };
        Ok(self.rows.operations.values().find(found).map(|row| (row.tenant.clone(), row.id)))
    }

    async fn newest_of_account(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
    ) -> Result<Option<OperationRecord>, Abort> {
        let of_account = |row: &&OperationRecord| {
            let frozen = row.frozen.as_ref();
            row.tenant == *tenant && frozen.is_some_and(|frozen| frozen.account == *account)
        };
        let newest = self.rows.operations.values().filter(of_account);
        Ok(newest.max_by_key(|row| (row.first_sent_at, row.id)).cloned())
    }

    async fn newest_unfinished(&mut self) -> Result<Vec<(Tenant, OperationId)>, Abort> {
        let mut newest = BTreeMap::new();
        let mut unfinished: Vec<_> =
            self.rows.operations.values().filter(|row| row.wake_at.is_some()).collect();
        unfinished.sort_by_key(|row| (row.first_sent_at, row.id));
        for row in unfinished {
            let account = row.frozen.as_ref().map(|frozen| frozen.account.clone());
            newest.insert((row.tenant.clone(), account), row.id);
        }
        Ok(newest.into_iter().map(|((tenant, _), id)| (tenant, id)).collect())
    }

    async fn insert_operation(&mut self, row: &OperationRecord) -> Result<bool, Abort> {
        Rows::check_operation(row)?;
        let free = !self.rows.operation_taken(row);
        if !free && row.task != Task::Pay {
            return Err(Abort::Raced);
        }
        Ok(free && put(&mut self.rows.operations, (row.tenant.clone(), row.id), row.clone()))
    }

    async fn update_operation(&mut self, row: &OperationRecord, fence: i64) -> Result<bool, Abort> {
        Rows::check_operation(row)?;
        if self.rows.operation_taken(row) {
            return Ok(false);
        }
        let found = self.rows.operations.get_mut(&(row.tenant.clone(), row.id));
        let Some(found) = found.filter(|found| found.fence == fence) else { return Ok(false) };
        *found = row.clone();
        Ok(true)
    }

    async fn release(&mut self, holder: Holder, now: Timestamp, until: Timestamp) -> Result<(), Abort> {
        for row in self.rows.operations.values_mut() {
            let is_held = row.lease.is_some_and(|lease| lease.holder == holder);
            if is_held && row.wake_at.is_some_and(|at| now < at && at <= until) {
                (row.lease, row.wake_at) = (None, Some(now));
                row.fence += 1;
            }
        }
        Ok(())
    }

    async fn due_operations(
        &mut self,
        now: Timestamp,
        busy: &[MerchantId],
        limit: u32,
    ) -> Result<Vec<(Tenant, OperationId)>, Abort> {
        let rows = self.rows.operations.values().filter(|row| !busy.contains(&row.tenant.merchant));
        let waking = rows.filter_map(|row| row.wake_at.map(|at| (at, row)));
        let mut due: Vec<_> = waking.filter(|(at, _)| *at <= now).collect();
        due.sort_by_key(|(at, row)| (*at, row.id));
        Ok(due.into_iter().take(limit as usize).map(|(_, row)| (row.tenant.clone(), row.id)).collect())
    }

    async fn insert_attempt(&mut self, tenant: &Tenant, row: &AttemptRecord) -> Result<bool, Abort> {
        let numbered = self
            .rows
            .attempts
            .values()
            .any(|other| other.operation == row.operation && other.number == row.number);
        Ok(!numbered && put(&mut self.rows.attempts, (tenant.clone(), row.id), row.clone()))
    }

    async fn update_attempt_outcome(
        &mut self,
        tenant: &Tenant,
        id: AttemptId,
        outcome: &str,
    ) -> Result<bool, Abort> {
        let row = self.rows.attempts.get_mut(&(tenant.clone(), id)).filter(|row| row.outcome.is_none());
        let Some(row) = row else { return Ok(false) };
        row.outcome = Some(outcome.to_owned());
        Ok(true)
    }

    async fn attempts(
        &mut self,
        tenant: &Tenant,
        operation: OperationId,
    ) -> Result<Vec<AttemptRecord>, Abort> {
        let of_tenant = self
            .rows
            .attempts
            .iter()
            .filter(|((owner, _), row)| owner == tenant && row.operation == operation);
        let mut found: Vec<_> = of_tenant.map(|(_, row)| row.clone()).collect();
        found.sort_by_key(|row| row.number);
        Ok(found)
    }

    async fn insert_charge(&mut self, row: &ChargeRecord) -> Result<bool, Abort> {
        let paid = self
            .rows
            .charges
            .values()
            .any(|other| other.checkout == row.checkout && !other.extra && !row.extra);
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        if paid && !self.rows.charges.contains_key(&key) {
            return Err(Abort::Raced);
        }
        Ok(put(&mut self.rows.charges, key, row.clone()))
    }

    async fn charge(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<ChargeRecord>, Abort> {
        let key = (tenant.merchant.clone(), account.clone(), object.clone());
        Ok(self.rows.charges.get(&key).filter(|row| row.tenant == *tenant).cloned())
    }

    async fn charges(&mut self, tenant: &Tenant, checkout: CheckoutId) -> Result<Vec<ChargeRecord>, Abort> {
        let of_checkout = |row: &&ChargeRecord| row.tenant == *tenant && row.checkout == checkout;
        let mut found: Vec<_> = self.rows.charges.values().filter(of_checkout).cloned().collect();
        found.sort_by_key(|row| (row.at, row.object.clone()));
        Ok(found)
    }

    async fn open_extras(&mut self, limit: u32) -> Result<Vec<ChargeRecord>, Abort> {
        let open = |row: &&ChargeRecord| row.extra && row.refunded_minor < row.amount.minor();
        let mut found: Vec<_> = self.rows.charges.values().filter(open).cloned().collect();
        found.sort_by_key(|row| (row.at, row.object.clone()));
        found.truncate(limit as usize);
        Ok(found)
    }

    async fn open_extra(&mut self, object: &ObjectId) -> Result<Option<ChargeRecord>, Abort> {
        Ok(self.open_extras(u32::MAX).await?.into_iter().find(|row| row.object == *object))
    }

    async fn update_charge_sums(&mut self, row: &ChargeRecord, before: &ChargeRecord) -> Result<bool, Abort> {
        let sums = |row: &ChargeRecord| (row.reserved_minor, row.refunded_minor);
        let within = row.reserved_minor >= 0
            && row.refunded_minor >= 0
            && row.reserved_minor + row.refunded_minor <= row.amount.minor();
        if !within {
            return Err(refused("charge").into());
        }
        let key = (row.tenant.merchant.clone(), row.account.clone(), row.object.clone());
        let found = self.rows.charges.get_mut(&key).filter(|found| sums(found) == sums(before));
        let Some(found) = found else { return Ok(false) };
        (found.reserved_minor, found.refunded_minor) = sums(row);
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
