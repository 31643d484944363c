//! The bank: a ledger of its own that shares no code with the engine. Money is counted here. One object per key as long as it knows the
//! key; a card token that is dead takes no money; listings lag; what it once said of a key it may say for ever.

use std::collections::BTreeMap;

use payment::{
    CheckoutId, Ending, IntentId, Money, NotExecutedReason, ObjectId, ObjectStatus, Observation, OperationId,
    OrderId, ProviderKey, RefundObservation, RefundStatus, Timestamp, UnknownReason,
};
use providers::{Account, Page, Reply, Span};

use crate::{
    desk::{BankAnswer, Call, Request},
    time::{DAY, HOUR},
    wire::{self, Asked, Order},
};

/// How long a key is known, ms.
pub const KEY_LIFE_MS: i64 = DAY;
/// How long a card token takes money, ms.
pub const TOKEN_LIFE_MS: i64 = HOUR;
/// A payment that nobody confirms ends after this long, ms.
pub const PENDING_LIFE_MS: i64 = HOUR;
/// Money that nobody captures is let go of after this long, ms.
pub const HOLD_LIFE_MS: i64 = 7 * DAY;
/// Objects on a page of a listing.
const PAGE: usize = 2;

/// A payment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// The bank's id of it.
    pub id: ObjectId,
    /// In whose account.
    pub account: String,
    /// What it was asked with; none for somebody else's.
    pub key: Option<ProviderKey>,
    /// Whose it says it is; none for somebody else's.
    pub intent: Option<IntentId>,
    /// The checkout that it was asked for.
    pub checkout: Option<CheckoutId>,
    /// The order that it names.
    pub order: OrderId,
    /// How much.
    pub amount: Money,
    /// Where it stands.
    pub status: Status,
    /// Whether it ever took money.
    pub took_money: bool,
    /// When it was made.
    pub made_at: Timestamp,
    /// Whether the bank changed its mind about something that was over.
    pub fickle: bool,
}

/// Where a payment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It waits for the shopper on the bank's page.
    Pending,
    /// It waits for the bank.
    Slow,
    /// Money is held.
    Held,
    /// Money was taken.
    Succeeded,
    /// The card's bank said no.
    Declined,
    /// The shopper did not confirm in time, or nobody captured.
    Expired,
    /// Let go of.
    Canceled,
}

impl Status {
    fn shown(self) -> ObjectStatus {
        match self {
            Self::Pending => {
                ObjectStatus::Pending { confirmation_url: Some("https://bank.example/confirm".to_owned()) }
            }
            Self::Slow => ObjectStatus::Pending { confirmation_url: None },
            Self::Held => ObjectStatus::WaitingForCapture,
            Self::Succeeded => ObjectStatus::Succeeded,
            Self::Declined => ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".to_owned() }),
            Self::Expired => {
                ObjectStatus::Ended(Ending::Expired { code: "expired_on_confirmation".to_owned() })
            }
            Self::Canceled => {
                ObjectStatus::Ended(Ending::Canceled { code: "canceled_by_merchant".to_owned() })
            }
        }
    }

    /// Whether it is over.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Declined | Self::Expired | Self::Canceled)
    }
}

/// The bank's word for a status.
pub fn word(status: &ObjectStatus) -> &'static str {
    match status {
        ObjectStatus::Pending { .. } => "pending",
        ObjectStatus::WaitingForCapture => "waiting_for_capture",
        ObjectStatus::Succeeded => "succeeded",
        ObjectStatus::Ended(_) => "canceled",
    }
}

/// How far along a word is.
pub fn place(word: &str) -> usize {
    ["pending", "waiting_for_capture"].iter().position(|earlier| *earlier == word).unwrap_or(2)
}

/// A refund.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Refund {
    /// The bank's id of it.
    pub id: ObjectId,
    /// In whose account.
    pub account: String,
    /// Whose it says it is.
    pub operation: OperationId,
    /// Of which payment.
    pub payment: ObjectId,
    /// How much.
    pub amount: Money,
    /// Whether it is done; else it is under way.
    pub done: bool,
    /// When it was made.
    pub made_at: Timestamp,
}

/// What a key was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Made {
    Payment(usize),
    Refund(usize),
    /// It fell ill over it and says so for ever.
    Nothing,
    /// Nothing: the request is wrong, and stays so.
    Refusal,
    /// Something with other bytes.
    Else,
}

/// What is known of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Known {
    made: Made,
    at: Timestamp,
    body: Vec<u8>,
}

/// A request that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The request.
    pub request: Request,
    /// When it arrived, by the database's clock.
    pub at: Timestamp,
    /// Whether it is the first with its key.
    pub first: bool,
}

