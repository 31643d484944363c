//! A process that is paused, and clocks that are set: immediately before the first byte leaves it is looked whether it still may
//! (R14, R17). What time it is, the database says.

use std::sync::Arc;

use engine::{Claim, Driven, Engine, EngineError};
use payment::{CanceledReason, NotExecutedReason, State, StateName};
use tokio::{sync::Notify, task::JoinHandle};

use crate::{
    bank::Fault,
    scenarios,
    world::{DAY, EXECUTE_MS, HOUR, LEASE_MS, MINUTE, Offer, SECOND, World},
};

scenarios! {
    r14_fault_36_paused_between_the_claim_and_the_first_byte_beyond_the_lease,
    r14_fault_36_paused_when_it_was_connected,
    r17_fault_30_paused_beyond_execute_until_it_ends_not_executed,
    r17_fault_30_paused_while_another_is_at_work,
    r17_execute_until_may_come_before_the_leases_end,
    r17_nothing_leaves_at_the_very_moment_and_all_does_a_moment_before,
    r17_fault_31_the_wall_clock_is_set_back,
    r17_fault_31_the_wall_clock_is_set_forward,
    r17_fault_31_clocks_that_are_off_all_along_change_nothing,
    r10_fault_34_a_pause_after_the_send_makes_nothing_failed,
    fault_35_a_holder_that_stops_hands_over,
}

/// An engine that stands before the first byte, its connection made.
async fn before_the_first_byte(
    world: &World,
    engine: &Engine,
    claim: Claim,
) -> (Arc<Notify>, JoinHandle<Result<Driven, EngineError>>) {
    let (gate, engine) = (Arc::new(Notify::new()), engine.clone());
    world.bank.next([Fault::Paused(Arc::clone(&gate))]);
    let task = tokio::spawn(async move { engine.drive(claim).await });
    // It waits at the gate when it can go no further, however often it is let.
    while world.bank.paused() == 0 {
        assert!(!task.is_finished(), "it never came to the first byte");
        tokio::task::yield_now().await;
    }
    (gate, task)
}

async fn nothing_left(world: &World, offer: &Offer) {
    assert_eq!((world.bank.sends(), world.bank.stopped().len(), world.bank.objects().len()), (0, 1, 0));
    let State::Processing { last: Some(NotExecutedReason::TooLate), .. } =
        world.intent(offer.intent.id).await.state
    else {
        panic!("it was definitely not executed")
    };
}

async fn r14_fault_36_paused_between_the_claim_and_the_first_byte_beyond_the_lease(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let claim = world.claim(&engine, &offer).await;
    world.clock.advance(LEASE_MS);
    engine.drive(claim).await.unwrap();
    nothing_left(&world, &offer).await;
    world.settle(&engine).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}

async fn r14_fault_36_paused_when_it_was_connected(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let claim = world.claim(&engine, &offer).await;
    let (gate, task) = before_the_first_byte(&world, &engine, claim).await;
    world.clock.advance(LEASE_MS);
    gate.notify_one();
    task.await.unwrap().unwrap();
    nothing_left(&world, &offer).await;
    // The same with a worker's claim.
    let wake_at = world.story(&offer).await.operation.wake_at.unwrap();
    world.clock.advance(wake_at.since_ms(world.clock.now()).max(0));
    let claim = engine.claim_due(1, Vec::new()).await.unwrap().remove(0);
    let (gate, task) = before_the_first_byte(&world, &engine, claim).await;
    world.clock.advance(LEASE_MS + SECOND);
    gate.notify_one();
    task.await.unwrap().unwrap();
    assert_eq!((world.bank.sends(), world.bank.stopped().len()), (0, 2));
    world.settle(&engine).await;
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}

async fn r17_fault_30_paused_beyond_execute_until_it_ends_not_executed(world: World) {
    for pause_ms in [EXECUTE_MS, HOUR, 2 * DAY] {
        let engine = world.engine();
        let (sends, stopped) = (world.bank.sends(), world.bank.stopped().len());
        let offer = world.offer(&engine, &format!("{pause_ms}")).await;
        let claim = world.claim(&engine, &offer).await;
        let (gate, task) = before_the_first_byte(&world, &engine, claim).await;
        world.clock.advance(pause_ms);
        gate.notify_one();
        task.await.unwrap().unwrap();
        assert_eq!((world.bank.sends(), world.bank.stopped().len()), (sends, stopped + 1));
        world.settle(&engine).await;
        let state = world.intent(offer.intent.id).await.state;
        assert_eq!(state, State::Canceled { reason: CanceledReason::NotExecuted }, "after {pause_ms} ms");
        assert_eq!((world.bank.sends(), world.bank.asked()), (sends, (0, 0)), "no listing is needed");
    }
}

/// The one that woke up writes nothing, so that its send counts as unanswered: the listings decide.
async fn r17_fault_30_paused_while_another_is_at_work(world: World) {
    let (first, second) = (world.engine(), world.engine());
    let offer = world.offer(&first, "1").await;
    let claim = world.claim(&first, &offer).await;
    let (gate, task) = before_the_first_byte(&world, &first, claim).await;
    world.bank.every(Some(Fault::NotSent));
    world.wake(&second, &offer).await;
    world.clock.advance(EXECUTE_MS);
    world.wake(&second, &offer).await;
    gate.notify_one();
    task.await.unwrap().unwrap();
    world.bank.heal();
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.settle(&second).await;
    let state = world.intent(offer.intent.id).await.state;
    assert_eq!(state, State::Canceled { reason: CanceledReason::Absent });
    assert_eq!((world.bank.stopped().len(), world.bank.objects().len()), (1, 0));
}

