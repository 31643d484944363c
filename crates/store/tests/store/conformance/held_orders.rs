//! What else keeps a request from leaving: a stranger's money for the order, and a checkout that is paid already.

use payment::{CheckoutStatus, Event, Mode, NotExecutedReason, State, Step};
use store::{Claimed, KnownKey, Resolution, StrangerRecord, Submitted};

use crate::{
    commands::{
        WAKE_MS, charge, confirming, declined, object, outcome, refund, rub, stranger, submit, succeeded,
        tenant_of,
    },
    conformance::behaviours,
    world::{SECOND, World, after},
};

behaviours!(
    fault_23_a_stranger_holds_its_order_and_no_other,
    fault_23_a_stranger_holds_what_waits_to_be_sent_again,
    fault_23_a_stranger_holds_an_order_that_is_made_later,
    fault_23_a_persons_word_frees_the_order_once,
    fault_23_any_open_stranger_holds,
    fault_23_a_stranger_is_found_once,
    fault_23_what_is_a_charge_is_no_stranger,
    fault_23_another_tenants_stranger_holds_nothing_here,
    fault_23_a_stranger_that_waits_is_asked_about_until_it_takes_money_or_ends,
    fault_23_who_speaks_of_a_stranger_is_told_once_that_it_took_money,
    fault_23_a_stranger_that_is_charged_is_linked_as_whatever_it_was_read,
    a_stranger_does_not_hold_refunds,
    fault_63_once_paid_a_second_intent_that_waits_is_never_sent,
    fault_63_once_paid_a_second_intent_that_is_unknown_is_only_asked_about,
);

impl World {
    async fn meets(&self, found: &StrangerRecord) -> bool {
        self.store.put_stranger(found.clone()).await.unwrap()
    }

    async fn resolves(&self, found: &StrangerRecord, linked: bool) -> bool {
        let resolution = Resolution { linked, reason: "a person says so".into() };
        self.store.resolve_stranger(found.clone(), resolution).await.unwrap()
    }

    /// Sent, and definitely not executed: it waits to be sent again.
    async fn unsent(&self, claim: &Claimed) {
        let retry = after(claim, Event::NotExecuted(NotExecutedReason::RateLimited));
        self.commit(outcome(claim, retry)).await;
    }

    async fn submission_waits(&self, order: &str) -> bool {
        let (checkout, intent) = self.offer(order).await;
        let submitted = self.store.submit(submit(&checkout, &intent)).await.unwrap();
        let waits = matches!(submitted, Submitted::Known(KnownKey::Same { answer: None, .. }));
        assert!(waits || matches!(submitted, Submitted::Claimed(_)), "{submitted:?}");
        waits
    }
}

async fn fault_23_a_stranger_holds_its_order_and_no_other(world: World) {
    let found = stranger("stranger-1", Some("order-1"));
    assert!(world.meets(&found).await);
    assert!(world.meets(&stranger("stranger-2", None)).await);
    assert!(world.submission_waits("order-1").await);
    assert!(!world.submission_waits("order-2").await);
    world.clock.advance(SECOND);
    assert!(world.due(10).await.is_empty());
    let intent = world.order("order-1").await.unwrap().1;
    assert!(world.story(intent.id).await.attempts.is_empty());
    assert!(world.resolves(&found, false).await);
    world.clock.advance(SECOND);
    let sent = world.due(10).await.remove(0);
    assert_eq!((sent.intent.id, sent.step, sent.attempt.unwrap().number), (intent.id, Step::Send, 1));
}

async fn fault_23_a_stranger_holds_what_waits_to_be_sent_again(world: World) {
    for order in ["order-1", "order-2"] {
        let claim = world.sent(order).await;
        world.unsent(&claim).await;
    }
    world.meets(&stranger("stranger-1", Some("order-1"))).await;
    world.clock.advance(WAKE_MS);
    let due = world.due(10).await;
    let orders: Vec<_> = due.iter().map(|claim| claim.checkout.order.as_str()).collect();
    assert_eq!(orders, ["order-2"]);
}

async fn fault_23_a_stranger_holds_an_order_that_is_made_later(world: World) {
    world.meets(&stranger("stranger-1", Some("order-9"))).await;
    assert!(world.order("order-9").await.is_none());
    assert!(world.submission_waits("order-9").await);
}

