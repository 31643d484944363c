//! The third road of observation, and the gate: after a gap in our own life nothing is dispatched before the account's listing was
//! read to its end (fault 23).

mod left;
mod on_its_way;
mod waiting;

use engine::{Engine, Resolved, SubmitOutcome, Swept, Verdict};
use payment::{
    CheckoutStatus, Holder, ObjectId, ObjectStatus, OperationKind, OrderId, ProviderAccount, StateName,
};
use store::{ClaimLook, LookOf, Looking, Stage};

use crate::{
    bank::{Fault, pending},
    merchant::{ACCOUNT, OTHER_ACCOUNT, merchant, secret_of, tenant, tenant_of},
    review::resolve,
    scenarios,
    world::{DAY, EXECUTE_MS, HOUR, LEASE_MS, MINUTE, Offer, SECOND, SILENCE_MS, World, claimed, known, rub},
};

scenarios! {
    fault_23_a_backup_restored_sends_nothing_before_the_sweep,
    fault_23_a_charge_that_the_backup_forgot_pays_its_order,
    fault_23_a_charge_of_an_order_that_the_backup_forgot_blocks_it_until_it_is_released,
    fault_23_a_charge_of_an_order_that_the_backup_forgot_pays_it_when_it_is_linked,
    fault_23_what_was_in_mid_flight_is_sent_under_its_key,
    what_is_unanswered_is_sent_again_as_soon_as_the_gate_is_up,
    fault_23_nothing_unfinished_is_forgotten_by_a_restore,
    the_gate_is_down_only_after_a_gap,
    without_a_heartbeat_there_is_no_gate,
    while_gated_checkouts_are_made_and_a_submit_waits,
    while_gated_questions_are_asked,
    fault_23_what_the_gate_held_for_too_long_ends_only_when_it_is_up,
    fault_23_what_the_gate_holds_for_a_day_is_a_persons,
    a_sweep_that_fails_keeps_the_gate,
    a_row_that_cannot_be_read_does_not_keep_the_gate,
    what_was_there_before_us_is_no_stranger,
    fault_23_an_object_that_waits_for_a_created_intent_is_adopted,
    fault_23_money_held_for_a_created_intent_is_adopted,
    anothers_lease_makes_a_sweep_incomplete,
    the_gate_is_each_merchants_own,
    a_second_start_does_not_lift_the_gate,
    a_sweep_from_before_a_newer_gap_does_not_lift_the_gate,
    news_is_written_once,
    r25_the_sweep_finds_what_nobody_asked_about,
    the_sweep_finds_a_refund_whose_answer_was_lost,
    strangers_are_only_what_took_money,
    fault_23_money_that_is_held_for_an_order_blocks_it,
    a_stranger_blocks_its_order_and_no_other,
    a_stranger_that_blocks_for_too_long_lets_it_end_unsent,
    what_was_pending_at_the_last_sweep_is_read_again,
    another_merchants_payment_is_none_of_ours,
}

impl World {
    async fn gated(&self, engine: &Engine) -> bool {
        engine.start().await.unwrap()
    }

    /// Nobody was alive for a while.
    async fn after_a_gap(&self, engine: &Engine) {
        engine.start().await.unwrap();
        self.clock.advance(SILENCE_MS + 1);
        assert!(self.gated(engine).await);
    }

    async fn sweeps(&self, engine: &Engine) -> Swept {
        engine.sweep_merchant(&self.merchant().await).await.unwrap()
    }

    /// Lets a worker do all it can for a while; what leaves in that time.
    async fn sends_within(&self, engine: &Engine, ms: i64) -> usize {
        let (before, began) = (self.bank.sends(), self.clock.now());
        while self.clock.now().since_ms(began) < ms {
            while engine.run_once().await.unwrap() {}
            self.clock.advance(SECOND);
        }
        self.bank.sends() - before
    }

    fn stranger(&self, order: &str) -> ObjectId {
        self.bank.stranger_pays(ACCOUNT, &OrderId::parse(order).unwrap(), rub("1500.00"))
    }
}

