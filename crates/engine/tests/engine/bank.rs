//! A bank that does as it is told and keeps a ledger: one object per key, every send that reached it, what was done and what was
//! only said. Money is counted here, never in our store. What must be true before a request leaves is asserted on arrival.

mod control;
mod faults;
mod ledger;
mod wire;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
};

use async_trait::async_trait;
use payment::{
    IntentId, Money, NotExecutedReason, ObjectId, ObjectStatus, Observation, OperationKind, ProviderKey,
    RefundObservation, RefundStatus, Timestamp,
};
use providers::{Account, Encoded, Notice, Outgoing, Page, PayRequest, Provider, RefundRequest, Reply, Span};
use store::{Clock, Store, Tenant};
use tokio::sync::Notify;

pub use self::{
    faults::Fault,
    ledger::{Lie, Object, Refund},
};
use self::{
    faults::{distorted, not_executed, refused},
    ledger::{Asker, Ledger},
    wire::Asked,
};
use crate::merchant::{ACCOUNT, secret_of};

/// How listings are.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// Objects are listed this long after they were made.
    pub lag_ms: i64,
    /// There is none.
    pub down: bool,
    /// Pages after so many fail.
    pub breaks_after: Option<usize>,
    /// Rows on the last page that nobody can read.
    pub unreadable: usize,
    /// Objects on a page.
    pub page: usize,
    /// What each page names as the next one, whatever there is.
    pub next: Option<&'static str>,
}

impl Default for Listing {
    fn default() -> Self {
        Self { lag_ms: 0, down: false, breaks_after: None, unreadable: 0, page: 2, next: None }
    }
}

pub const WINDOW_MS: i64 = 23 * 3_600_000;
/// A payment that nobody confirms ends after this long.
pub const PENDING_MS: i64 = 3_600_000;
/// Money that nobody captures is let go of after this long.
pub const HOLD_MS: i64 = 7 * 24 * 3_600_000;

/// A request that arrived, or was about to.
#[derive(Clone, Debug)]
pub struct Sent {
    pub at: Timestamp,
    pub kind: OperationKind,
    pub key: ProviderKey,
    pub account: Account,
    pub body: Vec<u8>,
    pub intent: IntentId,
}

#[derive(Default)]
struct Books {
    ledger: Ledger,
    sent: Vec<Sent>,
    stopped: Vec<Sent>,
    queries: usize,
    listings: usize,
    faults: BTreeMap<OperationKind, VecDeque<Fault>>,
    every: Option<Fault>,
    query_faults: VecDeque<Fault>,
    /// It is reached there alone.
    moved_to: Option<String>,
    /// Is not shown by its id.
    forbidden: Option<ObjectId>,
    decisions: VecDeque<ObjectStatus>,
    refund_decisions: VecDeque<RefundStatus>,
    secrets: BTreeMap<String, String>,
    listing: Listing,
    /// What it says of the time: nothing, or how far its clock is ahead of ours.
    tells_time: Option<i64>,
    /// The next listings wait here before their first page.
    listing_gates: VecDeque<Arc<Notify>>,
    reading: usize,
    proves_nothing: bool,
    paused: usize,
    broke_its_word: bool,
    kills_senders_of: Option<IntentId>,
    edition: u32,
}

/// The bank.
pub struct Bank {
    books: Mutex<Books>,
    /// What the engines write, and since which send.
    store: Mutex<(Arc<dyn Store>, usize)>,
    tenants: Vec<Tenant>,
    clock: Clock,
}

impl Bank {
    pub fn new(store: Arc<dyn Store>, tenants: Vec<Tenant>, clock: Clock) -> Self {
        Self { books: Mutex::default(), store: Mutex::new((store, 0)), tenants, clock }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }
}

fn word(status: &ObjectStatus) -> &'static str {
    match status {
        ObjectStatus::Pending { .. } => "pending",
        ObjectStatus::WaitingForCapture => "waiting_for_capture",
        ObjectStatus::Succeeded => "succeeded",
        ObjectStatus::Ended(_) => "canceled",
    }
}

