//! A payment in review: the object that took its money, or the proof that none did.

use payment::{
    Event, IntentId, Money, ObjectId, ObjectStatus, Observation, ProviderAccount, ReviewReason, State,
    StateName, Timestamp, TransitionError,
};
use providers::{Account, Reply};
use store::{Claimed, LookOf, Looking, Tenant};

use super::{
    Grounds, HELD, Resolved, Unaskable, Verdict, done,
    known::TURNED_AWAY,
    refused,
    suspects::{Said, gave_back, is_shown_for, suspect},
    waiting,
};
use crate::{
    Claim, Engine, EngineError,
    follow_up::{KEY_DEAD_MS, went_back},
    frozen::account_in,
    observe::{InHand, status_words},
};

const SILENT: &str = "the provider cannot say now that there is no such payment";

/// Of a row that was written before suspects were kept.
const UNNAMED: &str = "the provider showed an object for this payment's own, whose id the journal alone tells: look at it in the provider's dashboard";

/// A listing may outlive the claim in which it was begun. It is kept, and answers the next one at once.
const MOST_CLAIMS: usize = 2;

impl Engine {
    pub(super) async fn resolve_intent(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        verdict: Verdict,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        // He is judged by what the provider says now; silence of a while ago is no word of its.
        self.memory.listings.forget_incomplete();
        for _ in 0..MOST_CLAIMS {
            let began = self.clock.moments();
            let claim = match self.claim_look(tenant, LookOf::Intent(intent)).await? {
                Looking::Claimed(work) => Claim { work: *work, began },
                Looking::Held => return refused(HELD),
                Looking::NotFound => return refused(format!("{intent} is gone")),
            };
            let mut hand = InHand::new(&claim.work, account_in(&claim.work.operation)?);
            let resolved = self.judge(&claim, &mut hand, &verdict, grounds).await?;
            if self.write_look(&claim.work, hand, None).await? {
                if let (Verdict::Charged(object), Resolved::Done(_)) = (&verdict, &resolved) {
                    self.is_no_stranger(&claim.work, object, grounds).await?;
                }
                return Ok(resolved);
            }
        }
        refused(HELD)
    }

    async fn judge(
        &self,
        claim: &Claim,
        hand: &mut InHand,
        verdict: &Verdict,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let (claimed, intent) = (&claim.work, &claim.work.intent);
        match verdict {
            _ if intent.state.name() != StateName::NeedsReview => refused(format!(
                "{} does not wait for a person any more: it is {}",
                intent.id,
                intent.state.name()
            )),
            Verdict::Charged(object) => self.judge_charged(claimed, hand, object.clone(), grounds).await,
            Verdict::NotCharged => self.judge_not_charged(claim, hand, grounds).await,
            Verdict::Executed(_) | Verdict::NotExecuted | Verdict::RefundExtra => {
                refused("a payment is ended by --charged OBJECT or --not-charged")
            }
        }
    }

