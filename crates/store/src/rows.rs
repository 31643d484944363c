//! Every row of a store at one moment, table by table: to be looked at, compared and hashed as a whole.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    ops::RangeBounds,
    sync::Arc,
};

use payment::{
    AttemptId, CheckoutId, EffectId, IntentId, KeyKind, MerchantId, ObjectId, OperationId, ProviderAccount,
    Timestamp,
};

use crate::{
    AttemptRecord, ChargeRecord, CheckoutRecord, EffectRecord, IntentRecord, JournalRecord, KeyRow,
    NoticeKey, NoticeRecord, OperationRecord, Stage, StrangerRecord, SweepRow, Tenant,
};

/// Every row of a store. A clone is a handful of references, whatever it holds; of merchants only their accounts are in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rows {
    /// Where each merchant's money goes: of the directory, all that the flows look at.
    pub accounts: Table<Tenant, ProviderAccount>,
    /// What keys name, by scope and key.
    pub keys: Table<(Tenant, KeyKind, String), KeyRow>,
    /// Checkouts.
    pub checkouts: Table<(Tenant, CheckoutId), CheckoutRecord>,
    /// Intents.
    pub intents: Table<(Tenant, IntentId), IntentRecord>,
    /// Operations of every kind.
    pub operations: Table<(Tenant, OperationId), OperationRecord>,
    /// Sends.
    pub attempts: Table<(Tenant, AttemptId), AttemptRecord>,
    /// What took money: one row for each provider's object.
    pub charges: Table<(MerchantId, ProviderAccount, ObjectId), ChargeRecord>,
    /// The outbox.
    pub effects: Table<(Tenant, EffectId), EffectRecord>,
    /// The last moment a server was alive.
    pub heartbeat: Option<Timestamp>,
    /// How far each account's listing was read.
    pub sweeps: Table<(Tenant, ProviderAccount), SweepRow>,
    /// Objects that took money, or may, and that no intent of ours made.
    pub strangers: Table<(MerchantId, ProviderAccount, ObjectId), StrangerRecord>,
    /// The journal, by intent and number of the line.
    pub journal: Table<(Tenant, IntentId, i64), JournalRecord>,
    /// The inbox.
    pub inbox: Table<NoticeKey, NoticeRecord>,
}

impl Rows {
    /// A hash of every row: equal rows have equal digests, in every process of one build.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// The earliest wake-up of an operation, an effect or a notification; none when nothing waits but shoppers.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let waits = |row: &&OperationRecord| matches!(row.stage, Stage::Open | Stage::Review);
        let operations = self.operations.values().filter(waits).filter_map(|row| row.wake_at);
        let effects = self.effects.values().filter_map(|row| row.wake_at);
        let notices = self.inbox.values().filter_map(|row| row.state.wake_at());
        operations.chain(effects).chain(notices).min()
    }
}

/// A table, in the order of its keys. A clone is one reference. A write copies the references to its keys and rows, once per
/// transaction, and no row but the one that changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table<K, V>(Arc<BTreeMap<Arc<K>, Arc<V>>>);

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Ord, V: Clone> Table<K, V> {
    /// The row of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key).map(Arc::as_ref)
    }

    /// All keys with their rows.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, row)| (key.as_ref(), row.as_ref()))
    }

    /// All rows.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.0.values().map(Arc::as_ref)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rows of some keys.
    pub fn range(&self, keys: impl RangeBounds<K>) -> impl DoubleEndedIterator<Item = &V> {
        self.0.range(keys).map(|(_, row)| row.as_ref())
    }

    /// A new row; false if its key has one.
    pub(crate) fn insert(&mut self, key: K, row: V) -> bool {
        let free = !self.0.contains_key(&key);
        if free {
            self.put(key, row);
        }
        free
    }

    /// A row, whatever its key had.
    pub(crate) fn put(&mut self, key: K, row: V) {
        Arc::make_mut(&mut self.0).insert(Arc::new(key), Arc::new(row));
    }

    /// A new row in place of one that is there and `fits`; whether it was.
    pub(crate) fn replace(&mut self, key: &K, fits: impl FnOnce(&V) -> bool, row: V) -> bool {
        self.get(key).is_some_and(fits) && self.set(key, row)
    }

    /// Changes a row that is there and `fits`; whether it was.
    pub(crate) fn change(
        &mut self,
        key: &K,
        fits: impl FnOnce(&V) -> bool,
        change: impl FnOnce(&mut V),
    ) -> bool {
        let Some(mut row) = self.get(key).filter(|row| fits(row)).cloned() else { return false };
        change(&mut row);
        self.set(key, row)
    }

    fn set(&mut self, key: &K, row: V) -> bool {
        Arc::make_mut(&mut self.0).get_mut(key).map(|found| *found = Arc::new(row)).is_some()
    }

    /// Changes every row that `fits`.
    pub(crate) fn change_all(&mut self, fits: impl Fn(&V) -> bool, change: impl Fn(&mut V)) {
        if !self.values().any(&fits) {
            return;
        }
        for row in Arc::make_mut(&mut self.0).values_mut().filter(|row| fits(row)) {
            change(Arc::make_mut(row));
        }
    }

    /// Forgets a row.
    pub(crate) fn remove(&mut self, key: &K) {
        if self.0.contains_key(key) {
            Arc::make_mut(&mut self.0).remove(key);
        }
    }
}
