//! Payments: their states, what moves them, and how the dialect shows them. Pure; `payment_rows` keeps them.

use axum::http::Uri;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde_json::{Value, json};

use crate::cards::{Card, Outcome};
use crate::clock::rfc3339;
use crate::money::{self, Amount};

/// Where a payment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Pending,
    WaitingForCapture,
    Succeeded,
    Canceled,
}

/// A payment, as the ledger keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    pub id: String,
    pub created_ms: i64,
    pub status: Status,
    /// Authorised; after a capture, what was captured.
    pub amount: Amount,
    pub captured_minor: i64,
    pub refunded_minor: i64,
    /// How much of that is pending.
    pub refunding_minor: i64,
    /// Taken at once when authorised.
    pub capture: bool,
    pub description: Option<String>,
    /// As it was given.
    pub metadata: Value,
    pub return_url: Option<String>,
    /// `None` until the payer has chosen one on the bank's page.
    pub card: Option<Card>,
    /// The payer is asked to confirm on the bank's page.
    pub confirmable: bool,
    /// What the card stands for.
    pub outcome: Outcome,
    pub captured_ms: Option<i64>,
    /// When `pending` or `waiting_for_capture` ends by itself.
    pub due_ms: Option<i64>,
    /// What then follows: the card's outcome, or the end.
    pub due_settles: bool,
    pub cancellation: Option<Cancellation>,
}

/// Who ended a payment without money, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cancellation {
    pub party: String,
    pub reason: String,
}

/// How long things live, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lives {
    pub token_ms: i64,
    pub pending_ms: i64,
    pub hold_ms: i64,
    pub key_ms: i64,
}

/// What the objects say about whose bank this is.
pub(crate) struct Shown<'a> {
    pub shop_id: &'a str,
    /// Base of the confirmation page's links.
    pub public_url: &'a str,
}

impl Status {
    const ALL: [Status; 4] =
        [Status::Pending, Status::WaitingForCapture, Status::Succeeded, Status::Canceled];

    /// As the dialect spells it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::WaitingForCapture => "waiting_for_capture",
            Status::Succeeded => "succeeded",
            Status::Canceled => "canceled",
        }
    }

    /// The status of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl ToSql for Status {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

impl FromSql for Status {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Status::named(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

impl Payment {
    /// Applies what the card, or the payer on the page, brought about.
    pub fn settle(&mut self, outcome: Outcome, now_ms: i64, lives: &Lives) {
        match outcome {
            Outcome::Success if self.capture => self.take(self.amount.minor, now_ms),
            Outcome::Success => self.wait(Status::WaitingForCapture, now_ms + lives.hold_ms),
            Outcome::Challenge => {
                self.confirmable = true;
                self.wait(Status::Pending, now_ms + lives.pending_ms);
            }
            Outcome::Decline(reason) => self.cancel("payment_network", reason.name()),
        }
    }

    /// Leaves it without an outcome for a while: nothing asks the payer, nothing was decided.
    pub fn hold_back(&mut self, until_ms: i64, then_settles: bool) {
        self.wait(Status::Pending, until_ms);
        self.due_settles = then_settles;
    }

    /// Takes the money, all of it or less.
    pub fn take(&mut self, minor: i64, now_ms: i64) {
        self.status = Status::Succeeded;
        self.amount.minor = minor;
        self.captured_minor = minor;
        self.captured_ms = Some(now_ms);
        self.due_ms = None;
        self.cancellation = None;
    }

    /// Ends it without money.
    pub fn cancel(&mut self, party: &str, reason: &str) {
        self.status = Status::Canceled;
        self.captured_minor = 0;
        self.captured_ms = None;
        self.due_ms = None;
        self.cancellation = Some(Cancellation { party: party.to_owned(), reason: reason.to_owned() });
    }

    /// Applies what follows by itself at `due_ms`, whenever that is noticed.
    pub fn fall_due(&mut self, due_ms: i64, lives: &Lives) {
        match self.status {
            Status::Pending if self.due_settles => {
                self.due_settles = false;
                self.settle(self.outcome, due_ms, lives);
            }
            Status::Pending => self.cancel("yoo_money", "expired_on_confirmation"),
            Status::WaitingForCapture => self.cancel("yoo_money", "expired_on_capture"),
            Status::Succeeded | Status::Canceled => {}
        }
    }

    /// Turns a success into a cancellation, or back. What was refunded stays: such a payment is left alone.
    pub fn reverse(&mut self, now_ms: i64) {
        match self.status {
            Status::Succeeded if self.refunded_minor == 0 => self.cancel("yoo_money", "general_decline"),
            Status::Canceled => self.take(self.amount.minor, now_ms),
            Status::Succeeded | Status::Pending | Status::WaitingForCapture => {}
        }
    }

    /// Whether the page may still decide it.
    pub fn asks_the_payer(&self) -> bool {
        self.status == Status::Pending && self.confirmable
    }

    /// The merchant's order, as the metadata names it.
    pub fn order_id(&self) -> Option<&str> {
        self.metadata.get("order_id").and_then(Value::as_str)
    }

    /// YooKassa's object.
    pub fn render(&self, shown: &Shown<'_>) -> Value {
        let money = |minor| money::render(minor, &self.amount.currency);
        let paid = matches!(self.status, Status::Succeeded | Status::WaitingForCapture);
        let mut object = json!({
            "id": self.id,
            "status": self.status.name(),
            "paid": paid,
            "amount": money(self.amount.minor),
            "created_at": rfc3339(self.created_ms),
            "recipient": { "account_id": shown.shop_id, "gateway_id": shown.shop_id },
            "refundable": self.refunded_minor < self.captured_minor,
            "test": true,
            "metadata": self.metadata,
        });
        if let Some(description) = &self.description {
            object["description"] = description.as_str().into();
        }
        if let Some(card) = &self.card {
            object["payment_method"] = card.payment_method(&self.id);
        }
        if let Some(at_ms) = self.captured_ms {
            object["captured_at"] = rfc3339(at_ms).into();
            object["income_amount"] = money(money::income(self.captured_minor));
            object["refunded_amount"] = money(self.refunded_minor - self.refunding_minor);
        }
        self.render_what_is_open(shown, &mut object);
        object
    }

    fn render_what_is_open(&self, shown: &Shown<'_>, object: &mut Value) {
        if self.asks_the_payer() {
            let url = format!("{}/confirm/{}", shown.public_url, self.id);
            object["confirmation"] = json!({ "type": "redirect", "confirmation_url": url });
            if let Some(return_url) = &self.return_url {
                object["confirmation"]["return_url"] = return_url.as_str().into();
            }
        }
        if let (Status::WaitingForCapture, Some(due_ms)) = (self.status, self.due_ms) {
            object["expires_at"] = rfc3339(due_ms).into();
        }
        if let Some(Cancellation { party, reason }) = &self.cancellation {
            object["cancellation_details"] = json!({ "party": party, "reason": reason });
        }
    }

    fn wait(&mut self, status: Status, due_ms: i64) {
        self.status = status;
        self.due_ms = Some(due_ms);
    }
}

/// Whether a browser may be sent there.
pub(crate) fn is_web_address(url: &str) -> bool {
    url.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    })
}
