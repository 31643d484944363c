//! The ledger: payments and refunds, one of them per key, and the sums that bound them.

use std::collections::BTreeMap;

use payment::{
    CheckoutId, Currency, Ending, IntentId, Money, ObjectId, ObjectStatus, Observation, OperationId, OrderId,
    PaidWith, ProviderKey, RefundObservation, RefundStatus, Timestamp,
};
use providers::{Account, By, RefundRequest, Reply};
use uuid::Uuid;

use super::wire::Order;

/// Whose a payment is that somebody else made.
pub const NOBODY: IntentId = IntentId(Uuid::max());
/// Whose a refund is that somebody else made: it names none.
pub const BY_HAND: OperationId = OperationId(Uuid::max());

/// What the bank says falsely of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    Amount,
    Currency,
    Owner,
    /// Names another payment, another operation.
    Another,
    /// Our payment, and another order.
    Order,
    /// Our payment, and no order.
    NoOrder,
}

/// A payment.
#[derive(Clone, Debug)]
pub struct Object {
    pub id: ObjectId,
    pub account: String,
    /// Whose it is; one that nobody knows for a stranger.
    pub intent: IntentId,
    pub checkout: CheckoutId,
    pub order: OrderId,
    /// Made by somebody else: names no intent.
    pub stranger: bool,
    pub amount: Money,
    pub status: ObjectStatus,
    pub took_money: bool,
    pub at: Timestamp,
    /// When it took its money.
    pub taken_at: Option<Timestamp>,
}

impl Object {
    /// The moment that a listing goes by.
    pub fn dated(&self, by: By) -> Option<Timestamp> {
        match by {
            By::Made => Some(self.at),
            By::Taken => self.taken_at,
        }
    }
}

/// A refund.
#[derive(Clone, Debug)]
pub struct Refund {
    pub id: ObjectId,
    pub account: String,
    pub operation: OperationId,
    pub payment: ObjectId,
    pub amount: Money,
    pub status: RefundStatus,
    pub at: Timestamp,
}

/// What a key was used for.
#[derive(Clone, Copy)]
enum Made {
    Payment(usize),
    Refund(usize),
}

#[derive(Default)]
pub struct Ledger {
    keys: BTreeMap<(String, ProviderKey), Made>,
    pub objects: Vec<Object>,
    pub refunds: Vec<Refund>,
    pub lie: Option<Lie>,
    /// The end of every card's number; none for 4444.
    pub last4: Option<&'static str>,
    /// It lets go of what waits for the shopper, too.
    pub cancels_what_waits: bool,
}

/// Who asks, with which key, and when.
pub struct Asker<'a> {
    pub account: &'a Account,
    pub key: ProviderKey,
    pub now: Timestamp,
}

impl Asker<'_> {
    fn slot(&self) -> (String, ProviderKey) {
        (self.account.id.clone(), self.key)
    }
}

impl Ledger {
    pub fn forget_keys(&mut self) {
        self.keys.clear();
    }

    /// Makes a payment, or shows the one that this key made.
    pub fn pay(&mut self, asker: &Asker, order: &Order, decided: impl FnOnce() -> ObjectStatus) -> Reply {
        if let Some(known) = self.made_payment(asker) {
            return known;
        }
        let id = self.put(asker.account.id.clone(), order, decided(), asker.now);
        self.keys.insert(asker.slot(), Made::Payment(self.objects.len() - 1));
        self.shown(&id)
    }

    /// Somebody else makes a payment for an order.
    pub fn put_stranger(
        &mut self,
        account: &str,
        order: OrderId,
        amount: Money,
        status: ObjectStatus,
        at: Timestamp,
    ) -> ObjectId {
        let (intent, checkout) = (NOBODY, CheckoutId(Uuid::max()));
        let order = Order { intent, checkout, order, amount };
        let id = self.put(account.to_owned(), &order, status, at);
        self.object(&id).stranger = true;
        id
    }

