//! The proof as a whole: histories in memory and over SQLite, the small worlds, the planted faults, one table, and one line of JSON.

use std::time::Instant;

use payment::StateName;
use serde::Serialize;

use crate::{
    alike::{as_drawn, by_meaning},
    choices::Choices,
    explore::{
        BOUNDS, Bounds, COMPARED, DEEP, How, IN_TURN, WIDE, explore as explore_world, explore_by, merge,
        replay as replay_course,
    },
    fault::Fault,
    histories::{self, Told, Worlds, play_all},
    seldom,
    sqlite::File,
    world::Size,
};

/// What an intent may be in, and that there is none.
const STATES: usize = StateName::ALL.len() + 1;
/// Threads that play.
const THREADS: usize = 2;
/// States of one small world after which it is called too large to explore.
const MOST_STATES: u64 = 20_000_000;
/// Histories after which a planted fault counts as missed.
pub const MOST_HUNTED: u64 = 100_000;
/// Of so many histories in memory, one is played over SQLite, too.
const OVER_SQLITE: u64 = 20;

/// The last line.
#[derive(Serialize)]
struct Line {
    histories: u64,
    steps: u64,
    faults: u64,
    states: u64,
    planted: usize,
    found: usize,
    violations: u64,
    /// Pairs of a fault and a state that should have been met and were not.
    never_met: usize,
    /// Targets that crashed while they were fuzzed before this.
    crashes: u64,
    seconds: u64,
}

/// What the planted faults came to.
#[derive(Default)]
pub struct Hunt {
    /// How many were planted.
    pub planted: usize,
    /// Those that no history found.
    pub missed: Vec<&'static str>,
}

#[expect(clippy::disallowed_methods, reason = "how long it takes is told, and decides nothing")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Runs everything, the largest of the small worlds only where `long`; whether all is well. So many targets `crashes` that were fuzzed
/// before are told, too.
pub fn prove(seeds: u64, from: u64, long: bool, crashes: u64) -> bool {
    let began = now();
    std::panic::set_hook(Box::new(|_| {}));
    println!("histories in memory: {seeds}, from seed {from}");
    let told = play_all(Worlds::Drawn, from..from.saturating_add(seeds), THREADS, false);
    let per_second = rate(told.histories, began);
    println!("  {} steps, {per_second} histories a second, {} broken", told.steps, told.broken);
    println!("  in {} somebody pressed Pay while things went wrong", told.submitted);
    tell_violations(&told);
    let (mut others, mut others_broken) = (0, 0);
    let mut met_anywhere = told.met.clone();
    for (worlds, what) in [
        (Worlds::Small, "two servers, two tabs, one checkout"),
        (Worlds::Restoring, "one server whose backups are restored"),
        (Worlds::Moving, "two servers of a merchant who takes another account"),
        (Worlds::Mistaken, "two servers with a bank that takes another sum"),
        (Worlds::Supported, "two servers, strangers and support"),
        (Worlds::Set, "two servers whose database's clock is set"),
        (Worlds::Returning, "one server whose backup is from before a change of account"),
        (Worlds::Overtaken, "one server whose backup is restored while what it sent is on its way"),
    ] {
        let began = now();
        let told = play_all(worlds, from..from.saturating_add(seeds / OVER_SQLITE), THREADS, false);
        let per_second = rate(told.histories, began);
        println!("{what}: {} histories, {per_second} a second, {} broken", told.histories, told.broken);
        tell_violations(&told);
        (others, others_broken) = (others + told.histories, others_broken + told.broken);
        met_anywhere
            .iter_mut()
            .flatten()
            .zip(told.met.iter().flatten())
            .for_each(|(sum, times)| *sum += times);
    }
    let (on_file, differing) = over_sqlite(from, seeds / OVER_SQLITE);
    let never_met = tell_met(&told.met, &met_anywhere, seeds);
    let states = explore(long);
    let hunt = hunt(MOST_HUNTED, &[]);
    let violations = told.broken + others_broken + differing + u64::from(states.is_none());
    let line = Line {
        histories: told.histories + others + on_file,
        steps: told.steps,
        faults: told.met.iter().flatten().sum(),
        states: states.unwrap_or(0),
        planted: hunt.planted,
        found: hunt.planted - hunt.missed.len(),
        violations,
        never_met,
        crashes,
        seconds: began.elapsed().as_secs(),
    };
    match serde_json::to_string(&line) {
        Ok(line) => println!("{line}"),
        Err(error) => println!("{error}"),
    }
    violations == 0 && hunt.missed.is_empty() && never_met == 0 && crashes == 0
}