/// The shopper presses Pay while dispatch has to wait.
async fn submits(engine: &Engine, offer: &Offer) {
    let (seen, answer) = known(engine.submit(offer.submission("tok_1")).await.unwrap());
    assert_eq!((seen.state.name(), answer), (StateName::Processing, None));
}

async fn fault_23_a_backup_restored_sends_nothing_before_the_sweep(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.offer(&engine, "1").await;
    let backup = world.backup().await;
    world.clock.advance(HOUR);
    engine.beat().await.unwrap();
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(world.gated(&engine).await, "the heartbeat is as old as the backup");
    let offer = world.order("1").await;
    submits(&engine, &offer).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.news, swept.strangers), (true, 0, 0));
    assert_eq!(world.sends_within(&engine, MINUTE).await, 1);
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn fault_23_a_charge_that_the_backup_forgot_pays_its_order(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.offer(&engine, "1").await;
    let backup = world.backup().await;
    let offer = world.order("1").await;
    world.pay(&engine, &offer).await;
    world.clock.advance(HOUR);
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(world.gated(&engine).await);
    let page = world.order("1").await;
    assert_eq!(page.intent.state.name(), StateName::Created, "the backup knows nothing of it");
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.news, swept.strangers), (true, 1, 0));
    assert_eq!(world.status(&page).await, CheckoutStatus::Paid);
    let (seen, _) = known(engine.submit(page.submission("tok_2")).await.unwrap());
    assert_eq!(seen.state.name(), StateName::Succeeded, "who presses Pay again is told that it is paid");
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    assert_eq!(world.bank.charges(), 1);
    assert!(world.journal(&page).await.contains(&"anomaly: never_sent".to_owned()));
}

/// The order "1" was made and paid after the backup; the merchant's server asks for its checkout again.
async fn forgotten_order(world: &World) -> (World, Engine, Offer, ObjectId) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let backup = world.backup().await;
    world.paying(&engine, "1").await;
    world.clock.advance(HOUR);
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(world.gated(&engine).await);
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.news, swept.strangers), (true, 0, 1));
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0, "its money may be there already");
    let object = world.bank.objects()[0].id.clone();
    (world, engine, offer, object)
}

async fn fault_23_a_charge_of_an_order_that_the_backup_forgot_blocks_it_until_it_is_released(world: World) {
    let (world, engine, offer, object) = forgotten_order(&world).await;
    let other = world.paying(&engine, "2").await;
    assert_eq!(world.state(&other).await, StateName::Succeeded, "other orders flow");
    let resolved = resolve(&engine, &object, Verdict::NotCharged).await;
    assert!(matches!(resolved, engine::Resolved::Done(_)), "{resolved:?}");
    assert_eq!(world.sends_within(&engine, MINUTE).await, 1);
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn fault_23_a_charge_of_an_order_that_the_backup_forgot_pays_it_when_it_is_linked(world: World) {
    let (world, engine, offer, object) = forgotten_order(&world).await;
    let resolved = resolve(&engine, &object, Verdict::Charged(object.clone())).await;
    assert!(matches!(resolved, engine::Resolved::Done(_)), "{resolved:?}");
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    assert_eq!(world.sends_within(&engine, HOUR).await, 0);
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Canceled, 1));
}

async fn fault_23_what_was_in_mid_flight_is_sent_under_its_key(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::NotSent]);
    world.paying(&engine, "1").await;
    let backup = world.backup().await;
    // It was paid after the backup; the listing shows it late.
    while engine.run_once().await.unwrap() || world.bank.charges() == 0 {
        world.clock.advance(SECOND);
    }
    world.clock.advance(SILENCE_MS + 1);
    let world = world.restored(backup).await;
    let engine = world.engine();
    let offer = world.order("1").await;
    world.bank.listing_lags(EXECUTE_MS);
    assert!(world.gated(&engine).await);
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(world.sends_within(&engine, 10 * SECOND).await, 1, "under the key that it had");
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.bank.objects().len(), world.bank.charges()), (1, 1));
}

