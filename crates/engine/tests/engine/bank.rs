//! A bank that does as it is told and keeps a ledger: one object per key, every send that reached it, what was done and what was
//! only said. Money is counted here, never in our store. What must be true before a request leaves is asserted on arrival.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
};

use async_trait::async_trait;
use payment::{
    CheckoutId, Currency, IntentId, Money, NotExecutedReason, ObjectId, ObjectStatus, Observation, PaidWith,
    ProviderKey, Timestamp, UnknownReason,
};
use providers::{Account, Encoded, Method, Page, PayRequest, Provider, Reply};
use store::{Clock, Store, Tenant};
use tokio::sync::Notify;

use crate::merchant::{ACCOUNT, secret_of};

const PAGE: usize = 2;
pub const WINDOW_MS: i64 = 23 * 3_600_000;

/// What happens to one exchange.
#[derive(Clone, Debug)]
pub enum Fault {
    /// No connection: not a byte left.
    NotSent,
    /// Lost on the way there.
    LoseRequest,
    /// Done, and the answer lost.
    LoseAnswer,
    /// HTTP 500, nothing done.
    Error500Before,
    /// HTTP 500, and done.
    Error500After,
    /// HTTP 400.
    BadRequest,
    /// HTTP 401.
    Unauthorized,
    /// HTTP 404.
    NotFound,
    /// HTTP 429 with its `Retry-After`, ms.
    RateLimited(Option<i64>),
    /// HTTP 202 with its `retry_after`, ms; done.
    Accepted(i64),
    /// Done, and an answer nobody can read.
    Garbage,
    /// Waits before it is looked at, then goes on as if nothing had been.
    Held(Arc<Notify>),
}

/// What the bank says falsely of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    Amount,
    Currency,
    Owner,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Sent {
    pub at: Timestamp,
    pub key: ProviderKey,
    pub account: Account,
    pub body: Vec<u8>,
    pub intent: IntentId,
}

/// An object of the ledger.
#[derive(Clone, Debug)]
pub struct Object {
    pub id: ObjectId,
    pub account: String,
    pub intent: IntentId,
    pub checkout: CheckoutId,
    pub amount: Money,
    pub status: ObjectStatus,
    pub took_money: bool,
    pub at: Timestamp,
}

#[derive(Default)]
struct Books {
    keys: BTreeMap<(String, ProviderKey), usize>,
    objects: Vec<Object>,
    sent: Vec<Sent>,
    queries: usize,
    listings: usize,
    faults: VecDeque<Fault>,
    every: Option<Fault>,
    query_faults: VecDeque<Fault>,
    decisions: VecDeque<ObjectStatus>,
    secrets: BTreeMap<String, String>,
    lie: Option<Lie>,
    listing_lag_ms: i64,
    listing_down: bool,
    edition: u32,
}

/// The bank.
pub struct Bank {
    books: Mutex<Books>,
    store: Arc<dyn Store>,
    tenants: Vec<Tenant>,
    clock: Clock,
}

impl Bank {
    pub fn new(store: Arc<dyn Store>, tenants: Vec<Tenant>, clock: Clock) -> Self {
        Self { books: Mutex::default(), store, tenants, clock }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    /// The next sends meet these, in order.
    pub fn next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.books().faults.extend(faults);
    }

    /// Every send that has no fault of its own meets this, and so does every query and listing.
    pub fn every(&self, fault: Option<Fault>) {
        self.books().every = fault;
    }

    /// Forgets the faults that did not happen.
    pub fn heal(&self) {
        let mut books = self.books();
        books.faults.clear();
        books.query_faults.clear();
        (books.every, books.lie, books.listing_down, books.listing_lag_ms) = (None, None, false, 0);
    }

    pub fn next_query(&self, fault: Fault) {
        self.books().query_faults.push_back(fault);
    }

    /// What becomes of the next new object; without a word it succeeds.
    pub fn decides(&self, status: ObjectStatus) {
        self.books().decisions.push_back(status);
    }

    /// The bank changes its mind about an intent's object, or the shopper confirms.
    pub fn moves(&self, intent: IntentId, status: ObjectStatus) {
        let mut books = self.books();
        let object = books.objects.iter_mut().find(|object| object.intent == intent).unwrap();
        object.took_money |= status == ObjectStatus::Succeeded;
        object.status = status;
    }

    pub fn lies(&self, lie: Option<Lie>) {
        self.books().lie = lie;
    }

    /// Objects are listed this long after they were made.
    pub fn listing_lags(&self, ms: i64) {
        self.books().listing_lag_ms = ms;
    }

    pub fn listing_down(&self, down: bool) {
        self.books().listing_down = down;
    }

    /// Keys are forgotten: a repeat makes a second object.
    pub fn forget_keys(&self) {
        self.books().keys.clear();
    }

    pub fn change_secret(&self, account: &str, secret: &str) {
        self.books().secrets.insert(account.to_owned(), secret.to_owned());
    }

