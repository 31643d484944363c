//! Money that no payment of ours asked for: it pays the order it names, or is none of ours.

use payment::{CheckoutStatus, Money, ObjectStatus, Observation, OrderId, Timestamp};
use planted::Fault;
use providers::{Account, Reply};
use store::{Change, Charge, CheckoutRecord, IntentRecord, LookOf, Looking, Resolution, StrangerRecord};

use super::{Grounds, HELD, NOT_SHOWN, Resolved, Verdict, done, known::TURNED_AWAY, refused, waiting};
use crate::{
    Engine, EngineError,
    observe::{InHand, status_words},
    sweep::is_strange,
};

impl Engine {
    pub(super) async fn resolve_stranger(
        &self,
        stranger: &StrangerRecord,
        verdict: Verdict,
        grounds: &Grounds,
    ) -> Result<Resolved, EngineError> {
        let linked = match verdict {
            Verdict::Charged(object) if object == stranger.object => true,
            Verdict::NotCharged => false,
            Verdict::Charged(_) | Verdict::Executed(_) | Verdict::NotExecuted | Verdict::RefundExtra => {
                return refused(format!(
                    "a stranger's money pays the order it names (--charged {}), or is none of ours (--not-charged)",
                    stranger.object
                ));
            }
        };
        let was_paid = match &stranger.order {
            Some(order) => {
                let found = self.store.order(stranger.tenant.clone(), order.clone()).await?;
                found.is_some_and(|(checkout, _)| checkout.status == CheckoutStatus::Paid)
            }
            None => false,
        };
        let taken = if linked {
            self.link(stranger, grounds).await?
        } else {
            self.may_let_go(stranger, grounds).await?
        };
        if let Err(words) = taken {
            return refused(words);
        }
        if linked {
            // Before its own row: who dies here is asked for by it again.
            self.release_elsewhere(&stranger.tenant, &stranger.account, &stranger.object).await?;
        }
        let resolution = Resolution { linked, reason: grounds.to_string() };
        if !self.store.resolve_stranger(stranger.clone(), resolution).await? {
            return refused("somebody was first");
        }
        let (object, order) =
            (&stranger.object, stranger.order.as_ref().map_or("any order", OrderId::as_str));
        let again = if was_paid { "" } else { ", which can be paid again" };
        let whose = format!("merchant {} ({})", stranger.tenant.merchant, stranger.tenant.mode.as_str());
        done(match linked {
            true if was_paid => {
                format!("{object} is one more charge of order {order} of {whose}, which was paid already")
            }
            true => format!("{object} pays order {order} of {whose}"),
            false => format!("{object} has nothing to do with {order} of {whose}{again}"),
        })
    }

    /// The order that a stranger's money may pay, as far as our own rows say, or why it pays none.
    pub async fn payable_by(
        &self,
        stranger: &StrangerRecord,
    ) -> Result<Result<(CheckoutRecord, IntentRecord), String>, EngineError> {
        let Some(order) = &stranger.order else {
            return Ok(Err("it names no order; release it by --not-charged".to_owned()));
        };
        if let Some(what) = self.recorded_for(stranger, order).await? {
            return Ok(Err(format!("its money was recorded for {what}; release it by --not-charged")));
        }
        let found = self.store.order(stranger.tenant.clone(), order.clone()).await?;
        let Some((checkout, intent)) = found else {
            return Ok(Err(format!("there is no checkout for {order}; make one, then link it")));
        };
        if checkout.amount != stranger.amount {
            return Ok(Err(costs_another_sum(&checkout, stranger.amount)));
        }
        if !self.can_ask_about(stranger).await? {
            let account = stranger.account.as_str();
            return Ok(Err(format!(
                "account {account} is not the merchant's any more, and cannot be asked: make it the merchant's again, or release \
                 it by --not-charged"
            )));
        }
        Ok(Ok((checkout, intent)))
    }

    /// What the provider shows of a stranger now, in words; none where it does not. Its row does not tell whether it was given back.
    pub async fn shown_of(&self, stranger: &StrangerRecord) -> Result<Option<String>, EngineError> {
        if !self.can_ask_about(stranger).await? {
            return Ok(None);
        }
        let Ok((account, _)) = self.current_account(&stranger.tenant).await else { return Ok(None) };
        let Reply::Object(seen) = self.provider.query(&account, &stranger.object).await else {
            return Ok(None);
        };
        let back = if seen.given_back { ", and all of it was given back" } else { "" };
        Ok(Some(format!("{}, {}{back}", status_words(&seen.status), seen.amount)))
    }

