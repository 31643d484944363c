//! The bank: a ledger of its own that shares no code with the engine. Money is counted here. One object per key as long as it knows the
//! key; a card token that is dead takes no money; listings lag; what it once said of a key it may say for ever.

mod payments;
mod refunds;

use std::collections::BTreeMap;

use payment::{
    CheckoutId, Ending, IntentId, Money, NotExecutedReason, ObjectId, ObjectStatus, Observation, OperationId,
    OrderId, ProviderKey, Timestamp, UnknownReason,
};
use providers::{Account, By, Page, Reply, Span};
use refunds::refund_shown;

use crate::{
    desk::{BankAnswer, Call, Request},
    periods::Periods,
    time::{DAY, HOUR},
    wire::Order,
};

/// How long a key is known, ms.
pub const KEY_LIFE_MS: i64 = DAY;
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
    /// When it took money last, by the bank's clock.
    pub taken_at: Option<Timestamp>,
    /// When it was made.
    pub made_at: Timestamp,
    /// The same by the bank's clock.
    pub dated_at: Timestamp,
    /// Whether the bank changed its mind about something that was over.
    pub fickle: bool,
    /// Since when what it took does not lie there any more: it was taken back, or all given back.
    pub gone_since: Option<Timestamp>,
}

impl Object {
    /// Whether it ever took money.
    pub fn took_money(&self) -> bool {
        self.taken_at.is_some()
    }

    /// When it could be listed, and the moment that such a listing goes by.
    fn dated(&self, by: By) -> Option<(Timestamp, Timestamp)> {
        match by {
            By::Made => Some((self.made_at, self.dated_at)),
            By::Taken => self.taken_at.map(|at| (self.made_at, at)),
        }
    }
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
    /// Whose it says it is; none where support made it by hand.
    pub operation: Option<OperationId>,
    /// Of which payment.
    pub payment: ObjectId,
    /// How much.
    pub amount: Money,
    /// Whether it is done; else it is under way.
    pub done: bool,
    /// When it was made.
    pub made_at: Timestamp,
    /// The same by the bank's clock.
    pub dated_at: Timestamp,
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
    /// When it arrived.
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
    /// How long things take.
    pub periods: Periods,
    /// Payments, oldest first.
    pub objects: Vec<Object>,
    /// Refunds, oldest first.
    pub refunds: Vec<Refund>,
    /// Requests that arrived, repeats among them.
    pub arrivals: Vec<Arrival>,
    /// When it showed the end of a listing of the payments that were made in an account.
    pub listed: Vec<(String, Timestamp)>,
    /// Which objects it was asked about, and when.
    pub asked: Vec<(ObjectId, Timestamp)>,
    /// Payments whose money somebody was shown, who may have written it down.
    pub shown_kept: Vec<ObjectId>,
    keys: BTreeMap<(String, ProviderKey), Known>,
    tokens: BTreeMap<String, Timestamp>,
    /// Objects are listed so long after they were made, ms.
    pub lag_ms: i64,
    /// How far its clock is ahead of the time, ms: what it makes is dated so for ever.
    pub ahead_ms: i64,
    /// How far everything that it shows is dated ahead of that, ms: where its clock is hours wrong, until it is right again.
    pub shifted_ms: i64,
}

impl Bank {
    pub(crate) fn new(periods: Periods) -> Self {
        Self { periods, ..Self::default() }
    }

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
        let answer = self.answer(call, now, fate);
        self.remember(&answer);
        answer
    }

    /// Whose money was shown.
    pub fn remember(&mut self, answer: &BankAnswer) {
        match answer {
            BankAnswer::Payment(Reply::Object(seen)) => self.was_shown(std::slice::from_ref(seen)),
            BankAnswer::Payments(Page::Objects { objects, .. }) => self.was_shown(objects),
            BankAnswer::Payment(
                Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. },
            )
            | BankAnswer::Payments(Page::Failed { .. } | Page::TurnedAway)
            | BankAnswer::Refund(_)
            | BankAnswer::Refunds(_) => {}
        }
    }

    fn was_shown(&mut self, all: &[Observation]) {
        for seen in all.iter().filter(|seen| seen.status == ObjectStatus::Succeeded && !seen.given_back) {
            if !self.shown_kept.contains(&seen.object) {
                self.shown_kept.push(seen.object.clone());
            }
        }
    }

    fn answer(&mut self, call: &Call, now: Timestamp, fate: &mut dyn FnMut(&Order) -> Fate) -> BankAnswer {
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
                let row = |(at, object): (usize, &Object)| {
                    object.dated(span.by).map(|dated| (at, dated, self.shown(object)))
                };
                let rows: Vec<_> = own.enumerate().filter_map(row).collect();
                let page = self.page(rows, *span, cursor.as_deref(), now);
                if span.by == By::Made && matches!(page, Page::Objects { next: None, .. }) {
                    self.listed.push((account.id.clone(), now));
                }
                BankAnswer::Payments(page)
            }
            Call::ListRefunds(account, of, span, cursor) => {
                let own = self.refunds.iter().filter(|refund| refund.account == account.id);
                let own = own.filter(|refund| of.as_ref().is_none_or(|of| refund.payment == *of));
                let row = |(at, refund): (usize, &Refund)| {
                    (at, (refund.made_at, refund.dated_at), refund_shown(refund))
                };
                let rows: Vec<_> = own.enumerate().map(row).collect();
                BankAnswer::Refunds(self.page(rows, *span, cursor.as_deref(), now))
            }
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

    fn position(&self, account: &Account, id: &ObjectId) -> Option<usize> {
        self.objects.iter().position(|object| object.id == *id && object.account == account.id)
    }

    /// A page, the newest first. Its cursor is the place of the last row shown among all: what is new since, or hidden, moves nothing.
    fn page<O>(
        &self,
        rows: Vec<(usize, (Timestamp, Timestamp), O)>,
        span: Span,
        cursor: Option<&str>,
        now: Timestamp,
    ) -> Page<O> {
        let own_now = now.plus_ms(self.ahead_ms + self.shifted_ms);
        let in_span = |at: Timestamp| {
            let at = at.plus_ms(self.shifted_ms);
            at >= span.from && span.to.is_none_or(|to| at <= to)
        };
        let before = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(usize::MAX);
        let mut listed: Vec<_> = rows
            .into_iter()
            .rev()
            .filter(|(at, (made_at, dated_at), _)| {
                *at < before && in_span(*dated_at) && made_at.plus_ms(self.lag_ms) <= now
            })
            .collect();
        let more = listed.len() > PAGE;
        listed.truncate(PAGE);
        let next = listed.last().filter(|_| more).map(|(at, ..)| at.to_string());
        let objects = listed.into_iter().map(|(.., shown)| shown).collect();
        Page::Objects { objects, unreadable: 0, next, at: Some(own_now) }
    }

    /// A payment as the bank shows it.
    pub fn shown(&self, object: &Object) -> Observation {
        Observation {
            object: object.id.clone(),
            status: object.status.shown(),
            amount: object.amount,
            given_back: self.gave_all_back(object),
            intent: object.intent,
            order: Some(object.order.clone()),
            paid_with: None,
            created_at: Some(object.dated_at.plus_ms(self.shifted_ms)),
        }
    }
}

fn object_id(kind: &str, index: usize) -> ObjectId {
    ObjectId::parse(format!("{kind}-{index}")).unwrap_or_else(|_| unreachable!("a short word"))
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
