//! Every course that a small world can take: the scheduler's choices depth first, each state of the world visited once.
//!
//! A task is a function of the answers it got, so that rows, ledger, clock, messages, tabs and each task's history of answers say what can
//! happen from here. The futures cannot be copied: a course is played anew from its beginning, up to where it leaves what was played.

use std::{
    collections::HashSet,
    hash::{Hash, Hasher as _},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use payment::StateName;
use rustc_hash::FxHasher;

use crate::{
    check::Broken,
    choices::{Choices, Made},
    events::{Deed, DueNow, Event, Tick},
    fault::{Fault, Rates},
    task::{Job, Task},
    time::{MINUTE, SECOND},
    world::{Ended, LEASE_MS, OnItsWay, Size, World},
};

/// A small world, and what may go wrong in it how often.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// What it is about.
    pub name: &'static str,
    /// What may go wrong, and how often at most.
    pub faults: &'static [(Fault, u32)],
    /// Servers.
    pub nodes: usize,
    /// Tabs.
    pub tabs: usize,
    /// What each shopper does after the first look: pays, tries again, looks again.
    pub deeds: u32,
}

/// What is explored by every run of the proof.
pub const BOUNDS: &[Bounds] = &[
    Bounds {
        name: "two workers, two tabs: a crash, a request that is lost",
        faults: &[(Fault::Killed, 1), (Fault::RequestLost, 1)],
        nodes: 2,
        tabs: 2,
        deeds: 1,
    },
    Bounds {
        name: "two workers, two tabs: a request that is repeated, a lease that ends early",
        faults: &[(Fault::RequestRepeated, 1), (Fault::LeaseEnds, 1)],
        nodes: 2,
        tabs: 2,
        deeds: 1,
    },
    Bounds {
        name: "two workers, one tab: a crash, a request that is lost, one that is repeated, a lease that ends early",
        faults: &[
            (Fault::Killed, 1),
            (Fault::RequestLost, 1),
            (Fault::RequestRepeated, 1),
            (Fault::LeaseEnds, 1),
        ],
        nodes: 2,
        tabs: 1,
        deeds: 1,
    },
    Bounds {
        name: "one worker, one tab: a crash, a request that is lost, one that is repeated, a dead token",
        faults: &[
            (Fault::Killed, 1),
            (Fault::RequestLost, 1),
            (Fault::RequestRepeated, 1),
            (Fault::TokenDies, 1),
        ],
        nodes: 1,
        tabs: 1,
        deeds: 1,
    },
    Bounds {
        name: "two intents on one checkout: a decline, an answer that is lost, a commit whose end is unknown, a lease that ends early",
        faults: &[
            (Fault::CardRefused, 1),
            (Fault::AnswerLost, 1),
            (Fault::CommitUnknown, 1),
            (Fault::LeaseEnds, 1),
        ],
        nodes: 2,
        tabs: 1,
        deeds: 5,
    },
    Bounds {
        name: "two tabs race for the occupying intent: a decline, a request that is repeated",
        faults: &[(Fault::CardRefused, 1), (Fault::RequestRepeated, 1)],
        nodes: 2,
        tabs: 2,
        deeds: 3,
    },
];

/// What is explored by a long run only.
pub const LONG_BOUNDS: &[Bounds] = &[Bounds {
    name: "two workers, two tabs: a crash, a request that is lost, one that is repeated, a lease that ends early, a dead token",
    faults: &[
        (Fault::Killed, 1),
        (Fault::RequestLost, 1),
        (Fault::RequestRepeated, 1),
        (Fault::LeaseEnds, 1),
        (Fault::TokenDies, 1),
    ],
    nodes: 2,
    tabs: 2,
    deeds: 1,
}];

/// What came of it.
#[derive(Clone, Debug)]
pub struct Explored {
    /// States of the world.
    pub states: u64,
    /// Courses that were played to their end or to a state that was known.
    pub courses: u64,
    /// Courses that came to an end of their own, where everything was healed and checked.
    pub ends: u64,
    /// Whether every course within the bounds was played.
    pub complete: bool,
    /// The first that broke an invariant, and its decisions.
    pub broken: Option<(Broken, Vec<u32>)>,
}

/// States are told apart by two hashes of each: by chance none of a billion is taken for another.
type State = (u64, u64);

const SHARDS: usize = 64;

