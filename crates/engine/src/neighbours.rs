//! The other merchants and modes of this server, whose money may go to the same account: what is counted for one of them is none of
//! the others', and one sum never pays two orders.

use payment::{ObjectId, OperationId, ProviderAccount};
use store::{Resolution, Standing, Task, Tenant};

use crate::{Engine, EngineError};

/// Why a stranger waits for nobody any more. Not whose order it was: that is nothing to a merchant.
const COUNTED_ELSEWHERE: &str = "it was counted for another merchant's order";

impl Engine {
    /// All but this one.
    pub(crate) async fn neighbours(&self, tenant: &Tenant) -> Result<Vec<Tenant>, EngineError> {
        let tenants = self.directory.merchants().await?.into_iter().map(|merchant| merchant.tenant);
        Ok(tenants.filter(|other| other != tenant).collect())
    }

    /// For what a neighbour's rows count an object, in words.
    pub(crate) async fn counted_elsewhere(
        &self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<String>, EngineError> {
        for other in self.neighbours(tenant).await? {
            let standing = self.store.standing(other, account.clone(), object.clone(), None).await?;
            if let Some(what) = counted_for(standing) {
                return Ok(Some(format!("{what} of another merchant")));
            }
        }
        Ok(None)
    }

    /// An object was counted for this tenant: to its neighbours it is no stranger that waits for a person.
    pub(crate) async fn release_elsewhere(
        &self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<(), EngineError> {
        for other in self.neighbours(tenant).await? {
            if let Some(stranger) = self.open_stranger(&other, account, object).await? {
                let resolution = Resolution { linked: false, reason: COUNTED_ELSEWHERE.to_owned() };
                self.store.resolve_stranger(stranger, resolution).await?;
            }
        }
        Ok(())
    }

    /// Whether an operation is a neighbour's.
    pub(crate) async fn is_neighbours_operation(
        &self,
        tenant: &Tenant,
        operation: OperationId,
    ) -> Result<bool, EngineError> {
        for other in self.neighbours(tenant).await? {
            if self.store.operation(other, operation).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn counted_for(standing: Standing) -> Option<String> {
    let Standing { charge, linked, stranger, .. } = standing;
    let charged = charge.map(|charge| charge.checkout.to_string());
    let operated = linked.map(|operation| match operation.task {
        Task::Pay => operation.intent.to_string(),
        Task::FollowUp(_) => operation.id.to_string(),
    });
    let is_counted = |resolution: &Resolution| resolution.linked;
    let met = stranger.filter(|stranger| stranger.resolution.as_ref().is_some_and(is_counted));
    charged.or(operated).or_else(|| met.map(|_| "an order".to_owned()))
}
