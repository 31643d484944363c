//! What visitors see: HTML by maud, which escapes whatever it is given; words from `locales/`.
//! Must never hold an inline style (the policy forbids it), a script without which something is missing, or a claim about money that the API did
//! not make.

pub mod catalogue;
pub mod drawer;
pub mod layout;
pub mod mailbox;
pub mod order;
pub mod trouble;
