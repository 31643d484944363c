//! Effects: written with the change they follow from, once for what they are about; claimed, tried and settled under a fence.

use std::sync::Arc;

use payment::{CanceledReason, CheckoutStatus, EffectId, EffectKind, EffectSubject, Holder, State};
use store::{
    Change, Charge, ClaimEffects, Claimed, ClaimedEffect, Commit, EffectRecord, EffectState, Flow, NextTry,
    Resolution, SettleEffect, SettledEffect, Tables,
};

use crate::{
    commands::{
        LEASE_MS, WAKE_MS, charge, confirming, declined, object, open, open_for, outcome, rub, stranger,
        submit, succeeded, tenant,
    },
    conformance::behaviours,
    world::{DAY, SECOND, World, claimed, uuid},
};

behaviours!(
    r19_a_payment_and_its_effects_are_one_change,
    r20_a_checkout_is_paid_once_whatever_intent_pays_it,
    r19_a_commit_that_is_repeated_emits_nothing_more,
    an_unknown_result_that_ends_without_money_is_told,
    what_was_never_unknown_is_not_explained,
    what_is_processed_for_longer_than_a_submit_waits_is_told,
    what_becomes_unknown_and_ends_in_one_commit_is_told,
    a_follow_ups_unknown_result_is_none_of_the_shoppers,
    the_sum_told_is_the_one_that_was_taken,
    r10_no_money_was_taken_is_not_told_while_a_strangers_money_is_not_settled,
    r10_no_money_was_taken_is_not_told_while_the_next_try_is_under_way,
    a_mail_needs_an_address,
    a_lease_is_respected_until_it_ends,
    no_more_are_claimed_than_asked_for,
    r14_another_fence_settles_nothing,
    what_is_settled_twice_is_settled_once,
    what_is_over_is_never_due,
    undelivered_effects_are_found,
    r20_the_index_refuses_a_second_effect,
    r14_an_effect_is_written_only_under_its_fence_and_while_it_waits,
);

impl World {
    async fn effects(&self, claim: &Claimed) -> Vec<EffectRecord> {
        self.store.effects(tenant(), claim.intent.id).await.unwrap()
    }

    async fn kinds(&self, claim: &Claimed) -> Vec<EffectKind> {
        self.effects(claim).await.iter().map(|effect| effect.kind).collect()
    }

    async fn claim_effects(&self, most: u32) -> Vec<ClaimedEffect> {
        let claim = ClaimEffects { holder: Holder(uuid()), lease_ms: LEASE_MS, most, busy: Vec::new() };
        self.store.claim_effects(claim).await.unwrap()
    }

    async fn settle_effect(&self, claimed: &ClaimedEffect, next: NextTry) -> SettledEffect {
        let effect = &claimed.effect;
        let settle = SettleEffect {
            tenant: effect.tenant.clone(),
            id: effect.id,
            fence: effect.fence,
            outcome: "a test says so".into(),
            next,
        };
        self.store.settle_effect(settle).await.unwrap()
    }
}

const PAID: [EffectKind; 2] = [EffectKind::CheckoutPaid, EffectKind::Receipt];

async fn r19_a_payment_and_its_effects_are_one_change(world: World) {
    let claim = world.sent("order-1").await;
    assert_eq!(world.effects(&claim).await, []);
    world.commit(outcome(&claim, succeeded("object-1"))).await;
    let effects = world.effects(&claim).await;
    assert_eq!(effects.iter().map(|effect| effect.kind).collect::<Vec<_>>(), PAID);
    for effect in effects {
        let subject = EffectSubject::Checkout(claim.checkout.id);
        assert_eq!((effect.id, effect.subject), (EffectId::of(effect.kind, subject), subject));
        assert_eq!((effect.state, effect.tries, effect.intent), (EffectState::Waiting, 0, claim.intent.id));
        assert_eq!((effect.created_at, effect.wake_at), (world.now(), Some(world.now())));
    }
}

async fn r20_a_checkout_is_paid_once_whatever_intent_pays_it(world: World) {
    let first = world.settled("order-1", confirming(None)).await;
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    world.commit(outcome(&asked, declined())).await;
    let second = world.tried_again(first.checkout.id).await;
    let (paid, _) = world.commit(outcome(&second, succeeded("object-2"))).await;
    assert!(paid);
    let told = world.kinds(&second).await;
    assert_eq!(told, PAID);
    let all = world.claim_effects(10).await;
    assert_eq!(all.len(), 3, "and the first intent's mail: {all:?}");
}

