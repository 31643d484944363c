//! Effects: each once, whatever reports the payment; webhooks until they are taken, mails never twice.

mod given_up;
mod untrue;

use engine::{Resolved, Submission, Verdict};
use payment::{CheckoutStatus, EffectKind, Ending, Money, ObjectStatus, OrderId, StateName};
use store::{EffectRecord, EffectState, MerchantRecord, WebhookRecord};

use crate::{
    bank::Fault,
    flaky::{Call, Flaky, When},
    merchant::{ACCOUNT, merchant, tenant},
    outside::Mood,
    review::resolve,
    scenarios,
    world::{DAY, EXECUTE_MS, HOUR, LEASE_MS, MINUTE, Offer, SECOND, World, claimed, rub},
};

scenarios! {
    r20_a_payment_is_told_once_and_receipted_once,
    r20_fault_57_whatever_reports_the_payment_one_mail_and_one_webhook,
    r19_a_commit_that_is_lost_loses_no_effect_and_doubles_none,
    fault_63_two_charges_are_told_once,
    what_is_found_out_later_is_receipted_and_not_explained,
    a_decline_at_once_is_told_to_nobody,
    a_decline_after_a_wait_is_told_to_the_shopper,
    what_is_never_executed_is_told_to_the_shopper,
    r20_a_shopper_who_has_paid_is_not_told_that_no_money_was_taken,
    a_decline_that_a_later_holder_learns_is_told_to_the_shopper,
    the_sum_told_is_the_one_that_was_taken,
    a_sum_that_a_person_judged_is_told_as_it_was_taken,
    what_fails_before_the_send_is_sent_later,
    nobody_is_written_to_without_an_address,
    fault_56_a_webhook_is_sent_again_under_the_same_id,
    fault_56_a_mail_in_mid_send_is_never_sent_again,
    a_mail_without_an_answer_is_never_sent_again,
    fault_58_an_endpoint_down_for_two_days_hears_in_the_end,
    what_nobody_takes_for_three_days_is_given_up,
    an_outage_of_our_own_gives_nothing_up,
    fault_31_a_clock_that_jumps_gives_nothing_up,
    what_is_refused_for_good_is_given_up_at_once,
    r14_a_stale_holder_writes_nothing,
    without_a_way_out_nothing_is_wanted,
    waits_grow_to_an_hour,
}

const ADDRESS: &str = "anna@example.com";

/// Opens an order whose shopper leaves an address, and submits it.
async fn pay_with_address(world: &World, order: &str) -> Offer {
    let engine = world.engine();
    let offer = world.offer(&engine, order).await;
    let submission = Submission { email: Some(ADDRESS.into()), ..offer.submission("tok_1") };
    let claim = claimed(engine.submit(submission).await.unwrap());
    engine.drive(claim).await.unwrap();
    offer
}

impl World {
    async fn effects(&self, offer: &Offer) -> Vec<EffectRecord> {
        self.store.effects(tenant(), offer.intent.id).await.unwrap()
    }

    async fn effect(&self, offer: &Offer, kind: EffectKind) -> EffectRecord {
        let found = self.effects(offer).await.into_iter().find(|effect| effect.kind == kind);
        found.unwrap_or_else(|| panic!("no {}", kind.as_str()))
    }

    /// Delivers until nothing waits any more; how often it was tried.
    async fn deliver_all(&self, offer: &Offer) -> usize {
        let (engine, mut tries) = (self.engine(), 0);
        while let Some(at) = self.effects(offer).await.iter().filter_map(|effect| effect.wake_at).min() {
            self.clock.advance(at.since_ms(self.clock.now()).max(0));
            tries += engine.deliver_due(10).await.unwrap();
        }
        tries
    }

    /// The sums that were told, by webhooks and by mails.
    fn told(&self) -> Vec<Money> {
        let webhooks = self.outside.webhooks().into_iter().map(|webhook| webhook.amount);
        webhooks.chain(self.outside.mails().into_iter().map(|mail| mail.amount)).collect()
    }

    /// How many webhooks and mails arrived.
    fn arrived(&self) -> (usize, usize) {
        (self.outside.webhooks().len(), self.outside.mails().len())
    }
}

