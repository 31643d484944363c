//! Notifications in the ledger: what has to be sent, in which order, and what became of it. Those about one object
//! form a queue: one is sent when those before it were taken or given up. Knows nothing of sending.

use rusqlite::{OptionalExtension, Transaction, named_params, params};
use serde_json::{Value, json};

use crate::clock::rfc3339;

/// A notification that is being written.
pub(crate) struct News {
    event: String,
    object_id: String,
    order_id: Option<String>,
    body: String,
    at_ms: i64,
    /// How often it is to be taken.
    pub copies: u32,
    /// When it is sent; `None`: it is not.
    pub next_ms: Option<i64>,
    /// It keeps its place in the queue of its object.
    pub in_turn: bool,
    /// The next one about its object goes first, if it comes before `next_ms`.
    pub gives_way: bool,
}

/// A notification that is due.
pub(crate) struct Due {
    pub seq: i64,
    pub order_id: Option<String>,
    pub body: String,
    pub at_ms: i64,
    pub copies: u32,
    pub tries: u32,
}

/// What a try came to.
pub(crate) struct Outcome {
    pub seq: i64,
    /// What the receiver answered, if it did.
    pub status: Option<u16>,
    pub delivered: bool,
    pub copies: u32,
    /// When the next try is; `None`: never.
    pub next_ms: Option<i64>,
}

impl News {
    /// YooKassa's body with the object as it is now, to be sent at once.
    pub fn of(event: &str, object: &Value, order_id: Option<&str>, now_ms: i64) -> Self {
        Self {
            event: event.to_owned(),
            object_id: object["id"].as_str().unwrap_or_default().to_owned(),
            order_id: order_id.map(str::to_owned),
            body: json!({ "type": "notification", "event": event, "object": object }).to_string(),
            at_ms: now_ms,
            copies: 1,
            next_ms: Some(now_ms),
            in_turn: true,
            gives_way: false,
        }
    }
}

/// Adds one at the end of its object's queue. Gives its number.
pub(crate) fn add(tx: &Transaction<'_>, news: &News) -> rusqlite::Result<i64> {
    let place = next_place(tx)?;
    insert(tx, news, place)?;
    Ok(tx.last_insert_rowid())
}

/// Adds one before the one that gives way to it, if there is such a one: they change places, and both may go.
pub(crate) fn overtake(tx: &Transaction<'_>, news: &News) -> rusqlite::Result<bool> {
    const WAITING: &str = "SELECT seq, place FROM notification
         WHERE object_id = ?1 AND next_ms > ?2 AND gives_way ORDER BY place LIMIT 1";
    const GIVE_WAY: &str =
        "UPDATE notification SET place = ?2, next_ms = ?3, gives_way = 0 WHERE seq = ?1 AND gives_way";
    let waiting: Option<(i64, i64)> = tx
        .prepare_cached(WAITING)?
        .query_row(params![news.object_id, news.at_ms], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((seq, place)) = waiting else { return Ok(false) };
    tx.prepare_cached(GIVE_WAY)?.execute(params![seq, next_place(tx)?, news.at_ms])?;
    insert(tx, news, place)?;
    Ok(true)
}

fn next_place(tx: &Transaction<'_>) -> rusqlite::Result<i64> {
    const NEXT_PLACE: &str = "SELECT coalesce(max(seq), 0) + 1 FROM notification";
    tx.prepare_cached(NEXT_PLACE)?.query_row([], |row| row.get(0))
}

fn insert(tx: &Transaction<'_>, news: &News, place: i64) -> rusqlite::Result<()> {
    const INSERT: &str = "INSERT INTO notification (event, object_id, order_id, body, at_ms, place, in_turn,
             gives_way, copies, next_ms, tries, status, delivered)
         VALUES (:event, :object_id, :order_id, :body, :at_ms, :place, :in_turn, :gives_way, :copies, :next_ms,
             0, NULL, 0)";
    tx.prepare_cached(INSERT)?.execute(named_params! {
        ":event": news.event,
        ":object_id": news.object_id,
        ":order_id": news.order_id,
        ":body": news.body,
        ":at_ms": news.at_ms,
        ":place": place,
        ":in_turn": news.in_turn,
        ":gives_way": news.gives_way,
        ":copies": news.copies,
        ":next_ms": news.next_ms,
    })?;
    Ok(())
}

/// Those that may be sent now, `limit` at most.
pub(crate) fn due(tx: &Transaction<'_>, now_ms: i64, limit: usize) -> rusqlite::Result<Vec<Due>> {
    const DUE: &str = "SELECT seq, order_id, body, at_ms, copies, tries FROM notification AS one
         WHERE next_ms <= ?1 AND (NOT in_turn OR NOT EXISTS (
             SELECT 1 FROM notification AS earlier
              WHERE earlier.object_id = one.object_id AND earlier.place < one.place
                AND earlier.next_ms IS NOT NULL AND earlier.in_turn))
         ORDER BY next_ms, place LIMIT ?2";
    tx.prepare_cached(DUE)?
        .query_map(params![now_ms, i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
            Ok(Due {
                seq: row.get(0)?,
                order_id: row.get(1)?,
                body: row.get(2)?,
                at_ms: row.get(3)?,
                copies: row.get(4)?,
                tries: row.get(5)?,
            })
        })?
        .collect()
}

/// When the clock brings the next change: a notification falls due, or a payment or refund ends by itself.
pub(crate) fn next_event_ms(tx: &Transaction<'_>, now_ms: i64) -> rusqlite::Result<Option<i64>> {
    const NEXT_EVENT: &str = "SELECT min(at_ms) FROM (
             SELECT min(next_ms) AS at_ms FROM notification WHERE next_ms > ?1
             UNION ALL SELECT min(due_ms) FROM payment WHERE due_ms > ?1
             UNION ALL SELECT min(due_ms) FROM refund WHERE due_ms > ?1)";
    tx.prepare_cached(NEXT_EVENT)?.query_row([now_ms], |row| row.get(0))
}

/// Notes what a try came to.
pub(crate) fn note(tx: &Transaction<'_>, outcome: &Outcome) -> rusqlite::Result<()> {
    const NOTE: &str =
        "UPDATE notification SET tries = tries + 1, status = ?2, delivered = delivered OR ?3, copies = ?4,
             next_ms = ?5, gives_way = 0 WHERE seq = ?1";
    let Outcome { seq, status, delivered, copies, next_ms } = outcome;
    tx.prepare_cached(NOTE)?.execute(params![seq, status, delivered, copies, next_ms])?;
    Ok(())
}

/// All of them, in the order in which what they announce happened.
pub(crate) fn all(tx: &Transaction<'_>) -> rusqlite::Result<Vec<Value>> {
    const ALL: &str =
        "SELECT event, object_id, at_ms, delivered, status, tries FROM notification ORDER BY seq";
    tx.prepare_cached(ALL)?
        .query_map([], |row| {
            Ok(json!({
                "event": row.get::<_, String>(0)?,
                "object_id": row.get::<_, String>(1)?,
                "at": rfc3339(row.get(2)?),
                "delivered": row.get::<_, bool>(3)?,
                "status": row.get::<_, Option<u16>>(4)?,
                "tries": row.get::<_, u32>(5)?,
            }))
        })?
        .collect()
}
