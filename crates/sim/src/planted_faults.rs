//! Faults planted on purpose: each is chosen, and histories are played until one breaks an invariant.

use planted::Fault;

use crate::{
    check::Broken,
    explore::{BOUNDS, explore},
    histories::{Violation, Worlds, play_all},
};

/// What came of one.
#[derive(Clone, Debug)]
pub struct Hunted {
    /// Its name.
    pub name: &'static str,
    /// What it breaks, in words.
    pub breaks: &'static str,
    /// The layers that were off with it.
    pub with: Vec<&'static str>,
    /// What found it; none if nothing did.
    pub found: Option<Found>,
}

/// The first history that a planted fault broke.
#[derive(Clone, Debug)]
pub struct Found {
    /// What it broke.
    pub broken: Broken,
    /// Of which worlds it is.
    pub worlds: Worlds,
    /// Its seed.
    pub seed: u64,
    /// How many had been played with it.
    pub after: u64,
}

/// Histories that are played in all worlds before more are played in the first.
const ROUND: u64 = 20_000;
/// How much of a round is played in each world, in percent: what shows only after a restore shows seldom.
const SHARES: [(Worlds, u64); 8] = [
    (Worlds::Drawn, 34),
    (Worlds::Supported, 8),
    (Worlds::Set, 12),
    (Worlds::Returning, 8),
    (Worlds::Moving, 6),
    (Worlds::Mistaken, 6),
    (Worlds::Restoring, 10),
    (Worlds::Overtaken, 16),
];

/// Hunts each of them, with at most so many histories, of which there is one at least.
pub fn hunt(faults: &[Fault], most: u64, threads: usize, mut tell: impl FnMut(&Hunted)) -> Vec<Hunted> {
    let mut all = Vec::new();
    for fault in faults {
        plant(*fault);
        let mut found = None;
        let mut played = 0;
        let a_round = ROUND.min(most);
        'found: for round in 0..most.div_ceil(a_round) {
            for (worlds, percent) in SHARES {
                let share = (a_round * percent).div_ceil(100);
                let begins = round * share;
                let plays = share.min(most - played);
                let told = play_all(worlds, begins..begins + plays, threads, true);
                if let Some(Violation { seed, broken, .. }) = told.violations.into_iter().next() {
                    found = Some(Found { broken, worlds, seed, after: played + seed - begins + 1 });
                    break 'found;
                }
                played += plays;
            }
        }
        planted::choose(&[]);
        let with = fault.with().iter().map(|layer| layer.name()).collect();
        let hunted = Hunted { name: fault.name(), breaks: fault.breaks(), with, found };
        tell(&hunted);
        all.push(hunted);
    }
    all
}

/// Plants this one, and the layers off that hide it.
pub fn plant(fault: Fault) {
    let mut chosen = vec![fault];
    chosen.extend(fault.with());
    planted::choose(&chosen);
}

/// One of each layer that small worlds reach: transitions, the making of things, claims, commits, the road to the provider, absence.
const IN_SMALL_WORLDS: [Fault; 8] = [
    Fault::UnansweredIsDeclined,
    Fault::OccupyingIndex,
    Fault::SilentHolderSentNothing,
    Fault::LeaseIgnored,
    Fault::FencePredicate,
    Fault::LastLookSkipped,
    Fault::NewKeyPerAttempt,
    Fault::OneListingProves,
];

/// What a small world told of a planted fault.
#[derive(Clone, Debug)]
pub struct Explored {
    /// Its name.
    pub name: &'static str,
    /// The first invariant that was found broken, in which world and after how many states; none if every course kept them all.
    pub found: Option<(Broken, &'static str, u64)>,
}

/// Explores the small worlds with each of some faults.
pub fn explore_planted(threads: usize, most_states: u64, mut tell: impl FnMut(&Explored)) -> bool {
    let mut all_found = true;
    for fault in IN_SMALL_WORLDS {
        let mut chosen = vec![fault];
        chosen.extend(fault.with());
        planted::choose(&chosen);
        let found = BOUNDS.iter().find_map(|bounds| {
            let explored = explore(bounds, threads, most_states);
            explored.broken.map(|(broken, _)| (broken, bounds.name, explored.states))
        });
        planted::choose(&[]);
        all_found &= found.is_some();
        tell(&Explored { name: fault.name(), found });
    }
    all_found
}
