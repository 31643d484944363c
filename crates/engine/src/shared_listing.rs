//! One reading of an account's listing for all operations that look for themselves in it. It belongs to none of them: whoever began
//! it may lose its lease meanwhile, and what was read stands. Never evidence of more than held when it began.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use payment::{IntentId, Observation, Timestamp};
use providers::{Account, By, Span};

use crate::{
    Moments,
    listing::{Listing, OurTime},
};

/// Spans reach out to whole hours, so that operations of about the same time ask for the same one.
const HOUR_MS: i64 = 3_600_000;

/// Most payments that are kept, of all listings together.
const MAX_KEPT: usize = 200_000;

/// A span of an account's listing, read once.
#[derive(Debug, Hash)]
pub(crate) struct SharedListing {
    /// Not begun before this.
    pub(crate) began: Timestamp,
    /// What the process's clocks showed then.
    pub(crate) moments: Moments,
    /// Read to its end by then.
    pub(crate) ended: Timestamp,
    /// Whether everything was read: only then it proves anything by what it does not hold.
    pub(crate) complete: bool,
    /// How long the provider wanted us to wait when it was read, ms.
    retry_after_ms: Option<i64>,
    of: BTreeMap<IntentId, Vec<Observation>>,
}

impl SharedListing {
    pub(crate) fn new(read: Listing<Observation>, time: OurTime, ended: Timestamp) -> Self {
        let OurTime { now: began, began: moments } = time;
        let Listing { objects, complete, retry_after_ms } = read;
        let mut of = BTreeMap::<IntentId, Vec<Observation>>::new();
        for seen in objects {
            if let Some(intent) = seen.intent {
                of.entry(intent).or_default().push(seen);
            }
        }
        Self { began, moments, ended, complete, retry_after_ms, of }
    }

    /// The objects that name an intent.
    pub(crate) fn of(&self, intent: IntentId) -> &[Observation] {
        self.of.get(&intent).map_or(&[], Vec::as_slice)
    }

    /// How long the provider still wants us to wait, ms.
    pub(crate) fn retry_after_ms(&self, now: Timestamp) -> Option<i64> {
        let passed_ms = now.since_ms(self.ended).max(0);
        self.retry_after_ms.map(|ms| ms - passed_ms).filter(|ms| *ms > 0)
    }

    /// Not for ever, and not after a clock was set back; a claim may be a little older.
    fn is_kept_at(&self, now: Timestamp, keep_ms: i64) -> bool {
        now.since_ms(self.ended) < keep_ms && self.began.since_ms(now) < keep_ms
    }

    /// What it weighs in memory.
    fn weight(&self) -> usize {
        1 + self.of.values().map(Vec::len).sum::<usize>()
    }
}

/// A span with whole hours for ends.
pub(crate) fn widened(from: Timestamp, to: Timestamp) -> Span {
    let down = |at: Timestamp| Timestamp(at.0.div_euclid(HOUR_MS) * HOUR_MS);
    Span { by: By::Made, from: down(from), to: Some(down(to).plus_ms(HOUR_MS)) }
}

/// The listings that were read lately, or are being read, by this process.
#[derive(Clone, Debug, Default)]
pub struct Listings(Arc<Mutex<Vec<Kept>>>);

#[derive(Debug)]
struct Kept {
    account: Account,
    span: Span,
    /// None while it is being read.
    listing: Option<KeptListing>,
}

/// A listing, and what the process's clocks showed when it was read.
#[derive(Clone, Debug, Hash)]
struct KeptListing {
    listing: Arc<SharedListing>,
    read: Moments,
}

impl Kept {
    fn is(&self, account: &Account, span: Span) -> bool {
        self.account == *account && self.span == span
    }

    fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.account.url, &self.account.id, self.span, &self.listing).hash(&mut hasher);
        hasher.finish()
    }
}

/// What there is of a span.
pub(crate) enum Shared {
    /// It was read lately.
    Read(Arc<SharedListing>),
    /// Somebody reads it just now, or has begun to after the claim of who asks: it answers the next one.
    BeingRead,
    /// The caller reads it, nobody else meanwhile.
    Unread(Reading),
}

impl Listings {
    /// What there is of an account's span that is not older than `keep_ms`.
    pub(crate) fn find(&self, account: &Account, span: Span, now: Timestamp, keep_ms: i64) -> Shared {
        let mut kept = self.kept();
        kept.retain(|kept| kept.listing.as_ref().is_none_or(|read| read.listing.is_kept_at(now, keep_ms)));
        match kept.iter().find(|kept| kept.is(account, span)) {
            Some(Kept { listing: Some(KeptListing { listing, .. }), .. }) if now >= listing.began => {
                Shared::Read(Arc::clone(listing))
            }
            Some(_) => Shared::BeingRead,
            None => {
                kept.push(Kept { account: account.clone(), span, listing: None });
                Shared::Unread(Reading { listings: self.clone(), account: account.clone(), span })
            }
        }
    }

