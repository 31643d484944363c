//! The third road of observation: reads an account's listing, links what is ours and was not known, and puts strangers before a
//! person. After a gap in our own life nothing is dispatched until it has been read (fault 23).

use payment::{
    Anomaly, ObjectId, ObjectStatus, Observation, ProviderAccount, RefundObservation, State, Terms, Timestamp,
};
use providers::{Account, Page, Span};
use store::{
    IntentRecord, MerchantRecord, OperationRecord, Stage, Standing, Start, StoreError, StrangerRecord, Tenant,
};

use crate::{Engine, EngineError, failpoint::failpoint, observe::InHand};

/// Most pages of one sweep: a gap of weeks.
const MAX_PAGES: usize = 100_000;

/// What a sweep found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Objects read.
    pub read: usize,
    /// Objects whose word was news.
    pub news: usize,
    /// Strangers found for the first time.
    pub strangers: usize,
    /// Whether everything was read and written down; else the gate stays, and it is read again.
    pub complete: bool,
}

/// An account that a merchant left while something was unfinished there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftAccount {
    /// Whose it was.
    pub tenant: Tenant,
    /// The account.
    pub id: ProviderAccount,
    /// The newest unfinished operation there: it knows the credentials.
    operation: Box<OperationRecord>,
}

impl Engine {
    /// A server starts; whether dispatch has to wait for a sweep. To be called before anything is driven.
    pub async fn start(&self) -> Result<bool, EngineError> {
        let merchants = self.directory.merchants().await?.into_iter();
        let own = merchants.map(|merchant| (merchant.tenant, merchant.account));
        let left = self.left_accounts().await?.into_iter().map(|left| (left.tenant, left.id));
        let accounts = own.chain(left).collect();
        Ok(self.store.start(Start { accounts, gap_ms: self.settings.gap_ms }).await?)
    }

    /// Accounts that merchants' money does not go to any more, while something of it is unfinished there.
    pub async fn left_accounts(&self) -> Result<Vec<LeftAccount>, EngineError> {
        let merchants = self.directory.merchants().await?;
        let is_own = |tenant: &Tenant, account: &ProviderAccount| {
            merchants.iter().any(|merchant| merchant.tenant == *tenant && merchant.account == *account)
        };
        let newest = self.store.unfinished_accounts().await?.into_iter();
        let accounts = newest.filter_map(|operation| {
            let id = operation.frozen.as_ref()?.account.clone();
            Some(LeftAccount { tenant: operation.tenant.clone(), id, operation: Box::new(operation) })
        });
        Ok(accounts.filter(|left| !is_own(&left.tenant, &left.id)).collect())
    }

    /// A server is alive.
    pub async fn beat(&self) -> Result<(), EngineError> {
        Ok(self.store.beat().await?)
    }

    /// Sweeps the account that a merchant's money goes to.
    pub async fn sweep_merchant(&self, merchant: &MerchantRecord) -> Result<Swept, EngineError> {
        let account = self.account_of(merchant)?;
        self.sweep_account(&merchant.tenant, &account, &merchant.account).await
    }

    /// Sweeps an account that a merchant left, with the credentials that the newest unfinished operation there was frozen with.
    pub async fn sweep_left(&self, left: &LeftAccount) -> Result<Swept, EngineError> {
        let account = self.frozen_account(&left.tenant, &left.operation).await?;
        self.sweep_account(&left.tenant, &account, &left.id).await
    }

    /// Sweeps an account from where the last sweep ended, or the gap began, and lifts the gate.
    async fn sweep_account(
        &self,
        tenant: &Tenant,
        account: &Account,
        account_id: &ProviderAccount,
    ) -> Result<Swept, EngineError> {
        let (mut row, now) = self.store.sweep(tenant.clone(), account_id.clone()).await?;
        let from = row.gated_from.map_or(row.swept_until, |gated| gated.min(row.swept_until));
        // What was made before may have been paid since: as long as a payment can be waited for.
        let overlap_ms = self.settings.token_life_ms + self.settings.token_margin_ms;
        let span = Span { from: from.plus_ms(-overlap_ms).max(row.known_from), to: None };
        let mut swept = self.sweep(tenant, account, account_id, span).await?;
        swept.complete &= self.sweep_refunds(tenant, account, span).await?;
        failpoint!("sweep.read");
        if swept.complete {
            row.swept_until = now;
            self.store.swept(row).await?;
            failpoint!("sweep.swept");
        }
        Ok(swept)
    }

