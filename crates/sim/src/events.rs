//! What may happen next: everything that the world allows, each with its weight.

use payment::{CheckoutStatus, IntentId, ProviderAccount, StateName, Timestamp};
use store::{Rows, Stage, Tenant};

use crate::{
    bank::Status,
    desk::Call,
    fault::Fault,
    heal::{later, turn},
    task::{Job, Task},
    time::{DAY, MINUTE, SECOND},
    world::{GAP_MS, LEASE_MS, OnItsWay, Stops, World},
};

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A task gets what it waits for.
    Resume(usize),
    /// Something arrives.
    Arrive(usize),
    /// A call to the bank takes longer than its server waits.
    TimeOut(usize),
    /// A shopper does something in a tab.
    Tab(usize, Deed),
    /// The shop opens a checkout for an order.
    Create(usize),
    /// A server does what it does from time to time.
    Tick(usize, Tick),
    /// Time passes until something is due.
    UntilDue,
    /// Time passes.
    Pass(Fault, i64),
    /// A server dies.
    Kill(usize),
    /// A server is told to stop: it takes nothing new.
    Stop(usize),
    /// It has waited long enough for what is under way.
    HandOver(usize),
    /// It ends.
    Exit(usize),
    /// A server starts.
    Boot(usize),
    /// A server stops in mid-instruction.
    Pause(usize),
    /// It goes on.
    GoOn(usize),
    /// Its wall clock is set.
    SetWall(usize),
    /// The database's clock is set.
    SetDatabase,
    /// The bank's clock goes wrong, or right.
    SetBank,
    /// The bank's listings come to lag, by more or less.
    Lag,
    /// A backup is taken.
    Backup,
    /// It is brought back.
    Restore,
    /// The bank goes on with a payment.
    Decide(usize),
    /// The bank changes its mind about one.
    ChangeMind(usize),
    /// Somebody else takes money for an order, or holds it.
    Stranger(usize, Status),
    /// Support takes a part of what somebody else holds.
    TakePart(usize),
    /// Support gives all of a payment back.
    GiveBack(usize),
    /// The shop wants something done with what a payment took or holds.
    FollowUp(IntentId),
    /// A person looks at what stands before him.
    Person,
    /// The merchant takes another account, or his first one again.
    ChangeAccount,
}

/// What a shopper does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Loads the page.
    Load,
    /// Pays.
    Pay,
    /// Tries again.
    TryAgain,
    /// Wants it checked now.
    CheckNow,
    /// Wants to pay another way.
    Release,
    /// Is on the bank's page.
    Confirm,
}

/// What a server does from time to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    Beat,
    Work,
    Inbox,
    Effects,
    Sweep,
    Expire,
    Extras,
}

