//! Plays histories, explores small worlds, hunts planted faults, and tells what came of it.

use std::{path::PathBuf, process::ExitCode};

#[cfg(planted)]
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, value_parser};
#[cfg(planted)]
use planted::Fault;
use sim::{exploration, histories::Worlds, prove, regression, speed};

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
        /// Histories in memory; SQLite and each of the other worlds get a twentieth of them.
        #[arg(long, default_value_t = 200_000, value_parser = value_parser!(u64).range(1..))]
        seeds: u64,
        /// The first seed.
        #[arg(long, default_value_t = 0)]
        from: u64,
        /// The largest of the small worlds, too.
        #[arg(long)]
        long: bool,
        /// Targets that crashed while they were fuzzed before: the last line tells them.
        #[arg(long)]
        crashes: Option<u64>,
    },
    /// Tells the story of one seed.
    Replay {
        #[command(flatten)]
        history: History,
        /// Over SQLite beside memory: its story only where they differ.
        #[arg(long)]
        sqlite: bool,
    },
    /// Tells the story of a history that was kept.
    Retell {
        /// The file.
        file: PathBuf,
    },
    /// Makes the history of a seed that breaks something as short as it can be, and writes it into this folder.
    Shrink {
        #[command(flatten)]
        history: History,
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
        #[arg(long, default_value_t = 100_000, value_parser = value_parser!(u64).range(1..))]
        histories: u64,
    },
    /// Plants each fault, and plays histories until it is found.
    #[cfg(planted)]
    Hunt {
        /// Most histories for each.
        #[arg(long, default_value_t = prove::MOST_HUNTED, value_parser = value_parser!(u64).range(1..))]
        most: u64,
        /// Their names; none for all.
        #[arg(value_parser = fault())]
        only: Vec<Fault>,
    },
}

/// Which history.
#[derive(Args)]
struct History {
    /// The seed.
    seed: u64,
    /// In which worlds.
    #[arg(long, value_enum, default_value_t)]
    worlds: Worlds,
    /// With this fault planted, as a hunt for it plays them.
    #[cfg(planted)]
    #[arg(long, value_parser = fault())]
    planted: Option<Fault>,
}

impl History {
    /// Plants what is to be planted; which worlds, and which seed.
    fn planted(self) -> (Worlds, u64) {
        #[cfg(planted)]
        self.planted.into_iter().for_each(sim::planted_faults::plant);
        (self.worlds, self.seed)
    }
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    // Where many histories are played a panic is a finding among others, and told as one.
    if !matches!(command, Command::Replay { .. } | Command::Retell { .. }) {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let fine = match command {
        Command::Prove { seeds, from, long, crashes } => prove::prove(seeds, from, long, crashes),
        Command::Replay { history, sqlite } => {
            let (worlds, seed) = history.planted();
            prove::replay(worlds, seed, sqlite)
        }
        Command::Retell { file } => regression::retell(&file).unwrap_or_else(|error| {
            eprintln!("{}: {error}", file.display());
            false
        }),
        Command::Shrink { history, folder } => {
            let (worlds, seed) = history.planted();
            regression::write(worlds, seed, &folder)
        }
        Command::Speed { histories } => speed::speed(histories),
        Command::Explore { long } => exploration::explore(long).is_some(),
        #[cfg(planted)]
        Command::Hunt { most, only } => prove::hunt(most, &only).missed.is_empty(),
    };
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A planted fault, by its name.
#[cfg(planted)]
fn fault() -> impl TypedValueParser<Value = Fault> {
    let named = |name: String| Fault::ALL.iter().copied().find(|fault| fault.name() == name);
    PossibleValuesParser::new(Fault::ALL.iter().map(|fault| fault.name()))
        .try_map(move |name| named(name).ok_or("no planted fault has this name"))
}
