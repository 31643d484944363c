//! One step of the world: one of what may happen is chosen, and done.

use std::sync::Arc;

use payment::StateName;
use store::Rows;

use crate::{
    bank::{Object, Status},
    check::Broken,
    desk::Call,
    events::{Event, Tick},
    fault::Fault,
    page,
    task::Job,
    time::{HOUR, MINUTE, SECOND},
    wire,
    world::{GAP_MS, LEASE_MS, OnItsWay, World, mix},
};

/// How much earlier than the last sign of life a listing begins, ms: a token's life and its margin.
const OVERLAP_MS: i64 = 70 * MINUTE;

impl World {
    /// One step; false if nothing can happen any more.
    pub(crate) fn step(&mut self) -> Result<bool, Broken> {
        match self.size.deeds {
            None => self.find_events(),
            Some(deeds) => self.find_all_events(deeds),
        }
        if self.events.is_empty() {
            return Ok(false);
        }
        let mut weights = std::mem::take(&mut self.weights);
        weights.clear();
        weights.extend(self.events.iter().map(|(_, weight)| *weight));
        let chosen = self.choices.weighted(&weights);
        self.weights = weights;
        let event = self.events[chosen].0;
        self.steps += 1;
        self.hash = mix(self.hash, chosen as u64 ^ (self.time.now().0 as u64) << 8);
        self.happen(event)?;
        Ok(true)
    }

    pub(crate) fn happen(&mut self, event: Event) -> Result<(), Broken> {
        match event {
            Event::Resume(index) => self.resume(index),
            Event::Arrive(index) => self.arrive(index),
            Event::TimeOut(index) => self.time_out(index),
            Event::Tab(tab, deed) => page::happen(self, tab, deed),
            Event::Create(order) => page::create(self, order),
            Event::Tick(node, tick) => self.tick(node, tick),
            Event::UntilDue => {
                let due = match self.size.deeds {
                    None => self.rows.next_wake(),
                    Some(_) => self.next_turn_of_operations(),
                };
                let wait = due.map_or(0, |due| due.since_ms(self.time.now()).max(0));
                self.story.tell(|| format!("{} s pass until something is due", wait / SECOND));
                self.pass(wait);
                self.say_alive()
            }
            Event::Pass(fault, ms) => {
                self.meets(fault);
                self.story.tell(|| format!("{}: {} s pass", fault.words(), ms / SECOND));
                self.pass(ms);
                self.say_alive()
            }
            Event::Kill(node) => {
                self.meets(Fault::Killed);
                self.story.tell(|| format!("server {node} is killed"));
                self.kill(node);
                match self.size.deeds {
                    None => Ok(()),
                    // One that is not started again is one that does nothing.
                    Some(_) => self.boot_at_once(node),
                }
            }
            Event::Boot(node) => self.boot(node),
            Event::Pause(node) => {
                self.meets(Fault::Paused);
                self.story.tell(|| format!("server {node} stops in mid-instruction"));
                self.nodes[node].paused = true;
                Ok(())
            }
            Event::GoOn(node) => {
                self.story.tell(|| format!("server {node} goes on"));
                self.nodes[node].paused = false;
                Ok(())
            }
            Event::SetWall(node) => {
                self.meets(Fault::WallClockSet);
                let by_ms = [2, -2][self.choices.one_of(2)] * HOUR;
                self.story.tell(|| format!("somebody sets the clock of server {node} by {} h", by_ms / HOUR));
                self.nodes[node].clock.set_wall(by_ms);
                Ok(())
            }
            Event::Backup => {
                self.story.tell(|| "a backup is taken".to_owned());
                self.backing.back_up();
                self.backup = Some(Arc::clone(&self.rows));
                // An older one can be started on while what was sent last is still on its way.
                let ms = [0, GAP_MS + SECOND][self.choices.one_of(2)];
                self.pass(ms);
                Ok(())
            }
            Event::Restore => match self.backup.take() {
                Some(rows) => self.restore(rows),
                None => Ok(()),
            },
            Event::Decide(index) => {
                let to = if self.size.rates.meet(&mut self.choices, &[Fault::CardRefused]).is_some() {
                    Status::Declined
                } else {
                    Status::Succeeded
                };
                self.object_moves(index, to);
                Ok(())
            }
            Event::ChangeMind(index) => {
                self.meets(Fault::ChangesItsMind);
                let to = match self.bank.objects[index].status {
                    Status::Succeeded => Status::Canceled,
                    Status::Pending
                    | Status::Slow
                    | Status::Held
                    | Status::Declined
                    | Status::Expired
                    | Status::Canceled => Status::Succeeded,
                };
                self.object_moves(index, to);
                Ok(())
            }
            Event::FollowUp(intent) => page::follow_up(self, intent),
            Event::Person => {
                self.checker.hasty = true;
                self.person_decides().map(drop)
            }
            Event::ChangeAccount => self.change_account(),
            Event::Stranger(order) => {
                self.meets(Fault::StrangerPays);
                let order = page::order(order);
                self.story.tell(|| format!("somebody else pays {order} in the merchant's account"));
                let amount = page::amount(false);
                let account = self.merchants.account();
                let index = self.bank.stranger_pays(&account, &order, amount, self.time.now());
                self.announce(index);
                Ok(())
            }
        }
    }

