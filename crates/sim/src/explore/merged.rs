//! Whether states that are taken for one go on alike. A course ends where it comes to a state that is known: that leaves nothing out
//! only if each step from there comes to what the same step came to when the state was met first. What would show only later is looked
//! for by taking the choices backwards as well: most states are met by another course first then, and have to go on to the same ones.

use std::{
    collections::{BTreeSet, HashMap},
    panic::resume_unwind,
};

use super::{Bounds, How, begun};
use crate::{
    alike::{Digest, State, by_meaning},
    check::Broken,
    choices::Choices,
    world::{World, mix},
};

/// What came of it.
#[derive(Clone, Debug)]
pub struct Merged {
    /// States of the world that were seen, forwards and backwards.
    pub states: [usize; 2],
    /// Courses that came to one that was known, and were compared.
    pub compared: u64,
    /// Two courses to one state that do not go on alike.
    pub differ: Option<[Vec<u32>; 2]>,
}

/// Where a course has come to: its decisions, and the steps that they made.
#[derive(Clone, Debug, Default)]
struct Place {
    decisions: Vec<u32>,
    steps: usize,
}

/// What one step comes to.
enum Next {
    /// A state, and the world that is in it.
    State(State, Place, Box<World>),
    /// The end, healed and checked: what it left.
    End(State),
}

impl Next {
    fn state(&self) -> State {
        match self {
            Self::State(state, ..) | Self::End(state) => *state,
        }
    }
}

/// Goes through all states of a world, told apart by `digest`, forwards and backwards; wherever a course comes to one that is known, it is compared what follows.
///
/// # Errors
/// Fails with the first invariant that a course breaks.
pub fn merge(bounds: &Bounds, digest: Digest) -> Result<Merged, Broken> {
    let by = |backwards| go_through(bounds, How { digest, backwards, ..How::default() });
    let (forwards, backwards) = std::thread::scope(|scope| {
        let forwards = scope.spawn(|| by(false));
        let backwards = by(true);
        (forwards.join().unwrap_or_else(|panic| resume_unwind(panic)), backwards)
    });
    let (forwards, backwards) = (forwards?, backwards?);
    let between = || {
        let others = forwards.known.iter().filter_map(|(state, first)| {
            let other = backwards.known.get(state)?;
            (first.follow != other.follow).then(|| [first.decisions.clone(), other.decisions.clone()])
        });
        others.min_by_key(|[first, other]| first.len() + other.len())
    };
    Ok(Merged {
        states: [forwards.known.len(), backwards.known.len()],
        compared: forwards.compared + backwards.compared,
        differ: forwards.differ.clone().or_else(|| backwards.differ.clone()).or_else(between),
    })
}

/// All states that a world was seen in.
#[derive(Default)]
struct GoneThrough {
    known: HashMap<State, First>,
    compared: u64,
    differ: Option<[Vec<u32>; 2]>,
}

/// A state as it was met first.
struct First {
    decisions: Vec<u32>,
    /// All that one step from there comes to.
    follow: BTreeSet<State>,
}

fn go_through(bounds: &Bounds, how: How) -> Result<GoneThrough, Broken> {
    let begun = begun(bounds, how)?;
    let mut gone = GoneThrough::default();
    let mut open = vec![(begun.state(), Place::default())];
    // The world of the last that is open: a course that goes straight on is not played anew for each of its steps.
    let mut last = None;
    while let Some((state, place)) = open.pop() {
        let mut nexts = nexts(&begun, &place, last.take())?;
        let follow: BTreeSet<_> = nexts.iter().map(Next::state).collect();
        if let Some(first) = gone.known.get(&state) {
            gone.compared += 1;
            if follow != first.follow {
                gone.differ = Some([first.decisions.clone(), place.decisions]);
                break;
            }
            continue;
        }
        gone.known.insert(state, First { decisions: place.decisions, follow });
        if how.backwards {
            nexts.reverse();
        }
        for next in nexts {
            if let Next::State(state, place, world) = next {
                open.push((state, place));
                last = Some(*world);
            }
        }
    }
    Ok(gone)
}

/// The world after so many steps of a course; what is decided after them stands in the list, too.
fn at(begun: &World, decisions: &[u32], steps: usize) -> Result<World, Broken> {
    let mut world = begun.again(Choices::from_list(decisions.to_vec()));
    for _ in 0..steps {
        world.unless_it_panics(World::step)?;
    }
    Ok(world)
}

/// All that one step from there comes to; `here` is there already.
fn nexts(begun: &World, place: &Place, mut here: Option<World>) -> Result<Vec<Next>, Broken> {
    let mut nexts = Vec::new();
    let mut open = vec![place.decisions.clone()];
    while let Some(decisions) = open.pop() {
        let mut world = here.take().map_or_else(|| at(begun, &decisions, place.steps), Ok)?;
        let goes_on = world.unless_it_panics(World::step)?;
        let made = world.choices.made().to_vec();
        let taken: Vec<_> = made.iter().map(|made| made.value).collect();
        for at in decisions.len()..made.len() {
            let others = (0..made[at].of).filter(|value| *value != made[at].value);
            open.extend(others.map(|value| taken[..at].iter().copied().chain([value]).collect::<Vec<_>>()));
        }
        nexts.push(if goes_on {
            Next::State(world.state(), Place { decisions: taken, steps: place.steps + 1 }, Box::new(world))
        } else {
            world.unless_it_panics(World::end)?;
            Next::End((mix(by_meaning(&world.rows), world.bank_digest()), 0))
        });
    }
    Ok(nexts)
}

#[cfg(test)]
mod tests {
    use super::{super::COMPARED, *};

    #[test]
    fn what_is_taken_for_one_goes_on_alike_and_whoever_tells_too_little_apart_is_found() {
        for bounds in COMPARED {
            let merged = merge(bounds, by_meaning).unwrap();
            assert!(merged.compared > 0, "{}", bounds.name);
            assert_eq!(merged.differ, None, "{}", bounds.name);
            assert_eq!(merged.states[0], merged.states[1], "{}", bounds.name);
        }
        assert!(merge(&COMPARED[0], |_| 0).unwrap().differ.is_some());
    }
}
