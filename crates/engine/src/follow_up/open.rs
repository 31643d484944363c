//! Opens captures, cancels and refunds: what they act on, in whose account, and the request that is sent from then on, frozen.

use payment::{
    IntentId, Money, ObjectId, OperationId, OperationKind, ProviderAccount, RefundObservation, State,
};
use providers::{Account, Encoded, RefundRequest};
use store::{
    ChargeRecord, Fate, Frozen, OpenFollowUp, OpenedFollowUp, OperationRecord, StoreError, Story, Tenant,
};

use crate::{Engine, EngineError, Seal, failpoint::failpoint, frozen::Content};

/// An account that can be asked, and what the rows call its provider and itself.
pub(crate) type Known = (Account, String, ProviderAccount);

/// What is asked for.
struct Wanted {
    kind: OperationKind,
    /// The payment it acts on.
    target: ObjectId,
    amount: Option<Money>,
    /// Whether it is meant for an extra that nothing became of.
    of_open_extra: bool,
    reason: String,
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
        let story = self.story(tenant, intent).await?;
        let kept =
            story.charges.iter().find(|charge| charge.fate == Some(Fate::Kept) && charge.intent == intent);
        let target = match (&found.state, kind) {
            // What paid before it went back.
            (_, OperationKind::Refund) if let Some(kept) = kept => kept.object.clone(),
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
        let own = story.charges.iter().find(|charge| charge.intent == intent && charge.object == target);
        let known = match own {
            Some(charge) => self.account_of_charge(&story, charge).await?,
            None => Some(self.paid_to(tenant, &story.operation).await?),
        };
        let wanted = Wanted { kind, target, amount, of_open_extra: false, reason };
        self.open_on(tenant, intent, known, wanted).await
    }

    /// Opens the refund of all that is left of a charge.
    pub async fn refund_charge(
        &self,
        charge: &ChargeRecord,
        reason: String,
    ) -> Result<OpenedFollowUp, EngineError> {
        let story = self.story(&charge.tenant, charge.intent).await?;
        self.refund_in(&story, charge, reason).await
    }

    /// The same, where its story was read.
    pub(crate) async fn refund_in(
        &self,
        story: &Story,
        charge: &ChargeRecord,
        reason: String,
    ) -> Result<OpenedFollowUp, EngineError> {
        let Ok(amount) = Money::from_minor(charge.left_minor(), charge.amount.currency()) else {
            return Ok(OpenedFollowUp::Exceeds { left_minor: 0 });
        };
        let known = self.account_of_charge(story, charge).await?;
        let target = charge.object.clone();
        let (kind, of_open_extra) = (OperationKind::Refund, charge.extra);
        let wanted = Wanted { kind, target, amount: Some(amount), of_open_extra, reason };
        self.open_on(&charge.tenant, charge.intent, known, wanted).await
    }

    /// Whether a charge can be given back by us: its account's credentials are at hand.
    pub async fn can_refund(&self, charge: &ChargeRecord) -> Result<bool, EngineError> {
        let story = self.story(&charge.tenant, charge.intent).await?;
        Ok(self.account_of_charge(&story, charge).await?.is_some())
    }

    pub(crate) async fn story(&self, tenant: &Tenant, intent: IntentId) -> Result<Story, EngineError> {
        let story = self.store.story(tenant.clone(), intent).await?;
        Ok(story.ok_or_else(|| StoreError::Unreadable(format!("{intent} is gone")))?)
    }

    async fn open_on(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        known: Option<Known>,
        wanted: Wanted,
    ) -> Result<OpenedFollowUp, EngineError> {
        let ids = self.ids.new_ids();
        let (Some(known), Some(encoded)) = (known, self.encoded(ids.operation, &wanted)) else {
            return Ok(OpenedFollowUp::NotNow);
        };
        let Wanted { kind, target, amount, of_open_extra, reason } = wanted;
        let command = OpenFollowUp {
            tenant: tenant.clone(),
            intent,
            operation: ids.operation,
            provider_key: ids.provider_key,
            kind,
            target,
            amount,
            frozen: self.frozen_in(known, tenant, intent, encoded),
            // One without keys is never re-sent to; none of ours is without.
            execute_ms: self.provider.resend_window_ms().unwrap_or(0),
            made: None,
            of_open_extra,
            reason,
        };
        self.write_follow_up(command).await
    }

