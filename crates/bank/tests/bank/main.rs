//! The bank as its clients see it: over HTTP, on a clock that the test moves.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod armed_faults;
mod cards;
mod confirmation;
mod faults;
mod keys;
mod ledger;
mod notifications;
mod notify_faults;
mod payments;
mod receiver;
mod refunds;
mod support;
