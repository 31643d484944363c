//! Processes that die, sleep and wake: the end of a lease means recover, and a stale holder is harmless (R13, R14).

use std::sync::Arc;

use engine::{Claim, Clock as _, Driven, Engine, EngineError};
use payment::StateName;
use tokio::{sync::Notify, task::JoinHandle};

use crate::{
    bank::Fault,
    flaky::{Call, Flaky, When},
    hands::Stopped,
    scenarios,
    world::{LEASE_MS, Offer, SECOND, World},
};

scenarios! {
    r14_fault_28_fault_29_a_stale_holder_sends_nothing_and_writes_nothing,
    r14_fault_29_a_zombie_that_does_not_know_sends_the_same_and_writes_nothing,
    r13_fault_25_killed_before_sending,
    r13_fault_25_one_holder_after_the_other_dies,
    r13_fault_26_killed_after_sending,
    r13_fault_27_killed_after_the_banks_result,
    r13_after_our_commit_nothing_is_left_to_do,
    fault_32_fault_40_a_lease_ends_in_mid_call_and_the_first_request_arrives_last,
    r14_a_lease_is_its_holders_alone_until_it_ends,
    r14_a_stale_holders_bad_news_is_not_written,
    r14_a_stale_holder_writes_nothing_while_the_next_one_works,
    r14_a_holder_that_never_committed_leaves_the_result_unknown,
}

/// An engine in the middle of a call: its request has arrived at the bank, which waits.
async fn in_mid_call(world: &World, engine: &Engine, claim: Claim) -> (Arc<Notify>, Driving) {
    let gate = Arc::new(Notify::new());
    world.bank.next([Fault::Held(Arc::clone(&gate))]);
    let (sends, engine) = (world.bank.sends(), engine.clone());
    let task = tokio::spawn(async move { engine.drive(claim).await });
    while world.bank.sends() == sends {
        assert!(!task.is_finished(), "it never came to a call");
        tokio::task::yield_now().await;
    }
    (gate, task)
}

type Driving = JoinHandle<Result<Driven, EngineError>>;

async fn unchanged_by<F: Future>(world: &World, offer: &Offer, work: F) {
    let before = (world.intent(offer.intent.id).await, world.journal(offer).await);
    let operation = world.story(offer).await.operation;
    work.await;
    assert_eq!((world.intent(offer.intent.id).await, world.journal(offer).await), before);
    assert_eq!(world.story(offer).await.operation, operation);
}

/// The first holder goes on when the second one has ended it: it is told so, and nothing changes.
async fn goes_on_too_late(world: &World, first: &Engine, second: &Engine) {
    let offer = world.offer(first, "1").await;
    let claim = world.claim(first, &offer).await;
    world.wake(second, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    unchanged_by(world, &offer, async {
        let driven = first.drive(claim).await.unwrap();
        assert_eq!(driven.intent.state.name(), StateName::Succeeded, "it is told what the second wrote");
    })
    .await;
}

/// Also aegra#547 (a zombie overwrites) and powertools-typescript#5675 (only the holder's fence frees).
async fn r14_fault_28_fault_29_a_stale_holder_sends_nothing_and_writes_nothing(world: World) {
    goes_on_too_late(&world, &world.engine(), &world.engine()).await;
    assert_eq!((world.bank.sends(), world.bank.objects().len(), world.bank.charges()), (1, 1, 1));
    assert_eq!(world.bank.stopped().len(), 1, "its last look tells it that it is late");
}

/// Its machine slept and its clocks with it, so that it does not know how late it is: the key and the fence are what is left.
async fn r14_fault_29_a_zombie_that_does_not_know_sends_the_same_and_writes_nothing(world: World) {
    let mut first = world.engine();
    first.clock = Arc::new(Stopped(world.clock.moments()));
    goes_on_too_late(&world, &first, &world.engine()).await;
    assert_eq!((world.bank.sends(), world.bank.objects().len(), world.bank.charges()), (2, 1, 1));
}

/// Also polar#13272, express-idempotency#32 and powertools-python#1038: a lease always ends, and its end means recover.
async fn r13_fault_25_killed_before_sending(world: World) {
    let offer = world.offer(&world.engine(), "1").await;
    drop(world.claim(&world.engine(), &offer).await);
    assert_eq!(world.wake(&world.engine(), &offer).await, LEASE_MS);
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert!(world.journal(&offer).await.iter().any(|line| line.starts_with("taken_over")));
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}

async fn r13_fault_25_one_holder_after_the_other_dies(world: World) {
    let offer = world.offer(&world.engine(), "1").await;
    drop(world.claim(&world.engine(), &offer).await);
    for _ in 0..3 {
        world.clock.advance(LEASE_MS);
        assert_eq!(world.engine().claim_due(1, Vec::new()).await.unwrap().len(), 1, "its lease has ended");
    }
    assert_eq!(world.wake(&world.engine(), &offer).await, LEASE_MS);
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Succeeded, 1));
}

