//! The proof as a whole: histories in memory and over SQLite, the small worlds, the planted faults, one table, and one line of JSON.

use std::{collections::BTreeMap, path::Path, time::Instant};

use payment::StateName;
use serde::Serialize;

use crate::{
    check::Broken,
    exploration::explore,
    fault::Fault,
    histories::{self, Told, Worlds, play_all},
    regression, seldom,
    sqlite::{File, THE_STORES_AGREE},
};

/// What an intent may be in, and that there is none.
const STATES: usize = StateName::ALL.len() + 1;
/// Threads that play.
pub(crate) const THREADS: usize = 2;
/// Histories after which a planted fault counts as missed.
pub const MOST_HUNTED: u64 = 100_000;
/// Of so many histories in memory, one is played over SQLite, too, and one in each of the other worlds.
const OVER_SQLITE: u64 = 20;
/// The worlds that are made for what seeds seldom draw.
const OTHERS: [Worlds; 8] = [
    Worlds::Small,
    Worlds::Restoring,
    Worlds::Moving,
    Worlds::Mistaken,
    Worlds::Supported,
    Worlds::Set,
    Worlds::Returning,
    Worlds::Overtaken,
];
/// Where what broke is kept.
const FOUND: &str = "target/regressions";

/// The last line.
#[derive(Serialize)]
struct Line {
    histories: u64,
    steps: u64,
    /// How often each happened.
    faults: BTreeMap<Fault, u64>,
    states: u64,
    planted: usize,
    found: usize,
    violations: u64,
    /// Pairs of a fault and a state that should have been met and were not.
    never_met: usize,
    /// Targets that crashed while they were fuzzed before this; none where nothing was fuzzed.
    crashes: Option<u64>,
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
pub fn prove(seeds: u64, from: u64, long: bool, crashes: Option<u64>) -> bool {
    let began = now();
    let others = seeds.div_ceil(OVER_SQLITE);
    println!("histories in memory, from seed {from}");
    let drawn = play(Worlds::Drawn, from, seeds);
    let mut all = drawn.clone();
    for worlds in OTHERS {
        all.join(play(worlds, from, others));
    }
    let over_sqlite = play_over_sqlite(from, others);
    let never_met = tell_met(&drawn.met, &all.met, seeds);
    all.join(over_sqlite);
    let states = explore(long);
    let hunt = hunt(MOST_HUNTED, &[]);
    let violations = all.broken + u64::from(states.is_none());
    let faults = Fault::ALL.iter().map(|fault| (*fault, all.times(*fault))).collect();
    let line = Line {
        histories: all.histories,
        steps: all.steps,
        faults,
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
    let found = hunt.planted > 0 && hunt.missed.is_empty();
    violations == 0 && found && never_met == 0 && crashes.is_none_or(|crashes| crashes == 0)
}

/// How many a second it was.
pub(crate) fn rate(count: u64, began: Instant) -> u64 {
    count * 1_000 / u64::try_from(began.elapsed().as_millis()).unwrap_or(1).max(1)
}

/// Plays these worlds, and tells what came of it.
fn play(worlds: Worlds, from: u64, count: u64) -> Told {
    let began = now();
    let told = play_all(worlds, from..from.saturating_add(count), THREADS, false);
    let per_second = rate(told.histories, began);
    let Told { histories, steps, submitted, broken, .. } = &told;
    println!(
        "{}: {histories} histories, {per_second} a second, {steps} steps, {broken} broken",
        worlds.words()
    );
    println!("  in {submitted} somebody pressed Pay while things went wrong");
    for violation in &told.violations {
        let (seed, name) = (violation.seed, worlds.name());
        println!("  seed {seed}: {}", violation.broken);
        println!("    to read it: sim replay {seed} --worlds {name}");
    }
    if let Some(first) = told.violations.first() {
        println!("  the first, as short as it can be:");
        regression::write(worlds, first.seed, Path::new(FOUND));
    }
    told
}

/// Plays histories over SQLite beside memory: every other one is drawn, the rest are of the other worlds in turn.
fn play_over_sqlite(from: u64, count: u64) -> Told {
    let began = now();
    let some = |numbers: std::ops::Range<u64>| {
        let mut told = Told::new();
        let file = match File::new() {
            Ok(file) => file,
            Err(error) => {
                let found = format!("no file: {error}");
                told.breaks(Worlds::Drawn, from, Broken { invariant: THE_STORES_AGREE, found });
                return told;
            }
        };
        for number in numbers {
            let (seed, turn) = (from.saturating_add(number), number as usize / 2 % OTHERS.len());
            let worlds = if number.is_multiple_of(2) { Worlds::Drawn } else { OTHERS[turn] };
            match file.compare(worlds, seed) {
                Ok(compared) => told.add(worlds, seed, compared.ended, &compared.met),
                Err(found) => told.breaks(worlds, seed, Broken { invariant: THE_STORES_AGREE, found }),
            }
        }
        told
    };
    let mut told = std::thread::scope(|scope| {
        let first = scope.spawn(|| some(0..count / 2));
        let mut told = some(count / 2..count);
        match first.join() {
            Ok(first) => told.join(first),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        told
    });
    told.histories = count;
    println!(
        "over SQLite: {count} histories, {} a second, {} broken or not the same",
        rate(count, began),
        told.broken
    );
    for violation in &told.violations {
        let (seed, name) = (violation.seed, violation.worlds.name());
        println!("  seed {seed}: {}", violation.broken);
        println!("    to read it: sim replay {seed} --worlds {name} --sqlite");
    }
    told
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

/// Hunts these planted faults, all of them if none is named, and tells of each what found it.
#[cfg(planted)]
pub fn hunt(most: u64, faults: &[planted::Fault]) -> Hunt {
    let faults = if faults.is_empty() { planted::Fault::ALL } else { faults };
    println!(
        "planted faults, at most {most} histories each (to read one: sim replay SEED --worlds WORLDS --planted NAME):"
    );
    let hunted = crate::planted_faults::hunt(faults, most, THREADS, |hunted| {
        let with =
            if hunted.with.is_empty() { String::new() } else { format!(" with {}", hunted.with.join(", ")) };
        match &hunted.found {
            Some(found) => {
                let (invariant, after) = (found.broken.invariant, found.after);
                let (seed, worlds) = (found.seed, found.worlds.name());
                println!(
                    "  {:30} invariant {invariant:>2} after {after:>6} histories, seed {seed} of {worlds}{with}",
                    hunted.name
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

/// Tells the story of a seed, over SQLite if so wanted; whether it broke nothing.
pub fn replay(worlds: Worlds, seed: u64, over_sqlite: bool) -> bool {
    if over_sqlite {
        let compared = File::new().map_err(|error| format!("no file: {error}"));
        return match compared.and_then(|file| file.compare(worlds, seed)) {
            Ok(compared) => tell_end(compared.ended.broken.as_ref(), compared.ended.steps),
            Err(found) => {
                println!("{found}");
                false
            }
        };
    }
    let (ended, world) = histories::world(worlds, seed, true).run();
    for line in world.story.lines() {
        println!("{line}");
    }
    tell_end(ended.broken.as_ref(), ended.steps)
}

/// The last line of a story; whether it broke nothing.
pub(crate) fn tell_end(broken: Option<&Broken>, steps: u64) -> bool {
    match broken {
        Some(broken) => println!("{steps} steps; broken: {broken}"),
        None => println!("{steps} steps; nothing is broken"),
    }
    broken.is_none()
}
