//! The third road of observation: reads an account's listing, links what is ours and was not known, and puts strangers before a
//! person. After a gap in our own life nothing is dispatched until it has been read (fault 23).

mod gates;
mod strangers;

pub use gates::Gates;
use payment::{Anomaly, ObjectId, Observation, ProviderAccount, RefundObservation, Timestamp};
use planted::Fault;
use providers::{Account, By, Page, Span};
use store::{MerchantRecord, OperationRecord, Stage, Standing, Start, StoreError, SweepRow, Tenant, Tenure};
use strangers::{Reading, Strangers};
pub(crate) use strangers::{holds_for_nobody, is_strange};

use crate::{
    Engine, EngineError,
    drive::CLOCKS_DIFFER_MS,
    failpoint::failpoint,
    follow_up::is_told,
    listing::{OurTime, apart_ms, leads_nowhere, tell_apart},
    observe::InHand,
};

/// How long a row that cannot be read keeps a gate down, ms: it may be the payment that a restored copy has forgotten, told badly once.
const UNREADABLE_HOLDS_MS: i64 = 600_000;
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
    /// Objects whose word somebody else's work on their intents kept from being written down: it is read again in a moment.
    pub held: usize,
    /// Rows that cannot be read.
    pub unreadable: usize,
    /// The merchant's other accounts that have to be read before anything is sent to this one.
    pub waits_for: usize,
    /// How far our clock is ahead of the provider's, where they are too far apart to rely on what was asked for, ms.
    pub apart_ms: Option<i64>,
    /// How long it is until a listing can lift the gate, where this one was begun too soon after the gate was met, ms. It is read again.
    pub too_soon_ms: Option<i64>,
    /// Whether everything was read and taken down; else the gate stays, and it is read again.
    pub complete: bool,
}

/// An account that a merchant left, while something is unfinished there or not known: in the gap in which he left, a backup may have
/// been restored that was taken before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftAccount {
    /// Whose it was.
    pub tenant: Tenant,
    /// The account.
    pub id: ProviderAccount,
    /// The newest operation there: it knows the credentials.
    operation: Box<OperationRecord>,
}

impl Engine {
    /// A server starts; whether dispatch has to wait for a sweep. To be called before anything is driven.
    pub async fn start(&self) -> Result<bool, EngineError> {
        let merchants = self.directory.merchants().await?.into_iter();
        let own = merchants.map(|merchant| (merchant.tenant, merchant.account)).collect();
        let left = self.left_accounts().await?.into_iter().map(|left| (left.tenant, left.id)).collect();
        Ok(self.store.start(Start { own, left, gap_ms: self.settings.gap_ms }).await?)
    }

