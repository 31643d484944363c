//! What is special to SQLite: races decided by its indexes, its guards, its gathered commits, and how it fails.

mod busy;
mod catalogue;
mod durability;
mod full;
mod guards;
mod lost_batch;
mod migration;
mod races;
mod unique;

use std::{path::PathBuf, time::Duration};

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use store::{SqlStore, Sqlite, SqliteOptions};
use tempfile::TempDir;

use crate::world::{Hands, World};

/// A database file, for stores and for connections that know nothing of them.
struct File {
    folder: TempDir,
    clock: Hands,
}

impl File {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), clock: Hands::default() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("test.db")
    }

    fn options(&self) -> SqliteOptions {
        SqliteOptions { clock: Some(self.clock.clock()), ..SqliteOptions::new(self.path()) }
    }

    /// A store, as one process has it.
    async fn store(&self) -> SqlStore<Sqlite> {
        SqlStore::open(self.options()).await.unwrap()
    }

    /// A store that does not wait long.
    async fn impatient(&self, patience_ms: u64) -> SqlStore<Sqlite> {
        let patience = Duration::from_millis(patience_ms);
        SqlStore::open(SqliteOptions { patience, ..self.options() }).await.unwrap()
    }

    /// The words of [`World`] over another store on this file.
    async fn world(&self) -> World {
        World::over(self.store().await, self.clock.clone())
    }

    /// Another process's connection.
    async fn raw(&self) -> Raw {
        let options =
            SqliteConnectOptions::new().filename(self.path()).foreign_keys(true).disable_statement_logging();
        Raw(options.busy_timeout(Duration::from_secs(10)).connect().await.unwrap())
    }
}

/// A connection beside the store: another process, or an operator with a shell.
struct Raw(SqliteConnection);

impl Raw {
    /// Runs statements of the test's own making.
    async fn run(&mut self, sql: &str) -> Result<(), String> {
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut self.0).await;
        done.map(drop).map_err(|error| error.to_string())
    }

    async fn int(&mut self, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut self.0).await.unwrap()
    }

    async fn texts(&mut self, sql: &str) -> Vec<String> {
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_all(&mut self.0).await.unwrap()
    }

    async fn count(&mut self, table: &str) -> i64 {
        self.int(&format!("SELECT count(*) FROM {table}")).await
    }

    /// Rows of every table that opening a checkout writes.
    async fn opened(&mut self) -> [i64; 5] {
        let mut counts = [0; 5];
        for (index, table) in
            ["checkout", "payment_intent", "operation", "journal", "idempotency_key"].iter().enumerate()
        {
            counts[index] = self.count(table).await;
        }
        counts
    }

    async fn close(self) {
        self.0.close().await.unwrap();
    }
}
