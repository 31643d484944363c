//! Refunds: never more than was taken.

use payment::{Money, ObjectId, OperationId, RefundObservation, RefundStatus, Timestamp};
use providers::{Account, Reply};

use super::{Arrival, Bank, Made, Object, Refund, Status, not_found, object_id, rejected};
use crate::{
    desk::Request,
    wire::{self, Asked},
};

impl Bank {
    pub(super) fn send_refund(&mut self, request: &Request, now: Timestamp) -> Reply<RefundObservation> {
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
        let Some(of) = self.position(&request.account, &payment) else { return not_found() };
        let object = &self.objects[of];
        if object.status != Status::Succeeded
            || self.returned(&payment) + amount.minor() > object.amount.minor()
        {
            self.keep(request, Made::Refusal, now);
            return rejected("More than was taken");
        }
        let index = self.give_back(of, Some(operation), amount, now);
        self.keep(request, Made::Refund(index), now);
        Reply::Object(refund_shown(&self.refunds[index]))
    }

    /// So much of a payment is given back: by an operation of ours, or by hand. Which refund it is.
    pub fn give_back(
        &mut self,
        of: usize,
        operation: Option<OperationId>,
        amount: Money,
        now: Timestamp,
    ) -> usize {
        let index = self.refunds.len();
        let Object { account, id, .. } = &self.objects[of];
        self.refunds.push(Refund {
            id: object_id("refund", index),
            account: account.clone(),
            operation,
            payment: id.clone(),
            amount,
            done: true,
            made_at: now,
            dated_at: now.plus_ms(self.ahead_ms),
        });
        let all = self.gave_all_back(&self.objects[of]);
        self.objects[of].gone_since = all.then_some(now);
        index
    }

    /// What was given back of a payment by hand, minor units.
    pub fn returned_by_hand(&self, payment: &ObjectId) -> i64 {
        let by_hand = self.refunds.iter().filter(|refund| refund.operation.is_none());
        by_hand.filter(|refund| refund.payment == *payment).map(|refund| refund.amount.minor()).sum()
    }

    /// What was given back of a payment, or is about to be, minor units.
    pub fn returned(&self, payment: &ObjectId) -> i64 {
        self.refunds
            .iter()
            .filter(|refund| refund.payment == *payment)
            .map(|refund| refund.amount.minor())
            .sum()
    }

    /// Whether a payment took money, and all of it was given back.
    pub fn gave_all_back(&self, object: &Object) -> bool {
        object.status == Status::Succeeded && self.returned(&object.id) >= object.amount.minor()
    }

    pub(super) fn query_refund(&self, account: &Account, id: &ObjectId) -> Reply<RefundObservation> {
        let found = self.refunds.iter().find(|refund| refund.id == *id && refund.account == account.id);
        found.map_or_else(not_found, |refund| Reply::Object(refund_shown(refund)))
    }

    /// The notification that it would send now about a refund.
    pub fn refund_notice(&self, index: usize) -> Vec<u8> {
        let refund = &self.refunds[index];
        let status = if refund.done { "succeeded" } else { "pending" };
        wire::write_notice("refund", &refund.id, status, None, Some(&refund.payment))
    }
}

pub(super) fn refund_shown(refund: &Refund) -> RefundObservation {
    RefundObservation {
        object: refund.id.clone(),
        payment: refund.payment.clone(),
        status: if refund.done { RefundStatus::Succeeded } else { RefundStatus::Pending },
        amount: refund.amount,
        operation: refund.operation,
        created_at: Some(refund.dated_at),
    }
}
