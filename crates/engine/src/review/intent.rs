//! A payment in review: the object that took its money, or the proof that none did.

use payment::{Event, IntentId, ObjectId, ObjectStatus, StateName};
use providers::Reply;
use store::{Claimed, LookOf, Looking, Tenant};

use super::{HELD, Resolved, Verdict, done, refused, waiting};
use crate::{
    Engine, EngineError,
    follow_up::KEY_DEAD_MS,
    observe::{InHand, status_words},
};

impl Engine {
    pub(super) async fn resolve_intent(
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
}

fn ended_without_money(claimed: &Claimed) -> Result<Resolved, EngineError> {
    let (intent, order) = (claimed.intent.id, &claimed.checkout.order);
    done(format!("{intent} ended without money; order {order} can be paid again"))
}
