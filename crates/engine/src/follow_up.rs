//! Captures, cancels and refunds: asked for once, under a key of their own, with the recovery that payments have.

use payment::{
    IntentId, Mismatch, Money, ObjectId, ObjectStatus, Observation, OperationEvent, OperationId,
    OperationKind, OperationState, ProviderAccount, RefundObservation, RefundStatus, State, Step, Timestamp,
    UnknownReason,
};
use providers::{Account, RefundRequest, Reply, Span};
use store::{
    Change, ChargeRecord, Claimed, Commit, FollowUp, Frozen, OpenFollowUp, OpenedFollowUp, OperationRecord,
    Stage, StoreError, Story, Task, Tenant,
};

use crate::{
    Engine, EngineError, Seal,
    drive::{CLOCKS_DIFFER_MS, Claim, Driven, retry_after_ms},
    failpoint::failpoint,
    frozen::Content,
    observe::{InHand, no_object_words, outcome_words},
};

/// After execute-until (the key's window less its margin): the key is dead, and so is every request under way.
pub(crate) const KEY_DEAD_MS: i64 = 2 * 3_600_000;
/// Most extras given back in one go.
const EXTRAS_AT_ONCE: u32 = 1_000;

/// A capture, cancel or refund in hand.
struct FollowUpInHand<'c> {
    id: OperationId,
    follow_up: &'c FollowUp,
    state: OperationState,
    object: Option<ObjectId>,
    changes: Vec<Change>,
    intent: InHand,
    ended: Option<(payment::AttemptId, String)>,
    retry_after_ms: Option<i64>,
    absent_since: Option<Timestamp>,
    now: Timestamp,
}

impl<'c> FollowUpInHand<'c> {
    fn new(claimed: &Claimed, follow_up: &'c FollowUp) -> Self {
        Self {
            id: claimed.operation.id,
            follow_up,
            state: follow_up.state.clone(),
            object: None,
            changes: Vec::new(),
            intent: InHand::new(claimed),
            ended: None,
            retry_after_ms: None,
            absent_since: claimed.operation.absent_since,
            now: claimed.now,
        }
    }

    fn apply(&mut self, event: OperationEvent, evidence: String) {
        let (from, name) = (self.state.name(), event.name());
        let next = self.state.after(event, self.now);
        if next != self.state {
            let event = format!("{}.{name}", self.follow_up.kind.as_str());
            self.changes.push(Change { from, event, to: next.name(), evidence });
        }
        self.state = next;
    }

