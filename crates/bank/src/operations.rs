//! The operations of the dialect: what each reads from a request, what it does to the ledger, what it refuses.
//! A refusal comes before the first write, so that a refused request leaves no trace but its row in the list.

use rusqlite::Transaction;
use serde_json::{Map, Value};

use crate::book::{Book, When};
use crate::ids;
use crate::money::Amount;
use crate::payments::{Payment, Status, is_web_address};
use crate::refunds::{Deadline, Refund, RefundStatus};
use crate::refusal::{Failure, Refusal};
use crate::{cards, payment_rows, tokens};

const MAX_DESCRIPTION_CHARS: usize = 128;
const MAX_REFUND_DESCRIPTION_CHARS: usize = 250;
const MAX_METADATA_PAIRS: usize = 16;
const MAX_METADATA_NAME_CHARS: usize = 32;
const MAX_METADATA_VALUE_CHARS: usize = 512;

/// A new payment or refund stays undecided for a while.
#[derive(Clone, Copy)]
pub(crate) struct HoldBack {
    /// Then the card's outcome follows, or the refund succeeds. Zero: nothing does, and after the time that a payer
    /// may take it is canceled.
    pub delay_ms: i64,
}

/// `POST /v3/payments`. Gives the new payment's id.
pub(crate) fn create_payment(
    book: &Book<'_>,
    body: &Value,
    hold_back: Option<HoldBack>,
) -> Result<String, Failure> {
    let when = book.when;
    let mut payment = read_payment(body, when.now_ms)?;
    match body.get("payment_token").and_then(Value::as_str) {
        Some(token) => {
            let (card, outcome) = tokens::redeem(book.tx, token, when)?
                .ok_or_else(|| Refusal::invalid("payment_token", "The token is unknown, used or too old"))?;
            payment.card = Some(card);
            payment.outcome = outcome;
        }
        None if payment.return_url.is_some() => {}
        None => return Err(Refusal::invalid("payment_token", "A token or a confirmation is wanted").into()),
    }
    match hold_back {
        None => payment.settle(payment.outcome, when.now_ms, &when.lives),
        Some(HoldBack { delay_ms: 0 }) => payment.hold_back(when.now_ms + when.lives.pending_ms, false),
        Some(HoldBack { delay_ms }) => payment.hold_back(when.now_ms + delay_ms, true),
    }
    book.open_payment(&payment)?;
    Ok(payment.id)
}

/// `POST /v3/payments/{id}/capture`.
pub(crate) fn capture_payment(book: &Book<'_>, id: &str, body: &Value) -> Result<String, Failure> {
    let amount = Amount::of_optional(body)?;
    let mut payment = waiting(book.tx, id)?;
    let minor = match amount {
        None => payment.amount.minor,
        Some(amount) if amount.currency != payment.amount.currency => {
            return Err(Refusal::invalid("amount.currency", "The payment is in another currency").into());
        }
        Some(amount) if amount.minor > payment.amount.minor => {
            return Err(Refusal::invalid("amount.value", "More than was authorised").into());
        }
        Some(amount) => amount.minor,
    };
    payment.take(minor, book.when.now_ms);
    book.change_payment(Status::WaitingForCapture, &payment)?;
    Ok(payment.id)
}

/// `POST /v3/payments/{id}/cancel`.
pub(crate) fn cancel_payment(book: &Book<'_>, id: &str) -> Result<String, Failure> {
    let mut payment = waiting(book.tx, id)?;
    payment.cancel("merchant", "canceled_by_merchant");
    book.change_payment(Status::WaitingForCapture, &payment)?;
    Ok(payment.id)
}

