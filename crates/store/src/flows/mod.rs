//! The transactions' bodies: what is locked, checked and written, in which order. The same code over every database.
//!
//! Order of locks: the checkout's row first, always. Every flow can run again after a lost commit: its key, its fence or its
//! version tells it that it was already applied.

pub mod claim;
pub mod commit;
pub mod expire;
pub mod follow_up;
pub mod inbox;
pub mod journal;
pub mod keys;
pub mod open_checkout;
pub mod open_intent;
pub mod outbox;
pub mod reads;
pub mod review;
pub mod shopper;
pub mod submit;
pub mod sweep;

use crate::{StoreError, tables::Abort};

/// A write that an index or a precondition refused: the flow runs again and sees who was first.
fn won(applied: bool) -> Result<(), Abort> {
    if applied { Ok(()) } else { Err(Abort::Raced) }
}

/// A row that another row's foreign key promises.
fn promised<T>(row: Option<T>, what: &str) -> Result<T, Abort> {
    row.ok_or_else(|| Abort::Failed(StoreError::Unreadable(format!("{what} is missing"))))
}