    /// Lets go of what was read longer than `keep_ms` ago: nobody may ask again.
    pub(crate) fn forget_old(&self, now: Moments, keep_ms: i64) {
        let is_young = |read: &KeptListing| now.since_ms(read.read) < keep_ms;
        self.kept().retain(|kept| kept.listing.as_ref().is_none_or(is_young));
    }

    /// Lets go of one: who asks next reads it anew.
    pub(crate) fn forget(&self, listing: &Arc<SharedListing>) {
        let is_it = |read: &KeptListing| Arc::ptr_eq(&read.listing, listing);
        self.kept().retain(|kept| !kept.listing.as_ref().is_some_and(is_it));
    }

    /// Lets go of what could not be read to its end: who asks next reads it anew.
    pub(crate) fn forget_incomplete(&self) {
        self.kept().retain(|kept| kept.listing.as_ref().is_none_or(|read| read.listing.complete));
    }

    /// A digest of each listing that a claim of `now` may still look at, or that is being read; in order.
    pub(crate) fn digests(&self, now: Timestamp, keep_ms: i64) -> Vec<u64> {
        let is_young = |read: &KeptListing| now.since_ms(read.listing.ended) < keep_ms;
        let kept = self.kept();
        let young = kept.iter().filter(|kept| kept.listing.as_ref().is_none_or(is_young));
        let mut digests: Vec<_> = young.map(Kept::digest).collect();
        digests.sort_unstable();
        digests
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to read a span; who lets go of it without a listing leaves it to the next one.
pub(crate) struct Reading {
    listings: Listings,
    account: Account,
    span: Span,
}

impl Reading {
    /// It was read: for whoever asks from now on.
    pub(crate) fn keep(self, listing: Arc<SharedListing>, read: Moments) {
        let mut kept = self.listings.kept();
        make_room(&mut kept, listing.weight());
        if let Some(own) = kept.iter_mut().find(|kept| kept.is(&self.account, self.span)) {
            own.listing = Some(KeptListing { listing, read });
        }
    }
}

/// Lets go of the oldest, whoever may still want them: they can be read again.
fn make_room(kept: &mut Vec<Kept>, weight: usize) {
    let weight_of = |kept: &Kept| kept.listing.as_ref().map_or(0, |read| read.listing.weight());
    let mut total = weight + kept.iter().map(weight_of).sum::<usize>();
    while total > MAX_KEPT {
        let ended = |kept: &Kept| kept.listing.as_ref().map(|read| read.listing.ended);
        let ends = kept.iter().enumerate().filter_map(|(at, kept)| Some((ended(kept)?, at)));
        let Some((_, oldest)) = ends.min() else { return };
        total -= weight_of(&kept.remove(oldest));
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.listings.kept().retain(|kept| kept.listing.is_some() || !kept.is(&self.account, self.span));
    }
}

#[cfg(test)]
mod tests {
    use payment::{Currency, Money, ObjectId, ObjectStatus};
    use providers::Secret;
    use uuid::Uuid;

    use super::*;

    const KEEP_MS: i64 = 1_000;

    const MOMENT: Moments = Moments { boot_ms: 0, wall_ms: 0 };

    fn read(began: i64, ended: i64, retry_after_ms: Option<i64>) -> SharedListing {
        let read = Listing { objects: Vec::new(), complete: true, retry_after_ms };
        SharedListing::new(read, OurTime { now: Timestamp(began), began: MOMENT }, Timestamp(ended))
    }

    fn account() -> Account {
        Account { url: String::new(), id: "100500".into(), secret: Secret(String::new()) }
    }

    /// Each span's listing weighs `weight`.
    fn keep(listings: &Listings, hour: i64, weight: usize) {
        let span = widened(Timestamp(hour * HOUR_MS), Timestamp(hour * HOUR_MS));
        let Shared::Unread(reading) = listings.find(&account(), span, Timestamp(hour), KEEP_MS) else {
            panic!("nobody has read it")
        };
        let mut listing = read(hour, hour, None);
        listing.of.insert(IntentId(Uuid::nil()), vec![seen(); weight - 1]);
        reading.keep(Arc::new(listing), MOMENT);
    }

    fn seen() -> Observation {
        Observation {
            object: ObjectId::parse("object").unwrap(),
            status: ObjectStatus::Succeeded,
            amount: Money::parse("1.00", Currency::parse("RUB").unwrap()).unwrap(),
            given_back: false,
            intent: None,
            order: None,
            paid_with: None,
            created_at: None,
        }
    }

    fn weights(listings: &Listings) -> Vec<usize> {
        listings.kept().iter().filter_map(|kept| Some(kept.listing.as_ref()?.listing.weight())).collect()
    }

    #[test]
    fn it_answers_for_a_while_and_a_claim_from_before_it_only_has_to_come_again() {
        let (listings, span) = (Listings::default(), widened(Timestamp(0), Timestamp(0)));
        let at = |now| listings.find(&account(), span, Timestamp(now), KEEP_MS);
        let Shared::Unread(reading) = at(5_000) else { panic!("nobody has read it") };
        assert!(matches!(at(5_000), Shared::BeingRead));
        reading.keep(Arc::new(read(5_000, 7_000, None)), MOMENT);
        assert!(matches!(at(4_999), Shared::BeingRead), "a reader that was slow: its claim is older");
        assert!(matches!(at(5_000), Shared::Read(_)) && matches!(at(7_999), Shared::Read(_)));
        assert!(matches!(at(8_000), Shared::Unread(_)));
    }

    #[test]
    fn it_answers_nobody_after_a_clock_was_set_back() {
        let listing = read(5_000, 7_000, None);
        assert!(listing.is_kept_at(Timestamp(4_001), KEEP_MS));
        assert!(!listing.is_kept_at(Timestamp(4_000), KEEP_MS));
    }

    #[test]
    fn fault_49_what_the_provider_wants_us_to_wait_is_counted_from_its_own_word() {
        let listing = read(5_000, 7_000, Some(500));
        let after = |now| listing.retry_after_ms(Timestamp(now));
        assert_eq!([after(6_000), after(7_000), after(7_400)], [Some(500), Some(500), Some(100)]);
        assert_eq!(after(7_500), None);
    }

    #[test]
    fn what_is_kept_has_a_limit_and_the_oldest_goes_first() {
        let listings = Listings::default();
        for hour in 0..5 {
            keep(&listings, hour, MAX_KEPT / 4);
        }
        assert_eq!(weights(&listings), [MAX_KEPT / 4; 4]);
        let first = widened(Timestamp(0), Timestamp(0));
        assert!(listings.kept().iter().all(|kept| !kept.is(&account(), first)));
    }

    #[test]
    fn as_many_go_as_the_new_one_needs_room_and_no_more() {
        let listings = Listings::default();
        (0..3).for_each(|hour| keep(&listings, hour, 10));
        keep(&listings, 3, MAX_KEPT - 15);
        assert_eq!(weights(&listings), [10, MAX_KEPT - 15]);
        keep(&listings, 4, 5);
        assert_eq!(weights(&listings), [10, MAX_KEPT - 15, 5], "what fits to the last one fits");
    }

    #[test]
    fn what_nobody_asks_for_again_is_forgotten_all_the_same() {
        let listings = Listings::default();
        keep(&listings, 0, 10);
        let later = |ms| Moments { boot_ms: ms, wall_ms: 0 };
        listings.forget_old(later(KEEP_MS - 1), KEEP_MS);
        assert_eq!(weights(&listings), [10]);
        listings.forget_old(later(KEEP_MS), KEEP_MS);
        assert!(weights(&listings).is_empty());
    }

    #[test]
    fn what_is_told_of_it_is_what_a_claim_may_still_see() {
        let listings = Listings::default();
        let told = |now| listings.digests(Timestamp(now), KEEP_MS);
        let span = widened(Timestamp(0), Timestamp(0));
        let Shared::Unread(reading) = listings.find(&account(), span, Timestamp(0), KEEP_MS) else {
            panic!("nobody has read it")
        };
        let being_read = told(0);
        assert_eq!((being_read.len(), told(KEEP_MS)), (1, being_read.clone()), "however long it takes");
        reading.keep(Arc::new(read(0, 5, None)), MOMENT);
        assert!(told(0).len() == 1 && told(0) != being_read);
        assert_eq!((told(KEEP_MS + 4), told(KEEP_MS + 5)), (told(0), Vec::new()));
    }

    #[test]
    fn spans_of_about_the_same_time_are_the_same_and_hold_them_all() {
        let hour = |number: i64| Timestamp(number * HOUR_MS);
        assert_eq!(widened(hour(3), hour(5)), Span { by: By::Made, from: hour(3), to: Some(hour(6)) });
        let (from, to) = (hour(3).plus_ms(1), hour(6).plus_ms(-1));
        assert_eq!(widened(from, to), Span { by: By::Made, from: hour(3), to: Some(hour(6)) });
        assert_eq!(widened(Timestamp(-1), hour(0)).from, hour(-1));
    }
}
