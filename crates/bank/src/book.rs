//! The open book: one transaction in which payments and refunds change. Whatever gives one a status is written here
//! and, in the same transaction, the notification that announces it. Nothing else may write a status.

use std::cell::RefCell;

use rusqlite::Transaction;
use serde_json::Value;

use crate::bank::{State, in_ms};
use crate::courier::Tried;
use crate::fault_kinds::Twist;
use crate::notifications::{self, News};
use crate::payments::{Lives, Payment, Status};
use crate::refunds::{self, Refund, RefundStatus};
use crate::{payment_rows, payments};

/// How long a notification waits for the one that is to overtake it, unless the fault says otherwise.
const OVERTAKING_MS: i64 = 10_000;

/// When something happens, and how long what comes of it lives.
#[derive(Clone, Copy)]
pub(crate) struct When {
    pub now_ms: i64,
    pub lives: Lives,
}

/// A transaction, and all that what is written in it depends on.
pub(crate) struct Book<'a> {
    pub tx: &'a Transaction<'a>,
    pub when: When,
    state: &'a State,
    awaited: RefCell<Vec<Tried>>,
}

impl<'a> Book<'a> {
    pub fn open(tx: &'a Transaction<'a>, state: &'a State) -> Self {
        Self { tx, when: state.when(), state, awaited: RefCell::default() }
    }

    /// The first tries that have to end before the request at work is answered.
    pub fn close(self) -> Vec<Tried> {
        self.awaited.into_inner()
    }

    /// Keeps a new payment.
    pub fn open_payment(&self, payment: &Payment) -> rusqlite::Result<()> {
        payment_rows::insert(self.tx, payment)?;
        self.announce_payment(payment)
    }

    /// Writes a payment's new state over the state `from`.
    pub fn change_payment(&self, from: Status, payment: &Payment) -> rusqlite::Result<()> {
        payment_rows::change(self.tx, from, payment)?;
        if from == payment.status { Ok(()) } else { self.announce_payment(payment) }
    }

    /// Keeps a new refund whose sum was reserved in the same transaction.
    pub fn open_refund(&self, refund: &Refund) -> rusqlite::Result<()> {
        refunds::insert(self.tx, refund)?;
        self.announce_refund(refund)
    }

    /// Ends whatever has ended by itself by now. Called before anything is read.
    pub fn let_fall_due(&self) -> rusqlite::Result<()> {
        let When { now_ms, lives } = self.when;
        loop {
            let due = payment_rows::due(self.tx, now_ms)?;
            if due.is_empty() {
                break;
            }
            for (due_ms, mut payment) in due {
                let from = payment.status;
                payment.fall_due(due_ms, &lives);
                self.change_payment(from, &payment)?;
            }
        }
        for mut refund in refunds::due(self.tx, now_ms)? {
            refund.fall_due();
            refunds::decide(self.tx, &refund)?;
            if refund.status == RefundStatus::Canceled {
                payment_rows::return_refund(self.tx, &refund.payment_id, refund.amount.minor)?;
            }
            self.announce_refund(&refund)?;
        }
        Ok(())
    }

    /// What the objects say about whose bank this is.
    pub fn shown(&self) -> payments::Shown<'a> {
        self.state.shown()
    }

    fn announce_payment(&self, payment: &Payment) -> rusqlite::Result<()> {
        let event = match payment.status {
            Status::Pending => return Ok(()),
            Status::WaitingForCapture => "payment.waiting_for_capture",
            Status::Succeeded => "payment.succeeded",
            Status::Canceled => "payment.canceled",
        };
        self.announce(event, &payment.render(&self.shown()), payment.order_id())
    }

    fn announce_refund(&self, refund: &Refund) -> rusqlite::Result<()> {
        match refund.status {
            RefundStatus::Succeeded => {
                let payment = payment_rows::find(self.tx, &refund.payment_id)?;
                let order_id = payment.as_ref().and_then(Payment::order_id);
                self.announce("refund.succeeded", &refund.render(), order_id)
            }
            // YooKassa has no such events.
            RefundStatus::Pending | RefundStatus::Canceled => Ok(()),
        }
    }

    /// Puts a notification in the queue of its object, with what a fault makes of it.
    fn announce(&self, event: &str, object: &Value, order_id: Option<&str>) -> rusqlite::Result<()> {
        let Some(courier) = &self.state.courier else { return Ok(()) };
        let now_ms = self.when.now_ms;
        let mut news = News::of(event, object, order_id, now_ms);
        if notifications::overtake(self.tx, &news)? {
            // Already under a fault: it meets no other.
            return Ok(());
        }
        let met = self.state.faults.meet_twist(order_id);
        match met {
            None | Some((Twist::First, _)) => {}
            Some((Twist::Twice, _)) => news.copies = 2,
            Some((Twist::Late, delay)) => {
                news.next_ms = Some(now_ms + in_ms(delay));
                news.in_turn = false;
            }
            Some((Twist::Reversed, delay)) => {
                let patience_ms = if delay.is_zero() { OVERTAKING_MS } else { in_ms(delay) };
                news.next_ms = Some(now_ms + patience_ms);
                news.gives_way = true;
            }
            Some((Twist::Never, _)) => news.next_ms = None,
        }
        if let Some((Twist::First, _)) = met {
            news.in_turn = false;
            let seq = notifications::add(self.tx, &news)?;
            self.awaited.borrow_mut().push(courier.tried(seq));
        } else {
            notifications::add(self.tx, &news)?;
        }
        Ok(())
    }
}
