//! How much of a queue each merchant may have in work. Whose provider or endpoint hangs would otherwise have all of it, and nobody
//! else's would move. Knows nothing of what is worked on.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use payment::MerchantId;
use tokio::sync::Notify;

/// The places of a queue. A merchant gets no more once it has as many as are free: one alone has half of them, and however many
/// hang, what becomes free is for the others.
pub(super) struct Shares {
    places: Mutex<Places>,
    /// A place has become free that somebody may wait for.
    pub freed: Notify,
}

struct Places {
    free: usize,
    /// No zeros.
    taken: HashMap<MerchantId, usize>,
    /// Whose work was left where it is by the last look.
    passed_over: HashSet<MerchantId>,
}

/// What may be claimed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// So many, whosever they are; there is a place for each.
    pub most: usize,
    /// But none of these.
    pub busy: Vec<MerchantId>,
}

impl Shares {
    pub(super) fn new(places: usize) -> Self {
        let places = Places { free: places, taken: HashMap::new(), passed_over: HashSet::new() };
        Self { places: Mutex::new(places), freed: Notify::new() }
    }

    /// What may be claimed now, up to `at_once`: so little that, were it all one merchant's, about as much would stay free as that
    /// merchant then has.
    pub(super) fn room(&self, at_once: usize) -> Room {
        let mut places = self.places();
        let free = places.free;
        let (busy, others): (Vec<_>, Vec<_>) = places.taken.iter().partition(|(_, taken)| **taken >= free);
        let largest = others.into_iter().map(|(_, taken)| *taken).max().unwrap_or(0);
        let busy: Vec<_> = busy.into_iter().map(|(merchant, _)| merchant.clone()).collect();
        let most = ((free - largest) / 2).clamp(1, at_once).min(free);
        places.passed_over = busy.iter().cloned().collect();
        Room { most, busy }
    }

    /// Takes a place of the room there was; it is free again when what is returned is dropped.
    pub(super) fn take(self: &Arc<Self>, merchant: MerchantId) -> Place {
        let mut places = self.places();
        places.free = places.free.saturating_sub(1);
        *places.taken.entry(merchant.clone()).or_default() += 1;
        drop(places);
        Place { shares: Arc::clone(self), merchant }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One in work.
pub(super) struct Place {
    shares: Arc<Shares>,
    merchant: MerchantId,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.shares.places();
        let left = places.taken.get(&self.merchant).map_or(0, |taken| taken - 1);
        if left == 0 {
            places.taken.remove(&self.merchant);
        } else {
            places.taken.insert(self.merchant.clone(), left);
        }
        let was_full = places.free == 0;
        places.free += 1;
        // Not at once, when it would be passed over again after one more: each look costs a transaction.
        let has_room = left * 2 <= places.free && places.passed_over.remove(&self.merchant);
        if was_full || has_room {
            self.shares.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn merchant(name: &str) -> MerchantId {
        MerchantId::parse(name).unwrap()
    }

    /// Takes whatever there is room for, as one whose work never ends.
    fn hang(shares: &Arc<Shares>, name: &str) -> Vec<Place> {
        let mut places = Vec::new();
        loop {
            let room = shares.room(16);
            if room.most == 0 || room.busy.contains(&merchant(name)) {
                return places;
            }
            places.extend((0..room.most).map(|_| shares.take(merchant(name))));
        }
    }

    #[test]
    fn fault_33_each_that_hangs_leaves_as_much_as_it_has() {
        let shares = Arc::new(Shares::new(64));
        let mut taken = Vec::new();
        for (name, share) in [("a", 32), ("b", 16), ("c", 8), ("d", 4), ("e", 2), ("f", 1), ("g", 1)] {
            let places = hang(&shares, name);
            assert_eq!(places.len(), share, "{name}");
            taken.push(places);
        }
        assert_eq!(shares.room(16).most, 0, "nothing is claimed that there is no place for");
        taken[0].pop();
        let room = shares.room(16);
        assert_eq!((room.most, room.busy.len()), (1, 7), "what becomes free is for who has none");
    }

    #[test]
    fn nobody_else_in_work_is_needed_to_go_on() {
        let shares = Arc::new(Shares::new(4));
        let mut places = hang(&shares, "a");
        assert_eq!(shares.room(16), Room { most: 1, busy: vec![merchant("a")] });
        places.pop();
        assert_eq!(shares.freed.notified().now_or_never(), Some(()), "it is looked for more of it");
        places.pop();
        assert_eq!(shares.freed.notified().now_or_never(), None, "once");
        assert_eq!(shares.room(16), Room { most: 2, busy: Vec::new() });
    }

    #[test]
    fn where_all_was_taken_one_place_is_enough_to_go_on() {
        let shares = Arc::new(Shares::new(1));
        let place = shares.take(merchant("a"));
        assert_eq!(shares.freed.notified().now_or_never(), None);
        drop(place);
        assert_eq!(shares.freed.notified().now_or_never(), Some(()));
    }
}
