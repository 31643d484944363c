//! Many histories on several threads, and what they met.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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

impl Worlds {
    /// Those of [`Size`], and what it draws.
    pub(crate) fn size(self, choices: &mut Choices) -> Size {
        match self {
            Self::Drawn => Size::drawn(choices),
            Self::Restoring => Size::restoring(),
            Self::Moving => Size::moving(),
            Self::Mistaken => Size::mistaken(),
            Self::Supported => Size::supported(),
            Self::Set => Size::set(),
            Self::Returning => Size::returning(),
            Self::Overtaken => Size::overtaken(),
            Self::Small => Size::small(choices),
        }
    }

    /// As the command line names them.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// What they are made for.
    pub fn words(self) -> &'static str {
        match self {
            Self::Drawn => "worlds that seeds draw",
            Self::Restoring => "one server whose backups are restored",
            Self::Moving => "two servers of a merchant who takes another account",
            Self::Mistaken => "two servers with a bank that takes another sum",
            Self::Supported => "two servers, strangers and support",
            Self::Set => "two servers whose database's clock is set",
            Self::Returning => "one server whose backup is from before a change of account",
            Self::Overtaken => "one server whose backup is restored while what it sent is on its way",
            Self::Small => "two servers, two tabs, one checkout",
        }
    }
}

/// A history that broke an invariant.
#[derive(Clone, Debug)]
pub struct Violation {
    /// In which worlds.
    pub worlds: Worlds,
    /// Its seed.
    pub seed: u64,
    /// What broke.
    pub broken: Broken,
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
    pub(crate) fn new() -> Self {
        Self { met: vec![[0; StateName::ALL.len() + 1]; Fault::ALL.len()], ..Self::default() }
    }

    /// One more history.
    pub(crate) fn add(&mut self, worlds: Worlds, seed: u64, ended: Ended, met: &Met) {
        self.histories += 1;
        self.steps += ended.steps;
        self.submitted += u64::from(ended.submitted);
        for (sum, met) in self.met.iter_mut().zip(met) {
            for (sum, met) in sum.iter_mut().zip(met) {
                *sum += u64::from(*met);
            }
        }
        if let Some(broken) = ended.broken {
            self.breaks(worlds, seed, broken);
        }
    }

    /// A history broke something.
    pub(crate) fn breaks(&mut self, worlds: Worlds, seed: u64, broken: Broken) {
        self.broken += 1;
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(Violation { worlds, seed, broken });
        }
    }

    pub(crate) fn join(&mut self, other: Self) {
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
    let size = worlds.size(&mut choices);
    World::in_memory(size, choices, tells)
}

/// Plays the histories of these seeds on so many threads; stops soon after the first violation where one is enough.
pub fn play_all(worlds: Worlds, seeds: std::ops::Range<u64>, threads: usize, first_only: bool) -> Told {
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let count = seeds.end.saturating_sub(seeds.start);
    let work = || {
        let mut told = Told::new();
        while !stop.load(Ordering::Relaxed) {
            let taken = next.fetch_add(SHARE, Ordering::Relaxed);
            if taken >= count {
                break;
            }
            for seed in seeds.start + taken..seeds.start + (taken + SHARE).min(count) {
                let (ended, world) = world(worlds, seed, false).run();
                told.add(worlds, seed, ended, &world.met);
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
