//! Connections that only read. A reader works in its caller's own task: a read takes microseconds, and a way to another thread and
//! back takes longer. Whoever goes away in mid-read gives back a clean connection.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::StoreError;

/// The connections.
#[derive(Clone)]
pub struct Readers {
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
    size: usize,
    patience: Duration,
}

impl Readers {
    pub(super) fn new(connections: Vec<Connection>, patience: Duration) -> Self {
        let size = connections.len();
        let permits = Arc::new(Semaphore::new(size));
        Self { idle: Arc::new(Mutex::new(connections)), permits, size, patience }
    }

    /// A connection, as soon as there is one; "busy" when patience ends.
    pub async fn acquire(&self) -> Result<Reader, StoreError> {
        let permit = tokio::time::timeout(self.patience, Arc::clone(&self.permits).acquire_owned()).await;
        match permit {
            Ok(Ok(permit)) => Ok(self.reader(permit)),
            Ok(Err(closed)) => Err(StoreError::Busy(Some(Arc::new(closed)))),
            Err(elapsed) => Err(StoreError::Busy(Some(Arc::new(elapsed)))),
        }
    }

    /// A connection, if there is one.
    pub fn try_acquire(&self) -> Option<Reader> {
        let permit = Arc::clone(&self.permits).try_acquire_owned().ok()?;
        Some(self.reader(permit))
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many of them nobody has.
    pub fn num_idle(&self) -> usize {
        self.permits.available_permits()
    }

    fn reader(&self, permit: OwnedSemaphorePermit) -> Reader {
        let connection = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = connection.expect("as many connections as permits");
        Reader { connection: Some(connection), idle: Arc::clone(&self.idle), _permit: permit }
    }
}

/// A connection in somebody's hands.
pub struct Reader {
    connection: Option<Connection>,
    idle: Arc<Mutex<Vec<Connection>>>,
    /// Given back after the connection: fields are dropped in this order, and after `drop`.
    _permit: OwnedSemaphorePermit,
}

impl Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("taken in drop only")
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("taken in drop only")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if !connection.is_autocommit() {
            // Whoever read went away in the midst of it.
            let _clean_or_unusable = connection.execute_batch("ROLLBACK");
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}
