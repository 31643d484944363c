//! Asks a provider about an object out of turn, or takes its word from a listing, whatever the intent waits for: money that turns
//! up for one that had ended is written down all the same.

use payment::{IntentId, ObjectId, ObjectStatus, Observation, ProviderAccount};
use providers::{Account, Reply};
use store::{ClaimLook, Claimed, Commit, LookOf, Looking, Stage, StoreError, Tenant};

use crate::{Engine, EngineError, failpoint::failpoint, observe::InHand};

/// What came of a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// Somebody else is at work on it just now; look again.
    Held,
    /// There is no such intent, or the object is another one's.
    NoIntent,
    /// The provider said nothing about the object.
    NoAnswer,
    /// The object stands so, and that is written down.
    Saw(ObjectStatus),
}

impl Engine {
    /// Asks the provider for a payment, and writes down what it says about that intent.
    pub async fn look(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        object: &ObjectId,
    ) -> Result<Looked, EngineError> {
        let claimed = match self.claim_look(tenant, LookOf::Intent(intent)).await? {
            Looking::Claimed(claimed) => *claimed,
            Looking::Held => return Ok(Looked::Held),
            Looking::NotFound => return Ok(Looked::NoIntent),
        };
        failpoint!("look.claimed");
        let (account, account_id) = self.account_for(&claimed).await?;
        let mut hand = InHand::new(&claimed).seen_by(account_id);
        let looked = match self.provider.query(&account, object).await {
            // Whoever made us look named the wrong intent: that is no word about this one.
            Reply::Object(seen)
                if seen.intent != Some(intent) && claimed.operation.object.as_ref() != Some(object) =>
            {
                Looked::NoIntent
            }
            Reply::Object(seen) => {
                let status = seen.status.clone();
                hand.observe(seen, "asked")?;
                Looked::Saw(status)
            }
            Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => Looked::NoAnswer,
        };
        failpoint!("look.answered");
        self.write_look(&claimed, hand).await?;
        Ok(looked)
    }

    /// Takes a provider's word about one of our intents from a listing; false if somebody else is at work on it just now.
    pub(crate) async fn observe_listed(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        account: &ProviderAccount,
        seen: Observation,
    ) -> Result<bool, EngineError> {
        let claimed = match self.claim_look(tenant, LookOf::Intent(intent)).await? {
            Looking::Claimed(claimed) => *claimed,
            Looking::Held => return Ok(false),
            Looking::NotFound => return Err(gone(intent)),
        };
        let mut hand = InHand::new(&claimed).seen_by(account.clone());
        hand.observe(seen, "found by the sweep")?;
        self.write_look(&claimed, hand).await?;
        Ok(true)
    }

    pub(crate) async fn claim_look(&self, tenant: &Tenant, of: LookOf) -> Result<Looking, EngineError> {
        let (holder, lease_ms) = (self.settings.holder, self.settings.lease_ms);
        let claim = ClaimLook { tenant: tenant.clone(), of, holder, lease_ms };
        Ok(self.store.claim_look(claim).await?)
    }

    /// The account to ask: the one the request was frozen for; the merchant's own where nothing was ever sent.
    pub(crate) async fn account_for(
        &self,
        claimed: &Claimed,
    ) -> Result<(Account, ProviderAccount), EngineError> {
        let tenant = &claimed.intent.tenant;
        match &claimed.operation.frozen {
            Some(frozen) => {
                let id = frozen.account.clone();
                Ok((self.frozen(tenant, &claimed.operation).await?.account, id))
            }
            None => {
                let (account, merchant) = self.current_account(tenant).await?;
                Ok((account, merchant.account))
            }
        }
    }

    /// Gives the operation back, with what was learned.
    pub(crate) async fn write_look(&self, claimed: &Claimed, hand: InHand) -> Result<(), EngineError> {
        let open = matches!(Stage::of(hand.state.name()), Stage::Open | Stage::Review);
        let wake_in_ms = open.then(|| self.wait_ms(claimed, None));
        let commit = Commit { wake_in_ms, ..self.commit_of(claimed, hand) };
        self.write(claimed, commit).await.map(drop)
    }
}

fn gone(intent: IntentId) -> EngineError {
    StoreError::Unreadable(format!("{intent} is gone")).into()
}