/// What becomes of a payment that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It takes its course.
    Becomes(Status),
    /// The bank falls ill over it, does nothing, and says so to this key for ever.
    FallsIll,
    /// It takes its course, with another sum.
    TakesAnotherSum,
    /// The request is called wrong.
    Refused,
}

/// The bank.
#[derive(Clone, Debug, Default)]
pub struct Bank {
    /// Payments, oldest first.
    pub objects: Vec<Object>,
    /// Refunds, oldest first.
    pub refunds: Vec<Refund>,
    /// Requests that arrived, repeats among them.
    pub arrivals: Vec<Arrival>,
    /// When it showed the end of a listing of payments.
    pub listed: Vec<Timestamp>,
    /// Which objects it was asked about, and when.
    pub asked: Vec<(ObjectId, Timestamp)>,
    keys: BTreeMap<(String, ProviderKey), Known>,
    tokens: BTreeMap<String, Timestamp>,
    /// Objects are listed so long after they were made, ms.
    pub lag_ms: i64,
    /// How far its clock is ahead of the database's, ms.
    pub ahead_ms: i64,
}

impl Bank {
    /// A browser has a card made into a token.
    pub fn tokenize(&mut self, token: String, now: Timestamp) {
        self.tokens.insert(token, now);
    }

    /// Everything that can be asked of the bank later is a function of this.
    pub fn digest(&self, hasher: &mut impl std::hash::Hasher) {
        use std::hash::Hash as _;
        self.objects.hash(hasher);
        self.refunds.hash(hasher);
        self.keys.hash(hasher);
        self.tokens.hash(hasher);
    }

    /// Does what is asked. `fate` says what becomes of a payment that is new.
    pub fn handle(
        &mut self,
        call: &Call,
        now: Timestamp,
        fate: &mut dyn FnMut(&Order) -> Fate,
    ) -> BankAnswer {
        match call {
            Call::Send(request) => BankAnswer::Payment(self.send(request, now, fate)),
            Call::SendRefund(request) => BankAnswer::Refund(self.send_refund(request, now)),
            Call::Query(account, id) => {
                self.asked.push((id.clone(), now));
                BankAnswer::Payment(self.query(account, id))
            }
            Call::QueryRefund(account, id) => {
                self.asked.push((id.clone(), now));
                BankAnswer::Refund(self.query_refund(account, id))
            }
            Call::List(account, span, cursor) => {
                let own = self.objects.iter().filter(|object| object.account == account.id);
                let rows: Vec<_> = own.map(|object| (object.made_at, self.shown(object))).collect();
                let page = self.page(rows, *span, cursor.as_deref(), now);
                if matches!(page, Page::Objects { next: None, .. }) {
                    self.listed.push(now);
                }
                BankAnswer::Payments(page)
            }
            Call::ListRefunds(account, of, span, cursor) => {
                let own = self.refunds.iter().filter(|refund| refund.account == account.id);
                let own = own.filter(|refund| of.as_ref().is_none_or(|of| refund.payment == *of));
                let rows: Vec<_> = own.map(|refund| (refund.made_at, refund_shown(refund))).collect();
                BankAnswer::Refunds(self.page(rows, *span, cursor.as_deref(), now))
            }
        }
    }

    fn send(&mut self, request: &Request, now: Timestamp, fate: &mut dyn FnMut(&Order) -> Fate) -> Reply {
        let known = self.known(request, now);
        self.arrivals.push(Arrival { request: request.clone(), at: now, first: known.is_none() });
        match known {
            Some(Made::Payment(index)) => return Reply::Object(self.shown(&self.objects[index])),
            Some(Made::Refund(_) | Made::Else) => return rejected("The key was used for something else"),
            Some(Made::Nothing) => return ill(),
            Some(Made::Refusal) => return refused(),
            None => {}
        }
        let Some(asked) = wire::read(&request.body) else { return rejected("Unreadable") };
        match asked {
            Asked::Pay(order) => self.pay(request, &order, now, fate),
            Asked::Capture(payment, amount) => self.end_hold(request, &payment, Some(amount), now),
            Asked::Cancel(payment) => self.end_hold(request, &payment, None, now),
            Asked::Refund { .. } => rejected("No payment"),
        }
    }

    fn known(&self, request: &Request, now: Timestamp) -> Option<Made> {
        let known = self.keys.get(&(request.account.id.clone(), request.key))?;
        let made = if known.body == request.body { known.made } else { Made::Else };
        (now.since_ms(known.at) < KEY_LIFE_MS).then_some(made)
    }

    fn keep(&mut self, request: &Request, made: Made, now: Timestamp) {
        self.keys.insert(
            (request.account.id.clone(), request.key),
            Known { made, at: now, body: request.body.clone() },
        );
    }

