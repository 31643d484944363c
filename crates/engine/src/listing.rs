//! Reads a provider's listing to its end.

use payment::{ObjectId, Observation, RefundObservation};
use providers::{Account, Page, Span};

use crate::Engine;

/// Most pages of a listing read at once; what is beyond makes it incomplete.
const MAX_PAGES: usize = 500;

/// What a listing held.
#[derive(Clone, Debug)]
pub(crate) struct Listing<O> {
    /// The objects that were read.
    pub(crate) objects: Vec<O>,
    /// Whether every page was read, and every row on them: only then it proves anything by what it does not hold.
    pub(crate) complete: bool,
    /// How long the provider wants us to wait, ms.
    pub(crate) retry_after_ms: Option<i64>,
}

impl<O> Listing<O> {
    fn empty() -> Self {
        Self { objects: Vec::new(), complete: false, retry_after_ms: None }
    }

    /// Takes a page; where the next one begins.
    fn take(&mut self, page: Page<O>, unreadable: &mut usize) -> Option<String> {
        match page {
            Page::Failed { retry_after_ms } => {
                self.retry_after_ms = retry_after_ms;
                None
            }
            Page::Objects { objects, unreadable: more, next } => {
                *unreadable += more;
                self.objects.extend(objects);
                self.complete = next.is_none() && *unreadable == 0;
                next
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
        wanted: impl Fn(&Observation) -> bool + Send,
    ) -> Listing<Observation> {
        let (mut listing, mut unreadable, mut cursor) = (Listing::empty(), 0, None::<String>);
        for _ in 0..MAX_PAGES {
            let page = self.provider.list(account, span, cursor.as_deref()).await;
            cursor = listing.take(page, &mut unreadable);
            listing.objects.retain(&wanted);
            if cursor.is_none() {
                break;
            }
        }
        tell_unreadable(account, unreadable);
        listing
    }

    /// The refunds of a payment in a span.
    pub(crate) async fn list_refunds(
        &self,
        account: &Account,
        of: &ObjectId,
        span: Span,
    ) -> Listing<RefundObservation> {
        let (mut listing, mut unreadable, mut cursor) = (Listing::empty(), 0, None::<String>);
        for _ in 0..MAX_PAGES {
            let page = self.provider.list_refunds(account, Some(of), span, cursor.as_deref()).await;
            cursor = listing.take(page, &mut unreadable);
            if cursor.is_none() {
                break;
            }
        }
        tell_unreadable(account, unreadable);
        listing
    }
}

fn tell_unreadable(account: &Account, unreadable: usize) {
    if unreadable > 0 {
        tracing::error!(account = %account.id, unreadable, "a provider's listing holds rows that cannot be read: it proves nothing");
    }
}