async fn r19_a_commit_that_is_repeated_emits_nothing_more(world: World) {
    let claim = world.sent("order-1").await;
    let commit = outcome(&claim, succeeded("object-1"));
    world.commit(commit.clone()).await;
    world.commit(commit).await;
    assert_eq!(world.claim_effects(10).await.len(), 2);
}

async fn an_unknown_result_that_ends_without_money_is_told(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    assert_eq!(world.effects(&claim).await, [], "nothing is known yet");
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    world.commit(outcome(&asked, declined())).await;
    let effects = world.effects(&claim).await;
    assert_eq!(effects.len(), 1);
    assert_eq!(effects[0].kind, EffectKind::ResultKnown);
    assert_eq!(effects[0].subject, EffectSubject::Intent(claim.intent.id));
}

async fn what_was_never_unknown_is_not_explained(world: World) {
    let claim = world.settled("order-1", declined()).await;
    let url = "https://bank.example/3ds".to_owned();
    let action = State::RequiresAction { object: object("object-2"), url };
    let left = world.settled("order-2", action).await;
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    world.commit(outcome(&asked, State::Expired { code: Some("expired_on_confirmation".into()) })).await;
    assert_eq!((world.effects(&claim).await, world.effects(&left).await), (Vec::new(), Vec::new()));
}

/// The page told the shopper to wait, and the row says `processing` all the time.
async fn what_is_processed_for_longer_than_a_submit_waits_is_told(world: World) {
    let ends = [declined(), State::Canceled { reason: CanceledReason::NotExecuted }];
    for (order, end) in ends.into_iter().enumerate() {
        for (waited_ms, told) in [(8_000, 0), (8_001, 1)] {
            let claim = world.sent(&format!("order-{order}-{waited_ms}")).await;
            world.clock.advance(waited_ms);
            world.commit(outcome(&claim, end.clone())).await;
            assert_eq!(world.kinds(&claim).await, vec![EffectKind::ResultKnown; told], "{end:?} {waited_ms}");
        }
    }
}

async fn what_becomes_unknown_and_ends_in_one_commit_is_told(world: World) {
    for unknown in ["confirming", "needs_review"] {
        let claim = world.sent(unknown).await;
        let mut commit = outcome(&claim, declined());
        let step =
            |from, to| Change { from, event: "observed".into(), to, evidence: "a test says so".into() };
        commit.changes = vec![step("processing", unknown), step(unknown, "declined")];
        world.commit(commit).await;
        assert_eq!(world.kinds(&claim).await, [EffectKind::ResultKnown], "{unknown}");
    }
}

/// The shopper sees that the money is held, and waits for nothing.
async fn a_follow_ups_unknown_result_is_none_of_the_shoppers(world: World) {
    let held = world.settled("order-1", State::Authorized { object: object("object-1") }).await;
    let looked = world.looked(held.intent.id).await;
    let reason = CanceledReason::ByProvider { code: "canceled_by_merchant".into() };
    let mut commit = outcome(&looked, State::Canceled { reason });
    let (event, evidence) = ("cancel.taken_over".into(), "a test says so".into());
    commit.changes.push(Change { from: "processing", event, to: "confirming", evidence });
    world.commit(commit).await;
    assert_eq!(world.effects(&held).await, []);
}

/// The first intent's money comes after the order was opened again for another sum.
async fn the_sum_told_is_the_one_that_was_taken(world: World) {
    let first = world.settled("order-1", declined()).await;
    world.store.open_checkout(open_for(tenant(), "again", "order-1", "1200.00")).await.unwrap();
    let late = world.looked(first.intent.id).await;
    assert_eq!((late.checkout.amount, late.intent.amount), (rub("1200.00"), rub("1500.00")));
    // What it took is not even what it asked for.
    let charges = vec![Charge { amount: rub("1500.01"), ..charge(object("object-1")) }];
    let extra = Charge { amount: rub("7.00"), ..charge(object("object-2")) };
    let more = [charges, vec![extra]].concat();
    let commit = Commit { charges: more, ..outcome(&late, late.intent.state.clone()) };
    assert_eq!(world.commit(commit).await, (true, true));
    let told: Vec<_> =
        world.claim_effects(10).await.iter().map(|claim| (claim.effect.kind, claim.amount)).collect();
    assert_eq!(told.len(), 2);
    for paid in PAID {
        assert!(told.contains(&(paid, rub("1500.01"))), "{told:?}");
    }
}

