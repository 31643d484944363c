//! Histories that once broke something, as short as they can be: played again by every test run.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    check::Broken,
    histories::{Worlds, world},
    prove::tell_end,
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

/// Makes what a seed breaks short, tells it, and writes it into a folder, named after its worlds and its seed; whether it is there.
pub fn write(worlds: Worlds, seed: u64, folder: &Path) -> bool {
    let (ended, _) = world(worlds, seed, false).run();
    let Some(broken) = ended.broken else {
        println!("seed {seed} breaks nothing");
        return false;
    };
    let decisions = shrink::shrink(ended.decisions, shrink::breaks(worlds, broken.invariant));
    let regression = told(worlds, seed, decisions, &broken);
    regression.story.iter().for_each(|line| println!("{line}"));
    let path = folder.join(format!("{}-{seed}.json", worlds.name()));
    let text = serde_json::to_string_pretty(&regression).map_err(std::io::Error::other);
    let written = text.and_then(|text| {
        std::fs::create_dir_all(folder)?;
        std::fs::write(&path, text + "\n")
    });
    match &written {
        Ok(()) => println!("written to {}; to read it again: sim retell {0}", path.display()),
        Err(error) => println!("{} cannot be written: {error}", path.display()),
    }
    written.is_ok()
}

/// Plays a history that was kept, and tells its story; whether it breaks nothing any more.
///
/// # Errors
/// Fails where the file cannot be read, or is none of these.
pub fn retell(file: &Path) -> std::io::Result<bool> {
    let kept: Regression = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let (ended, world) = shrink::play(kept.worlds, &kept.decisions, true);
    world.story.lines().iter().for_each(|line| println!("{line}"));
    Ok(tell_end(ended.broken.as_ref(), ended.steps))
}

/// A history with its story.
fn told(worlds: Worlds, seed: u64, decisions: Vec<u32>, broken: &Broken) -> Regression {
    let (_, world) = shrink::play(worlds, &decisions, true);
    let story = world.story.lines().to_vec();
    Regression { invariant: broken.invariant, found: broken.found.clone(), worlds, seed, decisions, story }
}
