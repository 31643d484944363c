//! The binary: logging, runtime, exit code. Everything else is in the library.

use std::{
    io::{self, IsTerminal},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use payonce::{cli::Cli, commands};
use tokio::runtime;
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

/// Rendering a page can wait for a second task: one thread could wait for itself.
const MIN_THREADS: usize = 4;
/// Blocking work that is still running at the end gets this long.
const LAST_GRACE: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("payonce: {error}");
            error.chain().skip(1).for_each(|cause| eprintln!("  because: {cause}"));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    log_to_stderr()?;
    #[cfg(feature = "failpoints")]
    payonce::failpoints::arm()?;
    let provider = rustls::crypto::ring::default_provider().install_default();
    provider.map_err(|_| anyhow!("a TLS provider is installed already"))?;
    let threads =
        std::thread::available_parallelism().map_or(MIN_THREADS, |cores| cores.get().max(MIN_THREADS));
    let runtime = runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    let result = runtime.block_on(commands::run(cli));
    runtime.shutdown_timeout(LAST_GRACE);
    result
}

fn log_to_stderr() -> Result<()> {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env();
    let filter =
        filter.context("RUST_LOG is not usable; allowed: for example info, or warn,payonce=debug")?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    subscriber.try_init().map_err(|error| anyhow!(error))
}