    /// Writes down a refund of a charge that somebody else made.
    pub(crate) async fn take_down_refund(
        &self,
        charge: &ChargeRecord,
        known: Known,
        seen: RefundObservation,
        reason: String,
    ) -> Result<OpenedFollowUp, EngineError> {
        let ids = self.ids.new_ids();
        let never_sent = Encoded { method: "", path: String::new(), body: Vec::new() };
        let command = OpenFollowUp {
            tenant: charge.tenant.clone(),
            intent: charge.intent,
            operation: ids.operation,
            provider_key: ids.provider_key,
            kind: OperationKind::Refund,
            target: charge.object.clone(),
            amount: Some(seen.amount),
            frozen: self.frozen_in(known, &charge.tenant, charge.intent, never_sent),
            execute_ms: 0,
            made: Some(seen.object),
            of_open_extra: charge.extra,
            reason,
        };
        self.write_follow_up(command).await
    }

    async fn write_follow_up(&self, command: OpenFollowUp) -> Result<OpenedFollowUp, EngineError> {
        let (tenant, intent) = (command.tenant.clone(), command.intent);
        let opened = match self.store.open_follow_up(command.clone()).await {
            // It may be there: the same command finds it by its id.
            Err(StoreError::Unknown(_)) => self.store.open_follow_up(command).await,
            other => other,
        };
        failpoint!("follow_up.opened");
        self.changes.changed(&tenant, intent);
        Ok(opened?)
    }

    /// The request; none for what makes no sense.
    fn encoded(&self, operation: OperationId, wanted: &Wanted) -> Option<Encoded> {
        let target = &wanted.target;
        match (wanted.kind, wanted.amount) {
            (OperationKind::Capture, Some(amount)) => Some(self.provider.encode_capture(target, amount)),
            (OperationKind::Cancel, None) => Some(self.provider.encode_cancel(target)),
            (OperationKind::Refund, Some(amount)) => Some(self.provider.encode_refund(&RefundRequest {
                operation,
                payment: target.clone(),
                amount,
                reason: Some(wanted.reason.clone()),
            })),
            (
                OperationKind::Pay | OperationKind::Capture | OperationKind::Cancel | OperationKind::Refund,
                _,
            ) => None,
        }
    }

    fn frozen_in(
        &self,
        (paid_to, provider, account): Known,
        tenant: &Tenant,
        intent: IntentId,
        encoded: Encoded,
    ) -> Frozen {
        let content = Content { secret: paid_to.secret, body: encoded.body };
        let seal = Seal::request(tenant, intent);
        let sealed_body = self.vault.seal(&content.to_bytes(), &seal, self.ids.nonce());
        let (method, url) = (encoded.method.to_owned(), paid_to.url);
        Frozen { provider, account, url, method, path: encoded.path, sealed_body }
    }

    /// The account in which a charge lies, which need not be its payment's. None where nobody here has its credentials.
    pub(crate) async fn account_of_charge(
        &self,
        story: &Story,
        charge: &ChargeRecord,
    ) -> Result<Option<Known>, EngineError> {
        for row in std::iter::once(&story.operation).chain(&story.follow_ups) {
            let lies_there = row.frozen.as_ref().is_some_and(|frozen| frozen.account == charge.account);
            if lies_there && let Ok(known) = self.asked(row).await? {
                return Ok(Some(known));
            }
        }
        match self.directory.merchant(&charge.tenant).await? {
            Some(merchant) if merchant.account == charge.account => {
                Ok(Some((self.account_of(&merchant)?, merchant.provider, merchant.account)))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// The payment's own account, whatever the merchant's is now; the merchant's where nothing of it was ever sent by us.
    pub(crate) async fn paid_to(&self, tenant: &Tenant, pay: &OperationRecord) -> Result<Known, EngineError> {
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
}