impl World {
    pub(crate) fn find_events(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        let mut add = |event: Event, weight: u32| {
            if weight > 0 {
                events.push((event, weight));
            }
        };
        let awake = |node: usize| !self.nodes[node].paused;
        let mut resumable = 0;
        for (index, task) in self.tasks.iter().enumerate() {
            if task.wait.is_some() && awake(task.node) {
                resumable += 1;
                add(Event::Resume(index), 200);
            } else if task.wait.is_none() {
                add(Event::TimeOut(index), 30);
            }
        }
        for (index, way) in self.on_its_way.iter().enumerate() {
            // What is late harms where others have gone on meanwhile.
            let late = matches!(way, OnItsWay::ToBank(..) | OnItsWay::ToReceiver(..));
            add(Event::Arrive(index), if late { 20 } else { 60 });
        }
        let unread = !self.has_read_accounts();
        self.find_page_events(unread, &mut add);
        let now = self.time.now();
        let due = self.rows.next_wake();
        let sweeps = self.tasks.iter().filter(|task| matches!(task.job, Job::Sweep(_))).map(|task| task.node);
        for (node, state) in self.nodes.iter().enumerate() {
            let rates = |fault: Fault, divided: u32| self.size.rates.of(fault).div_ceil(divided);
            if state.engine.is_none() {
                add(Event::Boot(node), 60);
                continue;
            }
            add(Event::Kill(node), rates(Fault::Killed, 12));
            if state.paused {
                add(Event::GoOn(node), 30);
                continue;
            }
            add(Event::Pause(node), rates(Fault::Paused, 12));
            add(Event::SetWall(node), rates(Fault::WallClockSet, 30));
            let at_work = self.tasks.iter().any(|task| task.node == node);
            match state.stops {
                Some(Stops::Told) if at_work => add(Event::HandOver(node), 20),
                Some(Stops::Told) => add(Event::Exit(node), 60),
                Some(Stops::HandsOver) if self.tasks.iter().any(|task| hands_over(task, node)) => {}
                Some(Stops::HandsOver) => add(Event::Exit(node), 60),
                None => {}
            }
            if !state.ready {
                continue;
            }
            add(Event::Stop(node), rates(Fault::Stopped, 12));
            if due.is_some_and(|due| due <= now) {
                let is_due = DueNow::of(&self.rows, now);
                add(Event::Tick(node, Tick::Work), if is_due.operations { 60 } else { 0 });
                add(Event::Tick(node, Tick::Inbox), if is_due.notices { 60 } else { 0 });
                add(Event::Tick(node, Tick::Effects), if is_due.effects { 40 } else { 0 });
            }
            // A server sweeps as soon as it starts, as a rule before the first order is made; and until what it waits for is read.
            let gated = unread || self.rows.sweeps.values().any(|sweep| sweep.gated_from.is_some());
            let first = unread && self.rows.checkouts.is_empty();
            let old = self.rows.heartbeat.is_none_or(|beat| now.since_ms(beat).abs() >= 10 * SECOND);
            add(Event::Tick(node, Tick::Beat), if old { 20 } else { 0 });
            // Of all servers one, as a rule, and it one after the other: else a history is made of sweeps.
            let weight = match (sweeps.clone().any(|other| other == node), sweeps.clone().count() > 0) {
                (true, _) => 1,
                (_, false) if first => 400,
                _ if gated => 40,
                _ => 3,
            };
            add(Event::Tick(node, Tick::Sweep), weight);
            let over = |checkout: &store::CheckoutRecord| {
                checkout.status == CheckoutStatus::Open && checkout.expires_at <= now
            };
            add(Event::Tick(node, Tick::Expire), if self.rows.checkouts.values().any(over) { 20 } else { 0 });
            let extra = self.rows.charges.values().any(|charge| charge.extra);
            add(Event::Tick(node, Tick::Extras), if extra { 20 } else { 0 });
        }
        if due.is_some_and(|due| due > now) {
            add(Event::UntilDue, if resumable == 0 { 60 } else { 10 });
        }
        if self.nodes.iter().any(|node| node.ready) && self.waits_for_a_person().is_some() {
            add(Event::Person, 15);
        }
        self.find_outside_events(unread, &mut add);
        self.events = events;
    }

    fn find_page_events(&self, unread: bool, add: &mut impl FnMut(Event, u32)) {
        if !self.nodes.iter().any(|node| node.ready) {
            return;
        }
        for order in 0..self.size.orders {
            let weight = match self.opened[order] {
                0 if unread => 60,
                0 => 300,
                _ => 6,
            };
            add(Event::Create(order), weight);
        }
        for intent in self.rows.intents.values() {
            let held = intent.state.name() == StateName::Authorized;
            let paid = intent.state.name() == StateName::Succeeded && self.size.lively;
            add(Event::FollowUp(intent.id), 30 * u32::from(held) + 12 * u32::from(paid));
        }
        for (index, tab) in self.tabs.iter().enumerate() {
            if self.opened[tab.order] == 0 || tab.waits {
                continue;
            }
            let Some(shown) = &tab.shown else {
                add(Event::Tab(index, Deed::Load), 150);
                continue;
            };
            let lively = u32::from(self.size.lively);
            add(Event::Tab(index, Deed::Load), 10 + 20 * lively);
            match shown.state {
                StateName::Created => add(Event::Tab(index, Deed::Pay), 200),
                StateName::Declined | StateName::Canceled | StateName::Expired => {
                    add(Event::Tab(index, Deed::TryAgain), 120);
                    add(Event::Tab(index, Deed::Pay), 5 * lively);
                }
                StateName::RequiresAction => {
                    add(Event::Tab(index, Deed::Confirm), 150);
                    add(Event::Tab(index, Deed::Release), 20 * lively);
                    add(Event::Tab(index, Deed::CheckNow), 20 * lively);
                }
                StateName::Processing
                | StateName::Confirming
                | StateName::Authorized
                | StateName::NeedsReview
                | StateName::Succeeded => {
                    add(Event::Tab(index, Deed::CheckNow), 20 * lively);
                    add(Event::Tab(index, Deed::Pay), 8 * lively);
                    add(Event::Tab(index, Deed::TryAgain), 4 * lively);
                }
            }
        }
    }

    /// Whether the listing of each merchant's account was read once.
    fn has_read_accounts(&self) -> bool {
        let sweeps = &self.rows.sweeps;
        let read = |tenant: &Tenant, account: &ProviderAccount| {
            let row = sweeps.get(&(tenant.clone(), account.clone()));
            row.is_some_and(|row| row.swept_until > row.known_from)
        };
        let mut accounts = self.rows.accounts.iter();
        !self.rows.accounts.is_empty() && accounts.all(|(tenant, account)| read(tenant, account))
    }

