//! The only road to a provider: claim, call with no transaction open, transition, fenced commit.

use std::sync::Arc;

use payment::{AttemptId, CheckoutStatus, Event, ObjectStatus, ProviderKey, StateName, Step, Timestamp};
use planted::Fault;
use providers::{MayLeave, Outgoing, Reply};
use store::{Asked, CheckoutRecord, Claimed, Commit, IntentRecord, Stage, Task};

use crate::{
    Engine, EngineError, Moments,
    failpoint::failpoint,
    follow_up::went_back,
    frozen::{FrozenRequest, account_in},
    listing::OurTime,
    observe::{InHand, outcome_words},
    shared_listing::{Shared, SharedListing, widened},
};

/// How far our clock and the provider's may be apart, either way: the margin of its key's window as well.
pub(crate) const CLOCKS_DIFFER_MS: i64 = 3_600_000;

/// How much too early a send may be dated by a clock that was behind: its object is looked for that much longer.
const DATED_TOO_EARLY_MS: i64 = 86_400_000;

/// Work in the holder's hands, and what the process's clocks showed before it was claimed.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The work.
    pub work: Claimed,
    /// The clocks, read before the database was asked: what has passed since is never taken for less than it is.
    pub began: Moments,
}

impl Claim {
    /// When it was made.
    pub(crate) fn time(&self) -> OurTime {
        OurTime { now: self.work.now, began: self.began }
    }
}

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
    ended: Option<(AttemptId, String)>,
    /// The next look is not sooner, ms.
    retry_after_ms: Option<i64>,
    /// Because the provider said so.
    not_before_ms: Option<i64>,
    absent_since: Option<Timestamp>,
    asked: Asked,
}

impl Engine {
    /// Does a claimed operation's next step and commits what came of it. A holder that lost its lease writes nothing (R14).
    pub async fn drive(&self, claim: Claim) -> Result<Driven, EngineError> {
        failpoint!("drive.claimed");
        match &claim.work.operation.task {
            Task::Pay => self.drive_pay(&claim).await,
            Task::FollowUp(follow_up) => self.drive_follow_up(&claim, follow_up).await,
        }
    }

    async fn drive_pay(&self, claim: &Claim) -> Result<Driven, EngineError> {
        let claimed = &claim.work;
        // Not since the claim was asked for: it may have waited for the database for as long as a token lives (fault 31).
        let known_since = self.clock.moments();
        let mut hand = InHand::new(claimed, account_in(&claimed.operation)?);
        if claimed.unanswered && hand.state.name() == StateName::Processing {
            hand.apply(Event::TakenOver, "a send of an earlier holder has no answer".to_owned())?;
        }
        let stepped = self.step(claim, &mut hand).await?;
        self.call_a_person(claimed, &mut hand)?;
        if hand.state.is_terminal() {
            self.memory.unresolved.forget(claimed.operation.id);
        } else {
            self.memory.unresolved.meet(claimed.operation.id, known_since);
        }
        failpoint!("drive.answered");
        let commit = self.commit(claimed, hand, stepped);
        let (tenant, intent) = (&claimed.intent.tenant, claimed.intent.id);
        if !self.write(claimed, commit).await? && claimed.step == Step::Find {
            // The lease was shorter than the listing, which is kept: whoever comes next has it.
            self.store.look_now(tenant.clone(), intent).await?;
        }
        self.driven(tenant, intent).await
    }

    async fn step(&self, claim: &Claim, hand: &mut InHand) -> Result<Stepped, EngineError> {
        let claimed = &claim.work;
        let absent_since = claimed.operation.absent_since;
        let mut stepped = Stepped {
            ended: None,
            retry_after_ms: None,
            not_before_ms: None,
            absent_since,
            asked: Asked::Now,
        };
        match (&claimed.step, &claimed.attempt) {
            (Step::Send, Some(attempt)) => {
                let request = self.frozen(&claimed.intent.tenant, &claimed.operation).await?;
                let (account, outgoing) = self.outgoing(claim, request);
                let reply = self.provider.send(&account, outgoing).await;
                stepped.retry_after_ms = retry_after_ms(&reply);
                stepped.ended = Some((attempt.id, outcome_words(&reply)));
                hand.sent(reply, &attempt.id.to_string())?;
            }
            (Step::Query(object), _) => {
                let account = self.frozen_account(&claimed.intent.tenant, &claimed.operation).await?;
                let reply = self.provider.query(&account, object).await;
                stepped.retry_after_ms = retry_after_ms(&reply);
                hand.queried(reply, "asked")?;
            }
            (Step::Find, _) => self.find(claim, hand, &mut stepped).await?,
            (Step::EndUnsent, _) => {
                hand.apply(
                    Event::ExecuteUntilPassed,
                    "no send was executed, and no other may follow".to_owned(),
                )?;
            }
            (Step::Send, None) | (Step::Nothing, _) => {}
        }
        if claimed.step != Step::Find {
            stepped.not_before_ms = stepped.retry_after_ms;
        }
        Ok(stepped)
    }

