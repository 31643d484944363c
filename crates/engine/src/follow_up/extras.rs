//! Gives extra charges back by itself, where that is the merchant's setting: once each.

use std::collections::{HashMap, HashSet};

use payment::{
    Anomaly, NotExecutedReason, ObjectId, ObjectStatus, Observation, OperationEvent, OperationKind,
    ProviderAccount, RefundStatus,
};
use planted::Fault;
use providers::{Account, Reply};
use store::{
    ChargeRecord, Claimed, Fate, FollowUp, OpenedFollowUp, OperationRecord, PutFate, StoreError, Story, Task,
    Tenant,
};

use crate::{Engine, EngineError, observe::status_words, sweep::passed_over};

/// Most extras given back in one go.
const EXTRAS_AT_ONCE: u32 = 1_000;

/// After how many extras of a merchant whose payers are not shown no more of his are tried in one go: a provider that hangs must not keep
/// other merchants' waiting (fault 33).
const MOST_SILENT: usize = 2;

/// The extras that are left to a person: told of once, and not tried until this is forgotten.
#[derive(Debug, Default)]
pub struct OutOfReach {
    left: HashSet<Name>,
    /// Told of once as well, but tried again: the provider does not show now what paid. In which go each was tried last.
    silent: HashMap<Name, u64>,
    /// Goes so far.
    goes: u64,
}

type Name = (Tenant, ProviderAccount, ObjectId);

impl OutOfReach {
    fn name(charge: &ChargeRecord) -> Name {
        (charge.tenant.clone(), charge.account.clone(), charge.object.clone())
    }

    fn holds(&self, charge: &ChargeRecord) -> bool {
        self.left.contains(&Self::name(charge))
    }

    fn put(&mut self, charge: &ChargeRecord, why: &str) {
        tracing::error!(merchant = %charge.tenant.merchant, account = charge.account.as_str(), object = %charge.object,
            "an extra charge is not given back by itself: {why}; a person has to look");
        self.left.insert(Self::name(charge));
    }

    /// The go in which it was silent last. Whoever was not comes first, and then whoever waits for the longest.
    fn last_tried(&self, charge: &ChargeRecord) -> Option<u64> {
        self.silent.get(&Self::name(charge)).copied()
    }

    fn tell_silent(&mut self, charge: &ChargeRecord) {
        if self.silent.insert(Self::name(charge), self.goes).is_none() {
            tracing::error!(merchant = %charge.tenant.merchant, account = charge.account.as_str(), object = %charge.object,
                "an extra charge is not given back yet: {}; it is tried again", Payer::Silent.words());
        }
    }
}

