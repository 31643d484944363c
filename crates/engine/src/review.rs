//! A person's word: what cannot be known automatically ends here, with the evidence there is. What the provider can still tell is
//! asked first, and a word against it is refused.

use payment::{
    Event, IntentId, Money, ObjectId, ObjectStatus, OperationEvent, OperationId, OperationKind,
    OperationState, OrderId, RefundStatus, StateName, Timestamp,
};
use providers::Reply;
use store::{
    Change, Charge, ChargeRecord, Claimed, Commit, FollowUp, LookOf, Looking, OpenedFollowUp, Resolution,
    ReviewItem, Stage, StrangerRecord, Task, Tenant,
};

use crate::{
    Engine, EngineError,
    drive::CLOCKS_DIFFER_MS,
    follow_up::{KEY_DEAD_MS, key_is_dead},
    observe::{InHand, status_words},
};

/// Most items of each kind that are listed.
const MAX_ITEMS: u32 = 1_000;

/// What a person found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This object took the money.
    Charged(ObjectId),
    /// No money was taken. The evidence is needed where the provider cannot be asked.
    NotCharged {
        /// What shows it.
        evidence: Option<String>,
    },
    /// The refund, capture or cancel was done by this object.
    Executed(ObjectId),
    /// It was not done.
    NotExecuted,
    /// Give the extra back.
    RefundExtra,
}

/// What came of a person's word, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// It is written down.
    Done(String),
    /// It is not, and why.
    Refused(String),
}

fn refused(words: impl Into<String>) -> Result<Resolved, EngineError> {
    Ok(Resolved::Refused(words.into()))
}

fn done(words: impl Into<String>) -> Result<Resolved, EngineError> {
    Ok(Resolved::Done(words.into()))
}

impl Engine {
    /// What stands before a person.
    pub async fn review(&self) -> Result<Vec<ReviewItem>, EngineError> {
        Ok(self.store.review(MAX_ITEMS).await?)
    }

    /// Takes a person's word about an item of the review: an intent (`pi_…`), an operation (`op_…`), or the provider's object of
    /// an extra or a stranger.
    pub async fn resolve(&self, id: &str, verdict: Verdict, reason: &str) -> Result<Resolved, EngineError> {
        let matching = self.review().await?.into_iter().find(|item| item_id(item) == id);
        match matching {
            None => {
                refused(format!("{id} does not wait for a person: `payonce review list` shows what does"))
            }
            Some(ReviewItem::Operation { intent, operation, .. }) => match &operation.task {
                Task::Pay => self.resolve_intent(&intent.tenant, intent.id, verdict, reason).await,
                Task::FollowUp(_) => {
                    self.resolve_follow_up(&intent.tenant, operation.id, verdict, reason).await
                }
            },
            Some(ReviewItem::Extra(charge)) => self.resolve_extra(&charge, verdict, reason).await,
            Some(ReviewItem::Stranger(stranger)) => self.resolve_stranger(&stranger, verdict, reason).await,
        }
    }

    async fn resolve_intent(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        verdict: Verdict,
        reason: &str,
    ) -> Result<Resolved, EngineError> {
        let claimed = match self.claim_look(tenant, LookOf::Intent(intent)).await? {
            Looking::Claimed(claimed) => *claimed,
            Looking::Held => return refused(HELD),
            Looking::NotFound => return refused(format!("{intent} is gone")),
        };
        let mut hand = InHand::new(&claimed);
        let resolved = match verdict {
            _ if claimed.intent.state.name() != StateName::NeedsReview => Resolved::Refused(format!(
                "{intent} does not wait for a person any more: it is {}",
                claimed.intent.state.name()
            )),
            Verdict::Charged(object) => self.judge_charged(&claimed, &mut hand, object, reason).await?,
            Verdict::NotCharged { evidence } => {
                self.judge_not_charged(&claimed, &mut hand, evidence, reason).await?
            }
            Verdict::Executed(_) | Verdict::NotExecuted | Verdict::RefundExtra => {
                Resolved::Refused("a payment is ended by --charged OBJECT or --not-charged".to_owned())
            }
        };
        if self.write_look(&claimed, hand).await? { Ok(resolved) } else { refused(HELD) }
    }