    /// Reads a span of an account's listing, a page at a time, and takes its word as it goes.
    pub async fn sweep(
        &self,
        tenant: &Tenant,
        account: &Account,
        account_id: &ProviderAccount,
        span: Span,
    ) -> Result<Swept, EngineError> {
        let (mut swept, mut cursor) = (Swept { complete: true, ..Swept::default() }, None::<String>);
        for _ in 0..MAX_PAGES {
            let page = self.provider.list(account, span, cursor.as_deref()).await;
            failpoint!("sweep.listed");
            let Page::Objects { objects, unreadable, next } = page else { break };
            if unreadable > 0 {
                // None that we asked for: those can be read. It must not keep the gate down for ever.
                tracing::error!(account = %account.id, unreadable, "a listing holds rows that cannot be read; a person has to look");
            }
            swept.read += objects.len();
            for seen in objects {
                let object = seen.object.clone();
                let taken = self.take_word(tenant, account_id, seen, &mut swept).await;
                passed_over(taken, &object)?;
            }
            cursor = next;
            if cursor.is_none() {
                return Ok(swept);
            }
        }
        swept.complete = false;
        Ok(swept)
    }

    /// Reads a span of an account's refunds: what is ours and was not known is written down. Others' are told.
    async fn sweep_refunds(
        &self,
        tenant: &Tenant,
        account: &Account,
        span: Span,
    ) -> Result<bool, EngineError> {
        let mut cursor = None::<String>;
        for _ in 0..MAX_PAGES {
            let page = self.provider.list_refunds(account, None, span, cursor.as_deref()).await;
            let Page::Objects { objects, next, .. } = page else { return Ok(false) };
            for seen in objects {
                passed_over(self.take_word_of_refund(tenant, &seen).await, &seen.object)?;
            }
            cursor = next;
            if cursor.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What one refund of the listing says.
    async fn take_word_of_refund(
        &self,
        tenant: &Tenant,
        seen: &RefundObservation,
    ) -> Result<(), EngineError> {
        let Some(id) = seen.operation else { return Ok(()) };
        match self.store.operation(tenant.clone(), id).await? {
            Some(operation) if operation.stage == Stage::Done => {}
            Some(_) => {
                self.look_at_refund(tenant, id, &seen.object).await?;
            }
            None => {
                tracing::error!(object = %seen.object, operation = %id, amount = %seen.amount,
                    "a refund of ours is not in this database: a backup was restored, and the sums of its charge are too high");
            }
        }
        Ok(())
    }

    /// What one object of the listing says.
    async fn take_word(
        &self,
        tenant: &Tenant,
        account: &ProviderAccount,
        seen: Observation,
        swept: &mut Swept,
    ) -> Result<(), EngineError> {
        let (object, named) = (seen.object.clone(), seen.intent);
        let standing = self.store.standing(tenant.clone(), account.clone(), object, named).await?;
        match &standing.intent {
            Some((intent, _)) if !is_strange(intent, &seen) => {
                let id = intent.id;
                if self.is_news(&standing, account, &seen).await? {
                    swept.news += 1;
                    swept.complete &= self.observe_listed(tenant, id, account, seen).await?;
                }
            }
            // Money that nobody asked for, or that is not what this intent asked for and that no question of its own will find.
            Some(_) | None => {
                swept.strangers += usize::from(self.meet(tenant, account, &standing, seen).await?);
            }
        }
        Ok(())
    }

    /// Whether an object says anything about its intent that is not written down yet.
    async fn is_news(
        &self,
        standing: &Standing,
        account: &ProviderAccount,
        seen: &Observation,
    ) -> Result<bool, EngineError> {
        let Some((intent, operation)) = &standing.intent else { return Ok(false) };
        let now = intent.created_at;
        let mut hand = InHand::of(intent, operation, now).seen_by(account.clone());
        hand.observe(seen.clone(), "")?;
        let uncharged = !hand.charges.is_empty() && standing.charge.is_none();
        if uncharged || hand.state.name() != intent.state.name() {
            return Ok(true);
        }
        // What contradicts us is told once, not with every sweep.
        match hand.anomalies.first() {
            Some(anomaly) if standing.charge.is_none() => self.is_untold(standing, *anomaly).await,
            Some(Anomaly::Reversed) => self.is_untold(standing, Anomaly::Reversed).await,
            Some(_) | None => Ok(false),
        }
    }

    async fn is_untold(&self, standing: &Standing, anomaly: Anomaly) -> Result<bool, EngineError> {
        let Some((intent, _)) = &standing.intent else { return Ok(false) };
        let story = self.store.story(intent.tenant.clone(), intent.id).await?;
        let told = |story: &store::Story| {
            story
                .journal
                .iter()
                .any(|row| row.line.event == "anomaly" && row.line.evidence == anomaly.as_str())
        };
        Ok(!story.is_some_and(|story| told(&story)))
    }

    /// Whether it is the payment of another merchant, or of the other mode, who has the same account, or had it.
    async fn is_anothers(&self, tenant: &Tenant, seen: &Observation) -> Result<bool, EngineError> {
        let Some(intent) = seen.intent else { return Ok(false) };
        let merchants = self.directory.merchants().await?;
        for other in merchants.into_iter().filter(|other| other.tenant != *tenant) {
            if self.store.intent(other.tenant, intent).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An object that no intent of ours asked for. Only what took money concerns us, or holds it for an order; whether it is a new
    /// one.
    async fn meet(
        &self,
        tenant: &Tenant,
        account: &ProviderAccount,
        standing: &Standing,
        seen: Observation,
    ) -> Result<bool, EngineError> {
        let known = standing.charge.is_some() || standing.stranger.is_some();
        // What is held for an order can be taken at any time, and its listing is not read again then.
        let held = seen.status == ObjectStatus::WaitingForCapture && seen.order.is_some();
        let took_money = seen.status == ObjectStatus::Succeeded || held;
        if known || !took_money || self.is_anothers(tenant, &seen).await? {
            return Ok(false);
        }
        let found = StrangerRecord {
            tenant: tenant.clone(),
            account: account.clone(),
            object: seen.object,
            order: seen.order,
            amount: seen.amount,
            found_at: seen.created_at.unwrap_or(Timestamp(0)),
            resolution: None,
        };
        let new = self.store.put_stranger(found.clone()).await?;
        if new {
            tracing::error!(object = %found.object, account = %found.account.as_str(), amount = %found.amount,
                order = found.order.as_ref().map(tracing::field::display),
                "money was taken that no payment of ours asked for; `payonce review` shows it, and its order takes no dispatch");
        }
        Ok(new)
    }
}

/// Whether an object names an intent that is not waiting for any, and contradicts what it asked for.
fn is_strange(intent: &IntentRecord, seen: &Observation) -> bool {
    let terms = Terms { intent: intent.id, amount: intent.amount };
    let waits = !intent.state.is_terminal() && intent.state != State::Created;
    !waits && seen.mismatch(&terms).is_some()
}

/// One row that this version cannot read, or whose seal does not open, must not hide the others, nor keep the gate down.
fn passed_over(taken: Result<(), EngineError>, object: &ObjectId) -> Result<(), EngineError> {
    match taken {
        Err(error @ (EngineError::Store(StoreError::Unreadable(_)) | EngineError::Sealed(_))) => {
            tracing::error!(%object, %error, "what the listing says of this object cannot be written down; a person has to look");
            Ok(())
        }
        other => other,
    }
}
