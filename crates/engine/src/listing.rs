//! Reads a provider's listing to its end, and compares its clock with ours: a listing is asked for by our time, so it proves nothing
//! where the two are too far apart.

use payment::{ObjectId, Observation, RefundObservation, Timestamp};
use providers::{Account, By, Page, Span};

use crate::{Engine, Moments, drive::CLOCKS_DIFFER_MS};

/// Most pages of a listing read at once; what is beyond makes it incomplete.
const MAX_PAGES: usize = 500;

/// What a listing held.
#[derive(Clone, Debug)]
pub(crate) struct Listing<O> {
    /// The objects that were read.
    pub(crate) objects: Vec<O>,
    /// Whether every page was read, and every row on them, by clocks that agree: only then it proves anything by what it does not hold.
    pub(crate) complete: bool,
    /// How long the provider wants us to wait, ms.
    pub(crate) retry_after_ms: Option<i64>,
}

/// What time it was by the database, and what the process's clocks showed before it was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OurTime {
    pub(crate) now: Timestamp,
    pub(crate) began: Moments,
}

/// What keeps a listing that was read to its end from proving anything.
#[derive(Debug, Default)]
struct Flaws {
    /// Rows that cannot be read.
    unreadable: usize,
    /// How far our clock is ahead of the provider's, where they are too far apart, ms.
    apart_ms: Option<i64>,
    /// A page named itself, or nothing, as the next one.
    circular: bool,
}

impl<O> Listing<O> {
    fn empty() -> Self {
        Self { objects: Vec::new(), complete: false, retry_after_ms: None }
    }

    /// Takes the page at `cursor` that came by `now`, where its time matters; where the next one begins.
    fn take(
        &mut self,
        page: Page<O>,
        cursor: Option<&str>,
        now: Option<Timestamp>,
        flaws: &mut Flaws,
    ) -> Option<String> {
        match page {
            Page::Failed { retry_after_ms } => {
                self.retry_after_ms = retry_after_ms;
                None
            }
            Page::TurnedAway => None,
            Page::Objects { objects, unreadable, next, at } => {
                flaws.unreadable += unreadable;
                flaws.apart_ms = flaws.apart_ms.or(now.and_then(|now| apart_ms(now, at)));
                flaws.circular = leads_nowhere(cursor, next.as_deref());
                self.objects.extend(objects);
                self.complete = next.is_none() && flaws.unreadable == 0 && flaws.apart_ms.is_none();
                next.filter(|_| !flaws.circular)
            }
        }
    }
}

impl Engine {
    /// The payments of a span that `wanted` takes.
    pub(crate) async fn list_payments(
        &self,
        account: &Account,
        span: Span,
        time: OurTime,
        wanted: impl Fn(&Observation) -> bool + Send,
    ) -> Listing<Observation> {
        let (mut listing, mut flaws, mut cursor) = (Listing::empty(), Flaws::default(), None::<String>);
        for _ in 0..MAX_PAGES {
            let page = self.provider.list(account, span, cursor.as_deref()).await;
            cursor = listing.take(page, cursor.as_deref(), Some(self.latest(time)), &mut flaws);
            listing.objects.retain(&wanted);
            if cursor.is_none() {
                break;
            }
        }
        flaws.tell(account);
        listing
    }

    /// The refunds of a payment in a span; of all of them where no time is given.
    pub(crate) async fn list_refunds(
        &self,
        account: &Account,
        of: &ObjectId,
        span: Option<(Span, OurTime)>,
    ) -> Listing<RefundObservation> {
        let ever = Span { by: By::Made, from: Timestamp(0), to: None };
        let (span, time) = span.map_or((ever, None), |(span, time)| (span, Some(time)));
        let (mut listing, mut flaws, mut cursor) = (Listing::empty(), Flaws::default(), None::<String>);
        for _ in 0..MAX_PAGES {
            let page = self.provider.list_refunds(account, Some(of), span, cursor.as_deref()).await;
            let now = time.map(|time| self.latest(time));
            cursor = listing.take(page, cursor.as_deref(), now, &mut flaws);
            if cursor.is_none() {
                break;
            }
        }
        flaws.tell(account);
        listing
    }

    /// What time it is by the database, at the latest: what has passed since is never taken for less than it is.
    pub(crate) fn latest(&self, time: OurTime) -> Timestamp {
        time.now.plus_ms(self.clock.moments().since_ms(time.began))
    }
}

impl Flaws {
    fn tell(&self, account: &Account) {
        let unreadable = self.unreadable;
        if unreadable > 0 {
            tracing::error!(account = %account.id, unreadable, "a provider's listing holds rows that cannot be read: it proves nothing");
        }
        if self.circular {
            tracing::error!(account = %account.id, "a page of a provider's listing does not say where the next one begins: it proves nothing");
        }
        if let Some(apart_ms) = self.apart_ms {
            tell_apart(account, apart_ms);
        }
    }
}

/// Whether the page at `cursor` names itself, or nothing, as the next one: it would be read again and again.
pub(crate) fn leads_nowhere(cursor: Option<&str>, next: Option<&str>) -> bool {
    next.is_some_and(|next| next.is_empty() || cursor == Some(next))
}

/// How far our clock is ahead of the provider's, where that is too far, either way, ms. A provider that does not tell the time is believed.
pub(crate) fn apart_ms(now: Timestamp, theirs: Option<Timestamp>) -> Option<i64> {
    theirs.map(|at| now.since_ms(at)).filter(|ahead_ms| ahead_ms.abs() > CLOCKS_DIFFER_MS)
}

pub(crate) fn tell_apart(account: &Account, apart_ms: i64) {
    let (minutes, ahead) = (apart_ms.abs() / 60_000, if apart_ms > 0 { "ahead" } else { "behind" });
    tracing::error!(
        account = %account.id,
        "this machine's clock or the provider's is wrong by {minutes} minutes (ours is {ahead}): until it is right no listing proves that \
         a payment does not exist, and none lifts a gate"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_31_clocks_agree_or_are_apart_either_way() {
        let (now, hour) = (Timestamp(1_800_000_000_000), 3_600_000);
        let by = |ahead_ms: i64| apart_ms(now, Some(now.plus_ms(-ahead_ms)));
        assert_eq!([by(0), by(hour), by(-hour)], [None; 3]);
        assert_eq!([by(hour + 1), by(-hour - 1)], [Some(hour + 1), Some(-hour - 1)]);
        assert_eq!(apart_ms(now, None), None);
    }

    #[test]
    fn a_page_that_names_itself_or_nothing_as_the_next_one_ends_the_listing_and_proves_nothing() {
        let page = |next: Option<&str>| Page::Objects {
            objects: vec![()],
            unreadable: 0,
            next: next.map(str::to_owned),
            at: None,
        };
        let (mut listing, mut flaws) = (Listing::empty(), Flaws::default());
        let mut take =
            |at, next| (listing.take(page(next), at, Some(Timestamp(0)), &mut flaws), listing.complete);
        assert_eq!(take(None, Some("2")), (Some("2".to_owned()), false));
        for stuck in ["2", ""] {
            assert_eq!(take(Some("2"), Some(stuck)), (None, false), "{stuck:?}");
        }
        assert_eq!(take(Some("2"), None), (None, true));
    }
}
