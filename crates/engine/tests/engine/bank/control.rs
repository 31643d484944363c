//! What a test tells the bank to do, and what the bank has seen.

use std::sync::Arc;

use payment::{IntentId, Money, ObjectId, ObjectStatus, OperationId, OperationKind, OrderId, RefundStatus};
use providers::{About, Account, Notice, RefundRequest, Secret};
use store::Store;
use tokio::sync::Notify;

use super::{
    Bank, Fault, Lie, Listing, Object, Refund, Sent,
    ledger::BY_HAND,
    wire::{self, Asked},
};
use crate::merchant::URL;

/// What a test tells the bank to do.
impl Bank {
    /// The engines work on this store from now on; it knows nothing of what was sent before.
    pub fn witnesses(&self, store: Arc<dyn Store>) {
        let sent = self.books().sent.len();
        *self.store.lock().unwrap() = (store, sent);
    }

    /// The next payments meet these, in order.
    pub fn next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.next_for(OperationKind::Pay, faults);
    }

    /// The next sends of this kind meet these, in order.
    pub fn next_for(&self, kind: OperationKind, faults: impl IntoIterator<Item = Fault>) {
        self.books().faults.entry(kind).or_default().extend(faults);
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
        (books.every, books.ledger.lie) = (None, None);
        books.listing = Listing::default();
    }

    pub fn next_query(&self, fault: Fault) {
        self.books().query_faults.push_back(fault);
    }

    /// What becomes of the next new object; without a word it succeeds.
    pub fn decides(&self, status: ObjectStatus) {
        self.books().decisions.push_back(status);
    }

    /// What becomes of the next new refund; without a word it succeeds.
    pub fn decides_refund(&self, status: RefundStatus) {
        self.books().refund_decisions.push_back(status);
    }

    /// The bank changes its mind about an intent's object, or the shopper confirms.
    pub fn moves(&self, intent: IntentId, status: ObjectStatus) {
        let id = self.books().object_of(intent).id.clone();
        self.moves_object(&id, status);
    }

    /// The bank changes its mind about one of several objects.
    pub fn moves_object(&self, id: &ObjectId, status: ObjectStatus) {
        let (now, mut books) = ((self.clock)(), self.books());
        let object = books.ledger.object(id);
        let late = matches!(object.status, ObjectStatus::Ended(_)) && status == ObjectStatus::Succeeded;
        if status == ObjectStatus::Succeeded {
            (object.took_money, object.taken_at) = (true, object.taken_at.or(Some(now)));
        }
        object.status = status;
        books.broke_its_word |= late;
    }

    /// All cards end so.
    pub fn shows_card(&self, last4: &'static str) {
        self.books().ledger.last4 = Some(last4);
    }

    /// Of what it holds, that much is taken in the bank's dashboard.
    pub fn takes_part(&self, id: &ObjectId, amount: Money) {
        self.moves_object(id, ObjectStatus::Succeeded);
        self.books().ledger.object(id).amount = amount;
    }

    /// A refund goes on.
    pub fn moves_refund(&self, operation: OperationId, status: RefundStatus) {
        let mut books = self.books();
        let refund = books.ledger.refunds.iter_mut().find(|refund| refund.operation == operation);
        refund.unwrap().status = status;
    }

    /// Somebody else takes money in this account for an order.
    pub fn stranger_pays(&self, account: &str, order: &OrderId, amount: Money) -> ObjectId {
        self.books().ledger.put_stranger(
            account,
            order.clone(),
            amount,
            ObjectStatus::Succeeded,
            (self.clock)(),
        )
    }

    /// Somebody else makes a payment of 1500.00 in this account for an order; it takes no money yet.
    pub fn stranger_waits(&self, account: &str, order: &OrderId, status: ObjectStatus) -> ObjectId {
        let amount = crate::world::rub("1500.00");
        self.books().ledger.put_stranger(account, order.clone(), amount, status, (self.clock)())
    }

    /// Somebody gives back money of a payment in the bank's dashboard.
    pub fn gives_back_by_hand(&self, payment: &ObjectId, amount: Money, status: RefundStatus) -> ObjectId {
        let ledger = &mut self.books().ledger;
        let account = ledger.object(payment).account.clone();
        let request = RefundRequest { operation: BY_HAND, payment: payment.clone(), amount, reason: None };
        let number = ledger.put_refund(&account, &request, status, (self.clock)());
        ledger.refunds[number].id.clone()
    }

    /// What becomes of a refund that somebody made in the dashboard.
    pub fn moves_refund_by_hand(&self, id: &ObjectId, status: RefundStatus) {
        let mut books = self.books();
        books.ledger.refunds.iter_mut().find(|refund| refund.id == *id).unwrap().status = status;
    }

    /// Whether all that a payment took was given back.
    pub fn gave_all_back(&self, object: &Object) -> bool {
        self.books().ledger.gave_all_back(object)
    }

    /// A payment is not known any more, and not listed.
    pub fn loses(&self, id: &ObjectId) {
        self.books().ledger.object(id).account = "nobody's".into();
    }

    /// The same of a refund.
    pub fn loses_refund(&self, operation: OperationId) {
        let mut books = self.books();
        let refund = books.ledger.refunds.iter_mut().find(|refund| refund.operation == operation);
        refund.unwrap().account = "nobody's".into();
    }

    /// A payment alone is not shown to us by its id (403).
    pub fn forbids(&self, id: Option<&ObjectId>) {
        self.books().forbidden = id.cloned();
    }

    /// An object is called as one of another account.
    pub fn renames(&self, id: &ObjectId, name: &ObjectId) {
        self.books().ledger.object(id).id = name.clone();
    }

    /// What it has made so far is dated by a clock that is so far from ours.
    pub fn dates_what_it_made(&self, ms: i64) {
        let ledger = &mut self.books().ledger;
        ledger.objects.iter_mut().for_each(|object| object.at = object.at.plus_ms(ms));
        ledger.refunds.iter_mut().for_each(|refund| refund.at = refund.at.plus_ms(ms));
    }

    /// Its answers carry the time from now on, by a clock that is so far ahead of ours.
    pub fn tells_time(&self, ahead_ms: i64) {
        self.books().tells_time = Some(ahead_ms);
    }

    /// An object is dated so much later.
    pub fn dates(&self, id: &ObjectId, ms: i64) {
        let mut books = self.books();
        let object = books.ledger.object(id);
        object.at = object.at.plus_ms(ms);
    }

    pub fn lies(&self, lie: Option<Lie>) {
        self.books().ledger.lie = lie;
    }

    /// Listings are so from now on.
    pub fn listing(&self, change: impl FnOnce(&mut Listing)) {
        change(&mut self.books().listing);
    }

    /// Objects are listed this long after they were made.
    pub fn listing_lags(&self, ms: i64) {
        self.books().listing.lag_ms = ms;
    }

    pub fn listing_down(&self, down: bool) {
        self.books().listing.down = down;
    }

    /// The next listing is not answered before this is told.
    pub fn listing_waits(&self, gate: Arc<Notify>) {
        self.books().listing_gates.push_back(gate);
    }

    /// It lets go of what waits for the shopper, too.
    pub fn cancels_what_waits(&self) {
        self.books().ledger.cancels_what_waits = true;
    }

    /// Its listings are no evidence any more.
    pub fn proves_nothing(&self) {
        self.books().proves_nothing = true;
    }

    /// What it is about to do is against what it promised.
    pub fn breaks_its_word(&self) {
        self.books().broke_its_word = true;
    }

    /// Whoever sends a request for this intent dies of it.
    pub fn kills_senders_of(&self, intent: Option<IntentId>) {
        self.books().kills_senders_of = intent;
    }

    /// Keys are forgotten: a repeat makes a second object.
    pub fn forget_keys(&self) {
        self.books().ledger.forget_keys();
    }

    /// It is reached there alone from now on; none: anywhere.
    pub fn moves_to(&self, url: Option<&str>) {
        self.books().moved_to = url.map(str::to_owned);
    }

    pub fn change_secret(&self, account: &str, secret: &str) {
        self.books().secrets.insert(account.to_owned(), secret.to_owned());
    }

    /// A new version of our encoder is deployed.
    pub fn deploy(&self) {
        self.books().edition += 1;
    }

    /// The network delivers the last payment request once more; nobody hears the answer.
    pub fn repeat_last(&self) {
        let sent = self.sent().pop().unwrap();
        self.pay(&sent.account, &Asked::read("POST", "/payments", &sent.body), sent.key);
    }
}

