//! The worker's part: the same drive for whatever is due, and the end of checkouts whose time has run out.

use store::{ClaimDue, Claimed};

use crate::{Engine, EngineError};

/// Checkouts ended in one transaction.
const EXPIRE_AT_ONCE: u32 = 100;

impl Engine {
    /// Claims up to `most` operations whose wake-up has come.
    pub async fn claim_due(&self, most: usize) -> Result<Vec<Claimed>, EngineError> {
        let attempts = (0..most).map(|_| self.ids.attempt()).collect();
        let claim = ClaimDue { holder: self.settings.holder, lease_ms: self.settings.lease_ms, attempts };
        Ok(self.store.claim_due(claim).await?)
    }

    /// Claims one due operation and drives it; whether there was one.
    pub async fn run_once(&self) -> Result<bool, EngineError> {
        let mut worked = false;
        for claimed in self.claim_due(1).await? {
            self.drive(claimed).await?;
            worked = true;
        }
        Ok(worked)
    }

    /// Ends checkouts whose time has run out unpaid; how many.
    pub async fn expire(&self) -> Result<u32, EngineError> {
        Ok(self.store.expire(EXPIRE_AT_ONCE).await?.checkouts)
    }
}
