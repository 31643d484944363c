//! Tasks run: each gets what it waits for, or what went wrong instead, and goes on until it waits again.

use std::task::{Context, Poll, Waker};

use crate::{
    check::Broken,
    desk::{Verdict, Wait, last_word},
    fault::Fault,
    page,
    task::{Done, Job, Task},
    world::{World, mix},
};

const STORE_READ: &[Fault] = &[Fault::StoreBusy, Fault::StoreSlow];
const STORE_WRITE: &[Fault] =
    &[Fault::StoreBusy, Fault::StoreFull, Fault::CommitLost, Fault::CommitUnknown, Fault::StoreSlow];
/// Nothing fails that nobody made fail.
pub(crate) const FAILS_BY_ITSELF: u8 = 23;

impl World {
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
                self.tasks[index].wrote = true;
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

    /// A task begins.
    pub(crate) fn spawn(&mut self, node: usize, job: Job) -> Result<(), Broken> {
        let Some(engine) = self.nodes[node].engine.clone() else { return Ok(()) };
        let history = if self.remembers.is_some() { self.digest_of_job(&job) } else { 0 };
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
            history,
            began: self.time.now(),
            wrote: false,
            changed: false,
            light: None,
        });
        self.go_on(self.tasks.len() - 1)
    }

    /// A task gets something and runs until it waits again.
    pub(crate) fn poll(&mut self, index: usize, verdict: Verdict) -> Result<(), Broken> {
        if self.remembers.is_some() {
            self.remember(index, &verdict);
        }
        self.hash = mix(self.hash, verdict.kind());
        self.desk.give(verdict);
        self.go_on(index)
    }

    fn go_on(&mut self, index: usize) -> Result<(), Broken> {
        let context = &mut Context::from_waker(Waker::noop());
        let task = &mut self.tasks[index];
        let polled = task.running.as_mut().poll(context);
        let done = match polled {
            Poll::Ready(done) => Some(done.unwrap_or_else(Done::Failed)),
            Poll::Pending => {
                task.wait = self.desk.take_wait();
                None
            }
        };
        if self.desk.take_wrote() && self.look()? {
            self.tasks[index].changed = true;
            self.checker.after_a_write(&self.rows, &self.time)?;
        }
        let Some(done) = done else { return Ok(()) };
        let task = self.tasks.remove(index);
        self.checker.on_end(&done, task.changed)?;
        if let (Done::Failed(error), false) = (&done, task.failed_by_store) {
            let found = format!("a server, which {}, fails by itself: {error}", task.job.words());
            return Err(Broken { invariant: FAILS_BY_ITSELF, found });
        }
        page::finished(self, task.node, task.job, done)
    }
}
