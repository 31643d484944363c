//! What a test does to this process at a place it names: `PAYONCE_FAILPOINT=drive.answered=kill` (or `stop`, or `error`), once.
//! Compiled with the feature `failpoints` only.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{Result, anyhow, bail};
use rustix::process::{Signal, getpid, kill_process};

/// The variable.
pub const VARIABLE: &str = "PAYONCE_FAILPOINT";

/// By then every thread of a process that was told to stop stands still.
const UNTIL_ALL_STOP: Duration = Duration::from_millis(500);

/// Arms the place that the variable names.
pub fn arm() -> Result<()> {
    let Ok(text) = std::env::var(VARIABLE) else { return Ok(()) };
    let (name, action) =
        text.split_once('=').ok_or_else(|| anyhow!("{VARIABLE}: not PLACE=ACTION: {text}"))?;
    match action {
        "kill" => on_arrival(name, Signal::KILL),
        "stop" => on_arrival(name, Signal::STOP),
        "error" => fail::cfg(name, "1*return").map_err(|error| anyhow!("{VARIABLE}: {error}")),
        other => bail!("{VARIABLE}: {other} is not kill, stop or error"),
    }
}

fn on_arrival(name: &str, signal: Signal) -> Result<()> {
    let arrived = AtomicBool::new(false);
    let act = move || {
        if !arrived.swap(true, Ordering::SeqCst) {
            kill_process(getpid(), signal).expect("a process may signal itself");
            // Another thread may take a SIGSTOP, and this one would go on until it hears of it.
            std::thread::sleep(UNTIL_ALL_STOP);
        }
    };
    fail::cfg_callback(name, act).map_err(|error| anyhow!("{VARIABLE}: {error}"))
}
