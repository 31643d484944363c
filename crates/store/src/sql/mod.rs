//! The store in SQL, written once: named statements table by table, over sessions of whichever database.

mod attempt;
mod charge;
mod checkout;
mod idempotency_key;
mod inbox;
mod intent;
mod journal;
mod merchant;
mod operation;
mod outbox;
mod rows;
mod session;
mod sweep;
mod tables;

use std::sync::Arc;

use async_trait::async_trait;
use payment::MerchantId;

use crate::{Backend, Flow, Rows, StoreError};

pub(crate) use merchant::SqlDirectory;
pub(crate) use session::{Row, Session, SessionError, Value};
pub(crate) use tables::SqlTables;

/// What differs between databases: how transactions begin, gather, commit and repeat.
#[async_trait]
pub trait Dialect: Send + Sync + 'static {
    /// Runs a flow that writes; its result is told only when it is committed.
    async fn write<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError>;

    /// Runs a flow that only reads, on one snapshot.
    async fn read<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError>;
}

/// The merchants, a line each, so that a statement tells with `replace` whether it is one of them: a form that every database
/// has for a list of any length. No name holds a line break.
fn lines(merchants: &[MerchantId]) -> Value {
    let names = merchants.iter().map(|merchant| format!("{merchant}\n"));
    if merchants.is_empty() { "".into() } else { format!("\n{}", names.collect::<String>()).into() }
}

/// The store over a database.
pub struct SqlStore<D> {
    dialect: D,
}

impl<D> SqlStore<D> {
    /// Over an opened database.
    pub fn new(dialect: D) -> Self {
        Self { dialect }
    }

    /// The database.
    pub fn dialect(&self) -> &D {
        &self.dialect
    }
}

impl<D: Dialect> SqlStore<D> {
    /// All rows as they are now, on one snapshot: for tests and simulation, which compare stores by them.
    #[doc(hidden)]
    pub async fn rows(&self) -> Result<Rows, StoreError> {
        self.dialect.read(Arc::new(|tables| tables.rows())).await
    }
}

#[async_trait]
impl<D: Dialect> Backend for SqlStore<D> {
    async fn write<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        self.dialect.write(flow).await
    }

    async fn read<R: Send + 'static>(&self, flow: Flow<R>) -> Result<R, StoreError> {
        self.dialect.read(flow).await
    }
}