/// `POST /v3/refunds`. Gives the new refund's id.
pub(crate) fn create_refund(
    book: &Book<'_>,
    body: &Value,
    hold_back: Option<HoldBack>,
) -> Result<String, Failure> {
    let When { now_ms, lives } = book.when;
    let deadline = hold_back.map(|HoldBack { delay_ms }| match delay_ms {
        0 => Deadline { due_ms: now_ms + lives.pending_ms, succeeds: false },
        _ => Deadline { due_ms: now_ms + delay_ms, succeeds: true },
    });
    let refund = Refund {
        id: ids::fresh(),
        payment_id: body.get("payment_id").and_then(Value::as_str).unwrap_or_default().to_owned(),
        created_ms: now_ms,
        status: if deadline.is_some() { RefundStatus::Pending } else { RefundStatus::Succeeded },
        deadline,
        amount: Amount::of(body)?,
        description: read_description(body, MAX_REFUND_DESCRIPTION_CHARS)?,
        metadata: read_metadata(body)?.map(Value::Object),
    };
    let payment =
        payment_rows::find(book.tx, &refund.payment_id)?.ok_or_else(|| Refusal::not_found("payment_id"))?;
    if payment.status != Status::Succeeded {
        return Err(Refusal::invalid("payment_id", "Only a succeeded payment can be refunded").into());
    }
    if payment.amount.currency != refund.amount.currency {
        return Err(Refusal::invalid("amount.currency", "The payment is in another currency").into());
    }
    if !payment_rows::reserve_refund(book.tx, &refund.payment_id, refund.amount.minor)? {
        return Err(Refusal::invalid("amount.value", "More than is left of the payment").into());
    }
    book.open_refund(&refund)?;
    Ok(refund.id)
}

fn waiting(tx: &Transaction<'_>, id: &str) -> Result<Payment, Failure> {
    let payment = payment_rows::find(tx, id)?.ok_or_else(|| Refusal::not_found("payment_id"))?;
    if payment.status == Status::WaitingForCapture {
        return Ok(payment);
    }
    let description = format!("The payment is {}, not waiting_for_capture", payment.status.name());
    Err(Refusal::invalid("payment_id", description).into())
}

/// Everything but the card: until a token says otherwise, the payer is sent to the bank's page.
fn read_payment(body: &Value, now_ms: i64) -> Result<Payment, Refusal> {
    let capture = match body.get("capture") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(capture)) => *capture,
        Some(_) => return Err(Refusal::invalid("capture", "true or false is wanted")),
    };
    Ok(Payment {
        id: ids::fresh(),
        created_ms: now_ms,
        status: Status::Pending,
        amount: Amount::of(body)?,
        captured_minor: 0,
        refunded_minor: 0,
        refunding_minor: 0,
        capture,
        description: read_description(body, MAX_DESCRIPTION_CHARS)?,
        metadata: Value::Object(read_metadata(body)?.unwrap_or_default()),
        return_url: read_return_url(body)?,
        card: None,
        confirmable: false,
        outcome: cards::Outcome::Challenge,
        captured_ms: None,
        due_ms: None,
        due_settles: false,
        cancellation: None,
    })
}

fn read_description(body: &Value, most: usize) -> Result<Option<String>, Refusal> {
    match body.get("description") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.chars().count() <= most => Ok(Some(text.clone())),
        Some(_) => {
            let wanted = format!("A text of at most {most} characters is wanted");
            Err(Refusal::invalid("description", wanted))
        }
    }
}

fn read_metadata(body: &Value) -> Result<Option<Map<String, Value>>, Refusal> {
    let pairs = match body.get("metadata") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(pairs)) if pairs.len() <= MAX_METADATA_PAIRS => pairs,
        Some(_) => return Err(Refusal::invalid("metadata", "An object of at most 16 pairs is wanted")),
    };
    for (name, value) in pairs {
        let fits = match value {
            Value::String(text) => text.chars().count() <= MAX_METADATA_VALUE_CHARS,
            Value::Bool(_) | Value::Number(_) => true,
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        };
        if !fits || name.chars().count() > MAX_METADATA_NAME_CHARS {
            let description = "Names have at most 32 characters, values are texts of at most 512";
            return Err(Refusal::invalid(&format!("metadata.{name}"), description));
        }
    }
    Ok(Some(pairs.clone()))
}

fn read_return_url(body: &Value) -> Result<Option<String>, Refusal> {
    let confirmation = match body.get("confirmation") {
        None | Some(Value::Null) => return Ok(None),
        Some(confirmation) => confirmation,
    };
    if confirmation.get("type").and_then(Value::as_str) != Some("redirect") {
        return Err(Refusal::invalid("confirmation.type", "The sandbox knows redirect only"));
    }
    let return_url = confirmation.get("return_url").and_then(Value::as_str).filter(|url| is_web_address(url));
    let return_url =
        return_url.ok_or_else(|| Refusal::invalid("confirmation.return_url", "A web address is wanted"))?;
    Ok(Some(return_url.to_owned()))
}
