//! Money that was taken for an order that had been paid: it is given back.

use payment::Money;
use store::{ChargeRecord, OpenedFollowUp};

use super::{Grounds, Resolved, Verdict, done, refused};
use crate::{Engine, EngineError};

impl Engine {
    pub(super) async fn resolve_extra(
        &self,
        charge: &ChargeRecord,
        verdict: Verdict,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        if verdict != Verdict::RefundExtra {
            return refused("an extra charge is ended by --refund-extra");
        }
        match self.refund_charge(charge, format!("a person: {grounds}")).await? {
            OpenedFollowUp::Fresh(operation) => {
                let left_minor = charge.amount.minor() - charge.reserved_minor - charge.refunded_minor;
                let left = Money::from_minor(left_minor, charge.amount.currency()).unwrap_or(charge.amount);
                done(format!(
                    "{} gives {left} of {} back; the server does it now",
                    operation.id, charge.object
                ))
            }
            OpenedFollowUp::Unfinished(operation) => refused(format!("{} is at it already", operation.id)),
            OpenedFollowUp::Exceeds { .. } if charge.reserved_minor > 0 => {
                refused(format!("{} is being given back already", charge.object))
            }
            OpenedFollowUp::Exceeds { .. } => refused("there is nothing left to refund"),
            OpenedFollowUp::NotNow => refused(format!(
                "{} lies in account {}, whose secret nobody here has any more: give it back in the provider's dashboard, or make \
                 that account the merchant's again",
                charge.object,
                charge.account.as_str()
            )),
        }
    }
}
