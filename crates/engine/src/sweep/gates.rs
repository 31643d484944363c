//! Since when this process knows of each gate. A send that was made before may still be on its way to the provider, so that a
//! listing begun too soon does not hold it yet. Never says whether a gate is down: the database does.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use payment::{ProviderAccount, Timestamp};
use store::{SweepRow, Tenant};

use crate::Moments;

type Account = (Tenant, ProviderAccount);

/// The gates that this process met, by account: from when each reads, and when it was met.
#[derive(Clone, Debug, Default)]
pub struct Gates(Arc<Mutex<HashMap<Account, (Timestamp, Moments)>>>);

impl Gates {
    /// A row as it was read just before `now`: how long its gate is known here, by the clock that nobody sets, ms. None without a gate.
    pub(super) fn known_ms(&self, row: &SweepRow, now: Moments) -> Option<i64> {
        let (account, mut gates) = ((row.tenant.clone(), row.account.clone()), self.lock());
        let Some(from) = row.gated_from else {
            gates.remove(&account);
            return None;
        };
        let known = gates.entry(account).or_insert((from, now));
        if known.0 != from {
            *known = (from, now);
        }
        Some(now.boot_ms - known.1.boot_ms)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Account, (Timestamp, Moments)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