    /// The stored bytes for the stored account under the stored key, never encoded again (R15); with the last look before the
    /// first byte: a process that was paused may find that its claim has run out, or that the provider's window has (R14, R17).
    pub(crate) fn outgoing(&self, claim: &Claim, frozen: FrozenRequest) -> (providers::Account, Outgoing) {
        let operation = &claim.work.operation;
        let execute_ms = operation.execute_until.map_or(0, |until| until.since_ms(claim.work.now));
        let limit_ms = execute_ms.min(self.settings.lease_ms);
        let (clock, began) = (Arc::clone(&self.clock), claim.began);
        let may_leave: MayLeave = Arc::new(move || {
            clock.moments().since_ms(began) < limit_ms || planted::is(Fault::LastLookSkipped)
        });
        let FrozenRequest { account, method, path, mut body } = frozen;
        let (mut key, attempt) = (operation.provider_key, claim.work.attempt.as_ref());
        if planted::is(Fault::NewKeyPerAttempt) {
            key = attempt.map_or(key, |attempt| ProviderKey(attempt.id.0));
        }
        if planted::is(Fault::BodyEncodedAnew) && attempt.is_some_and(|attempt| attempt.number > 1) {
            body.push(b' ');
        }
        (account, Outgoing { method, path, body, key, may_leave })
    }

    /// Looks for our object in the listing of the frozen account. That it is not there proves something only if the listing is
    /// complete, was begun when no straggling send could take money any more, and another one some time later says the same.
    async fn find(&self, claim: &Claim, hand: &mut InHand, stepped: &mut Stepped) -> Result<(), EngineError> {
        let claimed = &claim.work;
        let Some(listing) = self.shared_listing(claim).await? else {
            stepped.asked = Asked::Not;
            return Ok(());
        };
        let gap_ms = self.settings.listing_gap_ms;
        stepped.asked = Asked::At(listing.began);
        stepped.retry_after_ms = listing.retry_after_ms(claimed.now);
        if self.is_over(claimed, claimed.now) {
            // What is only held is sent again as soon as it may.
            stepped.retry_after_ms = stepped.retry_after_ms.max(Some(gap_ms));
        }
        let mut ours = listing.of(claimed.intent.id).to_vec();
        // Should there be several, what took money decides, wherever it stands in the listing.
        ours.sort_by_key(|seen| seen.status != ObjectStatus::Succeeded || seen.given_back);
        for seen in &ours {
            hand.observe(seen.clone(), "found in the listing")?;
        }
        // What was given back in full, or ended with another sum, ends nothing by itself, and a person may be waiting for the proof that
        // there is no other.
        if ours.iter().any(|seen| !went_back(seen)) {
            stepped.absent_since = None;
        } else if (listing.complete || planted::is(Fault::IncompleteListingProves))
            && self.is_evidence(claimed, &listing)
        {
            let since = *stepped.absent_since.get_or_insert(listing.ended);
            if listing.began.since_ms(since) >= gap_ms || planted::is(Fault::OneListingProves) {
                let words = format!("no object of it in the listings of {since} and {}", listing.began);
                hand.apply(Event::Absent, words)?;
            }
        }
        Ok(())
    }

