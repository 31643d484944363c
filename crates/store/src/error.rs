//! What can go wrong with a transaction, as its caller has to treat it.

use std::sync::Arc;

/// A transaction brought no result. Expected results (a loser, a replay) are values, not errors.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing was applied, and the same call may work later: busy, no connection, a lost race without end.
    #[error("the database is busy")]
    Busy(#[source] Option<Arc<dyn std::error::Error + Send + Sync>>),
    /// Nothing was applied: the database refuses writes (full, read-only, damaged).
    #[error("the database does not take writes")]
    Refused(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// It may have been applied: read again by the key before anything else.
    #[error("whether the database applied the change is unknown")]
    Unknown(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// A row does not read as what this version writes.
    #[error("a stored row cannot be read: {0}")]
    Unreadable(String),
    /// The schema is not this version's.
    #[error("the database's schema: {0}")]
    Schema(String),
}
