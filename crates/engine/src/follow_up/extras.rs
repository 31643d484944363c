//! Gives extra charges back by itself, where that is the merchant's setting: once each.

use std::collections::HashSet;

use payment::{Anomaly, ObjectId, OperationKind, ProviderAccount};
use store::{ChargeRecord, OpenedFollowUp, Story, Task, Tenant};

use crate::{Engine, EngineError};

/// Most extras given back in one go.
const EXTRAS_AT_ONCE: u32 = 1_000;

/// The extras in accounts whose credentials nobody here has: told of once, and not tried until this is forgotten.
#[derive(Debug, Default)]
pub struct OutOfReach(HashSet<(Tenant, ProviderAccount, ObjectId)>);

impl OutOfReach {
    fn name(charge: &ChargeRecord) -> (Tenant, ProviderAccount, ObjectId) {
        (charge.tenant.clone(), charge.account.clone(), charge.object.clone())
    }

    fn holds(&self, charge: &ChargeRecord) -> bool {
        self.0.contains(&Self::name(charge))
    }

    fn put(&mut self, charge: &ChargeRecord) {
        tracing::error!(merchant = %charge.tenant.merchant, account = charge.account.as_str(), object = %charge.object,
            "an extra charge cannot be given back: nobody here has the credentials of its account; a person has to look");
        self.0.insert(Self::name(charge));
    }
}

impl Engine {
    /// Gives extras back, where that is the merchant's setting: once each; what was refused stands before a person. How many.
    pub async fn refund_extras(&self, out_of_reach: &mut OutOfReach) -> Result<usize, EngineError> {
        let mut opened = 0;
        for charge in self.store.open_extras(EXTRAS_AT_ONCE).await? {
            let merchant = self.directory.merchant(&charge.tenant).await?;
            let wanted = merchant.is_some_and(|merchant| merchant.refund_extras);
            if !wanted || out_of_reach.holds(&charge) {
                continue;
            }
            let story = self.story(&charge.tenant, charge.intent).await?;
            if was_refund_tried(&story, &charge) || self.is_contradicted(&story, &charge).await? {
                continue;
            }
            match self.refund_in(&story, &charge, "the order was paid already".to_owned()).await? {
                OpenedFollowUp::Fresh(_) => opened += 1,
                OpenedFollowUp::NotNow => out_of_reach.put(&charge),
                OpenedFollowUp::Known(_) | OpenedFollowUp::Unfinished(_) | OpenedFollowUp::Exceeds { .. } => {
                }
            }
        }
        Ok(opened)
    }

    /// Whether the provider contradicts what a refund would rest on: it took back the money that paid the order, so that this charge may
    /// be all there is; or the object names another order, which it may be for. Then a person decides.
    async fn is_contradicted(&self, story: &Story, extra: &ChargeRecord) -> Result<bool, EngineError> {
        if is_told(story, Anomaly::OtherOrder) {
            return Ok(true);
        }
        for paying in story.charges.iter().filter(|charge| !charge.extra) {
            if is_told(&self.story(&extra.tenant, paying.intent).await?, Anomaly::Reversed) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether the journal tells of that.
pub(crate) fn is_told(story: &Story, anomaly: Anomaly) -> bool {
    story.journal.iter().any(|row| row.line.event == "anomaly" && row.line.evidence == anomaly.as_str())
}

fn was_refund_tried(story: &Story, charge: &ChargeRecord) -> bool {
    story.follow_ups.iter().any(|row| match &row.task {
        Task::Pay => false,
        Task::FollowUp(follow_up) => {
            follow_up.kind == OperationKind::Refund
                && follow_up.target == charge.object
                && row.frozen.as_ref().is_some_and(|frozen| frozen.account == charge.account)
        }
    })
}
