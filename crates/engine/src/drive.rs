//! The only road to a provider: claim, call with no transaction open, transition, fenced commit.

use payment::{Event, ObjectStatus, Step};
use providers::{Page, Reply};
use store::{CheckoutRecord, Claimed, Commit, Committed, IntentRecord, Stage, StoreError};

use crate::{
    Engine, EngineError,
    frozen::FrozenRequest,
    observe::{InHand, outcome_words},
};

/// Most pages of a listing read at once; the rest waits for the next look.
const MAX_PAGES: usize = 50;

/// An operation after it was driven.
#[derive(Clone, Debug)]
pub struct Driven {
    /// The checkout, now.
    pub checkout: CheckoutRecord,
    /// The intent, now.
    pub intent: IntentRecord,
}

/// What one step brought, besides events.
struct Stepped {
    ended: Option<(payment::AttemptId, String)>,
    retry_after_ms: Option<i64>,
}

impl Engine {
    /// Does a claimed operation's next step and commits what came of it. A holder that lost its lease writes nothing (R14).
    pub async fn drive(&self, claimed: Claimed) -> Result<Driven, EngineError> {
        let mut hand = InHand::new(&claimed);
        if claimed.unanswered {
            let lost = "a send of an earlier holder has no answer".to_owned();
            if hand.state.name() == payment::StateName::Processing {
                hand.apply(Event::TakenOver, lost)?;
            }
        }
        let stepped = self.step(&claimed, &mut hand).await?;
        self.call_a_person(&claimed, &mut hand)?;
        let commit = self.commit(&claimed, hand, stepped);
        let anomalous = !commit.anomalies.is_empty();
        let committed = match self.store.commit(commit.clone()).await {
            // The commit may be there: the same one is recognised by fence and version.
            Err(StoreError::Unknown(_)) => self.store.commit(commit).await,
            other => other,
        };
        match committed? {
            Committed::Done { extra, .. } => {
                if extra || anomalous {
                    tracing::error!(intent = %claimed.intent.id, order = %claimed.checkout.order, extra,
                        "the provider contradicts what was known; the journal tells how, and a person has to look");
                }
            }
            Committed::Stale { fence, version } => {
                tracing::warn!(intent = %claimed.intent.id, held = claimed.operation.fence, fence, version,
                    "the lease was lost; what this holder learned is left to the next one");
            }
        }
        let (checkout, intent) = self.reread(&claimed.intent.tenant, claimed.intent.id).await?;
        Ok(Driven { checkout, intent })
    }

    async fn step(&self, claimed: &Claimed, hand: &mut InHand) -> Result<Stepped, EngineError> {
        let mut stepped = Stepped { ended: None, retry_after_ms: None };
        match (&claimed.step, &claimed.attempt) {
            (Step::Send, Some(attempt)) => {
                let reply = self.send(claimed).await?;
                stepped.retry_after_ms = retry_after_ms(&reply);
                stepped.ended = Some((attempt.id, outcome_words(&reply)));
                hand.sent(reply, &attempt.id.to_string())?;
            }
            (Step::Query(object), _) => {
                let frozen = self.frozen(&claimed.intent.tenant, &claimed.operation).await?;
                let reply = self.provider.query(&frozen.account, object).await;
                stepped.retry_after_ms = retry_after_ms(&reply);
                hand.queried(reply, "asked")?;
            }
            (Step::Find, _) => stepped.retry_after_ms = self.find(claimed, hand).await?,
            (Step::EndUnsent, _) => {
                hand.apply(
                    Event::ExecuteUntilPassed,
                    "no send was executed, and no other may follow".to_owned(),
                )?;
            }
            (Step::Send, None) | (Step::Nothing, _) => {}
        }
        Ok(stepped)
    }

    /// Sends the stored bytes to the stored account under the stored key: never encoded again (R15).
    async fn send(&self, claimed: &Claimed) -> Result<Reply, EngineError> {
        let FrozenRequest { account, method, path, body } =
            self.frozen(&claimed.intent.tenant, &claimed.operation).await?;
        let key = claimed.operation.provider_key;
        Ok(self.provider.send(&account, &method, &path, body, key).await)
    }