/// The gate had it looked for in the listing; that listing proves nothing, so no other has to be waited for.
async fn what_is_unanswered_is_sent_again_as_soon_as_the_gate_is_up(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(SILENCE_MS + 1);
    assert!(world.gated(&engine).await);
    let (_, listings) = world.bank.asked();
    assert!(engine.run_once().await.unwrap());
    assert_eq!((world.bank.sends(), world.bank.asked().1), (1, listings + 1));
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(world.sends_within(&engine, MINUTE).await, 1);
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn fault_23_nothing_unfinished_is_forgotten_by_a_restore(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    world.paying(&engine, "1").await;
    let backup = world.backup().await;
    world.clock.advance(2 * DAY);
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(world.gated(&engine).await);
    let offer = world.order("1").await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    assert_eq!(world.sweeps(&engine).await.news, 1);
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Succeeded, 1));
}

async fn the_gate_is_down_only_after_a_gap(world: World) {
    let engine = world.engine();
    assert!(!world.gated(&engine).await);
    world.clock.advance(SILENCE_MS);
    assert!(!world.gated(&engine).await, "a restart");
    for _ in 0..10 {
        world.clock.advance(SILENCE_MS);
        engine.beat().await.unwrap();
    }
    assert!(!world.gated(&world.engine()).await, "somebody was alive all the time");
    world.clock.advance(SILENCE_MS + 1);
    assert!(world.gated(&world.engine()).await);
    world.sweeps(&engine).await;
    engine.sweep_merchant(&merchant_of(&world, "mer_2").await).await.unwrap();
    assert!(!world.gated(&world.engine()).await, "it was read");
}

async fn merchant_of(world: &World, name: &str) -> store::MerchantRecord {
    store::Directory::merchant(world.merchants.as_ref(), &tenant_of(name)).await.unwrap().unwrap()
}

