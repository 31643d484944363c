//! The command line of the built binary: what stops a start, what wins, and that no secret is ever said.

mod bank;
mod doctor;
mod folder;
mod support;
mod values;
