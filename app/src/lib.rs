//! The payment page and its island: what the shopper sees. Without a feature it is the logic alone; `ssr` adds whole
//! pages as text, `hydrate` the island in the browser.
//! Must never see a card number on the server, decide about money, or show an amount it was not given.

mod browser;
pub mod card;
pub mod form;
mod money;
pub mod stage;
pub mod visit;
mod widget;
pub mod wire;

#[cfg(feature = "ssr")]
mod pages;
#[cfg(feature = "ssr")]
mod words;

pub use widget::*;

#[cfg(feature = "ssr")]
pub use pages::{Assets, Message, Notice, Page, render_message};
#[cfg(feature = "ssr")]
pub use words::{Lang, Messages};
