//! A refund, capture or cancel in review: whether it was done.

use payment::{
    ObjectId, ObjectStatus, OperationEvent, OperationId, OperationKind, OperationState, ProviderAccount,
    RefundObservation, RefundStatus,
};
use providers::{Account, By, Reply, Span};
use store::{Change, Claimed, Commit, FollowUp, LookOf, Looking, Stage, Task, Tenant};

use super::{
    Grounds, HELD, Resolved, Unaskable, Verdict,
    known::{SILENT, TURNED_AWAY},
    refused, waiting,
};
use crate::{
    Engine, EngineError,
    drive::CLOCKS_DIFFER_MS,
    follow_up::{KEY_DEAD_MS, key_is_dead},
    frozen::account_in,
    listing::OurTime,
    observe::{InHand, status_words},
};

/// What a person's word makes of it.
struct Judged {
    event: OperationEvent,
    object: Option<ObjectId>,
    /// Why the provider was not asked, where it was not.
    unasked: Option<String>,
}

impl Judged {
    /// The provider shows the same.
    fn shown(event: OperationEvent, object: Option<ObjectId>) -> Self {
        Self { event, object, unasked: None }
    }
}

/// Or why it is refused.
type Judgement = Result<Judged, String>;

/// By evidence alone.
fn believed(event: OperationEvent, object: Option<ObjectId>, grounds: &Grounds, why: String) -> Judgement {
    match grounds.evidence {
        Some(_) => Ok(Judged { event, object, unasked: Some(why) }),
        None => Err(format!("{why}; say by --evidence what shows it")),
    }
}

/// Why that object cannot have done it, whoever is asked.
fn contradicts(claimed: &Claimed, follow_up: &FollowUp, object: &ObjectId) -> Option<String> {
    let kind = follow_up.kind.as_str();
    let (own, words) = match follow_up.kind {
        OperationKind::Refund => (claimed.operation.object.as_ref()?, "its own object"),
        OperationKind::Pay | OperationKind::Capture | OperationKind::Cancel => {
            (&follow_up.target, "the payment it acts on")
        }
    };
    (object != own).then(|| format!("a {kind} is shown by {words}, {own}"))
}

impl Engine {
    pub(super) async fn resolve_follow_up(
        &self,
        tenant: &Tenant,
        operation: OperationId,
        verdict: Verdict,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let claimed = match self.claim_look(tenant, LookOf::Operation(operation)).await? {
            Looking::Claimed(claimed) => *claimed,
            Looking::Held => return refused(HELD),
            Looking::NotFound => return refused(format!("{operation} is gone")),
        };
        let Task::FollowUp(follow_up) = claimed.operation.task.clone() else {
            return refused(format!("{operation} is a payment"));
        };
        let judged = match verdict {
            Verdict::Executed(object) => self.judge_executed(&claimed, &follow_up, &object, grounds).await?,
            Verdict::NotExecuted => self.judge_not_executed(&claimed, &follow_up, grounds).await?,
            Verdict::Charged(_) | Verdict::NotCharged | Verdict::RefundExtra => {
                Err(format!("a {} is ended by --executed OBJECT or --not-executed", follow_up.kind.as_str()))
            }
        };
        self.write_judgement(&claimed, &follow_up, judged, grounds).await
    }

    async fn judge_executed(
        &self,
        claimed: &Claimed,
        follow_up: &FollowUp,
        object: &ObjectId,
        grounds: &Grounds,
    ) -> Result<Judgement, EngineError> {
        if let Some(words) = contradicts(claimed, follow_up, object) {
            return Ok(Err(words));
        }
        let judged = match self.asked(&claimed.operation).await? {
            Ok((account, ..)) if follow_up.kind == OperationKind::Refund => {
                self.shown_refund(&account, claimed, follow_up, object, grounds).await
            }
            Ok((account, ..)) => self.shown_payment(&account, claimed, follow_up, grounds).await,
            Err(Unaskable::FromHere(why)) => Err(why),
            Err(Unaskable::ByAnybody(why)) => {
                let made = (follow_up.kind == OperationKind::Refund).then(|| object.clone());
                believed(OperationEvent::JudgedExecuted, made, grounds, why)
            }
        };
        // Whatever is shown, one refund is not counted for two.
        if let (Ok(Judged { object: Some(refund), .. }), Some(frozen)) = (&judged, &claimed.operation.frozen)
            && let Some(words) = self.known_as(&claimed.operation, &frozen.account, refund).await?
        {
            return Ok(Err(words));
        }
        Ok(judged)
    }

