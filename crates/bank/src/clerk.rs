//! Works on one request inside one transaction: looks at its key, does what it asks, and says what came of it.

use std::sync::Arc;

use serde_json::Value;

use crate::answer::Answer;
use crate::bank::{State, in_ms};
use crate::book::{Book, When};
use crate::call::{Action, Call, Change, Read};
use crate::fault_kinds::Kind;
use crate::faults::Met;
use crate::keys::{self, Binding, Fingerprint};
use crate::listing::{Listed, Page};
use crate::operations::{self, HoldBack};
use crate::refusal::{Failure, Refusal};
use crate::{payment_rows, refunds};

/// One request, and all that is needed to answer it inside a transaction.
pub(crate) struct Clerk {
    pub state: Arc<State>,
    pub call: Call,
    pub met: Option<Met>,
}

impl Clerk {
    /// Does what is asked, and says what came of it.
    pub fn answer(&self, book: &Book<'_>) -> rusqlite::Result<Answer> {
        if let Some(refusal) = self.refusal_by_fault() {
            return Ok(Answer::refusing(&refusal));
        }
        let answer = match self.carry_out(book) {
            Ok(answer) => answer,
            Err(Failure::Refused(refusal)) => Answer::refusing(&refusal),
            Err(Failure::Ledger(error)) => return Err(error),
        };
        Ok(match self.met {
            None => answer,
            Some(met) => {
                let creates = matches!(
                    self.call.action,
                    Some(Action::Change(Change::CreatePayment | Change::CreateRefund))
                );
                let held_back = creates && !answer.replayed;
                answer.spoiled(met, held_back)
            }
        })
    }

    /// A refusal for no reason but the fault: nothing is done.
    fn refusal_by_fault(&self) -> Option<Refusal> {
        let is_list = matches!(self.call.action, Some(Action::Read(Read::Payments | Read::Refunds)));
        match self.met?.kind {
            Kind::Error500Before => Some(Refusal::internal()),
            Kind::RateLimit => Some(Refusal::too_many_requests()),
            Kind::BadRequest => Some(Refusal::invalid("body", "Refused on demand")),
            Kind::Unauthorized => Some(Refusal::unauthorized()),
            Kind::NotFound if !is_list => Some(Refusal::not_found("id")),
            Kind::NotFound
            | Kind::LoseRequest
            | Kind::LoseAnswer
            | Kind::Error500After
            | Kind::Error500Stored
            | Kind::Delay
            | Kind::Processing202
            | Kind::Garbage
            | Kind::WrongAmount
            | Kind::Pending
            | Kind::ForgetKeys
            | Kind::Reverse
            | Kind::Notify(_) => None,
        }
    }

    fn carry_out(&self, book: &Book<'_>) -> Result<Answer, Failure> {
        let call = &self.call;
        if !call.is_from(&self.state.shop_id, &self.state.secret) {
            return Err(Refusal::unauthorized().into());
        }
        let action = call.action.as_ref().ok_or_else(|| Refusal::not_found("path"))?;
        book.let_fall_due()?;
        match action {
            Action::Read(read) => self.read(book, read),
            Action::Change(change) => self.change_once(book, change),
        }
    }

    fn read(&self, book: &Book<'_>, read: &Read) -> Result<Answer, Failure> {
        match read {
            Read::Payment { id } => {
                self.reverse_if_asked(book, id)?;
                Ok(Answer::of(self.payment(book, id)?))
            }
            Read::Refund { id } => Ok(Answer::of(self.refund(book, id)?)),
            Read::Payments => self.list_payments(book),
            Read::Refunds => self.list_refunds(book),
        }
    }