    fn put(&mut self, account: String, order: &Order, status: ObjectStatus, at: Timestamp) -> ObjectId {
        let id = ObjectId::parse(format!("object-{}", self.objects.len())).unwrap();
        self.objects.push(Object {
            id: id.clone(),
            account,
            intent: order.intent,
            checkout: order.checkout,
            order: order.order.clone(),
            stranger: false,
            amount: order.amount,
            took_money: status == ObjectStatus::Succeeded,
            taken_at: Some(at).filter(|_| status == ObjectStatus::Succeeded),
            status,
            at,
        });
        id
    }

    /// Takes money that is held, up to what is held.
    pub fn capture(&mut self, asker: &Asker, payment: &ObjectId, amount: Money) -> Reply {
        self.end_hold(asker, payment, |object| {
            let fits =
                amount.currency() == object.amount.currency() && amount.minor() <= object.amount.minor();
            if fits {
                (object.status, object.took_money, object.amount) = (ObjectStatus::Succeeded, true, amount);
                object.taken_at = Some(asker.now);
            }
            fits
        })
    }

    /// Lets go of money that is held.
    pub fn cancel(&mut self, asker: &Asker, payment: &ObjectId) -> Reply {
        self.end_hold(asker, payment, |object| {
            let code = "canceled_by_merchant".to_owned();
            object.status = ObjectStatus::Ended(Ending::Canceled { code });
            true
        })
    }

    fn end_hold(
        &mut self,
        asker: &Asker,
        payment: &ObjectId,
        end: impl FnOnce(&mut Object) -> bool,
    ) -> Reply {
        if let Some(known) = self.made_payment(asker) {
            return known;
        }
        let Some(index) = self.position(payment, &asker.account.id) else { return not_found() };
        let cancels_what_waits = self.cancels_what_waits;
        let object = &mut self.objects[index];
        let waits = matches!(object.status, ObjectStatus::Pending { .. }) && cancels_what_waits;
        if !(object.status == ObjectStatus::WaitingForCapture || waits) || !end(object) {
            return rejected("The payment does not allow it");
        }
        self.keys.insert(asker.slot(), Made::Payment(index));
        self.shown(payment)
    }

    /// Gives money back, never more than was taken.
    pub fn refund(
        &mut self,
        asker: &Asker,
        request: &RefundRequest,
        decided: impl FnOnce() -> RefundStatus,
    ) -> Reply<RefundObservation> {
        match self.keys.get(&asker.slot()) {
            Some(Made::Refund(index)) => return Reply::Object(self.refund_shown(*index)),
            Some(Made::Payment(_)) => return rejected("The key was used for something else"),
            None => {}
        }
        let Some(index) = self.position(&request.payment, &asker.account.id) else { return not_found() };
        let object = &self.objects[index];
        let fits = self.returning_minor(&request.payment) + request.amount.minor() <= object.amount.minor();
        let same = request.amount.currency() == object.amount.currency();
        if object.status != ObjectStatus::Succeeded || !fits || !same {
            return rejected("More than was taken");
        }
        let number = self.put_refund(&asker.account.id, request, decided(), asker.now);
        self.keys.insert(asker.slot(), Made::Refund(number));
        Reply::Object(self.refund_shown(number))
    }

    /// Writes a refund down; its place.
    pub fn put_refund(
        &mut self,
        account: &str,
        request: &RefundRequest,
        status: RefundStatus,
        at: Timestamp,
    ) -> usize {
        let number = self.refunds.len();
        self.refunds.push(Refund {
            id: ObjectId::parse(format!("refund-{number}")).unwrap(),
            account: account.to_owned(),
            operation: request.operation,
            payment: request.payment.clone(),
            amount: request.amount,
            status,
            at,
        });
        number
    }

    /// What was given back of a payment, or is about to be.
    fn returning_minor(&self, payment: &ObjectId) -> i64 {
        let of_it = self.refunds.iter().filter(|refund| refund.payment == *payment);
        let standing = of_it.filter(|refund| !matches!(refund.status, RefundStatus::Canceled { .. }));
        standing.map(|refund| refund.amount.minor()).sum()
    }

