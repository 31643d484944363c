//! Many histories on several threads, and what they met.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use clap::ValueEnum;
use payment::StateName;
use serde::{Deserialize, Serialize};

use crate::{
    check::Broken,
    choices::Choices,
    fault::Fault,
    world::{Ended, Met, Size, World},
};

/// Seeds that a thread takes at once.
const SHARE: u64 = 64;
/// Violations that are kept; a product that is broken through and through has too many to read.
const MAX_VIOLATIONS: usize = 20;

/// Which worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Worlds {
    /// Each seed draws its own size and its own faults.
    #[default]
    Drawn,
    /// One server whose database becomes an old copy again and again.
    Restoring,
    /// Two servers of a merchant who takes another account.
    Moving,
    /// Two servers with a bank that takes another sum.
    Mistaken,
    /// Two servers, others who hold and take money for their orders, and support with the bank's dashboard before it.
    Supported,
    /// Two servers whose database's clock is set.
    Set,
    /// One server whose backup is from before its merchant took another account.
    Returning,
    /// One server whose database becomes an old copy while what it sent is on its way.
    Overtaken,
    /// Two servers, two tabs, one checkout; each seed draws its own faults.
    Small,
}

/// A history that broke an invariant.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Its seed.
    pub seed: u64,
    /// What broke.
    pub broken: Broken,
    /// Its decisions.
    pub decisions: Vec<u32>,
}

/// What many histories came to.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Histories.
    pub histories: u64,
    /// Steps before everything was healed.
    pub steps: u64,
    /// In how many somebody had pressed Pay before that.
    pub submitted: u64,
    /// How often each fault happened, by the state of the newest intent; the last column is before there is one.
    pub met: Vec<[u64; StateName::ALL.len() + 1]>,
    /// What broke.
    pub violations: Vec<Violation>,
    /// How many histories broke something.
    pub broken: u64,
}

impl Told {
    fn new() -> Self {
        Self { met: vec![[0; StateName::ALL.len() + 1]; Fault::ALL.len()], ..Self::default() }
    }

    fn add(&mut self, seed: u64, ended: Ended, met: &Met) {
        self.histories += 1;
        self.steps += ended.steps;
        self.submitted += u64::from(ended.submitted);
        for (sum, met) in self.met.iter_mut().zip(met) {
            for (sum, met) in sum.iter_mut().zip(met) {
                *sum += u64::from(*met);
            }
        }
        if let Some(broken) = ended.broken {
            self.broken += 1;
            if self.violations.len() < MAX_VIOLATIONS {
                self.violations.push(Violation { seed, broken, decisions: ended.decisions });
            }
        }
    }

    fn join(&mut self, other: Self) {
        self.histories += other.histories;
        self.steps += other.steps;
        self.submitted += other.submitted;
        self.broken += other.broken;
        for (sum, met) in self.met.iter_mut().zip(&other.met) {
            for (sum, met) in sum.iter_mut().zip(met) {
                *sum += met;
            }
        }
        self.violations.extend(other.violations);
        self.violations.sort_by_key(|violation| violation.seed);
        self.violations.truncate(MAX_VIOLATIONS);
    }

    /// How often a fault happened.
    pub fn times(&self, fault: Fault) -> u64 {
        self.met[fault as usize].iter().sum()
    }
}

/// A world that a seed decides everything of.
pub fn world(worlds: Worlds, seed: u64, tells: bool) -> World {
    world_of(worlds, Choices::from_seed(seed), tells)
}

/// A world that these decide everything of.
pub fn world_of(worlds: Worlds, mut choices: Choices, tells: bool) -> World {
    let size = match worlds {
        Worlds::Drawn => Size::drawn(&mut choices),
        Worlds::Restoring => Size::restoring(),
        Worlds::Moving => Size::moving(),
        Worlds::Mistaken => Size::mistaken(),
        Worlds::Supported => Size::supported(),
        Worlds::Set => Size::set(),
        Worlds::Returning => Size::returning(),
        Worlds::Overtaken => Size::overtaken(),
        Worlds::Small => Size::small(&mut choices),
    };
    World::in_memory(size, choices, tells)
}

/// Plays one history; a panic of the product breaks it, too.
pub fn play(world: World) -> (Ended, Met) {
    let played = catch_unwind(AssertUnwindSafe(|| {
        let (ended, world) = world.run();
        (ended, world.met)
    }));
    played.unwrap_or_else(|_| {
        let broken = Broken { invariant: crate::running::FAILS_BY_ITSELF, found: "it panicked".to_owned() };
        let ended =
            Ended { broken: Some(broken), steps: 0, submitted: false, hash: 0, decisions: Vec::new() };
        (ended, [[0; StateName::ALL.len() + 1]; Fault::ALL.len()])
    })
}

/// Plays the histories of these seeds on so many threads; stops soon after the first violation where one is enough.
pub fn play_all(worlds: Worlds, seeds: std::ops::Range<u64>, threads: usize, first_only: bool) -> Told {
    let (next, stop) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let work = || {
        let mut told = Told::new();
        while !stop.load(Ordering::Relaxed) {
            let from = next.fetch_add(SHARE, Ordering::Relaxed);
            if from >= seeds.end {
                break;
            }
            for seed in from..(from + SHARE).min(seeds.end) {
                let (ended, met) = play(world(worlds, seed, false));
                told.add(seed, ended, &met);
            }
            if first_only && told.broken > 0 {
                stop.store(true, Ordering::Relaxed);
            }
        }
        told
    };
    let mut all = Told::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            match thread.join() {
                Ok(told) => all.join(told),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all
}
