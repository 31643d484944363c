//! Faults planted on purpose: each is chosen, and histories are played until one breaks an invariant.

use planted::Fault;

use crate::{
    check::Broken,
    histories::{Worlds, play_all},
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
    /// The first invariant that was found broken, and after how many histories; none if it was not found.
    pub found: Option<(Broken, u64)>,
}

/// How much of a hunt is played in each world, in percent: what shows only after a restore shows seldom.
const SHARES: [(Worlds, u64); 4] =
    [(Worlds::Drawn, 20), (Worlds::Restoring, 60), (Worlds::Moving, 10), (Worlds::Mistaken, 10)];

/// Hunts each of them, with at most so many histories.
pub fn hunt(most: u64, threads: usize, mut tell: impl FnMut(&Hunted)) -> Vec<Hunted> {
    let mut all = Vec::new();
    for fault in Fault::ALL {
        let mut chosen = vec![*fault];
        chosen.extend(fault.with());
        planted::choose(&chosen);
        let mut found = None;
        let mut played = 0;
        for (worlds, percent) in SHARES {
            let share = most / 100 * percent;
            let told = play_all(worlds, 0..share, threads, true);
            if let Some(first) = told.violations.into_iter().next() {
                found = Some((first.broken, played + first.seed + 1));
                break;
            }
            played += share;
        }
        planted::choose(&[]);
        let with = fault.with().iter().map(|layer| layer.name()).collect();
        let hunted = Hunted { name: fault.name(), breaks: fault.breaks(), with, found };
        tell(&hunted);
        all.push(hunted);
    }
    all
}