async fn without_a_heartbeat_there_is_no_gate(world: World) {
    let engine = world.engine();
    world.clock.advance(DAY);
    assert!(!world.gated(&engine).await);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn while_gated_checkouts_are_made_and_a_submit_waits(world: World) {
    let engine = world.engine();
    world.after_a_gap(&engine).await;
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    // A second press, another tab, a repeat: the same.
    submits(&world.engine(), &offer).await;
    let story = world.story(&offer).await;
    assert_eq!((story.attempts.len(), story.operation.lease), (0, None));
    assert!(world.journal(&offer).await[1].contains("dispatch waits"));
    assert_eq!(world.sends_within(&engine, 5 * MINUTE).await, 0);
    world.sweeps(&engine).await;
    assert_eq!(world.sends_within(&engine, 2 * SECOND).await, 1, "soon after");
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn while_gated_questions_are_asked(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(pending());
    let waiting = world.paying(&engine, "1").await;
    world.bank.next([Fault::LoseAnswer]);
    let unknown = world.paying(&engine, "2").await;
    world.clock.advance(SILENCE_MS + 1);
    assert!(world.gated(&engine).await);
    world.bank.moves(waiting.intent.id, payment::ObjectStatus::Succeeded);
    assert_eq!(world.sends_within(&engine, 5 * MINUTE).await, 0);
    for offer in [waiting, unknown] {
        assert_eq!(world.state(&offer).await, StateName::Succeeded, "order {}", offer.checkout.order);
    }
}

/// What the copy never sent, the lost hour may have: that it was not sent, nobody knows before the sweep.
async fn fault_23_what_the_gate_held_for_too_long_ends_only_when_it_is_up(world: World) {
    let engine = world.engine();
    world.after_a_gap(&engine).await;
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    assert_eq!(world.sends_within(&engine, EXECUTE_MS + MINUTE).await, 0);
    assert_eq!(world.state(&offer).await, StateName::Processing);
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(world.sends_within(&engine, 3 * MINUTE).await, 0);
    assert_eq!(world.state(&offer).await, StateName::Canceled);
}

async fn fault_23_what_the_gate_holds_for_a_day_is_a_persons(world: World) {
    let engine = world.engine();
    world.after_a_gap(&engine).await;
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    let review_after_ms = engine.settings.review_after_ms;
    world.clock.advance(EXECUTE_MS + review_after_ms - MINUTE);
    assert_eq!(world.sends_within(&engine, SECOND).await, 0);
    assert_eq!(world.state(&offer).await, StateName::Processing);
    assert_eq!(world.sends_within(&engine, 3 * MINUTE).await, 0);
    assert_eq!(world.state(&offer).await, StateName::NeedsReview);
}

async fn a_sweep_that_fails_keeps_the_gate(world: World) {
    let engine = world.engine();
    for order in ["2", "3", "4"] {
        world.paying(&engine, order).await;
    }
    world.after_a_gap(&engine).await;
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    for incomplete in 0..3 {
        world.bank.heal();
        match incomplete {
            0 => world.bank.listing_down(true),
            1 => world.bank.listing(|listing| listing.breaks_after = Some(1)),
            _ => world.bank.every(Some(Fault::Unauthorized)),
        }
        assert!(!world.sweeps(&engine).await.complete, "{incomplete}");
        assert_eq!(world.sends_within(&engine, 5 * SECOND).await, 0, "{incomplete}");
        assert!(world.gated(&world.engine()).await, "also after another start");
    }
    world.bank.heal();
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(world.sends_within(&engine, 5 * SECOND).await, 1);
}

/// None of ours: what we asked for can be read. It is told, and must not keep the gate down for ever.
async fn a_row_that_cannot_be_read_does_not_keep_the_gate(world: World) {
    let engine = world.engine();
    world.paying(&engine, "2").await;
    world.after_a_gap(&engine).await;
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    world.bank.listing(|listing| listing.unreadable = 1);
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(world.sends_within(&engine, 5 * SECOND).await, 1);
}

/// A new database on an account with a history, or one that others use, too: nothing made before is ours.
async fn what_was_there_before_us_is_no_stranger(world: World) {
    world.stranger("1");
    world.clock.advance(SECOND);
    let engine = world.engine();
    engine.start().await.unwrap();
    assert_eq!(world.sweeps(&engine).await.strangers, 0);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    world.clock.advance(SECOND);
    world.stranger("2");
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
}

async fn fault_23_an_object_that_waits_for_a_created_intent_is_adopted(world: World) {
    adopts(world, pending()).await;
}

async fn fault_23_money_held_for_a_created_intent_is_adopted(world: World) {
    adopts(world, ObjectStatus::WaitingForCapture).await;
}

/// What waits at the provider for an intent that the backup does not know to be sent is asked about, and never sent again.
async fn adopts(world: World, status: ObjectStatus) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.offer(&engine, "1").await;
    let backup = world.backup().await;
    world.bank.decides(status);
    world.pay(&engine, &world.order("1").await).await;
    world.clock.advance(HOUR);
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(world.gated(&engine).await);
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.news), (true, 1));
    let page = world.order("1").await;
    assert!(page.intent.state.object().is_some(), "{:?}", page.intent.state);
    let story = world.story(&page).await;
    assert_eq!((story.operation.stage, story.attempts.len()), (Stage::Open, 0));
    world.bank.moves(page.intent.id, ObjectStatus::Succeeded);
    assert_eq!(world.sends_within(&engine, 10 * MINUTE).await, 0, "it is asked about, and not sent");
    assert_eq!(world.state(&page).await, StateName::Succeeded);
}

async fn anothers_lease_makes_a_sweep_incomplete(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(SILENCE_MS + 1);
    assert!(world.gated(&engine).await);
    let claim = ClaimLook {
        tenant: tenant(),
        of: LookOf::Intent(offer.intent.id),
        holder: Holder(world.ids.uuid()),
        lease_ms: LEASE_MS,
    };
    assert!(matches!(world.store.claim_look(claim).await.unwrap(), Looking::Claimed(_)));
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.news, swept.complete), (1, false));
    let waiting = world.offer(&engine, "2").await;
    submits(&engine, &waiting).await;
    assert_eq!(world.sends_within(&engine, 5 * SECOND).await, 0);
    world.clock.advance(LEASE_MS);
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.news, swept.complete), (1, true));
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!(world.sends_within(&engine, 5 * SECOND).await, 1);
}