    /// A new version of our encoder is deployed.
    pub fn deploy(&self) {
        self.books().edition += 1;
    }

    /// The network delivers the last request once more; nobody hears the answer.
    pub fn repeat_last(&self) {
        let sent = self.sent().pop().unwrap();
        self.execute(&sent.account, &Order::read(&sent.body), sent.key);
    }

    pub fn sent(&self) -> Vec<Sent> {
        self.books().sent.clone()
    }

    pub fn sends(&self) -> usize {
        self.books().sent.len()
    }

    /// Questions asked: queries and pages of listings.
    pub fn asked(&self) -> (usize, usize) {
        let books = self.books();
        (books.queries, books.listings)
    }

    pub fn objects(&self) -> Vec<Object> {
        self.books().objects.clone()
    }

    /// Objects that took money.
    pub fn charges(&self) -> usize {
        self.books().objects.iter().filter(|object| object.took_money).count()
    }

    /// Write-ahead (invariant 4), one account (5), before execute-until (7): asked of the store as the request arrives.
    async fn write_ahead(&self, account: &Account, intent: IntentId, key: ProviderKey) {
        let mut stories = Vec::new();
        for tenant in &self.tenants {
            stories.extend(self.store.story(tenant.clone(), intent).await.unwrap());
        }
        let [story] = &stories[..] else { panic!("{intent} is not written") };
        let (operation, now) = (&story.operation, (self.clock)());
        let frozen = operation.frozen.as_ref().expect("the request is frozen before it leaves");
        assert_eq!(operation.provider_key, key, "the operation's own key");
        assert_eq!((frozen.account.as_str(), &frozen.url), (account.id.as_str(), &account.url));
        assert!(story.attempts.iter().any(|attempt| attempt.outcome.is_none()), "its attempt is written");
        assert!(operation.execute_until.is_some_and(|until| now < until), "sent after execute-until");
    }

    fn execute(&self, account: &Account, order: &Order, key: ProviderKey) -> Reply {
        let now = (self.clock)();
        let mut books = self.books();
        let slot = (account.id.clone(), key);
        let known = books.keys.get(&slot).copied();
        let index = known.unwrap_or_else(|| {
            let status = books.decisions.pop_front().unwrap_or(ObjectStatus::Succeeded);
            let number = books.objects.len();
            books.objects.push(Object {
                id: ObjectId::parse(format!("object-{number}")).unwrap(),
                account: account.id.clone(),
                intent: order.intent,
                checkout: order.checkout,
                amount: order.amount,
                took_money: status == ObjectStatus::Succeeded,
                status,
                at: now,
            });
            books.keys.insert(slot, number);
            number
        });
        Reply::Object(books.shown(index))
    }
}

impl Books {
    fn shown(&self, index: usize) -> Observation {
        let object = &self.objects[index];
        let mut shown = Observation {
            object: object.id.clone(),
            status: object.status.clone(),
            amount: object.amount,
            intent: Some(object.intent),
            paid_with: Some(PaidWith { last4: Some("4444".into()) }),
            created_at: Some(object.at),
        };
        match self.lie {
            None => {}
            Some(Lie::Amount) => {
                shown.amount =
                    Money::from_minor(object.amount.minor() + 1, object.amount.currency()).unwrap();
            }
            Some(Lie::Currency) => {
                let usd = Currency::parse("USD").unwrap();
                shown.amount = Money::from_minor(object.amount.minor(), usd).unwrap();
            }
            Some(Lie::Owner) => shown.intent = None,
        }
        shown
    }
}

/// A request's body, read as the bank reads it.
struct Order {
    intent: IntentId,
    checkout: CheckoutId,
    amount: Money,
}

impl Order {
    fn read(body: &[u8]) -> Self {
        let text = std::str::from_utf8(body).unwrap();
        let fields: BTreeMap<_, _> = text.lines().filter_map(|line| line.split_once('=')).collect();
        let currency = Currency::parse(fields["currency"]).unwrap();
        Self {
            intent: fields["intent"].parse().unwrap(),
            checkout: fields["checkout"].parse().unwrap(),
            amount: Money::parse(fields["amount"], currency).unwrap(),
        }
    }
}

fn unknown(reason: UnknownReason, retry_after_ms: Option<i64>) -> Reply {
    Reply::Unknown { reason, retry_after_ms }
}

fn not_executed(reason: NotExecutedReason, retry_after_ms: Option<i64>) -> Reply {
    Reply::NotExecuted { reason, retry_after_ms }
}

