//! The end of a history: all faults are over, everything on its way arrives, one server works for all, and time passes until nothing
//! waits but people.

use payment::{CheckoutStatus, OperationKind, Timestamp};
use store::{Lease, OperationRecord, Stage, SweepRow};

use crate::{
    bank::{Object, Status},
    check::{Broken, waits_for_people},
    fault::Rates,
    task::Job,
    time::{DAY, HOUR, MINUTE, SECOND},
    world::{LEASE_MS, OnItsWay, World},
};

/// When no fault happens any more, and no person speaks, everything is settled within this time, ms (17).
const SETTLES_WITHIN_MS: i64 = 4 * DAY;
/// Rounds of work after which what is still open is open for ever, however little time they take.
const MAX_ROUNDS: usize = 2_000;
/// Words of a person; what he is still refused then stays before him.
const MAX_WORDS: usize = 40;
const SWEEP_EVERY_MS: i64 = 10 * MINUTE;
const BEAT_EVERY_MS: i64 = 10 * SECOND;
/// What a server looks for, in this order.
const WORK: [Job; 4] = [Job::Extras, Job::ClaimNotices, Job::ClaimDue, Job::ClaimEffects];

/// How long is waited where nothing comes of it.
#[derive(Default)]
struct Patience {
    /// Lines of all journals when it was waited last.
    lines: usize,
    /// So long, ms.
    wait_ms: i64,
}

impl World {
    /// Heals everything, and works until nothing is due any more.
    pub(crate) fn heal(&mut self) -> Result<(), Broken> {
        self.story.tell(|| "all faults are over".to_owned());
        self.size.rates = Rates::none();
        (self.bank.lag_ms, self.bank.ahead_ms, self.bank.shifted_ms) = (0, 0, 0);
        for node in 0..self.nodes.len() {
            self.nodes[node].paused = false;
            if self.nodes[node].stops.is_some() {
                self.kill(node);
            }
        }
        let node = 0;
        if self.behind {
            self.change_account()?;
        }
        self.settle_tasks()?;
        // Nobody sets the database's clock between a restore and the first start.
        if !self.nodes.iter().any(|node| node.ready) {
            self.boot(node)?;
            self.settle_tasks()?;
        }
        if self.time.now() != self.time.real() {
            self.set_database(0);
        }
        let (mut swept_at, mut words, mut patience) = (None::<Timestamp>, 0, Patience::default());
        // Since the faults are over, or since a person's last word.
        let mut since = self.time.real();
        let mut looked = false;
        for _ in 0..MAX_ROUNDS {
            if self.time.real().since_ms(since) > SETTLES_WITHIN_MS {
                break;
            }
            self.bank_decides();
            self.settle_tasks()?;
            if self.nodes[node].engine.is_none() {
                self.boot(node)?;
                self.settle_tasks()?;
            }
            self.do_if_due(node, &[Job::Beat])?;
            let now = self.time.now();
            let gated = self.rows.sweeps.values().any(|sweep| sweep.gated_from.is_some());
            if gated || swept_at.is_some_and(|at| now.since_ms(at) >= SWEEP_EVERY_MS) {
                self.sweep(node)?;
                swept_at = Some(now);
            }
            self.do_if_due(node, &[Job::Expire])?;
            self.do_if_due(node, &WORK)?;
            match self.next_turn() {
                Some(next) => self.wait_until(next, &mut patience),
                None if words < MAX_WORDS && self.person_decides()? => {
                    since = self.time.real();
                    (words, looked) = (words + 1, false);
                    self.settle_tasks()?;
                    // What is not proved yet is in a while.
                    self.pass(HOUR);
                }
                None if looked => return Ok(()),
                None => {
                    self.look_again(node)?;
                    (swept_at, looked) = (Some(self.time.now()), true);
                }
            }
        }
        let hours = self.time.real().since_ms(since) / HOUR;
        Err(Broken { invariant: 17, found: format!("open after {hours} hours: {:?}", self.waiting()) })
    }

