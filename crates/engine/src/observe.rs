//! Applies events to an intent in hand, and gathers what the commit will write: the only road by which a provider's word changes a
//! state.

use payment::{
    Anomaly, Decision, Effect, Event, NotExecutedReason, ObjectId, ObjectStatus, Observation, OrderId,
    PaidWith, ProviderAccount, State, Terms, Timestamp, TransitionError, UnknownReason, transition,
};
use providers::Reply;
use store::{Change, Charge, Claimed, IntentRecord, OperationRecord, Task};

/// An intent in hand, with all that happened to it since it was claimed.
pub(crate) struct InHand {
    pub(crate) state: State,
    pub(crate) changes: Vec<Change>,
    pub(crate) paid_with: Option<PaidWith>,
    pub(crate) object: Option<ObjectId>,
    pub(crate) charges: Vec<Charge>,
    pub(crate) anomalies: Vec<Anomaly>,
    /// Whether the provider showed since that its object holds the money.
    pub(crate) shows_hold: bool,
    /// Whose objects are seen: the account the request was frozen for, or the one that is asked.
    account: ProviderAccount,
    terms: Terms,
    /// What it is for, where that is asked.
    order: Option<OrderId>,
    now: Timestamp,
}

impl InHand {
    /// The objects to come are this account's.
    pub(crate) fn new(claimed: &Claimed, account: ProviderAccount) -> Self {
        let order = Some(claimed.checkout.order.clone());
        Self { order, ..Self::of(&claimed.intent, &claimed.operation, account, claimed.now) }
    }

    /// The same, of rows that nobody claimed.
    pub(crate) fn of(
        intent: &IntentRecord,
        operation: &OperationRecord,
        account: ProviderAccount,
        now: Timestamp,
    ) -> Self {
        // A refund's object is a refund, and none of the intent's.
        let object = if operation.task == Task::Pay { operation.object.clone() } else { None };
        Self {
            state: intent.state.clone(),
            changes: Vec::new(),
            paid_with: None,
            object,
            charges: Vec::new(),
            anomalies: Vec::new(),
            shows_hold: false,
            account,
            terms: Terms { intent: intent.id, amount: intent.amount },
            order: None,
            now,
        }
    }

    /// Whether anything happened to it.
    pub(crate) fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Whose objects are seen.
    pub(crate) fn account(&self) -> &ProviderAccount {
        &self.account
    }

    /// What a send brought.
    pub(crate) fn sent(&mut self, reply: Reply, evidence: &str) -> Result<(), TransitionError> {
        self.alarm(&reply);
        match reply {
            Reply::Object(seen) => self.observe(seen, evidence),
            Reply::NotExecuted { reason, .. } => {
                self.apply(Event::NotExecuted(reason), format!("{evidence}: {}", not_executed_words(reason)))
            }
            Reply::Rejected { code, message } => {
                let words = format!("{evidence}: the provider rejected the request: {code}: {message}");
                self.apply(Event::Rejected { code, message }, words)
            }
            Reply::Unknown { reason, .. } => {
                self.apply(Event::Unanswered(reason), format!("{evidence}: {}", unknown_words(reason)))
            }
        }
    }

    /// What a query brought: only an object says anything.
    pub(crate) fn queried(&mut self, reply: Reply, evidence: &str) -> Result<(), TransitionError> {
        self.alarm(&reply);
        match reply {
            Reply::Object(seen) => self.observe(seen, evidence),
            Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => Ok(()),
        }
    }

    /// A provider that does not take our credentials, or does not know our door, is the merchant's affair: never a decline (fault
    /// 49b). So is whoever says it in the provider's place.
    pub(crate) fn alarm<O>(&self, reply: &Reply<O>) {
        use NotExecutedReason::{NotAuthorized, NotFound};
        if let Reply::NotExecuted { reason: NotAuthorized | NotFound, .. }
        | Reply::Unknown { turned_away: Some(NotAuthorized | NotFound), .. } = reply
        {
            tracing::error!(intent = %self.terms.intent, account = self.account.as_str(), words = %no_object_words(reply),
                "the provider turns us away: check the merchant's account and secret");
        }
    }