async fn r20_a_payment_is_told_once_and_receipted_once(world: World) {
    let offer = pay_with_address(&world, "1").await;
    let engine = world.engine();
    assert_eq!(engine.deliver_due(10).await.unwrap(), 2);
    assert_eq!(engine.deliver_due(10).await.unwrap(), 0, "what was delivered is over");
    let (webhook, mail) = (world.outside.webhooks().remove(0), world.outside.mails().remove(0));
    assert_eq!(world.arrived(), (1, 1));
    assert_eq!((webhook.kind, webhook.checkout.id), (EffectKind::CheckoutPaid, offer.checkout.id));
    assert_eq!(webhook.checkout.status, CheckoutStatus::Paid);
    assert_eq!((mail.kind, mail.to.as_str(), mail.shop.as_str()), (EffectKind::Receipt, ADDRESS, "Zerno"));
    assert!(mail.status_url.contains("/status?token=ct_"), "{}", mail.status_url);
    for effect in world.effects(&offer).await {
        assert_eq!((effect.state, effect.tries, effect.lease), (EffectState::Delivered, 1, None));
        assert_eq!(effect.outcome.as_deref(), Some("taken"));
    }
}

/// The response and a query of another worker see the same object; both would tell of it.
async fn r20_fault_57_whatever_reports_the_payment_one_mail_and_one_webhook(world: World) {
    let (slow, quick) = (world.engine(), world.engine());
    let offer = world.offer(&slow, "1").await;
    let submission = Submission { email: Some(ADDRESS.into()), ..offer.submission("tok_1") };
    let claim = claimed(slow.submit(submission).await.unwrap());
    world.clock.advance(LEASE_MS);
    let taken = quick.claim_due(1, Vec::new()).await.unwrap().remove(0);
    quick.drive(taken).await.unwrap();
    slow.drive(claim).await.unwrap();
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    world.deliver_all(&offer).await;
    assert_eq!(world.arrived(), (1, 1));
}

async fn r19_a_commit_that_is_lost_loses_no_effect_and_doubles_none(world: World) {
    for (order, when) in [("1", When::Before), ("2", When::After)] {
        let mut engine = world.engine();
        let offer = world.offer(&engine, order).await;
        let claim = world.claim(&engine, &offer).await;
        engine.store = Flaky::new(world.store.clone(), &[(Call::Commit, when), (Call::Commit, when)]);
        assert!(engine.drive(claim).await.is_err(), "its commit is lost twice");
        let before = world.effects(&offer).await.len();
        assert_eq!(before, usize::from(when == When::After), "the effect is there exactly if the change is");
        world.clock.advance(LEASE_MS);
        world.settle(&world.engine()).await;
        assert_eq!(world.effects(&offer).await.len(), 1);
        world.deliver_all(&offer).await;
    }
    assert_eq!(world.arrived(), (2, 0));
}

/// The key is forgotten by the bank between two sends: two objects, both took money.
async fn fault_63_two_charges_are_told_once(world: World) {
    world.bank.next([Fault::LoseAnswer, Fault::LoseAnswer]);
    let offer = pay_with_address(&world, "1").await;
    world.bank.forget_keys();
    world.wake(&world.engine(), &offer).await;
    world.clock.advance(EXECUTE_MS);
    world.settle(&world.engine()).await;
    assert_eq!(world.bank.charges(), 2);
    world.deliver_all(&offer).await;
    assert_eq!(world.arrived(), (1, 1));
}

async fn what_is_found_out_later_is_receipted_and_not_explained(world: World) {
    world.bank.next([Fault::LoseAnswer]);
    let offer = pay_with_address(&world, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    assert_eq!(world.effects(&offer).await, [], "nothing is known yet");
    world.settle(&world.engine()).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    world.deliver_all(&offer).await;
    assert_eq!(world.arrived(), (1, 1));
    assert_eq!(world.outside.mails()[0].kind, EffectKind::Receipt, "a receipt says it all");
}

async fn a_decline_at_once_is_told_to_nobody(world: World) {
    world.bank.decides(ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() }));
    let offer = pay_with_address(&world, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Declined);
    assert_eq!(world.effects(&offer).await, []);
}

async fn a_decline_after_a_wait_is_told_to_the_shopper(world: World) {
    world.bank.decides(ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() }));
    world.bank.next([Fault::LoseAnswer]);
    let offer = pay_with_address(&world, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.settle(&world.engine()).await;
    assert_eq!(world.state(&offer).await, StateName::Declined);
    world.deliver_all(&offer).await;
    assert_eq!(world.arrived(), (0, 1));
    let mail = world.outside.mails().remove(0);
    assert_eq!((mail.kind, mail.intent.id), (EffectKind::ResultKnown, offer.intent.id));
}