/// What the bank has seen.
impl Bank {
    /// Listings that wait to be answered.
    pub fn reading(&self) -> usize {
        self.books().reading
    }

    /// Payment requests that arrived.
    pub fn sent(&self) -> Vec<Sent> {
        self.sent_for(OperationKind::Pay)
    }

    /// Payment requests that arrived since the store was a new one.
    pub fn sent_from_store(&self) -> Vec<Sent> {
        let since = self.store.lock().unwrap().1;
        self.books().sent[since..].iter().filter(|sent| sent.kind == OperationKind::Pay).cloned().collect()
    }

    /// Requests of this kind that arrived.
    pub fn sent_for(&self, kind: OperationKind) -> Vec<Sent> {
        self.books().sent.iter().filter(|sent| sent.kind == kind).cloned().collect()
    }

    pub fn sends(&self) -> usize {
        self.sent().len()
    }

    /// Senders that stand before their first byte.
    pub fn paused(&self) -> usize {
        self.books().paused
    }

    /// Requests of any kind that the last look stopped.
    pub fn stopped(&self) -> Vec<Sent> {
        self.books().stopped.clone()
    }

    /// Questions asked: queries and pages of listings.
    pub fn asked(&self) -> (usize, usize) {
        let books = self.books();
        (books.queries, books.listings)
    }

    /// Whether it took money for something that was over.
    pub fn broke_its_word(&self) -> bool {
        self.books().broke_its_word
    }

    /// An account by which the bank is asked, with its present secret.
    pub fn account(&self, id: &str) -> Account {
        let secret = self.books().secret(id);
        Account { url: URL.to_owned(), id: id.to_owned(), secret: Secret(secret) }
    }

    pub fn objects(&self) -> Vec<Object> {
        self.books().ledger.objects.clone()
    }

    pub fn refunds(&self) -> Vec<Refund> {
        self.books().ledger.refunds.clone()
    }

    /// Objects that took money.
    pub fn charges(&self) -> usize {
        self.books().ledger.objects.iter().filter(|object| object.took_money).count()
    }

    /// The notification that the bank would send now about a refund.
    pub fn refund_notice(&self, operation: OperationId) -> Vec<u8> {
        let refund = self.refunds().into_iter().find(|refund| refund.operation == operation).unwrap();
        let status = match refund.status {
            RefundStatus::Pending => "pending",
            RefundStatus::Succeeded => "succeeded",
            RefundStatus::Canceled { .. } => "canceled",
        };
        wire::write_notice(&Notice {
            event: format!("refund.{status}"),
            object: refund.id,
            about: About::Refund { payment: refund.payment },
            status: status.to_owned(),
            intent: None,
        })
    }
}
