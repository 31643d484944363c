//! When two states of a small world are the same: everything that can happen from one can happen from the other, with the same checks.
//!
//! A task is a function of its job, of what it was answered, and of the clocks and its server's memory as it was answered: with them, the
//! rows, the ledger, the time, what is on its way, what tabs show, what servers remember, which faults are left and what the checker
//! remembers, a state is whole. Left out, because nothing looks at it any more or it is only a name:
//!
//! - Ids of attempts are drawn by whichever server makes them. They are only ever compared with each other, and an attempt is the only
//!   one of its operation with its number (an index says so, and neither ever changes): it is named after these, wherever its id stands.
//! - Holders of leases. A submit that asks a second time compares its own with the lease's, together with attempt and fence: the attempt
//!   is its own only if the lease of that fence is, too. No server stops orderly here, which lets go of what its holder has.
//! - Hashes of the journal's chain follow from its lines.
//! - A tab whose shopper has done all that he does.
//! - A listing that is too old to be kept, for every task that its server has and will have.
//! - Which server is which, once no tab asks any more: from then on all are alike.

use std::hash::{DefaultHasher, Hash, Hasher};

use engine::Claim;
use payment::{AttemptId, OperationId, Timestamp};
use rustc_hash::FxHasher;
use store::{Rows, Stage, Table};

use crate::{
    desk::Verdict,
    ports::{is_attempt, is_holder},
    task::Job,
    world::{OnItsWay, World, mix},
};

/// A digest of rows.
pub type Digest = fn(&Rows) -> u64;

/// States are told apart by two different hashes of digests of 64 bits each: of ten million states one is taken for another by a chance
/// of about one in a hundred thousand.
pub(crate) type State = (u64, u64);

/// The same for rows that are equal.
pub fn as_drawn(rows: &Rows) -> u64 {
    let mut hasher = FxHasher::default();
    rows.hash(&mut hasher);
    hasher.finish()
}

/// The same for rows that are equal but for the ids of attempts and holders.
pub fn by_meaning(rows: &Rows) -> u64 {
    let mut attempts: Vec<_> = rows.attempts.values().collect();
    attempts.sort_unstable_by_key(|row| (row.operation, row.number));
    let names = attempts.iter().map(|row| (row.id, (row.operation, row.number))).collect();
    let mut hasher = Named { names, inner: FxHasher::default() };
    attempts.hash(&mut hasher);
    let others = Rows { attempts: Table::default(), journal: Table::default(), ..rows.clone() };
    others.hash(&mut hasher);
    for ((_, intent, _), row) in rows.journal.iter() {
        let line = &row.line;
        (intent, line.seq, line.at, &line.from, &line.event, &line.to).hash(&mut hasher);
        for word in line.evidence.split(' ') {
            let id = word.trim_end_matches([',', ':']);
            match id.parse::<AttemptId>() {
                Ok(attempt) => (attempt, &word[id.len()..]).hash(&mut hasher),
                Err(_) => word.hash(&mut hasher),
            }
        }
    }
    hasher.finish()
}

/// Puts an attempt's name where its id is hashed, and nothing where a holder is.
struct Named {
    names: Vec<(AttemptId, (OperationId, i64))>,
    inner: FxHasher,
}

