//! What others do at the bank: somebody else whose payments name our orders, and support with the bank's dashboard before it.

use std::sync::Arc;

use payment::Money;

use crate::{
    bank::Status,
    fault::Fault,
    page,
    world::{OnItsWay, World},
};

impl World {
    /// Somebody else takes money for an order, or holds it.
    pub(crate) fn stranger(&mut self, order: usize, status: Status) {
        let held = status == Status::Held;
        self.meets(if held { Fault::StrangerHolds } else { Fault::StrangerPays });
        let (tenant, order) = page::order(&self.size, order);
        let account = self.merchants.account_of(&tenant);
        let does = if held { "holds money for" } else { "pays" };
        self.story.tell(|| format!("somebody else {does} {order} in the account {account}"));
        let amount = page::amount(held && self.choices.happens(500));
        let index = self.bank.stranger_pays(&account, &order, (amount, status), self.time.real());
        self.announce(index);
    }

    /// Support takes a part of what somebody else holds.
    pub(crate) fn take_part(&mut self, index: usize) {
        self.meets(Fault::PartTaken);
        let amount = page::most_of(self.bank.objects[index].amount);
        let id = &self.bank.objects[index].id;
        self.story.tell(|| format!("support takes {amount} of what {id} holds"));
        self.bank.takes_part(index, amount, self.time.real());
        self.announce(index);
    }

    /// Support gives all that is left of a payment back.
    pub(crate) fn give_back(&mut self, index: usize) {
        self.meets(Fault::GivenBack);
        let object = &self.bank.objects[index];
        let left = object.amount.minor() - self.bank.returned(&object.id);
        let Ok(left) = Money::from_minor(left, object.amount.currency()) else { return };
        self.story.tell(|| format!("support gives {left} of {} back", object.id));
        let refund = self.bank.give_back(index, None, left, self.time.real());
        self.on_its_way.push(OnItsWay::Notice(Arc::new(self.bank.refund_notice(refund)), 0));
    }
}
