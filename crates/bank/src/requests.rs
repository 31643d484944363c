//! The list of every request that was for money or about it: what came, and whether it was answered. The one
//! place from which a test can tell what really reached the bank.

use rusqlite::{Transaction, params};
use serde_json::{Value, json};

use crate::clock::rfc3339;

/// A request as it came.
#[derive(Clone)]
pub(crate) struct Arrival {
    pub method: String,
    pub path: String,
    pub idempotence_key: Option<String>,
    pub body_sha256: String,
    pub at_ms: i64,
}

/// A request's row.
#[derive(Clone, Copy)]
pub(crate) struct RequestId(i64);

/// Notes a request, not yet answered.
pub(crate) fn arrived(tx: &Transaction<'_>, arrival: &Arrival) -> rusqlite::Result<RequestId> {
    const ARRIVED: &str = "INSERT INTO request
         (method, path, idempotence_key, body_sha256, at_ms, answered, status, replayed)
         VALUES (?1, ?2, ?3, ?4, ?5, 0, NULL, 0)";
    let Arrival { method, path, idempotence_key, body_sha256, at_ms } = arrival;
    tx.prepare_cached(ARRIVED)?.execute(params![method, path, idempotence_key, body_sha256, at_ms])?;
    Ok(RequestId(tx.last_insert_rowid()))
}

/// Notes what it came to: `status` is `None` when the answer is to be lost.
pub(crate) fn settled(
    tx: &Transaction<'_>,
    id: RequestId,
    status: Option<u16>,
    replayed: bool,
) -> rusqlite::Result<()> {
    const SETTLED: &str = "UPDATE request SET answered = ?2, status = ?3, replayed = ?4 WHERE seq = ?1";
    tx.prepare_cached(SETTLED)?.execute(params![id.0, status.is_some(), status, replayed])?;
    Ok(())
}

/// All of them, in the order of their coming.
pub(crate) fn all(tx: &Transaction<'_>) -> rusqlite::Result<Vec<Value>> {
    const ALL: &str = "SELECT method, path, idempotence_key, body_sha256, at_ms, answered, status, replayed
         FROM request ORDER BY seq";
    tx.prepare_cached(ALL)?
        .query_map([], |row| {
            Ok(json!({
                "method": row.get::<_, String>(0)?,
                "path": row.get::<_, String>(1)?,
                "idempotence_key": row.get::<_, Option<String>>(2)?,
                "body_sha256": row.get::<_, String>(3)?,
                "at": rfc3339(row.get(4)?),
                "answered": row.get::<_, bool>(5)?,
                "status": row.get::<_, Option<u16>>(6)?,
                "replayed": row.get::<_, bool>(7)?,
            }))
        })?
        .collect()
}