impl Bank {
    /// Lets a request in, past the last look and what must be written ahead. `Err`: it was not done, and this is the answer.
    async fn admit<O>(
        &self,
        account: &Account,
        request: &Outgoing,
        asked: &Asked,
    ) -> Result<Option<Fault>, Reply<O>> {
        let (kind, fault) = (asked.kind(), self.books().fault_of(asked.kind()));
        if let Some(Fault::Paused(gate)) = &fault {
            self.books().paused += 1;
            gate.notified().await;
            self.books().paused -= 1;
        }
        let sent = Sent {
            at: (self.clock)(),
            kind,
            key: request.key,
            account: account.clone(),
            body: request.body.clone(),
            intent: self.books().intent_of(asked),
        };
        assert_ne!(self.killed(), Some(sent.intent), "whoever sends this dies of it");
        if !(request.may_leave)() {
            self.books().stopped.push(sent);
            return Err(not_executed(NotExecutedReason::TooLate, None));
        }
        self.write_ahead(&sent).await;
        self.books().sent.push(sent);
        if let Some(Fault::Held(gate)) = &fault {
            gate.notified().await;
        }
        if let Some(reply) = fault.as_ref().and_then(refused) {
            return Err(reply);
        }
        if !self.books().knows(account) {
            return Err(not_executed(NotExecutedReason::NotAuthorized, None));
        }
        Ok(fault)
    }

    /// Write-ahead (invariant 4), one account (5), before execute-until (7): asked of the store as the request arrives.
    async fn write_ahead(&self, sent: &Sent) {
        if sent.kind == OperationKind::Refund && sent.intent == ledger::NOBODY {
            // Of a payment that was linked later: its own object does not say to which intent.
            return;
        }
        let mut stories = Vec::new();
        let store = Arc::clone(&self.store.lock().unwrap().0);
        for tenant in &self.tenants {
            stories.extend(store.story(tenant.clone(), sent.intent).await.unwrap());
        }
        let [story] = &stories[..] else { panic!("{} is not written", sent.intent) };
        let mut operations = std::iter::once(&story.operation).chain(&story.follow_ups);
        let operation = operations.find(|operation| operation.provider_key == sent.key);
        let operation = operation.expect("the operation's own key");
        assert_eq!(operation.task.kind(), sent.kind, "the operation's own key");
        let frozen = operation.frozen.as_ref().expect("the request is frozen before it leaves");
        assert_eq!(frozen.account.as_str(), sent.account.id.as_str());
        let attempted = story.attempts.iter().any(|attempt| attempt.outcome.is_none());
        assert!(attempted || sent.kind != OperationKind::Pay, "its attempt is written");
        let now = (self.clock)();
        assert!(operation.execute_until.is_some_and(|until| now < until), "sent after execute-until");
    }

    fn killed(&self) -> Option<IntentId> {
        self.books().kills_senders_of
    }

    /// Does what was asked of a payment.
    fn pay(&self, account: &Account, asked: &Asked, key: ProviderKey) -> Reply {
        let asker = Asker { account, key, now: (self.clock)() };
        let Books { ledger, decisions, .. } = &mut *self.books();
        match asked {
            Asked::Pay(order) => {
                ledger.pay(&asker, order, || decisions.pop_front().unwrap_or(ObjectStatus::Succeeded))
            }
            Asked::Capture { payment, amount } => ledger.capture(&asker, payment, *amount),
            Asked::Cancel { payment } => ledger.cancel(&asker, payment),
            Asked::Refund(_) => panic!("a refund shows no payment"),
        }
    }

    fn give_back(&self, account: &Account, asked: &Asked, key: ProviderKey) -> Reply<RefundObservation> {
        let asker = Asker { account, key, now: (self.clock)() };
        let Books { ledger, refund_decisions, .. } = &mut *self.books();
        let Asked::Refund(request) = asked else { panic!("only a refund shows a refund") };
        ledger.refund(&asker, request, || refund_decisions.pop_front().unwrap_or(RefundStatus::Succeeded))
    }