    /// A fault happens by itself.
    fn meets(&mut self, fault: Fault) {
        self.size.rates.spend(fault);
        self.note(fault);
    }

    /// For the table of what was met, and in which state of the newest intent.
    pub(crate) fn note(&mut self, fault: Fault) {
        let newest = self.rows.intents.values().next_back();
        let state =
            newest.and_then(|intent| StateName::ALL.iter().position(|name| *name == intent.state.name()));
        self.met[fault as usize][state.unwrap_or(StateName::ALL.len())] += 1;
    }

    /// One of these faults, or none.
    pub(crate) fn meet(&mut self, possible: &[Fault]) -> Option<Fault> {
        let fault = self.size.rates.meet(&mut self.choices, possible)?;
        self.note(fault);
        Some(fault)
    }

    /// Time passes, for everybody.
    pub(crate) fn pass(&mut self, ms: i64) {
        self.time.pass(ms);
        let now = self.time.now();
        self.bank.let_go(now);
        let restored_at = self.checker.restored_at();
        // The network forgets, docs/proof.md says how soon: a refund within the margin of its key, and what left before a restore
        // within a server's patience. A payment that is late for ever finds its card token dead.
        self.on_its_way.retain(|way| {
            let OnItsWay::ToBank(_, Call::Send(request) | Call::SendRefund(request)) = way else {
                return true;
            };
            let age_ms = now.0 - request.left_ms;
            let forgotten = restored_at.is_some_and(|at| request.left_ms <= at.0) && age_ms > LEASE_MS;
            let refund = matches!(way, OnItsWay::ToBank(_, Call::SendRefund(_)));
            !(forgotten || refund && age_ms > HOUR)
        });
    }

    /// One of the servers that take requests, if there is one.
    pub(crate) fn some_ready_node(&mut self) -> Option<usize> {
        if self.size.deeds.is_some() {
            return self.nodes.iter().rposition(|node| node.ready && !node.paused);
        }
        let mut ready = [0; 8];
        let mut count = 0;
        for (node, state) in self.nodes.iter().enumerate() {
            if state.ready && !state.paused && count < ready.len() {
                ready[count] = node;
                count += 1;
            }
        }
        (count > 0).then(|| ready[self.choices.one_of(count)])
    }

