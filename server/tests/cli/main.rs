//! The command line of the built binary: what stops a start, what wins, and that no secret is ever said.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise, in its helpers too")]

mod bank;
mod demo;
mod doctor;
mod folder;
mod review;
mod support;
mod values;