    /// When a stranger that waits cannot take money any more.
    pub fn is_over_at(&self, stranger: &StrangerRecord) -> Timestamp {
        self.over_at(stranger.found_at)
    }

    /// For what a stranger's money was recorded already, be it for another merchant with the same account; but for this order.
    async fn recorded_for(
        &self,
        stranger: &StrangerRecord,
        order: &OrderId,
    ) -> Result<Option<String>, EngineError> {
        let StrangerRecord { tenant, account, object, .. } = stranger;
        let standing = self.store.standing(tenant.clone(), account.clone(), object.clone(), None).await?;
        let Some(charge) = standing.charge else {
            return self.counted_elsewhere(tenant, account, object).await;
        };
        let found = self.store.order(tenant.clone(), order.clone()).await?;
        let is_orders = found.is_some_and(|(checkout, _)| checkout.id == charge.checkout);
        Ok((!is_orders).then(|| format!("{} meanwhile", charge.checkout)))
    }

    /// Whether a stranger's account is still the merchant's: only then the provider can be asked about it.
    pub async fn can_ask_about(&self, stranger: &StrangerRecord) -> Result<bool, EngineError> {
        let merchant = self.directory.merchant(&stranger.tenant).await?;
        Ok(merchant.is_some_and(|merchant| merchant.account == stranger.account))
    }

    /// Whether a stranger may be let go of, or why not: what still waits at the provider may take the shopper's money after the order
    /// was paid again, and what took money meanwhile was not what the person saw.
    async fn may_let_go(
        &self,
        stranger: &StrangerRecord,
        grounds: &Grounds,
    ) -> Result<Result<(), String>, EngineError> {
        if planted::is(Fault::LetGoUnasked) {
            return Ok(Ok(()));
        }
        if stranger.untold && !planted::is(Fault::LetGoUntold) {
            return self.tell_taken(stranger, stranger.amount).await.map(Err);
        }
        if stranger.took_money {
            return Ok(Ok(()));
        }
        let (over_at, now) = (self.is_over_at(stranger), self.now_of(stranger).await?);
        if !self.can_ask_about(stranger).await? {
            if grounds.evidence.is_some() || now >= over_at {
                return Ok(Ok(()));
            }
            return Ok(Err(format!(
                "it may still take money until {over_at}, and its account {} is not the merchant's any more, so that it cannot be asked: \
                 make it the merchant's again, or say by --evidence what shows that it ended",
                stranger.account.as_str()
            )));
        }
        let (account, _) = self.current_account(&stranger.tenant).await?;
        let Reply::Object(seen) = self.provider.query(&account, &stranger.object).await else {
            return Ok(if now < over_at {
                Err(format!(
                    "{NOT_SHOWN}. It may still take money until {over_at}; from then on --evidence counts, which shows that it ended"
                ))
            } else if grounds.evidence.is_none() {
                Err(format!("{NOT_SHOWN}, or say by --evidence what shows that it ended"))
            } else {
                Ok(())
            });
        };
        let StrangerRecord { tenant, account, object, .. } = stranger.clone();
        let standing = self.store.standing(tenant, account, object, seen.intent).await?;
        let asked_for = standing
            .intent
            .filter(|(intent, operation)| !is_strange(intent, operation, &stranger.account, &seen));
        Ok(match (&seen.status, asked_for) {
            (ObjectStatus::Succeeded, Some((intent, _))) => Err(format!(
                "it took the money that {} asked for, and is counted for its order by the next sweep",
                intent.id
            )),
            (ObjectStatus::Succeeded, None) if !seen.given_back => {
                Err(self.tell_taken(stranger, seen.amount).await?)
            }
            (ObjectStatus::Succeeded, None) | (ObjectStatus::Ended(_), _) => Ok(()),
            (ObjectStatus::Pending { .. } | ObjectStatus::WaitingForCapture, _) => Err(format!(
                "it may still take money: it is {}. End it at the provider, or wait: it ends by itself, and frees its order then",
                status_words(&seen.status)
            )),
        })
    }

