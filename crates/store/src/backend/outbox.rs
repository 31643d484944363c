//! The outbox's transactions over a backend.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use payment::IntentId;

use super::Backend;
use crate::{
    ClaimEffects, ClaimedEffect, EffectRecord, Outbox, SettleEffect, SettledEffect, StoreError, Tables,
    Tenant, flows,
};

#[async_trait]
impl<B: Backend> Outbox for B {
    async fn claim_effects(&self, claim: ClaimEffects) -> Result<Vec<ClaimedEffect>, StoreError> {
        self.write(flow!(claim, flows::outbox::claim)).await
    }

    async fn settle_effect(&self, settle: SettleEffect) -> Result<SettledEffect, StoreError> {
        self.write(flow!(settle, flows::outbox::settle)).await
    }

    async fn effects(&self, tenant: Tenant, intent: IntentId) -> Result<Vec<EffectRecord>, StoreError> {
        self.read(flow!((tenant, intent), flows::outbox::of_intent)).await
    }

    async fn undelivered_effects(&self, limit: u32) -> Result<Vec<EffectRecord>, StoreError> {
        self.read(flow!(limit, flows::outbox::undelivered)).await
    }
}