struct Search {
    seen: Vec<Mutex<HashSet<State>>>,
    open: Mutex<Open>,
    more: Condvar,
    max_states: u64,
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
    ends: u64,
    stopped: bool,
    broken: Option<(Broken, Vec<u32>)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Explores a world on so many threads; gives up after so many states.
pub fn explore(bounds: &Bounds, threads: usize, max_states: u64) -> Explored {
    let open = Open { prefixes: vec![Vec::new()], ..Open::default() };
    let search = Search {
        seen: (0..SHARDS).map(|_| Mutex::default()).collect(),
        open: Mutex::new(open),
        more: Condvar::new(),
        max_states,
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
        let mut begun = World::in_memory(size(bounds), Choices::from_list(Vec::new()), false);
        begun.remembers = true;
        if let Err(broken) = begin(&mut begun, bounds) {
            lock(&self.open).found.broken = Some((broken, Vec::new()));
        }
        while let Some(prefix) = self.next() {
            let mut states = 0;
            let course = course(&begun, &prefix, |state| {
                let fresh = lock(&self.seen[state.0 as usize % SHARDS]).insert(state);
                states += u64::from(fresh);
                fresh
            });
            let mut open = lock(&self.open);
            let found = &mut open.found;
            found.states += states;
            found.courses += 1;
            found.ends += u64::from(course.ended.is_some());
            found.stopped |= found.states > self.max_states;
            if let Some(Ended { broken: Some(broken), decisions, .. }) = course.ended {
                found.broken.get_or_insert((broken, decisions));
            }
            // What was decided for the first time is decided in every other way, too.
            for at in (prefix.len()..course.made.len()).rev() {
                for value in 0..course.made[at].of {
                    if value != course.made[at].value {
                        let taken = course.made[..at].iter().map(|made| made.value);
                        open.prefixes.push(taken.chain([value]).collect());
                    }
                }
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
        deeds: Some(bounds.deeds),
        held: false,
        refund_extras: false,
        lively: false,
    }
}

/// A course as it was explored, with its story.
pub fn replay(bounds: &Bounds, decisions: Vec<u32>) -> (Ended, World) {
    let mut world = World::in_memory(size(bounds), Choices::from_list(decisions), true);
    let ended = begin(&mut world, bounds).and_then(|()| {
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
            return Course { made: world.choices.made().to_vec(), ended: None };
        }
        match world.step() {
            Ok(true) => {}
            Ok(false) => break world.end(),
            Err(broken) => break Err(broken),
        }
    };
    let made = if world.decided.is_empty() { world.choices.made().to_vec() } else { world.decided.clone() };
    Course { made, ended: Some(world.ended(ended.err())) }
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
    world.size.rates = Rates::bounded(bounds.faults);
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
        let working = !self.tasks.is_empty() || !self.on_its_way.is_empty();
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
        for (fault, ms) in [(Fault::LeaseEnds, LEASE_MS + SECOND), (Fault::TokenDies, 71 * MINUTE)] {
            if self.size.rates.of(fault) > 0 && working {
                add(Event::Pass(fault, ms));
            }
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

    /// The state of the world, as far as it says what can happen.
    fn state(&self) -> State {
        let mut tasks: Vec<_> = self
            .tasks
            .iter()
            .map(|task| {
                (task.node, task.job.words(), task.wait.as_ref().map(|wait| wait.words()), task.history)
            })
            .collect();
        tasks.sort_unstable();
        let mut ways: Vec<_> = self.on_its_way.iter().map(|way| self.way(way)).collect();
        ways.sort_unstable();
        let nodes: Vec<_> = self
            .nodes
            .iter()
            .map(|node| (node.engine.is_some(), node.ready, node.paused, node.stops, node.listings))
            .collect();
        let rest = (&tasks, &ways, nodes, &self.tabs, self.time.now(), self.size.rates.left(), self.keys);
        let (rows, bank) = (self.rows_digest, self.bank_digest());
        let hash = |salt: u64| {
            let mut hasher = FxHasher::default();
            (salt, rows, bank, &rest).hash(&mut hasher);
            hasher.finish()
        };
        (hash(1), hash(2))
    }

    fn way(&self, way: &OnItsWay) -> (u8, u64, u64) {
        let of_task =
            |id: u32| self.tasks.iter().find(|task| task.id == id).map_or(0, |task| task.history | 1);
        match way {
            OnItsWay::ToBank(task, call) => (0, task.map_or(0, of_task), call.digest()),
            OnItsWay::FromBank(task, _) => (1, of_task(*task), 0),
            OnItsWay::Notice(..) => (2, 0, 0),
        }
    }
}
