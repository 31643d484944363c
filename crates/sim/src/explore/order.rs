//! Orders of events that need not all be taken: where two neighbours do not touch each other, one order stands for both.
//!
//! A task that begins, and a submit that looks for its key and its intent, change nothing that others see. Such a step is put off for as
//! long as it can be: until its own task goes on, or something comes that it would not have missed by waiting. So after one only these
//! may follow: its task's next step; time, for the clocks were read; a write, where the key was looked for; the death of a server that
//! had just taken a request. Others that begin or look may come between, to wait for the same. Any other course is one of these in
//! another order, with the same state behind both. (Of an intent a submit uses what never changes.)
//!
//! A task that has written and then only reads how things stand, where no tab has a use for it, reads at once.
//!
//! The largest worlds are bounded by how often another goes on before what is at work has come to where it waits for the bank
//! (`Bounds::switches`): counted in the courses that are left by all this. Faults come between at any time.

use std::any::type_name;

use store::{CheckoutRecord, IntentRecord};

use crate::{
    check::Broken,
    desk::Wait,
    events::{Deed, Event},
    fault::Fault,
    task::{Job, Task},
    world::World,
};

/// A step that changed nothing that others see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Light {
    /// It took a shopper's request.
    Asked,
    /// It read the clocks, or what never changes.
    Begun,
    /// It looked for a key, which a write can make.
    Looked,
}

impl Task {
    /// A submit before its own transaction, which reads next.
    fn looks(&self) -> bool {
        matches!((&self.job, &self.wait), (Job::Submit { .. }, Some(Wait::Read(_)))) && !self.wrote
    }
}

impl World {
    fn takes_every_order(&self) -> bool {
        self.remembers.is_some_and(|how| how.every_order)
    }

    /// Whether time may still pass while something is at work.
    fn time_may_pass(&self) -> bool {
        [Fault::LeaseEnds, Fault::TokenDies].iter().any(|fault| self.size.rates.of(*fault) > 0)
    }

    /// Whether an event may come now, after the light steps since the last heavy one.
    pub(crate) fn may_come(&self, event: Event) -> bool {
        let mut lights = self.tasks.iter().enumerate().filter_map(|(index, task)| Some((index, task.light?)));
        if lights.clone().next().is_none() {
            return true;
        }
        let time = self.time_may_pass();
        let others = |own: usize| lights.clone().filter(move |(index, _)| *index != own);
        let wait_for_a_write = |own| others(own).all(|(_, light)| light == Light::Looked);
        if let Event::Resume(index) = event {
            if self.tasks[index].looks() {
                return time || wait_for_a_write(index);
            }
            let writes = matches!(self.tasks[index].wait, Some(Wait::Write(_)));
            return wait_for_a_write(index) && (writes || others(index).next().is_none());
        }
        if let Event::Kill(node) = event {
            return lights.all(|(index, light)| self.tasks[index].node == node && light == Light::Asked);
        }
        let begins = matches!(event, Event::Tick(..) | Event::Tab(_, Deed::Pay));
        matches!(event, Event::Pass(..)) || begins && (time || wait_for_a_write(usize::MAX))
    }

    /// The task that went on last, where it can go on at once.
    pub(crate) fn at_work(&self) -> Option<&Task> {
        let index =
            self.tasks.iter().position(|task| Some(task.id) == self.at_work && task.wait.is_some())?;
        self.may_come(Event::Resume(index)).then_some(&self.tasks[index])
    }

    /// Whether another goes on before what is at work has come to where it waits. Faults come at any time.
    pub(crate) fn is_switch(&self, event: Event) -> bool {
        let Some(at_work) = self.at_work() else { return false };
        let own = matches!(event, Event::Resume(index) if self.tasks[index].id == at_work.id);
        !own && !matches!(event, Event::Kill(_) | Event::Pass(..))
    }

    /// An event happens in a world whose every course is explored.
    pub(crate) fn happen_in_order(&mut self, event: Event) -> Result<(), Broken> {
        if self.size.switches != u32::MAX && self.is_switch(event) {
            self.size.switches -= 1;
        }
        if let Event::Resume(index) = event {
            self.at_work = Some(self.tasks[index].id);
        } else if matches!(event, Event::Tick(..) | Event::Tab(..)) {
            self.at_work = Some(self.next_task);
        }
        if self.takes_every_order() {
            return self.happen(event);
        }
        let looker = if let Event::Resume(index) = event {
            Some(&self.tasks[index]).filter(|task| task.looks()).map(|task| task.id)
        } else {
            None
        };
        let time = self.time_may_pass();
        self.happen(event)?;
        let light = if let Event::Tick(..) = event {
            // A write can leave nothing to look for, until time has passed.
            Some(if time { Light::Looked } else { Light::Begun })
        } else {
            matches!(event, Event::Tab(_, Deed::Pay)).then_some(Light::Asked)
        };
        if let Some(id) = looker {
            if let Some(task) = self.tasks.iter_mut().find(|task| task.id == id) {
                task.light = Some(if task.looks() { Light::Looked } else { Light::Begun });
            }
        } else if light.is_some() {
            if let Some(task) = self.tasks.last_mut() {
                task.light = light;
            }
        } else {
            self.tasks.iter_mut().for_each(|task| task.light = None);
        }
        while let Some(index) = self.tasks.iter().position(|task| self.says_its_last_word(task)) {
            self.resume(index)?;
        }
        Ok(())
    }

    /// Whether a task has only to read how things stand, and nobody will do anything because of it.
    pub(crate) fn says_its_last_word(&self, task: &Task) -> bool {
        let reads = type_name::<Option<(CheckoutRecord, IntentRecord)>>();
        let last = task.wrote && matches!(task.wait, Some(Wait::Read(what)) if what == reads);
        let job = matches!(task.job, Job::Submit { .. } | Job::Drive(_));
        last && job && task.job.tab().is_none_or(|tab| self.has_done_all(tab))
    }

    /// Whether a tab's shopper has done all that he does.
    pub(crate) fn has_done_all(&self, tab: usize) -> bool {
        self.size.deeds.is_some_and(|deeds| self.tabs[tab].deeds >= deeds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{Bounds, How, IN_TURN, begun};

    fn after_a_press(bounds: &Bounds) -> Vec<Event> {
        let mut world = begun(bounds, How::default()).unwrap();
        world.happen_in_order(Event::Tab(0, Deed::Pay)).unwrap();
        world.find_all_events(bounds.deeds);
        let faults = |event: &Event| matches!(event, Event::Kill(_) | Event::Pass(..));
        world.events.iter().map(|(event, _)| *event).filter(|event| !faults(event)).collect()
    }

    #[test]
    fn where_no_switch_is_left_what_is_at_work_goes_on_first() {
        let [two, ..] = &IN_TURN;
        assert_eq!(after_a_press(two), [Event::Resume(0)]);
        let one = Bounds { switches: 1, ..two.clone() };
        assert!(after_a_press(&one).contains(&Event::Tab(1, Deed::Pay)));
    }
}
