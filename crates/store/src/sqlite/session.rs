//! A session over a SQLite connection, and what SQLite's errors mean.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::{
    Row as _, Sqlite, SqliteConnection, TypeInfo, ValueRef,
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};

use crate::{
    StoreError,
    sql::{Row, Session, SessionError, Value},
};

const NOW_MS: &str = "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// Primary result codes (the low byte), as SQLite documents them.
const BUSY: i64 = 5;
const LOCKED: i64 = 6;
/// Extended result codes.
const CONSTRAINT_PRIMARYKEY: i64 = 1555;
const CONSTRAINT_UNIQUE: i64 = 2067;
const IOERR_FSYNC: i64 = 1034;
const IOERR_DIR_FSYNC: i64 = 1290;

/// Statements on one connection, inside whatever transaction it has open.
pub(super) struct SqliteSession<'c> {
    pub(super) connection: &'c mut SqliteConnection,
}

fn bound(sql: &'static str, values: Vec<Value>) -> Query<'static, Sqlite, SqliteArguments> {
    values.into_iter().fold(sqlx::query(sql), |query, value| match value {
        Value::Null => query.bind(None::<i64>),
        Value::Int(value) => query.bind(value),
        Value::Text(value) => query.bind(value),
        Value::Bytes(value) => query.bind(value),
        Value::Uuid(value) => query.bind(value),
    })
}

fn read(row: &SqliteRow) -> Result<Row, sqlx::Error> {
    let column = |index: usize| {
        let raw = row.try_get_raw(index)?;
        if raw.is_null() {
            return Ok(Value::Null);
        }
        match raw.type_info().name() {
            "INTEGER" => Ok(Value::Int(row.try_get(index)?)),
            "TEXT" => Ok(Value::Text(row.try_get(index)?)),
            _ => Ok(Value::Bytes(row.try_get(index)?)),
        }
    };
    (0..row.len()).map(column).collect::<Result<_, sqlx::Error>>().map(Row::new)
}

#[async_trait]
impl Session for SqliteSession<'_> {
    async fn execute(&mut self, sql: &'static str, values: Vec<Value>) -> Result<u64, SessionError> {
        let done = bound(sql, values).execute(&mut *self.connection).await.map_err(session_error)?;
        Ok(done.rows_affected())
    }

    async fn query(&mut self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>, SessionError> {
        let rows = bound(sql, values).fetch_all(&mut *self.connection).await.map_err(session_error)?;
        rows.iter().map(read).collect::<Result<_, _>>().map_err(session_error)
    }

    fn locks_rows(&self) -> bool {
        false
    }

    async fn now_ms(&mut self) -> Result<i64, SessionError> {
        sqlx::query_scalar(NOW_MS).fetch_one(&mut *self.connection).await.map_err(session_error)
    }
}

fn code(error: &sqlx::Error) -> Option<i64> {
    error.as_database_error()?.code()?.parse().ok()
}

fn session_error(error: sqlx::Error) -> SessionError {
    match code(&error) {
        Some(CONSTRAINT_UNIQUE | CONSTRAINT_PRIMARYKEY) => SessionError::Conflict,
        Some(_) | None => SessionError::Failed(failed(error)),
    }
}

/// What an error of the driver means. A failed fsync ends the process: what the disk holds from then on is not what SQLite
/// believes, and only a fresh start reads it again.
pub(super) fn failed(error: sqlx::Error) -> StoreError {
    match code(&error) {
        Some(IOERR_FSYNC | IOERR_DIR_FSYNC) => {
            tracing::error!(%error, "fsync failed: the process ends, so that nothing is answered from memory");
            std::process::abort()
        }
        Some(code) if matches!(code & 0xff, BUSY | LOCKED) => StoreError::Busy(Some(Arc::new(error))),
        Some(_) => StoreError::Refused(Arc::new(error)),
        None if matches!(error, sqlx::Error::PoolTimedOut) => StoreError::Busy(Some(Arc::new(error))),
        None => StoreError::Refused(Arc::new(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::{borrow::Cow, error::Error, fmt, os::unix::process::ExitStatusExt, process::Command};

    use sqlx::error::{DatabaseError, ErrorKind};

    use super::*;

    /// An error of SQLite with this extended code.
    #[derive(Debug)]
    struct Failure(i64);

    impl fmt::Display for Failure {
        fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
            write!(f, "(code: {})", self.0)
        }
    }

    impl Error for Failure {}

    impl DatabaseError for Failure {
        fn message(&self) -> &str {
            "a failure"
        }

        fn code(&self) -> Option<Cow<'_, str>> {
            Some(self.0.to_string().into())
        }

        fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn Error + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn Error + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> ErrorKind {
            ErrorKind::Other
        }
    }

    fn failure(code: i64) -> StoreError {
        failed(sqlx::Error::Database(Box::new(Failure(code))))
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
    fn every_other_failure_is_told() {
        assert!(matches!(failure(BUSY), StoreError::Busy(_)));
        assert!(matches!(failure(LOCKED), StoreError::Busy(_)));
        for full_or_damaged in [13, 10, 11, 7, 778] {
            assert!(matches!(failure(full_or_damaged), StoreError::Refused(_)), "{full_or_damaged}");
        }
    }
}
