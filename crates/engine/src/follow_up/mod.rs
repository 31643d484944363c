//! Captures, cancels and refunds: asked for once, under a key of their own, with the recovery that payments have.

mod extras;
mod hand;
mod open;

use payment::{AttemptId, ObjectId, ObjectStatus, OperationEvent, OperationKind, OperationState, Step};
use providers::{By, Reply, Span};
use store::{Claimed, Commit, FollowUp, Stage};

pub use self::extras::OutOfReach;
pub(crate) use self::extras::{Payer, fate_words, is_told, went_back};
use self::hand::FollowUpInHand;
pub(crate) use self::open::Known;
use crate::{
    Engine, EngineError,
    drive::{CLOCKS_DIFFER_MS, Claim, Driven},
    failpoint::failpoint,
    frozen::account_in,
    observe::outcome_words,
};

/// After execute-until (the key's window less its margin): the key is dead, and so is every request under way.
pub(crate) const KEY_DEAD_MS: i64 = 2 * 3_600_000;

impl Engine {
    pub(crate) async fn drive_follow_up(
        &self,
        claim: &Claim,
        follow_up: &FollowUp,
    ) -> Result<Driven, EngineError> {
        let claimed = &claim.work;
        let mut hand = FollowUpInHand::new(claimed, follow_up, account_in(&claimed.operation)?);
        if claimed.unanswered && matches!(hand.state, OperationState::Processing { .. }) {
            hand.apply(OperationEvent::TakenOver, "a send of an earlier holder has no answer".to_owned());
        }
        match (&claimed.step, &claimed.attempt) {
            (Step::Send, Some(attempt)) => self.send_follow_up(claim, &mut hand, attempt.id).await?,
            (Step::Query(object), _) => self.ask_follow_up(claimed, &mut hand, object).await?,
            (Step::Find, _) => self.find_refund(claim, &mut hand).await?,
            (Step::EndUnsent, _) => {
                let words = "no send was executed, and no other may follow".to_owned();
                hand.apply(OperationEvent::ExecuteUntilPassed, words);
            }
            (Step::Send, None) | (Step::Nothing, _) => {}
        }
        self.call_a_person_to(claimed, &mut hand);
        failpoint!("drive.answered");
        let commit = self.follow_up_commit(claimed, hand);
        self.settle(claimed, commit).await
    }