    fn pay(
        &mut self,
        request: &Request,
        order: &Order,
        now: Timestamp,
        fate: &mut dyn FnMut(&Order) -> Fate,
    ) -> Reply {
        if let Some(token) = &order.token {
            let made = self.tokens.get(token);
            if made.is_none_or(|made| now.since_ms(*made) >= TOKEN_LIFE_MS) {
                return rejected("The token is dead");
            }
        }
        let mut amount = order.amount;
        let status = match fate(order) {
            Fate::Becomes(status) => status,
            Fate::TakesAnotherSum => {
                amount = Money::from_minor(amount.minor() + 1, amount.currency()).unwrap_or(amount);
                Status::Succeeded
            }
            Fate::FallsIll => {
                self.keep(request, Made::Nothing, now);
                return ill();
            }
            Fate::Refused => {
                self.keep(request, Made::Refusal, now);
                return refused();
            }
        };
        // Without a card there is nothing to take money from before the shopper has been on the bank's page.
        let status = if order.token.is_none() { Status::Pending } else { status };
        let status = if order.held && status == Status::Succeeded { Status::Held } else { status };
        let index = self.objects.len();
        self.objects.push(Object {
            id: object_id("object", index),
            account: request.account.id.clone(),
            key: Some(request.key),
            intent: Some(order.intent),
            checkout: Some(order.checkout),
            order: order.order.clone(),
            amount,
            status,
            took_money: status == Status::Succeeded,
            made_at: now.plus_ms(self.ahead_ms),
            fickle: false,
        });
        self.keep(request, Made::Payment(index), now);
        Reply::Object(self.shown(&self.objects[index]))
    }

    /// Somebody else makes a payment in this account that names an order.
    pub fn stranger_pays(&mut self, account: &str, order: &OrderId, amount: Money, now: Timestamp) -> usize {
        let index = self.objects.len();
        self.objects.push(Object {
            id: object_id("object", index),
            account: account.to_owned(),
            key: None,
            intent: None,
            checkout: None,
            order: order.clone(),
            amount,
            status: Status::Succeeded,
            took_money: true,
            made_at: now.plus_ms(self.ahead_ms),
            fickle: false,
        });
        index
    }

    fn end_hold(&mut self, request: &Request, id: &ObjectId, take: Option<Money>, now: Timestamp) -> Reply {
        let Some(index) = self.position(&request.account, id) else { return not_found() };
        let object = &mut self.objects[index];
        if object.status != Status::Held || take.is_some_and(|take| take.minor() > object.amount.minor()) {
            self.keep(request, Made::Refusal, now);
            return rejected("The payment does not allow it");
        }
        match take {
            Some(amount) => {
                (object.status, object.took_money, object.amount) = (Status::Succeeded, true, amount);
            }
            None => object.status = Status::Canceled,
        }
        self.keep(request, Made::Payment(index), now);
        Reply::Object(self.shown(&self.objects[index]))
    }

    fn send_refund(&mut self, request: &Request, now: Timestamp) -> Reply<RefundObservation> {
        let known = self.known(request, now);
        self.arrivals.push(Arrival { request: request.clone(), at: now, first: known.is_none() });
        match known {
            Some(Made::Refund(index)) => return Reply::Object(refund_shown(&self.refunds[index])),
            Some(Made::Payment(_) | Made::Nothing | Made::Refusal | Made::Else) => {
                return rejected("The key was used for something else");
            }
            None => {}
        }
        let Some(Asked::Refund { operation, payment, amount }) = wire::read(&request.body) else {
            return rejected("Unreadable");
        };
        let Some(index) = self.position(&request.account, &payment) else { return not_found() };
        let object = &self.objects[index];
        if object.status != Status::Succeeded
            || self.returned(&payment) + amount.minor() > object.amount.minor()
        {
            self.keep(request, Made::Refusal, now);
            return rejected("More than was taken");
        }
        let index = self.refunds.len();
        self.refunds.push(Refund {
            id: object_id("refund", index),
            account: request.account.id.clone(),
            operation,
            payment,
            amount,
            done: true,
            made_at: now.plus_ms(self.ahead_ms),
        });
        self.keep(request, Made::Refund(index), now);
        Reply::Object(refund_shown(&self.refunds[index]))
    }

    /// What was given back of a payment, or is about to be, minor units.
    pub fn returned(&self, payment: &ObjectId) -> i64 {
        self.refunds
            .iter()
            .filter(|refund| refund.payment == *payment)
            .map(|refund| refund.amount.minor())
            .sum()
    }