    /// What an answer without an object means.
    fn refuse<O>(&mut self, reply: Reply<O>) {
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

    /// What the payment it acts on says; the intent hears it too.
    fn see_payment(&mut self, seen: Observation, evidence: &str) -> Result<(), EngineError> {
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
    fn see_refund(&mut self, seen: &RefundObservation, evidence: &str) {
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

impl Engine {
    /// Opens a capture, cancel or refund of an intent's payment; a worker does it.
    pub async fn open_follow_up(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        kind: OperationKind,
        amount: Option<Money>,
        reason: String,
    ) -> Result<OpenedFollowUp, EngineError> {
        let (_, found) = self.reread(tenant, intent).await?;
        let target = match (&found.state, kind) {
            (State::Authorized { object }, OperationKind::Capture | OperationKind::Cancel)
            | (State::RequiresAction { object, .. }, OperationKind::Cancel)
            | (State::Succeeded { object, .. }, OperationKind::Refund) => object.clone(),
            (
                State::Created
                | State::Processing { .. }
                | State::RequiresAction { .. }
                | State::Confirming { .. }
                | State::Authorized { .. }
                | State::NeedsReview { .. }
                | State::Succeeded { .. }
                | State::Declined { .. }
                | State::Canceled { .. }
                | State::Expired { .. },
                _,
            ) => return Ok(OpenedFollowUp::NotNow),
        };
        self.open_on(tenant, intent, kind, (target, amount), reason).await
    }

    /// Opens the refund of all that is left of a charge.
    pub async fn refund_charge(
        &self,
        charge: &ChargeRecord,
        reason: String,
    ) -> Result<OpenedFollowUp, EngineError> {
        let left_minor = charge.amount.minor() - charge.reserved_minor - charge.refunded_minor;
        let Ok(amount) = Money::from_minor(left_minor, charge.amount.currency()) else {
            return Ok(OpenedFollowUp::Exceeds { left_minor: 0 });
        };
        let of = (charge.object.clone(), Some(amount));
        self.open_on(&charge.tenant, charge.intent, OperationKind::Refund, of, reason).await
    }

    /// Gives extras back, where that is the merchant's setting: once each; what was refused stands before a person.
    pub async fn refund_extras(&self) -> Result<usize, EngineError> {
        let mut opened = 0;
        for charge in self.store.open_extras(EXTRAS_AT_ONCE).await? {
            let merchant = self.directory.merchant(&charge.tenant).await?;
            let wanted = merchant.is_some_and(|merchant| merchant.refund_extras);
            if wanted && !self.was_refund_tried(&charge).await? {
                let refund = self.refund_charge(&charge, "the order was paid already".to_owned()).await?;
                opened += usize::from(matches!(refund, OpenedFollowUp::Fresh(_)));
            }
        }
        Ok(opened)
    }

    async fn was_refund_tried(&self, charge: &ChargeRecord) -> Result<bool, EngineError> {
        let Some(story) = self.store.story(charge.tenant.clone(), charge.intent).await? else {
            return Ok(true);
        };
        Ok(story.follow_ups.iter().any(|row| match &row.task {
            Task::Pay => false,
            Task::FollowUp(follow_up) => {
                follow_up.kind == OperationKind::Refund && follow_up.target == charge.object
            }
        }))
    }

    async fn open_on(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        kind: OperationKind,
        (target, amount): (ObjectId, Option<Money>),
        reason: String,
    ) -> Result<OpenedFollowUp, EngineError> {
        let story = self.store.story(tenant.clone(), intent).await?;
        let story = story.ok_or_else(|| StoreError::Unreadable(format!("{intent} is gone")))?;
        let Some((paid_to, provider, account)) = self.account_holding(tenant, &story, &target).await? else {
            return Ok(OpenedFollowUp::NotNow);
        };
        let ids = self.ids.new_ids();
        let encoded = match (kind, amount) {
            (OperationKind::Capture, Some(amount)) => self.provider.encode_capture(&target, amount),
            (OperationKind::Cancel, None) => self.provider.encode_cancel(&target),
            (OperationKind::Refund, Some(amount)) => self.provider.encode_refund(&RefundRequest {
                operation: ids.operation,
                payment: target.clone(),
                amount,
                reason: Some(reason.clone()),
            }),
            (
                OperationKind::Pay | OperationKind::Capture | OperationKind::Cancel | OperationKind::Refund,
                _,
            ) => {
                return Ok(OpenedFollowUp::NotNow);
            }
        };
        let content = Content { secret: paid_to.secret, body: encoded.body };
        let sealed_body =
            self.vault.seal(&content.to_bytes(), &Seal::request(tenant, intent), self.ids.nonce());
        let (method, url) = (encoded.method.to_owned(), paid_to.url);
        let frozen = Frozen { provider, account, url, method, path: encoded.path, sealed_body };
        let command = OpenFollowUp {
            tenant: tenant.clone(),
            intent,
            operation: ids.operation,
            provider_key: ids.provider_key,
            kind,
            target,
            amount,
            frozen,
            // One without keys is never re-sent to; none of ours is without.
            execute_ms: self.provider.resend_window_ms().unwrap_or(0),
            reason,
        };
        let opened = match self.store.open_follow_up(command.clone()).await {
            // It may be there: the same command finds it by its id.
            Err(StoreError::Unknown(_)) => self.store.open_follow_up(command).await,
            other => other,
        };
        failpoint!("follow_up.opened");
        self.changes.changed(tenant, intent);
        Ok(opened?)
    }

    /// The account in which an object of an intent lies: a charge's own, which need not be the payment's. None where nobody here
    /// has the credentials of a charge's account.
    async fn account_holding(
        &self,
        tenant: &Tenant,
        story: &Story,
        object: &ObjectId,
    ) -> Result<Option<(Account, String, ProviderAccount)>, EngineError> {
        let Some(charge) = story.charges.iter().find(|charge| charge.object == *object) else {
            return Ok(Some(self.paid_to(tenant, &story.operation).await?));
        };
        for row in std::iter::once(&story.operation).chain(&story.follow_ups) {
            let lies_there = row.frozen.as_ref().is_some_and(|frozen| frozen.account == charge.account);
            if lies_there && self.unaskable(row).await?.is_none() {
                return Ok(Some(self.paid_to(tenant, row).await?));
            }
        }
        match self.directory.merchant(tenant).await? {
            Some(merchant) if merchant.account == charge.account => {
                Ok(Some((self.account_of(&merchant)?, merchant.provider, merchant.account)))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Whether a charge can be given back by us: its account's credentials are at hand.
    pub async fn can_refund(&self, charge: &ChargeRecord) -> Result<bool, EngineError> {
        let Some(story) = self.store.story(charge.tenant.clone(), charge.intent).await? else {
            return Ok(false);
        };
        Ok(self.account_holding(&charge.tenant, &story, &charge.object).await?.is_some())
    }

    /// The payment's own account, whatever the merchant's is now; the merchant's where nothing of it was ever sent by us.
    pub(crate) async fn paid_to(
        &self,
        tenant: &Tenant,
        pay: &OperationRecord,
    ) -> Result<(Account, String, ProviderAccount), EngineError> {
        match &pay.frozen {
            Some(frozen) => {
                let account = self.frozen_account(tenant, pay).await?;
                Ok((account, frozen.provider.clone(), frozen.account.clone()))
            }
            None => {
                let (account, merchant) = self.current_account(tenant).await?;
                Ok((account, merchant.provider, merchant.account))
            }
        }
    }

    pub(crate) async fn drive_follow_up(
        &self,
        claim: &Claim,
        follow_up: &FollowUp,
    ) -> Result<Driven, EngineError> {
        let claimed = &claim.work;
        let mut hand = FollowUpInHand::new(claimed, follow_up);
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
        attempt: payment::AttemptId,
    ) -> Result<(), EngineError> {
        let frozen = self.frozen(&claim.work.intent.tenant, &claim.work.operation).await?;
        let (account, outgoing) = self.outgoing(claim, frozen);
        let evidence = attempt.to_string();
        if hand.follow_up.kind == OperationKind::Refund {
            let reply = self.provider.send_refund(&account, outgoing).await;
            hand.intent.alarm(&reply);
            hand.retry_after_ms = retry_after_ms(&reply);
            match reply {
                Reply::Object(seen) => {
                    hand.ended = Some((attempt, format!("refund {}", seen.object)));
                    hand.see_refund(&seen, &evidence);
                }
                other @ (Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. }) => {
                    hand.ended = Some((attempt, no_object_words(&other)));
                    hand.refuse(other);
                }
            }
            return Ok(());
        }
        let reply = self.provider.send(&account, outgoing).await;
        hand.intent.alarm(&reply);
        hand.retry_after_ms = retry_after_ms(&reply);
        hand.ended = Some((attempt, outcome_words(&reply)));
        match reply {
            Reply::Object(seen) => hand.see_payment(seen, &evidence),
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
            hand.intent.alarm(&reply);
            hand.retry_after_ms = retry_after_ms(&reply);
            if let Reply::Object(seen) = reply {
                hand.see_refund(&seen, "asked");
            }
            return Ok(());
        }
        let reply = self.provider.query(&account, object).await;
        hand.intent.alarm(&reply);
        hand.retry_after_ms = retry_after_ms(&reply);
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
        let span = Span { from: first.plus_ms(-CLOCKS_DIFFER_MS), to: None };
        let listing = self.list_refunds(&account, &hand.follow_up.target, span).await;
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
