//! A capture, cancel or refund in hand: what an answer makes of it, gathered for the commit. Asks nobody.

use payment::{
    AttemptId, Mismatch, ObjectId, ObjectStatus, Observation, OperationEvent, OperationId, OperationKind,
    OperationState, ProviderAccount, RefundObservation, RefundStatus, Timestamp, UnknownReason,
};
use providers::Reply;
use store::{Change, Claimed, FollowUp};

use crate::{
    EngineError,
    drive::retry_after_ms,
    observe::{InHand, no_object_words, outcome_words},
};

/// A capture, cancel or refund in hand.
pub(super) struct FollowUpInHand<'c> {
    id: OperationId,
    pub(super) follow_up: &'c FollowUp,
    pub(super) state: OperationState,
    pub(super) object: Option<ObjectId>,
    pub(super) changes: Vec<Change>,
    pub(super) intent: InHand,
    pub(super) ended: Option<(AttemptId, String)>,
    pub(super) retry_after_ms: Option<i64>,
    pub(super) absent_since: Option<Timestamp>,
    now: Timestamp,
}

impl<'c> FollowUpInHand<'c> {
    /// The objects to come are this account's.
    pub(super) fn new(claimed: &Claimed, follow_up: &'c FollowUp, account: ProviderAccount) -> Self {
        Self {
            id: claimed.operation.id,
            follow_up,
            state: follow_up.state.clone(),
            object: None,
            changes: Vec::new(),
            intent: InHand::new(claimed, account),
            ended: None,
            retry_after_ms: None,
            absent_since: claimed.operation.absent_since,
            now: claimed.now,
        }
    }

    pub(super) fn apply(&mut self, event: OperationEvent, evidence: String) {
        let (from, name) = (self.state.name(), event.name());
        let next = self.state.after(event, self.now);
        if next != self.state {
            let event = format!("{}.{name}", self.follow_up.kind.as_str());
            self.changes.push(Change { from, event, to: next.name(), evidence });
        }
        self.state = next;
    }

    /// Whatever an answer says: whom it alarms, and how long the provider wants us to wait.
    pub(super) fn hear<O>(&mut self, reply: &Reply<O>) {
        self.intent.alarm(reply);
        self.retry_after_ms = retry_after_ms(reply);
    }

    /// What an answer without an object means.
    pub(super) fn refuse<O>(&mut self, reply: Reply<O>) {
        let words = no_object_words(&reply);
        match reply {
            Reply::Object(_) => {}
            Reply::NotExecuted { reason, .. } => self.apply(OperationEvent::NotExecuted(reason), words),
            Reply::Rejected { code, message } => {
                self.apply(OperationEvent::Rejected { code, message }, words);
            }
            Reply::Unknown { reason, .. } => self.apply(OperationEvent::Unanswered(reason), words),
        }
    }

    /// What a refund's send brought.
    pub(super) fn refund_sent(&mut self, reply: Reply<RefundObservation>, attempt: AttemptId) {
        self.hear(&reply);
        match reply {
            Reply::Object(seen) => {
                self.ended = Some((attempt, format!("refund {}", seen.object)));
                self.see_refund(&seen, &attempt.to_string());
            }
            other @ (Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. }) => {
                self.ended = Some((attempt, no_object_words(&other)));
                self.refuse(other);
            }
        }
    }

    /// What the payment it acts on says; the intent hears it too.
    pub(super) fn see_payment(&mut self, seen: Observation, evidence: &str) -> Result<(), EngineError> {
        let words = format!("{evidence}: {}", outcome_words(&Reply::Object(seen.clone())));
        let kind = self.follow_up.kind;
        let event = match (kind, &seen.status) {
            (OperationKind::Capture, ObjectStatus::Succeeded)
            | (OperationKind::Cancel, ObjectStatus::Ended(_)) => OperationEvent::Done,
            (OperationKind::Capture, ObjectStatus::Ended(_)) => {
                OperationEvent::Refused { code: "canceled".to_owned() }
            }
            (OperationKind::Cancel, ObjectStatus::Succeeded) => {
                OperationEvent::Refused { code: "succeeded".to_owned() }
            }
            (
                OperationKind::Pay | OperationKind::Refund | OperationKind::Capture | OperationKind::Cancel,
                ObjectStatus::Pending { .. }
                | ObjectStatus::WaitingForCapture
                | ObjectStatus::Succeeded
                | ObjectStatus::Ended(_),
            ) => OperationEvent::Unanswered(UnknownReason::Pending),
        };
        self.apply(event, words);
        self.intent.observe(seen, evidence)?;
        Ok(())
    }

    /// What a refund says. One of another payment, another operation or another sum is never taken for ours.
    pub(super) fn see_refund(&mut self, seen: &RefundObservation, evidence: &str) {
        let words = format!("{evidence}: refund {}, {}", seen.object, seen.amount);
        let owned = seen.payment == self.follow_up.target && seen.operation.is_none_or(|id| id == self.id);
        if !owned || Some(seen.amount) != self.follow_up.amount {
            let mismatch = if owned { Mismatch::Amount } else { Mismatch::Owner };
            let why = UnknownReason::Mismatch(mismatch);
            return self.apply(OperationEvent::Unanswered(why), words);
        }
        self.object = Some(seen.object.clone());
        let event = match &seen.status {
            RefundStatus::Succeeded => OperationEvent::Done,
            RefundStatus::Pending => OperationEvent::Unanswered(UnknownReason::Pending),
            RefundStatus::Canceled { code } => OperationEvent::Refused { code: code.clone() },
        };
        self.apply(event, words);
    }
}
