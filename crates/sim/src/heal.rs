//! The end of a history: all faults are over, everything on its way arrives, every server works, and time passes until nothing waits
//! but people.

use payment::{OperationKind, Timestamp};
use store::{Lease, OperationRecord, Stage};

use crate::{
    bank::Status,
    check::{Broken, waits_for_people},
    fault::Rates,
    task::Job,
    time::{HOUR, MINUTE, SECOND},
    world::{LEASE_MS, OnItsWay, World},
};

/// Rounds of work after which what is still open is open for ever: more than two days of them.
const MAX_ROUNDS: usize = 2_000;
/// Words of a person; what he is still refused then stays before him.
const MAX_WORDS: usize = 40;
const SWEEP_EVERY_MS: i64 = 10 * MINUTE;

impl World {
    /// Heals everything, and works until nothing is due any more.
    pub(crate) fn heal(&mut self) -> Result<(), Broken> {
        self.story.tell(|| "all faults are over".to_owned());
        self.size.rates = Rates::none();
        self.bank.lag_ms = 0;
        for node in 0..self.nodes.len() {
            self.nodes[node].paused = false;
        }
        self.settle_tasks()?;
        let (mut swept_at, mut words) = (None::<Timestamp>, 0);
        for _ in 0..MAX_ROUNDS {
            self.bank_decides();
            self.settle_tasks()?;
            let node = 0;
            if self.nodes[node].engine.is_none() {
                self.boot(node)?;
                self.settle_tasks()?;
            }
            self.do_job(node, Job::Beat)?;
            let now = self.time.now();
            let gated = self.rows.sweeps.values().any(|sweep| sweep.gated_from.is_some());
            if gated || swept_at.is_none_or(|at| now.since_ms(at) >= SWEEP_EVERY_MS) {
                self.sweep(node)?;
                swept_at = Some(now);
            }
            for job in [Job::Expire, Job::Extras, Job::ClaimNotices, Job::ClaimDue, Job::ClaimEffects] {
                self.do_job(node, job)?;
            }
            match self.next_turn() {
                Some(next) => self.pass(next.since_ms(self.time.now()).max(0)),
                None if words < MAX_WORDS && self.person_decides()? => {
                    words += 1;
                    self.settle_tasks()?;
                    // What is not proved yet is in a while.
                    self.pass(HOUR);
                }
                None => return self.last_look(node),
            }
        }
        Err(Broken { invariant: 17, found: format!("something stays open for ever: {:?}", self.waiting()) })
    }

    /// What stands before a person is still asked about, and what the bank holds is read once more.
    fn last_look(&mut self, node: usize) -> Result<(), Broken> {
        self.pass(LEASE_MS.max(5 * MINUTE) + SECOND);
        self.sweep(node)?;
        for _ in 0..self.rows.operations.len() + 1 {
            self.do_job(node, Job::ClaimDue)?;
        }
        for _ in 0..MAX_ROUNDS {
            for job in [Job::Extras, Job::ClaimNotices, Job::ClaimDue, Job::ClaimEffects] {
                self.do_job(node, job)?;
            }
            let Some(next) = self.next_turn() else { return Ok(()) };
            self.pass(next.since_ms(self.time.now()).max(0));
        }
        Err(Broken { invariant: 17, found: format!("something stays open for ever: {:?}", self.waiting()) })
    }

    fn sweep(&mut self, node: usize) -> Result<(), Broken> {
        for merchant in self.merchants.all() {
            self.do_job(node, Job::Sweep(Box::new(merchant)))?;
        }
        Ok(())
    }

    fn do_job(&mut self, node: usize, job: Job) -> Result<(), Broken> {
        self.spawn(node, job)?;
        self.settle_tasks()
    }

    /// Everything that is on its way arrives, and every task runs to its end.
    pub(crate) fn settle_tasks(&mut self) -> Result<(), Broken> {
        loop {
            if let Some(index) = self.tasks.iter().position(|task| task.wait.is_some()) {
                self.resume(index)?;
                continue;
            }
            let takes = self.nodes.iter().any(|node| node.ready);
            let arrives = |way: &OnItsWay| takes || !matches!(way, OnItsWay::Notice(..));
            match self.on_its_way.iter().position(arrives) {
                Some(index) => self.arrive(index)?,
                None => return Ok(()),
            }
        }
    }

    fn bank_decides(&mut self) {
        for index in 0..self.bank.objects.len() {
            if self.bank.objects[index].status == Status::Slow {
                self.object_moves(index, Status::Succeeded);
            }
        }
    }

    /// When an operation is due that waits neither for a shopper nor for a person.
    pub(crate) fn next_turn_of_operations(&self) -> Option<Timestamp> {
        let operations = self.rows.operations.values().filter(|operation| operation.stage == Stage::Open);
        let held = |operation: &&OperationRecord| {
            let intent = self.rows.intents.values().find(|intent| intent.id == operation.intent);
            let authorized =
                intent.is_some_and(|intent| intent.state.name() == payment::StateName::Authorized);
            !(authorized && operation.task.kind() == OperationKind::Pay)
        };
        operations.filter(held).filter_map(turn).min()
    }

    /// When something is due that waits neither for a shopper nor for a person.
    fn next_turn(&self) -> Option<Timestamp> {
        let told = |effect: &&store::EffectRecord| !waits_for_people(&self.rows, effect);
        let effects =
            self.rows.effects.values().filter(told).filter_map(|effect| later(effect.wake_at, effect.lease));
        let waiting = self
            .rows
            .inbox
            .values()
            .filter(|notice| matches!(notice.state, store::NoticeState::Waiting { .. }));
        let notices = waiting.filter_map(|notice| later(notice.state.wake_at(), notice.lease));
        let gates = self.rows.sweeps.values().filter_map(|sweep| sweep.gated_from);
        let gates = gates.map(|_| self.time.now().plus_ms(LEASE_MS));
        self.next_turn_of_operations().into_iter().chain(effects).chain(notices).chain(gates).min()
    }

    fn waiting(&self) -> Vec<String> {
        let open = self.rows.operations.values().filter(|operation| operation.stage == Stage::Open);
        let effects = self.rows.effects.values().filter(|effect| effect.wake_at.is_some());
        let notices = self.rows.inbox.values().filter(|notice| notice.state.wake_at().is_some());
        let gates = self.rows.sweeps.values().filter(|sweep| sweep.gated_from.is_some());
        let mut all: Vec<_> = open.map(|operation| format!("{operation:?}")).collect();
        all.extend(effects.map(|effect| format!("{effect:?}")));
        all.extend(notices.map(|notice| format!("{notice:?}")));
        all.extend(gates.map(|gate| format!("{gate:?}")));
        all
    }
}

/// When somebody can work on an operation that is due: not while another has it.
pub(crate) fn turn(operation: &OperationRecord) -> Option<Timestamp> {
    later(operation.wake_at, operation.lease)
}

/// A wake-up, or the end of the lease that it waits for.
pub(crate) fn later(wake_at: Option<Timestamp>, lease: Option<Lease>) -> Option<Timestamp> {
    wake_at.map(|wake_at| lease.map_or(wake_at, |lease| wake_at.max(lease.until)))
}
