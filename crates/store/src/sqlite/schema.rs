//! A database file from outside: what it is like, and bringing it up to date. For operators; a server does it by opening.

use std::{path::Path, sync::Arc};

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::session::{BUSY, LOCKED};
use super::{Sqlite, SqliteOptions, make_private, migrator};
use crate::StoreError;

const HAS_MIGRATIONS: &str =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '_sqlx_migrations'";
const NEWEST_MIGRATION: &str = "SELECT coalesce(max(version), 0) FROM _sqlx_migrations WHERE success";

/// What a database file is like.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Version of its schema; 0 when there is none.
    pub schema: i64,
    /// How commits are kept: `wal`.
    pub journal_mode: String,
    /// When they reach the disk: 2 is FULL.
    pub synchronous: i64,
    /// Why it takes no writes.
    pub refuses_writes: Option<StoreError>,
}

/// What a migration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// Version before; 0 when there was none.
    pub from: i64,
    /// Version now.
    pub to: i64,
}

impl Sqlite {
    /// Brings the schema of the file up to date; makes the file when it is missing.
    pub async fn migrate(path: &Path) -> Result<Migrated, StoreError> {
        make_private(path)?;
        let mut connection = SqliteOptions::new(path).connect_options().connect().await.map_err(failed)?;
        let from = schema(&mut connection).await?;
        migrator().run(&mut connection).await.map_err(|error| StoreError::Schema(error.to_string()))?;
        let to = schema(&mut connection).await?;
        connection.close().await.map_err(failed)?;
        Ok(Migrated { from, to })
    }

    /// Looks at an existing file as a server would open it; writes no row.
    pub async fn inspect(path: &Path) -> Result<Inspection, StoreError> {
        let options = SqliteOptions::new(path).connect_options().create_if_missing(false);
        let mut connection = options.connect().await.map_err(failed)?;
        let inspection = Inspection {
            schema: schema(&mut connection).await?,
            journal_mode: pragma(&mut connection, "PRAGMA journal_mode").await?,
            synchronous: pragma(&mut connection, "PRAGMA synchronous").await?,
            refuses_writes: try_write(&mut connection).await.err(),
        };
        connection.close().await.map_err(failed)?;
        Ok(inspection)
    }
}

/// What an error means while the schema is looked at or changed.
pub(super) fn failed(error: sqlx::Error) -> StoreError {
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<i64>().ok());
    match code {
        Some(code) if matches!(code & 0xff, BUSY | LOCKED) => StoreError::Busy(Some(Arc::new(error))),
        Some(_) | None => StoreError::Refused(Arc::new(error)),
    }
}

async fn schema(connection: &mut SqliteConnection) -> Result<i64, StoreError> {
    let tables: i64 = pragma(connection, HAS_MIGRATIONS).await?;
    if tables == 0 { Ok(0) } else { pragma(connection, NEWEST_MIGRATION).await }
}

/// The one value of a question without parameters.
async fn pragma<T>(connection: &mut SqliteConnection, sql: &'static str) -> Result<T, StoreError>
where
    T: for<'r> sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite> + Send + Unpin,
{
    sqlx::query_scalar(sql).fetch_one(connection).await.map_err(failed)
}

/// Takes the right to write, and gives it back.
async fn try_write(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    for sql in ["BEGIN IMMEDIATE", "ROLLBACK"] {
        sqlx::query(sql).execute(&mut *connection).await.map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_migrated_once_and_is_as_the_server_needs_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("payonce.db");
        assert!(Sqlite::inspect(&path).await.is_err());
        assert!(!path.exists());
        let newest = Sqlite::newest_schema();
        assert_eq!(Sqlite::migrate(&path).await.unwrap(), Migrated { from: 0, to: newest });
        assert_eq!(Sqlite::migrate(&path).await.unwrap(), Migrated { from: newest, to: newest });
        let inspection = Sqlite::inspect(&path).await.unwrap();
        assert_eq!(
            (inspection.schema, inspection.journal_mode.as_str(), inspection.synchronous),
            (newest, "wal", 2)
        );
        assert!(inspection.refuses_writes.is_none());
    }
}
