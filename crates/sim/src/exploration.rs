//! The small worlds, every course of them, and what is told of it.

use crate::{
    alike::{as_drawn, by_meaning},
    explore::{
        BOUNDS, Bounds, COMPARED, DEEP, How, IN_TURN, WIDE, explore as explore_world, explore_by, merge,
        replay as replay_course,
    },
    prove::{THREADS, now},
};

/// States of one small world after which it is called too large to explore.
const MOST_STATES: u64 = 20_000_000;

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
