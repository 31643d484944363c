//! Money that was taken for an order that had been paid: it is given back by us, or was by somebody else.

use payment::{Money, ObjectId, OperationId, RefundStatus};
use providers::Reply;
use store::{ChargeRecord, OpenedFollowUp};

use super::{Grounds, Resolved, Verdict, done, follow_up::refund_words, refused};
use crate::{Engine, EngineError, follow_up::Payer};

impl Engine {
    pub(super) async fn resolve_extra(
        &self,
        charge: &ChargeRecord,
        verdict: Verdict,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        match verdict {
            Verdict::RefundExtra => self.give_back(charge, grounds).await,
            Verdict::Executed(refund) => self.judge_given_back(charge, &refund, grounds).await,
            Verdict::Charged(_) | Verdict::NotCharged | Verdict::NotExecuted => refused(
                "an extra charge is ended by --refund-extra, or by --executed REFUND where somebody else gave it back",
            ),
        }
    }

    /// A person may know better than we what an extra is for, but not whether the money that paid still lies at the provider: of both
    /// given back, one is lost.
    async fn give_back(&self, charge: &ChargeRecord, grounds: &Grounds) -> Result<Resolved, EngineError> {
        let story = self.story(&charge.tenant, charge.intent).await?;
        match self.payer(&story, charge).await? {
            Payer::Stands | Payer::OtherSum | Payer::OutOfReach => {}
            Payer::Gone => {
                return refused(format!(
                    "the money that paid the order was taken back or given back, so {} may be all that pays it; if it is to be given back \
                     all the same, do so in the provider's dashboard, and end this by --executed REFUND",
                    charge.object
                ));
            }
            Payer::Silent => {
                return refused(
                    "the provider does not show the money that paid the order now: nothing was given back; try again later",
                );
            }
        }
        let opened = self.refund_in(&story, charge, format!("a person: {grounds}")).await?;
        match fresh(charge, opened) {
            Ok(operation) => {
                let left = left_of(charge).unwrap_or(charge.amount);
                done(format!("{operation} gives {left} of {} back; the server does it now", charge.object))
            }
            Err(words) => refused(words),
        }
    }

    /// Somebody gave it back, or a part of it, in the provider's dashboard. The provider is asked for that refund; one that is
    /// known is not counted for two.
    async fn judge_given_back(
        &self,
        charge: &ChargeRecord,
        refund: &ObjectId,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let story = self.story(&charge.tenant, charge.intent).await?;
        let Some(known) = self.account_of_charge(&story, charge).await? else {
            return refused(out_of_reach(charge));
        };
        let Reply::Object(seen) = self.provider.query_refund(&known.0, refund).await else {
            return refused(format!(
                "the provider does not show the refund {refund} now: check its id, or try again later"
            ));
        };
        if seen.payment != charge.object || seen.status != RefundStatus::Succeeded {
            return refused(format!(
                "{refund} gave nothing of {} back: it is of {}, {}",
                charge.object,
                seen.payment,
                refund_words(&seen.status)
            ));
        }
        let amount = seen.amount;
        let opened = self.take_down_refund(charge, known, seen, format!("a person: {grounds}")).await?;
        match fresh(charge, opened) {
            Ok(operation) => done(format!(
                "{refund} gave {amount} of {} back; it is written down as {operation}",
                charge.object
            )),
            Err(words) => refused(words),
        }
    }
}

fn left_of(charge: &ChargeRecord) -> Option<Money> {
    let left_minor = charge.amount.minor() - charge.reserved_minor - charge.refunded_minor;
    Money::from_minor(left_minor, charge.amount.currency()).ok()
}

/// The refund that was opened, or written down; else why not.
fn fresh(charge: &ChargeRecord, opened: OpenedFollowUp) -> Result<OperationId, String> {
    let object = &charge.object;
    Err(match opened {
        OpenedFollowUp::Fresh(operation) => return Ok(operation.id),
        OpenedFollowUp::Unfinished(operation) => format!("{} is at it already", operation.id),
        OpenedFollowUp::Known(operation) => {
            format!("that is known already as the refund of {}", operation.id)
        }
        OpenedFollowUp::Exceeds { .. } if charge.reserved_minor > 0 => {
            format!("{object} is being given back already")
        }
        OpenedFollowUp::Exceeds { .. } => match left_of(charge) {
            Some(left) => format!("only {left} of {object} is left to be given back"),
            None => "there is nothing left to refund".to_owned(),
        },
        OpenedFollowUp::NotNow => out_of_reach(charge),
    })
}

fn out_of_reach(charge: &ChargeRecord) -> String {
    format!(
        "{} lies in account {}, whose secret nobody here has any more: give it back in the provider's dashboard, or make that account \
         the merchant's again",
        charge.object,
        charge.account.as_str()
    )
}
