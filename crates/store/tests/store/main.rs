//! The tests of the store, one binary: the conformance suite over every store, and what is special to SQLite.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod commands;
mod conformance;
mod sqlite;
mod world;