    async fn judge_charged(
        &self,
        claimed: &Claimed,
        hand: &mut InHand,
        object: ObjectId,
        reason: &str,
    ) -> Result<Resolved, EngineError> {
        let (account, account_id) = self.account_for(claimed).await?;
        let Reply::Object(seen) = self.provider.query(&account, &object).await else {
            return refused(format!(
                "the provider does not show {object} now: check its id, or try again later"
            ));
        };
        if seen.status != ObjectStatus::Succeeded {
            return refused(format!("{object} took no money: it is {}", status_words(&seen.status)));
        }
        let tenant = claimed.intent.tenant.clone();
        let standing = self.store.standing(tenant, account_id.clone(), object.clone(), seen.intent).await?;
        if let Some(charge) = standing.charge {
            return refused(format!("{object} is known already as the charge of {}", charge.intent));
        }
        if seen.intent.is_some_and(|named| named != claimed.intent.id) {
            return refused(format!("{object} names another payment of ours"));
        }
        if standing.stranger.is_some_and(|stranger| stranger.resolution.is_none()) {
            return refused(format!("{object} waits for a person by itself: `payonce review show {object}`"));
        }
        let order = seen.order.filter(|named| *named != claimed.checkout.order);
        if let Some(order) = order
            && self.store.order(claimed.intent.tenant.clone(), order.clone()).await?.is_some()
        {
            return refused(format!("{object} names order {order}, which is another one of ours"));
        }
        let words = format!("a person: object {object}, {}: {reason}", seen.amount);
        hand.apply(Event::JudgedCharged { object: object.clone() }, words)?;
        // What was taken is written down, not what was asked for.
        for charge in &mut hand.charges {
            charge.account = account_id.clone();
            charge.amount = seen.amount;
        }
        hand.object.get_or_insert(object.clone());
        let (intent, order) = (claimed.intent.id, &claimed.checkout.order);
        done(format!("{intent} is paid: {object} took {} for order {order}", seen.amount))
    }

    /// Refused until absence is proved: by two complete listings, or, where the provider cannot be asked at all, by the time after
    /// which nothing can be executed any more and by what the person has in hand.
    async fn judge_not_charged(
        &self,
        claimed: &Claimed,
        hand: &mut InHand,
        evidence: Option<String>,
        reason: &str,
    ) -> Result<Resolved, EngineError> {
        if let Some(object) = claimed.intent.state.object() {
            let (account, _) = self.account_for(claimed).await?;
            return match self.provider.query(&account, object).await {
                Reply::Object(seen) => match seen.status {
                    ObjectStatus::Ended(_) => {
                        hand.apply(
                            Event::JudgedNotCharged,
                            format!("a person, object {object} ended: {reason}"),
                        )?;
                        ended_without_money(claimed)
                    }
                    status @ (ObjectStatus::Pending { .. }
                    | ObjectStatus::WaitingForCapture
                    | ObjectStatus::Succeeded) => refused(format!(
                        "{object} is not over at the provider: it is {}",
                        status_words(&status)
                    )),
                },
                Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => {
                    self.judge_without_listing(claimed, hand, evidence, reason)
                }
            };
        }
        let listing = self.list_ours(claimed).await?;
        if let Some(found) = listing.objects.first() {
            return refused(format!(
                "the provider's listing holds {} of this payment: it is {}",
                found.object,
                status_words(&found.status)
            ));
        }
        if !listing.complete || !self.provider.proves_absence() {
            return self.judge_without_listing(claimed, hand, evidence, reason);
        }
        if !self.may_prove_absence(claimed) {
            let left = waiting(self.tokens_dead_at(claimed), claimed.now);
            return refused(format!("a request that is late could still take money; wait {left}"));
        }
        let gap_ms = self.settings.listing_gap_ms;
        match claimed.operation.absent_since {
            Some(since) if claimed.now.since_ms(since) >= gap_ms => {
                hand.apply(
                    Event::JudgedNotCharged,
                    format!("a person, and listings since {since}: {reason}"),
                )?;
                ended_without_money(claimed)
            }
            since @ (Some(_) | None) => refused(format!(
                "one listing without it is not enough: the server reads a second one that has to agree; wait {}",
                waiting(since.unwrap_or(claimed.now).plus_ms(gap_ms), claimed.now)
            )),
        }
    }

