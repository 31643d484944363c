//! Payments in the ledger. Every change is guarded by the status it starts from.

use rusqlite::{OptionalExtension, Row, Transaction, named_params, params};
use serde_json::Value;

use crate::listing::Page;
use crate::money::Amount;
use crate::payments::{Cancellation, Payment, Status};

macro_rules! columns {
    () => {
        "id, created_ms, status, amount_minor, captured_minor, refunded_minor, currency, capture, description,
         metadata, return_url, card, confirmable, outcome, captured_ms, due_ms, due_settles, cancel_party,
         cancel_reason"
    };
}

/// What is on its way back is none of the payment's own columns.
macro_rules! read_columns {
    () => {
        concat!(
            columns!(),
            ", (SELECT coalesce(sum(refund.amount_minor), 0) FROM refund
                WHERE refund.payment_id = payment.id AND refund.status = 'pending') AS refunding_minor"
        )
    };
}

/// Keeps a new payment.
pub(crate) fn insert(tx: &Transaction<'_>, payment: &Payment) -> rusqlite::Result<()> {
    const INSERT: &str = concat!(
        "INSERT INTO payment (",
        columns!(),
        ") VALUES (:id, :created_ms, :status, :amount_minor, :captured_minor, :refunded_minor, :currency,
         :capture, :description, :metadata, :return_url, :card, :confirmable, :outcome, :captured_ms, :due_ms,
         :due_settles, :cancel_party, :cancel_reason)"
    );
    tx.prepare_cached(INSERT)?.execute(named_params! {
        ":id": payment.id,
        ":created_ms": payment.created_ms,
        ":status": payment.status,
        ":amount_minor": payment.amount.minor,
        ":captured_minor": payment.captured_minor,
        ":refunded_minor": payment.refunded_minor,
        ":currency": payment.amount.currency,
        ":capture": payment.capture,
        ":description": payment.description,
        ":metadata": payment.metadata.to_string(),
        ":return_url": payment.return_url,
        ":card": payment.card.as_ref().map(|card| card.to_json()),
        ":confirmable": payment.confirmable,
        ":outcome": payment.outcome,
        ":captured_ms": payment.captured_ms,
        ":due_ms": payment.due_ms,
        ":due_settles": payment.due_settles,
        ":cancel_party": payment.cancellation.as_ref().map(|end| &end.party),
        ":cancel_reason": payment.cancellation.as_ref().map(|end| &end.reason),
    })?;
    Ok(())
}

/// Writes a payment's new state over the state `from`.
pub(crate) fn change(tx: &Transaction<'_>, from: Status, payment: &Payment) -> rusqlite::Result<()> {
    const CHANGE: &str = "UPDATE payment SET status = :status, amount_minor = :amount_minor,
             captured_minor = :captured_minor, card = :card, confirmable = :confirmable,
             captured_ms = :captured_ms, due_ms = :due_ms, due_settles = :due_settles,
             cancel_party = :cancel_party, cancel_reason = :cancel_reason
         WHERE id = :id AND status = :from";
    let changed = tx.prepare_cached(CHANGE)?.execute(named_params! {
        ":id": payment.id,
        ":from": from,
        ":status": payment.status,
        ":amount_minor": payment.amount.minor,
        ":captured_minor": payment.captured_minor,
        ":card": payment.card.as_ref().map(|card| card.to_json()),
        ":confirmable": payment.confirmable,
        ":captured_ms": payment.captured_ms,
        ":due_ms": payment.due_ms,
        ":due_settles": payment.due_settles,
        ":cancel_party": payment.cancellation.as_ref().map(|end| &end.party),
        ":cancel_reason": payment.cancellation.as_ref().map(|end| &end.reason),
    })?;
    if changed == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(changed)) }
}

/// Adds to what was refunded, unless that would be more than was captured. Says whether it did.
pub(crate) fn reserve_refund(tx: &Transaction<'_>, id: &str, minor: i64) -> rusqlite::Result<bool> {
    const RESERVE: &str = "UPDATE payment SET refunded_minor = refunded_minor + ?2
         WHERE id = ?1 AND status = 'succeeded' AND refunded_minor + ?2 <= captured_minor";
    Ok(tx.prepare_cached(RESERVE)?.execute(params![id, minor])? == 1)
}