/// How many a second it was.
pub(crate) fn rate(count: u64, began: Instant) -> u64 {
    count * 1_000 / u64::try_from(began.elapsed().as_millis()).unwrap_or(1).max(1)
}

fn tell_violations(told: &Told) {
    for violation in &told.violations {
        println!("  seed {}: {}", violation.seed, violation.broken);
    }
}

/// Plays histories over SQLite beside memory; how many, and how many were not the same or broke something.
fn over_sqlite(from: u64, count: u64) -> (u64, u64) {
    let began = now();
    let play = |seeds: std::ops::Range<u64>| {
        let file = match File::new() {
            Ok(file) => file,
            Err(error) => {
                println!("  no file: {error}");
                return 1;
            }
        };
        let mut broken = 0;
        for seed in seeds {
            let found = match file.compare(seed, |choices: &mut Choices| Size::drawn(choices)) {
                Ok(compared) => compared.ended.broken.map(|broken| broken.to_string()),
                Err(differs) => Some(differs),
            };
            if let Some(found) = found {
                println!("  seed {seed} over SQLite: {found}");
                broken += 1;
            }
        }
        broken
    };
    let half = from.saturating_add(count / 2);
    let broken = std::thread::scope(|scope| {
        let first = scope.spawn(|| play(from..half));
        let second = play(half..from.saturating_add(count));
        first.join().unwrap_or(1) + second
    });
    println!(
        "over SQLite: {count} histories, {} a second, {broken} broken or not the same",
        rate(count, began)
    );
    (count, broken)
}

/// How often each fault was met, by the state of the newest intent, in the histories whose faults the seed draws, or, what those hardly meet,
/// anywhere; how many of them never were where they should have been.
fn tell_met(drawn: &[[u64; STATES]], anywhere: &[[u64; STATES]], histories: u64) -> usize {
    println!("faults, by the state of the newest intent:");
    let names: Vec<_> = StateName::ALL.iter().map(|state| state.as_str()).chain(["none yet"]).collect();
    println!("  {:48} {}", "", names.join(" "));
    let mut never = 0;
    for fault in Fault::ALL {
        let met = if seldom::is_elsewhere(*fault) { anywhere } else { drawn };
        let row = &met[*fault as usize];
        let cells: Vec<_> = names
            .iter()
            .zip(row)
            .map(|(name, times)| format!("{times:>width$}", width = name.len()))
            .collect();
        println!("  {:48} {}", fault.words(), cells.join(" "));
        if histories >= seldom::ENOUGH {
            for (state, times) in names.iter().zip(row) {
                if *times == 0 && !seldom::is_seldom(*fault, state) {
                    println!("  NEVER MET: {} while an intent is {state}", fault.words());
                    never += 1;
                }
            }
        }
    }
    never
}

/// Whether small worlds end in the same ways, with the same invariants, with and without what exploration leaves out; and have as many
/// states whichever way is taken first.
fn makes_no_difference() -> bool {
    COMPARED.iter().all(|bounds| {
        let began = now();
        let by = |threads, how| explore_by(bounds, threads, MOST_STATES, how);
        let all = by(THREADS, How { digest: as_drawn, every_order: true, ..How::default() });
        let [forwards, backwards] = [false, true].map(|backwards| by(1, How { backwards, ..How::default() }));
        let complete = [&all, &forwards, &backwards].iter().all(|explored| explored.complete);
        let same = complete
            && all.ends == forwards.ends
            && (forwards.states, &forwards.ends) == (backwards.states, &backwards.ends);
        println!(
            "{} of {} states stand for all: {}; {} ends, {} s; {}",
            forwards.states,
            all.states,
            bounds.name,
            all.ends.len(),
            began.elapsed().as_secs(),
            if same { "the same" } else { "NOT THE SAME" }
        );
        same
    })
}

