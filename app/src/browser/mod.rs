//! The browser as the island needs it: the page's elements, requests, storage, other tabs. Builds everywhere, runs in a
//! browser only.
//! Must never hold a rule.

pub(crate) mod memory;
pub(crate) mod net;
pub(crate) mod page;
pub(crate) mod show;
pub(crate) mod signals;