async fn r17_execute_until_may_come_before_the_leases_end(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    world.bank.next([Fault::NotSent]);
    world.pay(&engine, &offer).await;
    let until = world.story(&offer).await.operation.execute_until.unwrap();
    world.clock.advance(until.since_ms(world.clock.now()) - 10 * SECOND);
    let claim = engine.claim_due(1, Vec::new()).await.unwrap().remove(0);
    world.clock.advance(10 * SECOND);
    engine.drive(claim).await.unwrap();
    assert_eq!(world.bank.stopped().len(), 1, "its lease has not ended, its time has");
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.objects().len()), (StateName::Canceled, 0));
}

async fn r17_nothing_leaves_at_the_very_moment_and_all_does_a_moment_before(world: World) {
    let engine = world.engine();
    for (order, pause_ms, sends) in [("just", LEASE_MS - 1, 1), ("late", LEASE_MS, 1)] {
        let offer = world.offer(&engine, order).await;
        let claim = world.claim(&engine, &offer).await;
        world.clock.advance(pause_ms);
        engine.drive(claim).await.unwrap();
        assert_eq!(world.bank.sends(), sends, "order {order}");
    }
    assert_eq!(world.bank.stopped().len(), 1);
}

/// It neither makes a late process early, nor ends anything.
async fn r17_fault_31_the_wall_clock_is_set_back(world: World) {
    let engine = world.engine();
    let (punctual, late) = (world.offer(&engine, "1").await, world.offer(&engine, "2").await);
    let claims = (world.claim(&engine, &punctual).await, world.claim(&engine, &late).await);
    world.clock.set_wall(-2 * HOUR);
    engine.drive(claims.0).await.unwrap();
    assert_eq!(world.state(&punctual).await, StateName::Succeeded);
    world.clock.advance(LEASE_MS);
    engine.drive(claims.1).await.unwrap();
    assert_eq!((world.bank.sends(), world.bank.stopped().len()), (1, 1), "the boot-time clock knows");
    world.settle(&engine).await;
    assert_eq!((world.state(&late).await, world.bank.charges()), (StateName::Succeeded, 2));
}

/// What is under way is held back once, and sent by the next claim: nothing ends early.
async fn r17_fault_31_the_wall_clock_is_set_forward(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let claim = world.claim(&engine, &offer).await;
    world.clock.set_wall(2 * HOUR);
    engine.drive(claim).await.unwrap();
    nothing_left(&world, &offer).await;
    engine.expire().await.unwrap();
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
    assert!(world.clock.now().since_ms(world.began) < MINUTE);
}

async fn r17_fault_31_clocks_that_are_off_all_along_change_nothing(world: World) {
    for off_ms in [2 * HOUR, -4 * HOUR] {
        world.clock.set_wall(off_ms);
        let (engine, sends) = (world.engine(), world.bank.sends());
        world.bank.next([Fault::LoseRequest]);
        let offer = world.paying(&engine, &format!("{off_ms}")).await;
        world.settle(&engine).await;
        assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Succeeded, sends + 2));
    }
    assert_eq!((world.bank.charges(), world.bank.stopped().len()), (2, 0));
}

/// The answer comes when the deadline and the lease are long over, and says what it says.
async fn r10_fault_34_a_pause_after_the_send_makes_nothing_failed(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let claim = world.claim(&engine, &offer).await;
    let gate = Arc::new(Notify::new());
    world.bank.next([Fault::Held(Arc::clone(&gate))]);
    let driving = engine.clone();
    let task = tokio::spawn(async move { driving.drive(claim).await });
    while world.bank.sends() == 0 {
        tokio::task::yield_now().await;
    }
    world.clock.advance(EXECUTE_MS + HOUR);
    engine.expire().await.unwrap();
    assert_eq!(world.state(&offer).await, StateName::Processing, "no timer ends it");
    gate.notify_one();
    task.await.unwrap().unwrap();
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// SIGTERM: what it had claimed and not sent is the next one's, as is what it had sent.
async fn fault_35_a_holder_that_stops_hands_over(world: World) {
    let (first, second) = (world.engine(), world.engine());
    let (unsent, sent) = (world.offer(&first, "1").await, world.offer(&first, "2").await);
    drop(world.claim(&first, &unsent).await);
    let claim = world.claim(&first, &sent).await;
    world.bank.next([Fault::Held(Arc::default())]);
    let task = tokio::spawn(async move { first.drive(claim).await });
    while world.bank.sends() == 0 {
        tokio::task::yield_now().await;
    }
    task.abort();
    assert!(task.await.is_err());
    world.settle(&second).await;
    for offer in [unsent, sent] {
        assert_eq!(world.state(&offer).await, StateName::Succeeded);
    }
    assert_eq!((world.bank.objects().len(), world.bank.charges()), (2, 2));
}
