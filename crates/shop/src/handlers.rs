//! Answers to requests: extract, ask, hand to a page. Must never hold a rule of its own about money.

pub mod catalogue;
pub mod drawer;
pub mod mailbox;
pub mod missing;
pub mod orders;
pub mod stylesheet;
pub mod webhooks;
