//! Every course that a small world can take: the scheduler's choices depth first, each state of the world visited once.
//!
//! A task is a function of the answers it got, so that rows, ledger, clock, messages, tabs and each task's history of answers say what can
//! happen from here. The futures cannot be copied: a course is played anew from its beginning, up to where it leaves what was played.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

mod merged;
mod order;
mod small;

use payment::StateName;

pub use merged::{Merged, merge};
pub use order::Light;
pub use small::{BOUNDS, Bounds, COMPARED, DEEP, IN_TURN, WIDE};

use crate::{
    alike::{Digest, State, by_meaning},
    check::Broken,
    choices::{Choices, Made},
    events::{Deed, DueNow, Event, Tick},
    fault::{Fault, Rates},
    task::{Job, Task},
    time::{MINUTE, SECOND},
    world::{Ended, LEASE_MS, Size, World, mix},
};

/// What came of it.
#[derive(Clone, Debug)]
pub struct Explored {
    /// States of the world.
    pub states: u64,
    /// Courses that were played to their end or to a state that was known.
    pub courses: u64,
    /// Digests of all rows and ledgers that a course ended with, healed and checked.
    pub ends: BTreeSet<u64>,
    /// Whether every course within the bounds was played.
    pub complete: bool,
    /// The first that broke an invariant, and its decisions.
    pub broken: Option<(Broken, Vec<u32>)>,
}

const SHARDS: usize = 64;
/// After so many states it is told how far it has come.
const TOLD_EVERY: u64 = 500_000;

/// How a world is explored.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// How rows are told apart.
    pub digest: Digest,
    /// Whether neighbours that do not touch each other come in every order.
    pub every_order: bool,
    /// Whether the last of what can happen is taken first.
    pub backwards: bool,
}

impl Default for How {
    fn default() -> Self {
        Self { digest: by_meaning, every_order: false, backwards: false }
    }
}

struct Search {
    seen: Vec<Mutex<HashSet<State>>>,
    open: Mutex<Open>,
    more: Condvar,
    max_states: u64,
    how: How,
}

#[derive(Default)]
struct Open {
    prefixes: Vec<Vec<u32>>,
    working: usize,
    found: Found,
}

#[derive(Default)]
struct Found {
    states: u64,
    courses: u64,
    ends: BTreeSet<u64>,
    stopped: bool,
    broken: Option<(Broken, Vec<u32>)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Explores a world on so many threads; gives up after so many states.
pub fn explore(bounds: &Bounds, threads: usize, max_states: u64) -> Explored {
    explore_by(bounds, threads, max_states, How::default())
}

/// The same in another way, to show that it makes no difference.
pub fn explore_by(bounds: &Bounds, threads: usize, max_states: u64, how: How) -> Explored {
    let open = Open { prefixes: vec![Vec::new()], ..Open::default() };
    let search = Search {
        seen: (0..SHARDS).map(|_| Mutex::default()).collect(),
        open: Mutex::new(open),
        more: Condvar::new(),
        max_states,
        how,
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| search.work(bounds));
        }
    });
    let open = search.open.into_inner().unwrap_or_else(PoisonError::into_inner);
    let Found { states, courses, ends, stopped, broken } = open.found;
    Explored { states, courses, ends, complete: !stopped && broken.is_none(), broken }
}

