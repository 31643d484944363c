//! Histories over a real SQLite file, written and read as a server does it, beside the same histories in memory.
//!
//! What is compared, and when. With each transaction that writes: whether both stores take it, and how they refuse it. With every
//! [`LOOK_EVERY`]th of them: every row, its fences and times included. At the end: the rows again, the verdict, the decisions,
//! and the number for all that happened, which agree only where both stores answered the engine alike. Between two looks the
//! scheduler and the checker see the rows of the memory's twin, which runs each transaction too; the engine is answered by SQLite
//! alone.
//!
//! What is not: the file stays open from history to history and is emptied between them, so that nothing is proved here of
//! opening, migrating or losing it; one transaction runs at a time, so that nothing is proved of gathered commits and of guards
//! that only a second writer meets. The store's own tests prove these.

use std::{
    fmt::Debug,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use rusqlite::Connection;
use store::{
    Backend as _, Directory as _, Flow, MemoryStore, MerchantRecord, Rows, SqlStore, Sqlite, SqliteOptions,
    StoreError, Table,
};
use tokio::runtime::{self, Runtime};

use crate::{
    check::Broken,
    choices::Choices,
    histories::Worlds,
    ports::Backing,
    time::Time,
    world::{Ended, Met, World},
};

/// Transactions from one look at every row to the next.
const LOOK_EVERY: u64 = 4;
/// The number of what is broken where the stores differ.
pub(crate) const THE_STORES_AGREE: u8 = 24;

/// Two stores that run the same transactions.
pub struct Twins {
    store: SqlStore<Sqlite>,
    runtime: Runtime,
    aside: Mutex<Aside>,
    memory: Mutex<Arc<MemoryStore>>,
    writes: AtomicU64,
    look_every: AtomicU64,
    /// The first transaction that only one of them took.
    differs: Mutex<Option<String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Twins {
    pub(crate) async fn write<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        let written = self.runtime.block_on(self.store.write(Arc::clone(&flow)));
        let memory = Arc::clone(&locked(&self.memory));
        let in_memory = memory.write(flow).await;
        self.writes.fetch_add(1, Ordering::Relaxed);
        let (told, told_in_memory) = (outcome(&written), outcome(&in_memory));
        if told != told_in_memory {
            let what = std::any::type_name::<R>();
            let found = format!("{what}: SQLite says {told}, memory says {told_in_memory}");
            locked(&self.differs).get_or_insert(found);
        }
        written
    }

    pub(crate) async fn read<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        self.runtime.block_on(self.store.read(flow))
    }

    /// All rows after a write: the memory's, which are SQLite's too as far as the module's head says.
    pub(crate) fn rows(&self) -> Result<Arc<Rows>, Broken> {
        let rows = locked(&self.memory).rows();
        let looks =
            self.writes.load(Ordering::Relaxed).is_multiple_of(self.look_every.load(Ordering::Relaxed));
        let agree = match locked(&self.differs).take() {
            Some(found) => Err(found),
            None if looks => self.look(&rows),
            None => Ok(()),
        };
        agree.map(|()| rows).map_err(|found| Broken { invariant: THE_STORES_AGREE, found })
    }

    /// Every row of the file, against these.
    fn look(&self, rows: &Rows) -> Result<(), String> {
        let found = self.runtime.block_on(self.store.rows()).map_err(|error| error.to_string())?;
        differences(&found, rows).map_or(Ok(()), Err)
    }

    /// A merchant is written down; what fails shows where the rows are compared.
    pub(crate) fn put_merchant(&self, merchant: MerchantRecord) {
        let memory = Arc::clone(&locked(&self.memory));
        memory.put_account(merchant.tenant.clone(), merchant.account.clone());
        let written = self.runtime.block_on(self.store.put_merchant(merchant, Vec::new()));
        if let Err(error) = written {
            locked(&self.differs).get_or_insert(format!("a merchant is not written down: {error}"));
        }
    }

    /// A backup is taken.
    pub(crate) fn back_up(&self) {
        locked(&self.aside).run(&["DELETE FROM temp.{}", "INSERT INTO temp.{} SELECT * FROM main.{}"]);
    }

    /// The backup is brought back; these are its rows.
    pub(crate) fn bring_back(&self, rows: Arc<Rows>, time: &Time) {
        locked(&self.aside).run(&["DELETE FROM main.{}", "INSERT INTO main.{} SELECT * FROM temp.{}"]);
        *locked(&self.memory) = Arc::new(MemoryStore::of(rows, time.of_store()));
    }

    fn empty(&self, time: &Time, look_every: u64) {
        locked(&self.aside).run(&["DELETE FROM main.{}"]);
        *locked(&self.memory) = Arc::new(MemoryStore::new(time.of_store()));
        self.writes.store(0, Ordering::Relaxed);
        self.look_every.store(look_every, Ordering::Relaxed);
        locked(&self.differs).take();
    }
}

