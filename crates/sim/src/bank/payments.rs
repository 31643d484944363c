//! Payments: made once for a key, confirmed, captured, let go of.

use payment::{IntentId, Money, ObjectId, OrderId, Timestamp};
use providers::{Account, Reply};

use super::{
    Arrival, Bank, Fate, HOLD_LIFE_MS, Made, Object, PENDING_LIFE_MS, Status, ill, not_found, object_id,
    refused, rejected, word,
};
use crate::{
    desk::Request,
    wire::{self, Asked, Order},
};

impl Bank {
    pub(super) fn send(
        &mut self,
        request: &Request,
        now: Timestamp,
        fate: &mut dyn FnMut(&Order) -> Fate,
    ) -> Reply {
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

    fn pay(
        &mut self,
        request: &Request,
        order: &Order,
        now: Timestamp,
        fate: &mut dyn FnMut(&Order) -> Fate,
    ) -> Reply {
        if let Some(token) = &order.token {
            let made = self.tokens.get(token);
            if made.is_none_or(|made| now.since_ms(*made) >= self.periods.token_life_ms) {
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
            taken_at: (status == Status::Succeeded).then(|| now.plus_ms(self.ahead_ms)),
            made_at: now,
            dated_at: now.plus_ms(self.ahead_ms),
            fickle: false,
            gone_since: None,
        });
        self.keep(request, Made::Payment(index), now);
        Reply::Object(self.shown(&self.objects[index]))
    }

    /// Somebody else makes a payment in this account that names an order: it takes money, or holds it.
    pub fn stranger_pays(
        &mut self,
        account: &str,
        order: &OrderId,
        (amount, status): (Money, Status),
        now: Timestamp,
    ) -> usize {
        let index = self.objects.len();
        self.objects.push(Object {
            id: object_id("object", index),
            account: account.to_owned(),
            key: None,
            intent: None,
            checkout: None,
            order: order.clone(),
            amount,
            status,
            taken_at: (status == Status::Succeeded).then(|| now.plus_ms(self.ahead_ms)),
            made_at: now,
            dated_at: now.plus_ms(self.ahead_ms),
            fickle: false,
            gone_since: None,
        });
        index
    }

    /// Support takes so much of what is held by hand, and lets go of the rest.
    pub fn takes_part(&mut self, index: usize, amount: Money, now: Timestamp) {
        let taken_at = Some(now.plus_ms(self.ahead_ms));
        let object = &mut self.objects[index];
        (object.status, object.taken_at, object.amount) = (Status::Succeeded, taken_at, amount);
    }

    fn end_hold(&mut self, request: &Request, id: &ObjectId, take: Option<Money>, now: Timestamp) -> Reply {
        let Some(index) = self.position(&request.account, id) else { return not_found() };
        let taken_at = Some(now.plus_ms(self.ahead_ms));
        let object = &mut self.objects[index];
        if object.status != Status::Held || take.is_some_and(|take| take.minor() > object.amount.minor()) {
            self.keep(request, Made::Refusal, now);
            return rejected("The payment does not allow it");
        }
        match take {
            Some(amount) => {
                (object.status, object.taken_at, object.amount) = (Status::Succeeded, taken_at, amount);
            }
            None => object.status = Status::Canceled,
        }
        self.keep(request, Made::Payment(index), now);
        Reply::Object(self.shown(&self.objects[index]))
    }

    pub(super) fn query(&self, account: &Account, id: &ObjectId) -> Reply {
        self.position(account, id)
            .map_or_else(not_found, |index| Reply::Object(self.shown(&self.objects[index])))
    }

    /// A payment goes on.
    pub fn moves(&mut self, index: usize, to: Status, now: Timestamp) {
        let object = &mut self.objects[index];
        object.gone_since = (object.status == Status::Succeeded && to != Status::Succeeded).then_some(now);
        object.fickle |= object.status.is_over();
        // What it takes once more it dates anew, or not.
        let dated_anew = object.taken_at.is_none() || index.is_multiple_of(2);
        if to == Status::Succeeded && dated_anew {
            object.taken_at = Some(now.plus_ms(self.ahead_ms));
        }
        object.status = to;
    }

    /// What waits too long ends.
    pub fn let_go(&mut self, now: Timestamp) {
        for object in &mut self.objects {
            let age_ms = now.since_ms(object.made_at);
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

    /// The account that a notification is about.
    pub fn account_of(&self, body: &[u8]) -> Option<&str> {
        let notice = wire::read_notice(body)?;
        let payments = self.objects.iter().map(|object| (&object.id, &object.account));
        let refunds = self.refunds.iter().map(|refund| (&refund.id, &refund.account));
        let mut accounts = payments.chain(refunds);
        accounts.find(|(id, _)| **id == notice.object).map(|(_, account)| account.as_str())
    }

    /// The intent of a payment that was over before, where a notification is about one.
    pub fn intent_of_fickle(&self, body: &[u8]) -> Option<IntentId> {
        let notice = wire::read_notice(body)?;
        let mut fickle = self.objects.iter().filter(|object| object.fickle);
        fickle.find(|object| object.id == notice.object)?.intent
    }

    /// Whether a notification is about a payment that was over before.
    pub fn is_fickle(&self, body: &[u8]) -> bool {
        let notice = wire::read_notice(body);
        let object = notice.and_then(|notice| self.objects.iter().find(|object| object.id == notice.object));
        object.is_some_and(|object| object.fickle)
    }
}
