//! Finds a Rust that can build for WebAssembly. Never installs one: that is `script/setup`'s work.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The only target the frontend is built for.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// A folder with a `cargo` and a `rustc` of one kind, able to build for [`TARGET`].
pub(crate) struct WasmToolchain {
    folder: PathBuf,
}

impl WasmToolchain {
    /// The first folder of PATH that will do: rustup's where it has the target, else a distribution's.
    /// `scratch` takes the output of the trial.
    pub(crate) fn find(scratch: &Path) -> Result<Self> {
        let path = env::var_os("PATH").context("PATH is not set")?;
        for folder in env::split_paths(&path) {
            if folder.join("cargo").is_file() && has_std(&folder.join("rustc"), scratch)? {
                return Ok(Self { folder });
            }
        }
        bail!("no rustc on PATH can build for {TARGET}: run `rustup target add {TARGET}`, or `script/setup`")
    }

    /// Its cargo, made to find its own rustc first.
    pub(crate) fn cargo(&self) -> Command {
        let rest = env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.folder.clone()).chain(env::split_paths(&rest));
        let path = env::join_paths(folders).expect("folders that came out of PATH can go back into it");
        let mut cargo = Command::new(self.folder.join("cargo"));
        cargo.env("PATH", path).env_remove("RUSTC").env_remove("RUSTDOC");
        cargo
    }
}

/// Whether it compiles something that needs std: a std of another version lies there and does not work.
fn has_std(rustc: &Path, scratch: &Path) -> Result<bool> {
    if !rustc.is_file() {
        return Ok(false);
    }
    std::fs::create_dir_all(scratch)?;
    let mut trial = Command::new(rustc)
        .args(["--crate-name=trial", "--crate-type=lib", "--emit=metadata", "--target", TARGET, "--out-dir"])
        .arg(scratch)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run {}", rustc.display()))?;
    let source = trial.stdin.take().context("rustc has no input")?;
    // A rustc that gives up early closes its input; its exit status says all that matters.
    { source }.write_all(b"pub fn text() -> String { String::new() }").ok();
    Ok(trial.wait()?.success())
}
