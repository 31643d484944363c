//! What a shopper who waits may ask for.

use payment::{IntentId, ObjectStatus, OperationKind, State, Timestamp};
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
    /// provider's word ends it. Money that is held is the merchant's to let go.
    pub async fn release(&self, tenant: &Tenant, intent: IntentId) -> Result<Released, EngineError> {
        let (_, found) = self.reread(tenant, intent).await?;
        if !matches!(found.state, State::RequiresAction { .. }) {
            return Ok(Released::Nothing);
        }
        if self.provider.can_cancel(&ObjectStatus::Pending { confirmation_url: None }) {
            let reason = "the shopper wants to pay another way".to_owned();
            let opened = self.open_follow_up(tenant, intent, OperationKind::Cancel, None, reason).await?;
            return Ok(released(&opened));
        }
        self.store.look_now(tenant.clone(), intent).await?;
        // The last send is the latest that can have made the object.
        let story = self.store.story(tenant.clone(), intent).await?;
        let sent_at = story.and_then(|story| Some(story.attempts.last()?.started_at));
        let ends_at = sent_at.zip(self.provider.pending_ends_after_ms()).map(|(at, ms)| at.plus_ms(ms));
        Ok(ends_at.map_or(Released::Nothing, Released::EndsBy))
    }
}

fn released(opened: &OpenedFollowUp) -> Released {
    match opened {
        OpenedFollowUp::Fresh(_) => Released::Asked,
        OpenedFollowUp::Unfinished(operation) if operation.task.kind() == OperationKind::Cancel => {
            Released::Asked
        }
        OpenedFollowUp::Known(_)
        | OpenedFollowUp::Unfinished(_)
        | OpenedFollowUp::Exceeds { .. }
        | OpenedFollowUp::NotNow => Released::Nothing,
    }
}
