//! SQLite: opening, migrating, reading; writing is in [`writer`].

mod readers;
mod schema;
mod session;
mod writer;

use std::{path::PathBuf, time::Duration};

use async_trait::async_trait;
use sqlx::{
    ConnectOptions,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use crate::{
    ApiKeyKind, Caller, Clock, Directory, Flow, MerchantRecord, SqlStore, StoreError, Tenant,
    sql::{Dialect, SessionError, SqlDirectory, SqlTables},
    tables::Abort,
};
pub use readers::Readers;
pub use schema::{Inspection, Migrated};
use session::{SqliteSession, connect, run};
use writer::Writer;

/// Forward only; one that landed is never edited.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "payments", include_str!("../../../../migrations/0001_payments.sql")),
    (2, "recovery", include_str!("../../../../migrations/0002_recovery.sql")),
    (3, "outbox", include_str!("../../../../migrations/0003_outbox.sql")),
    (4, "inbox", include_str!("../../../../migrations/0004_inbox.sql")),
    (5, "fair queues", include_str!("../../../../migrations/0005_fair_queues.sql")),
    (6, "waiting strangers", include_str!("../../../../migrations/0006_waiting_strangers.sql")),
    (7, "own accounts", include_str!("../../../../migrations/0007_own_accounts.sql")),
    (8, "fates", include_str!("../../../../migrations/0008_fates.sql")),
    (9, "untold strangers", include_str!("../../../../migrations/0009_untold_strangers.sql")),
];

/// How to open a database file.
#[derive(Clone)]
pub struct SqliteOptions {
    /// The file; made when missing.
    pub path: PathBuf,
    /// Connections for reads.
    pub readers: u32,
    /// How long to wait for another process's lock, or for a free connection, before the answer is "busy".
    pub patience: Duration,
    /// A clock in place of the database's, for tests.
    pub clock: Option<Clock>,
    /// Most pages the file may have, for tests of a full disk.
    pub max_pages: Option<u32>,
}

impl SqliteOptions {
    /// The production settings for `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), readers: 4, patience: Duration::from_secs(5), clock: None, max_pages: None }
    }

    /// For migrating and inspecting, with what the store itself sets.
    fn connect_options(&self) -> SqliteConnectOptions {
        SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(self.patience)
            .disable_statement_logging()
    }
}

/// A SQLite database: one writer that gathers commits, several readers.
pub struct Sqlite {
    readers: Readers,
    writer: Writer,
    clock: Option<Clock>,
}

impl SqlStore<Sqlite> {
    /// Opens the file and brings its schema up to date.
    pub async fn open(options: SqliteOptions) -> Result<Self, StoreError> {
        Ok(Self::new(Sqlite::open(options).await?))
    }
}

impl Sqlite {
    /// Opens the file and brings its schema up to date.
    pub async fn open(options: SqliteOptions) -> Result<Self, StoreError> {
        schema::bring_up_to_date(&options).await?;
        let readers = (0..options.readers).map(|_| connect(&options.path, options.patience, true));
        let readers = Readers::new(readers.collect::<Result<_, _>>()?, options.patience);
        let writing = connect(&options.path, options.patience, false)?;
        if let Some(pages) = options.max_pages {
            writing.pragma_update(None, "max_page_count", pages).map_err(session::failed)?;
        }
        let writer = Writer::start(writing, &options)?;
        Ok(Self { readers, writer, clock: options.clock })
    }

    /// Version of the newest migration this binary carries.
    pub fn newest_schema() -> i64 {
        MIGRATIONS.last().map_or(0, |(version, ..)| *version)
    }

    /// COMMITs of the writer so far, for tests that count them.
    #[doc(hidden)]
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }

    /// The readers, for tests that exhaust them.
    #[doc(hidden)]
    pub fn readers(&self) -> &Readers {
        &self.readers
    }
}

#[async_trait]
impl Dialect for Sqlite {
    async fn write<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        self.writer.run(flow).await
    }

    async fn read<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        let mut reader = self.readers.acquire().await?;
        run(&reader, "BEGIN")?;
        let mut session = SqliteSession { connection: &mut reader };
        let mut tables = SqlTables { session: &mut session, clock: self.clock.clone() };
        let result = flow(&mut tables).await;
        run(&reader, "ROLLBACK")?;
        result.map_err(|aborted| match aborted {
            Abort::Raced => StoreError::Busy(None),
            Abort::Failed(error) => error,
        })
    }
}

impl From<SessionError> for StoreError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Conflict => Self::Busy(None),
            SessionError::Failed(error) => error,
        }
    }
}

#[async_trait]
impl Directory for SqlStore<Sqlite> {
    async fn put_merchant(
        &self,
        merchant: MerchantRecord,
        keys: Vec<([u8; 32], ApiKeyKind)>,
    ) -> Result<(), StoreError> {
        self.dialect().writer.put_merchant(merchant, keys).await
    }

    async fn merchant(&self, tenant: &Tenant) -> Result<Option<MerchantRecord>, StoreError> {
        let mut reader = self.dialect().readers.acquire().await?;
        let mut session = SqliteSession { connection: &mut reader };
        Ok(SqlDirectory { session: &mut session }.find(tenant).await?)
    }

    async fn merchants(&self) -> Result<Vec<MerchantRecord>, StoreError> {
        let mut reader = self.dialect().readers.acquire().await?;
        let mut session = SqliteSession { connection: &mut reader };
        Ok(SqlDirectory { session: &mut session }.all().await?)
    }

    async fn caller(&self, key_hash: [u8; 32]) -> Result<Option<Caller>, StoreError> {
        let mut reader = self.dialect().readers.acquire().await?;
        let mut session = SqliteSession { connection: &mut reader };
        Ok(SqlDirectory { session: &mut session }.caller(&key_hash).await?)
    }
}