impl Hasher for Named {
    fn write(&mut self, bytes: &[u8]) {
        if is_holder(bytes) {
            return;
        }
        let named = self.names.iter().find(|(id, _)| is_attempt(bytes) && id.0.as_bytes() == bytes);
        match named {
            Some((_, name)) => name.hash(&mut self.inner),
            None => self.inner.write(bytes),
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.inner.write_u8(value);
    }

    fn write_u32(&mut self, value: u32) {
        self.inner.write_u32(value);
    }

    fn write_u64(&mut self, value: u64) {
        self.inner.write_u64(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.inner.write_usize(value);
    }

    fn finish(&self) -> u64 {
        self.inner.finish()
    }
}

impl World {
    /// What a task knows that begins now: who asks, and the clocks; one that goes on with a claim knows which, the rows as they were
    /// claimed, and the clocks before.
    pub(crate) fn digest_of_job(&self, job: &Job) -> u64 {
        let known = mix(self.time.now().0 as u64, job.tab().map_or(0, |tab| tab as u64 + 1));
        let Job::Drive(claim) = job else { return known };
        let Claim { work, began } = &**claim;
        let (_, operation) = work.operation.id.0.as_u64_pair();
        mix(mix(known, operation), mix(self.rows_digest, began.boot_ms as u64))
    }

    /// What a task gets: a transaction's answer is a function of the rows, the bank's of its ledger, and both of the clocks.
    pub(crate) fn digest_of(&self, verdict: &Verdict) -> u64 {
        let answer = match verdict {
            Verdict::Apply | Verdict::ApplyLater | Verdict::Lost { .. } => self.rows_digest,
            Verdict::Bank(_) => self.bank_digest(),
            Verdict::Busy | Verdict::Full | Verdict::Go | Verdict::Delivery(_) => 0,
        };
        mix(mix(verdict.kind(), answer), self.time.now().0 as u64)
    }

    /// A task gets something: it knows it from now on, and what its server has in memory as it goes on.
    pub(crate) fn remember(&mut self, index: usize, verdict: &Verdict) {
        let got = self.digest_of(verdict);
        let mut memory = FxHasher::default();
        self.memory(self.tasks[index].node).hash(&mut memory);
        let task = &mut self.tasks[index];
        task.history = mix(mix(task.history, got), memory.finish());
    }

    /// The state of the world, as far as it says what can happen.
    pub(crate) fn state(&self) -> State {
        let tabs: Vec<_> =
            (0..self.tabs.len()).map(|tab| (!self.has_done_all(tab)).then(|| &self.tabs[tab])).collect();
        let mut ways: Vec<_> = self.on_its_way.iter().map(|way| self.way(way)).collect();
        ways.sort_unstable();
        let mut nodes: Vec<_> = (0..self.nodes.len()).map(|node| self.node(node)).collect();
        if tabs.iter().all(Option::is_none) {
            nodes.sort_unstable();
        }
        let rest =
            (&nodes, &ways, &tabs, self.time.now(), self.size.rates.left(), self.size.switches, self.keys);
        let (mut fast, mut sound) = (FxHasher::default(), DefaultHasher::new());
        (self.rows_digest, self.bank_digest(), &rest).hash(&mut fast);
        (self.rows_digest, self.bank_digest(), &rest).hash(&mut sound);
        self.proving_listings().for_each(|at| at.hash(&mut sound));
        self.checker.digest(&mut sound);
        (fast.finish(), sound.finish())
    }

    /// A server: whether it is up, what it works on, what it keeps, and which ids it draws next.
    fn node(&self, node: usize) -> impl Ord + Hash {
        let own = self.tasks.iter().filter(|task| task.node == node);
        let bounded = self.size.switches != u32::MAX;
        let at_work = self.at_work().filter(|_| bounded).map(|task| task.id);
        let mut tasks: Vec<_> = own
            .map(|task| {
                let waits = task.wait.as_ref().map(|wait| wait.words());
                (task.job.words(), waits, task.light, task.history, Some(task.id) == at_work)
            })
            .collect();
        tasks.sort_unstable();
        let state = &self.nodes[node];
        (state.ready, state.paused, state.stops.is_some(), tasks, self.memory(node), state.ids.rows())
    }

    /// What a server has in memory: since when it has known of what is not over, and the listings that are kept, for every task that it
    /// has and will have. (No gate is ever down here.)
    fn memory(&self, node: usize) -> Option<impl Ord + Hash + use<>> {
        let memory = &self.nodes[node].engine.as_ref()?.memory;
        let open = self.rows.operations.values().filter(|operation| operation.stage != Stage::Done);
        let open: Vec<_> = open.map(|operation| operation.id).collect();
        let known: Vec<_> = memory.unresolved().into_iter().filter(|(id, _)| open.contains(id)).collect();
        // An older claim may look at what is too old for one that is made now.
        let claimed = self.tasks.iter().filter(|task| task.node == node).map(|task| task.began).min();
        let now = claimed.unwrap_or(self.time.now());
        Some((known, memory.listings(now, self.size.periods.listing_gap_ms)))
    }

    /// When listings were shown that a person may have to be told of: those after a token's death prove that nothing was taken.
    fn proving_listings(&self) -> impl Iterator<Item = Timestamp> {
        let sent = self.rows.operations.values().filter_map(|operation| operation.first_sent_at).min();
        let dead = sent.map(|at| at.plus_ms(self.size.periods.token_life_ms));
        self.bank.listed.iter().map(|(_, at)| *at).filter(move |at| dead.is_some_and(|dead| *at >= dead))
    }

    fn way(&self, way: &OnItsWay) -> (u8, u64, u64) {
        let of_task =
            |id: u32| self.tasks.iter().find(|task| task.id == id).map_or(0, |task| task.history | 1);
        match way {
            OnItsWay::ToBank(task, call) => (0, task.map_or(0, of_task), call.digest()),
            OnItsWay::FromBank(task, _) => (1, of_task(*task), 0),
            OnItsWay::Notice(..) => (2, 0, 0),
            OnItsWay::ToReceiver(..) => (3, 0, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        events::{Deed, Event},
        explore::{BOUNDS, COMPARED, DEEP, How, IN_TURN, WIDE, begun},
        fault::Fault,
        periods::Periods,
        time::SECOND,
        world::LEASE_MS,
    };

    fn world() -> World {
        begun(&BOUNDS[0], How::default()).unwrap()
    }

    #[test]
    fn when_a_task_looked_at_its_clock_tells_states_apart() {
        let submitting = |late_at: usize| {
            let mut world = world();
            world.happen(Event::Tab(0, Deed::Pay)).unwrap();
            for step in 0..2 {
                if step == late_at {
                    world.pass(LEASE_MS + SECOND);
                }
                world.resume(0).unwrap();
            }
            if late_at == 2 {
                world.pass(LEASE_MS + SECOND);
            }
            world
        };
        // Time passes before the clock is read for the claim, and after it.
        let mut worlds = [1, 2].map(submitting);
        let seen = |world: &World| (world.rows_digest, world.bank_digest(), world.time.now());
        assert_eq!(seen(&worlds[0]), seen(&worlds[1]));
        assert_ne!(worlds[0].state(), worlds[1].state());
        worlds.iter_mut().for_each(|world| world.settle_tasks().unwrap());
        let sent = worlds.map(|world| world.bank.arrivals.len());
        assert_eq!(sent, [1, 0], "whoever looked at his clock before the pause sends nothing");
    }

    /// Whoever adds another one looks first what a state has to tell of it: what a late answer says and how old a slow claim is, it does not.
    #[test]
    fn small_worlds_have_no_faults_but_those_that_states_tell_of() {
        const TOLD: [Fault; 8] = [
            Fault::Killed,
            Fault::RequestLost,
            Fault::RequestRepeated,
            Fault::AnswerLost,
            Fault::CommitUnknown,
            Fault::LeaseEnds,
            Fault::TokenDies,
            Fault::CardRefused,
        ];
        for bounds in BOUNDS.iter().chain(COMPARED).chain(&IN_TURN).chain([&WIDE, &DEEP]) {
            assert!(bounds.faults.iter().all(|(fault, _)| TOLD.contains(fault)), "{}", bounds.name);
        }
    }

    #[test]
    fn what_a_key_was_answered_tells_states_apart() {
        let (mut world, asked) = (world(), world().state());
        let row = world.rows.keys.values().next().unwrap();
        let (key, body) = (row.key.clone(), row.intent.to_string().into_bytes());
        let answer = store::Answer { status: 200, location: None, body };
        world.checker = crate::check::Checker::new(Periods::SERVED);
        let forgotten = world.state();
        world.checker.on_answer(&world.rows, &key, &answer).unwrap();
        assert!(asked != forgotten && forgotten != world.state() && asked != world.state());
    }
}
