//! Whom a sweep finds that no intent of ours asked for: other merchants' payments are none of ours, and what is nobody's stands before
//! a person. Never decides what becomes of one.

use payment::{ObjectStatus, Observation, ProviderAccount, State, Terms, Timestamp};
use providers::Account;
use store::{IntentRecord, Standing, StrangerRecord, Tenant};

use crate::{Engine, EngineError, listing::OurTime};

/// Which of the objects that no intent of ours asked for concern us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strangers {
    /// All: the merchant's money goes to this account.
    All,
    /// Those with an intent's name, which a database that may be an old copy has forgotten, made since then.
    Forgotten(Timestamp),
    /// None: the merchant left, and others may use the account.
    None,
}

impl Strangers {
    fn concern(self, seen: &Observation) -> bool {
        match self {
            Self::All => true,
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
    /// Whether it is the payment of another merchant, or of the other mode, who has the same account, or had it.
    async fn is_anothers(&self, reading: &mut Reading<'_>, seen: &Observation) -> Result<bool, EngineError> {
        let Some(intent) = seen.intent else { return Ok(false) };
        let others = match &mut reading.others {
            Some(others) => others,
            unasked @ None => {
                let tenants = self.directory.merchants().await?.into_iter().map(|merchant| merchant.tenant);
                unasked.insert(tenants.filter(|tenant| tenant != reading.tenant).collect())
            }
        };
        for at in 0..others.len() {
            if self.store.intent(others[at].clone(), intent).await?.is_some() {
                others[..=at].rotate_right(1);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An object that no intent of ours asked for. Only what took money concerns us, or holds it for an order; whether it is a new
    /// one.
    pub(super) async fn meet(
        &self,
        reading: &mut Reading<'_>,
        standing: &Standing,
        seen: Observation,
    ) -> Result<bool, EngineError> {
        // What names an intent of ours, and is not what it asked for, concerns us wherever it lies.
        let concerns = standing.intent.is_some() || reading.strangers.concern(&seen);
        let known = standing.charge.is_some() || standing.stranger.is_some();
        // What is held for an order can be taken at any time, and its listing is not read again then.
        let held = seen.status == ObjectStatus::WaitingForCapture && seen.order.is_some();
        let took_money = seen.status == ObjectStatus::Succeeded || held;
        if known || !took_money || !concerns || self.is_anothers(reading, &seen).await? {
            return Ok(false);
        }
        let found = StrangerRecord {
            tenant: reading.tenant.clone(),
            account: reading.id.clone(),
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
pub(super) fn is_strange(intent: &IntentRecord, seen: &Observation) -> bool {
    let terms = Terms { intent: intent.id, amount: intent.amount };
    let waits = !intent.state.is_terminal() && intent.state != State::Created;
    !waits && seen.mismatch(&terms).is_some()
}