/// How a transaction ended.
fn outcome<R>(result: &Result<R, StoreError>) -> &'static str {
    match result {
        Ok(_) => "done",
        Err(StoreError::Busy(_)) => "busy",
        Err(StoreError::Refused(_)) => "refused",
        Err(StoreError::Unknown(_)) => "unknown",
        Err(StoreError::Unreadable(_)) => "unreadable",
        Err(StoreError::Schema(_)) => "of another schema",
    }
}

/// A connection beside the store: whoever empties the file, copies it and brings the copy back.
struct Aside {
    connection: Connection,
    tables: Vec<String>,
}

impl Aside {
    const TABLES: &str = "SELECT name FROM main.sqlite_schema WHERE type = 'table' \
         AND name NOT LIKE 'sqlite%' AND name NOT LIKE '_sqlx%'";

    fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        // A table is emptied at once where nobody looks at each row.
        connection.execute_batch(
            "PRAGMA foreign_keys = off; PRAGMA synchronous = off; PRAGMA temp_store = memory",
        )?;
        let names =
            connection.prepare(Self::TABLES)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>();
        let aside = Self { connection, tables: names? };
        aside.each(&["CREATE TABLE temp.{} AS SELECT * FROM main.{} LIMIT 0"])?;
        Ok(aside)
    }

    /// Runs statements for each table, `{}`, in one transaction.
    fn each(&self, statements: &[&str]) -> rusqlite::Result<()> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        for table in &self.tables {
            for statement in statements {
                self.connection.prepare_cached(&statement.replace("{}", table))?.execute([])?;
            }
        }
        self.connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }

    fn run(&self, statements: &[&str]) {
        self.each(statements).expect("nobody else is at the file");
    }
}

/// What two equal histories came to.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What both came to.
    pub ended: Ended,
    /// Transactions that wrote.
    pub writes: u64,
    /// What went wrong.
    pub met: Met,
}

/// A database file for many histories, one after another.
pub struct File {
    path: PathBuf,
    time: Time,
    twins: Arc<Twins>,
}