    /// The heart of it: a known key gives the object it made, before anything else about the request is judged.
    fn change_once(&self, book: &Book<'_>, change: &Change) -> Result<Answer, Failure> {
        let (tx, When { now_ms, lives }) = (book.tx, book.when);
        let key = keys::parse(self.call.arrival.idempotence_key.as_deref())?;
        let body = self.call.body()?;
        let fingerprint = Fingerprint::of(&self.call.arrival.path, &body);
        if self.has_met(Kind::ForgetKeys) {
            keys::forget(tx, key)?;
        }
        if let Some(bound) = keys::find(tx, key, now_ms - lives.key_ms)? {
            if !bound.is_for(&fingerprint) {
                return Err(
                    Refusal::invalid("Idempotence-Key", "The key was used with another request").into()
                );
            }
            return match bound.object_id {
                Some(id) if !bound.broken => Ok(Answer::of(self.object(book, change, &id)?).replayed()),
                Some(_) | None => Ok(Answer::refusing(&Refusal::internal()).replayed()),
            };
        }
        let broken = self.has_met(Kind::Error500Stored);
        let object_id = match self.change(book, change, &body) {
            Ok(id) => Some(id),
            Err(Failure::Refused(_)) if broken => None,
            Err(failure) => return Err(failure),
        };
        keys::bind(
            tx,
            &Binding { key, fingerprint: &fingerprint, object_id: object_id.as_deref(), broken },
            now_ms,
        )?;
        match object_id {
            Some(id) if !broken => {
                let answer = Answer::of(self.object(book, change, &id)?);
                self.reverse_if_asked(book, &id)?;
                Ok(answer)
            }
            Some(_) | None => Err(Refusal::internal().into()),
        }
    }

    /// Does it. Gives the id of the object made or changed.
    fn change(&self, book: &Book<'_>, change: &Change, body: &Value) -> Result<String, Failure> {
        match change {
            Change::CreatePayment => operations::create_payment(book, body, self.hold_back()),
            Change::Capture { id } => operations::capture_payment(book, id, body),
            Change::Cancel { id } => operations::cancel_payment(book, id),
            Change::CreateRefund => operations::create_refund(book, body, self.hold_back()),
        }
    }

    fn object(&self, book: &Book<'_>, change: &Change, id: &str) -> Result<Value, Failure> {
        match change {
            Change::CreatePayment | Change::Capture { .. } | Change::Cancel { .. } => self.payment(book, id),
            Change::CreateRefund => self.refund(book, id),
        }
    }

    fn payment(&self, book: &Book<'_>, id: &str) -> Result<Value, Failure> {
        let payment = payment_rows::find(book.tx, id)?.ok_or_else(|| Refusal::not_found("payment_id"))?;
        Ok(payment.render(&book.shown()))
    }

    fn refund(&self, book: &Book<'_>, id: &str) -> Result<Value, Failure> {
        let refund = refunds::find(book.tx, id)?.ok_or_else(|| Refusal::not_found("refund_id"))?;
        Ok(refund.render())
    }

    fn list_payments(&self, book: &Book<'_>) -> Result<Answer, Failure> {
        let mut page = Page::parse(Listed::Payments, &self.call.query)?;
        if let Some(cursor) = &page.cursor {
            let place = payment_rows::position(book.tx, cursor)?;
            page.before = place.ok_or_else(|| Refusal::invalid("cursor", "Unknown cursor"))?;
        }
        let rows = payment_rows::list(book.tx, &page)?;
        Ok(Answer::of(page.render(rows.iter().map(|row| row.render(&book.shown())).collect())))
    }

    fn list_refunds(&self, book: &Book<'_>) -> Result<Answer, Failure> {
        let mut page = Page::parse(Listed::Refunds, &self.call.query)?;
        if let Some(cursor) = &page.cursor {
            let place = refunds::position(book.tx, cursor)?;
            page.before = place.ok_or_else(|| Refusal::invalid("cursor", "Unknown cursor"))?;
        }
        let rows = refunds::list(book.tx, &page)?;
        Ok(Answer::of(page.render(rows.iter().map(refunds::Refund::render).collect())))
    }

    fn reverse_if_asked(&self, book: &Book<'_>, payment_id: &str) -> rusqlite::Result<()> {
        if !self.has_met(Kind::Reverse) {
            return Ok(());
        }
        let Some(mut payment) = payment_rows::find(book.tx, payment_id)? else { return Ok(()) };
        let from = payment.status;
        payment.reverse(book.when.now_ms);
        book.change_payment(from, &payment)
    }

    fn has_met(&self, kind: Kind) -> bool {
        self.met.is_some_and(|met| met.kind == kind)
    }

    fn hold_back(&self) -> Option<HoldBack> {
        let met = self.met.filter(|met| met.kind == Kind::Pending)?;
        Some(HoldBack { delay_ms: in_ms(met.delay) })
    }
}
