//! Real processes that are killed, stopped and started again in the midst of a payment (faults 20 to 36). `payonce serve` and
//! `payonce bank` run as their users run them; the demo shop is served by the test. What happened is read from those who cannot
//! be wrong about it: the bank's ledger, the shop's shipments, the mails. The server's own word is only compared with theirs.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise, in its helpers too")]

mod bank;
mod clocks;
mod endings;
mod gate;
mod kills;
mod pauses;
mod places;
mod process;
mod server;
mod shopper;
mod trial;
mod witnesses;
mod world;