    /// The listing that holds an intent's objects, if there are any: read now, or lately for another operation. None while somebody
    /// else reads it.
    pub(crate) async fn shared_listing(
        &self,
        claim: &Claim,
    ) -> Result<Option<Arc<SharedListing>>, EngineError> {
        let claimed = &claim.work;
        let account = self.frozen_account(&claimed.intent.tenant, &claimed.operation).await?;
        let proved_until = self.proved_until(claimed).await?;
        let from = first_sent_at(claimed).min(proved_until).plus_ms(-CLOCKS_DIFFER_MS);
        // A clock that was behind at the send dates it too early.
        let to = self.tokens_dead_at(claimed).plus_ms(DATED_TOO_EARLY_MS);
        let (span, keep_ms) = (widened(from, to), self.settings.listing_gap_ms);
        let find = || self.memory.listings.find(&account, span, claimed.now, keep_ms);
        let mut found = find();
        if let Shared::Read(kept) = &found
            && self.was_heard_of_since(claimed, kept).await?
        {
            self.memory.listings.forget(kept);
            found = find();
        }
        Ok(match found {
            Shared::Read(listing) => Some(listing),
            Shared::BeingRead => None,
            Shared::Unread(reading) => {
                let read =
                    self.list_payments(&account, span, claim.time(), |seen| seen.intent.is_some()).await;
                let listing = Arc::new(SharedListing::new(read, claim.time(), self.latest_now(claim)));
                reading.keep(Arc::clone(&listing), self.clock.moments());
                Some(listing)
            }
        })
    }

    /// Whether a listing that was kept shows something of an intent whose journal was written to since: what it shows may be over, and
    /// what is written was newer. Whoever reads one now is not asked: clocks that were set cannot keep him from what he reads.
    async fn was_heard_of_since(&self, claimed: &Claimed, kept: &SharedListing) -> Result<bool, EngineError> {
        let intent = &claimed.intent;
        if kept.of(intent.id).is_empty() {
            return Ok(false);
        }
        let story = self.store.story(intent.tenant.clone(), intent.id).await?;
        let last = story.and_then(|story| Some(story.journal.last()?.line.at));
        Ok(last.is_some_and(|at| at >= kept.began))
    }

    /// What time it is by the database, at the latest: what has passed since the claim is never taken for less than it is.
    pub(crate) fn latest_now(&self, claim: &Claim) -> Timestamp {
        self.latest(claim.time())
    }

    /// How far a sweep has read the account by clocks that agreed. Later sends may be dated too late by a clock that was ahead then and
    /// is right now: what the provider made of them may be older than they are (fault 31).
    async fn proved_until(&self, claimed: &Claimed) -> Result<Timestamp, EngineError> {
        let Some(frozen) = &claimed.operation.frozen else { return Ok(claimed.now) };
        let swept = self.store.sweep(claimed.intent.tenant.clone(), frozen.account.clone()).await?;
        Ok(swept.0.swept_until)
    }

    /// When no straggling send of a payment can take money any more, by the database: its card token is dead.
    pub(crate) fn tokens_dead_at(&self, claimed: &Claimed) -> Timestamp {
        first_sent_at(claimed).plus_ms(self.settings.token_life_ms + self.settings.token_margin_ms)
    }

    /// Whether a listing can be evidence of absence: nothing more was sent from when it was begun on, and what had been sent was
    /// harmless. The database's clock may have been set since the first send: the time has to have passed before our eyes as well, or
    /// before those of whoever found the first evidence (fault 31).
    pub(crate) fn is_evidence(&self, claimed: &Claimed, listing: &SharedListing) -> bool {
        let operation = &claimed.operation;
        let life_ms = self.settings.token_life_ms + self.settings.token_margin_ms;
        let seen_dead = planted::is(Fault::AbsenceNotLived)
            || operation.absent_since.is_some()
            || self.memory.unresolved.known_ms(operation.id, listing.moments) >= life_ms;
        let dead = seen_dead && listing.began >= self.tokens_dead_at(claimed);
        self.provider.proves_absence()
            && self.is_over(claimed, listing.began)
            && (dead || planted::is(Fault::ListingBeforeTokensDie))
    }

    /// Whether nothing is sent for it from then on. Since when it is paid is not known, only that it is at the claim.
    fn is_over(&self, claimed: &Claimed, at: Timestamp) -> bool {
        let late = claimed.operation.execute_until.is_some_and(|until| at >= until);
        late || (claimed.checkout.status == CheckoutStatus::Paid && at >= claimed.now)
    }

