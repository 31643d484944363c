//! The one writer of a SQLite file. A commit costs an fsync, so it gathers what waits into one transaction, each member in its
//! own savepoint, and tells nobody before the COMMIT.
//!
//! SQLite may roll back the whole transaction on FULL, IOERR or NOMEM; a SAVEPOINT would then silently open a new one. So after
//! any error the member's savepoint is rolled back by name: if SQLite does not know it any more, the batch is gone, and every
//! member runs again alone: flows find by key, fence or version whether they were applied.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::FutureExt;
use rusqlite::Connection;
use tokio::{
    runtime,
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::{
    SqliteOptions,
    session::{SqliteSession, run},
};
use crate::{
    ApiKeyKind, Clock, Flow, MerchantRecord, StoreError,
    sql::{SessionError, SqlDirectory, SqlTables},
    tables::Abort,
};

/// Transactions that may wait; the next one waits for a place, and is told "busy" when its patience ends.
const QUEUE: usize = 1024;
/// Members of one batch: bounds how long the first waits for the last.
const MAX_MEMBERS: usize = 64;
/// Runs of one flow before its race is called endless.
const MAX_RUNS: usize = 16;
/// Longest wait for members that came to the last batch and may come to this one: what a flush costs at least on any disk, it
/// saves.
const LONGEST_GATHERING: Duration = Duration::from_millis(2);

/// Sends transactions to the writer's thread.
pub(super) struct Writer {
    queue: mpsc::Sender<Box<dyn Member>>,
    patience: Duration,
    commits: Arc<AtomicU64>,
}

impl Writer {
    /// Starts the thread; it ends when the last sender is gone.
    pub(super) fn start(connection: Connection, options: &SqliteOptions) -> Result<Self, StoreError> {
        let (queue, members) = mpsc::channel(QUEUE);
        let (clock, commits) = (options.clock.clone(), Arc::default());
        let last = Last { members: 0, commit_took: Duration::ZERO };
        let gathering = Gathering { connection, clock, commits: Arc::clone(&commits), last };
        let refused = |error: std::io::Error| StoreError::Refused(Arc::new(error));
        // Its only waits are for the queue.
        let runtime = runtime::Builder::new_current_thread().enable_time().build().map_err(refused)?;
        let thread = std::thread::Builder::new().name("sqlite-writer".to_owned());
        thread.spawn(move || runtime.block_on(gathering.run(members))).map_err(refused)?;
        Ok(Self { queue, patience: options.patience, commits })
    }

    /// COMMITs that succeeded so far.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Runs a flow as a member of some batch.
    pub(super) async fn run<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Box::new(FlowMember { flow, result: None, reply: Some(reply) })).await?;
        answer.await.unwrap_or_else(|error| Err(StoreError::Unknown(Arc::new(error))))
    }

    pub(super) async fn put_merchant(
        &self,
        merchant: MerchantRecord,
        keys: Vec<([u8; 32], ApiKeyKind)>,
    ) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Box::new(MerchantMember { merchant, keys, reply: Some(reply) })).await?;
        answer.await.unwrap_or_else(|error| Err(StoreError::Unknown(Arc::new(error))))
    }

    async fn enqueue(&self, member: Box<dyn Member>) -> Result<(), StoreError> {
        match tokio::time::timeout(self.patience, self.queue.send(member)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(StoreError::Busy(None)),
            Err(elapsed) => Err(StoreError::Busy(Some(Arc::new(elapsed)))),
        }
    }
}

/// One transaction in the queue.
#[async_trait]
trait Member: Send {
    /// Runs the body inside the open savepoint and keeps its result.
    async fn run(&mut self, connection: &mut Connection, clock: Option<Clock>) -> Result<(), Abort>;

    /// Tells the kept result, or why there is none. Whoever asked may be gone: the work is done all the same.
    fn tell(&mut self, outcome: Result<(), StoreError>);
}

struct FlowMember<R> {
    flow: Flow<R>,
    result: Option<R>,
    reply: Option<oneshot::Sender<Result<R, StoreError>>>,
}

