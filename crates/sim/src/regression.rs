//! Histories that once broke something, as short as they can be: played again by every test run.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    check::Broken,
    histories::{Worlds, world},
    shrink,
};

/// A history that once broke something.
#[derive(Debug, Serialize, Deserialize)]
pub struct Regression {
    /// What it broke.
    pub invariant: u8,
    /// What was found then.
    pub found: String,
    /// The worlds that it was found in.
    #[serde(default)]
    pub worlds: Worlds,
    /// The seed that it was found by.
    pub seed: u64,
    /// Its decisions; in worlds that are drawn, its size and its faults among them.
    pub decisions: Vec<u32>,
    /// What happened, for people.
    pub story: Vec<String>,
}

/// Makes what a seed breaks short and writes it into a folder, named after its seed; whether it broke anything.
pub fn write(worlds: Worlds, seed: u64, folder: &Path) -> bool {
    let (ended, _) = world(worlds, seed, false).run();
    let Some(broken) = ended.broken else {
        println!("seed {seed} breaks nothing");
        return false;
    };
    let decisions = shrink::shrink(ended.decisions, shrink::breaks(worlds, broken.invariant));
    let regression = told(worlds, seed, decisions, &broken);
    regression.story.iter().for_each(|line| println!("{line}"));
    let path = folder.join(format!("seed-{seed}.json"));
    let written = serde_json::to_string_pretty(&regression)
        .map_err(std::io::Error::other)
        .and_then(|text| std::fs::write(&path, text + "\n"));
    match written {
        Ok(()) => println!("written to {}", path.display()),
        Err(error) => println!("{} cannot be written: {error}", path.display()),
    }
    true
}

/// A history with its story.
fn told(worlds: Worlds, seed: u64, decisions: Vec<u32>, broken: &Broken) -> Regression {
    let (_, world) = shrink::play(worlds, &decisions, true);
    let story = world.story.lines().to_vec();
    Regression { invariant: broken.invariant, found: broken.found.clone(), worlds, seed, decisions, story }
}
