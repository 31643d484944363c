//! Asks a provider about an object out of turn, or takes its word from a listing, whatever the intent waits for: money that turns
//! up for one that had ended is written down all the same.

use payment::{IntentId, ObjectId, ObjectStatus, Observation, ProviderAccount};
use planted::Fault;
use providers::{Account, Reply};
use store::{ClaimLook, Claimed, Commit, Frozen, LookOf, Looking, Stage, StoreError, Tenant};

use crate::{Engine, EngineError, Seal, failpoint::failpoint, frozen::Content, observe::InHand};

/// What came of a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// Somebody else is at work on it just now, or was first; look again.
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
        let mut hand = InHand::new(&claimed, account_id);
        let looked = match self.provider.query(&account, object).await {
            // Whoever made us look named the wrong intent: that is no word about this one.
            Reply::Object(seen)
                if seen.intent != Some(intent)
                    && claimed.operation.object.as_ref() != Some(object)
                    && !planted::is(Fault::OwnerNotCompared) =>
            {
                Looked::NoIntent
            }
            Reply::Object(mut seen) => {
                if planted::is(Fault::NoticeBelieved) {
                    seen.status = ObjectStatus::Succeeded;
                }
                let status = seen.status.clone();
                hand.observe(seen, "asked")?;
                Looked::Saw(status)
            }
            Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => Looked::NoAnswer,
        };
        failpoint!("look.answered");
        // Somebody was first, and what was seen is not written down: it is to be seen again (R14).
        Ok(if self.write_look(&claimed, hand).await? { looked } else { Looked::Held })
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
        let mut hand = InHand::new(&claimed, account.clone());
        hand.observe(seen, "found by the sweep")?;
        self.write_look(&claimed, hand).await
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
        let (account, _, id) = self.paid_to(&claimed.intent.tenant, &claimed.operation).await?;
        Ok((account, id))
    }

    /// Gives the operation back, with what was learned; whether that is written.
    pub(crate) async fn write_look(&self, claimed: &Claimed, hand: InHand) -> Result<bool, EngineError> {
        let open = matches!(Stage::of(hand.state.name()), Stage::Open | Stage::Review);
        let adopted = if open && claimed.operation.frozen.is_none() {
            Some(self.adopted(claimed).await?)
        } else {
            None
        };
        let wake_in_ms = open.then(|| self.wait_ms(claimed, None));
        let commit = Commit { wake_in_ms, adopted, out_of_turn: true, ..self.commit_of(claimed, hand) };
        self.write(claimed, commit).await
    }

    /// The account of an object that exists although nothing was ever sent for it, as far as our rows know: to be asked, and
    /// never to be sent anything.
    async fn adopted(&self, claimed: &Claimed) -> Result<Frozen, EngineError> {
        let tenant = &claimed.intent.tenant;
        let (asked, provider, account) = self.paid_to(tenant, &claimed.operation).await?;
        let content = Content { secret: asked.secret, body: Vec::new() }.to_bytes();
        let seal = Seal::request(tenant, claimed.intent.id);
        let sealed_body = self.vault.seal(&content, &seal, self.ids.nonce());
        Ok(Frozen {
            provider,
            account,
            url: asked.url,
            method: String::new(),
            path: String::new(),
            sealed_body,
        })
    }
}

fn gone(intent: IntentId) -> EngineError {
    StoreError::Unreadable(format!("{intent} is gone")).into()
}