#[async_trait]
impl<R: Send + 'static> Member for FlowMember<R> {
    async fn run(&mut self, connection: &mut Connection, clock: Option<Clock>) -> Result<(), Abort> {
        let mut session = SqliteSession { connection };
        let mut tables = SqlTables { session: &mut session, clock };
        self.result = Some((self.flow)(&mut tables).await?);
        Ok(())
    }

    fn tell(&mut self, outcome: Result<(), StoreError>) {
        let result = outcome.and_then(|()| self.result.take().ok_or(StoreError::Busy(None)));
        if let Some(reply) = self.reply.take() {
            // An asker that went away reads the result by its key.
            let _gone = reply.send(result);
        }
    }
}

struct MerchantMember {
    merchant: MerchantRecord,
    keys: Vec<([u8; 32], ApiKeyKind)>,
    reply: Option<oneshot::Sender<Result<(), StoreError>>>,
}

#[async_trait]
impl Member for MerchantMember {
    async fn run(&mut self, connection: &mut Connection, _: Option<Clock>) -> Result<(), Abort> {
        let mut session = SqliteSession { connection };
        let put = SqlDirectory { session: &mut session }.put(&self.merchant, &self.keys).await;
        put.map_err(|error| match error {
            SessionError::Conflict => {
                Abort::Failed(StoreError::Schema(
                    "an API key belongs to another merchant already: was a merchant's id changed? It must stay; or the key is used twice"
                        .to_owned(),
                ))
            }
            SessionError::Failed(error) => Abort::Failed(error),
        })
    }

    fn tell(&mut self, outcome: Result<(), StoreError>) {
        if let Some(reply) = self.reply.take() {
            let _gone = reply.send(outcome);
        }
    }
}

/// How a member's part of a batch ended.
enum Part {
    /// Kept, until the COMMIT.
    Kept,
    /// Undone; the others are not touched.
    Undone(StoreError),
    /// The whole transaction is gone.
    BatchLost(StoreError),
}

/// The last batch: how many may come to the next one, and what it is worth to wait for them.
struct Last {
    /// Those who were in it, and those who came during its commit.
    members: usize,
    /// What its commit took.
    commit_took: Duration,
}

struct Gathering {
    connection: Connection,
    clock: Option<Clock>,
    commits: Arc<AtomicU64>,
    last: Last,
}

impl Gathering {
    async fn run(mut self, mut queue: mpsc::Receiver<Box<dyn Member>>) {
        while let Some(first) = queue.recv().await {
            self.batch(first, &mut queue).await;
        }
    }

    async fn batch(&mut self, first: Box<dyn Member>, queue: &mut mpsc::Receiver<Box<dyn Member>>) {
        let mut next = Some(first);
        if let Err(error) = self.execute("BEGIN IMMEDIATE").await {
            // All that waited have waited as long: the next ones try afresh.
            while let Some(mut member) = next.take() {
                member.tell(Err(error.clone()));
                next = queue.try_recv().ok();
            }
            return;
        }
        let mut kept: Vec<Box<dyn Member>> = Vec::new();
        while let Some(mut member) = next.take() {
            match self.part(member.as_mut()).await {
                Part::Kept => kept.push(member),
                Part::Undone(error) => member.tell(Err(error)),
                Part::BatchLost(error) => {
                    // Nothing of the batch is there, and nothing was told: the one that broke it hears why, the others go on.
                    member.tell(Err(error));
                    return self.each_alone(kept, false).await;
                }
            }
            if kept.len() < MAX_MEMBERS {
                next = self.waiting(queue, kept.len()).await;
            }
        }
        let began = Instant::now();
        let committed = self.commit().await;
        self.last = Last { members: kept.len() + queue.len(), commit_took: began.elapsed() };
        match committed {
            Ok(()) => kept.iter_mut().for_each(|member| member.tell(Ok(()))),
            Err(error) => {
                tracing::warn!(%error, members = kept.len(), "a gathered commit failed; its members run again alone");
                self.leave_transaction().await;
                self.each_alone(kept, true).await;
            }
        }
    }

