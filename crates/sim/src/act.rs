//! One step of the world: one of what may happen is chosen, and done.

use std::sync::Arc;

use payment::StateName;

use crate::{
    bank::Status,
    check::Broken,
    desk::Call,
    events::{Event, Tick},
    fault::Fault,
    page,
    task::Job,
    time::{HOUR, MINUTE, SECOND},
    world::{GAP_MS, LEASE_MS, OnItsWay, Stops, World, mix},
};

/// How far the database's clock is set ahead of the time, ms: right, by minutes, and by hours.
const DATABASE_AHEAD_MS: [i64; 5] = [0, 5 * MINUTE, -5 * MINUTE, 2 * HOUR, -2 * HOUR];
/// How far the bank's clock is ahead of the time, ms: right, within the hour that listings reach further, and beyond it.
const BANK_AHEAD_MS: [(i64, i64); 5] =
    [(0, 0), (54 * MINUTE, 0), (-54 * MINUTE, 0), (0, 3 * HOUR), (0, -3 * HOUR)];
/// So many of either are not by hours: both clocks are never hours wrong.
const NOT_BY_HOURS: usize = 3;
/// How late listings show what was made, ms: less than the time for which a send is on its way, than the time between two listings, and
/// than both this and the margin after a token's death.
pub(crate) const LAG_MS: [i64; 3] = [20 * SECOND, 4 * MINUTE, 14 * MINUTE];

/// Minutes, for a story.
fn minutes(ms: i64) -> String {
    format!("{} min {} s", ms / MINUTE, ms % MINUTE / SECOND)
}

impl World {
    /// One step; false if nothing can happen any more.
    pub(crate) fn step(&mut self) -> Result<bool, Broken> {
        if self.behind && self.sends_as_of_then() {
            self.change_account()?;
        }
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
        match self.size.deeds {
            None => self.happen(event)?,
            Some(_) => self.happen_in_order(event)?,
        }
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
            Event::Stop(node) => {
                self.meets(Fault::Stopped);
                self.story.tell(|| format!("server {node} is told to stop"));
                self.nodes[node].ready = false;
                self.nodes[node].stops = Some(Stops::Told);
                Ok(())
            }
            Event::HandOver(node) => {
                self.story.tell(|| format!("server {node} hands over what is under way"));
                self.nodes[node].stops = Some(Stops::HandsOver);
                self.spawn(node, Job::HandOver)
            }
            Event::Exit(node) => {
                self.story.tell(|| format!("server {node} has stopped"));
                self.kill(node);
                Ok(())
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
            Event::SetDatabase => {
                self.meets(Fault::DatabaseClockSet);
                let most = if self.bank.shifted_ms == 0 { DATABASE_AHEAD_MS.len() } else { NOT_BY_HOURS };
                let ahead_ms = DATABASE_AHEAD_MS[self.choices.one_of(most)];
                self.story.tell(|| {
                    format!("somebody sets the database's clock: it is {} ahead now", minutes(ahead_ms))
                });
                self.set_database(ahead_ms);
                Ok(())
            }
            Event::SetBank => {
                self.meets(Fault::BankClockWrong);
                let ours_ms = self.time.now().since_ms(self.time.real()).abs();
                let most = if ours_ms < HOUR { BANK_AHEAD_MS.len() } else { NOT_BY_HOURS };
                let (ahead_ms, shifted_ms) = BANK_AHEAD_MS[self.choices.one_of(most)];
                (self.bank.ahead_ms, self.bank.shifted_ms) = (ahead_ms, shifted_ms);
                let ahead_ms = ahead_ms + shifted_ms;
                self.story.tell(|| format!("the bank's clock is {} ahead now", minutes(ahead_ms)));
                Ok(())
            }
            Event::Lag => {
                self.meets(Fault::ListingsLag);
                let lag_ms = LAG_MS[self.choices.one_of(LAG_MS.len())].min(self.most_lag_ms());
                self.bank.lag_ms = lag_ms;
                self.story.tell(|| format!("the bank's listings lag by {} now", minutes(lag_ms)));
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
                if let Some(word) = self.waits_for_a_person() {
                    self.checker.speaks_of(&word.of);
                }
                self.person_decides().map(drop)
            }
            Event::ChangeAccount => self.change_account(),
            Event::Stranger(order, status) => {
                self.stranger(order, status);
                Ok(())
            }
            Event::TakePart(index) => {
                self.take_part(index);
                Ok(())
            }
            Event::GiveBack(index) => {
                self.give_back(index);
                Ok(())
            }
        }
    }

    /// A fault happens by itself.
    pub(crate) fn meets(&mut self, fault: Fault) {
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

    /// Somebody sets the database's clock.
    pub(crate) fn set_database(&mut self, ahead_ms: i64) {
        self.time.set_ahead(ahead_ms);
        self.checker.set = Some(self.time.real());
        self.bank.lag_ms = self.bank.lag_ms.min(self.most_lag_ms());
    }

    /// How far listings may lag: what was made before a restore is there when the gate is lifted, and what was made before a clock was
    /// set is there by the second listing, ms.
    fn most_lag_ms(&self) -> i64 {
        match (self.checker.restored_at(), self.checker.set) {
            (Some(_), _) => LAG_MS[0],
            (None, Some(_)) => LAG_MS[1],
            (None, None) => LAG_MS[2],
        }
    }

    /// Time passes, for everybody.
    pub(crate) fn pass(&mut self, ms: i64) {
        self.time.pass(ms);
        let now = self.time.real();
        self.bank.let_go(now);
        let (restored_at, set_at) = (self.checker.restored_at(), self.checker.set);
        // The network forgets, docs/proof.md says how soon: a refund within the margin of its key, and what left before a restore
        // within a server's patience. A payment that is late for ever finds its card token dead.
        self.on_its_way.retain(|way| {
            let OnItsWay::ToBank(_, Call::Send(request) | Call::SendRefund(request)) = way else {
                return true;
            };
            let age_ms = now.since_ms(request.left_at);
            let forgotten = restored_at.is_some_and(|at| request.left_at <= at) && age_ms > LEASE_MS;
            let refund = matches!(way, OnItsWay::ToBank(_, Call::SendRefund(_)));
            let undated = refund && set_at.is_some_and(|at| request.left_at <= at.plus_ms(LEASE_MS));
            !(forgotten || undated && age_ms > LAG_MS[1] || refund && age_ms > HOUR)
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
                // Nobody reads in the very moment in which he starts.
                self.pass(1);
                let mut all = self.merchants.all();
                Job::Sweep(Box::new(all.swap_remove(self.choices.one_of(all.len()))))
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
        (state.engine, state.ready, state.paused, state.stops) = (None, false, false, None);
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
        self.alive_in_copy = self.alive_in_copy.filter(|alive| self.rows.heartbeat == Some(*alive));
        self.outlive_copy();
        self.nodes[node].engine = Some(Arc::new(self.engine(node)));
        self.story.tell(|| format!("server {node} starts"));
        self.backing.put_merchants(self.merchants.all());
        self.look()?;
        self.spawn(node, Job::Start)
    }

    /// A server starts with another account in its configuration; the others learn it from the database.
    pub(crate) fn change_account(&mut self) -> Result<(), Broken> {
        self.meets(Fault::AccountChanged);
        self.story.tell(|| "the merchant takes another account, and a server starts anew".to_owned());
        self.kill(0);
        self.pass(SECOND);
        self.merchants.change_account();
        self.behind = false;
        self.boot(0)
    }
}
