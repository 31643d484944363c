//! A merchant takes another account while a gate is down: no new gap says so, for other servers live (fault 23).

use engine::Engine;
use payment::{CheckoutStatus, StateName};

use super::{
    left::{left, moves, moves_back, sweeps_left},
    submits,
};
use crate::{
    bank::Fault,
    merchant::{merchant, secret_of, tenant},
    scenarios,
    world::{HOUR, MINUTE, Offer, SECOND, SILENCE_MS, World},
};

scenarios! {
    fault_23_after_a_restore_a_change_of_account_sends_nothing_before_the_old_one_is_read,
    fault_23_after_a_restore_who_moves_back_sends_nothing_before_the_other_one_is_read,
    fault_23_accounts_that_were_met_in_the_same_moment_do_not_wait_for_each_other,
    fault_23_accounts_that_were_not_read_do_not_wait_for_each_other,
    fault_23_a_submit_that_was_made_out_for_the_account_of_before_goes_to_the_new_one,
}

/// Order "1" is made, then a copy is taken, then it is paid; the copy is brought back, and a server starts as before.
async fn forgets_that_it_was_paid(world: &World, engine: &Engine) -> (World, Engine, Offer) {
    world.offer(engine, "1").await;
    world.clock.advance(MINUTE);
    engine.beat().await.unwrap();
    let backup = world.backup().await;
    let offer = world.order("1").await;
    world.pay(engine, &offer).await;
    world.clock.advance(HOUR);
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(world.gated(&engine).await);
    let offer = world.order("1").await;
    assert_eq!(offer.intent.state.name(), StateName::Created, "the copy does not know that it was paid");
    (world, engine, offer)
}

async fn fault_23_after_a_restore_a_change_of_account_sends_nothing_before_the_old_one_is_read(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.paying(&engine, "0").await;
    let (world, engine, offer) = forgets_that_it_was_paid(&world, &engine).await;
    world.order("0").await;
    // A server has the new configuration, and has not started yet.
    moves(&world);
    world.clock.advance(SECOND);
    submits(&engine, &offer).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    engine.beat().await.unwrap();
    assert!(world.gated(&world.engine()).await, "what the account of before took is not known yet");
    for _ in 0..2 {
        let swept = world.sweeps(&engine).await;
        assert_eq!((swept.complete, swept.waits_for), (false, 1));
        assert_eq!(
            world.sends_within(&engine, MINUTE).await,
            0,
            "the new account's listing says nothing of it"
        );
    }
    assert!(sweeps_left(&engine).await);
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 2));
    let other = world.paying(&engine, "2").await;
    assert_eq!(world.state(&other).await, StateName::Succeeded, "the new account is let through");
}

/// The account that he comes back to was left with something unfinished, and has been read.
async fn fault_23_after_a_restore_who_moves_back_sends_nothing_before_the_other_one_is_read(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    world.paying(&engine, "0").await;
    moves(&world);
    world.has_met(&engine).await;
    world.paying(&engine, "2").await;
    let (world, engine, offer) = forgets_that_it_was_paid(&world, &engine).await;
    for order in ["0", "2"] {
        world.order(order).await;
    }
    assert!(sweeps_left(&engine).await);
    engine.beat().await.unwrap();
    moves_back(&world);
    assert!(world.gated(&world.engine()).await);
    submits(&engine, &offer).await;
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.waits_for), (false, 1));
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    let before = left(&engine).await;
    assert_eq!(before.len(), 1);
    assert!(engine.sweep_left(&before[0]).await.unwrap().complete);
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 3));
}

/// The account of before has no payment whose credentials could read it: it is configured again, as operations.md says.
async fn fault_23_accounts_that_were_met_in_the_same_moment_do_not_wait_for_each_other(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.clock.advance(SECOND);
    assert!(world.sweeps(&engine).await.complete);
    world.clock.advance(SILENCE_MS + 1);
    moves(&world);
    assert!(world.gated(&engine).await);
    assert!(left(&engine).await.is_empty());
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.waits_for), (false, 1));
    moves_back(&world);
    assert!(world.gated(&engine).await);
    assert!(world.sweeps(&engine).await.complete);
    moves(&world);
    engine.start().await.unwrap();
    assert!(world.sweeps(&engine).await.complete);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

/// He comes back before anybody has read the other one: each is read while it is configured.
async fn fault_23_accounts_that_were_not_read_do_not_wait_for_each_other(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.offer(&engine, "0").await;
    world.clock.advance(SILENCE_MS + 1);
    moves(&world);
    assert!(world.gated(&engine).await);
    moves_back(&world);
    assert!(world.gated(&engine).await);
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.waits_for), (false, 1), "the lost time may have had it");
    moves(&world);
    assert!(world.gated(&engine).await);
    assert!(world.sweeps(&engine).await.complete);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

/// It looked the account up, and slept while another server started with the new one.
async fn fault_23_a_submit_that_was_made_out_for_the_account_of_before_goes_to_the_new_one(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let before = world.merchant().await;
    world.writes_down(merchant(tenant(), "200600", &secret_of("200600"), &world.vault)).await;
    world.has_met(&world.engine()).await;
    world.merchants.was(before);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    let sent = world.bank.sent();
    let accounts: Vec<_> = sent.iter().map(|sent| sent.account.id.as_str()).collect();
    assert_eq!(accounts, ["200600"]);
}
