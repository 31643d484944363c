//! What always ends its worker's life stops being tried, and stands before a person; the others flow (fault 33). And a process may
//! be killed at any await of a payment (R13).

use std::sync::Arc;

use engine::Engine;
use payment::{CheckoutStatus, ReviewReason, State, StateName};

use crate::{
    bank::Fault,
    dying::until_poll,
    flaky::{Call, Flaky, When},
    scenarios,
    world::{HOUR, LEASE_MS, MOST_UNFINISHED, Offer, World},
};

scenarios! {
    fault_33_what_always_kills_its_driver_is_capped_and_reviewed,
    fault_33_what_always_fails_is_capped_and_reviewed,
    fault_33_a_few_deaths_are_no_reason,
    fault_33_what_is_cured_is_found,
    r13_killed_at_any_await_it_is_charged_once,
    r13_killed_at_any_await_of_a_look_it_is_charged_once,
    r13_a_commit_without_an_answer_is_recognised,
}

/// More awaits than a payment has.
const MOST_AWAITS: usize = 60;

/// A worker of its own, which may die.
async fn works(engine: &Engine) -> bool {
    let engine = engine.clone();
    match tokio::spawn(async move { engine.run_once().await }).await {
        Ok(worked) => worked.unwrap_or(true),
        Err(died) => died.is_panic(),
    }
}

/// Lets workers live and die until the intent stands before a person; how many began with it.
async fn until_reviewed(world: &World, engine: &Engine, offer: &Offer) -> i64 {
    for _ in 0..100 {
        if world.state(offer).await == StateName::NeedsReview {
            return world.story(offer).await.attempts.len() as i64;
        }
        let wake_at = world.story(offer).await.operation.wake_at.unwrap();
        world.clock.advance(wake_at.since_ms(world.clock.now()).max(0));
        works(engine).await;
    }
    panic!("it is tried for ever");
}

async fn fault_33_what_always_kills_its_driver_is_capped_and_reviewed(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    world.bank.kills_senders_of(Some(offer.intent.id));
    drop(world.claim(&engine, &offer).await);
    let claims = until_reviewed(&world, &engine, &offer).await;
    assert_eq!(claims, MOST_UNFINISHED);
    let State::NeedsReview { why: ReviewReason::Stuck, .. } = world.intent(offer.intent.id).await.state
    else {
        panic!("a person is told why")
    };
    assert!(world.journal(&offer).await.last().unwrap().contains("in a row came to no result"));
    // The others flow, and it does not come back with every lease.
    let other = world.paying(&engine, "2").await;
    assert_eq!(world.state(&other).await, StateName::Succeeded);
    let before = world.story(&offer).await.operation.fence;
    for _ in 0..20 {
        world.clock.advance(LEASE_MS);
        works(&engine).await;
    }
    assert!(world.story(&offer).await.operation.fence - before <= 1);
    assert_eq!(world.bank.objects().len(), 1);
    assert_eq!(engine.review().await.unwrap().items.len(), 1);
}

/// Whatever it is, here that nothing it learns can be written.
async fn fault_33_what_always_fails_is_capped_and_reviewed(world: World) {
    let mut engine = world.engine();
    engine.store = Flaky::new(Arc::clone(&world.store), &[(Call::Commit, When::Before); 200]);
    let offer = world.offer(&engine, "1").await;
    world.bank.next(std::iter::repeat_n(Fault::LoseAnswer, 100));
    let claim = world.claim(&engine, &offer).await;
    assert!(engine.drive(claim).await.is_err());
    assert_eq!(until_reviewed(&world, &engine, &offer).await, MOST_UNFINISHED);
    assert_eq!((world.bank.sends() as i64, world.bank.objects().len()), (MOST_UNFINISHED, 1));
    // It goes on failing before the person, and takes a worker's time once an hour.
    let before = world.story(&offer).await.operation.fence;
    for _ in 0..(2 * HOUR / LEASE_MS) {
        world.clock.advance(LEASE_MS);
        works(&engine).await;
    }
    let looks = world.story(&offer).await.operation.fence - before;
    assert!((1..=2).contains(&looks), "{looks} looks in two hours");
}