async fn fault_23_a_persons_word_frees_the_order_once(world: World) {
    for (id, order, linked) in [("stranger-1", "order-1", true), ("stranger-2", "order-2", false)] {
        let found = stranger(id, Some(order));
        assert!(!world.resolves(&found, linked).await, "nobody was found yet");
        world.meets(&found).await;
        assert!(world.resolves(&found, linked).await);
        assert!(!world.resolves(&found, !linked).await, "the first word stands");
        assert!(!world.meets(&found).await, "it is not found again");
        let of = (found.tenant.clone(), found.account.clone(), found.object.clone());
        let known = world.store.standing(of.0, of.1, of.2, None).await.unwrap().stranger.unwrap();
        let said = Resolution { linked, reason: "a person says so".into() };
        assert_eq!(known.resolution, Some(said));
        assert!(!world.submission_waits(order).await);
    }
}

async fn fault_23_any_open_stranger_holds(world: World) {
    let found = [stranger("stranger-1", Some("order-1")), stranger("stranger-2", Some("order-1"))];
    for stranger in &found {
        assert!(world.meets(stranger).await);
    }
    world.resolves(&found[0], false).await;
    assert!(world.submission_waits("order-1").await);
}

async fn fault_23_a_stranger_is_found_once(world: World) {
    let found = stranger("stranger-1", Some("order-1"));
    world.clock.advance(SECOND);
    assert!(world.meets(&found).await);
    let at = world.now();
    world.clock.advance(SECOND);
    assert!(!world.meets(&StrangerRecord { order: None, ..found.clone() }).await);
    let standing =
        world.store.standing(found.tenant.clone(), found.account.clone(), found.object.clone(), None);
    let known = standing.await.unwrap();
    assert_eq!(known.stranger, Some(StrangerRecord { found_at: at, ..found }));
    assert_eq!((known.intent, known.charge), (None, None));
}

async fn fault_23_what_is_a_charge_is_no_stranger(world: World) {
    let claim = world.settled("order-1", succeeded("object-1")).await;
    let found = stranger("object-1", Some("order-2"));
    assert!(!world.meets(&found).await);
    assert!(!world.submission_waits("order-2").await);
    let of = (found.tenant, found.account, found.object);
    let standing = world.store.standing(of.0, of.1, of.2, Some(claim.intent.id)).await.unwrap();
    assert_eq!(standing.charge.unwrap().intent, claim.intent.id);
    let (intent, operation) = standing.intent.unwrap();
    assert_eq!(intent, world.intent(claim.intent.id).await);
    assert_eq!((operation.id, standing.stranger), (claim.operation.id, None));
    assert_eq!(standing.linked, Some(operation));
}

async fn fault_23_another_tenants_stranger_holds_nothing_here(world: World) {
    for (id, merchant, mode) in [("stranger-1", "mer_2", Mode::Test), ("stranger-2", "mer_1", Mode::Live)] {
        let tenant = tenant_of(merchant, mode);
        assert!(world.meets(&StrangerRecord { tenant, ..stranger(id, Some("order-1")) }).await);
    }
    assert!(!world.submission_waits("order-1").await);
}