    /// What stands before a person is still asked about, what the bank holds is read once more, and every other look finds nothing.
    fn look_again(&mut self, node: usize) -> Result<(), Broken> {
        self.pass(LEASE_MS.max(5 * MINUTE) + SECOND);
        self.sweep(node)?;
        for _ in 0..self.rows.operations.len() {
            self.do_if_due(node, &[Job::ClaimDue])?;
        }
        WORK.into_iter().try_for_each(|job| self.do_job(node, job))
    }

    /// Time passes until something is due; twice as long as the last time where nothing was written down since: what a person holds up
    /// asks every second.
    fn wait_until(&mut self, next: Timestamp, patience: &mut Patience) {
        let lines = self.rows.journal.len();
        let idle = std::mem::replace(&mut patience.lines, lines) == lines;
        patience.wait_ms = if idle { (2 * patience.wait_ms).clamp(SECOND, HOUR) } else { 0 };
        self.pass(next.since_ms(self.time.now()).max(patience.wait_ms));
    }

    fn sweep(&mut self, node: usize) -> Result<(), Broken> {
        self.sweep_own(node)?;
        // The account of before is configured again until it is swept, as docs/operations.md says.
        let all = self.merchants.all();
        let own = |row: &SweepRow| {
            all.iter().any(|merchant| merchant.tenant == row.tenant && merchant.account == row.account)
        };
        let left = self.rows.sweeps.values().any(|row| row.gated_from.is_some() && !own(row));
        if left {
            self.change_account_back()?;
            self.sweep_own(node)?;
            self.change_account_back()?;
        }
        Ok(())
    }

    fn change_account_back(&mut self) -> Result<(), Broken> {
        self.merchants.change_account();
        self.backing.put_merchants(self.merchants.all());
        self.look().map(drop)
    }

    fn sweep_own(&mut self, node: usize) -> Result<(), Broken> {
        for merchant in self.merchants.all() {
            self.do_job(node, Job::Sweep(Box::new(merchant)))?;
        }
        Ok(())
    }

    /// Does those of some jobs that have something to do.
    fn do_if_due(&mut self, node: usize, jobs: &[Job]) -> Result<(), Broken> {
        for job in jobs {
            if self.is_due(job) {
                self.do_job(node, job.clone())?;
            }
        }
        Ok(())
    }

    /// Whether a job that servers do from time to time may find anything. Leases are left to the look itself.
    fn is_due(&self, job: &Job) -> bool {
        let (rows, now) = (&self.rows, self.time.now());
        let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        match job {
            Job::Beat => rows.heartbeat.is_none_or(|beat| now.since_ms(beat).abs() >= BEAT_EVERY_MS),
            Job::Expire => rows
                .checkouts
                .values()
                .any(|checkout| checkout.status == CheckoutStatus::Open && checkout.expires_at <= now),
            Job::Extras => rows.charges.values().any(|charge| charge.extra),
            Job::ClaimNotices => rows.inbox.values().any(|notice| due(notice.state.wake_at())),
            Job::ClaimDue => rows.operations.values().any(|operation| due(operation.wake_at)),
            Job::ClaimEffects => rows.effects.values().any(|effect| due(effect.wake_at)),
            Job::Create(_)
            | Job::Load { .. }
            | Job::Submit { .. }
            | Job::TryAgain { .. }
            | Job::CheckNow { .. }
            | Job::Release { .. }
            | Job::Accept { .. }
            | Job::Start
            | Job::HandOver
            | Job::Drive(_)
            | Job::Notice(_)
            | Job::Deliver(_)
            | Job::Sweep(_)
            | Job::Resolve { .. }
            | Job::FollowUp { .. } => true,
        }
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
            let Object { status, intent, .. } = self.bank.objects[index];
            match status {
                Status::Slow => self.object_moves(index, Status::Succeeded),
                Status::Held if intent.is_none() => self.object_moves(index, Status::Canceled),
                Status::Pending
                | Status::Held
                | Status::Succeeded
                | Status::Declined
                | Status::Expired
                | Status::Canceled => {}
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