    /// The provider's word about an object. One that is not what we asked for is never taken for success.
    pub(crate) fn observe(&mut self, seen: Observation, evidence: &str) -> Result<(), TransitionError> {
        let words =
            format!("{evidence}: object {} is {}, {}", seen.object, status_words(&seen.status), seen.amount);
        if let Some(mismatch) = seen.mismatch(&self.terms) {
            let words = format!("{words}; that is not what was asked for ({mismatch:?})");
            return self
                .apply(Event::Mismatched { object: seen.object, amount: seen.amount, mismatch }, words);
        }
        // A second object's card did not pay.
        if self.state.object().is_none_or(|own| *own == seen.object) {
            self.paid_with = seen.paid_with.clone().or_else(|| self.paid_with.take());
        }
        // The first one stays linked: another object of the same intent is an anomaly, not a replacement.
        self.object.get_or_insert_with(|| seen.object.clone());
        self.shows_hold =
            seen.status == ObjectStatus::WaitingForCapture && self.object.as_ref() == Some(&seen.object);
        let Some(named) = self.other_order(&seen) else { return self.apply(Event::Observed(seen), words) };
        let steps = self.changes.len();
        self.apply(Event::Observed(seen), format!("{words}; it names order {named}"))?;
        if self.changes.len() > steps {
            self.anomalies.push(Anomaly::OtherOrder);
        }
        Ok(())
    }

    /// Another order than ours that an object of our intent names. Whose it is, the intent's id says, which nobody but us makes; but
    /// somebody may have repeated a payment by hand, with what was written on it.
    fn other_order(&self, seen: &Observation) -> Option<OrderId> {
        let own = self.order.as_ref()?;
        seen.order.clone().filter(|named| named != own)
    }

    /// Applies one event; an event that changes nothing leaves no line.
    pub(crate) fn apply(&mut self, event: Event, evidence: String) -> Result<(), TransitionError> {
        let (from, name) = (self.state.name(), event.name());
        let Decision { next, effects } = transition(&self.state, event, self.now)?;
        if next != self.state || !effects.is_empty() {
            let to = next.name();
            self.changes.push(Change {
                from: from.as_str(),
                event: name.to_owned(),
                to: to.as_str(),
                evidence,
            });
        }
        self.state = next;
        for effect in effects {
            match effect {
                Effect::Charge { object } => {
                    let (account, amount) = (self.account.clone(), self.terms.amount);
                    self.charges.push(Charge { account, object, amount });
                }
                Effect::Anomaly(anomaly) => self.anomalies.push(anomaly),
            }
        }
        Ok(())
    }
}

/// How a send ended, for its row.
pub(crate) fn outcome_words(reply: &Reply) -> String {
    match reply {
        Reply::Object(seen) => format!("object {} {}", seen.object, status_words(&seen.status)),
        Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => no_object_words(reply),
    }
}

/// The same for an answer that shows no object.
pub(crate) fn no_object_words<O>(reply: &Reply<O>) -> String {
    match reply {
        Reply::Object(_) => "object".to_owned(),
        Reply::NotExecuted { reason, .. } => format!("not executed: {}", not_executed_words(*reason)),
        Reply::Rejected { code, .. } => format!("rejected: {code}"),
        Reply::Unknown { turned_away: Some(reason), .. } => {
            format!("unknown, for it is not in the provider's own words: {}", not_executed_words(*reason))
        }
        Reply::Unknown { reason, turned_away: None, .. } => format!("unknown: {}", unknown_words(*reason)),
    }
}

pub(crate) fn status_words(status: &ObjectStatus) -> &'static str {
    match status {
        ObjectStatus::Pending { .. } => "pending",
        ObjectStatus::WaitingForCapture => "waiting_for_capture",
        ObjectStatus::Succeeded => "succeeded",
        ObjectStatus::Ended(_) => "canceled",
    }
}

fn not_executed_words(reason: NotExecutedReason) -> &'static str {
    match reason {
        NotExecutedReason::NotSent => "no connection, not a byte was sent",
        NotExecutedReason::TooLate => "the process woke too late, not a byte was sent",
        NotExecutedReason::NotAuthorized => "the provider does not accept our credentials (401 or 403)",
        NotExecutedReason::NotFound => "the provider does not know this door (404 or 405)",
        NotExecutedReason::RateLimited => "the provider wants us to slow down (429)",
    }
}

fn unknown_words(reason: UnknownReason) -> &'static str {
    match reason {
        UnknownReason::NoAnswer => "no answer after the request was sent",
        UnknownReason::ProviderError => "an error that says nothing about the payment (5xx)",
        UnknownReason::Accepted => "accepted, still in progress (202)",
        UnknownReason::Unreadable => "an answer that cannot be read",
        UnknownReason::HolderLost => "its holder went silent",
        UnknownReason::RejectedAfterUnknown => "a rejection after an unanswered send",
        UnknownReason::Mismatch(_) => "an object that contradicts what was asked for",
        UnknownReason::Pending => "the object is pending at the provider",
    }
}
