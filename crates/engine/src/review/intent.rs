//! A payment in review: the object that took its money, or the proof that none did.

use payment::{Event, IntentId, Money, ObjectId, ObjectStatus, ProviderAccount, StateName};
use providers::Reply;
use store::{Claimed, LookOf, Looking, Tenant};

use super::{Grounds, HELD, Resolved, Verdict, done, refused, waiting};
use crate::{
    Engine, EngineError,
    follow_up::KEY_DEAD_MS,
    observe::{InHand, status_words},
};

const SILENT: &str = "the provider cannot say now that there is no such payment";

impl Engine {
    pub(super) async fn resolve_intent(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        verdict: Verdict,
        grounds: &Grounds,
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
            Verdict::Charged(object) => self.judge_charged(&claimed, &mut hand, object, grounds).await?,
            Verdict::NotCharged => self.judge_not_charged(&claimed, &mut hand, grounds).await?,
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
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let (account, account_id) = match self.asked(&claimed.operation).await? {
            Ok(known) => known,
            Err(why) => return self.believe_charged(claimed, hand, object, grounds, &why).await,
        };
        let Reply::Object(seen) = self.provider.query(&account, &object).await else {
            return refused(format!(
                "the provider does not show {object} now: check its id, or try again later"
            ));
        };
        if seen.status != ObjectStatus::Succeeded {
            return refused(format!("{object} took no money: it is {}", status_words(&seen.status)));
        }
        if let Some(words) = self.known_as(claimed, &account_id, &object).await? {
            return refused(words);
        }
        if seen.intent.is_some_and(|named| named != claimed.intent.id) {
            return refused(format!("{object} names another payment of ours"));
        }
        let order = seen.order.filter(|named| *named != claimed.checkout.order);
        if let Some(order) = order
            && self.store.order(claimed.intent.tenant.clone(), order.clone()).await?.is_some()
        {
            return refused(format!("{object} names order {order}, which is another one of ours"));
        }
        let words = format!("a person: object {object}, {}: {grounds}", seen.amount);
        hand.apply(Event::JudgedCharged { object: object.clone() }, words)?;
        // What was taken is written down, not what was asked for.
        for charge in &mut hand.charges {
            charge.account = account_id.clone();
            charge.amount = seen.amount;
        }
        paid(claimed, hand, object, seen.amount)
    }

    /// Nobody can be asked: what the person has in hand decides, unless our own rows know better.
    async fn believe_charged(
        &self,
        claimed: &Claimed,
        hand: &mut InHand,
        object: ObjectId,
        grounds: &Grounds,
        why: &str,
    ) -> Result<Resolved, EngineError> {
        let Some(frozen) = &claimed.operation.frozen else { return refused(why) };
        if let Some(words) = self.known_as(claimed, &frozen.account, &object).await? {
            return refused(words);
        }
        if grounds.evidence.is_none() {
            return refused(format!("{why}; say by --evidence what shows that {object} took the money"));
        }
        let words = format!("a person: object {object}: {grounds} ({why})");
        hand.apply(Event::JudgedCharged { object: object.clone() }, words)?;
        paid(claimed, hand, object, claimed.intent.amount)
    }

    /// What our own rows know an object as, where it cannot pay this intent.
    async fn known_as(
        &self,
        claimed: &Claimed,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<String>, EngineError> {
        let tenant = claimed.intent.tenant.clone();
        let standing = self.store.standing(tenant, account.clone(), object.clone(), None).await?;
        if let Some(charge) = standing.charge {
            return Ok(Some(format!("{object} is known already as the charge of {}", charge.intent)));
        }
        let waits = standing.stranger.is_some_and(|stranger| stranger.resolution.is_none());
        Ok(waits.then(|| format!("{object} waits for a person by itself: `payonce review show {object}`")))
    }

    /// Refused until absence is proved: by two complete listings, or, where the provider cannot be asked at all, by the time after
    /// which nothing can be executed any more and by what the person has in hand.
    async fn judge_not_charged(
        &self,
        claimed: &Claimed,
        hand: &mut InHand,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let account = match self.asked(&claimed.operation).await? {
            Ok((account, _)) => account,
            Err(why) => return self.judge_without_listing(claimed, hand, grounds, &why),
        };
        if let Some(object) = claimed.intent.state.object() {
            return match self.provider.query(&account, object).await {
                Reply::Object(seen) => match seen.status {
                    ObjectStatus::Ended(_) => {
                        hand.apply(
                            Event::JudgedNotCharged,
                            format!("a person, object {object} ended: {grounds}"),
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
                    self.judge_without_listing(claimed, hand, grounds, SILENT)
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
            return self.judge_without_listing(claimed, hand, grounds, SILENT);
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
                    format!("a person, and listings since {since}: {grounds}"),
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
        grounds: &Grounds,
        why: &str,
    ) -> Result<Resolved, EngineError> {
        if grounds.evidence.is_none() {
            return refused(format!("{why}; say by --evidence what shows that no money was taken"));
        }
        let window_ms = self.provider.resend_window_ms().unwrap_or(0);
        let first_sent = claimed.operation.first_sent_at.unwrap_or(claimed.now);
        let dead_at = first_sent.plus_ms(window_ms + KEY_DEAD_MS);
        if claimed.now < dead_at {
            let left = waiting(dead_at, claimed.now);
            return refused(format!("{why}, and a request could still be executed; wait {left}"));
        }
        hand.apply(Event::JudgedNotCharged, format!("a person: {grounds} ({why})"))?;
        ended_without_money(claimed)
    }
}

fn paid(
    claimed: &Claimed,
    hand: &mut InHand,
    object: ObjectId,
    amount: Money,
) -> Result<Resolved, EngineError> {
    let (intent, order) = (claimed.intent.id, &claimed.checkout.order);
    let words = format!("{intent} is paid: {object} took {amount} for order {order}");
    hand.object.get_or_insert(object);
    done(words)
}

fn ended_without_money(claimed: &Claimed) -> Result<Resolved, EngineError> {
    let (intent, order) = (claimed.intent.id, &claimed.checkout.order);
    done(format!("{intent} ended without money; order {order} can be paid again"))
}