/// It stays `processing` until nothing more may be sent: its page said all the time that we write.
async fn what_is_never_executed_is_told_to_the_shopper(world: World) {
    world.bank.every(Some(Fault::NotSent));
    let offer = pay_with_address(&world, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Processing);
    assert_eq!(world.effects(&offer).await, []);
    world.settle(&world.engine()).await;
    assert_eq!(world.state(&offer).await, StateName::Canceled);
    let kinds: Vec<_> = world.effects(&offer).await.iter().map(|effect| effect.kind).collect();
    assert_eq!(kinds, [EffectKind::ResultKnown]);
}

/// The mail of the first try waits for the mail server while the second try pays.
async fn r20_a_shopper_who_has_paid_is_not_told_that_no_money_was_taken(world: World) {
    let engine = world.engine();
    world.bank.decides(ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() }));
    world.bank.next([Fault::LoseAnswer]);
    let first = pay_with_address(&world, "1").await;
    world.settle(&engine).await;
    assert_eq!(world.effect(&first, EffectKind::ResultKnown).await.state, EffectState::Waiting);
    let (_, second) = world.try_again(&engine, &first, "again").await;
    let submission = Submission { email: Some(ADDRESS.into()), ..second.submission("tok_2") };
    engine.drive(claimed(engine.submit(submission).await.unwrap())).await.unwrap();
    assert_eq!(world.status(&second).await, CheckoutStatus::Paid);
    world.deliver_all(&first).await;
    world.deliver_all(&second).await;
    let effect = world.effect(&first, EffectKind::ResultKnown).await;
    assert_eq!((effect.state, effect.tries), (EffectState::NotWanted, 1));
    assert_eq!(effect.outcome.as_deref(), Some("the order was paid meanwhile"));
    let mails: Vec<_> = world.outside.mails().iter().map(|mail| mail.kind).collect();
    assert_eq!(mails, [EffectKind::Receipt], "the receipt says it all");
}

/// Taken over and declined in one commit: no row ever said that the result is unknown.
async fn a_decline_that_a_later_holder_learns_is_told_to_the_shopper(world: World) {
    world.bank.decides(ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() }));
    let offer = world.offer(&world.engine(), "1").await;
    let submission = Submission { email: Some(ADDRESS.into()), ..offer.submission("tok_1") };
    drop(claimed(world.engine().submit(submission).await.unwrap()));
    world.wake(&world.engine(), &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Declined);
    let kinds: Vec<_> = world.effects(&offer).await.iter().map(|effect| effect.kind).collect();
    assert_eq!(kinds, [EffectKind::ResultKnown]);
}

/// The order is opened again for less after its first intent was declined; then that one's money comes after all.
async fn the_sum_told_is_the_one_that_was_taken(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() }));
    let offer = pay_with_address(&world, "1").await;
    assert_eq!(world.offer_for(&engine, "1", "1200.00", "again").await.checkout.amount, rub("1200.00"));
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    world.deliver_all(&offer).await;
    assert_eq!(world.told(), [rub("1500.00"); 2]);
}

async fn a_sum_that_a_person_judged_is_told_as_it_was_taken(world: World) {
    let engine = world.engine();
    world.bank.every(Some(Fault::LoseRequest));
    let offer = pay_with_address(&world, "1").await;
    world.settle(&engine).await;
    world.bank.every(None);
    let by_hand = world.bank.stranger_pays(ACCOUNT, &OrderId::parse("till").unwrap(), rub("1499.00"));
    let verdict = Verdict::Charged(by_hand);
    let resolved = resolve(&engine, offer.intent.id, verdict).await;
    assert!(matches!(resolved, Resolved::Done(_)), "{resolved:?}");
    world.deliver_all(&offer).await;
    assert_eq!(world.told(), [rub("1499.00"); 2]);
}

/// A database that is busy, a secret that does not open: nothing has left, so nothing is unknown.
async fn what_fails_before_the_send_is_sent_later(world: World) {
    let offer = pay_with_address(&world, "1").await;
    world.merchants.is_busy(true);
    assert_eq!(world.engine().deliver_due(10).await.unwrap(), 2);
    for effect in world.effects(&offer).await {
        assert_eq!((effect.state, effect.lease, effect.tries), (EffectState::Waiting, None, 1));
        assert_eq!(effect.outcome.as_deref(), Some("not sent: the database is busy"));
        assert!(effect.wake_at.unwrap().since_ms(world.clock.now()) <= SECOND);
    }
    world.merchants.is_busy(false);
    let known = world.merchant().await;
    let sealed_secret = b"written by another server".to_vec();
    let webhook = known.webhook.clone().map(|webhook| WebhookRecord { sealed_secret, ..webhook });
    world.merchants.put(MerchantRecord { webhook, ..known.clone() });
    world.clock.advance(SECOND);
    assert_eq!(world.engine().deliver_due(10).await.unwrap(), 2);
    assert_eq!(world.arrived(), (0, 1), "the mail needs no secret");
    assert_eq!(world.effect(&offer, EffectKind::CheckoutPaid).await.state, EffectState::Waiting);
    world.merchants.put(known);
    world.deliver_all(&offer).await;
    assert_eq!(world.arrived(), (1, 1));
}

