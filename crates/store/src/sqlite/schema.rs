//! A database file from outside: what it is like, and bringing it up to date. For operators; a server does it by opening.

use std::{borrow::Cow, io::ErrorKind, path::Path, sync::Arc, time::Duration};

use sqlx::{
    ConnectOptions, Connection, SqlSafeStr, SqliteConnection,
    migrate::{MigrateError, Migration, MigrationType, Migrator},
};
use tokio::time::{Instant, sleep};

use super::session::{BUSY, LOCKED};
use super::{MIGRATIONS, Sqlite, SqliteOptions};
use crate::StoreError;

/// Between two tries to migrate, while another process is at it.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

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
    /// What SQLite finds broken in the file, as it words it; nothing where it is sound.
    pub damage: Option<String>,
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
        bring_up_to_date(&SqliteOptions::new(path)).await
    }

    /// Looks at an existing file as a server would open it; writes no row.
    pub async fn inspect(path: &Path) -> Result<Inspection, StoreError> {
        let options = SqliteOptions::new(path).connect_options().create_if_missing(false);
        let mut connection = options.connect().await.map_err(failed)?;
        let inspection = Inspection {
            schema: schema(&mut connection).await?,
            journal_mode: pragma(&mut connection, "PRAGMA journal_mode").await?,
            synchronous: pragma(&mut connection, "PRAGMA synchronous").await?,
            damage: damage(&mut connection).await?,
            refuses_writes: try_write(&mut connection).await.err(),
        };
        connection.close().await.map_err(failed)?;
        Ok(inspection)
    }
}

/// Makes the file when it is missing, and brings its schema up to date. Another process may be at it in this moment, and SQLite
/// has no lock for that: who came second fails at once, however patient it is, looks again, and finds it done.
pub(super) async fn bring_up_to_date(options: &SqliteOptions) -> Result<Migrated, StoreError> {
    let made = make_private(&options.path)?;
    let patient_until = Instant::now() + options.patience;
    loop {
        // Another process may have made it in this moment.
        if !made && is_empty(&options.path) {
            if Instant::now() < patient_until {
                sleep(BETWEEN_TRIES).await;
                continue;
            }
            return Err(StoreError::Schema(
                "the file is empty: was a copy of the database cut off? Restore it; or delete the file, if there never was one".to_owned(),
            ));
        }
        match migrate(options).await {
            Err(Unmigrated::Raced(_)) if Instant::now() < patient_until => sleep(BETWEEN_TRIES).await,
            Err(Unmigrated::Raced(error) | Unmigrated::Failed(error)) => return Err(error),
            Ok(migrated) => return Ok(migrated),
        }
    }
}

/// Makes a missing file readable by its owner only; SQLite gives the files beside it the same mode. One that is there is left
/// alone: whoever closes it, closes the locks that this process has on it. Whether it was missing.
fn make_private(path: &Path) -> Result<bool, StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(StoreError::Refused(Arc::new(error))),
        Ok(_) => Ok(true),
        Err(_) => Ok(false),
    }
}

/// A database that was ever written to is not: what it held would be taken for nothing, and paid again.
fn is_empty(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.len() == 0)
}

/// Why a try to migrate did not succeed.
enum Unmigrated {
    /// It may be that another process did.
    Raced(StoreError),
    Failed(StoreError),
}

impl From<StoreError> for Unmigrated {
    fn from(error: StoreError) -> Self {
        if matches!(error, StoreError::Busy(_)) { Self::Raced(error) } else { Self::Failed(error) }
    }
}

impl From<MigrateError> for Unmigrated {
    fn from(error: MigrateError) -> Self {
        let told = StoreError::Schema(error.to_string());
        let raced = matches!(error, MigrateError::Execute(_) | MigrateError::ExecuteMigration(..));
        if raced { Self::Raced(told) } else { Self::Failed(told) }
    }
}

async fn migrate(options: &SqliteOptions) -> Result<Migrated, Unmigrated> {
    let mut connection = options.connect_options().connect().await.map_err(failed)?;
    let from = schema(&mut connection).await?;
    migrator().run(&mut connection).await?;
    let to = schema(&mut connection).await?;
    connection.close().await.map_err(failed)?;
    Ok(Migrated { from, to })
}

fn migrator() -> Migrator {
    let migrations = MIGRATIONS.iter().map(|(version, name, sql)| {
        Migration::new(*version, Cow::Borrowed(*name), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator { migrations: Cow::Owned(migrations.collect()), ..Migrator::DEFAULT }
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

/// Reads the whole file. A database of which one page is of another day opens, and answers until that page is needed.
async fn damage(connection: &mut SqliteConnection) -> Result<Option<String>, StoreError> {
    let found: String = pragma(connection, "PRAGMA integrity_check(1)").await?;
    Ok((found != "ok").then_some(found))
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
        assert_eq!(inspection.damage, None);
    }

    #[tokio::test]
    async fn n5_a_file_with_a_page_of_another_day_is_seen_to_be_broken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("payonce.db");
        Sqlite::migrate(&path).await.unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
        // The last page goes back to what no tree of this file can hold.
        let last = bytes.len() - page;
        bytes[last..].fill(0xff);
        std::fs::write(&path, bytes).unwrap();
        let inspection = Sqlite::inspect(&path).await.unwrap();
        assert!(inspection.damage.is_some());
    }
}