    /// Whether the payment shows that it was captured, or cancelled.
    async fn shown_payment(
        &self,
        account: &Account,
        claimed: &Claimed,
        follow_up: &FollowUp,
        grounds: &Grounds,
    ) -> Judgement {
        let target = &follow_up.target;
        let seen = match self.provider.query(account, target).await {
            Reply::Object(seen) => seen,
            reply @ (Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. }) => {
                if key_is_dead(claimed) && self.turns_away(account, &reply, claimed.now).await {
                    return believed(OperationEvent::JudgedExecuted, None, grounds, TURNED_AWAY.to_owned());
                }
                return Err(format!("the provider does not show {target} now"));
            }
        };
        let is_done = match follow_up.kind {
            OperationKind::Capture => seen.status == ObjectStatus::Succeeded,
            OperationKind::Cancel | OperationKind::Pay | OperationKind::Refund => {
                matches!(seen.status, ObjectStatus::Ended(_))
            }
        };
        if is_done {
            return Ok(Judged::shown(OperationEvent::JudgedExecuted, None));
        }
        let status = status_words(&seen.status);
        Err(format!("{target} does not show it: it is {status} at the provider"))
    }

    /// Whether that refund is this one, and done.
    async fn shown_refund(
        &self,
        account: &Account,
        claimed: &Claimed,
        follow_up: &FollowUp,
        object: &ObjectId,
        grounds: &Grounds,
    ) -> Judgement {
        let seen = match self.provider.query_refund(account, object).await {
            Reply::Object(seen) => seen,
            reply @ (Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. }) => {
                if key_is_dead(claimed) && self.turns_away(account, &reply, claimed.now).await {
                    let made = Some(object.clone());
                    return believed(OperationEvent::JudgedExecuted, made, grounds, TURNED_AWAY.to_owned());
                }
                return Err(format!("the provider does not show the refund {object} now"));
            }
        };
        let (made, named) = (Some(object.clone()), seen.operation);
        if seen.payment == follow_up.target && seen.status == RefundStatus::Succeeded {
            if Some(seen.amount) == follow_up.amount
                && named.is_none_or(|named| named == claimed.operation.id)
            {
                return Ok(Judged::shown(OperationEvent::JudgedExecuted, made));
            }
            if named == Some(claimed.operation.id) || claimed.operation.object == made {
                let why = format!(
                    "{object} was shown for this refund, and gave {} back with another sum or name",
                    seen.amount
                );
                return believed(OperationEvent::JudgedExecuted, made, grounds, why);
            }
        }
        Err(format!(
            "{object} is another refund, or is not done: {} of {}, {}",
            seen.amount,
            seen.payment,
            refund_words(&seen.status)
        ))
    }

    async fn judge_not_executed(
        &self,
        claimed: &Claimed,
        follow_up: &FollowUp,
        grounds: &Grounds,
    ) -> Result<Judgement, EngineError> {
        if !key_is_dead(claimed) {
            let until = claimed.operation.execute_until.unwrap_or(claimed.now).plus_ms(KEY_DEAD_MS);
            let left = waiting(until, claimed.now);
            return Ok(Err(format!("a request that is late could still be executed; wait {left}")));
        }
        Ok(match self.asked(&claimed.operation).await? {
            Ok((account, _, id)) if follow_up.kind == OperationKind::Refund => {
                self.absent_refund((&account, &id), claimed, follow_up, grounds).await?
            }
            Ok((account, ..)) => self.undone_payment(&account, follow_up, grounds).await,
            Err(Unaskable::FromHere(why)) => Err(why),
            Err(Unaskable::ByAnybody(why)) => believed(OperationEvent::JudgedNotExecuted, None, grounds, why),
        })
    }

    /// Whether the payment shows that it was neither captured nor cancelled.
    async fn undone_payment(&self, account: &Account, follow_up: &FollowUp, grounds: &Grounds) -> Judgement {
        let target = &follow_up.target;
        let Reply::Object(seen) = self.provider.query(account, target).await else {
            let why = format!("{SILENT}: it does not show {target} waiting for capture");
            return believed(OperationEvent::JudgedNotExecuted, None, grounds, why);
        };
        match seen.status {
            ObjectStatus::WaitingForCapture | ObjectStatus::Pending { .. } => {
                Ok(Judged::shown(OperationEvent::JudgedNotExecuted, None))
            }
            status @ (ObjectStatus::Succeeded | ObjectStatus::Ended(_)) => Err(format!(
                "the provider does not show {target} waiting for capture: it is {}",
                status_words(&status)
            )),
        }
    }

    /// Whether the provider's listing does not hold the refund, and did not some time ago. One that nobody else made may be it, whatever
    /// it names.
    async fn absent_refund(
        &self,
        (account, id): (&Account, &ProviderAccount),
        claimed: &Claimed,
        follow_up: &FollowUp,
        grounds: &Grounds,
    ) -> Result<Judgement, EngineError> {
        // What it was shown as is asked for itself, whatever it names now.
        if let Some(object) = &claimed.operation.object
            && let Reply::Object(own) = self.provider.query_refund(account, object).await
        {
            return Ok(of_own(&own, "the provider shows"));
        }
        let from = claimed.operation.first_sent_at.unwrap_or(claimed.now);
        let span = Span { by: By::Made, from: from.plus_ms(-CLOCKS_DIFFER_MS), to: None };
        let time = OurTime { now: claimed.now, began: self.clock.moments() };
        let listing = self.list_refunds(account, &follow_up.target, Some((span, time))).await;
        let ours = Some(claimed.operation.id);
        if let Some(own) = listing.objects.iter().find(|seen| seen.operation == ours) {
            return Ok(of_own(own, "the listing holds"));
        }
        if grounds.evidence.is_none() {
            for seen in &listing.objects {
                let made = !matches!(seen.status, RefundStatus::Canceled { .. });
                if made && self.recorded_as(&claimed.operation, id, &seen.object).await?.is_none() {
                    return Ok(Err(nobodys(seen)));
                }
            }
        }
        if !listing.complete || claimed.operation.object.is_some() {
            let event = OperationEvent::JudgedNotExecuted;
            let why = format!("{SILENT}: two complete listings have to agree that it is not there");
            return Ok(believed(event, None, grounds, why));
        }
        let since = claimed.operation.absent_since;
        let agreed = since.is_some_and(|since| claimed.now.since_ms(since) >= self.settings.listing_gap_ms);
        if agreed {
            return Ok(Ok(Judged::shown(OperationEvent::JudgedNotExecuted, None)));
        }
        Ok(Err("two complete listings, some time apart, have to agree that it is not there".to_owned()))
    }

    async fn write_judgement(
        &self,
        claimed: &Claimed,
        follow_up: &FollowUp,
        judged: Judgement,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let (state, object, changes, resolved) = match judged {
            Err(words) => (follow_up.state.clone(), None, Vec::new(), Resolved::Refused(words)),
            Ok(Judged { event, object, unasked }) => {
                let name = event.name();
                let state = follow_up.state.after(event, claimed.now);
                let change = Change {
                    from: follow_up.state.name(),
                    event: format!("{}.{name}", follow_up.kind.as_str()),
                    to: state.name(),
                    evidence: format!(
                        "a person: {grounds}{}",
                        unasked.map_or_else(String::new, |why| format!(" ({why})"))
                    ),
                };
                let (id, kind) = (claimed.operation.id, follow_up.kind.as_str());
                let done =
                    if matches!(state, OperationState::Succeeded { .. }) { "done" } else { "not done" };
                let words = format!("{id} is over: the {kind} of {} was {done}", follow_up.target);
                (state, object, vec![change], Resolved::Done(words))
            }
        };
        let open = matches!(Stage::of_follow_up(&state), Stage::Open | Stage::Review);
        let commit = Commit {
            object,
            follow_up: Some(state),
            touches_intent: false,
            changes,
            wake_in_ms: open.then(|| self.wait_ms(claimed, None)),
            out_of_turn: true,
            ..self.commit_of(claimed, InHand::new(claimed, account_in(&claimed.operation)?))
        };
        if self.write(claimed, commit).await? { Ok(resolved) } else { refused(HELD) }
    }
}

/// What the refund itself says of whether it was not executed.
fn of_own(seen: &RefundObservation, shown: &str) -> Judgement {
    let (object, amount) = (&seen.object, seen.amount);
    match &seen.status {
        // With another sum or name, or it would have ended by itself.
        RefundStatus::Canceled { .. } => Ok(Judged::shown(OperationEvent::JudgedNotExecuted, None)),
        status @ (RefundStatus::Pending | RefundStatus::Succeeded) => Err(format!(
            "{shown} this refund: {object} of {amount}, {}. Wait until it is over; then say `--executed {object}`",
            refund_words(status)
        )),
    }
}

fn nobodys(seen: &RefundObservation) -> String {
    let RefundObservation { object, amount, .. } = seen;
    format!(
        "the listing holds {object} of {amount} ({}), and no other refund of ours made it: where it is this one, say `--executed \
         {object}`, else say by --evidence whose it is",
        refund_words(&seen.status)
    )
}

pub(super) fn refund_words(status: &RefundStatus) -> &'static str {
    match status {
        RefundStatus::Pending => "pending",
        RefundStatus::Succeeded => "succeeded",
        RefundStatus::Canceled { .. } => "canceled",
    }
}
