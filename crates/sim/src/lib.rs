//! The engine in a simulated world: servers, tabs, the bank, receivers and clocks, all in one thread, every decision made by one
//! scheduler from one seed. It runs the very crates that serve shoppers; what is simulated, and what is not, says docs/proof.md.

pub mod act;
pub mod alike;
pub mod bank;
pub mod check;
pub mod choices;
pub mod desk;
pub mod events;
pub mod exploration;
pub mod explore;
pub mod fault;
pub mod heal;
pub mod histories;
pub mod merchants;
pub mod page;
pub mod periods;
pub mod person;
#[cfg(planted)]
pub mod planted_faults;
pub mod ports;
pub mod prove;
pub mod regression;
pub mod restore;
pub mod running;
pub mod seldom;
pub mod shrink;
pub mod size;
pub mod speed;
pub mod sqlite;
pub mod story;
pub mod support;
pub mod task;
pub mod time;
pub mod traffic;
pub mod wire;
pub mod world;