async fn the_gate_is_each_merchants_own(world: World) {
    let engine = world.engine();
    world.after_a_gap(&engine).await;
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    engine.sweep_merchant(&merchant_of(&world, "mer_2").await).await.unwrap();
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0, "another's listing says nothing");
    world.sweeps(&engine).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 1);
}

async fn a_second_start_does_not_lift_the_gate(world: World) {
    let engine = world.engine();
    world.after_a_gap(&engine).await;
    engine.beat().await.unwrap();
    world.clock.advance(SECOND);
    assert!(world.gated(&world.engine()).await, "the first one's gap is not read yet");
    let claim = world.offer(&engine, "1").await;
    submits(&engine, &claim).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
}

/// Nobody was alive again while one was reading.
async fn a_sweep_from_before_a_newer_gap_does_not_lift_the_gate(world: World) {
    let engine = world.engine();
    world.after_a_gap(&engine).await;
    let account = world.merchant().await.account;
    let (read, _) = world.store.sweep(tenant(), account).await.unwrap();
    world.clock.advance(SILENCE_MS + 1);
    assert!(world.gated(&world.engine()).await);
    world.store.swept(read).await.unwrap();
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    world.sweeps(&engine).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 1);
}

async fn news_is_written_once(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    let reversed = world.paying(&engine, "2").await;
    let ended = payment::Ending::Canceled { code: "by_merchant".into() };
    world.bank.moves(reversed.intent.id, payment::ObjectStatus::Ended(ended));
    world.stranger("3");
    assert_eq!((world.sweeps(&engine).await.news, world.heard.intents().len()), (2, 4));
    let told = (world.journal(&offer).await, world.journal(&reversed).await);
    assert!(told.0.last().unwrap().contains("found by the sweep"));
    assert!(told.1.contains(&"anomaly: reversed".to_owned()));
    let versions =
        (world.intent(offer.intent.id).await.version, world.intent(reversed.intent.id).await.version);
    for _ in 0..3 {
        world.clock.advance(MINUTE);
        let swept = world.sweeps(&engine).await;
        assert_eq!(swept, Swept { read: 3, complete: true, ..Swept::default() });
    }
    assert_eq!((world.journal(&offer).await, world.journal(&reversed).await), told);
    let now = (world.intent(offer.intent.id).await.version, world.intent(reversed.intent.id).await.version);
    assert_eq!((now, world.bank.asked().0), (versions, 0));
}

/// No question, no notification, no worker: the listing alone.
async fn r25_the_sweep_finds_what_nobody_asked_about(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(pending());
    let waiting = world.paying(&engine, "1").await;
    let offer = world.offer(&engine, "2").await;
    drop(world.claim(&engine, &offer).await);
    world.bank.next([Fault::LoseAnswer]);
    world.clock.advance(LEASE_MS);
    let claim = engine
        .claim_due(2, Vec::new())
        .await
        .unwrap()
        .into_iter()
        .find(|claim| claim.work.intent.id == offer.intent.id);
    engine.drive(claim.unwrap()).await.unwrap();
    world.clock.advance(LEASE_MS);
    world.bank.moves(waiting.intent.id, payment::ObjectStatus::Succeeded);
    assert_eq!(world.sweeps(&engine).await.news, 2);
    for offer in [waiting, offer] {
        assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    }
    assert_eq!(world.bank.asked().0, 0);
}

async fn the_sweep_finds_a_refund_whose_answer_was_lost(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.paying(&engine, "1").await;
    world.bank.next_for(OperationKind::Refund, [Fault::LoseAnswer]);
    let some = Some(rub("500.00"));
    let (kind, reason) = (OperationKind::Refund, "returned".to_owned());
    engine.open_follow_up(&tenant(), offer.intent.id, kind, some, reason).await.unwrap();
    assert!(engine.run_once().await.unwrap());
    let refund = async || world.story(&offer).await.follow_ups.remove(0);
    assert_ne!(refund().await.stage, Stage::Done, "its answer was lost");
    let sends = world.bank.sent_for(OperationKind::Refund).len();
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(refund().await.stage, Stage::Done);
    assert_eq!((world.bank.sent_for(OperationKind::Refund).len(), world.bank.refunds().len()), (sends, 1));
    assert_eq!(world.story(&offer).await.charges[0].refunded_minor, 50_000);
}