/// The payment of that id.
pub(crate) fn find(tx: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<Payment>> {
    const FIND: &str = concat!("SELECT ", read_columns!(), " FROM payment WHERE id = ?1");
    tx.prepare_cached(FIND)?.query_row([id], read).optional()
}

/// Gives back what was reserved for a refund that came to nothing.
pub(crate) fn return_refund(tx: &Transaction<'_>, id: &str, minor: i64) -> rusqlite::Result<()> {
    const RETURN: &str = "UPDATE payment SET refunded_minor = refunded_minor - ?2 WHERE id = ?1";
    let changed = tx.prepare_cached(RETURN)?.execute(params![id, minor])?;
    if changed == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(changed)) }
}

/// Those that have ended by themselves by now, and when.
pub(crate) fn due(tx: &Transaction<'_>, now_ms: i64) -> rusqlite::Result<Vec<(i64, Payment)>> {
    const DUE: &str =
        concat!("SELECT ", read_columns!(), " FROM payment WHERE due_ms <= ?1 ORDER BY due_ms, seq");
    tx.prepare_cached(DUE)?.query_map([now_ms], |row| Ok((row.get("due_ms")?, read(row)?)))?.collect()
}

/// A page of payments, newest first, and one more if there is one.
pub(crate) fn list(tx: &Transaction<'_>, page: &Page) -> rusqlite::Result<Vec<Payment>> {
    const LIST: &str = concat!(
        "SELECT ",
        read_columns!(),
        " FROM payment
          WHERE created_ms >= :from_ms AND created_ms < :to_ms AND (created_ms, seq) < (:before_ms, :before_seq)
            AND (:taken_from IS NULL OR captured_ms >= :taken_from AND captured_ms < :taken_to)
            AND (:status IS NULL OR status = :status) AND (:method IS NULL OR (:method = 'bank_card' AND card IS NOT NULL))
          ORDER BY created_ms DESC, seq DESC LIMIT :rows"
    );
    let (before_ms, before_seq) = page.before;
    tx.prepare_cached(LIST)?
        .query_map(
            named_params! {
                ":from_ms": page.created.from_ms,
                ":to_ms": page.created.to_ms,
                ":taken_from": page.captured.map(|span| span.from_ms),
                ":taken_to": page.captured.map(|span| span.to_ms),
                ":before_ms": before_ms,
                ":before_seq": before_seq,
                ":status": page.status,
                ":method": page.payment_method,
                ":rows": page.limit + 1,
            },
            read,
        )?
        .collect()
}

/// Where a payment stands in the listing.
pub(crate) fn position(tx: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<(i64, i64)>> {
    const POSITION: &str = "SELECT created_ms, seq FROM payment WHERE id = ?1";
    tx.prepare_cached(POSITION)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// All payments, oldest first.
pub(crate) fn all(tx: &Transaction<'_>) -> rusqlite::Result<Vec<Payment>> {
    const ALL: &str = concat!("SELECT ", read_columns!(), " FROM payment ORDER BY seq");
    tx.prepare_cached(ALL)?.query_map([], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Payment> {
    let party: Option<String> = row.get("cancel_party")?;
    let reason: Option<String> = row.get("cancel_reason")?;
    Ok(Payment {
        id: row.get("id")?,
        created_ms: row.get("created_ms")?,
        status: row.get("status")?,
        amount: Amount { minor: row.get("amount_minor")?, currency: row.get("currency")? },
        captured_minor: row.get("captured_minor")?,
        refunded_minor: row.get("refunded_minor")?,
        refunding_minor: row.get("refunding_minor")?,
        capture: row.get("capture")?,
        description: row.get("description")?,
        metadata: read_json(row, "metadata")?.unwrap_or_default(),
        return_url: row.get("return_url")?,
        card: row.get("card")?,
        confirmable: row.get("confirmable")?,
        outcome: row.get("outcome")?,
        captured_ms: row.get("captured_ms")?,
        due_ms: row.get("due_ms")?,
        due_settles: row.get("due_settles")?,
        cancellation: party.zip(reason).map(|(party, reason)| Cancellation { party, reason }),
    })
}

/// A column that holds JSON.
pub(crate) fn read_json(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Value>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text)).transpose().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })
}
