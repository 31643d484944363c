//! The test world: a sandbox bank and a server on ports of their own, and what a test asks of them.

mod bank;
mod call;
mod child;
mod doubling;
mod endpoint;
mod events;
mod gate;
mod mail_server;
mod raw;
mod world;
mod wrong;

pub use bank::{DECLINED, GOOD, MIR, Sandbox, THREE_DS, VISA};
pub use call::{Call, Reply};
pub use child::{Child, SMTP_PASSWORD, WEBHOOK_KEY, WEBHOOK_PATH};
pub use endpoint::{Answers, Arrived, Endpoint};
pub use events::Events;
pub use mail_server::{Fate, MailServer};
pub use raw::Raw;
pub use world::{
    ACCOUNT_SECRET, ALPHA, ALPHA_ID, ALPHA_LIVE, ALPHA_PUBLISHABLE, BETA, FRAME_ORIGIN, NOTIFY_PATH,
    NOTIFY_SECRET, PUBLIC_URL, RETURN_ORIGIN, SECRET, Setup, World, at_once, client, eventually, order, text,
};
pub use wrong::{create, create_text, with};
