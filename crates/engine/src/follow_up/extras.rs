//! Gives extra charges back by itself, where that is the merchant's setting: once each.

use std::collections::HashSet;

use payment::{Anomaly, ObjectId, ObjectStatus, OperationKind, ProviderAccount};
use providers::Reply;
use store::{ChargeRecord, OpenedFollowUp, Story, Task, Tenant};

use crate::{Engine, EngineError};

/// Most extras given back in one go.
const EXTRAS_AT_ONCE: u32 = 1_000;

/// The extras that are left to a person: told of once, and not tried until this is forgotten.
#[derive(Debug, Default)]
pub struct OutOfReach(HashSet<(Tenant, ProviderAccount, ObjectId)>);

impl OutOfReach {
    fn name(charge: &ChargeRecord) -> (Tenant, ProviderAccount, ObjectId) {
        (charge.tenant.clone(), charge.account.clone(), charge.object.clone())
    }

    fn holds(&self, charge: &ChargeRecord) -> bool {
        self.0.contains(&Self::name(charge))
    }

    fn put(&mut self, charge: &ChargeRecord, why: &str) {
        tracing::error!(merchant = %charge.tenant.merchant, account = charge.account.as_str(), object = %charge.object,
            "an extra charge is not given back by itself: {why}; a person has to look");
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
            if was_refund_tried(&story, &charge) || is_told(&story, Anomaly::OtherOrder) {
                // Of what names another order, which it may be for, a person decides.
                continue;
            }
            match self.payer(&story, &charge).await? {
                Payer::Stands => {}
                Payer::Silent => continue,
                Payer::Doubtful(why) => {
                    out_of_reach.put(&charge, why);
                    continue;
                }
            }
            match self.refund_in(&story, &charge, "the order was paid already".to_owned()).await? {
                OpenedFollowUp::Fresh(_) => opened += 1,
                OpenedFollowUp::NotNow => {
                    out_of_reach.put(&charge, "nobody here has the credentials of its account");
                }
                OpenedFollowUp::Known(_) | OpenedFollowUp::Unfinished(_) | OpenedFollowUp::Exceeds { .. } => {
                }
            }
        }
        Ok(opened)
    }

    /// What became of the money that paid an order, for which an extra was taken too. It may be long ago, and what was done with it in
    /// the provider's dashboard nobody has to have told us: it is asked for. Where it is gone, the extra may be all there is.
    async fn payer(&self, story: &Story, extra: &ChargeRecord) -> Result<Payer, EngineError> {
        for paying in story.charges.iter().filter(|charge| !charge.extra) {
            if paying.amount != extra.amount {
                return Ok(Payer::Doubtful("what paid the order is another sum, and may be the wrong one"));
            }
            let own = self.story(&paying.tenant, paying.intent).await?;
            if is_told(&own, Anomaly::Reversed) {
                return Ok(Payer::Doubtful(GONE));
            }
            let Some((account, ..)) = self.account_of_charge(&own, paying).await? else {
                return Ok(Payer::Doubtful("nobody here can ask about the money that paid the order"));
            };
            match self.provider.query(&account, &paying.object).await {
                Reply::Object(seen) if seen.status == ObjectStatus::Succeeded && !seen.given_back => {}
                Reply::Object(_) => {
                    self.look(&paying.tenant, paying.intent, &paying.object).await?;
                    return Ok(Payer::Doubtful(GONE));
                }
                Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => {
                    return Ok(Payer::Silent);
                }
            }
        }
        Ok(Payer::Stands)
    }
}

const GONE: &str = "the money that paid the order was taken back or given back";

/// What a refund of other money for its order rests on.
enum Payer {
    /// It lies at the provider.
    Stands,
    /// It may be gone, or not be what the order costs.
    Doubtful(&'static str),
    /// The provider does not say.
    Silent,
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
