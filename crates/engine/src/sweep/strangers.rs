//! Whom a sweep finds that no intent of ours asked for: other merchants' payments are none of ours, and what is nobody's stands before
//! a person. Never decides what becomes of one.

use payment::{CanceledReason, ObjectStatus, Observation, ProviderAccount, State, Terms, Timestamp};
use planted::Fault;
use providers::{Account, Reply};
use store::{IntentRecord, OperationRecord, Resolution, Standing, StrangerRecord, Tenant};

use super::passed_over;
use crate::{Engine, EngineError, listing::OurTime, observe::status_words};

/// Most strangers of an account that are asked about in a sweep.
const MOST_ASKED: u32 = 1_000;
/// Most charges of an account that an extra pays in the place of, and that are asked about in a sweep: the newest.
const MOST_REPLACED: u32 = 100;
/// Why what waited holds its order no more once its money is a charge.
const COUNTED: &str = "its money was counted for its order";
/// After how many questions without an answer no more are asked in a sweep.
const MOST_SILENT: usize = 2;

/// Which of the objects that no intent of ours asked for concern us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strangers {
    /// Those with an intent's name, whenever they were made, for this database may be an old copy; and all that were made since then,
    /// when the merchant's money came to go to this account.
    Since(Timestamp),
    /// Those with an intent's name, which a database that may be an old copy has forgotten, made since then.
    Forgotten(Timestamp),
    /// None: the merchant left, and others may use the account.
    None,
}

impl Strangers {
    fn concern(self, seen: &Observation) -> bool {
        match self {
            Self::Since(known) => seen.intent.is_some() || seen.created_at.is_none_or(|at| at >= known),
            Self::Forgotten(since) => seen.intent.is_some() && seen.created_at.is_none_or(|at| at >= since),
            Self::None => false,
        }
    }
}

/// An account whose listing is read.
pub(super) struct Reading<'a> {
    pub(super) tenant: &'a Tenant,
    pub(super) account: &'a Account,
    pub(super) id: &'a ProviderAccount,
    pub(super) strangers: Strangers,
    /// When it began.
    pub(super) time: OurTime,
    /// Whose payments may lie in the same account: whose lay there last is asked first. None before somebody has to be asked.
    pub(super) others: Option<Vec<Tenant>>,
}

