//! Plays histories, explores small worlds, hunts planted faults, and tells what came of it.

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use sim::{prove, regression};

/// The engine in a simulated world: docs/proof.md.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything: random histories in memory and over SQLite, the small worlds, the planted faults. The last line is JSON.
    Prove {
        /// Histories in memory; SQLite gets a twentieth of them.
        #[arg(long, default_value_t = 200_000)]
        seeds: u64,
        /// The first seed.
        #[arg(long, default_value_t = 0)]
        from: u64,
    },
    /// Tells the story of one seed.
    Replay {
        /// The seed.
        seed: u64,
    },
    /// Makes the history of a seed that breaks something as short as it can be, and writes it into this folder.
    Shrink {
        /// The seed.
        seed: u64,
        /// Where regressions are kept.
        #[arg(long, default_value = "crates/sim/regressions")]
        folder: PathBuf,
    },
    /// Explores the small worlds.
    Explore,
    /// Plants each fault, and plays histories until it is found.
    #[cfg(planted)]
    Hunt {
        /// Most histories for each.
        #[arg(long, default_value_t = prove::MOST_HUNTED)]
        most: u64,
    },
}

fn main() -> ExitCode {
    let fine = match Cli::parse().command {
        Command::Prove { seeds, from } => prove::prove(seeds, from),
        Command::Replay { seed } => prove::replay(seed),
        Command::Shrink { seed, folder } => regression::write(seed, &folder),
        Command::Explore => prove::explore().is_none(),
        #[cfg(planted)]
        Command::Hunt { most } => prove::hunt(most).missed.is_empty(),
    };
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
