//! The engine in a test world: a store on a clock in the test's hand, a bank with a ledger of its own, several engines. Each test
//! is named after the rule or the fault it proves, and runs over the store in memory and over SQLite.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod absence;
mod alarms;
mod answers;
mod bank;
mod check;
mod clocks;
mod deadline;
mod dying;
mod flaky;
mod follow_ups;
mod full_disk;
mod hands;
mod inbox;
mod keys;
mod late_money;
mod leases;
mod merchant;
mod one_account;
mod other_clocks;
mod out_of_turn;
mod outbox;
mod outside;
mod overtaken;
mod provider_faults;
mod random;
mod rejected;
mod reports;
mod retries;
mod returned;
mod review;
mod shopper;
mod stuck;
mod sweep;
mod swept_refunds;
mod told_once;
mod two_intents;
mod unknown;
mod world;

/// Makes a test of each scenario for each store; after each, what is always true is checked.
macro_rules! scenarios {
    ($($name:ident),+ $(,)?) => {
        mod memory {
            $(#[test] fn $name() { $crate::world::in_memory(super::$name); })+
        }
        mod sqlite {
            $(#[test] fn $name() { $crate::world::on_sqlite(super::$name); })+
        }
    };
}
use scenarios;