    /// Accounts that merchants' money does not go to any more, while something of it is unfinished there or not known.
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
        let mut left: Vec<_> = accounts.filter(|left| !is_own(&left.tenant, &left.id)).collect();
        for MerchantRecord { tenant, account, .. } in &merchants {
            for gated in self.store.gated_beside(tenant.clone(), account.clone()).await? {
                let known = left.iter().any(|left| left.tenant == *tenant && left.id == gated.row.account);
                if let (false, Some(newest)) = (known, gated.newest) {
                    let (tenant, operation) = (tenant.clone(), Box::new(newest));
                    left.push(LeftAccount { tenant, id: gated.row.account, operation });
                }
            }
        }
        Ok(left)
    }

    /// A server is alive; and what it keeps of listings is not kept for ever.
    pub async fn beat(&self) -> Result<(), EngineError> {
        let now = self.clock.moments();
        self.memory.listings.forget_old(now, self.settings.listing_gap_ms);
        self.memory.unresolved.forget_old(now);
        Ok(self.store.beat().await?)
    }

    /// Sweeps the account that a merchant's money goes to.
    pub async fn sweep_merchant(&self, merchant: &MerchantRecord) -> Result<Swept, EngineError> {
        let account = self.account_of(merchant)?;
        let (tenant, id) = (&merchant.tenant, &merchant.account);
        let (row, time) = self.swept_until(tenant, id).await?;
        let too_soon_ms = self.too_soon_ms(&row);
        // What lies ahead of us was written down by a clock that was ahead; and objects are dated by the provider's.
        let known_from = Some(row.known_from).filter(|from| *from <= time.now).unwrap_or(Timestamp(0));
        let strangers = Strangers::Since(known_from.plus_ms(-CLOCKS_DIFFER_MS));
        let mut reading = Reading { tenant, account: &account, id, strangers, time, others: None };
        let mut swept = self.sweep_from(&mut reading, &row).await?;
        if row.tenure != Tenure::Own {
            swept.waits_for = self.store.gated_beside(tenant.clone(), id.clone()).await?.len();
        }
        // Read it is, whoever has to be read besides: so no two wait for each other. Their gates hold what would go out from here.
        let swept = self.swept(row, time.now, Swept { too_soon_ms, ..swept }).await?;
        self.ask_about_replaced(&reading).await?;
        Ok(Swept { complete: swept.complete && swept.waits_for == 0, ..swept })
    }

    /// Sweeps an account that a merchant left, with the credentials that the newest operation there was frozen with. What others
    /// take there now is none of ours.
    pub async fn sweep_left(&self, left: &LeftAccount) -> Result<Swept, EngineError> {
        let account = self.frozen_account(&left.tenant, &left.operation).await?;
        let (tenant, id) = (&left.tenant, &left.id);
        let (row, time) = self.swept_until(tenant, id).await?;
        let too_soon_ms = self.too_soon_ms(&row);
        // There may have been several gaps since it was read.
        let forgotten = |gap: Timestamp| gap.min(row.swept_until).plus_ms(-CLOCKS_DIFFER_MS);
        let gap = row.gated_from.filter(|_| !planted::is(Fault::ForgottenNotPut));
        let strangers = gap.map_or(Strangers::None, |gap| Strangers::Forgotten(forgotten(gap)));
        let mut reading = Reading { tenant, account: &account, id, strangers, time, others: None };
        let swept = self.sweep_from(&mut reading, &row).await?;
        let swept = self.swept(row, time.now, Swept { too_soon_ms, ..swept }).await?;
        self.ask_about_replaced(&reading).await?;
        Ok(swept)
    }

    /// How far an account was read, and what time it is.
    async fn swept_until(
        &self,
        tenant: &Tenant,
        id: &ProviderAccount,
    ) -> Result<(SweepRow, OurTime), EngineError> {
        let began = self.clock.moments();
        let (row, now) = self.store.sweep(tenant.clone(), id.clone()).await?;
        Ok((row, OurTime { now, began }))
    }

    /// How long it is until a listing that is begun can lift this row's gate, if one that is begun now is too soon, ms: what was sent
    /// before the gate was down may not be there yet.
    fn too_soon_ms(&self, row: &SweepRow) -> Option<i64> {
        let known_ms = self.memory.gates.known_ms(row, self.clock.moments())?;
        Some(self.settings.on_its_way_ms - known_ms).filter(|ms| *ms > 0)
    }

    /// Reads an account from where the last sweep ended, or the gap began.
    async fn sweep_from(&self, reading: &mut Reading<'_>, row: &SweepRow) -> Result<Swept, EngineError> {
        let now = reading.time.now;
        let from = row.gated_from.map_or(row.swept_until, |gated| gated.min(row.swept_until)).min(now);
        // What was made before may have been paid since: as long as a payment can be waited for.
        let overlap_ms = self.settings.token_life_ms + self.settings.token_margin_ms;
        let mut span = Span { by: By::Made, from: from.plus_ms(-overlap_ms), to: None };
        if planted::is(Fault::SweepBeginsTooLate) {
            span.from = now;
        }
        let mut swept = Swept { complete: true, ..Swept::default() };
        self.read(reading, span, &mut swept).await?;
        // What was made before may have waited for days for its money, known to nobody here.
        self.read(reading, Span { by: By::Taken, ..span }, &mut swept).await?;
        swept.complete &= self.sweep_refunds(reading.tenant, reading.account, span).await?;
        self.ask_about_waiting(reading).await?;
        if let Some(apart_ms) = swept.apart_ms {
            tell_apart(reading.account, apart_ms);
        }
        failpoint!("sweep.read");
        Ok(swept)
    }

    /// Writes down that an account was read until `now`, and lifts the gate, unless it was too soon.
    async fn swept(&self, mut row: SweepRow, now: Timestamp, mut swept: Swept) -> Result<Swept, EngineError> {
        // None that we asked for: those can be read. It must not keep the gate down for ever.
        let known_ms = self.memory.gates.known_ms(&row, self.clock.moments());
        swept.complete &= swept.unreadable == 0 || known_ms.is_none_or(|ms| ms >= UNREADABLE_HOLDS_MS);
        let complete = swept.complete || planted::is(Fault::GateLiftedIncomplete);
        let on_its_way = swept.too_soon_ms.is_some() && !planted::is(Fault::GateLiftedTooSoon);
        if complete && !on_its_way {
            row.swept_until = now;
            let (account, was_gated) = (row.account.clone(), row.gated_from.is_some());
            self.store.swept(row).await?;
            if was_gated && swept.waits_for == 0 {
                tracing::info!(
                    account = account.as_str(),
                    "the listing of the silence was read: payments are sent again"
                );
            }
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
        let (id, strangers, (_, time)) =
            (account_id, Strangers::Since(Timestamp(0)), self.swept_until(tenant, account_id).await?);
        let mut reading = Reading { tenant, account, id, strangers, time, others: None };
        let mut swept = Swept { complete: true, ..Swept::default() };
        self.read(&mut reading, span, &mut swept).await?;
        Ok(swept)
    }

    async fn read(
        &self,
        reading: &mut Reading<'_>,
        span: Span,
        swept: &mut Swept,
    ) -> Result<(), EngineError> {
        let (account, mut cursor) = (reading.account, None::<String>);
        for _ in 0..MAX_PAGES {
            let page = self.provider.list(account, span, cursor.as_deref()).await;
            failpoint!("sweep.listed");
            let Page::Objects { objects, unreadable, next, at } = page else { break };
            swept.apart_ms = swept.apart_ms.or(apart_ms(self.latest(reading.time), at));
            swept.complete &= swept.apart_ms.is_none();
            swept.unreadable += unreadable;
            if unreadable > 0 {
                tracing::error!(account = %account.id, unreadable, "a listing holds rows that cannot be read; a person has to look");
            }
            for seen in objects {
                // The listing of what was made since holds that.
                if span.by == By::Taken && seen.created_at.is_some_and(|at| at >= span.from) {
                    continue;
                }
                swept.read += 1;
                let object = seen.object.clone();
                let taken = self.take_word(reading, seen, swept).await;
                passed_over(taken, &object)?;
            }
            if leads_nowhere(cursor.as_deref(), next.as_deref()) {
                break;
            }
            cursor = next.filter(|_| !planted::is(Fault::SweepPageSkipped));
            if cursor.is_none() {
                return Ok(());
            }
        }
        swept.complete = false;
        Ok(())
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
            if leads_nowhere(cursor.as_deref(), next.as_deref()) {
                break;
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
            None if self.is_neighbours_operation(tenant, id).await? => {}
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
        reading: &mut Reading<'_>,
        seen: Observation,
        swept: &mut Swept,
    ) -> Result<(), EngineError> {
        let (tenant, account) = (reading.tenant, reading.id);
        let (object, named) = (seen.object.clone(), seen.intent);
        let standing = self.store.standing(tenant.clone(), account.clone(), object, named).await?;
        if let Some(charge) = &standing.charge {
            self.note_fate(charge, &seen, "found by the sweep").await?;
        }
        match &standing.intent {
            Some((intent, operation)) if !is_strange(intent, operation, account, &seen) => {
                let id = intent.id;
                if holds_for_nobody(intent, &seen) {
                    let held = self.of_its_order(intent, &seen).await?;
                    swept.strangers += usize::from(self.meet(reading, &standing, held).await?);
                }
                if self.is_news(&standing, account, &seen).await? && !planted::is(Fault::SweepPassesOverOurs)
                {
                    swept.news += 1;
                    if !self.observe_listed(tenant, id, (reading.account, account), seen).await? {
                        swept.held += 1;
                        swept.complete = false;
                    }
                }
            }
            // Money that nobody asked for, or that is not what this intent asked for and that no question of its own will find.
            Some(_) | None => {
                swept.strangers += usize::from(self.meet(reading, &standing, seen).await?);
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
        let mut hand = InHand::of(intent, operation, account.clone(), now);
        hand.observe(seen.clone(), "")?;
        let uncharged = !hand.charges.is_empty() && standing.charge.is_none();
        // What contradicts a payment that is not over may be its money: no later listing need reach back to it.
        let suspected = hand.state.suspects() != intent.state.suspects();
        if uncharged || suspected || hand.state.name() != intent.state.name() {
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
        Ok(!story.is_some_and(|story| is_told(&story, anomaly)))
    }
}

/// One row that this version cannot read, or whose seal does not open, must not hide the others, nor keep the gate down.
pub(crate) fn passed_over(taken: Result<(), EngineError>, object: &ObjectId) -> Result<(), EngineError> {
    match taken {
        Err(error @ (EngineError::Store(StoreError::Unreadable(_)) | EngineError::Sealed(_))) => {
            tracing::error!(%object, %error, "what the provider says of this object cannot be written down; a person has to look");
            Ok(())
        }
        other => other,
    }
}
