//! One step of the world: what may happen next, one of it chosen, and done.

use std::{
    sync::Arc,
    task::{Context, Waker},
};

use engine::Delivery;
use payment::{CheckoutStatus, IntentId, StateName, Timestamp};
use providers::Reply;
use store::{Rows, Stage};

use crate::{
    bank::Status,
    check::Broken,
    desk::{BankAnswer, Call, Message, Verdict, Wait, last_word},
    fault::Fault,
    heal::{later, turn},
    merchants, page,
    task::{Done, Job, Task},
    time::{DAY, HOUR, MINUTE, SECOND},
    world::{GAP_MS, LEASE_MS, OnItsWay, World, mix},
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
    /// A server starts.
    Boot(usize),
    /// A server stops in mid-instruction.
    Pause(usize),
    /// It goes on.
    GoOn(usize),
    /// Its wall clock is set.
    SetWall(usize),
    /// A backup is taken.
    Backup,
    /// It is brought back.
    Restore,
    /// The bank goes on with a payment.
    Decide(usize),
    /// The bank changes its mind about one.
    ChangeMind(usize),
    /// Somebody else takes money for an order.
    Stranger(usize),
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

const STORE_READ: &[Fault] = &[Fault::StoreBusy, Fault::StoreSlow];
const STORE_WRITE: &[Fault] =
    &[Fault::StoreBusy, Fault::StoreFull, Fault::CommitLost, Fault::CommitUnknown, Fault::StoreSlow];
const SENDING: &[Fault] = &[
    Fault::NotSent,
    Fault::RequestLost,
    Fault::RequestLate,
    Fault::RequestRepeated,
    Fault::AnswerLost,
    Fault::AnswerLate,
    Fault::ErrorBefore,
    Fault::ErrorAfter,
    Fault::Garbage,
    Fault::StillAtIt,
    Fault::Unauthorized,
    Fault::RateLimited,
    Fault::TurnedAway,
    Fault::WrongSum,
    Fault::WrongOwner,
];
const ASKING: &[Fault] = &[
    Fault::AnswerLost,
    Fault::AnswerLate,
    Fault::ErrorBefore,
    Fault::Garbage,
    Fault::Unauthorized,
    Fault::WrongSum,
    Fault::WrongOwner,
];
const DELIVERING: &[Fault] = &[Fault::ReceiverRefuses, Fault::ReceiverSilent, Fault::ReceiverUnreachable];
/// Nothing fails that nobody made fail.
pub(crate) const FAILS_BY_ITSELF: u8 = 23;
/// A server waits so long for the bank, ms.
const DEADLINE_MS: i64 = 25 * SECOND;

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

    fn find_events(&mut self) {
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
        for index in 0..self.on_its_way.len() {
            add(Event::Arrive(index), 60);
        }
        self.find_page_events(&mut add);
        let now = self.time.now();
        let due = self.rows.next_wake();
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
            if !state.ready {
                continue;
            }
            if due.is_some_and(|due| due <= now) {
                let is_due = DueNow::of(&self.rows, now);
                add(Event::Tick(node, Tick::Work), if is_due.operations { 60 } else { 0 });
                add(Event::Tick(node, Tick::Inbox), if is_due.notices { 60 } else { 0 });
                add(Event::Tick(node, Tick::Effects), if is_due.effects { 40 } else { 0 });
            }
            let gated = self.rows.sweeps.values().any(|sweep| sweep.gated_from.is_some());
            let old = self.rows.heartbeat.is_none_or(|beat| now.since_ms(beat) >= 10 * SECOND);
            add(Event::Tick(node, Tick::Beat), if old { 20 } else { 0 });
            add(Event::Tick(node, Tick::Sweep), if gated { 40 } else { 3 });
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
        self.find_outside_events(&mut add);
        self.events = events;
    }

    fn find_page_events(&self, add: &mut impl FnMut(Event, u32)) {
        if !self.nodes.iter().any(|node| node.ready) {
            return;
        }
        for order in 0..self.size.orders {
            let known = self.opened[order] > 0;
            add(Event::Create(order), if known { 6 } else { 300 });
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

    fn find_outside_events(&self, add: &mut impl FnMut(Event, u32)) {
        let rates = |fault: Fault, divided: u32| self.size.rates.of(fault).div_ceil(divided);
        for (index, object) in self.bank.objects.iter().enumerate() {
            match object.status {
                Status::Slow => add(Event::Decide(index), 40),
                Status::Succeeded | Status::Declined | Status::Expired | Status::Canceled => {
                    add(Event::ChangeMind(index), rates(Fault::ChangesItsMind, 20));
                }
                Status::Pending | Status::Held => {}
            }
        }
        // Before a server has ever been alive the account is nobody's, and there is nothing to back up.
        let known = self.rows.heartbeat.is_some();
        for order in 0..self.size.orders {
            add(Event::Stranger(order), if known { rates(Fault::StrangerPays, 30) } else { 0 });
        }
        add(Event::ChangeAccount, rates(Fault::AccountChanged, 20));
        add(Event::Pass(Fault::LeaseEnds, LEASE_MS + SECOND), rates(Fault::LeaseEnds, 8));
        add(Event::Pass(Fault::TokenDies, 71 * MINUTE), rates(Fault::TokenDies, 20));
        add(Event::Pass(Fault::LongSilence, DAY), rates(Fault::LongSilence, 40));
        if known {
            let rate = rates(Fault::Restored, 20);
            match self.backup {
                None => add(Event::Backup, rate * 3),
                Some(_) => add(Event::Restore, rate),
            }
        }
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
                let by_ms = [2, -2][self.choices.one_of(2)] * crate::time::HOUR;
                self.story.tell(|| {
                    format!("somebody sets the clock of server {node} by {} h", by_ms / crate::time::HOUR)
                });
                self.nodes[node].clock.set_wall(by_ms);
                Ok(())
            }
            Event::Backup => {
                self.story.tell(|| "a backup is taken".to_owned());
                self.backing.back_up();
                self.backup = Some(self.rows.clone());
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

    /// The bank's object goes on, and is announced.
    pub(crate) fn object_moves(&mut self, index: usize, to: Status) {
        let id = self.bank.objects[index].id.clone();
        self.story.tell(|| format!("at the bank {id} becomes {to:?}"));
        self.bank.moves(index, to);
        self.announce(index);
    }

    /// The bank sends a notification about an object.
    fn announce(&mut self, index: usize) {
        if self.size.deeds.is_some() {
            return;
        }
        self.on_its_way.push(OnItsWay::Notice(Arc::new(self.bank.notice(index)), 0));
    }

    /// A task gets what it waits for, or what went wrong instead.
    pub(crate) fn resume(&mut self, index: usize) -> Result<(), Broken> {
        let Some(wait) = self.tasks[index].wait.take() else { return Ok(()) };
        let verdict = match wait {
            Wait::Read(what) => {
                let fault = self.meet(STORE_READ);
                self.tasks[index].failed_by_store |= fault.is_some();
                self.tell_fault(index, what, fault);
                match fault {
                    Some(Fault::StoreBusy) => Verdict::Busy,
                    Some(_) => Verdict::ApplyLater,
                    None => Verdict::Apply,
                }
            }
            Wait::Write(what) => {
                let fault = self.meet(STORE_WRITE);
                self.tasks[index].failed_by_store |= fault.is_some();
                self.tell_fault(index, what, fault);
                match fault {
                    Some(Fault::StoreBusy) => Verdict::Busy,
                    Some(Fault::StoreFull) => Verdict::Full,
                    Some(Fault::CommitLost) => Verdict::Lost { applied: false },
                    Some(Fault::CommitUnknown) => Verdict::Lost { applied: true },
                    Some(_) => Verdict::ApplyLater,
                    None => Verdict::Apply,
                }
            }
            Wait::Leave => return self.leave(index),
            Wait::Answer(_) => Verdict::Go,
            Wait::Bank(call) => return self.exchange(index, call),
            Wait::Delivery(message) => Verdict::Delivery(self.deliver(index, message)),
        };
        self.poll(index, verdict)
    }

    fn tell_fault(&mut self, index: usize, what: &str, fault: Option<Fault>) {
        let Task { node, job, .. } = &self.tasks[index];
        self.story.tell(|| {
            let (job, what) = (job.words(), last_word(what));
            let fault = fault.map_or(String::new(), |fault| format!(": {}", fault.words()));
            format!("server {node}, which {job}: transaction {what}{fault}")
        });
    }

    /// The last look, and with it the first byte: nothing comes between them.
    fn leave(&mut self, index: usize) -> Result<(), Broken> {
        let id = self.tasks[index].id;
        self.poll(index, Verdict::Go)?;
        match self.tasks.get_mut(index).filter(|task| task.id == id).and_then(|task| task.wait.take()) {
            Some(Wait::Bank(call)) if call.changes() => self.exchange(index, call),
            Some(wait) => {
                self.tasks[index].wait = Some(wait);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn exchange(&mut self, index: usize, call: Call) -> Result<(), Broken> {
        let fault = self.meet(if call.changes() { SENDING } else { ASKING });
        let (node, id) = (self.tasks[index].node, self.tasks[index].id);
        self.story.tell(|| {
            let fault = fault.map_or(String::new(), |fault| format!(": {}", fault.words()));
            format!("server {node} sends {} to the bank{fault}", call.name())
        });
        self.tasks[index].lost = Some(call.instead(Fault::AnswerLost));
        let answer = match fault {
            Some(Fault::RequestLate) => {
                self.on_its_way.push(OnItsWay::ToBank(Some(id), call));
                return Ok(());
            }
            Some(
                fault @ (Fault::NotSent
                | Fault::RequestLost
                | Fault::ErrorBefore
                | Fault::Unauthorized
                | Fault::RateLimited),
            ) => call.instead(fault),
            Some(Fault::RequestRepeated) => {
                let answer = self.bank_does(&call)?;
                self.on_its_way.push(OnItsWay::ToBank(None, call));
                answer
            }
            Some(Fault::AnswerLate) => {
                let answer = self.bank_does(&call)?;
                self.on_its_way.push(OnItsWay::FromBank(id, answer));
                return Ok(());
            }
            Some(fault @ (Fault::WrongSum | Fault::WrongOwner)) => {
                let answer = self.bank_does(&call)?;
                if self.is_over(&answer) { answer } else { self.mixed_up(answer, fault) }
            }
            Some(fault) => {
                self.bank_does(&call)?;
                call.instead(fault)
            }
            None => self.bank_does(&call)?,
        };
        self.poll(index, Verdict::Bank(answer))
    }

    /// An answer about a payment with what does not belong to it: another sum, or somebody else's payment in its place.
    fn mixed_up(&self, answer: BankAnswer, fault: Fault) -> BankAnswer {
        let BankAnswer::Payment(Reply::Object(seen)) = &answer else { return answer };
        let other = self.bank.objects.iter().find(|object| object.id != seen.object);
        match other {
            Some(other) if fault == Fault::WrongOwner => {
                BankAnswer::Payment(Reply::Object(self.bank.shown(other)))
            }
            Some(_) | None => answer.mixed_up(fault),
        }
    }

    /// Whether an answer is about an intent that is over, or that stands before a person. Money that comes after the end, and money that
    /// a person confirms, is written down as the bank shows it: there is nobody any more who would ask a second time.
    fn is_over(&self, answer: &BankAnswer) -> bool {
        let BankAnswer::Payment(Reply::Object(seen)) = answer else { return false };
        let mut intents = self.rows.intents.values();
        intents.any(|intent| {
            let over = intent.state.is_terminal() || intent.state.name() == StateName::NeedsReview;
            Some(intent.id) == seen.intent && over
        })
    }

    /// The bank gets a call.
    pub(crate) fn bank_does(&mut self, call: &Call) -> Result<BankAnswer, Broken> {
        let now = self.time.now();
        if let Call::Send(request) | Call::SendRefund(request) = call {
            self.checker.on_arrival(&self.rows, request)?;
        }
        let before: Vec<_> = self.bank.objects.iter().map(|object| object.status).collect();
        let refunds = self.bank.refunds.len();
        let (choices, rates) = (&mut self.choices, &mut self.size.rates);
        let mut met = None;
        let answer = self.bank.handle(call, now, &mut |order| page::fate(choices, rates, order, &mut met));
        if let Some(fault) = met {
            self.note(fault);
        }
        if call.changes() {
            for index in 0..self.bank.objects.len() {
                let status = self.bank.objects[index].status;
                if before.get(index) != Some(&status) && status != Status::Pending && status != Status::Slow {
                    self.announce(index);
                }
            }
            for index in refunds..self.bank.refunds.len() {
                self.on_its_way.push(OnItsWay::Notice(Arc::new(self.bank.refund_notice(index)), 0));
            }
        }
        self.story.tell(|| format!("  the bank: {answer:?}"));
        Ok(answer)
    }

    fn deliver(&mut self, index: usize, message: Message) -> Delivery {
        let fault = self.meet(DELIVERING);
        let node = self.tasks[index].node;
        self.story.tell(|| {
            let fault = fault.map_or(String::new(), |fault| format!(": {}", fault.words()));
            format!("server {node} delivers {:?}{fault}", message.kind)
        });
        match fault {
            Some(Fault::ReceiverRefuses) => Delivery::Refused("503".to_owned(), engine::Again::Later(None)),
            Some(Fault::ReceiverUnreachable) => Delivery::Unanswered("no answer".to_owned()),
            Some(_) => {
                self.checker.received.push(message);
                Delivery::Unanswered("no answer".to_owned())
            }
            None => {
                self.checker.received.push(message);
                Delivery::Delivered("taken".to_owned())
            }
        }
    }

    pub(crate) fn arrive(&mut self, index: usize) -> Result<(), Broken> {
        match self.on_its_way.remove(index) {
            OnItsWay::ToBank(task, call) => {
                self.story.tell(|| format!("{} arrives late", call.name()));
                let answer = self.bank_does(&call)?;
                let Some(task) = task.and_then(|task| self.position(task)) else { return Ok(()) };
                let lost = self.meet(&[Fault::AnswerLost]).map(|fault| call.instead(fault));
                self.poll(task, Verdict::Bank(lost.unwrap_or(answer)))
            }
            OnItsWay::FromBank(task, answer) => {
                let Some(task) = self.position(task) else { return Ok(()) };
                self.story.tell(|| "the bank's answer arrives late".to_owned());
                self.poll(task, Verdict::Bank(answer))
            }
            OnItsWay::Notice(body, tries) => {
                let fault = self.meet(&[Fault::NoticeLost, Fault::NoticeRepeated]);
                self.story.tell(|| {
                    let fault = fault.map_or(String::new(), |fault| format!(": {}", fault.words()));
                    format!("a notification `{}` arrives{fault}", String::from_utf8_lossy(&body))
                });
                match fault {
                    Some(Fault::NoticeLost) => {
                        // What it had announced otherwise it announces until somebody has heard it.
                        if self.bank.is_fickle(&body) {
                            self.on_its_way.push(OnItsWay::Notice(body, tries));
                        }
                        return Ok(());
                    }
                    Some(_) => self.on_its_way.push(OnItsWay::Notice(Arc::clone(&body), tries)),
                    None => {}
                }
                let Some(node) = self.some_ready_node() else {
                    self.notice_comes_again(body, tries);
                    return Ok(());
                };
                self.spawn(node, Job::Accept { tenant: merchants::tenant(), body, tries })
            }
        }
    }

    fn time_out(&mut self, index: usize) -> Result<(), Broken> {
        let id = self.tasks[index].id;
        let node = self.tasks[index].node;
        self.story.tell(|| format!("server {node} waits no longer for the bank"));
        self.on_its_way.retain_mut(|on_its_way| match on_its_way {
            OnItsWay::ToBank(task, _) => {
                *task = task.filter(|task| *task != id);
                true
            }
            OnItsWay::FromBank(task, _) => *task != id,
            OnItsWay::Notice(..) => true,
        });
        self.pass(DEADLINE_MS);
        match self.tasks[index].lost.take() {
            Some(answer) => self.poll(index, Verdict::Bank(answer)),
            None => Ok(()),
        }
    }

    fn position(&self, id: u32) -> Option<usize> {
        self.tasks.iter().position(|task| task.id == id && task.wait.is_none())
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

    /// A task begins.
    pub(crate) fn spawn(&mut self, node: usize, job: Job) -> Result<(), Broken> {
        let Some(engine) = self.nodes[node].engine.clone() else { return Ok(()) };
        let running = job.run(engine);
        let id = self.next_task;
        self.next_task += 1;
        self.tasks.push(Task {
            id,
            node,
            job,
            running,
            wait: None,
            lost: None,
            failed_by_store: false,
            history: 0,
        });
        self.go_on(self.tasks.len() - 1)
    }

    /// A task gets something and runs until it waits again.
    pub(crate) fn poll(&mut self, index: usize, verdict: Verdict) -> Result<(), Broken> {
        if self.remembers {
            // What a transaction answers is a function of the rows, and what the bank answers of its ledger.
            let got = mix(self.rows_digest, self.bank_digest());
            let task = &mut self.tasks[index];
            if matches!(verdict, Verdict::Bank(BankAnswer::Payments(_))) {
                let listings = &mut self.nodes[task.node].listings;
                *listings = mix(mix(*listings, got), self.time.now().0 as u64);
            }
            task.history = mix(mix(task.history, verdict.kind()), got);
        }
        self.desk.give(verdict);
        self.go_on(index)
    }

    fn go_on(&mut self, index: usize) -> Result<(), Broken> {
        let context = &mut Context::from_waker(Waker::noop());
        let task = &mut self.tasks[index];
        let polled = task.running.as_mut().poll(context);
        let done = match polled {
            std::task::Poll::Ready(done) => Some(done.unwrap_or_else(Done::Failed)),
            std::task::Poll::Pending => {
                task.wait = self.desk.take_wait();
                None
            }
        };
        if self.desk.take_wrote() {
            self.look()?;
            self.checker.after_a_write(&self.rows, self.time.now())?;
        }
        let Some(done) = done else { return Ok(()) };
        let task = self.tasks.remove(index);
        if let (Done::Failed(error), false) = (&done, task.failed_by_store) {
            let found = format!("a server, which {}, fails by itself: {error}", task.job.words());
            return Err(Broken { invariant: FAILS_BY_ITSELF, found });
        }
        page::finished(self, task.node, task.job, done)
    }

    fn tick(&mut self, node: usize, tick: Tick) -> Result<(), Broken> {
        let job = match tick {
            Tick::Beat => Job::Beat,
            Tick::Work => Job::ClaimDue,
            Tick::Inbox => Job::ClaimNotices,
            Tick::Effects => Job::ClaimEffects,
            Tick::Sweep => {
                let Some(merchant) = self.merchants.all().into_iter().next() else { return Ok(()) };
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

    fn restore(&mut self, rows: Rows) -> Result<(), Broken> {
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
        self.checker.restored(&self.rows, self.time.now())
    }
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