    async fn send_follow_up(
        &self,
        claim: &Claim,
        hand: &mut FollowUpInHand<'_>,
        attempt: AttemptId,
    ) -> Result<(), EngineError> {
        if let Some((event, words)) = self.withheld(&claim.work, hand.follow_up).await? {
            let words = format!("not sent: {words}");
            hand.ended = Some((attempt, words.clone()));
            hand.apply(event, words);
            return Ok(());
        }
        let frozen = self.frozen(&claim.work.intent.tenant, &claim.work.operation).await?;
        let (account, outgoing) = self.outgoing(claim, frozen);
        if hand.follow_up.kind == OperationKind::Refund {
            let reply = self.provider.send_refund(&account, outgoing).await;
            hand.refund_sent(reply, attempt);
            return Ok(());
        }
        let reply = self.provider.send(&account, outgoing).await;
        hand.hear(&reply);
        hand.ended = Some((attempt, outcome_words(&reply)));
        match reply {
            Reply::Object(seen) => hand.see_payment(seen, &attempt.to_string()),
            other @ (Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. }) => {
                let rejected = matches!(other, Reply::Rejected { .. });
                hand.refuse(other);
                if rejected && !hand.state.is_terminal() {
                    // Refused after an unknown send: perhaps because it is done, perhaps because it cannot be any more.
                    self.ask_follow_up(&claim.work, hand, &hand.follow_up.target).await?;
                }
                Ok(())
            }
        }
    }

    /// Asks for the refund it made, or for the payment it acts on. When its key is dead, what was not done never will be.
    async fn ask_follow_up(
        &self,
        claimed: &Claimed,
        hand: &mut FollowUpInHand<'_>,
        object: &ObjectId,
    ) -> Result<(), EngineError> {
        let account = self.frozen_account(&claimed.intent.tenant, &claimed.operation).await?;
        if hand.follow_up.kind == OperationKind::Refund {
            let reply = self.provider.query_refund(&account, object).await;
            hand.hear(&reply);
            if let Reply::Object(seen) = reply {
                hand.see_refund(&seen, "asked");
            }
            return Ok(());
        }
        let reply = self.provider.query(&account, object).await;
        hand.hear(&reply);
        if let Reply::Object(seen) = reply {
            let undone = seen.status == ObjectStatus::WaitingForCapture;
            hand.see_payment(seen, "asked")?;
            if undone && key_is_dead(claimed) {
                hand.apply(
                    OperationEvent::NotDone,
                    "still waiting for capture after its key died".to_owned(),
                );
            }
        }
        Ok(())
    }

    /// Looks for our refund among those of its payment, by the operation it names. That it is not there, a person may judge when
    /// two complete listings agree and the key is dead.
    async fn find_refund(&self, claim: &Claim, hand: &mut FollowUpInHand<'_>) -> Result<(), EngineError> {
        let claimed = &claim.work;
        let account = self.frozen_account(&claimed.intent.tenant, &claimed.operation).await?;
        let first = claimed.operation.first_sent_at.unwrap_or(claimed.now);
        let span = Span { by: By::Made, from: first.plus_ms(-CLOCKS_DIFFER_MS), to: None };
        let listing = self.list_refunds(&account, &hand.follow_up.target, Some((span, claim.time()))).await;
        hand.retry_after_ms = listing.retry_after_ms.max(Some(self.settings.listing_gap_ms));
        let id = claimed.operation.id;
        match listing.objects.iter().find(|seen| seen.operation == Some(id)) {
            Some(seen) => {
                hand.absent_since = None;
                hand.see_refund(seen, "found in the listing");
            }
            None if listing.complete && key_is_dead(claimed) => {
                hand.absent_since.get_or_insert(self.latest_now(claim));
                hand.apply(OperationEvent::Overdue, "not in the listing, and its key is dead".to_owned());
            }
            None => {
                let late = claimed.operation.execute_until.is_some_and(|until| claimed.now >= until);
                if late {
                    hand.apply(
                        OperationEvent::Overdue,
                        "unknown, and nothing may be sent any more".to_owned(),
                    );
                }
            }
        }
        Ok(())
    }

    /// What is unresolved long after its last possible send stands before a person; questions go on.
    fn call_a_person_to(&self, claimed: &Claimed, hand: &mut FollowUpInHand<'_>) {
        let late = |until| claimed.now.since_ms(until) >= self.settings.review_after_ms;
        if claimed.operation.execute_until.is_some_and(late) {
            hand.apply(
                OperationEvent::Overdue,
                "unresolved too long after the last possible send".to_owned(),
            );
        }
    }

    fn follow_up_commit(&self, claimed: &Claimed, hand: FollowUpInHand<'_>) -> Commit {
        let touches_intent = hand.intent.is_changed();
        let open = matches!(Stage::of_follow_up(&hand.state), Stage::Open | Stage::Review);
        let mut changes = hand.changes;
        let wake_in_ms = open.then(|| self.wait_ms(claimed, hand.retry_after_ms));
        let of_intent = self.commit_of(claimed, hand.intent);
        changes.extend(of_intent.changes);
        Commit {
            object: hand.object,
            follow_up: Some(hand.state),
            touches_intent,
            changes,
            ended: hand.ended,
            wake_in_ms,
            absent_since: hand.absent_since,
            answer: of_intent.answer.filter(|_| touches_intent),
            ..of_intent
        }
    }
}

/// Whether no request under its key can be executed any more.
pub(crate) fn key_is_dead(claimed: &Claimed) -> bool {
    let until = claimed.operation.execute_until;
    until.is_some_and(|until| claimed.now >= until.plus_ms(KEY_DEAD_MS))
}