async fn fault_23_a_stranger_that_waits_is_asked_about_until_it_takes_money_or_ends(world: World) {
    let waits = |id| StrangerRecord { took_money: false, ..stranger(id, Some("order-1")) };
    let of_others = StrangerRecord { tenant: tenant_of("mer_2", Mode::Test), ..waits("stranger-4") };
    let met = [waits("stranger-1"), waits("stranger-2"), stranger("stranger-3", Some("order-1")), of_others];
    for found in &met {
        assert!(world.meets(found).await);
    }
    let waiting = async |limit| {
        let account = met[0].account.clone();
        let found = world.store.waiting_strangers(met[0].tenant.clone(), account, limit).await.unwrap();
        found.into_iter().map(|found| found.object.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(waiting(9).await, ["stranger-1", "stranger-2"]);
    assert_eq!(waiting(1).await, ["stranger-1"]);
    let part = StrangerRecord { amount: rub("1.00"), ..met[0].clone() };
    assert!(world.store.stranger_took_money(part.clone()).await.unwrap());
    assert!(!world.store.stranger_took_money(met[0].clone()).await.unwrap(), "once");
    let untold = |untold| StrangerRecord { untold, ..part.clone() };
    assert!(!world.store.stranger_took_money(untold(true)).await.unwrap(), "he was told at once");
    let of = (met[0].tenant.clone(), met[0].account.clone(), met[0].object.clone());
    let known = world.store.standing(of.0, of.1, of.2, None).await.unwrap().stranger.unwrap();
    assert!(known.took_money && known.resolution.is_none());
    assert_eq!(known.amount, part.amount, "a part of what was held");
    assert_eq!(waiting(9).await, ["stranger-2"]);
    assert!(world.resolves(&met[1], false).await);
    assert!(!world.store.stranger_took_money(met[1].clone()).await.unwrap(), "it ended");
    assert!(waiting(9).await.is_empty());
    assert!(world.submission_waits("order-1").await);
}

async fn fault_23_who_speaks_of_a_stranger_is_told_once_that_it_took_money(world: World) {
    let waits = StrangerRecord { took_money: false, ..stranger("stranger-1", Some("order-1")) };
    assert!(world.meets(&waits).await);
    let took = async |untold| {
        let taken = StrangerRecord { took_money: true, untold, ..waits.clone() };
        world.store.stranger_took_money(taken).await.unwrap()
    };
    assert!(took(true).await);
    assert!(!took(true).await, "it is news once");
    assert!(!world.resolves(&waits, false).await, "it is not what was read any more");
    assert!(took(false).await);
    assert!(!took(false).await && !took(true).await, "he is told once");
    let of = (waits.tenant.clone(), waits.account.clone(), waits.object.clone());
    let known = world.store.standing(of.0, of.1, of.2, None).await.unwrap().stranger.unwrap();
    assert!(known.took_money && !known.untold);
    assert!(world.resolves(&known, false).await);
}

async fn fault_23_a_stranger_that_is_charged_is_linked_as_whatever_it_was_read(world: World) {
    let waits = StrangerRecord { took_money: false, ..stranger("stranger-1", Some("order-1")) };
    assert!(world.meets(&waits).await);
    let taken = StrangerRecord { took_money: true, untold: true, ..waits.clone() };
    assert!(world.store.stranger_took_money(taken).await.unwrap());
    assert!(world.resolves(&waits, true).await);
}

async fn a_stranger_does_not_hold_refunds(world: World) {
    let claim = world.settled("order-1", succeeded("object-1")).await;
    world.meets(&stranger("stranger-1", Some("order-1"))).await;
    world.followed(refund(&claim.intent, "object-1", "1500.00")).await;
    assert_eq!(world.due(10).await[0].step, Step::Send);
}

/// A first intent that was declined, and a second one that was sent; then the first turns out to have taken the money.
async fn paid_by_the_first(world: &World, second: impl AsyncFnOnce(&Claimed)) -> Claimed {
    let first = world.settled("order-1", declined()).await;
    let again = world.tried_again(first.checkout.id).await;
    second(&again).await;
    let late = world.looked(first.intent.id).await;
    let mut paid = outcome(&late, declined());
    paid.charges = vec![charge(object("object-1"))];
    assert_eq!(world.commit(paid).await, (true, false));
    assert_eq!(world.checkout(first.checkout.id).await.0.status, CheckoutStatus::Paid);
    world.clock.advance(WAKE_MS);
    again
}

async fn fault_63_once_paid_a_second_intent_that_waits_is_never_sent(world: World) {
    let second = paid_by_the_first(&world, async |again| world.unsent(again).await).await;
    let due = world.due(10).await.remove(0);
    assert_eq!(
        (due.intent.id, due.step.clone(), due.attempt.clone()),
        (second.intent.id, Step::EndUnsent, None)
    );
    world.commit(outcome(&due, after(&due, Event::ExecuteUntilPassed))).await;
    assert!(matches!(world.intent(second.intent.id).await.state, State::Canceled { .. }));
}

async fn fault_63_once_paid_a_second_intent_that_is_unknown_is_only_asked_about(world: World) {
    let unknown = async |again: &Claimed| {
        world.commit(outcome(again, confirming(None))).await;
    };
    let second = paid_by_the_first(&world, unknown).await;
    let due = world.due(10).await.remove(0);
    assert_eq!((due.intent.id, due.step.clone(), due.attempt.clone()), (second.intent.id, Step::Find, None));
    assert_eq!(world.commit(outcome(&due, succeeded("object-2"))).await, (false, true));
}
