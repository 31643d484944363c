//! The outbox of a store that fails.

use async_trait::async_trait;
use payment::IntentId;
use store::{
    ClaimEffects, ClaimedEffect, EffectRecord, Outbox, SettleEffect, SettledEffect, StoreError, Tenant,
};

use super::{Call, Flaky};

#[async_trait]
impl Outbox for Flaky {
    async fn claim_effects(&self, claim: ClaimEffects) -> Result<Vec<ClaimedEffect>, StoreError> {
        self.inner.claim_effects(claim).await
    }

    async fn settle_effect(&self, settle: SettleEffect) -> Result<SettledEffect, StoreError> {
        self.through(Call::Settle, self.inner.settle_effect(settle)).await
    }

    async fn effects(&self, tenant: Tenant, intent: IntentId) -> Result<Vec<EffectRecord>, StoreError> {
        self.inner.effects(tenant, intent).await
    }

    async fn undelivered_effects(&self, limit: u32) -> Result<Vec<EffectRecord>, StoreError> {
        self.inner.undelivered_effects(limit).await
    }
}
