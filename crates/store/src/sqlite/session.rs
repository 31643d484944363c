//! A session over a SQLite connection, and what SQLite's errors mean. It works where it is called: no statement waits for another
//! thread.

use std::{path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use rusqlite::{
    Connection, OpenFlags, Row as SqliteRow,
    config::DbConfig,
    params_from_iter,
    types::{Value as SqliteValue, ValueRef},
};

use crate::{
    StoreError,
    sql::{Row, Session, SessionError, Value},
};

const NOW_MS: &str = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// Primary result codes (the low byte), as SQLite documents them.
pub(super) const BUSY: i64 = 5;
pub(super) const LOCKED: i64 = 6;
/// Extended result codes.
const CONSTRAINT_PRIMARYKEY: i64 = 1555;
const CONSTRAINT_UNIQUE: i64 = 2067;
const IOERR_FSYNC: i64 = 1034;
const IOERR_DIR_FSYNC: i64 = 1290;

/// Statements kept prepared on a connection: more than there are.
const PREPARED: usize = 256;

/// A connection to an existing file, with the settings that every one has.
pub(super) fn connect(path: &Path, patience: Duration, reads_only: bool) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(patience).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    // A plan is for all values. Otherwise SQLite parses a statement anew for each value of its LIMIT.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed)?;
    // Each COMMIT is on disk before it is told to anybody.
    for (pragma, value) in [("journal_mode", "wal"), ("synchronous", "full"), ("foreign_keys", "on")] {
        connection.pragma_update(None, pragma, value).map_err(failed)?;
    }
    if reads_only {
        connection.pragma_update(None, "query_only", "on").map_err(failed)?;
    }
    Ok(connection)
}

/// Statements on one connection, inside whatever transaction it has open.
pub(super) struct SqliteSession<'c> {
    pub(super) connection: &'c mut Connection,
}

fn bound(value: Value) -> SqliteValue {
    match value {
        Value::Null => SqliteValue::Null,
        Value::Int(value) => SqliteValue::Integer(value),
        Value::Text(value) => SqliteValue::Text(value),
        Value::Bytes(value) => SqliteValue::Blob(value),
        Value::Uuid(value) => SqliteValue::Blob(value.into_bytes().to_vec()),
    }
}

fn read(row: &SqliteRow<'_>, columns: usize) -> rusqlite::Result<Row> {
    let column = |index: usize| {
        Ok(match row.get_ref(index)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(value) => Value::Int(value),
            ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
            ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
            ValueRef::Real(_) => return Err(rusqlite::Error::InvalidQuery),
        })
    };
    (0..columns).map(column).collect::<rusqlite::Result<_>>().map(Row::new)
}

/// Runs a statement without parameters, kept prepared.
pub(super) fn run(connection: &Connection, sql: &'static str) -> Result<(), StoreError> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop).map_err(failed)
}

#[async_trait]
impl Session for SqliteSession<'_> {
    async fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, SessionError> {
        let values = params_from_iter(values.into_iter().map(bound));
        let mut statement = self.connection.prepare_cached(sql).map_err(session_error)?;
        let rows = statement.execute(values).map_err(session_error)?;
        Ok(u64::try_from(rows).unwrap_or(u64::MAX))
    }

    async fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, SessionError> {
        let values = params_from_iter(values.into_iter().map(bound));
        let mut statement = self.connection.prepare_cached(sql).map_err(session_error)?;
        let columns = statement.column_count();
        let rows = statement.query_map(values, |row| read(row, columns)).map_err(session_error)?;
        rows.collect::<rusqlite::Result<_>>().map_err(session_error)
    }

    fn locks_rows(&self) -> bool {
        false
    }

    async fn now_ms(&mut self) -> Result<i64, SessionError> {
        let mut statement = self.connection.prepare_cached(NOW_MS).map_err(session_error)?;
        statement.query_row([], |row| row.get(0)).map_err(session_error)
    }
}

fn code(error: &rusqlite::Error) -> Option<i64> {
    error.sqlite_error().map(|error| i64::from(error.extended_code))
}

fn session_error(error: rusqlite::Error) -> SessionError {
    match code(&error) {
        Some(CONSTRAINT_UNIQUE | CONSTRAINT_PRIMARYKEY) => SessionError::Conflict,
        Some(_) | None => SessionError::Failed(failed(error)),
    }
}

/// What an error of the driver means. A failed fsync ends the process: what the disk holds from then on is not what SQLite
/// believes, and only a fresh start reads it again.
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    match code(&error) {
        Some(IOERR_FSYNC | IOERR_DIR_FSYNC) => {
            tracing::error!(%error, "fsync failed: the process ends, so that nothing is answered from memory");
            std::process::abort()
        }
        Some(code) if matches!(code & 0xff, BUSY | LOCKED) => StoreError::Busy(Some(Arc::new(error))),
        Some(_) | None => StoreError::Refused(Arc::new(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::Command};

    use rusqlite::{StatementStatus, ffi};
    use tempfile::TempDir;

    use super::*;

    fn failure(code: i64) -> StoreError {
        let code = i32::try_from(code).unwrap();
        failed(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    }

    #[test]
    fn a_failed_fsync_ends_the_process() {
        const CHILD: &str = "PAYONCE_TEST_FSYNC_FAILS";
        if let Some(code) = std::env::var(CHILD).ok().and_then(|code| code.parse().ok()) {
            failure(code);
            return;
        }
        for code in [IOERR_FSYNC, IOERR_DIR_FSYNC] {
            let mut child = Command::new(std::env::current_exe().unwrap());
            let child = child.args(["--exact", "sqlite::session::tests::a_failed_fsync_ends_the_process"]);
            let ended = child.env(CHILD, code.to_string()).output().unwrap().status;
            const SIGABRT: i32 = 6;
            assert_eq!(ended.signal(), Some(SIGABRT), "{code}: {ended}");
        }
    }

    #[test]
    fn a_statement_is_parsed_once() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("test.db");
        drop(Connection::open(&path).unwrap());
        let connection = connect(&path, Duration::ZERO, false).unwrap();
        connection.execute_batch("CREATE TABLE one (id INTEGER PRIMARY KEY)").unwrap();
        let mut statement = connection.prepare("SELECT id FROM one WHERE id > ?1 LIMIT ?2").unwrap();
        for most in 1..4 {
            assert!(!statement.exists([0, most]).unwrap());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }

    #[test]
    fn every_other_failure_is_told() {
        assert!(matches!(failure(BUSY), StoreError::Busy(_)));
        assert!(matches!(failure(LOCKED), StoreError::Busy(_)));
        for full_or_damaged in [13, 10, 11, 7, 778] {
            assert!(matches!(failure(full_or_damaged), StoreError::Refused(_)), "{full_or_damaged}");
        }
    }
}
