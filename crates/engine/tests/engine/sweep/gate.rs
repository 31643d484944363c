//! The gate: after a gap in our own life nothing is dispatched before the account's listing was read to its end (fault 23).

use payment::StateName;

use super::submits;
use crate::{
    bank::{Fault, pending},
    merchant::{tenant, tenant_of},
    scenarios,
    world::{DAY, EXECUTE_MS, HOUR, MINUTE, SECOND, SILENCE_MS, World},
};

scenarios! {
    fault_23_a_backup_restored_sends_nothing_before_the_sweep,
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
    fault_23_a_row_that_cannot_be_read_keeps_the_gate_for_a_while,
    the_gate_is_each_merchants_own,
    a_second_start_does_not_lift_the_gate,
    a_sweep_from_before_a_newer_gap_does_not_lift_the_gate,
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

/// None of ours, as a rule: what we asked for can be read. It may be what a copy has forgotten, told badly once; but it must not keep the
/// gate down for ever.
async fn fault_23_a_row_that_cannot_be_read_keeps_the_gate_for_a_while(world: World) {
    let engine = world.engine();
    world.paying(&engine, "2").await;
    world.after_a_gap(&engine).await;
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    world.bank.listing(|listing| listing.unreadable = 1);
    assert!(!world.sweeps(&engine).await.complete);
    assert_eq!(world.sends_within(&engine, 5 * SECOND).await, 0);
    world.clock.advance(10 * MINUTE - 5 * SECOND);
    assert!(world.sweeps(&engine).await.complete);
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
