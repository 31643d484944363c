//! The sandbox bank: YooKassa's API v3 dialect over a ledger of its own, with faults on demand and a page where the
//! payer confirms. It is the independent witness of the money: it shares no type, no table and no code with the
//! rest of the project, and must never come to.

mod answer;
mod bank;
mod book;
mod call;
mod cards;
mod clerk;
mod clock;
mod confirm;
mod courier;
mod desk;
mod fault_kinds;
mod faults;
mod http;
mod ids;
mod keys;
mod ledger;
mod listing;
mod money;
mod notifications;
mod operations;
mod payment_rows;
mod payments;
mod refunds;
mod refusal;
mod requests;
mod serve;
mod tokens;

pub use bank::{Bank, Config};
pub use clock::Clock;
pub use ledger::{Ledger, OpenError};
