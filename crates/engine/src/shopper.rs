//! What a shopper who waits may ask for.

use payment::{IntentId, OperationKind, State, Timestamp};
use providers::Reply;
use store::{OpenedFollowUp, Tenant};

use crate::{Engine, EngineError};

/// What came of the wish to pay another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// The provider was asked to let go; its answer ends the intent.
    Asked,
    /// The provider ends it by itself, at the latest then.
    EndsBy(Timestamp),
    /// There is nothing to let go.
    Nothing,
}

impl Engine {
    /// Lets a worker look now; many wishes are one.
    pub async fn check_now(&self, tenant: &Tenant, intent: IntentId) -> Result<(), EngineError> {
        self.store.look_now(tenant.clone(), intent).await?;
        Ok(())
    }

    /// Where the shopper is told; false if the result is known already.
    pub async fn set_email(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        email: String,
    ) -> Result<bool, EngineError> {
        Ok(self.store.set_email(tenant.clone(), intent, email).await?)
    }

    /// Asks for an end of what waits for the shopper, where the provider can; else says when it ends by itself. Only the
    /// provider's word ends it.
    pub async fn release(&self, tenant: &Tenant, intent: IntentId) -> Result<Released, EngineError> {
        let (_, found) = self.reread(tenant, intent).await?;
        let object = match &found.state {
            State::RequiresAction { object, .. } => object.clone(),
            State::Authorized { .. } => {
                let reason = "the shopper wants to pay another way".to_owned();
                let cancel = OperationKind::Cancel;
                return Ok(match self.open_follow_up(tenant, intent, cancel, None, reason).await? {
                    OpenedFollowUp::Fresh(_) => Released::Asked,
                    OpenedFollowUp::Unfinished(rival) if rival.task.kind() == cancel => Released::Asked,
                    // It is being captured: nobody was asked to let go.
                    OpenedFollowUp::Unfinished(_)
                    | OpenedFollowUp::Exceeds { .. }
                    | OpenedFollowUp::NotNow => Released::Nothing,
                });
            }
            State::Created
            | State::Processing { .. }
            | State::Confirming { .. }
            | State::NeedsReview { .. }
            | State::Succeeded { .. }
            | State::Declined { .. }
            | State::Canceled { .. }
            | State::Expired { .. } => return Ok(Released::Nothing),
        };
        self.store.look_now(tenant.clone(), intent).await?;
        let Some(pending_ms) = self.provider.pending_ends_after_ms() else { return Ok(Released::Nothing) };
        Ok(Released::EndsBy(self.made_at(tenant, intent, &object).await?.plus_ms(pending_ms)))
    }

    /// When the provider made the object; the first submit where it does not say.
    async fn made_at(
        &self,
        tenant: &Tenant,
        intent: IntentId,
        object: &payment::ObjectId,
    ) -> Result<Timestamp, EngineError> {
        let story = self.store.story(tenant.clone(), intent).await?;
        let operation =
            story.map(|story| story.operation).ok_or_else(|| EngineError::NoMerchant(tenant.clone()))?;
        let account = self.frozen(tenant, &operation).await?.account;
        let seen = match self.provider.query(&account, object).await {
            Reply::Object(seen) => seen.created_at,
            Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => None,
        };
        Ok(seen.or(operation.first_sent_at).unwrap_or(Timestamp(0)))
    }
}