async fn strangers_are_only_what_took_money(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let object = world.stranger("1");
    world.bank.moves_object(&object, pending());
    let offer = world.offer(&engine, "1").await;
    assert_eq!(world.sweeps(&engine).await.strangers, 0);
    world.bank.moves_object(&object, payment::ObjectStatus::Succeeded);
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
    assert_eq!(world.sweeps(&engine).await.strangers, 0, "once");
    submits(&engine, &offer).await;
    assert_eq!(engine.review().await.unwrap().items.len(), 1);
}

/// What is held can be taken at any time, and nobody reads its listing again then.
async fn fault_23_money_that_is_held_for_an_order_blocks_it(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let object = world.stranger("1");
    world.bank.moves_object(&object, ObjectStatus::WaitingForCapture);
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    let link = || resolve(&engine, &object, Verdict::Charged(object.clone()));
    let Resolved::Refused(words) = link().await else { panic!("it took no money yet") };
    assert!(words.contains("took no money"), "{words}");
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    assert!(matches!(link().await, Resolved::Done(_)));
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

async fn a_stranger_blocks_its_order_and_no_other(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    // One waits to be sent again when the stranger is found.
    world.bank.next([Fault::NotSent]);
    let blocked = world.paying(&engine, "1").await;
    world.stranger("1");
    world.sweeps(&engine).await;
    let other = world.paying(&engine, "10").await;
    assert_eq!(world.state(&other).await, StateName::Succeeded);
    assert_eq!(world.sends_within(&engine, 5 * MINUTE).await, 0);
    assert_eq!(world.state(&blocked).await, StateName::Processing);
    // The same order of another merchant is another order.
    let key = crate::world::create_key(&tenant_of("mer_2"), "k", "1", "1500.00");
    engine.open_checkout(key, crate::world::terms("1", "1500.00")).await.unwrap();
    let found = world.store.order(tenant_of("mer_2"), OrderId::parse("1").unwrap()).await.unwrap();
    let (checkout, intent) = found.unwrap();
    let theirs = Offer { checkout, intent };
    claimed(engine.submit(theirs.submission("tok_1")).await.unwrap());
}

async fn a_stranger_that_blocks_for_too_long_lets_it_end_unsent(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.stranger("1");
    world.sweeps(&engine).await;
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Canceled, 0));
    let (_, next) = world.try_again(&engine, &offer, "again").await;
    submits(&engine, &next).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0, "nor its next try");
}

async fn what_was_pending_at_the_last_sweep_is_read_again(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let object = world.stranger("1");
    world.bank.moves_object(&object, pending());
    for _ in 0..6 {
        world.clock.advance(10 * MINUTE);
        assert_eq!(world.sweeps(&engine).await, Swept { read: 1, complete: true, ..Swept::default() });
    }
    world.bank.moves_object(&object, payment::ObjectStatus::Succeeded);
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
}

async fn another_merchants_payment_is_none_of_ours(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.paying(&engine, "1").await;
    world.bank.stranger_pays(OTHER_ACCOUNT, &OrderId::parse("2").unwrap(), rub("1.00"));
    assert_eq!(world.sweeps(&engine).await, Swept { read: 1, complete: true, ..Swept::default() });
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    // The merchant moves to another account: what was paid to the old one stays paid.
    world.merchants.put(merchant(tenant(), "200600", &secret_of("200600"), &world.vault));
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.read, swept.complete), (0, true));
    let known = world.store.standing(
        tenant(),
        ProviderAccount::parse(ACCOUNT).unwrap(),
        world.bank.objects()[0].id.clone(),
        None,
    );
    assert!(known.await.unwrap().charge.is_some());
    let next = world.offer(&engine, "3").await;
    assert!(matches!(engine.submit(next.submission("tok_1")).await.unwrap(), SubmitOutcome::Claimed(_)));
}
