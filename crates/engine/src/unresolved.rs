//! Since when this process knows of each payment whose result is unknown. A card token dies a time after the send, and the clocks that
//! dated it may have been set since: how much time has really passed, only who was there can say. Never says what is unresolved: the
//! database does.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use payment::OperationId;

use crate::Moments;

/// What is forgotten is met anew, and waited for once more: a day is longer than any token lives.
const KEPT_MS: i64 = 86_400_000;

/// The operations that this process saw unresolved, by when it first had the claim of them so.
#[derive(Clone, Debug, Default)]
pub struct Unresolved(Arc<Mutex<HashMap<OperationId, Moments>>>);

impl Unresolved {
    /// It was sent before `claimed_at`, or at once by the claim that was had then, and its result is not known.
    pub(crate) fn meet(&self, id: OperationId, claimed_at: Moments) {
        self.lock().entry(id).or_insert(claimed_at);
    }

    /// Its result is known.
    pub(crate) fn forget(&self, id: OperationId) {
        self.lock().remove(&id);
    }

    /// How much time has passed at the least from its first send until `at`, by the clock that nobody sets, ms.
    pub(crate) fn known_ms(&self, id: OperationId, at: Moments) -> i64 {
        self.lock().get(&id).map_or(0, |met| at.boot_ms - met.boot_ms)
    }

    /// All of them, and when each was met, by the clock that nobody sets, ms.
    pub(crate) fn met(&self) -> Vec<(OperationId, i64)> {
        let mut met: Vec<_> = self.lock().iter().map(|(id, met)| (*id, met.boot_ms)).collect();
        met.sort_unstable();
        met
    }

    /// Lets go of what others may have resolved.
    pub(crate) fn forget_old(&self, now: Moments) {
        self.lock().retain(|_, met| now.boot_ms - met.boot_ms < KEPT_MS);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<OperationId, Moments>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn fault_31_time_is_counted_by_the_clock_that_nobody_sets_and_from_the_first_sight() {
        let (unresolved, id) = (Unresolved::default(), OperationId(Uuid::nil()));
        let at = |boot_ms, wall_ms| Moments { boot_ms, wall_ms };
        assert_eq!(unresolved.known_ms(id, at(500, 500)), 0);
        unresolved.meet(id, at(1_000, 1_000));
        unresolved.meet(id, at(2_000, 90_000));
        assert_eq!(unresolved.known_ms(id, at(3_000, 9_000_000)), 2_000);
        unresolved.forget_old(at(1_000 + KEPT_MS - 1, 0));
        assert_eq!(unresolved.known_ms(id, at(1_000 + KEPT_MS, 0)), KEPT_MS);
        unresolved.forget_old(at(1_000 + KEPT_MS, 0));
        assert_eq!(unresolved.known_ms(id, at(2_000 + KEPT_MS, 0)), 0);
        unresolved.meet(id, at(1, 1));
        unresolved.forget(id);
        assert_eq!(unresolved.known_ms(id, at(5, 5)), 0);
    }
}