    /// Answers a question about the object that `find` finds.
    fn show<O>(&self, account: &Account, find: impl FnOnce(&Ledger) -> Option<O>) -> Reply<O> {
        let mut books = self.books();
        books.queries += 1;
        let fault = books.query_faults.pop_front().or_else(|| books.every.clone());
        if let Some(reply) = fault.as_ref().and_then(refused) {
            return reply;
        }
        if !books.knows(account) {
            return not_executed(NotExecutedReason::NotAuthorized, None);
        }
        let found = find(&books.ledger);
        found.map_or(not_executed(NotExecutedReason::NotFound, None), |seen| {
            distorted(fault, Reply::Object(seen))
        })
    }

    /// A page of what `rows` gives, newest first: each with when it was made.
    fn page<O>(
        &self,
        account: &Account,
        span: Span,
        cursor: Option<&str>,
        rows: impl FnOnce(&Ledger) -> Vec<(Timestamp, O)>,
    ) -> Page<O> {
        let now = (self.clock)();
        let mut books = self.books();
        books.listings += 1;
        if matches!(books.every, Some(Fault::Unauthorized)) || !books.knows(account) {
            return Page::TurnedAway;
        }
        if books.listing.down || books.every.is_some() {
            return Page::Failed { retry_after_ms: None };
        }
        let Listing { lag_ms, page, breaks_after, unreadable, next: named, .. } = books.listing;
        let start: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        if breaks_after.is_some_and(|pages| start >= pages * page) {
            return Page::Failed { retry_after_ms: None };
        }
        let in_span = |at: Timestamp| at >= span.from && span.to.is_none_or(|to| at <= to);
        let listed = |at: Timestamp| in_span(at) && at.plus_ms(lag_ms) <= now;
        let found: Vec<_> = rows(&books.ledger).into_iter().rev().filter(|(at, _)| listed(*at)).collect();
        let next = (found.len() > start + page).then(|| (start + page).to_string());
        let objects = found.into_iter().skip(start).take(page).map(|(_, seen)| seen).collect();
        let unreadable = if next.is_none() { unreadable } else { 0 };
        let next = named.map(str::to_owned).or(next);
        let at = books.tells_time.map(|ahead_ms| now.plus_ms(ahead_ms));
        Page::Objects { objects, unreadable, next, at }
    }
}

impl Books {
    fn fault_of(&mut self, kind: OperationKind) -> Option<Fault> {
        let own = self.faults.get_mut(&kind).and_then(VecDeque::pop_front);
        own.or_else(|| self.every.clone())
    }

    fn knows(&self, account: &Account) -> bool {
        let reached = self.moved_to.as_ref().is_none_or(|url| *url == account.url);
        reached && account.secret.0 == self.secret(&account.id)
    }

    fn secret(&self, account: &str) -> String {
        self.secrets.get(account).cloned().unwrap_or_else(|| secret_of(account))
    }

    fn object_of(&self, intent: IntentId) -> &Object {
        self.ledger.objects.iter().find(|object| object.intent == intent).unwrap()
    }

    fn intent_of(&self, asked: &Asked) -> IntentId {
        let payment = match asked {
            Asked::Pay(order) => return order.intent,
            Asked::Capture { payment, .. } | Asked::Cancel { payment } => payment,
            Asked::Refund(refund) => &refund.payment,
        };
        let object = self.ledger.objects.iter().find(|object| object.id == *payment);
        object.expect("a payment of this ledger").intent
    }
}

#[async_trait]
impl Provider for Bank {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn resend_window_ms(&self) -> Option<i64> {
        Some(WINDOW_MS)
    }

    fn proves_absence(&self) -> bool {
        !self.books().proves_nothing
    }

    fn pending_ends_after_ms(&self) -> Option<i64> {
        Some(PENDING_MS)
    }

    fn hold_ends_after_ms(&self) -> i64 {
        HOLD_MS
    }