    /// Tells whoever speaks of a stranger that it took this sum since it was found: he may speak of money that was only held.
    async fn tell_taken(&self, stranger: &StrangerRecord, amount: Money) -> Result<String, EngineError> {
        let told = StrangerRecord { amount, took_money: true, untold: false, ..stranger.clone() };
        self.store.stranger_took_money(told).await?;
        Ok(format!(
            "it took {amount} after it was found, of which the word that nothing was charged may know nothing. If that is none of this \
             shop's money, say --not-charged once more; if it pays the order, --charged {}",
            stranger.object
        ))
    }

    /// The stranger's money pays the order it names.
    async fn link(
        &self,
        stranger: &StrangerRecord,
        grounds: &Grounds,
    ) -> Result<Result<(), String>, EngineError> {
        let (checkout, intent) = match self.payable_by(stranger).await? {
            Ok(found) => found,
            Err(words) => return Ok(Err(words)),
        };
        let (account, _) = self.current_account(&stranger.tenant).await?;
        let (amount, why) = match self.provider.query(&account, &stranger.object).await {
            Reply::Object(mut seen) => {
                if planted::is(Fault::LinkedUnasked) {
                    seen.amount = stranger.amount;
                }
                match pays_nothing(&seen, &checkout, grounds) {
                    Some(words) => return Ok(Err(words)),
                    None => (seen.amount, String::new()),
                }
            }
            reply @ (Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. }) => {
                if let Some(words) = self.unbelievable(stranger, &account, &reply, grounds).await? {
                    return Ok(Err(words));
                }
                (stranger.amount, format!(" ({TURNED_AWAY})"))
            }
        };
        let claimed = match self.claim_look(&stranger.tenant, LookOf::Intent(intent.id)).await? {
            Looking::Claimed(claimed) => *claimed,
            Looking::Held | Looking::NotFound => return Ok(Err(HELD.to_owned())),
        };
        let state = claimed.intent.state.name().as_str();
        let mut hand = InHand::new(&claimed, stranger.account.clone());
        hand.changes.push(Change {
            from: state,
            event: "stranger_linked".to_owned(),
            to: state,
            evidence: format!("a person: object {} pays {}: {grounds}{why}", stranger.object, checkout.order),
        });
        hand.charges.push(Charge {
            account: stranger.account.clone(),
            object: stranger.object.clone(),
            amount,
        });
        // Somebody else came between: the stranger goes on blocking its order.
        Ok(if self.write_look(&claimed, hand, Some(&account)).await? { Ok(()) } else { Err(HELD.to_owned()) })
    }

    /// Why a person is not believed that a stranger's money, which the provider does not show, pays its order.
    async fn unbelievable(
        &self,
        stranger: &StrangerRecord,
        account: &Account,
        reply: &Reply,
        grounds: &Grounds,
    ) -> Result<Option<String>, EngineError> {
        if !self.turns_away(account, reply, stranger.found_at).await {
            return Ok(Some(NOT_SHOWN.to_owned()));
        }
        let now = self.now_of(stranger).await?;
        let sure_at = match stranger.took_money {
            true => self.key_dead_at(stranger.found_at),
            false => self.is_over_at(stranger),
        };
        Ok(if now < sure_at {
            let left = waiting(sure_at, now);
            Some(format!("{TURNED_AWAY}: correct its secret, or wait {left}: then evidence counts"))
        } else if grounds.evidence.is_none() {
            Some(format!(
                "{TURNED_AWAY}; say by --evidence what shows that {} took the money",
                stranger.object
            ))
        } else {
            None
        })
    }

    async fn now_of(&self, stranger: &StrangerRecord) -> Result<Timestamp, EngineError> {
        Ok(self.store.sweep(stranger.tenant.clone(), stranger.account.clone()).await?.1)
    }
}

/// Why what the provider shows does not pay that order.
fn pays_nothing(seen: &Observation, checkout: &CheckoutRecord, grounds: &Grounds) -> Option<String> {
    if seen.status != ObjectStatus::Succeeded {
        Some(format!("it took no money: it is {}", status_words(&seen.status)))
    } else if seen.amount != checkout.amount {
        Some(costs_another_sum(checkout, seen.amount))
    } else if seen.given_back && grounds.evidence.is_none() {
        Some(format!(
            "all of it was given back at the provider: release it by --not-charged. If {} was shipped all the same, say by --evidence \
             what shows it",
            checkout.order
        ))
    } else {
        None
    }
}

fn costs_another_sum(checkout: &CheckoutRecord, taken: Money) -> String {
    format!("{} costs {}, and {taken} was taken", checkout.order, checkout.amount)
}