    async fn judge_charged(
        &self,
        claimed: &Claimed,
        hand: &mut InHand,
        object: ObjectId,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let (account, account_id) = match self.asked(&claimed.operation).await? {
            Ok((account, _, id)) => (account, id),
            Err(Unaskable::FromHere(why)) => return refused(why),
            Err(Unaskable::ByAnybody(why)) => {
                return self.believe_charged(claimed, hand, object, grounds, &why).await;
            }
        };
        let seen = match self.provider.query(&account, &object).await {
            Reply::Object(seen) => seen,
            reply @ (Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. }) => {
                let dead_at = self.keys_dead_at(claimed);
                if !self.turns_away(&account, &reply, claimed.now).await {
                    return refused(format!(
                        "the provider does not show {object} now: check its id, or try again later"
                    ));
                }
                if claimed.now < dead_at {
                    let left = waiting(dead_at, claimed.now);
                    return refused(format!(
                        "{TURNED_AWAY}, and does not show {object}: correct its secret, or wait {left}: then evidence counts"
                    ));
                }
                return self.believe_charged(claimed, hand, object, grounds, TURNED_AWAY).await;
            }
        };
        if seen.status != ObjectStatus::Succeeded {
            return refused(format!("{object} took no money: it is {}", status_words(&seen.status)));
        }
        if let Some(said) = grounds.amount.filter(|said| *said != seen.amount) {
            return refused(format!("{object} took {} at the provider, not {said}", seen.amount));
        }
        if let Some(words) = self.known_as_anothers(claimed, &account_id, &object).await? {
            return refused(words);
        }
        if let Some(words) = self.names_another(claimed, &seen).await? {
            return refused(words);
        }
        let words = format!("a person: object {object}, {}: {grounds}", seen.amount);
        judged_charged(hand, &object, seen.amount, words)?;
        paid(claimed, hand, object, seen.amount)
    }

    /// Whom else of ours an object names.
    async fn names_another(
        &self,
        claimed: &Claimed,
        seen: &Observation,
    ) -> Result<Option<String>, EngineError> {
        let object = &seen.object;
        let (tenant, is_shown) = (&claimed.intent.tenant, is_shown_for(&claimed.intent.state, object));
        if let Some(named) = seen.intent.filter(|named| *named != claimed.intent.id)
            && (!is_shown || self.store.intent(tenant.clone(), named).await?.is_some())
        {
            return Ok(Some(format!("{object} names another payment of ours")));
        }
        // Whose it is, the payment's own id says, whatever order somebody wrote beside it.
        let is_ours = seen.intent == Some(claimed.intent.id);
        let other = seen.order.as_ref().filter(|named| **named != claimed.checkout.order && !is_ours);
        let Some(order) = other else { return Ok(None) };
        let ours = self.store.order(tenant.clone(), order.clone()).await?.is_some();
        Ok(ours.then(|| format!("{object} names order {order}, which is another one of ours")))
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
        if let Some(words) = self.known_as_anothers(claimed, &frozen.account, &object).await? {
            return refused(words);
        }
        if grounds.evidence.is_none() {
            return refused(format!(
                "{why}; say by --evidence what shows that {object} took the money, and by --amount how much"
            ));
        }
        // What was asked for is no sum of what was taken: nobody here has seen that (invariant 16).
        let shown = suspect(&claimed.intent.state, &object).and_then(|suspect| suspect.amount);
        let (amount, of) = match (grounds.amount, shown) {
            (Some(said), _) => (said, "as it was told"),
            (None, Some(shown)) => (shown, "as the provider showed it last"),
            (None, None) => {
                return refused(format!(
                    "{why}, and never showed how much {object} took: say it by --amount"
                ));
            }
        };
        let words = format!("a person: object {object}, {amount}, {of}: {grounds} ({why})");
        judged_charged(hand, &object, amount, words)?;
        paid(claimed, hand, object, amount)
    }

    /// Refused until absence is proved: by two complete listings, or, where the provider cannot be asked at all, by the time after
    /// which nothing can be executed any more and by what the person has in hand.
    async fn judge_not_charged(
        &self,
        claim: &Claim,
        hand: &mut InHand,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let claimed = &claim.work;
        let (account, account_id) = match self.asked(&claimed.operation).await? {
            Ok((account, _, id)) => (account, id),
            Err(Unaskable::FromHere(why)) => return refused(why),
            Err(Unaskable::ByAnybody(why)) => {
                return self.judge_without_listing(claimed, hand, grounds, &why);
            }
        };
        if is_unnamed(&claimed.intent.state) {
            return self.judge_without_listing(claimed, hand, grounds, UNNAMED);
        }
        let given_back = match self.suspects_said(claimed, &account, &account_id).await? {
            Said::MayHaveCharged(words) => return refused(words),
            Said::Nothing => return self.judge_without_listing(claimed, hand, grounds, SILENT),
            Said::NotCharged(given_back) => given_back,
        };
        match claimed.intent.state.object().cloned() {
            Some(object) => self.judge_ended((&account, &account_id), claimed, hand, &object, grounds).await,
            None => self.judge_absent(claim, hand, &given_back, grounds).await,
        }
    }

    /// By the object that is known.
    async fn judge_ended(
        &self,
        (account, id): (&Account, &ProviderAccount),
        claimed: &Claimed,
        hand: &mut InHand,
        object: &ObjectId,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        if let Some(known) = self.recorded_as(&claimed.operation, id, object).await? {
            hand.apply(Event::JudgedNotCharged, format!("a person, and {known}: {grounds}"))?;
            return ended_without_money(claimed);
        }
        let Reply::Object(seen) = self.provider.query(account, object).await else {
            return self.judge_without_listing(claimed, hand, grounds, SILENT);
        };
        match seen.status {
            ObjectStatus::Ended(_) => {
                let words = format!("a person, object {object} ended: {grounds}");
                hand.apply(Event::JudgedNotCharged, words)?;
                ended_without_money(claimed)
            }
            ObjectStatus::Succeeded if seen.given_back => {
                let words = format!("a person{}: {grounds}", gave_back(object, seen.amount));
                hand.apply(Event::JudgedNotCharged, words)?;
                ended_without_money(claimed)
            }
            ObjectStatus::Succeeded => refused(format!(
                "{object} is not over at the provider: it is succeeded. Say `--charged {object}`, or give all of it back there first"
            )),
            status @ (ObjectStatus::Pending { .. } | ObjectStatus::WaitingForCapture) => {
                let status = status_words(&status);
                refused(format!(
                    "{object} is not over at the provider: it is {status}. End it there, or wait: it ends by itself"
                ))
            }
        }
    }

    /// By listings of the account: one that is read now, and one that was some time before. What was given back in full, or ended, is
    /// nobody's money any more.
    async fn judge_absent(
        &self,
        claim: &Claim,
        hand: &mut InHand,
        given_back: &str,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let claimed = &claim.work;
        let Some(listing) = self.shared_listing(claim).await? else {
            return refused("the account's listing is being read just now; try again in a moment");
        };
        if let Some(found) = listing.of(claimed.intent.id).iter().find(|found| !went_back(found)) {
            return refused(format!(
                "the provider's listing holds {} of this payment: it is {}",
                found.object,
                status_words(&found.status)
            ));
        }
        if !listing.complete || !self.provider.proves_absence() {
            return self.judge_without_listing(claimed, hand, grounds, SILENT);
        }
        let dead_at = self.tokens_dead_at(claimed);
        if claimed.now < dead_at {
            let left = waiting(dead_at, claimed.now);
            return refused(format!("a request that is late could still take money; wait {left}"));
        }
        if !self.is_evidence(claimed, &listing) {
            return refused(
                "one listing without it is not enough: the server has to have waited as long, and its own listings to agree; wait for it",
            );
        }
        let (since, gap_ms) = (claimed.operation.absent_since, self.settings.listing_gap_ms);
        if let Some(since) = since.filter(|since| listing.began.since_ms(*since) >= gap_ms) {
            let words =
                format!("a person, and listings of {since} and {}{given_back}: {grounds}", listing.began);
            hand.apply(Event::JudgedNotCharged, words)?;
            return ended_without_money(claimed);
        }
        refused(format!(
            "one listing without it is not enough: the server reads a second one that has to agree; wait {}",
            waiting(since.unwrap_or(claimed.now).plus_ms(gap_ms), claimed.now)
        ))
    }

    /// When the provider has forgotten the key of the first send. What this database knows no send of was sent before it was met, if
    /// ever: by a time that is lost (fault 23).
    fn keys_dead_at(&self, claimed: &Claimed) -> Timestamp {
        let operation = &claimed.operation;
        let sent = operation.first_sent_at.or(operation.execute_until).unwrap_or(claimed.now);
        self.key_dead_at(sent)
    }

    /// When no request of then can be executed any more.
    pub(super) fn key_dead_at(&self, sent: Timestamp) -> Timestamp {
        sent.plus_ms(self.provider.resend_window_ms().unwrap_or(0) + KEY_DEAD_MS)
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
        let dead_at = self.keys_dead_at(claimed);
        if claimed.now < dead_at {
            let left = waiting(dead_at, claimed.now);
            return refused(format!("{why}, and a request could still be executed; wait {left}"));
        }
        hand.apply(Event::JudgedNotCharged, format!("a person: {grounds} ({why})"))?;
        ended_without_money(claimed)
    }
}

/// Whether something contradicted the request, and nothing tells any more what it was.
fn is_unnamed(state: &State) -> bool {
    state.suspects().is_empty()
        && matches!(state, State::NeedsReview { why: ReviewReason::Mismatch(_), object: None, .. })
}

/// What was taken is written down, not what was asked for.
fn judged_charged(
    hand: &mut InHand,
    object: &ObjectId,
    amount: Money,
    words: String,
) -> Result<(), TransitionError> {
    hand.apply(Event::JudgedCharged { object: object.clone() }, words)?;
    for charge in &mut hand.charges {
        charge.amount = amount;
    }
    Ok(())
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