    fn tick(&mut self, node: usize, tick: Tick) -> Result<(), Broken> {
        let job = match tick {
            Tick::Beat => Job::Beat,
            Tick::Work => Job::ClaimDue,
            Tick::Inbox => Job::ClaimNotices,
            Tick::Effects => Job::ClaimEffects,
            Tick::Sweep => {
                let Some(merchant) = self.merchants.all().into_iter().next() else { return Ok(()) };
                // Nobody reads in the very moment in which he starts.
                self.pass(1);
                Job::Sweep(Box::new(merchant))
            }
            Tick::Expire => Job::Expire,
            Tick::Extras => Job::Extras,
        };
        self.story.tell(|| format!("server {node} {}", job.words()));
        self.spawn(node, job)
    }

    /// A server dies with all it had in its hands.
    pub(crate) fn kill(&mut self, node: usize) {
        let state = &mut self.nodes[node];
        (state.engine, state.ready, state.paused) = (None, false, false);
        for index in
            (0..self.tasks.len()).rev().filter(|index| self.tasks[*index].node == node).collect::<Vec<_>>()
        {
            let job = self.tasks.remove(index).job;
            if let Some(tab) = job.tab() {
                self.tabs[tab].waits = false;
            }
            // Nobody acknowledged it.
            if let Job::Accept { body, tries, .. } = job {
                self.notice_comes_again(body, tries);
            }
        }
    }

    /// A server starts.
    pub(crate) fn boot(&mut self, node: usize) -> Result<(), Broken> {
        self.nodes[node].engine = Some(Arc::new(self.engine(node)));
        self.story.tell(|| format!("server {node} starts"));
        self.backing.put_merchants(self.merchants.all());
        self.look()?;
        self.spawn(node, Job::Start)
    }

    /// A server starts with another account in its configuration; the others learn it from the database.
    fn change_account(&mut self) -> Result<(), Broken> {
        self.meets(Fault::AccountChanged);
        self.story.tell(|| "the merchant takes another account, and a server starts anew".to_owned());
        self.kill(0);
        self.pass(SECOND);
        self.merchants.change_account();
        self.checker.moved = true;
        self.boot(0)
    }

    fn restore(&mut self, rows: Arc<Rows>) -> Result<(), Broken> {
        self.meets(Fault::Restored);
        for node in 0..self.nodes.len() {
            self.kill(node);
        }
        // One that is younger than the gap would pass the gate: docs/operations.md says so.
        let age_ms = rows.heartbeat.map_or(0, |beat| self.time.now().since_ms(beat));
        self.pass((GAP_MS + SECOND - age_ms).max(0));
        self.story.tell(|| "every server is dead; the backup is restored".to_owned());
        self.bring_back(rows);
        self.tabs.iter_mut().for_each(|tab| tab.shown = None);
        self.look()?;
        for object in &self.bank.objects {
            if self.is_told_no_more(object) {
                self.checker.cannot_know(&object.id);
            }
        }
        self.checker.restored(&self.rows, self.time.now())
    }

    /// Whether a payment came back to life, and a copy that was just restored is not told: what announced it is gone with the rows that
    /// heard of it, and the listing of the gap begins after it was made.
    fn is_told_no_more(&self, object: &Object) -> bool {
        let alive_until = self.rows.heartbeat;
        let own = self.rows.sweeps.values().filter(|row| row.account.as_str() == object.account);
        let read_from = own.filter_map(|row| {
            let gap = alive_until.or(row.gated_from)?;
            Some(gap.min(row.swept_until).plus_ms(-OVERLAP_MS))
        });
        let announces = |way: &OnItsWay| {
            let OnItsWay::Notice(body, _) = way else { return false };
            wire::read_notice(body).is_some_and(|notice| notice.object == object.id)
        };
        let mut inbox = self.rows.inbox.values();
        object.fickle
            && read_from.min().is_some_and(|from| object.made_at < from)
            && !self.on_its_way.iter().any(announces)
            && !inbox.any(|notice| notice.said.object == object.id && notice.state.wake_at().is_some())
    }
}
