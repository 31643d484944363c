//! Refunds: money given back, never more than was taken. A refund succeeds at once or is refused, unless a fault
//! leaves it undecided for a while; its sum is reserved from the first.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension, Row, Transaction, named_params, params};
use serde_json::{Value, json};

use crate::clock::rfc3339;
use crate::listing::Page;
use crate::money::{self, Amount};
use crate::payment_rows::read_json;

/// Where a refund stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefundStatus {
    Pending,
    Succeeded,
    Canceled,
}

/// When a refund that is undecided ends by itself, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub due_ms: i64,
    pub succeeds: bool,
}

/// A refund, as the ledger keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Refund {
    pub id: String,
    pub payment_id: String,
    pub created_ms: i64,
    pub status: RefundStatus,
    /// While it is pending.
    pub deadline: Option<Deadline>,
    pub amount: Amount,
    pub description: Option<String>,
    pub metadata: Option<Value>,
}

impl RefundStatus {
    const ALL: [RefundStatus; 3] = [RefundStatus::Pending, RefundStatus::Succeeded, RefundStatus::Canceled];

    /// As the dialect spells it.
    pub fn name(self) -> &'static str {
        match self {
            RefundStatus::Pending => "pending",
            RefundStatus::Succeeded => "succeeded",
            RefundStatus::Canceled => "canceled",
        }
    }
}

impl ToSql for RefundStatus {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

impl FromSql for RefundStatus {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|status| status.name() == name).ok_or(FromSqlError::InvalidType)
    }
}

impl Refund {
    /// Applies what follows by itself.
    pub fn fall_due(&mut self) {
        if let Some(Deadline { succeeds, .. }) = self.deadline.take() {
            self.status = if succeeds { RefundStatus::Succeeded } else { RefundStatus::Canceled };
        }
    }

    /// YooKassa's object.
    pub fn render(&self) -> Value {
        let mut object = json!({
            "id": self.id,
            "payment_id": self.payment_id,
            "status": self.status.name(),
            "created_at": rfc3339(self.created_ms),
            "amount": money::render(self.amount.minor, &self.amount.currency),
        });
        if let Some(description) = &self.description {
            object["description"] = description.as_str().into();
        }
        if let Some(metadata) = &self.metadata {
            object["metadata"] = metadata.clone();
        }
        if self.status == RefundStatus::Canceled {
            object["cancellation_details"] =
                json!({ "party": "refund_network", "reason": "general_decline" });
        }
        object
    }
}

macro_rules! columns {
    () => {
        "id, payment_id, created_ms, amount_minor, currency, description, metadata, status, due_ms, due_succeeds"
    };
}

/// Keeps a refund whose sum was reserved in the same transaction.
pub(crate) fn insert(tx: &Transaction<'_>, refund: &Refund) -> rusqlite::Result<()> {
    const INSERT: &str =
        concat!("INSERT INTO refund (", columns!(), ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    tx.prepare_cached(INSERT)?.execute(params![
        refund.id,
        refund.payment_id,
        refund.created_ms,
        refund.amount.minor,
        refund.amount.currency,
        refund.description,
        refund.metadata.as_ref().map(Value::to_string),
        refund.status,
        refund.deadline.map(|deadline| deadline.due_ms),
        refund.deadline.is_some_and(|deadline| deadline.succeeds),
    ])?;
    Ok(())
}

/// Writes how a pending refund was decided.
pub(crate) fn decide(tx: &Transaction<'_>, refund: &Refund) -> rusqlite::Result<()> {
    const DECIDE: &str = "UPDATE refund SET status = ?2, due_ms = NULL WHERE id = ?1 AND status = 'pending'";
    let changed = tx.prepare_cached(DECIDE)?.execute(params![refund.id, refund.status])?;
    if changed == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(changed)) }
}

/// Those that have ended by themselves by now.
pub(crate) fn due(tx: &Transaction<'_>, now_ms: i64) -> rusqlite::Result<Vec<Refund>> {
    const DUE: &str = concat!("SELECT ", columns!(), " FROM refund WHERE due_ms <= ?1 ORDER BY due_ms, seq");
    tx.prepare_cached(DUE)?.query_map([now_ms], read)?.collect()
}

/// The refund of that id.
pub(crate) fn find(tx: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<Refund>> {
    const FIND: &str = concat!("SELECT ", columns!(), " FROM refund WHERE id = ?1");
    tx.prepare_cached(FIND)?.query_row([id], read).optional()
}

/// A page of refunds, newest first, and one more if there is one.
pub(crate) fn list(tx: &Transaction<'_>, page: &Page) -> rusqlite::Result<Vec<Refund>> {
    const LIST: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM refund
          WHERE created_ms >= :from_ms AND created_ms < :to_ms AND (created_ms, seq) < (:before_ms, :before_seq)
            AND (:status IS NULL OR status = :status) AND (:payment_id IS NULL OR payment_id = :payment_id)
          ORDER BY created_ms DESC, seq DESC LIMIT :rows"
    );
    let (before_ms, before_seq) = page.before;
    tx.prepare_cached(LIST)?
        .query_map(
            named_params! {
                ":from_ms": page.created.from_ms,
                ":to_ms": page.created.to_ms,
                ":before_ms": before_ms,
                ":before_seq": before_seq,
                ":status": page.status,
                ":payment_id": page.payment_id,
                ":rows": page.limit + 1,
            },
            read,
        )?
        .collect()
}

/// Where a refund stands in the listing.
pub(crate) fn position(tx: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<(i64, i64)>> {
    const POSITION: &str = "SELECT created_ms, seq FROM refund WHERE id = ?1";
    tx.prepare_cached(POSITION)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// All refunds, oldest first.
pub(crate) fn all(tx: &Transaction<'_>) -> rusqlite::Result<Vec<Refund>> {
    const ALL: &str = concat!("SELECT ", columns!(), " FROM refund ORDER BY seq");
    tx.prepare_cached(ALL)?.query_map([], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Refund> {
    let due_ms: Option<i64> = row.get("due_ms")?;
    let succeeds = row.get("due_succeeds")?;
    Ok(Refund {
        status: row.get("status")?,
        deadline: due_ms.map(|due_ms| Deadline { due_ms, succeeds }),
        id: row.get("id")?,
        payment_id: row.get("payment_id")?,
        created_ms: row.get("created_ms")?,
        amount: Amount { minor: row.get("amount_minor")?, currency: row.get("currency")? },
        description: row.get("description")?,
        metadata: read_json(row, "metadata")?,
    })
}