async fn fault_33_a_few_deaths_are_no_reason(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    drop(world.claim(&engine, &offer).await);
    // Deaths, a sign of life, deaths again: never too many in a row.
    for deaths in [MOST_UNFINISHED - 2, MOST_UNFINISHED - 1, MOST_UNFINISHED - 1] {
        for _ in 0..deaths {
            world.clock.advance(LEASE_MS);
            assert_eq!(engine.claim_due(1, Vec::new()).await.unwrap().len(), 1);
        }
        world.clock.advance(LEASE_MS);
        world.bank.next([Fault::NotSent]);
        assert!(engine.run_once().await.unwrap());
        assert_eq!(world.state(&offer).await, StateName::Confirming);
        world.clock.advance(LEASE_MS);
    }
    world.settle(&engine).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// It had been executed all along.
async fn fault_33_what_is_cured_is_found(world: World) {
    let mut failing = world.engine();
    failing.store = Flaky::new(Arc::clone(&world.store), &[(Call::Commit, When::Before); 200]);
    let offer = world.offer(&failing, "1").await;
    let claim = world.claim(&failing, &offer).await;
    assert!(failing.drive(claim).await.is_err());
    until_reviewed(&world, &failing, &offer).await;
    let engine = world.engine();
    let sends = world.bank.sends();
    let wait = world.wake(&engine, &offer).await;
    assert!(wait <= HOUR, "it is looked for within the hour, not after {wait} ms");
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Succeeded, CheckoutStatus::Paid)
    );
    assert_eq!((world.bank.sends(), world.bank.charges()), (sends, 1), "looked for, not sent");
}

/// From the submit to the last commit. In memory nothing is awaited, so this one says more over SQLite.
async fn r13_killed_at_any_await_it_is_charged_once(world: World) {
    let mut whole = false;
    for polls in 1..MOST_AWAITS {
        let offer = world.offer(&world.engine(), &format!("{polls}")).await;
        let dying = world.engine();
        let work = async {
            let claim = world.claim(&dying, &offer).await;
            dying.drive(claim).await.unwrap();
        };
        whole = until_poll(polls, work).await.is_some();
        // What had begun when it died may still be written by the database.
        world.store.ping().await.unwrap();
        if world.state(&offer).await == StateName::Created {
            world.pay(&world.engine(), &offer).await;
        }
        world.settle(&world.engine()).await;
        assert_eq!(world.state(&offer).await, StateName::Succeeded, "killed after {polls} polls");
        let objects = world.bank.objects();
        assert_eq!(objects.iter().filter(|object| object.intent == offer.intent.id).count(), 1);
        if whole {
            break;
        }
    }
    assert!(whole, "it has more awaits than that");
}

/// A sweep that dies anywhere is read again.
async fn r13_killed_at_any_await_of_a_look_it_is_charged_once(world: World) {
    world.engine().start().await.unwrap();
    let mut whole = false;
    for polls in 1..MOST_AWAITS {
        world.bank.next([Fault::LoseAnswer]);
        let offer = world.paying(&world.engine(), &format!("{polls}")).await;
        let (dying, merchant) = (world.engine(), world.merchant().await);
        whole = until_poll(polls, dying.sweep_merchant(&merchant)).await.is_some();
        world.store.ping().await.unwrap();
        world.clock.advance(LEASE_MS);
        assert!(world.engine().sweep_merchant(&merchant).await.unwrap().complete);
        assert_eq!(world.state(&offer).await, StateName::Succeeded, "killed after {polls} polls");
        assert_eq!(world.story(&offer).await.charges.len(), 1);
        if whole {
            break;
        }
        // Only the newest is news.
        world.clock.advance(2 * HOUR);
        world.engine().sweep_merchant(&merchant).await.unwrap();
    }
    assert!(whole, "it has more awaits than that");
}

async fn r13_a_commit_without_an_answer_is_recognised(world: World) {
    for (order, fault, state) in
        [("1", None, StateName::Succeeded), ("2", Some(Fault::LoseRequest), StateName::Confirming)]
    {
        let mut engine = world.engine();
        engine.store = Flaky::new(Arc::clone(&world.store), &[(Call::Commit, When::After)]);
        let offer = world.offer(&engine, order).await;
        world.bank.next(fault);
        let driven = world.pay(&engine, &offer).await;
        assert_eq!(driven.intent.state.name(), state);
        let observed = world.journal(&offer).await.len();
        assert_eq!(observed, 3, "opened, submitted, and what came of it: once");
    }
    world.settle(&world.engine()).await;
}