    fn position(&self, account: &Account, id: &ObjectId) -> Option<usize> {
        self.objects.iter().position(|object| object.id == *id && object.account == account.id)
    }

    fn query(&self, account: &Account, id: &ObjectId) -> Reply {
        self.position(account, id)
            .map_or_else(not_found, |index| Reply::Object(self.shown(&self.objects[index])))
    }

    fn query_refund(&self, account: &Account, id: &ObjectId) -> Reply<RefundObservation> {
        let found = self.refunds.iter().find(|refund| refund.id == *id && refund.account == account.id);
        found.map_or_else(not_found, |refund| Reply::Object(refund_shown(refund)))
    }

    fn page<O>(
        &self,
        rows: Vec<(Timestamp, O)>,
        span: Span,
        cursor: Option<&str>,
        now: Timestamp,
    ) -> Page<O> {
        let own_now = now.plus_ms(self.ahead_ms);
        let in_span = |at: Timestamp| at >= span.from && span.to.is_none_or(|to| at <= to);
        let mut listed: Vec<_> = rows
            .into_iter()
            .filter(|(at, _)| in_span(*at) && at.plus_ms(self.lag_ms) <= own_now)
            .map(|(_, shown)| shown)
            .collect();
        listed.reverse();
        let start = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let next = (listed.len() > start + PAGE).then(|| (start + PAGE).to_string());
        let objects = listed.into_iter().skip(start).take(PAGE).collect();
        Page::Objects { objects, unreadable: 0, next, at: Some(own_now) }
    }

    /// A payment as the bank shows it.
    pub fn shown(&self, object: &Object) -> Observation {
        Observation {
            object: object.id.clone(),
            status: object.status.shown(),
            amount: object.amount,
            intent: object.intent,
            order: Some(object.order.clone()),
            paid_with: None,
            created_at: Some(object.made_at),
        }
    }

    /// A payment goes on.
    pub fn moves(&mut self, index: usize, to: Status) {
        let object = &mut self.objects[index];
        object.fickle |= object.status.is_over();
        object.took_money |= to == Status::Succeeded;
        object.status = to;
    }

    /// What waits too long ends.
    pub fn let_go(&mut self, now: Timestamp) {
        let own_now = now.plus_ms(self.ahead_ms);
        for object in &mut self.objects {
            let age_ms = own_now.since_ms(object.made_at);
            let ends = match object.status {
                Status::Pending | Status::Slow => age_ms >= PENDING_LIFE_MS,
                Status::Held => age_ms >= HOLD_LIFE_MS,
                Status::Succeeded | Status::Declined | Status::Expired | Status::Canceled => false,
            };
            if ends {
                object.status = Status::Expired;
            }
        }
    }

    /// The notification that it would send now about a payment.
    pub fn notice(&self, index: usize) -> Vec<u8> {
        let object = &self.objects[index];
        wire::write_notice("payment", &object.id, word(&object.status.shown()), object.intent, None)
    }

    /// Whether a notification is about a payment that was over before.
    pub fn is_fickle(&self, body: &[u8]) -> bool {
        let notice = wire::read_notice(body);
        let object = notice.and_then(|notice| self.objects.iter().find(|object| object.id == notice.object));
        object.is_some_and(|object| object.fickle)
    }

    /// The notification that it would send now about a refund.
    pub fn refund_notice(&self, index: usize) -> Vec<u8> {
        let refund = &self.refunds[index];
        let status = if refund.done { "succeeded" } else { "pending" };
        wire::write_notice("refund", &refund.id, status, None, Some(&refund.payment))
    }
}

fn object_id(kind: &str, index: usize) -> ObjectId {
    ObjectId::parse(format!("{kind}-{index}")).unwrap_or_else(|_| unreachable!("a short word"))
}

fn refund_shown(refund: &Refund) -> RefundObservation {
    RefundObservation {
        object: refund.id.clone(),
        payment: refund.payment.clone(),
        status: if refund.done { RefundStatus::Succeeded } else { RefundStatus::Pending },
        amount: refund.amount,
        operation: Some(refund.operation),
        created_at: Some(refund.made_at),
    }
}

fn rejected<O>(message: &str) -> Reply<O> {
    Reply::Rejected { code: "invalid_request".to_owned(), message: message.to_owned() }
}

fn refused<O>() -> Reply<O> {
    rejected("The card's token cannot be used")
}

fn not_found<O>() -> Reply<O> {
    Reply::NotExecuted { reason: NotExecutedReason::NotFound, retry_after_ms: None }
}

fn ill<O>() -> Reply<O> {
    Reply::Unknown { reason: UnknownReason::ProviderError, turned_away: None, retry_after_ms: None }
}
