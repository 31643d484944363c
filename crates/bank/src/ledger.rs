//! The bank's own database: one SQLite file, or memory, that nobody else opens. Runs one transaction at a time,
//! which is what makes simultaneous requests with one key a single object. Knows nothing of HTTP.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

/// Marks the file as a ledger of this bank ("PyBk").
const APPLICATION_ID: i32 = 0x5079_426b;
/// The schema, one step for each of its versions. A step that landed is never changed.
const STEPS: [&str; 2] = [include_str!("schema/1.sql"), include_str!("schema/2.sql")];
/// More than the bank's statements, so that each is prepared once.
const STATEMENT_CACHE: usize = 64;

/// Where the bank keeps its ledger.
#[derive(Clone, Debug)]
pub enum Ledger {
    /// An SQLite file, made when missing; every answer is on the disk before it is given.
    File(PathBuf),
    /// Nothing survives the process: for benchmarks.
    Memory,
}

/// Why a ledger cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another bank has it.
    #[error("the bank's ledger {path} is in use by another bank")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// It is some other database, or of a later version.
    #[error("{path} is not a ledger of this bank (application id {application_id}, version {version})")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What the file says it is.
        application_id: i32,
        /// Its schema's version.
        version: i32,
    },
    /// Notifications cannot be sent there. The address is not said: it may hold a secret.
    #[error("the address for notifications is not one of http or https")]
    NotifyUrl,
    /// There is no client to send notifications with.
    #[error("cannot prepare to send notifications")]
    Client(#[source] reqwest::Error),
    /// SQLite could not.
    #[error("cannot open the bank's ledger {path}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
}

/// An open ledger. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Store {
    connection: Arc<Mutex<Connection>>,
    blocks: bool,
}

impl Store {
    pub fn open(ledger: &Ledger) -> Result<Self, OpenError> {
        let (path, opened, blocks) = match ledger {
            Ledger::File(path) => (path.as_path(), Connection::open(path), true),
            Ledger::Memory => (Path::new(":memory:"), Connection::open_in_memory(), false),
        };
        let connection = opened.map_err(|source| classify(path, source))?;
        let failed = |source| classify(path, source);
        lock(&connection).map_err(failed)?;
        let (application_id, version) = identity(&connection).map_err(failed)?;
        let steps = match usize::try_from(version).ok().and_then(|version| STEPS.get(version..)) {
            Some(steps) if application_id == APPLICATION_ID && version > 0 => steps,
            _ if is_empty(&connection).map_err(failed)? => &STEPS[..],
            _ => return Err(OpenError::Foreign { path: path.to_owned(), application_id, version }),
        };
        prepare(&connection).map_err(failed)?;
        if !steps.is_empty() {
            bring_up_to_date(&connection, steps).map_err(failed)?;
        }
        Ok(Self { connection: Arc::new(Mutex::new(connection)), blocks })
    }

    /// Runs `work` in a transaction of its own and commits it. Goes on when the caller is dropped.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> rusqlite::Result<T> {
        if !self.blocks {
            return self.run_here(work);
        }
        let store = self.clone();
        let worker = tokio::task::spawn_blocking(move || store.run_here(work));
        worker.await.expect("a transaction does not panic, and is never aborted")
    }

    fn run_here<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        // A panic rolled its transaction back: the connection behind a poisoned lock is sound.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }
}

/// The lock is taken by the first read and held for life: a second bank is refused at once, not after a wait.
fn lock(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.execute_batch("BEGIN EXCLUSIVE; COMMIT;")
}

/// Application id and version, as the file claims.
fn identity(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((pragma("application_id")?, pragma("user_version")?))
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(())
}

fn bring_up_to_date(connection: &Connection, steps: &[&str]) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "BEGIN; {} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {}; COMMIT;",
        steps.concat(),
        STEPS.len()
    ))
}

fn classify(path: &Path, source: rusqlite::Error) -> OpenError {
    let busy =
        matches!(source.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked));
    let path = path.to_owned();
    if busy { OpenError::InUse { path } } else { OpenError::Sqlite { path, source } }
}