/// Explores every small world, the largest only where `long`; how many states there are, or none where something broke, a world was too
/// large, or a planted fault was not found.
pub fn explore(long: bool) -> Option<u64> {
    if !makes_no_difference() {
        return None;
    }
    let mut states = 0;
    for bounds in BOUNDS {
        states += explore_one(bounds)?;
        if !goes_on_alike(bounds) {
            return None;
        }
    }
    let [two, three, five] = &IN_TURN;
    states += explore_one(two)? + explore_one(three)?;
    if !goes_on_alike(two) {
        return None;
    }
    if long {
        states += explore_one(five)?;
        states += explore_one(&WIDE)?;
        if !goes_on_alike(&WIDE) {
            return None;
        }
        states += explore_one(&DEEP)?;
    }
    explore_planted().then_some(states)
}

/// Explores a small world; how many states it has, or none where a course broke something or it was too large.
fn explore_one(bounds: &Bounds) -> Option<u64> {
    let began = now();
    let found = explore_world(bounds, THREADS, MOST_STATES);
    let whole = if found.complete { "complete" } else { "NOT COMPLETE" };
    println!("every course of {}: {whole}", bounds.name);
    println!("  {} states, {} courses, {} s", found.states, found.courses, began.elapsed().as_secs());
    if let Some((broken, decisions)) = found.broken {
        println!("  {broken}");
        tell_course(bounds, decisions);
    }
    found.complete.then_some(found.states)
}

fn tell_course(bounds: &Bounds, decisions: Vec<u32>) {
    for line in replay_course(bounds, decisions).1.story.lines() {
        println!("  {line}");
    }
}

/// Whether what is taken for one state in a small world goes on alike.
fn goes_on_alike(bounds: &Bounds) -> bool {
    let began = now();
    let merged = match merge(bounds, by_meaning) {
        Ok(merged) => merged,
        Err(broken) => {
            println!("  {broken}");
            return false;
        }
    };
    let [forwards, backwards] = merged.states;
    println!(
        "  {} courses came to a state that was known, of {forwards} forwards and {backwards} backwards, {} s",
        merged.compared,
        began.elapsed().as_secs()
    );
    for course in merged.differ.iter().flatten() {
        println!("  NOT ALIKE after one state:");
        tell_course(bounds, course.clone());
    }
    merged.differ.is_none() && forwards == backwards
}

/// Explores the small worlds with planted faults, and tells of each what found it; whether each was found.
#[cfg(planted)]
fn explore_planted() -> bool {
    println!("planted faults, in the small worlds:");
    crate::planted_faults::explore_planted(THREADS, MOST_STATES, |explored| match &explored.found {
        Some((broken, world, states)) => {
            println!(
                "  {:30} invariant {:>2} after {states:>6} states of {world}",
                explored.name, broken.invariant
            );
        }
        None => println!("  {:30} MISSED", explored.name),
    })
}

/// This build has no planted faults.
#[cfg(not(planted))]
fn explore_planted() -> bool {
    true
}

/// Hunts these planted faults, all of them if none is named, and tells of each what found it.
#[cfg(planted)]
pub fn hunt(most: u64, faults: &[planted::Fault]) -> Hunt {
    let faults = if faults.is_empty() { planted::Fault::ALL } else { faults };
    println!("planted faults, at most {most} histories each:");
    let hunted = crate::planted_faults::hunt(faults, most, THREADS, |hunted| {
        let with =
            if hunted.with.is_empty() { String::new() } else { format!(" with {}", hunted.with.join(", ")) };
        match &hunted.found {
            Some((broken, after)) => {
                println!(
                    "  {:30} invariant {:>2} after {after:>6} histories{with}",
                    hunted.name, broken.invariant
                );
            }
            None => println!("  {:30} MISSED{with}: {}", hunted.name, hunted.breaks),
        }
    });
    let missed = hunted.iter().filter(|hunted| hunted.found.is_none()).map(|hunted| hunted.name).collect();
    Hunt { planted: hunted.len(), missed }
}

/// This build has no planted faults.
#[cfg(not(planted))]
pub fn hunt(_: u64, _: &[planted::Fault]) -> Hunt {
    println!("planted faults: none in this build; it is made with --cfg planted");
    Hunt::default()
}

/// Tells the story of a seed; whether it broke nothing.
pub fn replay(worlds: Worlds, seed: u64) -> bool {
    let (ended, world) = histories::world(worlds, seed, true).run();
    for line in world.story.lines() {
        println!("{line}");
    }
    ended.broken.is_none()
}