/// The answer to what was not done.
fn refused(fault: &Fault) -> Option<Reply> {
    match fault {
        Fault::NotSent => Some(not_executed(NotExecutedReason::NotSent, None)),
        Fault::LoseRequest => Some(unknown(UnknownReason::NoAnswer, None)),
        Fault::Error500Before => Some(unknown(UnknownReason::ProviderError, None)),
        Fault::BadRequest => {
            Some(Reply::Rejected { code: "invalid_request".into(), message: "Bad token".into() })
        }
        Fault::Unauthorized => Some(not_executed(NotExecutedReason::NotAuthorized, None)),
        Fault::NotFound => Some(not_executed(NotExecutedReason::NotFound, None)),
        Fault::RateLimited(after) => Some(not_executed(NotExecutedReason::RateLimited, *after)),
        Fault::LoseAnswer | Fault::Error500After | Fault::Accepted(_) | Fault::Garbage | Fault::Held(_) => {
            None
        }
    }
}

/// The answer to what was done, as it arrives.
fn distorted(fault: &Fault, told: Reply) -> Reply {
    match fault {
        Fault::LoseAnswer => unknown(UnknownReason::NoAnswer, None),
        Fault::Error500After => unknown(UnknownReason::ProviderError, None),
        Fault::Accepted(after) => unknown(UnknownReason::Accepted, Some(*after)),
        Fault::Garbage => unknown(UnknownReason::Unreadable, None),
        Fault::NotSent
        | Fault::LoseRequest
        | Fault::Error500Before
        | Fault::BadRequest
        | Fault::Unauthorized
        | Fault::NotFound
        | Fault::RateLimited(_)
        | Fault::Held(_) => told,
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

    fn encode_pay(&self, request: &PayRequest) -> Encoded {
        let method = match &request.method {
            Method::CardToken(token) => token,
            Method::Redirect => "redirect",
        };
        let body = format!(
            "edition={}\nintent={}\ncheckout={}\norder={}\namount={}\ncurrency={}\nmethod={method}\n",
            self.books().edition,
            request.intent,
            request.checkout,
            request.order,
            request.amount.decimal(),
            request.amount.currency().code(),
        );
        Encoded { method: "POST", path: "/payments", body: body.into_bytes() }
    }

    async fn send(
        &self,
        account: &Account,
        method: &str,
        path: &str,
        body: Vec<u8>,
        key: ProviderKey,
    ) -> Reply {
        assert_eq!((method, path), ("POST", "/payments"));
        let order = Order::read(&body);
        self.write_ahead(account, order.intent, key).await;
        let fault = {
            let (mut books, at) = (self.books(), (self.clock)());
            books.sent.push(Sent { at, key, account: account.clone(), body, intent: order.intent });
            books.faults.pop_front().or_else(|| books.every.clone())
        };
        if let Some(Fault::Held(gate)) = &fault {
            gate.notified().await;
        }
        if let Some(reply) = fault.as_ref().and_then(refused) {
            return reply;
        }
        if !self.books().knows(account) {
            return not_executed(NotExecutedReason::NotAuthorized, None);
        }
        let told = self.execute(account, &order, key);
        fault.map_or(told.clone(), |fault| distorted(&fault, told))
    }

    async fn query(&self, account: &Account, object: &ObjectId) -> Reply {
        let mut books = self.books();
        books.queries += 1;
        let fault = books.query_faults.pop_front().or_else(|| books.every.clone());
        if let Some(reply) = fault.as_ref().and_then(refused) {
            return reply;
        }
        if !books.knows(account) {
            return not_executed(NotExecutedReason::NotAuthorized, None);
        }
        let ours = |found: &Object| found.id == *object && found.account == account.id;
        let Some(index) = books.objects.iter().position(ours) else {
            return not_executed(NotExecutedReason::NotFound, None);
        };
        let told = Reply::Object(books.shown(index));
        fault.map_or(told.clone(), |fault| distorted(&fault, told))
    }

    async fn list(&self, account: &Account, from: Timestamp, cursor: Option<&str>) -> Page {
        let now = (self.clock)();
        let mut books = self.books();
        books.listings += 1;
        if books.listing_down || books.every.is_some() || !books.knows(account) {
            return Page::Failed { retry_after_ms: None };
        }
        let start: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let lag = books.listing_lag_ms;
        let listed = |object: &Object| {
            object.account == account.id && object.at >= from && object.at.plus_ms(lag) <= now
        };
        let found: Vec<_> =
            (0..books.objects.len()).rev().filter(|index| listed(&books.objects[*index])).collect();
        let objects = found.iter().skip(start).take(PAGE).map(|index| books.shown(*index)).collect();
        let next = (found.len() > start + PAGE).then(|| (start + PAGE).to_string());
        Page::Objects { objects, unreadable: 0, next }
    }
}

impl Books {
    fn knows(&self, account: &Account) -> bool {
        let secret = self.secrets.get(&account.id).cloned().unwrap_or_else(|| secret_of(&account.id));
        account.secret.0 == secret
    }
}

/// Waits at the provider's own page.
pub fn pending() -> ObjectStatus {
    ObjectStatus::Pending { confirmation_url: Some(format!("https://bank.example/3ds/{ACCOUNT}")) }
}
