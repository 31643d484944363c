//! The shop from outside: over HTTP, before a stand-in for the API.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on, in its helpers too")]

mod buying;
mod pages;
mod support;
