//! Money that was taken for an order that had been paid: it is given back by us, or went back without us; or it pays now, because what
//! had paid went back.

use payment::{Money, ObjectId, ObjectStatus, OperationId, RefundObservation, RefundStatus};
use providers::Reply;
use store::{ChargeRecord, Fate, OpenedFollowUp};

use super::{
    Grounds, HELD, NOT_SHOWN, Resolved, Verdict, done, follow_up::refund_words, known::TURNED_AWAY, refused,
};
use crate::{
    Engine, EngineError,
    follow_up::{Known, Payer, fate_words, went_back},
};

impl Engine {
    pub(super) async fn resolve_extra(
        &self,
        charge: &ChargeRecord,
        verdict: Verdict,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let object = &charge.object;
        match (verdict, charge.fate) {
            (Verdict::Charged(named), Some(Fate::Kept)) if named == *object => done(kept(charge)),
            (Verdict::NotCharged, Some(Fate::Returned)) => done(returned(charge)),
            (_, Some(Fate::Kept)) => refused(format!("that is over: {}", kept(charge))),
            (_, Some(Fate::Returned)) => refused(format!("that is over: {}", returned(charge))),
            (Verdict::RefundExtra, None) => self.give_back(charge, grounds).await,
            (Verdict::Executed(refund), None) => self.judge_given_back(charge, &refund, grounds).await,
            (Verdict::Charged(named), None) if named == *object => self.keep(charge, grounds).await,
            (Verdict::NotCharged, None) => self.judge_returned(charge, grounds).await,
            (Verdict::Charged(_) | Verdict::NotExecuted, None) => refused(format!(
                "an extra charge is ended by --refund-extra; by --executed REFUND where somebody else gave it back, --not-charged where \
                 nothing of it is left, or --charged {object} where it pays now, since what had paid went back"
            )),
        }
    }