    fn judge_without_listing(
        &self,
        claimed: &Claimed,
        hand: &mut InHand,
        evidence: Option<String>,
        reason: &str,
    ) -> Result<Resolved, EngineError> {
        let Some(evidence) = evidence else {
            return refused(
                "the provider cannot say now that there is no such payment; say by --evidence what shows it",
            );
        };
        let window_ms = self.provider.resend_window_ms().unwrap_or(0);
        let first_sent = claimed.operation.first_sent_at.unwrap_or(claimed.now);
        let dead_at = first_sent.plus_ms(window_ms + KEY_DEAD_MS);
        if claimed.now < dead_at {
            let left = waiting(dead_at, claimed.now);
            return refused(format!(
                "the provider cannot say now that there is no such payment, and a request could still be executed; wait {left}"
            ));
        }
        hand.apply(Event::JudgedNotCharged, format!("a person: {reason}; evidence: {evidence}"))?;
        ended_without_money(claimed)
    }

    async fn resolve_follow_up(
        &self,
        tenant: &Tenant,
        operation: OperationId,
        verdict: Verdict,
        reason: &str,
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
            Verdict::Executed(object) => self.judge_executed(&claimed, &follow_up, &object).await?,
            Verdict::NotExecuted => self.judge_not_executed(&claimed, &follow_up).await?,
            Verdict::Charged(_) | Verdict::NotCharged { .. } | Verdict::RefundExtra => {
                Err(format!("a {} is ended by --executed OBJECT or --not-executed", follow_up.kind.as_str()))
            }
        };
        self.write_judgement(&claimed, &follow_up, judged, reason).await
    }

    async fn judge_executed(
        &self,
        claimed: &Claimed,
        follow_up: &FollowUp,
        object: &ObjectId,
    ) -> Result<Result<(OperationEvent, Option<ObjectId>), String>, EngineError> {
        let (account, _) = self.account_for(claimed).await?;
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
                true => Ok((OperationEvent::JudgedExecuted, None)),
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
            true => Ok((OperationEvent::JudgedExecuted, Some(object.clone()))),
            false => Err(format!(
                "{object} is another refund, or is not done: {} of {}, {}",
                seen.amount,
                seen.payment,
                refund_words(&seen.status)
            )),
        })
    }

    async fn judge_not_executed(
        &self,
        claimed: &Claimed,
        follow_up: &FollowUp,
    ) -> Result<Result<(OperationEvent, Option<ObjectId>), String>, EngineError> {
        if !key_is_dead(claimed) {
            let until = claimed.operation.execute_until.unwrap_or(claimed.now).plus_ms(KEY_DEAD_MS);
            let left = waiting(until, claimed.now);
            return Ok(Err(format!("a request that is late could still be executed; wait {left}")));
        }
        let (account, _) = self.account_for(claimed).await?;
        let not_executed = Ok(Ok((OperationEvent::JudgedNotExecuted, None)));
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
        judged: Result<(OperationEvent, Option<ObjectId>), String>,
        reason: &str,
    ) -> Result<Resolved, EngineError> {
        let (state, object, changes, resolved) = match judged {
            Err(words) => (follow_up.state.clone(), None, Vec::new(), Resolved::Refused(words)),
            Ok((event, object)) => {
                let name = event.name();
                let state = follow_up.state.after(event, claimed.now);
                let change = Change {
                    from: follow_up.state.name(),
                    event: format!("{}.{name}", follow_up.kind.as_str()),
                    to: state.name(),
                    evidence: format!("a person: {reason}"),
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

    async fn resolve_extra(
        &self,
        charge: &ChargeRecord,
        verdict: Verdict,
        reason: &str,
    ) -> Result<Resolved, EngineError> {
        if verdict != Verdict::RefundExtra {
            return refused("an extra charge is ended by --refund-extra");
        }
        match self.refund_charge(charge, format!("a person: {reason}")).await? {
            OpenedFollowUp::Fresh(operation) => {
                let left_minor = charge.amount.minor() - charge.reserved_minor - charge.refunded_minor;
                let left = Money::from_minor(left_minor, charge.amount.currency()).unwrap_or(charge.amount);
                done(format!(
                    "{} gives {left} of {} back; the server does it now",
                    operation.id, charge.object
                ))
            }
            OpenedFollowUp::Unfinished(operation) => refused(format!("{} is at it already", operation.id)),
            OpenedFollowUp::Exceeds { .. } if charge.reserved_minor > 0 => {
                refused(format!("{} is being given back already", charge.object))
            }
            OpenedFollowUp::Exceeds { .. } => refused("there is nothing left to refund"),
            OpenedFollowUp::NotNow => refused("the charge is not known any more"),
        }
    }

    async fn resolve_stranger(
        &self,
        stranger: &StrangerRecord,
        verdict: Verdict,
        reason: &str,
    ) -> Result<Resolved, EngineError> {
        let linked = match verdict {
            Verdict::Charged(object) if object == stranger.object => true,
            Verdict::NotCharged { .. } => false,
            Verdict::Charged(_) | Verdict::Executed(_) | Verdict::NotExecuted | Verdict::RefundExtra => {
                return refused(format!(
                    "a stranger's money pays the order it names (--charged {}), or is none of ours (--not-charged)",
                    stranger.object
                ));
            }
        };
        if linked && let Err(words) = self.link(stranger, reason).await? {
            return refused(words);
        }
        let resolution = Resolution { linked, reason: reason.to_owned() };
        if !self.store.resolve_stranger(stranger.clone(), resolution).await? {
            return refused("somebody was first");
        }
        let (object, order) =
            (&stranger.object, stranger.order.as_ref().map_or("any order", OrderId::as_str));
        done(match linked {
            true => format!("{object} pays order {order}"),
            false => format!("{object} has nothing to do with {order}, which can be paid again"),
        })
    }

    /// The stranger's money pays the order it names.
    async fn link(&self, stranger: &StrangerRecord, reason: &str) -> Result<Result<(), String>, EngineError> {
        let Some(order) = &stranger.order else {
            return Ok(Err("it names no order; release it by --not-charged".to_owned()));
        };
        let found = self.store.order(stranger.tenant.clone(), order.clone()).await?;
        let Some((checkout, intent)) = found else {
            return Ok(Err(format!("there is no checkout for {order}; make one, then link it")));
        };
        let (tenant, account, object) =
            (stranger.tenant.clone(), stranger.account.clone(), stranger.object.clone());
        if let Some(charge) = self.store.standing(tenant, account, object, None).await?.charge
            && charge.checkout != checkout.id
        {
            return Ok(Err(format!(
                "its money was recorded for {} meanwhile; release it by --not-charged",
                charge.checkout
            )));
        }
        if checkout.amount != stranger.amount {
            return Ok(Err(format!("{order} costs {}, and {} was taken", checkout.amount, stranger.amount)));
        }
        let (account, _) = self.current_account(&stranger.tenant).await?;
        match self.provider.query(&account, &stranger.object).await {
            Reply::Object(seen) if seen.status == ObjectStatus::Succeeded => {}
            Reply::Object(seen) => {
                return Ok(Err(format!("it took no money: it is {}", status_words(&seen.status))));
            }
            Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => {
                return Ok(Err("the provider does not show it now; try again later".to_owned()));
            }
        }
        let claimed = match self.claim_look(&stranger.tenant, LookOf::Intent(intent.id)).await? {
            Looking::Claimed(claimed) => *claimed,
            Looking::Held | Looking::NotFound => return Ok(Err(HELD.to_owned())),
        };
        let state = claimed.intent.state.name().as_str();
        let mut hand = InHand::new(&claimed);
        hand.changes.push(Change {
            from: state,
            event: "stranger_linked".to_owned(),
            to: state,
            evidence: format!("a person: object {} pays {order}: {reason}", stranger.object),
        });
        hand.charges.push(Charge {
            account: stranger.account.clone(),
            object: stranger.object.clone(),
            amount: stranger.amount,
        });
        // Somebody else came between: the stranger goes on blocking its order.
        Ok(if self.write_look(&claimed, hand).await? { Ok(()) } else { Err(HELD.to_owned()) })
    }
}

fn ended_without_money(claimed: &Claimed) -> Result<Resolved, EngineError> {
    let (intent, order) = (claimed.intent.id, &claimed.checkout.order);
    done(format!("{intent} ended without money; order {order} can be paid again"))
}

/// How long until then, for a person.
fn waiting(until: Timestamp, now: Timestamp) -> String {
    let minutes = until.since_ms(now).max(0) / 60_000 + 1;
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

fn refund_words(status: &RefundStatus) -> &'static str {
    match status {
        RefundStatus::Pending => "pending",
        RefundStatus::Succeeded => "succeeded",
        RefundStatus::Canceled { .. } => "canceled",
    }
}

const HELD: &str = "the server is at work on it just now; try again in a moment";

/// What a person calls an item by.
pub fn item_id(item: &ReviewItem) -> String {
    match item {
        ReviewItem::Operation { intent, operation, .. } => match &operation.task {
            Task::Pay => intent.id.to_string(),
            Task::FollowUp(_) => operation.id.to_string(),
        },
        ReviewItem::Extra(charge) => charge.object.to_string(),
        ReviewItem::Stranger(stranger) => stranger.object.to_string(),
    }
}
