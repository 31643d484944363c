//! The server: command line, configuration, routes, background tasks. It runs the engine on tokio, each step of it in a task of
//! its own, so that a client that goes away never cancels anything.

mod answers;
mod assets;
pub mod background;
pub mod cli;
mod clock;
pub mod commands;
pub mod config;
mod effects;
#[cfg(feature = "failpoints")]
pub mod failpoints;
pub mod folder;
pub mod http;
mod ids;
pub mod live;
pub mod net;
pub mod setup;