    /// One member in its savepoint. A race inside is run again; within a batch the winner's rows are visible.
    async fn part(&mut self, member: &mut dyn Member) -> Part {
        for _ in 0..MAX_RUNS {
            if let Err(error) = self.execute("SAVEPOINT member").await {
                return Part::BatchLost(error);
            }
            let aborted = match body(member, &mut self.connection, self.clock.clone()).await {
                Ok(()) => match self.execute("RELEASE member").await {
                    Ok(()) => return Part::Kept,
                    Err(error) => return Part::BatchLost(error),
                },
                Err(aborted) => aborted,
            };
            let undone = self.execute("ROLLBACK TO member").await.and(self.execute("RELEASE member").await);
            match (aborted, undone) {
                (Abort::Raced, Ok(())) => {}
                (Abort::Failed(error), Ok(())) => return Part::Undone(error),
                // The savepoint is unknown: SQLite has rolled back everything.
                (Abort::Failed(error), Err(_)) | (Abort::Raced, Err(error)) => return Part::BatchLost(error),
            }
        }
        Part::Undone(StoreError::Busy(None))
    }

    /// Every member in a transaction of its own, after its batch was lost. `unknown`: the COMMIT itself failed, so that a
    /// member which cannot be run again must not be told that nothing happened.
    async fn each_alone(&mut self, members: Vec<Box<dyn Member>>, unknown: bool) {
        self.leave_transaction().await;
        for mut member in members {
            let outcome = self.alone(member.as_mut()).await;
            member.tell(outcome.map_err(|error| match error {
                StoreError::Busy(Some(cause)) | StoreError::Refused(cause) if unknown => {
                    StoreError::Unknown(cause)
                }
                StoreError::Busy(_)
                | StoreError::Refused(_)
                | StoreError::Unknown(_)
                | StoreError::Unreadable(_)
                | StoreError::Schema(_) => error,
            }));
        }
    }

    async fn alone(&mut self, member: &mut dyn Member) -> Result<(), StoreError> {
        self.execute("BEGIN IMMEDIATE").await?;
        let outcome = match self.part(member).await {
            Part::Kept => self.commit().await.map_err(|error| match error {
                StoreError::Busy(Some(cause)) | StoreError::Refused(cause) => StoreError::Unknown(cause),
                StoreError::Busy(None)
                | StoreError::Unknown(_)
                | StoreError::Unreadable(_)
                | StoreError::Schema(_) => error,
            }),
            Part::Undone(error) | Part::BatchLost(error) => Err(error),
        };
        if outcome.is_err() {
            self.leave_transaction().await;
        }
        outcome
    }

    async fn commit(&mut self) -> Result<(), StoreError> {
        self.execute("COMMIT").await?;
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Back to no transaction, whether SQLite has ended it already or not.
    async fn leave_transaction(&mut self) {
        let _ended_already = self.execute("ROLLBACK").await;
    }

    async fn execute(&mut self, sql: &'static str) -> Result<(), StoreError> {
        run(&self.connection, sql)
    }

    /// The next member, if one comes soon. Where fewer are here than came the last time, half a flush is worth waiting for more.
    async fn waiting(
        &self,
        queue: &mut mpsc::Receiver<Box<dyn Member>>,
        kept: usize,
    ) -> Option<Box<dyn Member>> {
        if let Ok(member) = queue.try_recv() {
            return Some(member);
        }
        if kept >= self.last.members {
            return None;
        }
        let patience = (self.last.commit_took / 2).min(LONGEST_GATHERING);
        tokio::time::timeout(patience, queue.recv()).await.ok().flatten()
    }
}

/// Runs a member's body. One that panics is undone like one that failed: the writer, and with it every other write, lives on.
async fn body(
    member: &mut dyn Member,
    connection: &mut Connection,
    clock: Option<Clock>,
) -> Result<(), Abort> {
    let run = AssertUnwindSafe(member.run(connection, clock)).catch_unwind();
    run.await.unwrap_or_else(|_panic| {
        Err(Abort::Failed(StoreError::Refused(Arc::new(std::io::Error::other(
            "a transaction's body panicked",
        )))))
    })
}
