//! The server as its callers see it: over HTTP, with a sandbox bank beside it. Each test is named after what is promised, and tells
//! the rule (R), fault or attack it is about. Money is counted in the bank's own ledger, never in the server's answers.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise, in its helpers too")]

mod access;
mod address;
mod bodies;
mod contract;
mod crashes;
mod disconnects;
mod extras;
mod fields;
mod files;
mod intruders;
mod keys;
mod live;
mod notifications;
mod orders;
mod outbox;
mod pages;
mod plain_forms;
mod provider_faults;
mod secrets;
mod shares;
mod store_faults;
mod submits;
mod support;
mod sweeps;
mod trail;