impl Engine {
    /// Gives extras back, where that is the merchant's setting: once each; what was refused stands before a person. How many.
    pub async fn refund_extras(&self, out_of_reach: &mut OutOfReach) -> Result<usize, EngineError> {
        let (mut opened, mut silent) = (0, HashMap::<Tenant, usize>::new());
        out_of_reach.goes += 1;
        let mut extras = self.store.open_extras(EXTRAS_AT_ONCE).await?;
        extras.sort_by_key(|charge| out_of_reach.last_tried(charge));
        for charge in extras {
            if silent.get(&charge.tenant).is_some_and(|silent| *silent >= MOST_SILENT) {
                continue;
            }
            let merchant = self.directory.merchant(&charge.tenant).await?;
            let wanted = merchant.is_some_and(|merchant| merchant.refund_extras);
            if !wanted || out_of_reach.holds(&charge) {
                continue;
            }
            let story = match self.story(&charge.tenant, charge.intent).await {
                Ok(story) => story,
                // One that this version cannot read must not hide the others.
                Err(error @ EngineError::Store(StoreError::Unreadable(_))) => {
                    passed_over(Err(error), &charge.object)?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if was_refund_tried(&story, &charge) || is_told(&story, Anomaly::OtherOrder) {
                // Of what names another order, which it may be for, a person decides.
                continue;
            }
            let payer = if planted::is(Fault::PayerNotAsked) {
                Payer::Stands
            } else {
                self.payer(&story, &charge).await?
            };
            match payer {
                Payer::Stands => {}
                Payer::Silent => {
                    out_of_reach.tell_silent(&charge);
                    *silent.entry(charge.tenant).or_default() += 1;
                    continue;
                }
                doubtful @ (Payer::OtherSum
                | Payer::CameBack
                | Payer::Leaving
                | Payer::Gone
                | Payer::OutOfReach) => {
                    out_of_reach.put(&charge, doubtful.words());
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

    /// Why a refund is not sent now: an extra is given back while the money that paid its order lies at the provider, and it may have gone
    /// since the refund was opened, or was sent before.
    pub(super) async fn withheld(
        &self,
        claimed: &Claimed,
        follow_up: &FollowUp,
    ) -> Result<Option<(OperationEvent, &'static str)>, EngineError> {
        if follow_up.kind != OperationKind::Refund || planted::is(Fault::PayerNotAsked) {
            return Ok(None);
        }
        let story = self.story(&claimed.intent.tenant, claimed.intent.id).await?;
        let account = claimed.operation.frozen.as_ref().map(|frozen| &frozen.account);
        let mut charges = story.charges.iter();
        let target =
            charges.find(|charge| charge.object == follow_up.target && Some(&charge.account) == account);
        let Some(extra) = target.filter(|charge| charge.extra && charge.fate != Some(Fate::Kept)) else {
            return Ok(None);
        };
        let payer = self.payer(&story, extra).await?;
        let event = match payer {
            Payer::Stands => return Ok(None),
            // So it would not have been opened but by a person.
            Payer::OtherSum | Payer::CameBack | Payer::OutOfReach
                if is_asked_by_a_person(&story, &claimed.operation) =>
            {
                return Ok(None);
            }
            Payer::OtherSum | Payer::CameBack | Payer::OutOfReach | Payer::Gone => {
                OperationEvent::Rejected { code: "withheld".to_owned(), message: payer.words().to_owned() }
            }
            Payer::Leaving | Payer::Silent => OperationEvent::NotExecuted(NotExecutedReason::NotSent),
        };
        Ok(Some((event, payer.words())))
    }

    /// What became of the money that paid an order, for which an extra was taken too. It may be long ago, and what was done with it in
    /// the provider's dashboard nobody has to have told us: it is asked for. Where it is gone, the extra may be all there is.
    pub(crate) async fn payer(&self, story: &Story, extra: &ChargeRecord) -> Result<Payer, EngineError> {
        let Some(paying) = ChargeRecord::paying(&story.charges) else { return Ok(Payer::Stands) };
        let own = self.story(&paying.tenant, paying.intent).await?;
        // That is told of the first charge alone.
        let was_reversed = !paying.extra && is_told(&own, Anomaly::Reversed);
        let was_gone = was_reversed || paying.fate == Some(Fate::Returned) || came_back(&own, paying);
        let unasked = if paying.fate == Some(Fate::Returned) { Payer::Gone } else { Payer::OutOfReach };
        let Some((account, ..)) = self.account_of_charge(&own, paying).await? else {
            return Ok(unasked);
        };
        Ok(match self.provider.query(&account, &paying.object).await {
            Reply::Object(seen) => {
                self.note_fate(paying, &seen, "asked").await?;
                if went_back(&seen) || seen.status != ObjectStatus::Succeeded {
                    if !was_reversed {
                        self.look(&paying.tenant, paying.intent, &paying.object).await?;
                    }
                    // Neither here nor gone: it may be taken once more.
                    if went_back(&seen) { Payer::Gone } else { Payer::Silent }
                } else if let Some(doubt) = self.leaves(&account, paying).await {
                    doubt
                } else if was_gone {
                    Payer::CameBack
                } else if paying.amount != extra.amount || seen.amount != extra.amount {
                    Payer::OtherSum
                } else {
                    Payer::Stands
                }
            }
            // A question that is not answered says nothing, whatever was known. In the extra's own account nobody could give it back
            // either.
            reply @ (Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. }) => {
                let reaches = paying.account == extra.account && unasked == Payer::OutOfReach;
                let shut = !reaches && self.turns_away(&account, &reply, extra.at).await;
                if shut { unasked } else { Payer::Silent }
            }
        })
    }

    /// Whether a charge's money is on its way back, or a part of it. A payment tells of what was given back, and the listing of its
    /// refunds alone of what is going to be.
    pub(crate) async fn leaves(&self, account: &Account, charge: &ChargeRecord) -> Option<Payer> {
        let listing = self.list_refunds(account, &charge.object, None).await;
        let standing = listing.objects.iter().filter(|refund| match refund.status {
            RefundStatus::Pending | RefundStatus::Succeeded => refund.payment == charge.object,
            RefundStatus::Canceled { .. } => false,
        });
        let leaving_minor: i64 = standing.map(|refund| refund.amount.minor()).sum();
        if leaving_minor >= charge.amount.minor() {
            Some(Payer::Leaving)
        } else if !listing.complete {
            Some(Payer::Silent)
        } else {
            (leaving_minor > 0).then_some(Payer::OtherSum)
        }
    }

    /// Writes down what the provider's word makes of a charge that is known: that its money went back by somebody else's doing, or that
    /// it is there again. What a refund of ours may have done is that one's to tell.
    pub(crate) async fn note_fate(
        &self,
        charge: &ChargeRecord,
        seen: &Observation,
        evidence: &str,
    ) -> Result<(), EngineError> {
        let fate = match charge.fate {
            None | Some(Fate::Kept) if went_back(seen) && !charge.went_back() => Some(Fate::Returned),
            Some(Fate::Returned) if seen.status == ObjectStatus::Succeeded && !seen.given_back => None,
            None | Some(Fate::Kept | Fate::Returned) => return Ok(()),
        };
        if charge.reserved_minor == 0 {
            self.put_fate(charge, fate, format!("{evidence}: {}", fate_words(seen))).await?;
        }
        Ok(())
    }

    /// Writes a charge's fate down; whether it is so now.
    pub(crate) async fn put_fate(
        &self,
        charge: &ChargeRecord,
        fate: Option<Fate>,
        evidence: String,
    ) -> Result<bool, EngineError> {
        let command = PutFate { charge: charge.clone(), fate, evidence };
        let put = match self.store.put_fate(command.clone()).await {
            // It may be there: then it is so.
            Err(StoreError::Unknown(_)) => self.store.put_fate(command).await,
            other => other,
        };
        self.changes.changed(&charge.tenant, charge.intent);
        Ok(put?)
    }
}

/// Whether the provider shows that an object's money is the shopper's again.
pub(crate) fn went_back(seen: &Observation) -> bool {
    matches!(seen.status, ObjectStatus::Ended(_)) || seen.given_back
}

/// What shows that it did, or did not.
pub(crate) fn fate_words(seen: &Observation) -> String {
    let given_back = if seen.given_back { ", and all of it was given back" } else { "" };
    format!("{}{}{given_back}", shown(&seen.object), status_words(&seen.status))
}

/// How words of what the provider shows of an object begin.
fn shown(object: &ObjectId) -> String {
    format!("object {object} is ")
}

/// What a refund of other money for its order rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payer {
    /// It lies at the provider.
    Stands,
    /// It is another sum than the extra, or a part of it was given back: which of them is wrong?
    OtherSum,
    /// It lies at the provider, which had shown that it was taken back.
    CameBack,
    /// It is being given back: the extra may be all there will be.
    Leaving,
    /// It was taken back, or given back: the extra may be all there is.
    Gone,
    /// Nobody here has the credentials of its account.
    OutOfReach,
    /// The provider does not say.
    Silent,
}

impl Payer {
    fn words(self) -> &'static str {
        match self {
            Self::Stands => "the money that paid the order lies at the provider",
            Self::OtherSum => {
                "what paid the order is another sum, or a part of it was given back: it may be the wrong one"
            }
            Self::CameBack => "the money that paid the order was taken back, and is there again",
            Self::Leaving => "the money that paid the order is being given back",
            Self::Gone => "the money that paid the order was taken back or given back",
            Self::OutOfReach => "nobody here can ask about the money that paid the order",
            Self::Silent => "the provider does not show the money that paid the order now",
        }
    }
}

/// Whether the journal tells of that.
pub(crate) fn is_told(story: &Story, anomaly: Anomaly) -> bool {
    story.journal.iter().any(|row| row.line.event == "anomaly" && row.line.evidence == anomaly.as_str())
}

/// Whether the journal tells that its money went back, and was there again.
fn came_back(story: &Story, charge: &ChargeRecord) -> bool {
    let shown = shown(&charge.object);
    story.journal.iter().any(|row| row.line.event == "charge_came_back" && row.line.evidence.contains(&shown))
}

/// Whether a person opened this refund, by what the journal tells of its opening.
fn is_asked_by_a_person(story: &Story, operation: &OperationRecord) -> bool {
    let opened = format!("operation {} ", operation.id);
    story.journal.iter().any(|row| {
        let line = &row.line;
        line.event == "refund.opened"
            && line.evidence.starts_with(&opened)
            && line.evidence.contains(": a person: ")
    })
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
