//! What visitors see: HTML by maud, which escapes whatever it is given; words from `locales/`.
//! Must never hold a script, an inline style (the policy forbids both) or a claim about money that the API did
//! not make.

pub mod catalogue;
pub mod layout;
pub mod order;
pub mod trouble;