async fn nobody_is_written_to_without_an_address(world: World) {
    let offer = world.paying(&world.engine(), "1").await;
    let kinds: Vec<_> = world.effects(&offer).await.iter().map(|effect| effect.kind).collect();
    assert_eq!(kinds, [EffectKind::CheckoutPaid]);
}

/// Its sender dies after the merchant got it, before anything is written.
async fn fault_56_a_webhook_is_sent_again_under_the_same_id(world: World) {
    let offer = world.paying(&world.engine(), "1").await;
    let mut dying = world.engine();
    dying.store = Flaky::new(world.store.clone(), &[(Call::Settle, When::Before); 2]);
    assert!(dying.deliver_due(10).await.is_err(), "it arrives, and nobody writes that down");
    let webhook = world.effect(&offer, EffectKind::CheckoutPaid).await.id;
    assert_eq!(world.engine().deliver_due(10).await.unwrap(), 0, "the lease is respected");
    world.clock.advance(LEASE_MS);
    assert_eq!(world.engine().deliver_due(10).await.unwrap(), 1);
    let ids: Vec<_> = world.outside.webhooks().iter().map(|webhook| webhook.id).collect();
    assert_eq!(ids, [webhook, webhook]);
    let times: Vec<_> = world.outside.webhooks().iter().map(|webhook| webhook.happened_at).collect();
    assert_eq!(times[0], times[1], "what it tells happened once");
    assert_eq!(world.effect(&offer, EffectKind::CheckoutPaid).await.state, EffectState::Delivered);
}

async fn fault_56_a_mail_in_mid_send_is_never_sent_again(world: World) {
    let offer = pay_with_address(&world, "1").await;
    let claims = world.engine().claim_effects(10, Vec::new()).await.unwrap();
    assert_eq!(claims.len(), 2);
    drop(claims);
    world.clock.advance(LEASE_MS);
    world.deliver_all(&offer).await;
    assert_eq!(world.arrived(), (1, 0), "the merchant can tell a repeat, the shopper cannot");
    let receipt = world.effect(&offer, EffectKind::Receipt).await;
    assert_eq!((receipt.state, receipt.tries), (EffectState::DeliveryUnknown, 2));
    assert_eq!(world.store.undelivered_effects(10).await.unwrap(), [receipt], "an operator sees it");
}

async fn a_mail_without_an_answer_is_never_sent_again(world: World) {
    let offer = pay_with_address(&world, "1").await;
    world.outside.is(Mood::FallsSilent);
    world.engine().deliver_due(10).await.unwrap();
    assert_eq!(world.effect(&offer, EffectKind::Receipt).await.state, EffectState::DeliveryUnknown);
    assert_eq!(world.effect(&offer, EffectKind::CheckoutPaid).await.state, EffectState::Waiting);
    world.outside.is(Mood::Takes);
    world.deliver_all(&offer).await;
    assert_eq!(world.arrived(), (2, 1));
}

async fn fault_58_an_endpoint_down_for_two_days_hears_in_the_end(world: World) {
    let offer = world.paying(&world.engine(), "1").await;
    world.outside.is(Mood::Refuses);
    let down_until = world.clock.now().plus_ms(2 * DAY);
    let engine = world.engine();
    while world.clock.now() < down_until {
        let wake_at = world.effect(&offer, EffectKind::CheckoutPaid).await.wake_at.expect("it still waits");
        world.clock.advance(wake_at.since_ms(world.clock.now()));
        assert_eq!(engine.deliver_due(10).await.unwrap(), 1);
    }
    assert_eq!(world.arrived(), (0, 0));
    world.outside.is(Mood::Takes);
    world.clock.advance(HOUR);
    engine.deliver_due(10).await.unwrap();
    assert_eq!(world.arrived(), (1, 0));
    assert_eq!(world.effect(&offer, EffectKind::CheckoutPaid).await.state, EffectState::Delivered);
}

