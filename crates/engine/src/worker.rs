//! The worker's part: the same drive for whatever is due, and the end of checkouts whose time has run out.

use payment::MerchantId;
use store::ClaimDue;

use crate::{Claim, Engine, EngineError};

/// Checkouts ended in one transaction.
const EXPIRE_AT_ONCE: u32 = 100;

impl Engine {
    /// Claims up to `most` operations whose wake-up has come, none of the busy merchants'.
    pub async fn claim_due(&self, most: usize, busy: Vec<MerchantId>) -> Result<Vec<Claim>, EngineError> {
        let began = self.clock.moments();
        let claim = ClaimDue {
            holder: self.settings.holder,
            lease_ms: self.settings.lease_ms,
            attempts: (0..most).map(|_| self.ids.attempt()).collect(),
            busy,
            most_unfinished: self.settings.most_unfinished,
            review_after_ms: self.settings.review_after_ms,
        };
        let claimed = self.store.claim_due(claim).await?;
        Ok(claimed.into_iter().map(|work| Claim { work, began }).collect())
    }

    /// Claims one due operation and drives it; whether there was one.
    pub async fn run_once(&self) -> Result<bool, EngineError> {
        let mut worked = false;
        for claim in self.claim_due(1, Vec::new()).await? {
            self.drive(claim).await?;
            worked = true;
        }
        Ok(worked)
    }

    /// This process ends: whoever comes next goes on at once with what is under way here (fault 35).
    pub async fn hand_over(&self) -> Result<(), EngineError> {
        Ok(self.store.hand_over(self.settings.holder, self.settings.lease_ms).await?)
    }

    /// Ends checkouts whose time has run out unpaid; how many.
    pub async fn expire(&self) -> Result<usize, EngineError> {
        let ended = self.store.expire(EXPIRE_AT_ONCE).await?.intents;
        ended.iter().for_each(|(tenant, intent)| self.changes.changed(tenant, *intent));
        Ok(ended.len())
    }
}
