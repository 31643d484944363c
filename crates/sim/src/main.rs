//! Plays histories, explores small worlds, hunts planted faults, and tells what came of it.

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
#[cfg(planted)]
use planted::Fault;
use sim::{histories::Worlds, prove, regression, speed};

/// A history is many small objects that live shortly: a fifth of its time is spent on them with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
        /// The largest of the small worlds, too.
        #[arg(long)]
        long: bool,
        /// Targets that crashed while they were fuzzed: the last line tells them.
        #[arg(long, default_value_t = 0)]
        crashes: u64,
    },
    /// Tells the story of one seed.
    Replay {
        /// The seed.
        seed: u64,
        /// In which worlds.
        #[arg(long, value_enum, default_value_t)]
        worlds: Worlds,
        /// With this fault planted, as a hunt for it plays them.
        #[cfg(planted)]
        #[arg(long, value_parser = fault)]
        planted: Option<Fault>,
    },
    /// Makes the history of a seed that breaks something as short as it can be, and writes it into this folder.
    Shrink {
        /// The seed.
        seed: u64,
        /// In which worlds.
        #[arg(long, value_enum, default_value_t)]
        worlds: Worlds,
        /// Where regressions are kept.
        #[arg(long, default_value = "crates/sim/regressions")]
        folder: PathBuf,
    },
    /// Explores the small worlds.
    Explore {
        /// The largest of them, too.
        #[arg(long)]
        long: bool,
    },
    /// Tells how many histories of a small world are played in a second.
    Speed {
        /// Histories.
        #[arg(long, default_value_t = 100_000)]
        histories: u64,
    },
    /// Plants each fault, and plays histories until it is found.
    #[cfg(planted)]
    Hunt {
        /// Most histories for each.
        #[arg(long, default_value_t = prove::MOST_HUNTED)]
        most: u64,
        /// Their names; none for all.
        #[arg(value_parser = fault)]
        only: Vec<Fault>,
    },
}

fn main() -> ExitCode {
    let fine = match Cli::parse().command {
        Command::Prove { seeds, from, long, crashes } => prove::prove(seeds, from, long, crashes),
        #[cfg(not(planted))]
        Command::Replay { seed, worlds } => prove::replay(worlds, seed),
        #[cfg(planted)]
        Command::Replay { seed, worlds, planted } => {
            planted.into_iter().for_each(sim::planted_faults::plant);
            prove::replay(worlds, seed)
        }
        Command::Shrink { seed, worlds, folder } => regression::write(worlds, seed, &folder),
        Command::Speed { histories } => speed::speed(histories),
        Command::Explore { long } => prove::explore(long).is_some(),
        #[cfg(planted)]
        Command::Hunt { most, only } => prove::hunt(most, &only).missed.is_empty(),
    };
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(planted)]
fn fault(name: &str) -> Result<Fault, String> {
    Fault::ALL
        .iter()
        .copied()
        .find(|fault| fault.name() == name)
        .ok_or_else(|| "no planted fault has this name".to_owned())
}