    /// What had paid the order went back, and this is all that pays it: the shopper paid once. The order stays paid.
    async fn keep(&self, charge: &ChargeRecord, grounds: &Grounds) -> Result<Resolved, EngineError> {
        let object = &charge.object;
        if charge.reserved_minor > 0 {
            return refused(under_way(charge));
        }
        let story = self.story(&charge.tenant, charge.intent).await?;
        let Some((account, ..)) = self.account_of_charge(&story, charge).await? else {
            return refused(out_of_reach(charge));
        };
        let reply = self.provider.query(&account, object).await;
        let turned_away = self.turns_away(&account, &reply, charge.at).await;
        match &reply {
            Reply::Object(seen) if seen.status == ObjectStatus::Succeeded && !seen.given_back => {}
            Reply::Object(seen) => {
                return refused(format!("it pays nothing: {}", fate_words(seen)));
            }
            Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } if turned_away => {
                if grounds.evidence.is_none() {
                    return refused(format!(
                        "{TURNED_AWAY}; say by --evidence what shows that what had paid went back, and {object} did not"
                    ));
                }
            }
            Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => {
                return refused(NOT_SHOWN);
            }
        }
        match self.leaves(&account, charge).await {
            Some(Payer::Leaving) => {
                return refused(format!("{object} is being given back: wait until that is over"));
            }
            Some(Payer::Silent) if !turned_away => return refused(NOT_SHOWN),
            Some(_) | None => {}
        }
        let mut payer = self.payer(&story, charge).await?;
        let beside =
            ChargeRecord::paying(&story.charges).is_some_and(|paying| paying.account == charge.account);
        if turned_away && beside && payer == Payer::Silent {
            payer = Payer::OutOfReach;
        }
        let shown = match (payer, &grounds.evidence) {
            (Payer::Gone, _) => "what had paid went back",
            (Payer::OutOfReach, Some(_)) => "nobody here can ask about what had paid",
            (Payer::OutOfReach, None) => {
                return refused(
                    "nobody here can ask about the money that paid the order: say by --evidence what shows that it went back",
                );
            }
            (Payer::Stands | Payer::OtherSum | Payer::CameBack, _) => {
                return refused(
                    "the money that paid the order lies at the provider, so the shopper paid twice: give one of the two back",
                );
            }
            (Payer::Leaving, _) => {
                return refused("the money that paid the order is being given back: wait until that is over");
            }
            (Payer::Silent, _) => {
                return refused(
                    "the provider does not show the money that paid the order now; try again later",
                );
            }
        };
        let evidence = format!("a person: object {object} pays the order, for {shown}: {grounds}");
        // What nobody could ask about is told by the person. One that pays no more because we gave it back needs no other word.
        if let Some(paying) = ChargeRecord::paying(&story.charges)
            && (paying.fate == Some(Fate::Kept) || !paying.went_back())
            && !self.put_fate(paying, Some(Fate::Returned), evidence.clone()).await?
        {
            return refused(HELD);
        }
        self.put(charge, Fate::Kept, evidence).await
    }

    /// Nothing of it is left to be given back: the bank took it back, or somebody gave all of it back.
    async fn judge_returned(
        &self,
        charge: &ChargeRecord,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        if charge.reserved_minor > 0 {
            return refused(under_way(charge));
        }
        let story = self.story(&charge.tenant, charge.intent).await?;
        let (reply, out_of_reach) = match self.account_of_charge(&story, charge).await? {
            Some((account, ..)) => {
                let reply = self.provider.query(&account, &charge.object).await;
                let turned_away = self.turns_away(&account, &reply, charge.at).await;
                (Some(reply), turned_away)
            }
            None => (None, true),
        };
        let shown = match reply {
            Some(Reply::Object(seen)) if went_back(&seen) => fate_words(&seen),
            Some(Reply::Object(seen)) => {
                return refused(format!("its money did not go back: {}", fate_words(&seen)));
            }
            // Whoever can look into that account has to say what he saw.
            Some(_) | None if out_of_reach => match &grounds.evidence {
                Some(_) => "nobody here can ask for it".to_owned(),
                None => {
                    return refused(
                        "nobody here can ask the provider for it: say by --evidence what shows that its money went back",
                    );
                }
            },
            Some(_) | None => return refused(NOT_SHOWN),
        };
        let evidence = format!("a person: {shown}: {grounds}");
        self.put(charge, Fate::Returned, evidence).await
    }

    async fn put(
        &self,
        charge: &ChargeRecord,
        fate: Fate,
        evidence: String,
    ) -> Result<Resolved, EngineError> {
        if !self.put_fate(charge, Some(fate), evidence).await? {
            return refused(HELD);
        }
        done(match fate {
            Fate::Kept => kept(charge),
            Fate::Returned => returned(charge),
        })
    }

    /// A person may know better than we what an extra is for, but not whether the money that paid still lies at the provider: of both
    /// given back, one is lost.
    async fn give_back(&self, charge: &ChargeRecord, grounds: &Grounds) -> Result<Resolved, EngineError> {
        let story = self.story(&charge.tenant, charge.intent).await?;
        match self.payer(&story, charge).await? {
            Payer::Stands | Payer::OtherSum | Payer::CameBack | Payer::OutOfReach => {}
            Payer::Gone => {
                return refused(format!(
                    "the money that paid the order was taken back or given back, so {0} may be all that pays it: say --charged {0} if it \
                     is to pay. If it is to be given back all the same, do so in the provider's dashboard, and end this by --executed REFUND",
                    charge.object
                ));
            }
            Payer::Leaving => {
                return refused(
                    "the money that paid the order is being given back: nothing was given back; wait until that is over",
                );
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
        let seen = match self.provider.query_refund(&known.0, refund).await {
            Reply::Object(seen) => seen,
            reply @ (Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. }) => {
                if !self.turns_away(&known.0, &reply, charge.at).await {
                    return refused(format!(
                        "the provider does not show the refund {refund} now: check its id, or try again later"
                    ));
                }
                return self.believe_given_back(charge, refund, known, grounds).await;
            }
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

    /// The provider shows nothing of this account any more: evidence decides, for all that is left.
    async fn believe_given_back(
        &self,
        charge: &ChargeRecord,
        refund: &ObjectId,
        known: Known,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let Some(amount) = left_of(charge) else { return refused("there is nothing left to refund") };
        if grounds.evidence.is_none() {
            let left = format!("that {refund} gave the {amount} back that are left of {}", charge.object);
            return refused(format!("{TURNED_AWAY}; say by --evidence what shows {left}"));
        }
        let made = RefundObservation {
            object: refund.clone(),
            payment: charge.object.clone(),
            status: RefundStatus::Succeeded,
            amount,
            operation: None,
            created_at: None,
        };
        let opened = self
            .take_down_refund(charge, known, made, format!("a person: {grounds} ({TURNED_AWAY})"))
            .await?;
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
    Money::from_minor(charge.left_minor(), charge.amount.currency()).ok()
}

/// That it pays.
fn kept(charge: &ChargeRecord) -> String {
    format!("{} stays, and pays the order with {}: what had paid it went back", charge.object, charge.amount)
}

/// That there is nothing to be given back.
fn returned(charge: &ChargeRecord) -> String {
    format!("{} went back to the shopper: nothing of it is given back by us", charge.object)
}

fn under_way(charge: &ChargeRecord) -> String {
    format!(
        "a refund of {} is not over: `payonce review show {}` tells how it stands; wait for it, or end it where it waits for a person",
        charge.object, charge.object
    )
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