impl Search {
    fn work(&self, bounds: &Bounds) {
        let begun = match begun(bounds, self.how) {
            Ok(begun) => begun,
            Err(broken) => {
                lock(&self.open).found.broken = Some((broken, Vec::new()));
                return;
            }
        };
        while let Some(prefix) = self.next() {
            let mut states = 0;
            let course = course(&begun, &prefix, |state| {
                let fresh = lock(&self.seen[state.0 as usize % SHARDS]).insert(state);
                states += u64::from(fresh);
                fresh
            });
            let mut open = lock(&self.open);
            let waiting = open.prefixes.len();
            let found = &mut open.found;
            if (found.states + states) / TOLD_EVERY > found.states / TOLD_EVERY {
                println!("  … {} states so far, {} courses, {waiting} to take", found.states, found.courses);
            }
            found.states += states;
            found.courses += 1;
            found.ends.extend(course.end);
            found.stopped |= found.states > self.max_states;
            if let Some(Ended { broken: Some(broken), decisions, .. }) = course.ended {
                found.broken.get_or_insert((broken, decisions));
            }
            // What was decided for the first time is decided in every other way, too.
            let fresh = open.prefixes.len();
            for at in (prefix.len()..course.made.len()).rev() {
                for value in 0..course.made[at].of {
                    if value != course.made[at].value {
                        let taken = course.made[..at].iter().map(|made| made.value);
                        open.prefixes.push(taken.chain([value]).collect());
                    }
                }
            }
            if self.how.backwards {
                open.prefixes[fresh..].reverse();
            }
            open.working -= 1;
            self.more.notify_all();
        }
    }