    /// What is unresolved long after its last possible send stands before a person; queries go on. Money that is held is resolved
    /// as long as the provider shows it, and until its hold is over by itself: then somebody has to know what became of it.
    fn call_a_person(&self, claimed: &Claimed, hand: &mut InHand) -> Result<(), EngineError> {
        let Some(execute_until) = claimed.operation.execute_until else { return Ok(()) };
        let (resolved_until, words) = if hand.state.name() != StateName::Authorized {
            (execute_until, "unresolved too long after the last possible send".to_owned())
        } else if hand.shows_hold {
            return Ok(());
        } else {
            let over = self.over_at(execute_until);
            (over, format!("the provider does not show the money it held, and let go of by {over}"))
        };
        if claimed.now.since_ms(resolved_until) >= self.settings.review_after_ms {
            hand.apply(Event::Overdue, words)?;
        }
        Ok(())
    }

    /// When no money is held any more of what was made until then: it may have waited for the shopper before it was held.
    pub(crate) fn over_at(&self, made_until: Timestamp) -> Timestamp {
        let pending_ms = self.provider.pending_ends_after_ms().unwrap_or(0);
        made_until.plus_ms(pending_ms + self.provider.hold_ends_after_ms())
    }

    fn commit(&self, claimed: &Claimed, hand: InHand, stepped: Stepped) -> Commit {
        let open = matches!(Stage::of(hand.state.name()), Stage::Open | Stage::Review);
        let wait_ms = self.wait_ms(claimed, stepped.retry_after_ms);
        Commit {
            ended: stepped.ended,
            not_before_ms: stepped.not_before_ms.map(|ms| ms.min(wait_ms)),
            absent_since: stepped.absent_since,
            asked: stepped.asked,
            wake_in_ms: open.then_some(wait_ms),
            ..self.commit_of(claimed, hand)
        }
    }

    /// A commit of what an intent in hand has become.
    pub(crate) fn commit_of(&self, claimed: &Claimed, hand: InHand) -> Commit {
        let intent = IntentRecord {
            state: hand.state.clone(),
            paid_with: hand.paid_with.clone().or_else(|| claimed.intent.paid_with.clone()),
            ..claimed.intent.clone()
        };
        let is_final = hand.state.is_terminal() || planted::is(Fault::AnswerBeforeResult);
        let answer = is_final.then(|| self.answers.intent(200, &claimed.checkout, &intent));
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
            follow_up: None,
            touches_intent: true,
            charges: hand.charges,
            anomalies: hand.anomalies,
            changes: hand.changes,
            ended: None,
            wake_in_ms: None,
            absent_since: claimed.operation.absent_since,
            not_before_ms: None,
            asked: Asked::Now,
            out_of_turn: false,
            adopted: None,
            answer,
        }
    }

    /// A provider that asks for silence, or somebody on the way who says so in its place, is not heeded beyond the next moment that
    /// changes what is to be done: nothing may be sent any more, no straggling send can take money any more, a person has to look. Nor
    /// for longer than an hour.
    pub(crate) fn wait_ms(&self, claimed: &Claimed, retry_after_ms: Option<i64>) -> i64 {
        let tries = u32::try_from(claimed.operation.tries).unwrap_or(u32::MAX);
        let wait_ms = self.settings.retry.delay_ms(tries, self.ids.random(), retry_after_ms);
        let review_after_ms = self.settings.review_after_ms;
        let until = claimed.operation.execute_until.unwrap_or(claimed.now);
        let turns = [until, self.tokens_dead_at(claimed), until.plus_ms(review_after_ms)];
        let left_ms = turns.into_iter().map(|at| at.since_ms(claimed.now)).filter(|ms| *ms > 0).min();
        wait_ms.min(left_ms.unwrap_or(wait_ms)).min(SILENCE_MAX_MS)
    }
}

/// Longest time for which nothing is asked, whoever wishes it.
const SILENCE_MAX_MS: i64 = 3_600_000;

fn first_sent_at(claimed: &Claimed) -> Timestamp {
    claimed.operation.first_sent_at.unwrap_or(claimed.intent.created_at)
}

/// How long a provider wants us to wait, ms.
pub(crate) fn retry_after_ms<O>(reply: &Reply<O>) -> Option<i64> {
    match reply {
        Reply::NotExecuted { retry_after_ms, .. } | Reply::Unknown { retry_after_ms, .. } => *retry_after_ms,
        Reply::Object(_) | Reply::Rejected { .. } => None,
    }
}
