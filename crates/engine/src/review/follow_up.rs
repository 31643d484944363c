//! A refund, capture or cancel in review: whether it was done.

use payment::{
    ObjectId, ObjectStatus, OperationEvent, OperationId, OperationKind, OperationState, RefundStatus,
};
use providers::Reply;
use store::{Change, Claimed, Commit, FollowUp, LookOf, Looking, Stage, Task, Tenant};

use super::{Grounds, HELD, Resolved, Verdict, refused, waiting};
use crate::{
    Engine, EngineError,
    drive::CLOCKS_DIFFER_MS,
    follow_up::{KEY_DEAD_MS, key_is_dead},
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
        let account = match self.asked(&claimed.operation).await? {
            Ok((account, _)) => account,
            Err(why) => return self.believe_executed(claimed, follow_up, object, grounds, why).await,
        };
        if follow_up.kind != OperationKind::Refund {
            let Reply::Object(seen) = self.provider.query(&account, &follow_up.target).await else {
                return Ok(Err(format!("the provider does not show {} now", follow_up.target)));
            };
            let is_done = match follow_up.kind {
                OperationKind::Capture => seen.status == ObjectStatus::Succeeded,
                OperationKind::Cancel | OperationKind::Pay | OperationKind::Refund => {
                    matches!(seen.status, ObjectStatus::Ended(_))
                }
            };
            return Ok(match is_done {
                true => Ok(Judged::shown(OperationEvent::JudgedExecuted, None)),
                false => Err(format!(
                    "{} does not show it: it is {} at the provider",
                    follow_up.target,
                    status_words(&seen.status)
                )),
            });
        }
        let Reply::Object(seen) = self.provider.query_refund(&account, object).await else {
            return Ok(Err(format!("the provider does not show the refund {object} now")));
        };
        let same = seen.payment == follow_up.target && Some(seen.amount) == follow_up.amount;
        let ours = seen.operation.is_none_or(|named| named == claimed.operation.id);
        Ok(match same && ours && seen.status == RefundStatus::Succeeded {
            true => Ok(Judged::shown(OperationEvent::JudgedExecuted, Some(object.clone()))),
            false => Err(format!(
                "{object} is another refund, or is not done: {} of {}, {}",
                seen.amount,
                seen.payment,
                refund_words(&seen.status)
            )),
        })
    }

    /// Nobody can be asked: what the person has in hand decides, unless our own rows know better.
    async fn believe_executed(
        &self,
        claimed: &Claimed,
        follow_up: &FollowUp,
        object: &ObjectId,
        grounds: &Grounds,
        why: String,
    ) -> Result<Judgement, EngineError> {
        let (kind, target) = (follow_up.kind, &follow_up.target);
        if kind != OperationKind::Refund {
            if object != target {
                return Ok(Err(format!("a {} is shown by the payment it acts on, {target}", kind.as_str())));
            }
            return Ok(believed(OperationEvent::JudgedExecuted, None, grounds, why));
        }
        let story = self.store.story(claimed.intent.tenant.clone(), claimed.intent.id).await?;
        let others = story.into_iter().flat_map(|story| story.follow_ups);
        if let Some(other) = others.into_iter().find(|other| other.object.as_ref() == Some(object)) {
            return Ok(Err(format!("{object} is known already as the refund of {}", other.id)));
        }
        Ok(believed(OperationEvent::JudgedExecuted, Some(object.clone()), grounds, why))
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
        let account = match self.asked(&claimed.operation).await? {
            Ok((account, _)) => account,
            Err(why) => return Ok(believed(OperationEvent::JudgedNotExecuted, None, grounds, why)),
        };
        let not_executed = Ok(Ok(Judged::shown(OperationEvent::JudgedNotExecuted, None)));
        if follow_up.kind != OperationKind::Refund {
            return match self.provider.query(&account, &follow_up.target).await {
                Reply::Object(seen) if seen.status == ObjectStatus::WaitingForCapture => not_executed,
                Reply::Object(_)
                | Reply::NotExecuted { .. }
                | Reply::Rejected { .. }
                | Reply::Unknown { .. } => {
                    Ok(Err(format!("the provider does not show {} waiting for capture", follow_up.target)))
                }
            };
        }
        let from = claimed.operation.first_sent_at.unwrap_or(claimed.now);
        let span = providers::Span { from: from.plus_ms(-CLOCKS_DIFFER_MS), to: None };
        let listing = self.list_refunds(&account, &follow_up.target, span).await;
        if listing.objects.iter().any(|seen| seen.operation == Some(claimed.operation.id)) {
            return Ok(Err("the listing holds this refund".to_owned()));
        }
        let agreed = claimed
            .operation
            .absent_since
            .is_some_and(|since| claimed.now.since_ms(since) >= self.settings.listing_gap_ms);
        if listing.complete && agreed {
            return not_executed;
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
            ..self.commit_of(claimed, InHand::new(claimed))
        };
        if self.write(claimed, commit).await? { Ok(resolved) } else { refused(HELD) }
    }
}

fn refund_words(status: &RefundStatus) -> &'static str {
    match status {
        RefundStatus::Pending => "pending",
        RefundStatus::Succeeded => "succeeded",
        RefundStatus::Canceled { .. } => "canceled",
    }
}
