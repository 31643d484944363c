//! Asks a provider about an object out of turn, or takes its word from a listing, whatever the intent waits for: money that turns
//! up for one that had ended is written down all the same.

use payment::{IntentId, ObjectId, ObjectStatus, Observation, ProviderAccount};
use planted::Fault;
use providers::{Account, Reply};
use store::{ClaimLook, Claimed, Commit, Frozen, LookOf, Looking, Stage, StoreError, Tenant};

use crate::{
    Engine, EngineError, Seal,
    failpoint::failpoint,
    follow_up::went_back,
    frozen::Content,
    observe::InHand,
    sweep::{holds_for_nobody, is_strange},
};

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
        let (account, _, id) = self.paid_to(tenant, &claimed.operation).await?;
        let mut hand = InHand::new(&claimed, id.clone());
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
                if is_strange(&claimed.intent, &claimed.operation, &id, &seen) {
                    // No question of its own will find that money.
                    self.put_strange(tenant, &id, seen.clone(), true).await?;
                } else if holds_for_nobody(&claimed.intent, &seen) {
                    let order = Some(claimed.checkout.order.clone());
                    self.put_strange(tenant, &id, Observation { order, ..seen.clone() }, true).await?;
                }
                if went_back(&seen) || claimed.intent.state.is_terminal() {
                    let standing =
                        self.store.standing(tenant.clone(), id.clone(), object.clone(), None).await?;
                    if let Some(charge) = standing.charge {
                        self.note_fate(&charge, &seen, "asked").await?;
                    }
                }
                hand.observe(seen, "asked")?;
                Looked::Saw(status)
            }
            Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => Looked::NoAnswer,
        };
        failpoint!("look.answered");
        // Somebody was first, and what was seen is not written down: it is to be seen again (R14).
        Ok(if self.write_look(&claimed, hand, Some(&account)).await? { looked } else { Looked::Held })
    }

    /// Takes a provider's word about one of our intents from a listing; false if somebody else is at work on it just now.
    pub(crate) async fn observe_listed(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        (account, id): (&Account, &ProviderAccount),
        seen: Observation,
    ) -> Result<bool, EngineError> {
        let claimed = match self.claim_look(tenant, LookOf::Intent(intent)).await? {
            Looking::Claimed(claimed) => *claimed,
            Looking::Held => return Ok(false),
            Looking::NotFound => return Err(gone(intent)),
        };
        let mut hand = InHand::new(&claimed, id.clone());
        hand.observe(seen, "found by the sweep")?;
        self.write_look(&claimed, hand, Some(account)).await
    }

    pub(crate) async fn claim_look(&self, tenant: &Tenant, of: LookOf) -> Result<Looking, EngineError> {
        let (holder, lease_ms) = (self.settings.holder, self.settings.lease_ms);
        let claim = ClaimLook { tenant: tenant.clone(), of, holder, lease_ms };
        Ok(self.store.claim_look(claim).await?)
    }

    /// Gives the operation back, with what was learned; whether that is written. An object that exists although nothing was ever sent
    /// for it, as far as our rows know, is asked about in the account that was asked from now on, and nothing is ever sent for it.
    pub(crate) async fn write_look(
        &self,
        claimed: &Claimed,
        hand: InHand,
        asked: Option<&Account>,
    ) -> Result<bool, EngineError> {
        let open = matches!(Stage::of(hand.state.name()), Stage::Open | Stage::Review);
        let adopts = asked.filter(|_| open && claimed.operation.frozen.is_none());
        let adopted = adopts.map(|asked| self.adopted(claimed, asked, hand.account()));
        let wake_in_ms = open.then(|| self.wait_ms(claimed, None));
        let commit = Commit { wake_in_ms, adopted, out_of_turn: true, ..self.commit_of(claimed, hand) };
        self.write(claimed, commit).await
    }

    fn adopted(&self, claimed: &Claimed, asked: &Account, id: &ProviderAccount) -> Frozen {
        let content = Content { secret: asked.secret.clone(), body: Vec::new() }.to_bytes();
        let seal = Seal::request(&claimed.intent.tenant, claimed.intent.id);
        Frozen {
            provider: self.provider.name().to_owned(),
            account: id.clone(),
            url: asked.url.clone(),
            method: String::new(),
            path: String::new(),
            sealed_body: self.vault.seal(&content, &seal, self.ids.nonce()),
        }
    }
}

fn gone(intent: IntentId) -> EngineError {
    StoreError::Unreadable(format!("{intent} is gone")).into()
}
