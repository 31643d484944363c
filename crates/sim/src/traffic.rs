//! What goes between servers, the bank and receivers: it arrives, is late, comes twice, is lost, or somebody on the way answers.

use std::sync::Arc;

use engine::Delivery;
use payment::StateName;
use providers::Reply;
use store::{ChargeRecord, Fate, StrangerRecord, Tenant};

use crate::{
    bank::Status,
    check::Broken,
    desk::{BankAnswer, Call, Message, Verdict, Wait},
    fault::Fault,
    merchants, page,
    task::Job,
    time::SECOND,
    wire,
    world::{OnItsWay, World},
};

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
const DELIVERING: &[Fault] =
    &[Fault::ReceiverRefuses, Fault::ReceiverSilent, Fault::ReceiverUnreachable, Fault::ReceiverLate];
/// A server waits so long for the bank, ms.
const DEADLINE_MS: i64 = 25 * SECOND;

impl World {
    /// The bank's object goes on, and is announced.
    pub(crate) fn object_moves(&mut self, index: usize, to: Status) {
        let id = self.bank.objects[index].id.clone();
        self.story.tell(|| format!("at the bank {id} becomes {to:?}"));
        self.bank.moves(index, to, self.time.real());
        self.announce(index);
    }

    /// The bank sends a notification about an object.
    pub(crate) fn announce(&mut self, index: usize) {
        if self.size.deeds.is_some() {
            return;
        }
        self.checker.can_know(&self.bank.objects[index].id);
        self.on_its_way.push(OnItsWay::Notice(Arc::new(self.bank.notice(index)), 0));
    }

    /// The last look, and with it the first byte: nothing comes between them.
    pub(crate) fn leave(&mut self, index: usize) -> Result<(), Broken> {
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

    pub(crate) fn exchange(&mut self, index: usize, call: Call) -> Result<(), Broken> {
        let fault = self.meet(if call.changes() { SENDING } else { ASKING });
        let (node, id) = (self.tasks[index].node, self.tasks[index].id);
        self.story.tell(|| {
            let fault = fault.map_or(String::new(), |fault| format!(": {}", fault.words()));
            format!("server {node} sends {} to the bank{fault}", call.name())
        });
        self.tasks[index].lost = Some(call.instead(Fault::AnswerLost));
        if let (Call::Send(request) | Call::SendRefund(request), true) =
            (&call, fault != Some(Fault::NotSent))
        {
            self.checker.leaves(&self.rows, request)?;
        }
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
                let answer = if self.is_over(&answer) { answer } else { self.mixed_up(answer, fault) };
                let answer = call.read(answer);
                self.bank.remember(&answer);
                answer
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

    /// Whether an answer is about an intent that is over, or that stands before a person; about a charge; or about what somebody else
    /// holds, or took and nobody was told of. Money that comes after the end, and money that a person confirms, is written down as the
    /// bank shows it: there is nobody any more who would ask a second time.
    fn is_over(&self, answer: &BankAnswer) -> bool {
        let BankAnswer::Payment(Reply::Object(seen)) = answer else { return false };
        let held = |row: &StrangerRecord| row.object == seen.object && (!row.took_money || row.untold);
        if self.rows.charges.values().any(|charge| charge.object == seen.object)
            || self.rows.strangers.values().any(held)
        {
            return true;
        }
        let mut intents = self.rows.intents.values();
        intents.any(|intent| {
            let over = intent.state.is_terminal() || intent.state.name() == StateName::NeedsReview;
            Some(intent.id) == seen.intent && over
        })
    }

    /// The bank gets a call.
    pub(crate) fn bank_does(&mut self, call: &Call) -> Result<BankAnswer, Broken> {
        let now = self.time.real();
        if let Call::Send(request) | Call::SendRefund(request) = call {
            self.checker.on_arrival(&self.rows, &self.bank, request)?;
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

    pub(crate) fn deliver(&mut self, index: usize, message: Message) -> Delivery {
        let fault = self.meet(DELIVERING);
        let node = self.tasks[index].node;
        self.story.tell(|| {
            let fault = fault.map_or(String::new(), |fault| format!(": {}", fault.words()));
            format!("server {node} delivers {:?}{fault}", message.kind)
        });
        match fault {
            Some(Fault::ReceiverRefuses) => Delivery::Refused("503".to_owned(), engine::Again::Later(None)),
            Some(Fault::ReceiverUnreachable) => Delivery::Unanswered("no answer".to_owned()),
            Some(Fault::ReceiverLate) => {
                self.on_its_way.push(OnItsWay::ToReceiver(message, self.time.real()));
                Delivery::Unanswered("no answer".to_owned())
            }
            Some(_) => {
                self.checker.receives(message, self.time.real());
                Delivery::Unanswered("no answer".to_owned())
            }
            None => {
                self.checker.receives(message, self.time.real());
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
                        // What it had announced otherwise it announces until somebody has heard it, but for what each sweep asks about.
                        if self.bank.is_fickle(&body) && !self.is_replaced(&body) {
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
                let tenant = self.told_of(&body);
                self.spawn(node, Job::Accept { tenant, body, tries })
            }
            OnItsWay::ToReceiver(message, left_at) => {
                self.story.tell(|| format!("a receiver gets {:?} late", message.kind));
                self.checker.receives(message, left_at);
                Ok(())
            }
        }
    }

    /// Whether a notification is about a charge in whose place an extra pays.
    fn is_replaced(&self, body: &[u8]) -> bool {
        let Some(notice) = wire::read_notice(body) else { return false };
        let mut charges = self.rows.charges.values();
        let about = charges.find(|charge| charge.object == notice.object);
        about.filter(|charge| charge.fate == Some(Fate::Returned)).is_some_and(|charge| {
            let kept = |row: &ChargeRecord| row.checkout == charge.checkout && row.fate == Some(Fate::Kept);
            self.rows.charges.values().any(kept)
        })
    }

    /// Whom the bank tells: the merchant of the account, or one of those who share it. Of what was over, him whose payment it is: nobody
    /// asks about it any more.
    fn told_of(&mut self, body: &[u8]) -> Tenant {
        if let Some(own) = self.bank.intent_of_fickle(body).and_then(|intent| self.checker.whose(intent)) {
            return own;
        }
        let all = self.merchants.all();
        let account = self.bank.account_of(body);
        let mut of_it = all.iter().filter(|merchant| Some(merchant.account.as_str()) == account);
        let count = of_it.clone().count();
        let chosen = self.choices.one_of(count);
        of_it.nth(chosen).map_or_else(|| merchants::tenant(0), |merchant| merchant.tenant.clone())
    }

    pub(crate) fn time_out(&mut self, index: usize) -> Result<(), Broken> {
        let id = self.tasks[index].id;
        let node = self.tasks[index].node;
        self.story.tell(|| format!("server {node} waits no longer for the bank"));
        self.on_its_way.retain_mut(|on_its_way| match on_its_way {
            OnItsWay::ToBank(task, _) => {
                *task = task.filter(|task| *task != id);
                true
            }
            OnItsWay::FromBank(task, _) => *task != id,
            OnItsWay::Notice(..) | OnItsWay::ToReceiver(..) => true,
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
}
