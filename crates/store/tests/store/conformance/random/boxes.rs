//! The same of the inbox and the outbox.

use payment::{Holder, MerchantId};
use proptest::prelude::*;
use store::{
    AcceptNotice, Announcement, ClaimEffects, ClaimNotices, EffectState, NextTry, NoticeAbout, NoticeKey,
    NoticeVerdict, SettleEffect, SettleNotice,
};

use super::{Seen, Twins, newest};
use crate::{
    commands::{LEASE_MS, frozen, object, tenant},
    world::{MINUTE, SECOND, uuid},
};

/// Few, so that it is reached.
const MOST_PARKED: u32 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) enum BoxCall {
    Accept {
        intent: usize,
        kind: u8,
        hint: bool,
    },
    ClaimNotices {
        most: u32,
        busy: bool,
    },
    /// What is due is claimed first, or else it is a claim of before.
    SettleNotice {
        claim: Option<usize>,
        verdict: u8,
        stale: bool,
    },
    ClaimEffects {
        most: u32,
        busy: bool,
    },
    SettleEffect {
        claim: Option<usize>,
        state: usize,
        stale: bool,
    },
}

pub(super) fn any_call() -> impl Strategy<Value = BoxCall> {
    let busy = || prop::bool::weighted(0.2);
    let stale = || prop::bool::weighted(0.1);
    let before = || prop::option::weighted(0.3, 0_usize..4);
    prop_oneof![
        3 => (0_usize..8, 0_u8..4, prop::bool::weighted(0.3))
            .prop_map(|(intent, kind, hint)| BoxCall::Accept { intent, kind, hint }),
        2 => (0_u32..3, busy()).prop_map(|(most, busy)| BoxCall::ClaimNotices { most, busy }),
        3 => (before(), 0_u8..5, stale())
            .prop_map(|(claim, verdict, stale)| BoxCall::SettleNotice { claim, verdict, stale }),
        2 => (0_u32..3, busy()).prop_map(|(most, busy)| BoxCall::ClaimEffects { most, busy }),
        3 => (before(), 0_usize..6, stale())
            .prop_map(|(claim, state, stale)| BoxCall::SettleEffect { claim, state, stale }),
    ]
}

impl Twins {
    pub(super) async fn boxes(&self, call: BoxCall, seen: &mut Seen) {
        match call {
            BoxCall::Accept { intent, kind, hint } => self.accept(intent, kind, hint, seen).await,
            BoxCall::ClaimNotices { most, busy } => self.claim_notices(most, busy, seen).await,
            BoxCall::SettleNotice { claim, verdict, stale } => {
                if claim.is_none() {
                    self.claim_notices(1, false, seen).await;
                }
                let Some(claimed) = newest(&seen.notices, claim.unwrap_or(0)) else { return };
                let verdict = match verdict {
                    0 => NoticeVerdict::Done,
                    1 => NoticeVerdict::AskAgain { wake_in_ms: SECOND, looked: false },
                    2 => NoticeVerdict::AskAgain { wake_in_ms: MINUTE, looked: true },
                    _ => NoticeVerdict::Park { wake_in_ms: MINUTE, keep: MOST_PARKED },
                };
                let fence = claimed.notice.fence - i64::from(stale);
                let settle = SettleNotice { key: claimed.notice.key(), fence, verdict };
                self.both(async |store| store.settle_notice(settle.clone()).await).await;
                self.both(async |store| store.notice(settle.key.clone()).await).await;
            }
            BoxCall::ClaimEffects { most, busy } => self.claim_effects(most, busy, seen).await,
            BoxCall::SettleEffect { claim, state, stale } => {
                if claim.is_none() {
                    self.claim_effects(1, false, seen).await;
                }
                let Some(claimed) = newest(&seen.effects, claim.unwrap_or(0)) else { return };
                let over = EffectState::ALL.iter().filter(|state| **state != EffectState::Waiting);
                let next = over.copied().map(NextTry::Never).nth(state).unwrap_or(NextTry::In(MINUTE));
                let settle = SettleEffect {
                    tenant: claimed.effect.tenant.clone(),
                    id: claimed.effect.id,
                    fence: claimed.effect.fence - i64::from(stale),
                    outcome: "a test says so".into(),
                    next,
                };
                self.both(async |store| store.settle_effect(settle.clone()).await).await;
            }
        }
    }

    async fn claim_notices(&self, most: u32, busy: bool, seen: &mut Seen) {
        let claim = ClaimNotices { holder: Holder(uuid()), lease_ms: LEASE_MS, most, busy: busy_with(busy) };
        let due = self.both(async |store| store.claim_notices(claim.clone()).await).await;
        seen.notices.extend(due.unwrap_or_default());
    }

    async fn claim_effects(&self, most: u32, busy: bool, seen: &mut Seen) {
        let claim = ClaimEffects { holder: Holder(uuid()), lease_ms: LEASE_MS, most, busy: busy_with(busy) };
        let due = self.both(async |store| store.claim_effects(claim.clone()).await).await;
        seen.effects.extend(due.unwrap_or_default());
    }

    /// Of an intent's object, or of nobody's; of its refund; with another status; naming the intent, or not.
    async fn accept(&self, intent: usize, kind: u8, hint: bool, seen: &Seen) {
        let Some(id) = seen.intent(intent) else { return };
        let own = object(&format!("object of {id}"));
        let (of, about, status) = match kind {
            0 => (own, NoticeAbout::Payment, "succeeded"),
            1 => (own, NoticeAbout::Payment, "canceled"),
            2 => (object("object of nobody"), NoticeAbout::Payment, "succeeded"),
            _ => (object(&format!("refund of {id}")), NoticeAbout::Refund { payment: own }, "succeeded"),
        };
        let said = Announcement {
            event: format!("object.{status}"),
            object: of,
            about,
            status: status.into(),
            hint: hint.then_some(id),
        };
        let account = frozen("").account;
        let key =
            NoticeKey { merchant: tenant().merchant, account: account.clone(), identity: said.identity() };
        let accept = AcceptNotice { tenant: tenant(), account, said };
        self.both(async |store| store.accept_notice(accept.clone()).await).await;
        self.both(async |store| store.notice(key.clone()).await).await;
    }
}

/// The merchants that are passed over.
fn busy_with(busy: bool) -> Vec<MerchantId> {
    busy.then(|| tenant().merchant).into_iter().collect()
}