    fn next(&self) -> Option<Vec<u32>> {
        let mut open = lock(&self.open);
        loop {
            if open.found.stopped || open.found.broken.is_some() {
                return None;
            }
            if let Some(prefix) = open.prefixes.pop() {
                open.working += 1;
                return Some(prefix);
            }
            if open.working == 0 {
                self.more.notify_all();
                return None;
            }
            open = self.more.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// One course.
struct Course {
    made: Vec<Made>,
    /// What it came to, unless it came to a state that was known.
    ended: Option<Ended>,
    /// The digest of its rows and its ledger, then.
    end: Option<u64>,
}

fn size(bounds: &Bounds) -> Size {
    Size {
        nodes: bounds.nodes,
        tabs: bounds.tabs,
        merchants: 1,
        shared: false,
        orders: 1,
        steps: 0,
        rates: Rates::none(),
        periods: bounds.periods,
        deeds: Some(bounds.deeds),
        switches: bounds.switches,
        held: false,
        refund_extras: false,
        lively: false,
    }
}

/// A course as it was explored, with its story.
pub fn replay(bounds: &Bounds, decisions: Vec<u32>) -> (Ended, World) {
    let mut world = World::in_memory(size(bounds), Choices::from_list(decisions), true);
    let ended = world.unless_it_panics(|world| {
        begin(world, bounds)?;
        while world.step()? {}
        world.end()
    });
    (world.ended(ended.err()), world)
}

/// Takes the course that begins with these decisions, up to its end or a state that is known.
fn course(begun: &World, prefix: &[u32], mut is_fresh: impl FnMut(State) -> bool) -> Course {
    let mut world = begun.again(Choices::from_list(prefix.to_vec()));
    let ended = loop {
        if world.choices.made().len() >= prefix.len() && !is_fresh(world.state()) {
            return Course { made: world.choices.made().to_vec(), ended: None, end: None };
        }
        match world.unless_it_panics(World::step) {
            Ok(true) => {}
            Ok(false) => break world.unless_it_panics(World::end),
            Err(broken) => break Err(broken),
        }
    };
    let made = if world.decided.is_empty() { world.choices.made().to_vec() } else { world.decided.clone() };
    let end = mix(by_meaning(&world.rows), world.bank_digest());
    Course { made, ended: Some(world.ended(ended.err())), end: Some(end) }
}

/// A world to explore, before anything is decided.
pub(crate) fn begun(bounds: &Bounds, how: How) -> Result<World, Broken> {
    let mut world = World::in_memory(size(bounds), Choices::from_list(Vec::new()), false);
    world.remembers = Some(how);
    world.unless_it_panics(|world| begin(world, bounds)).map(|()| world)
}

/// Servers are up, the shop has opened its checkout, and every tab shows it.
fn begin(world: &mut World, bounds: &Bounds) -> Result<(), Broken> {
    for node in 0..world.nodes.len() {
        world.boot(node)?;
    }
    world.settle_tasks()?;
    world.happen(Event::Create(0))?;
    world.settle_tasks()?;
    for tab in 0..world.tabs.len() {
        world.happen(Event::Tab(tab, Deed::Load))?;
        world.settle_tasks()?;
        world.tabs[tab].deeds = 0;
    }
    world.size.rates = Rates::bounded(bounds.faults, bounds.together);
    Ok(())
}

impl World {
    /// Everything that can happen next in a world whose every course is explored. What cannot make a difference is left out: looks that
    /// find nothing, and waiting while something is at work.
    pub(crate) fn find_all_events(&mut self, deeds: u32) {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        let mut add = |event| events.push((event, 1));
        for (index, task) in self.tasks.iter().enumerate() {
            if task.wait.is_some() {
                add(Event::Resume(index));
            } else {
                add(Event::TimeOut(index));
            }
        }
        let works = |task: &Task| !self.says_its_last_word(task);
        let working = self.tasks.iter().any(works) || !self.on_its_way.is_empty();
        (0..self.on_its_way.len()).for_each(|index| add(Event::Arrive(index)));
        for (index, tab) in self.tabs.iter().enumerate() {
            if tab.waits || tab.deeds >= deeds {
                continue;
            }
            match tab.shown.as_ref().map(|shown| shown.state) {
                None => add(Event::Tab(index, Deed::Load)),
                // Tabs and their servers are alike: whoever pays first is called the first.
                Some(StateName::Created) if index > 0 && self.tabs[0].deeds == 0 => {}
                Some(StateName::Created) => add(Event::Tab(index, Deed::Pay)),
                Some(StateName::Declined | StateName::Canceled | StateName::Expired) => {
                    add(Event::Tab(index, Deed::TryAgain));
                }
                Some(
                    StateName::Processing
                    | StateName::RequiresAction
                    | StateName::Confirming
                    | StateName::Authorized
                    | StateName::NeedsReview
                    | StateName::Succeeded,
                ) => {}
            }
        }
        let now = self.time.now();
        let due = DueNow::of(&self.rows, now).operations;
        for (node, state) in self.nodes.iter().enumerate() {
            if self.size.rates.of(Fault::Killed) > 0 && self.tasks.iter().any(|task| task.node == node) {
                add(Event::Kill(node));
            }
            let looks = |task: &Task| task.node == node && matches!(task.job, Job::ClaimDue);
            if state.ready && due && !self.tasks.iter().any(looks) {
                add(Event::Tick(node, Tick::Work));
            }
        }
        if !working && !due && self.next_turn_of_operations().is_some() {
            add(Event::UntilDue);
        }
        let dead_ms = self.size.periods.dead_ms();
        for (fault, ms) in [(Fault::LeaseEnds, LEASE_MS + SECOND), (Fault::TokenDies, dead_ms + MINUTE)] {
            if self.size.rates.of(fault) > 0 && working {
                add(Event::Pass(fault, ms));
            }
        }
        events.retain(|(event, _)| self.may_come(*event));
        if self.size.switches == 0 {
            events.retain(|(event, _)| !self.is_switch(*event));
        }
        self.events = events;
    }

    /// In a world whose every course is explored, servers say that they are alive as time passes: silences and gates are met by chance,
    /// in the random histories.
    pub(crate) fn say_alive(&mut self) -> Result<(), Broken> {
        let alive = self.nodes.iter().position(|node| node.ready);
        let (Some(node), Some(_)) = (alive, self.size.deeds) else { return Ok(()) };
        self.spawn(node, Job::Beat)?;
        self.resume(self.tasks.len() - 1)
    }

    pub(crate) fn boot_at_once(&mut self, node: usize) -> Result<(), Broken> {
        self.boot(node)?;
        while let Some(index) = self.tasks.iter().position(|task| task.node == node) {
            self.resume(index)?;
        }
        Ok(())
    }
}