/// Also powertools-python#8049: what is taken over is sent under the same provider key.
async fn r13_fault_26_killed_after_sending(world: World) {
    let (first, second) = (world.engine(), world.engine());
    let offer = world.offer(&first, "1").await;
    let claim = world.claim(&first, &offer).await;
    let (_gate, task) = in_mid_call(&world, &first, claim).await;
    task.abort();
    assert!(task.await.is_err());
    world.bank.next([Fault::LoseAnswer]);
    world.wake(&second, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.settle(&second).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.bank.sends(), world.bank.objects().len(), world.bank.charges()), (3, 1, 1));
}

async fn r13_fault_27_killed_after_the_banks_result(world: World) {
    let (mut first, second) = (world.engine(), world.engine());
    let offer = world.offer(&first, "1").await;
    let trips = [(Call::Commit, When::Before), (Call::Commit, When::Before)];
    first.store = Flaky::new(Arc::clone(&world.store), &trips);
    let claim = world.claim(&first, &offer).await;
    assert!(first.drive(claim).await.is_err());
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Processing, 1));
    world.wake(&second, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    assert_eq!((world.bank.objects().len(), world.bank.charges()), (1, 1));
}

async fn r13_after_our_commit_nothing_is_left_to_do(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    for _ in 0..3 {
        world.clock.advance(10 * LEASE_MS);
        assert!(!world.engine().run_once().await.unwrap());
    }
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Succeeded, 1));
}

/// Also apalis#530: a long job that is queued again does not run twice.
async fn fault_32_fault_40_a_lease_ends_in_mid_call_and_the_first_request_arrives_last(world: World) {
    let (first, second) = (world.engine(), world.engine());
    let offer = world.offer(&first, "1").await;
    let claim = world.claim(&first, &offer).await;
    let (gate, task) = in_mid_call(&world, &first, claim).await;
    world.wake(&second, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    unchanged_by(&world, &offer, async {
        gate.notify_one();
        task.await.unwrap().unwrap();
    })
    .await;
    assert_eq!((world.bank.sends(), world.bank.objects().len(), world.bank.charges()), (2, 1, 1));
}

/// Also woocommerce-gateway-stripe#5591: nobody else begins while the first is at work.
async fn r14_a_lease_is_its_holders_alone_until_it_ends(world: World) {
    let (first, second) = (world.engine(), world.engine());
    let offer = world.offer(&first, "1").await;
    let claim = world.claim(&first, &offer).await;
    let (gate, task) = in_mid_call(&world, &first, claim).await;
    world.clock.advance(LEASE_MS - SECOND);
    assert!(!second.run_once().await.unwrap(), "the lease has not ended");
    gate.notify_one();
    task.await.unwrap().unwrap();
    world.clock.advance(10 * LEASE_MS);
    assert!(!second.run_once().await.unwrap());
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Succeeded, 1));
}

async fn r14_a_stale_holders_bad_news_is_not_written(world: World) {
    for (order, news) in [("1", Fault::BadRequest), ("2", Fault::NotSent), ("3", Fault::Error500Before)] {
        let (mut first, second) = (world.engine(), world.engine());
        first.clock = Arc::new(Stopped(world.clock.moments()));
        let offer = world.offer(&first, order).await;
        let claim = world.claim(&first, &offer).await;
        world.bank.next([Fault::LoseAnswer]);
        world.wake(&second, &offer).await;
        world.bank.next([news]);
        unchanged_by(&world, &offer, async { first.drive(claim).await.unwrap() }).await;
        assert_eq!(world.state(&offer).await, StateName::Confirming);
        world.settle(&second).await;
        assert_eq!(world.state(&offer).await, StateName::Succeeded);
    }
    assert_eq!(world.bank.charges(), 3);
}

/// The fence alone tells them apart: the lease that the stale one finds is another's. Also woocommerce-gateway-stripe#5591: it does
/// not free it.
async fn r14_a_stale_holder_writes_nothing_while_the_next_one_works(world: World) {
    let (mut first, second) = (world.engine(), world.engine());
    first.clock = Arc::new(Stopped(world.clock.moments()));
    let offer = world.offer(&first, "1").await;
    let stale = world.claim(&first, &offer).await;
    world.clock.advance(LEASE_MS);
    let claim = second.claim_due(1, Vec::new()).await.unwrap().remove(0);
    world.bank.next([Fault::BadRequest]);
    unchanged_by(&world, &offer, async { first.drive(stale).await.unwrap() }).await;
    second.drive(claim).await.unwrap();
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// The dead holder may have sent: neither a refusal nor "no connection" of a later send speaks for its request.
async fn r14_a_holder_that_never_committed_leaves_the_result_unknown(world: World) {
    for (order, news) in [("1", Fault::BadRequest), ("2", Fault::NotSent), ("3", Fault::Unauthorized)] {
        let offer = world.offer(&world.engine(), order).await;
        drop(world.claim(&world.engine(), &offer).await);
        world.bank.next([news]);
        world.wake(&world.engine(), &offer).await;
        assert_eq!(world.state(&offer).await, StateName::Confirming, "order {order}");
        world.settle(&world.engine()).await;
        assert_eq!(world.state(&offer).await, StateName::Succeeded);
    }
}