/// Nothing counts as a try until it may be told; what may have left already is no longer held back.
async fn r10_no_money_was_taken_is_not_told_while_a_strangers_money_is_not_settled(world: World) {
    let claim = world.settled("order-1", confirming(None)).await;
    world.clock.advance(WAKE_MS);
    let asked = world.due(1).await.remove(0);
    world.commit(outcome(&asked, declined())).await;
    let other = stranger("stranger-1", Some("order-2"));
    let found = stranger("stranger-2", Some("order-1"));
    world.store.put_stranger(other).await.unwrap();
    world.store.put_stranger(found.clone()).await.unwrap();
    for _ in 0..3 {
        assert_eq!(world.claim_effects(10).await, []);
        let effect = world.effects(&claim).await.remove(0);
        assert_eq!((effect.tries, effect.fence, effect.first_tried_at), (0, 0, None));
        assert_eq!((effect.state, effect.lease), (EffectState::Waiting, None));
        let wake_at = effect.wake_at.unwrap();
        assert!(wake_at > world.now(), "nobody asks for it at once again");
        world.clock.advance(wake_at.since_ms(world.now()));
    }
    let resolution = Resolution { linked: false, reason: "a test says so".into() };
    assert!(world.store.resolve_stranger(found, resolution).await.unwrap());
    let told = world.claim_effects(10).await;
    assert_eq!((told.len(), told[0].effect.kind), (1, EffectKind::ResultKnown));
    world.store.put_stranger(stranger("stranger-3", Some("order-1"))).await.unwrap();
    world.clock.advance(LEASE_MS);
    assert!(world.claim_effects(10).await.remove(0).unanswered, "its sender went silent before it was found");
}

/// The mail was held up, and the shopper tried again: that may have taken the money.
async fn r10_no_money_was_taken_is_not_told_while_the_next_try_is_under_way(world: World) {
    let declines = async |claim: &Claimed| {
        world.commit(outcome(claim, confirming(None))).await;
        world.clock.advance(WAKE_MS);
        let asked = world.due(1).await.remove(0);
        world.commit(outcome(&asked, declined())).await;
    };
    let first = world.sent("order-1").await;
    declines(&first).await;
    let again = world.tried_again(first.checkout.id).await;
    assert_eq!(world.claim_effects(10).await, []);
    declines(&again).await;
    world.clock.advance(60 * SECOND);
    let told: Vec<_> = world.claim_effects(10).await.iter().map(|told| told.effect.kind).collect();
    assert_eq!(told, [EffectKind::ResultKnown; 2]);
}

async fn a_mail_needs_an_address(world: World) {
    let mut command = open("key", "order-1");
    command.terms.email = None;
    world.store.open_checkout(command).await.unwrap();
    let (checkout, intent) = world.order("order-1").await.unwrap();
    let claim = claimed(world.store.submit(submit(&checkout, &intent)).await.unwrap());
    world.commit(outcome(&claim, succeeded("object-1"))).await;
    assert_eq!(world.kinds(&claim).await, [EffectKind::CheckoutPaid]);
}

async fn a_lease_is_respected_until_it_ends(world: World) {
    world.settled("order-1", succeeded("object-1")).await;
    let first = world.claim_effects(1).await.remove(0);
    assert_eq!((first.effect.fence, first.effect.tries, first.unanswered), (1, 1, false));
    assert_eq!(first.effect.first_tried_at, Some(world.now()));
    assert_eq!(first.checkout.status, CheckoutStatus::Paid);
    assert_eq!(world.claim_effects(10).await.len(), 1, "the other one");
    world.clock.advance(LEASE_MS - 1);
    assert_eq!(world.claim_effects(10).await, []);
    world.clock.advance(1);
    let again = world.claim_effects(10).await;
    let again = again.iter().find(|claim| claim.effect.id == first.effect.id).unwrap();
    assert!(again.unanswered, "nobody knows whether the first try arrived");
    assert_eq!((again.effect.fence, again.effect.tries), (2, 2));
    assert_eq!(again.effect.first_tried_at, first.effect.first_tried_at);
}

async fn no_more_are_claimed_than_asked_for(world: World) {
    world.settled("order-1", succeeded("object-1")).await;
    world.clock.advance(1);
    world.settled("order-2", succeeded("object-2")).await;
    assert_eq!(world.claim_effects(0).await, []);
    let claims = world.claim_effects(3).await;
    assert_eq!(claims.len(), 3);
    let created: Vec<_> = claims.iter().map(|claim| claim.effect.created_at).collect();
    assert!(created.is_sorted(), "the earliest come first: {created:?}");
    assert_eq!(world.claim_effects(3).await.len(), 1);
}

