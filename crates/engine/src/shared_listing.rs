//! One reading of an account's listing for all operations that look for themselves in it. It belongs to none of them: whoever began
//! it may lose its lease meanwhile, and what was read stands. Never evidence of more than held when it began.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use payment::{IntentId, Observation, Timestamp};
use providers::{Account, Span};

use crate::listing::Listing;

/// Spans reach out to whole hours, so that operations of about the same time ask for the same one.
const HOUR_MS: i64 = 3_600_000;

/// A span of an account's listing, read once.
#[derive(Debug)]
pub(crate) struct SharedListing {
    /// Not begun before this.
    pub(crate) began: Timestamp,
    /// Read to its end by then.
    pub(crate) ended: Timestamp,
    /// Whether everything was read: only then it proves anything by what it does not hold.
    pub(crate) complete: bool,
    /// How long the provider wants us to wait, ms.
    pub(crate) retry_after_ms: Option<i64>,
    of: HashMap<IntentId, Vec<Observation>>,
}

impl SharedListing {
    pub(crate) fn new(read: Listing<Observation>, began: Timestamp, ended: Timestamp) -> Self {
        let Listing { objects, complete, retry_after_ms } = read;
        let mut of = HashMap::<IntentId, Vec<Observation>>::new();
        for seen in objects {
            if let Some(intent) = seen.intent {
                of.entry(intent).or_default().push(seen);
            }
        }
        Self { began, ended, complete, retry_after_ms, of }
    }

    /// The objects that name an intent.
    pub(crate) fn of(&self, intent: IntentId) -> &[Observation] {
        self.of.get(&intent).map_or(&[], Vec::as_slice)
    }

    /// Not for ever, and not after a clock was set back.
    fn answers_at(&self, now: Timestamp, keep_ms: i64) -> bool {
        now >= self.began && now.since_ms(self.ended) < keep_ms
    }
}

/// A span with whole hours for ends.
pub(crate) fn widened(from: Timestamp, to: Timestamp) -> Span {
    let down = |at: Timestamp| Timestamp(at.0.div_euclid(HOUR_MS) * HOUR_MS);
    Span { from: down(from), to: Some(down(to).plus_ms(HOUR_MS)) }
}

/// The listings that were read lately, or are being read, by this process.
#[derive(Clone, Debug, Default)]
pub struct Listings(Arc<Mutex<Vec<Kept>>>);

#[derive(Debug)]
struct Kept {
    account: Account,
    span: Span,
    /// None while it is being read.
    listing: Option<Arc<SharedListing>>,
}

impl Kept {
    fn is(&self, account: &Account, span: Span) -> bool {
        self.account == *account && self.span == span
    }
}

/// What there is of a span.
pub(crate) enum Shared {
    /// It was read lately.
    Read(Arc<SharedListing>),
    /// Somebody reads it just now.
    BeingRead,
    /// The caller reads it, nobody else meanwhile.
    Unread(Reading),
}

impl Listings {
    /// What there is of an account's span that is not older than `keep_ms`.
    pub(crate) fn find(&self, account: &Account, span: Span, now: Timestamp, keep_ms: i64) -> Shared {
        let mut kept = self.kept();
        kept.retain(|kept| kept.listing.as_ref().is_none_or(|listing| listing.answers_at(now, keep_ms)));
        match kept.iter().find(|kept| kept.is(account, span)) {
            Some(Kept { listing: Some(listing), .. }) => Shared::Read(Arc::clone(listing)),
            Some(Kept { listing: None, .. }) => Shared::BeingRead,
            None => {
                kept.push(Kept { account: account.clone(), span, listing: None });
                Shared::Unread(Reading { listings: self.clone(), account: account.clone(), span })
            }
        }
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
    pub(crate) fn keep(self, listing: Arc<SharedListing>) {
        let mut kept = self.listings.kept();
        if let Some(own) = kept.iter_mut().find(|kept| kept.is(&self.account, self.span)) {
            own.listing = Some(listing);
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.listings.kept().retain(|kept| kept.listing.is_some() || !kept.is(&self.account, self.span));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP_MS: i64 = 1_000;

    fn read(began: i64, ended: i64) -> SharedListing {
        let read = Listing { objects: Vec::new(), complete: true, retry_after_ms: None };
        SharedListing::new(read, Timestamp(began), Timestamp(ended))
    }

    #[test]
    fn it_answers_for_a_while_and_not_before_it_began() {
        let listing = read(5_000, 7_000);
        let answers = |at| listing.answers_at(Timestamp(at), KEEP_MS);
        assert!(answers(5_000) && answers(7_999));
        assert!(!answers(4_999), "a clock was set back");
        assert!(!answers(8_000));
    }

    #[test]
    fn spans_of_about_the_same_time_are_the_same_and_hold_them_all() {
        let hour = |number: i64| Timestamp(number * HOUR_MS);
        assert_eq!(widened(hour(3), hour(5)), Span { from: hour(3), to: Some(hour(6)) });
        let (from, to) = (hour(3).plus_ms(1), hour(6).plus_ms(-1));
        assert_eq!(widened(from, to), Span { from: hour(3), to: Some(hour(6)) });
        assert_eq!(widened(Timestamp(-1), hour(0)).from, hour(-1));
    }
}
