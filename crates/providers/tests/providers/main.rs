//! Providers over real sockets on loopback: what leaves, when, and how what comes back is read.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod last_look;
mod loopback;
mod wire;
