//! The shop's own SQLite file: orders, webhooks, shipments. A change is on the disk before anybody hears of it.
//! Must never decide by looking first what a unique index can decide.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Marks the file as this shop's ("PySh").
const APPLICATION_ID: i32 = 0x5079_5368;
/// The schema's version.
const VERSION: i32 = 1;
/// Longest wait for another process that writes to the same file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the shop keeps its orders.
#[derive(Clone, Debug)]
pub enum ShopDatabase {
    /// An SQLite file, made when missing.
    File(PathBuf),
    /// Nothing survives the process.
    Memory,
}

/// Why the shop's database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It is some other database, or of another version.
    #[error("{path} is not this shop's database (application id {application_id}, version {version})")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What the file says it is.
        application_id: i32,
        /// Its schema's version.
        version: i32,
    },
    /// SQLite could not.
    #[error("cannot open the shop's database {path}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
}

/// The open database. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Database {
    connection: Arc<Mutex<Connection>>,
}

impl Database {
    pub fn open(place: &ShopDatabase) -> Result<Self, DatabaseError> {
        let (path, opened) = match place {
            ShopDatabase::File(path) => (path.as_path(), Connection::open(path)),
            ShopDatabase::Memory => (Path::new(":memory:"), Connection::open_in_memory()),
        };
        let failed = |source| DatabaseError::Sqlite { path: path.to_owned(), source };
        let mut connection = opened.map_err(failed)?;
        prepare(&connection).map_err(failed)?;
        match identify(&mut connection).map_err(failed)? {
            (APPLICATION_ID, VERSION) => Ok(Self { connection: Arc::new(Mutex::new(connection)) }),
            (application_id, version) => {
                Err(DatabaseError::Foreign { path: path.to_owned(), application_id, version })
            }
        }
    }

    /// Runs `work` in a transaction of its own and commits it, on a thread that may wait for the disk.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> rusqlite::Result<T> {
        let connection = Arc::clone(&self.connection);
        let worker = tokio::task::spawn_blocking(move || {
            // A panic rolled its transaction back: the connection behind a poisoned lock is sound.
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        });
        worker.await.expect("a transaction does not panic, and is never aborted")
    }
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Application id and version of the file; an empty one is made the shop's first.
fn identify(connection: &mut Connection) -> rusqlite::Result<(i32, i32)> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let is_empty: bool = tx.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?;
    if is_empty {
        tx.execute_batch(include_str!("schema.sql"))?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", VERSION)?;
    }
    let pragma = |name| tx.pragma_query_value(None, name, |row| row.get(0));
    let found = (pragma("application_id")?, pragma("user_version")?);
    tx.commit()?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_programs_database_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (id INTEGER)").unwrap();
        let opened = Database::open(&ShopDatabase::File(path.clone()));
        assert!(matches!(opened, Err(DatabaseError::Foreign { application_id: 0, version: 0, .. })));
        let connection = Connection::open(&path).unwrap();
        let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0));
        assert_eq!(tables, Ok(1));
    }

    #[test]
    fn a_commit_waits_for_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(&ShopDatabase::File(folder.path().join("shop.db"))).unwrap();
        let connection = database.connection.lock().unwrap();
        let pragma = |name| connection.pragma_query_value::<String, _>(None, name, |row| row.get(0));
        assert_eq!(pragma("journal_mode"), Ok("wal".to_owned()));
        let synchronous = connection.pragma_query_value::<i32, _>(None, "synchronous", |row| row.get(0));
        assert_eq!(synchronous, Ok(2));
    }
}
