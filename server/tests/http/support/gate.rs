//! The gate: a server that was away, and whose accounts were not read yet.

use payment::ProviderAccount;
use store::{Start, Store, Tenant};

use super::World;

impl World {
    async fn accounts(&self) -> Vec<(Tenant, ProviderAccount)> {
        let merchants = self.engine.directory.merchants().await.unwrap();
        merchants.into_iter().map(|merchant| (merchant.tenant, merchant.account)).collect()
    }

    /// A start after a silence.
    pub async fn gate_down(&self) {
        let accounts = self.accounts().await;
        let starts = |gap_ms| self.store.start(Start { own: accounts.clone(), left: Vec::new(), gap_ms });
        starts(0).await.unwrap();
        // A silence of any length puts the gate down.
        assert!(starts(-1).await.unwrap());
    }

    /// All accounts are read.
    pub async fn gate_up(&self) {
        for (tenant, account) in self.accounts().await {
            let row = self.store.sweep(tenant, account).await.unwrap().0;
            self.store.swept(row).await.unwrap();
        }
    }
}