impl File {
    /// A new file with the newest schema, in memory where the system offers that: a COMMIT waits for the disk there, too, and the
    /// disk is fast.
    pub fn new() -> Result<Self, Box<dyn std::error::Error>> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let shared_memory = Path::new("/dev/shm");
        let folder = if shared_memory.is_dir() { shared_memory.to_owned() } else { std::env::temp_dir() };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("payonce-histories-{}-{number}.db", std::process::id()));
        let time = Time::default();
        let runtime = runtime::Builder::new_current_thread().enable_time().build()?;
        let options = SqliteOptions { clock: Some(time.of_store()), readers: 1, ..SqliteOptions::new(&path) };
        let store = runtime.block_on(SqlStore::open(options))?;
        let aside = Aside::open(&path)?;
        aside.connection.set_prepared_statement_cache_capacity(aside.tables.len() * 5 + 2);
        let twins = Twins {
            store,
            runtime,
            aside: Mutex::new(aside),
            memory: Mutex::new(Arc::new(MemoryStore::new(time.of_store()))),
            writes: AtomicU64::new(0),
            look_every: AtomicU64::new(LOOK_EVERY),
            differs: Mutex::new(None),
        };
        Ok(Self { path, time, twins: Arc::new(twins) })
    }

    /// The history of a seed in memory and over this file; where they differ, its story until then.
    pub fn compare(&self, worlds: Worlds, seed: u64) -> Result<Compared, String> {
        let drawn = |backing, time, tells| {
            let mut choices = Choices::from_seed(seed);
            World::over(backing, time, worlds.size(&mut choices), choices, tells).run()
        };
        let time = Time::default();
        let memory = Backing::Memory(Arc::new(MemoryStore::new(time.of_store())));
        let (ended, world) = drawn(memory, time, false);
        let over_file = |look_every, tells| {
            let time = self.emptied(look_every);
            drawn(Backing::Sqlite(Arc::clone(&self.twins)), time, tells)
        };
        let (on_file, found) = over_file(LOOK_EVERY, false);
        let agree = self.twins.look(&found.rows).and_then(|()| {
            let same = alike(&ended) == alike(&on_file) && world.rows == found.rows;
            if same {
                Ok(())
            } else {
                Err(format!("{} in memory, {} over SQLite", told(&ended), told(&on_file)))
            }
        });
        match agree {
            Ok(()) => {
                let writes = self.twins.writes.load(Ordering::Relaxed);
                Ok(Compared { ended, writes, met: found.met })
            }
            Err(difference) => {
                let (_, world) = over_file(1, true);
                Err(format!("{difference}\n{}", world.story.lines().join("\n")))
            }
        }
    }

    /// The file without a row, and its clock where it began.
    fn emptied(&self, look_every: u64) -> Time {
        self.time.begin_again();
        self.twins.empty(&self.time, look_every);
        self.time.clone()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        for beside in ["", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(beside);
            let _nobody_reads_it_again = std::fs::remove_file(path);
        }
    }
}

fn told(ended: &Ended) -> String {
    let broken = ended.broken.as_ref().map_or("whole".to_owned(), Broken::to_string);
    format!("{broken} after {} steps, as {:x}", ended.steps, ended.hash)
}

/// What must be the same whatever the store.
fn alike(ended: &Ended) -> (&Option<Broken>, u64, u64, &[u32]) {
    (&ended.broken, ended.steps, ended.hash, &ended.decisions)
}

/// The rows that differ, table by table.
fn differences(found: &Rows, expected: &Rows) -> Option<String> {
    if found == expected {
        return None;
    }
    let mut all = Vec::new();
    if found.heartbeat != expected.heartbeat {
        all.push(format!("heartbeat: {:?}, not {:?}", found.heartbeat, expected.heartbeat));
    }
    macro_rules! compare {
        ($($table:ident),+) => {
            $(compare(&mut all, stringify!($table), &found.$table, &expected.$table);)+
        };
    }
    compare!(
        accounts, keys, checkouts, intents, operations, attempts, charges, effects, sweeps, strangers,
        journal, inbox
    );
    Some(all.join("\n"))
}

fn compare<K: Ord + Debug, V: Clone + PartialEq + Debug>(
    all: &mut Vec<String>,
    table: &str,
    found: &Table<K, V>,
    expected: &Table<K, V>,
) {
    let changed = found.iter().filter(|(key, row)| expected.get(key) != Some(row));
    all.extend(changed.map(|(key, row)| format!("{table}: SQLite has {row:?}, not {:?}", expected.get(key))));
    let missing = expected.iter().filter(|(key, _)| found.get(key).is_none());
    all.extend(missing.map(|(_, row)| format!("{table}: SQLite has no {row:?}")));
}
