//! Measures the released server from outside, over HTTP, beside a bare program that makes the same commits. Judges by ratios and
//! limits that do not depend on the machine. Shares no code with the server.

mod bare;
mod bytes;
mod flushes;
mod http;
mod load;
mod merchant;
mod processes;
mod recovery;
mod report;
mod run;
mod usage;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};
use serde::Serialize;

/// How fast, how small, how thrifty the server is.
#[derive(Parser)]
#[command(name = "script/bench")]
struct Cli {
    /// Seconds of the longest measurement; the others take a third of it
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// The server's binary
    #[arg(long, default_value = "target/release/payonce", value_name = "FILE")]
    payonce: PathBuf,
    /// Databases are made in this folder; it has to lie on a disk
    #[arg(long, default_value = "target", value_name = "FOLDER")]
    scratch: PathBuf,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Subcommand)]
enum Part {
    /// Only what ten thousand payments that are confirmed at once do to a fresh one
    Crowd,
    /// The bare program alone, on a new database in FOLDER
    #[command(hide = true)]
    Bare { way: bare::Way, folder: PathBuf },
}

fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    if let Some(Part::Bare { way, folder }) = cli.part {
        println!("{}", serde_json::to_string(&bare::run(way, &folder, cli.seconds)?)?);
        return Ok(ExitCode::SUCCESS);
    }
    // One thread: what the clients take, the server has not.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if let Some(Part::Crowd) = cli.part {
        let crowd = runtime.block_on(run::crowd(&cli.payonce, &cli.scratch))?;
        return tell(&report::crowd_table(&crowd), &crowd, report::broken_by_crowd(&crowd));
    }
    let figures = runtime.block_on(run::run(&cli.payonce, &cli.scratch, cli.seconds))?;
    tell(&report::table(&figures), &figures, report::broken(&figures))
}

/// The table, the broken limits, and as the last line all of it as JSON.
fn tell(table: &str, figures: &impl Serialize, broken: impl IntoIterator<Item = String>) -> Result<ExitCode> {
    print!("{table}");
    let mut ended = ExitCode::SUCCESS;
    for limit in broken {
        println!("BROKEN: {limit}");
        ended = ExitCode::FAILURE;
    }
    println!("{}", serde_json::to_string(figures)?);
    Ok(ended)
}
