//! The suspects of a payment in review: what the provider showed for its own object, and what contradicts what was asked for. Each is
//! asked before anybody is believed that no money was taken.

use payment::{Money, ObjectId, ObjectStatus, ProviderAccount, State, Suspect};
use providers::{Account, Reply};
use store::{Claimed, Resolution};

use super::Grounds;
use crate::{Engine, EngineError, observe::status_words};

/// What the suspects of a payment say together.
pub(super) enum Said {
    /// None has taken money, nor will, but for what it gave back; in words that go on from others.
    NotCharged(String),
    /// One took money, or may; in words.
    MayHaveCharged(String),
    /// Not all of them can be asked now.
    Nothing,
}

impl Engine {
    /// What those say that the provider showed for ours.
    pub(super) async fn suspects_said(
        &self,
        claimed: &Claimed,
        account: &Account,
        account_id: &ProviderAccount,
    ) -> Result<Said, EngineError> {
        let (mut all_told, mut given_back) = (true, String::new());
        for Suspect { object: suspect, .. } in claimed.intent.state.suspects() {
            if self.recorded_as(&claimed.operation, account_id, suspect).await?.is_some() {
                continue;
            }
            let Reply::Object(seen) = self.provider.query(account, suspect).await else {
                all_told = false;
                continue;
            };
            match seen.status {
                ObjectStatus::Ended(_) => {}
                ObjectStatus::Succeeded if seen.given_back => given_back += &gave_back(suspect, seen.amount),
                ObjectStatus::Succeeded => return Ok(Said::MayHaveCharged(took_money(suspect, seen.amount))),
                ObjectStatus::Pending { .. } | ObjectStatus::WaitingForCapture => {
                    return Ok(Said::MayHaveCharged(format!(
                        "the provider showed {suspect} for this payment's own, and it may still take money: it is {}. End it there, or wait: it \
                         ends by itself",
                        status_words(&seen.status)
                    )));
                }
            }
        }
        Ok(if all_told { Said::NotCharged(given_back) } else { Said::Nothing })
    }

    /// As what else an object is known. A suspect that a sweep met as well, or the payment's own, is this payment's before it is a
    /// stranger.
    pub(super) async fn known_as_anothers(
        &self,
        claimed: &Claimed,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<String>, EngineError> {
        if is_shown_for(&claimed.intent.state, object) {
            self.recorded_as(&claimed.operation, account, object).await
        } else {
            self.known_as(&claimed.operation, account, object).await
        }
    }

    /// The money of this object is accounted for: a stranger that a sweep took it for waits for nobody any more, here
    /// and with other merchants.
    pub(super) async fn is_no_stranger(
        &self,
        claimed: &Claimed,
        object: &ObjectId,
        grounds: &Grounds,
    ) -> Result<(), EngineError> {
        let Some(frozen) = &claimed.operation.frozen else { return Ok(()) };
        if let Some(stranger) = self.open_stranger(&claimed.intent.tenant, &frozen.account, object).await? {
            let resolution = Resolution { linked: true, reason: grounds.to_string() };
            self.store.resolve_stranger(stranger, resolution).await?;
        }
        self.release_elsewhere(&claimed.intent.tenant, &frozen.account, object).await
    }
}

/// Whether the provider showed this object for the payment's own.
pub(super) fn is_shown_for(state: &State, object: &ObjectId) -> bool {
    state.object() == Some(object) || suspect(state, object).is_some()
}

/// The suspect that this object is.
pub(super) fn suspect<'a>(state: &'a State, object: &ObjectId) -> Option<&'a Suspect> {
    state.suspects().iter().find(|suspect| suspect.object == *object)
}

/// Words for the evidence, which go on from others.
pub(super) fn gave_back(object: &ObjectId, amount: Money) -> String {
    format!(", {object} gave all of its {amount} back")
}

fn took_money(suspect: &ObjectId, amount: Money) -> String {
    format!(
        "the provider showed {suspect} for this payment's own, and it took {amount}: where that is this shopper's money, say \
         `--charged {suspect}`, else give all of it back there first"
    )
}