async fn what_nobody_takes_for_three_days_is_given_up(world: World) {
    let offer = world.paying(&world.engine(), "1").await;
    world.outside.is(Mood::Refuses);
    let began = world.clock.now();
    let tries = world.deliver_all(&offer).await;
    let waited_ms = world.clock.now().since_ms(began);
    assert!((3 * DAY..3 * DAY + HOUR).contains(&waited_ms), "{waited_ms} ms");
    assert!((72..300).contains(&tries), "{tries} tries");
    let effect = world.effect(&offer, EffectKind::CheckoutPaid).await;
    assert_eq!((effect.state, effect.outcome.as_deref()), (EffectState::Abandoned, Some("503")));
    assert_eq!(world.store.undelivered_effects(10).await.unwrap(), [effect]);
}

/// Nobody tried for a week: the first refusal after it is the first there was.
async fn an_outage_of_our_own_gives_nothing_up(world: World) {
    let offer = world.paying(&world.engine(), "1").await;
    world.clock.advance(7 * DAY);
    world.outside.is(Mood::Refuses);
    world.engine().deliver_due(10).await.unwrap();
    assert_eq!(world.effect(&offer, EffectKind::CheckoutPaid).await.state, EffectState::Waiting);
    world.outside.is(Mood::Takes);
    world.deliver_all(&offer).await;
    assert_eq!(world.arrived(), (1, 0));
}

/// The endpoint was away for a few seconds, in which the clock said that four days had passed.
async fn fault_31_a_clock_that_jumps_gives_nothing_up(world: World) {
    let (engine, offer) = (world.engine(), world.paying(&world.engine(), "1").await);
    world.outside.is(Mood::Refuses);
    engine.deliver_due(10).await.unwrap();
    world.clock.set_all(4 * DAY);
    engine.deliver_due(10).await.unwrap();
    assert_eq!(world.effect(&offer, EffectKind::CheckoutPaid).await.state, EffectState::Waiting);
    world.outside.is(Mood::Takes);
    world.deliver_all(&offer).await;
    assert_eq!(world.arrived(), (1, 0));
}

async fn what_is_refused_for_good_is_given_up_at_once(world: World) {
    let offer = world.paying(&world.engine(), "1").await;
    world.outside.is(Mood::RefusesForGood);
    assert_eq!(world.deliver_all(&offer).await, 1);
    assert_eq!(world.effect(&offer, EffectKind::CheckoutPaid).await.state, EffectState::Abandoned);
}

async fn r14_a_stale_holder_writes_nothing(world: World) {
    let offer = world.paying(&world.engine(), "1").await;
    let stale = world.engine().claim_effects(1, Vec::new()).await.unwrap().remove(0);
    world.clock.advance(LEASE_MS);
    let newer = world.engine().claim_effects(1, Vec::new()).await.unwrap().remove(0);
    assert_eq!((newer.effect.fence, newer.unanswered), (stale.effect.fence + 1, true));
    world.outside.is(Mood::RefusesForGood);
    world.engine().deliver(stale).await.unwrap();
    assert_eq!(world.effect(&offer, EffectKind::CheckoutPaid).await, newer.effect);
    world.outside.is(Mood::Takes);
    world.engine().deliver(newer).await.unwrap();
    assert_eq!(world.effect(&offer, EffectKind::CheckoutPaid).await.state, EffectState::Delivered);
}

async fn without_a_way_out_nothing_is_wanted(world: World) {
    let offer = pay_with_address(&world, "1").await;
    let silent = merchant(tenant(), ACCOUNT, "secret", &world.vault);
    world.merchants.put(MerchantRecord { webhook: None, ..silent });
    world.outside.has_no_mail();
    world.deliver_all(&offer).await;
    assert_eq!(world.arrived(), (0, 0));
    for effect in world.effects(&offer).await {
        assert_eq!(effect.state, EffectState::NotWanted, "{}", effect.kind.as_str());
    }
    assert_eq!(world.store.undelivered_effects(10).await.unwrap(), [], "nobody is alarmed");
}

async fn waits_grow_to_an_hour(world: World) {
    let offer = world.paying(&world.engine(), "1").await;
    world.outside.is(Mood::Refuses);
    let engine = world.engine();
    let mut waits = Vec::new();
    for _ in 0..15 {
        engine.deliver_due(1).await.unwrap();
        let wake_at = world.effect(&offer, EffectKind::CheckoutPaid).await.wake_at.unwrap();
        waits.push(wake_at.since_ms(world.clock.now()));
        world.clock.advance(wake_at.since_ms(world.clock.now()));
    }
    assert!(waits[0] <= SECOND && waits.iter().max().unwrap() <= &HOUR, "{waits:?}");
    assert!(waits[14] > 10 * MINUTE, "{waits:?}");
}