impl Engine {
    /// Whether it is the payment of another merchant, or of the other mode, who has the same account, or had it; or was counted for one.
    async fn is_anothers(&self, reading: &mut Reading<'_>, seen: &Observation) -> Result<bool, EngineError> {
        let others = match &mut reading.others {
            Some(others) => others,
            unasked @ None => unasked.insert(self.neighbours(reading.tenant).await?),
        };
        for at in 0..others.len() {
            if self.is_of(&others[at], reading.id, seen).await? {
                others[..=at].rotate_right(1);
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn is_of(
        &self,
        tenant: &Tenant,
        id: &ProviderAccount,
        seen: &Observation,
    ) -> Result<bool, EngineError> {
        if let Some(intent) = seen.intent
            && self.store.intent(tenant.clone(), intent).await?.is_some()
        {
            return Ok(true);
        }
        if seen.status != ObjectStatus::Succeeded {
            return Ok(false);
        }
        let standing = self.store.standing(tenant.clone(), id.clone(), seen.object.clone(), None).await?;
        Ok(standing.charge.is_some())
    }

    /// An object that no intent of ours asked for; whether it is a new one.
    pub(super) async fn meet(
        &self,
        reading: &mut Reading<'_>,
        standing: &Standing,
        seen: Observation,
    ) -> Result<bool, EngineError> {
        // What names an intent of ours, and is not what it asked for, concerns us wherever it lies.
        let names_ours = standing.intent.is_some();
        let concerns = names_ours || reading.strangers.concern(&seen);
        let known = standing.charge.is_some() || standing.stranger.is_some();
        if known
            || !concerns
            || !may_take_money(&seen, names_ours)
            || self.is_anothers(reading, &seen).await?
        {
            return Ok(false);
        }
        self.put_strange(reading.tenant, reading.id, seen, names_ours).await
    }

    /// Puts before a person what took money, or may, and what no question of an intent's own will find; whether it is a new one.
    pub(crate) async fn put_strange(
        &self,
        tenant: &Tenant,
        account: &ProviderAccount,
        seen: Observation,
        names_ours: bool,
    ) -> Result<bool, EngineError> {
        if !may_take_money(&seen, names_ours) || planted::is(Fault::StrangersNotPut) {
            return Ok(false);
        }
        let found = StrangerRecord {
            tenant: tenant.clone(),
            account: account.clone(),
            took_money: seen.status == ObjectStatus::Succeeded,
            untold: false,
            object: seen.object,
            order: seen.order,
            amount: seen.amount,
            found_at: seen.created_at.unwrap_or(Timestamp(0)),
            resolution: None,
        };
        let new = self.store.put_stranger(found.clone()).await?;
        if new && found.took_money {
            tell_taken(&found);
        } else if new {
            tracing::error!(object = %found.object, account = %found.account.as_str(), amount = %found.amount,
                order = found.order.as_ref().map(tracing::field::display),
                "this may take money, and no payment that we know of waits for it; until it ends its order takes no dispatch, and \
                 `payonce review` shows it");
        }
        Ok(new)
    }

    /// Strangers that waited at the provider when they were found: what became of them. What ended holds its order no more.
    pub(super) async fn ask_about_waiting(&self, reading: &Reading<'_>) -> Result<(), EngineError> {
        let (tenant, id) = (reading.tenant.clone(), reading.id.clone());
        let mut silent = 0;
        for stranger in self.store.waiting_strangers(tenant, id, MOST_ASKED).await? {
            let seen = match self.provider.query(reading.account, &stranger.object).await {
                Reply::Object(seen) => seen,
                // One that cannot be read must not keep the others waiting; a provider that is silent must not hold up the sweep, and
                // with it the gate.
                Reply::Unknown { .. } if silent < MOST_SILENT => {
                    silent += 1;
                    continue;
                }
                Reply::Unknown { .. } => break,
                Reply::NotExecuted { .. } | Reply::Rejected { .. } => continue,
            };
            match seen.status {
                ObjectStatus::Pending { .. } | ObjectStatus::WaitingForCapture => {}
                ObjectStatus::Succeeded => {
                    let object = stranger.object.clone();
                    passed_over(self.took_money(reading, stranger, seen).await, &object)?;
                }
                ObjectStatus::Ended(_) => {
                    let reason = format!("the provider: {}", status_words(&seen.status));
                    let object = stranger.object.clone();
                    if self.store.resolve_stranger(stranger, Resolution { linked: false, reason }).await? {
                        tracing::info!(%object, "it ended without taking money; its order is free again");
                    }
                }
            }
        }
        Ok(())
    }

    /// Charges in whose place a person let an extra pay: whether their money is there again, whatever day the provider dates it to. Then
    /// the shopper paid twice (N5). No gate waits for it.
    pub(super) async fn ask_about_replaced(&self, reading: &Reading<'_>) -> Result<(), EngineError> {
        let (tenant, id) = (reading.tenant.clone(), reading.id.clone());
        let mut charges = self.store.replaced_charges(tenant, id, MOST_REPLACED).await?;
        // Another one first each time: those that are not shown must not hide the others for ever.
        let turn = usize::try_from(reading.time.now.0).unwrap_or(0) % charges.len().max(1);
        charges.rotate_left(turn);
        let mut silent = 0;
        for charge in charges {
            match self.provider.query(reading.account, &charge.object).await {
                Reply::Object(seen) => {
                    passed_over(self.note_fate(&charge, &seen, "asked by the sweep").await, &charge.object)?;
                }
                Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => {
                    silent += 1;
                    if silent > MOST_SILENT {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// What waited took the money. What an intent asked for is that intent's to count, though it did not wait for it (N5): now, or,
    /// where somebody is at work on it, with the next sweep. All else stays before a person.
    async fn took_money(
        &self,
        reading: &Reading<'_>,
        stranger: StrangerRecord,
        seen: Observation,
    ) -> Result<(), EngineError> {
        let standing = async || {
            let (tenant, account) = (stranger.tenant.clone(), stranger.account.clone());
            self.store.standing(tenant, account, seen.object.clone(), seen.intent).await
        };
        let mut found = standing().await?;
        let waits_for = found
            .intent
            .take()
            .filter(|(intent, operation)| !is_strange(intent, operation, reading.id, &seen));
        if let Some((intent, _)) = &waits_for {
            self.observe_listed(reading.tenant, intent.id, (reading.account, reading.id), seen.clone())
                .await?;
            found = standing().await?;
        }
        if found.charge.is_some() {
            let resolution = Resolution { linked: true, reason: COUNTED.to_owned() };
            self.store.resolve_stranger(stranger, resolution).await?;
        } else if waits_for.is_none() {
            // Of what was held a part may have been taken.
            let amount = if planted::is(Fault::HoldKeepsItsSum) { stranger.amount } else { seen.amount };
            let taken = StrangerRecord { amount, took_money: true, untold: true, ..stranger };
            if self.store.stranger_took_money(taken.clone()).await? {
                tell_taken(&taken);
            }
        }
        Ok(())
    }

    /// An object of an intent's, as one of the order that the intent is for, whatever is written on it.
    pub(super) async fn of_its_order(
        &self,
        intent: &IntentRecord,
        seen: &Observation,
    ) -> Result<Observation, EngineError> {
        let (checkout, _) = self.reread(&intent.tenant, intent.id).await?;
        Ok(Observation { order: Some(checkout.order), ..seen.clone() })
    }
}

/// Whether an object took money, or may take some for an order: what is held for one, and what names an intent that this database has
/// forgotten, whose shopper may still confirm it.
fn may_take_money(seen: &Observation, names_ours: bool) -> bool {
    match seen.status {
        ObjectStatus::Succeeded => true,
        ObjectStatus::WaitingForCapture => seen.order.is_some(),
        ObjectStatus::Pending { .. } => seen.order.is_some() && seen.intent.is_some() && !names_ours,
        ObjectStatus::Ended(_) => false,
    }
}

fn tell_taken(found: &StrangerRecord) {
    tracing::error!(object = %found.object, account = %found.account.as_str(), amount = %found.amount,
        order = found.order.as_ref().map(tracing::field::display),
        "money was taken that no payment of ours asked for; `payonce review` shows it, and its order takes no dispatch");
}

/// Whether an object names an intent that is not waiting for any in this account, and contradicts what it asked for. After a restore the
/// merchant may have moved: then the intent asks elsewhere, and would be sent there. Of what was given back in full, whatever
/// its sum, whoever judged that its intent took no money has said enough.
pub(crate) fn is_strange(
    intent: &IntentRecord,
    operation: &OperationRecord,
    account: &ProviderAccount,
    seen: &Observation,
) -> bool {
    let terms = Terms { intent: intent.id, amount: intent.amount };
    let asks_here = operation.frozen.as_ref().is_some_and(|frozen| frozen.account == *account);
    let waits = asks_here && !intent.state.is_terminal() && intent.state != State::Created;
    let judged = intent.state == State::Canceled { reason: CanceledReason::JudgedNotCharged };
    let settled = judged && seen.given_back;
    seen.mismatch(&terms).is_some() && !waits && !settled
}

/// Whether an object holds money for one of our intents that does not wait for it: it is over, or has another object. It can be taken at
/// any time.
pub(crate) fn holds_for_nobody(intent: &IntentRecord, seen: &Observation) -> bool {
    let terms = Terms { intent: intent.id, amount: intent.amount };
    let has_another = intent.state.object().is_some_and(|own| *own != seen.object);
    seen.status == ObjectStatus::WaitingForCapture
        && seen.mismatch(&terms).is_none()
        && (intent.state.is_terminal() || has_another)
}
