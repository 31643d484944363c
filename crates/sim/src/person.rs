//! A person with the bank's dashboard before him, who says what became of what nobody could learn. He tells the truth.

use engine::Verdict;
use payment::{IntentId, Money, OperationKind};
use store::{ChargeRecord, CheckoutRecord, OperationRecord, Stage, StrangerRecord, Task};

use crate::{bank::Status, check::Broken, task::Job, world::World};

/// A person's word.
#[derive(Clone, Debug)]
pub struct Word {
    /// Of what.
    pub of: String,
    /// What he says.
    pub verdict: Verdict,
    /// Whether the dashboard shows it: that something ended, it shows only of what did.
    pub shown: bool,
    /// How much the dashboard shows to be taken, of a payment.
    pub amount: Option<Money>,
}

impl World {
    /// Something that stands before a person, and what he says of it: strangers first, then intents and follow-ups, then extras.
    pub(crate) fn waits_for_a_person(&self) -> Option<Word> {
        let known = |stranger: &StrangerRecord| {
            let names = |checkout: &CheckoutRecord| stranger.order.as_ref() == Some(&checkout.order);
            self.rows.checkouts.values().any(|row| row.tenant == stranger.tenant && names(row))
        };
        let mut strangers = self.rows.strangers.values();
        let stranger = strangers.find(|stranger| stranger.resolution.is_none() && known(stranger));
        if let Some(stranger) = stranger {
            let object = self.bank.objects.iter().find(|object| object.id == stranger.object)?;
            let verdict = match object.status {
                Status::Succeeded if !self.bank.gave_all_back(object) => {
                    Verdict::Charged(stranger.object.clone())
                }
                Status::Succeeded
                | Status::Pending
                | Status::Slow
                | Status::Held
                | Status::Declined
                | Status::Expired
                | Status::Canceled => Verdict::NotCharged,
            };
            let shown = object.status.is_over();
            return Some(Word { of: stranger.object.to_string(), verdict, shown, amount: None });
        }
        let in_review = self.rows.operations.values().find(|operation| operation.stage == Stage::Review);
        if let Some(operation) = in_review {
            return Some(self.word_about(operation));
        }
        let open = |charge: &&ChargeRecord| charge.is_open_extra() && charge.left_minor() > 0;
        let extra = self.rows.charges.values().find(open)?;
        let verdict = if !self.lies_there(extra) {
            Verdict::NotCharged
        } else if self.payer_is_gone(extra) {
            Verdict::Charged(extra.object.clone())
        } else {
            Verdict::RefundExtra
        };
        Some(Word { of: extra.object.to_string(), verdict, shown: true, amount: None })
    }

    /// Whether the bank has the money of a charge.
    fn lies_there(&self, charge: &ChargeRecord) -> bool {
        let object = self.bank.objects.iter().find(|object| object.id == charge.object);
        let returned = self.bank.returned(&charge.object) >= charge.amount.minor();
        object.is_some_and(|object| object.status == Status::Succeeded) && !returned
    }

    fn payer_is_gone(&self, extra: &ChargeRecord) -> bool {
        let of_it = self.rows.charges.values().filter(|charge| charge.checkout == extra.checkout);
        let charges: Vec<_> = of_it.cloned().collect();
        ChargeRecord::paying(&charges).is_some_and(|paying| !self.lies_there(paying))
    }

    fn word_about(&self, operation: &OperationRecord) -> Word {
        let (of, verdict) = match &operation.task {
            Task::Pay => {
                let (verdict, shown, amount) = self.truth_of(operation.intent);
                return Word { of: operation.intent.to_string(), verdict, shown, amount };
            }
            Task::FollowUp(follow_up) if follow_up.kind == OperationKind::Refund => {
                let mut refunds = self.bank.refunds.iter();
                let refund = refunds.find(|refund| refund.operation == Some(operation.id));
                let done = refund.map(|refund| Verdict::Executed(refund.id.clone()));
                (operation.id.to_string(), done.unwrap_or(Verdict::NotExecuted))
            }
            Task::FollowUp(follow_up) => {
                let object = self.bank.objects.iter().find(|object| object.id == follow_up.target);
                let ended = object.is_some_and(|object| object.status.is_over());
                let done = ended.then(|| Verdict::Executed(follow_up.target.clone()));
                (operation.id.to_string(), done.unwrap_or(Verdict::NotExecuted))
            }
        };
        Word { of, verdict, shown: true, amount: None }
    }

    /// What became of an intent, whether that is its end, and how much was taken.
    fn truth_of(&self, intent: IntentId) -> (Verdict, bool, Option<Money>) {
        let took = |object: &&crate::bank::Object| {
            let kept = object.status == Status::Succeeded && !self.bank.gave_all_back(object);
            object.intent == Some(intent) && kept
        };
        match self.bank.objects.iter().find(took) {
            Some(object) => (Verdict::Charged(object.id.clone()), true, Some(object.amount)),
            None => {
                let mut objects = self.bank.objects.iter().filter(|object| object.intent == Some(intent));
                (Verdict::NotCharged, objects.all(|object| object.status.is_over()), None)
            }
        }
    }

    /// A person says it to a server; whether there was anything to say.
    pub(crate) fn person_decides(&mut self) -> Result<bool, Broken> {
        let Some(word) = self.waits_for_a_person() else { return Ok(false) };
        let Some(node) = self.some_ready_node() else { return Ok(false) };
        self.story.tell(|| format!("a person says of {}: {:?}", word.of, word.verdict));
        self.spawn(node, Job::Resolve(word))?;
        Ok(true)
    }
}