    /// How much there is to a restore of this copy, in quarters: one that forgets a payment more than one that forgets none; and one that is
    /// old enough to be started on at once, while what was sent last is on its way, most.
    fn worth_restoring(&self, copy: &Rows) -> u32 {
        let old = copy.heartbeat.is_some_and(|beat| self.time.now().since_ms(beat) > GAP_MS);
        let forgets = self.rows.operations.len() > copy.operations.len();
        let sent = |way: &OnItsWay| matches!(way, OnItsWay::ToBank(_, Call::Send(_) | Call::SendRefund(_)));
        match (forgets, old) {
            (false, _) => 1,
            (true, false) => 4,
            (true, true) if self.on_its_way.iter().any(sent) => 120,
            (true, true) => 16,
        }
    }

    fn find_outside_events(&self, unread: bool, add: &mut impl FnMut(Event, u32)) {
        let rates = |fault: Fault, divided: u32| self.size.rates.of(fault).div_ceil(divided);
        for (index, object) in self.bank.objects.iter().enumerate() {
            match object.status {
                Status::Slow => add(Event::Decide(index), 40),
                // What support gave back nobody takes back.
                Status::Succeeded if self.bank.returned_by_hand(&object.id) > 0 => {}
                Status::Succeeded | Status::Declined | Status::Expired | Status::Canceled => {
                    add(Event::ChangeMind(index), rates(Fault::ChangesItsMind, 20));
                }
                Status::Pending | Status::Held => {}
            }
        }
        // Before a server has ever been alive the account is nobody's.
        let known = self.rows.heartbeat.is_some();
        for order in 0..self.size.orders {
            add(
                Event::Stranger(order, Status::Succeeded),
                if known { rates(Fault::StrangerPays, 30) } else { 0 },
            );
        }
        add(Event::ChangeAccount, rates(Fault::AccountChanged, 20));
        // An account is met by a clock that is right, and so is the gap after a restore.
        let alive = known && self.nodes.iter().any(|node| node.ready);
        add(Event::SetDatabase, if alive { rates(Fault::DatabaseClockSet, 30) } else { 0 });
        add(Event::SetBank, rates(Fault::BankClockWrong, 20));
        add(Event::Lag, rates(Fault::ListingsLag, 20));
        add(Event::Pass(Fault::LeaseEnds, LEASE_MS + SECOND), rates(Fault::LeaseEnds, 8));
        add(Event::Pass(Fault::TokenDies, 71 * MINUTE), rates(Fault::TokenDies, 20));
        add(Event::Pass(Fault::LongSilence, DAY), rates(Fault::LongSilence, 40));
        let rate = rates(Fault::Restored, 20);
        match self.backup {
            // A copy from before an account was ever read is not told from a new database. One without an order forgets most.
            None if unread => {}
            None if self.rows.checkouts.is_empty() && !self.size.lively => add(Event::Backup, rate * 20),
            None if self.rows.checkouts.is_empty() => add(Event::Backup, rate * 5),
            None => add(Event::Backup, rate * 3),
            Some(ref rows) => add(Event::Restore, self.worth_restoring(rows) * rate.div_ceil(4)),
        }
        for order in 0..self.size.orders {
            add(
                Event::Stranger(order, Status::Held),
                if known { rates(Fault::StrangerHolds, 30) } else { 0 },
            );
        }
        for (index, object) in self.bank.objects.iter().enumerate() {
            match object.status {
                Status::Held if object.intent.is_none() => {
                    add(Event::TakePart(index), rates(Fault::PartTaken, 8));
                }
                Status::Succeeded if !self.bank.gave_all_back(object) => {
                    add(Event::GiveBack(index), rates(Fault::GivenBack, 20));
                }
                Status::Pending
                | Status::Slow
                | Status::Held
                | Status::Succeeded
                | Status::Declined
                | Status::Expired
                | Status::Canceled => {}
            }
        }
    }
}

/// Whether a task hands over what its server works on.
fn hands_over(task: &Task, node: usize) -> bool {
    task.node == node && matches!(task.job, Job::HandOver)
}

/// What is due.
pub(crate) struct DueNow {
    pub(crate) operations: bool,
    notices: bool,
    effects: bool,
}

impl DueNow {
    pub(crate) fn of(rows: &Rows, now: Timestamp) -> Self {
        let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        let open = |operation: &store::OperationRecord| {
            matches!(operation.stage, Stage::Open | Stage::Review) && due(turn(operation))
        };
        Self {
            operations: rows.operations.values().any(open),
            notices: rows.inbox.values().any(|notice| due(later(notice.state.wake_at(), notice.lease))),
            effects: rows.effects.values().any(|effect| due(later(effect.wake_at, effect.lease))),
        }
    }
}