async fn r14_another_fence_settles_nothing(world: World) {
    let payment = world.settled("order-1", succeeded("object-1")).await;
    let stale = world.claim_effects(1).await.remove(0);
    world.clock.advance(LEASE_MS);
    let newer = world.claim_effects(10).await;
    let newer = newer.iter().find(|claim| claim.effect.id == stale.effect.id).unwrap();
    let delivered = NextTry::Never(EffectState::Delivered);
    assert_eq!(world.settle_effect(&stale, delivered).await, SettledEffect::Stale);
    assert!(world.effects(&payment).await.contains(&newer.effect), "nothing was written");
    assert_eq!(world.settle_effect(newer, NextTry::In(WAKE_MS)).await, SettledEffect::Done);
    assert_eq!(world.settle_effect(&stale, delivered).await, SettledEffect::Stale);
}

async fn what_is_settled_twice_is_settled_once(world: World) {
    let payment = world.settled("order-1", succeeded("object-1")).await;
    let claim = world.claim_effects(1).await.remove(0);
    assert_eq!(world.settle_effect(&claim, NextTry::In(WAKE_MS)).await, SettledEffect::Done);
    let written = world.effects(&payment).await;
    world.clock.advance(1);
    assert_eq!(world.settle_effect(&claim, NextTry::In(WAKE_MS)).await, SettledEffect::Done);
    assert_eq!(world.effects(&payment).await, written);
    let effect = written.iter().find(|effect| effect.id == claim.effect.id).unwrap();
    assert_eq!((effect.lease, effect.state), (None, EffectState::Waiting));
    assert_eq!(effect.outcome.as_deref(), Some("a test says so"));
    assert_eq!(effect.wake_at, Some(claim.now.plus_ms(WAKE_MS)));
}

async fn what_is_over_is_never_due(world: World) {
    for (order, state) in EffectState::ALL.into_iter().enumerate() {
        if state == EffectState::Waiting {
            continue;
        }
        let payment = world.settled(&order.to_string(), succeeded(&format!("object-{order}"))).await;
        for claim in world.claim_effects(10).await {
            assert_eq!(world.settle_effect(&claim, NextTry::Never(state)).await, SettledEffect::Done);
        }
        world.clock.advance(10 * DAY);
        assert_eq!(world.claim_effects(10).await, [], "{}", state.as_str());
        for effect in world.effects(&payment).await {
            assert_eq!((effect.state, effect.wake_at, effect.lease), (state, None, None));
        }
    }
}

async fn undelivered_effects_are_found(world: World) {
    world.settled("order-1", succeeded("object-1")).await;
    world.settled("order-2", succeeded("object-2")).await;
    let ends = [
        EffectState::Delivered,
        EffectState::Abandoned,
        EffectState::NotWanted,
        EffectState::DeliveryUnknown,
    ];
    for (claim, state) in world.claim_effects(4).await.iter().zip(ends) {
        world.settle_effect(claim, NextTry::Never(state)).await;
    }
    let mut found: Vec<_> = world
        .store
        .undelivered_effects(10)
        .await
        .unwrap()
        .iter()
        .map(|effect| effect.state.as_str())
        .collect();
    found.sort_unstable();
    assert_eq!(found, ["abandoned", "delivery_unknown"]);
    assert_eq!(world.store.undelivered_effects(1).await.unwrap().len(), 1);
}

/// The guard by itself: the flow looks before it writes.
async fn r14_an_effect_is_written_only_under_its_fence_and_while_it_waits(world: World) {
    world.settled("order-1", succeeded("object-1")).await;
    let held = world.claim_effects(1).await.remove(0).effect;
    let over = EffectRecord { state: EffectState::Delivered, lease: None, wake_at: None, ..held.clone() };
    for (fence, written) in [(held.fence - 1, false), (held.fence, true), (held.fence, false)] {
        let row = over.clone();
        let write: Flow<bool> = Arc::new(move |tables: &mut dyn Tables| {
            let row = row.clone();
            Box::pin(async move { tables.update_effect(&row, fence).await })
        });
        assert_eq!(world.write(write).await.unwrap(), written);
    }
}

/// Whatever wrote the first: not even another id makes a second one.
async fn r20_the_index_refuses_a_second_effect(world: World) {
    let payment = world.settled("order-1", succeeded("object-1")).await;
    let there = world.effects(&payment).await.remove(0);
    let twins = [there.clone(), EffectRecord { id: EffectId(uuid()), ..there.clone() }];
    for twin in twins {
        let insert: Flow<bool> = Arc::new(move |tables: &mut dyn Tables| {
            let twin = twin.clone();
            Box::pin(async move { tables.insert_effect(&twin).await })
        });
        assert!(!world.write(insert).await.unwrap());
    }
    assert_eq!(world.effects(&payment).await[0], there);
}