    /// Looks for our object in the listing of the frozen account. Not finding it proves nothing.
    async fn find(&self, claimed: &Claimed, hand: &mut InHand) -> Result<Option<i64>, EngineError> {
        let account = self.frozen(&claimed.intent.tenant, &claimed.operation).await?.account;
        let first_sent_at = claimed.operation.first_sent_at.unwrap_or(claimed.intent.created_at);
        // Clocks differ: the object may be dated a little before our send.
        let from = first_sent_at.plus_ms(-self.settings.listing_gap_ms);
        let (mut cursor, mut ours) = (None::<String>, Vec::new());
        let mut retry_after_ms = Some(self.settings.listing_gap_ms);
        for _ in 0..MAX_PAGES {
            let next = match self.provider.list(&account, from, cursor.as_deref()).await {
                Page::Failed { retry_after_ms: told } => {
                    retry_after_ms = told;
                    break;
                }
                Page::Objects { objects, next, .. } => {
                    ours.extend(objects.into_iter().filter(|seen| seen.intent == Some(claimed.intent.id)));
                    next
                }
            };
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        // Should there be several, what took money decides, wherever it stands in the listing.
        ours.sort_by_key(|seen| seen.status != ObjectStatus::Succeeded);
        for seen in ours {
            hand.observe(seen, "found in the listing")?;
        }
        Ok(retry_after_ms)
    }

    /// What is unresolved long after its last possible send stands before a person; queries go on.
    fn call_a_person(&self, claimed: &Claimed, hand: &mut InHand) -> Result<(), EngineError> {
        let Some(execute_until) = claimed.operation.execute_until else { return Ok(()) };
        if claimed.now.since_ms(execute_until) >= self.settings.review_after_ms {
            hand.apply(Event::Overdue, "unresolved too long after the last possible send".to_owned())?;
        }
        Ok(())
    }

    fn commit(&self, claimed: &Claimed, hand: InHand, stepped: Stepped) -> Commit {
        let intent = IntentRecord {
            state: hand.state.clone(),
            paid_with: hand.paid_with.clone().or_else(|| claimed.intent.paid_with.clone()),
            ..claimed.intent.clone()
        };
        let answer = hand.state.is_terminal().then(|| self.answers.intent(200, &claimed.checkout, &intent));
        let open = matches!(Stage::of(hand.state.name()), Stage::Open | Stage::Review);
        Commit {
            tenant: intent.tenant.clone(),
            checkout: intent.checkout,
            intent: intent.id,
            version: claimed.intent.version,
            operation: claimed.operation.id,
            fence: claimed.operation.fence,
            state: hand.state,
            paid_with: hand.paid_with,
            object: hand.object,
            charge: hand.charge,
            anomalies: hand.anomalies,
            changes: hand.changes,
            ended: stepped.ended,
            wake_in_ms: open.then(|| self.wait_ms(claimed, stepped.retry_after_ms)),
            answer,
        }
    }

    /// A provider that asks for silence without end does not keep a payment from a person's eyes.
    fn wait_ms(&self, claimed: &Claimed, retry_after_ms: Option<i64>) -> i64 {
        let tries = u32::try_from(claimed.operation.tries).unwrap_or(u32::MAX);
        let wait_ms = self.settings.retry.delay_ms(tries, self.ids.random(), retry_after_ms);
        let review_after_ms = self.settings.review_after_ms;
        let until = claimed.operation.execute_until.unwrap_or(claimed.now);
        let left_ms = until.plus_ms(review_after_ms).since_ms(claimed.now);
        wait_ms.min(if left_ms > 0 { left_ms } else { review_after_ms.max(self.settings.retry.max_ms) })
    }
}

fn retry_after_ms(reply: &Reply) -> Option<i64> {
    match reply {
        Reply::NotExecuted { retry_after_ms, .. } | Reply::Unknown { retry_after_ms, .. } => *retry_after_ms,
        Reply::Object(_) | Reply::Rejected { .. } => None,
    }
}
