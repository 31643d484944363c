//! Counts what a program asks the disk to flush. strace stops it at those calls only (a filter in the kernel lets all others pass), so
//! that it runs nearly as fast as alone, and gathers as much.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

/// Where strace writes what it saw.
pub struct Flushes {
    log: PathBuf,
}

impl Flushes {
    /// Counts in a file of `folder`.
    pub fn in_folder(folder: &Path) -> Self {
        Self { log: folder.join("flushes.log") }
    }

    /// `program`, watched. It is the child of whoever starts this; strace steps aside.
    pub fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new("strace");
        command.args(["--daemonize", "--follow-forks", "--seccomp-bpf", "-qq", "--signal=none"]);
        command.args(["--trace=fsync,fdatasync", "--output"]).arg(&self.log).arg(program);
        command
    }

    /// Flushes up to now.
    pub fn count(&self) -> Result<usize> {
        let log = fs::read_to_string(&self.log).context("strace writes nothing")?;
        // A call that another thread's interrupts is written on two lines; the second has no bracket after the name.
        Ok(log.lines().filter(|line| line.contains("sync(")).count())
    }
}

/// Fails with words where strace is not there or may not watch.
pub fn check() -> Result<()> {
    let tried =
        Command::new("strace").args(["--seccomp-bpf", "-f", "-qq", "--trace=fdatasync", "true"]).output();
    let tried =
        tried.context("cannot run strace, which counts the flushes (Debian: apt-get install strace)")?;
    ensure!(tried.status.success(), "strace may not watch here: {}", String::from_utf8_lossy(&tried.stderr));
    Ok(())
}