    /// Whether a payment took money, and all of it was given back, or is about to be.
    pub fn gave_all_back(&self, object: &Object) -> bool {
        object.status == ObjectStatus::Succeeded && self.returning_minor(&object.id) >= object.amount.minor()
    }

    /// Whether all of it was given back: what is about to be is told by the refunds' listing alone.
    fn has_given_all_back(&self, object: &Object) -> bool {
        let of_it = self.refunds.iter().filter(|refund| refund.payment == object.id);
        let done = of_it.filter(|refund| refund.status == RefundStatus::Succeeded);
        let done_minor: i64 = done.map(|refund| refund.amount.minor()).sum();
        object.status == ObjectStatus::Succeeded && done_minor >= object.amount.minor()
    }

    fn made_payment(&self, asker: &Asker) -> Option<Reply> {
        match self.keys.get(&asker.slot())? {
            Made::Payment(index) => Some(Reply::Object(self.payment_shown(*index))),
            Made::Refund(_) => Some(rejected("The key was used for something else")),
        }
    }

    pub fn position(&self, payment: &ObjectId, account: &str) -> Option<usize> {
        self.objects.iter().position(|object| object.id == *payment && object.account == account)
    }

    pub fn object(&mut self, id: &ObjectId) -> &mut Object {
        self.objects.iter_mut().find(|object| object.id == *id).unwrap()
    }

    fn shown(&self, id: &ObjectId) -> Reply {
        let index = self.objects.iter().position(|object| object.id == *id).unwrap();
        Reply::Object(self.payment_shown(index))
    }

    /// A payment as the bank shows it.
    pub fn payment_shown(&self, index: usize) -> Observation {
        let object = &self.objects[index];
        let ours = !object.stranger && self.lie != Some(Lie::Owner);
        Observation {
            object: object.id.clone(),
            status: object.status.clone(),
            amount: self.sum_shown(object.amount),
            given_back: self.has_given_all_back(object),
            intent: if self.lie == Some(Lie::Another) { Some(NOBODY) } else { ours.then_some(object.intent) },
            order: match self.lie {
                Some(Lie::Order) => Some(OrderId::parse("another-order").unwrap()),
                Some(Lie::NoOrder) => None,
                None | Some(Lie::Amount | Lie::Currency | Lie::Owner | Lie::Another) => {
                    Some(object.order.clone())
                }
            },
            paid_with: Some(PaidWith { last4: Some(self.last4.unwrap_or("4444").into()) }),
            created_at: Some(object.at),
        }
    }

    /// A refund as the bank shows it.
    pub fn refund_shown(&self, index: usize) -> RefundObservation {
        let refund = &self.refunds[index];
        RefundObservation {
            object: refund.id.clone(),
            payment: refund.payment.clone(),
            status: refund.status.clone(),
            amount: self.sum_shown(refund.amount),
            operation: match self.lie {
                Some(Lie::Owner) => None,
                Some(Lie::Another) => Some(OperationId(Uuid::max())),
                None | Some(Lie::Amount | Lie::Currency | Lie::Order | Lie::NoOrder) => {
                    (refund.operation != BY_HAND).then_some(refund.operation)
                }
            },
            created_at: Some(refund.at),
        }
    }

    fn sum_shown(&self, sum: Money) -> Money {
        match self.lie {
            None | Some(Lie::Owner | Lie::Another | Lie::Order | Lie::NoOrder) => sum,
            Some(Lie::Amount) => Money::from_minor(sum.minor() + 1, sum.currency()).unwrap(),
            Some(Lie::Currency) => Money::from_minor(sum.minor(), Currency::parse("USD").unwrap()).unwrap(),
        }
    }
}

fn rejected<O>(message: &str) -> Reply<O> {
    Reply::Rejected { code: "invalid_request".into(), message: message.into() }
}

fn not_found<O>() -> Reply<O> {
    super::faults::not_executed(payment::NotExecutedReason::NotFound, None)
}
