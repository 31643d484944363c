//! The shop from outside: over HTTP, before stand-ins for the API and the bank.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on, in its helpers too")]

mod buying;
mod drawer;
mod fake_api;
mod fake_bank;
mod mailbox;
mod pages;
mod shipments;
mod signing;
mod support;
mod webhooks;