    fn can_cancel(&self, status: &ObjectStatus) -> bool {
        let waits = matches!(status, ObjectStatus::Pending { .. });
        *status == ObjectStatus::WaitingForCapture || (waits && self.books().ledger.cancels_what_waits)
    }

    fn encode_pay(&self, request: &PayRequest) -> Encoded {
        wire::pay(self.books().edition, request)
    }

    fn encode_capture(&self, payment: &ObjectId, amount: Money) -> Encoded {
        wire::capture(self.books().edition, payment, amount)
    }

    fn encode_cancel(&self, payment: &ObjectId) -> Encoded {
        wire::cancel(self.books().edition, payment)
    }

    fn encode_refund(&self, request: &RefundRequest) -> Encoded {
        wire::refund(self.books().edition, request)
    }

    async fn send(&self, account: &Account, request: Outgoing) -> Reply {
        let asked = Asked::read(&request.method, &request.path, &request.body);
        match self.admit(account, &request, &asked).await {
            Ok(fault) => distorted(fault, self.pay(account, &asked, request.key)),
            Err(reply) => reply,
        }
    }

    async fn send_refund(&self, account: &Account, request: Outgoing) -> Reply<RefundObservation> {
        let asked = Asked::read(&request.method, &request.path, &request.body);
        match self.admit(account, &request, &asked).await {
            Ok(fault) => distorted(fault, self.give_back(account, &asked, request.key)),
            Err(reply) => reply,
        }
    }

    async fn query(&self, account: &Account, payment: &ObjectId) -> Reply {
        if self.books().forbidden.as_ref() == Some(payment) {
            return not_executed(NotExecutedReason::NotAuthorized, None);
        }
        self.show(account, |ledger| {
            ledger.position(payment, &account.id).map(|index| ledger.payment_shown(index))
        })
    }

    async fn query_refund(&self, account: &Account, refund: &ObjectId) -> Reply<RefundObservation> {
        self.show(account, |ledger| {
            let mut refunds = ledger.refunds.iter();
            let found = refunds.position(|kept| kept.id == *refund && kept.account == account.id);
            found.map(|index| ledger.refund_shown(index))
        })
    }

    async fn list(&self, account: &Account, span: Span, cursor: Option<&str>) -> Page<Observation> {
        let gate = self.books().listing_gates.pop_front();
        if let Some(gate) = gate {
            self.books().reading += 1;
            gate.notified().await;
            self.books().reading -= 1;
        }
        self.page(account, span, cursor, |ledger| {
            let rows = ledger.objects.iter().enumerate();
            let own = rows.filter(|(_, object)| object.account == account.id);
            let dated = own.filter_map(|(index, object)| Some((index, object.dated(span.by)?)));
            dated.map(|(index, at)| (at, ledger.payment_shown(index))).collect()
        })
    }

    async fn list_refunds(
        &self,
        account: &Account,
        of: Option<&ObjectId>,
        span: Span,
        cursor: Option<&str>,
    ) -> Page<RefundObservation> {
        self.page(account, span, cursor, |ledger| {
            let rows = ledger.refunds.iter().enumerate();
            let own = rows.filter(|(_, refund)| refund.account == account.id);
            let asked = own.filter(|(_, refund)| of.is_none_or(|payment| refund.payment == *payment));
            asked.map(|(index, refund)| (refund.at, ledger.refund_shown(index))).collect()
        })
    }

    fn read_notice(&self, body: &[u8]) -> Option<Notice> {
        wire::read_notice(body)
    }

    fn has_reached(&self, now: &ObjectStatus, announced: &str) -> bool {
        let order = ["pending", "waiting_for_capture"];
        let now = word(now);
        let place = |word: &str| order.iter().position(|earlier| *earlier == word).unwrap_or(order.len());
        now == announced || place(announced) < place(now)
    }
}

/// Waits at the provider's own page.
pub fn pending() -> ObjectStatus {
    ObjectStatus::Pending { confirmation_url: Some(format!("https://bank.example/3ds/{ACCOUNT}")) }
}
