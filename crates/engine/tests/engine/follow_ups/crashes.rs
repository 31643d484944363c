//! Processes that die, sleep and wake with a capture, a cancel or a refund in hand (R13, R14).

use std::sync::Arc;

use payment::OperationState;
use tokio::sync::Notify;

use super::{KINDS, ask, assert_done_once, finish, now, open, ready_for, state, sum_of};
use crate::{
    bank::Fault,
    dying::until_poll,
    flaky::{Call, Flaky, When},
    scenarios,
    world::{LEASE_MS, World},
};

scenarios! {
    r13_fault_25_killed_at_any_await_it_is_done_once,
    r13_fault_25_killed_before_the_send,
    r13_fault_26_killed_in_the_call,
    r13_fault_27_killed_before_the_commit,
    r14_fault_28_a_zombie_writes_nothing,
    r13_a_commit_without_an_answer_is_recognised,
    r13_an_opening_without_an_answer_is_recognised,
}

/// More awaits than any of these has.
const MOST_AWAITS: usize = 40;

/// From opening to the last commit. In memory nothing is awaited, so this one says more over SQLite.
async fn r13_fault_25_killed_at_any_await_it_is_done_once(world: World) {
    for kind in KINDS {
        let mut whole = false;
        for polls in 1..MOST_AWAITS {
            let offer = ready_for(&world, &world.engine(), kind, &format!("{kind:?}-{polls}")).await;
            let dying = world.engine();
            let work = async {
                ask(&dying, offer.intent.id, kind, sum_of(kind)).await;
                dying.run_once().await.unwrap()
            };
            whole = until_poll(polls, work).await.is_some();
            // What had begun when it died may still be written by the database.
            world.store.ping().await.unwrap();
            let engine = world.engine();
            let open = world.story(&offer).await.follow_ups.pop();
            let id = match open {
                Some(operation) => operation.id,
                None => super::open(&engine, &offer, kind, sum_of(kind)).await.id,
            };
            finish(&world, &engine, &offer, id).await;
            assert_done_once(&world, &offer, kind).await;
            if whole {
                break;
            }
        }
        assert!(whole, "it has more awaits than that");
    }
}

async fn r13_fault_25_killed_before_the_send(world: World) {
    for kind in KINDS {
        let engine = world.engine();
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        assert_eq!(engine.claim_due(1, Vec::new()).await.unwrap().len(), 1);
        assert!(world.bank.sent_for(kind).is_empty());
        world.clock.advance(LEASE_MS);
        finish(&world, &world.engine(), &offer, operation.id).await;
        assert!(world.journal(&offer).await.iter().any(|line| line.contains("taken_over")), "{kind:?}");
        assert_done_once(&world, &offer, kind).await;
    }
}

async fn r13_fault_26_killed_in_the_call(world: World) {
    for kind in KINDS {
        let engine = world.engine();
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        for fault in [Fault::LoseRequest, Fault::LoseAnswer] {
            world.bank.next_for(kind, [Fault::Held(Arc::default()), fault]);
        }
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        for _ in 0..2 {
            let (dying, sends) = (world.engine(), world.bank.sent_for(kind).len());
            // The payment's own look may be due as well.
            let task = tokio::spawn(async move { while dying.run_once().await.unwrap() {} });
            while world.bank.sent_for(kind).len() == sends {
                assert!(!task.is_finished(), "it never came to a call");
                tokio::task::yield_now().await;
            }
            task.abort();
            assert!(task.await.is_err());
            world.clock.advance(LEASE_MS);
            while world.engine().run_once().await.unwrap() {}
            assert!(matches!(state(&world, &offer, operation.id).await, OperationState::Confirming { .. }));
            let wake_at = now(&world, &offer, operation.id).await.wake_at.unwrap();
            world.clock.advance(wake_at.since_ms(world.clock.now()).max(0));
        }
        finish(&world, &world.engine(), &offer, operation.id).await;
        assert_eq!(world.bank.sent_for(kind).len(), 5);
        assert_done_once(&world, &offer, kind).await;
    }
}

async fn r13_fault_27_killed_before_the_commit(world: World) {
    for kind in KINDS {
        let engine = world.engine();
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        let mut dying = world.engine();
        let trips = [(Call::Commit, When::Before), (Call::Commit, When::Before)];
        dying.store = Flaky::new(Arc::clone(&world.store), &trips);
        assert!(dying.run_once().await.is_err());
        assert_eq!(state(&world, &offer, operation.id).await, OperationState::Processing { last: None });
        world.clock.advance(LEASE_MS);
        finish(&world, &world.engine(), &offer, operation.id).await;
        assert_eq!(world.bank.sent_for(kind).len(), 2);
        assert_done_once(&world, &offer, kind).await;
    }
}

async fn r14_fault_28_a_zombie_writes_nothing(world: World) {
    for kind in KINDS {
        let (zombie, heir) = (world.engine(), world.engine());
        let offer = ready_for(&world, &zombie, kind, kind.as_str()).await;
        let gate = Arc::new(Notify::new());
        world.bank.next_for(kind, [Fault::Held(Arc::clone(&gate))]);
        let operation = open(&zombie, &offer, kind, sum_of(kind)).await;
        let task = tokio::spawn(async move { zombie.run_once().await });
        while world.bank.sent_for(kind).is_empty() {
            assert!(!task.is_finished(), "it never came to a call");
            tokio::task::yield_now().await;
        }
        world.clock.advance(LEASE_MS);
        finish(&world, &heir, &offer, operation.id).await;
        let before = (world.story(&offer).await, world.intent(offer.intent.id).await);
        gate.notify_one();
        task.await.unwrap().unwrap();
        assert_eq!((world.story(&offer).await, world.intent(offer.intent.id).await), before, "{kind:?}");
        assert_done_once(&world, &offer, kind).await;
    }
}

async fn r13_a_commit_without_an_answer_is_recognised(world: World) {
    for kind in KINDS {
        let mut engine = world.engine();
        let offer = ready_for(&world, &engine, kind, kind.as_str()).await;
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        engine.store = Flaky::new(Arc::clone(&world.store), &[(Call::Commit, When::After)]);
        engine.run_once().await.unwrap();
        assert!(state(&world, &offer, operation.id).await.is_terminal());
        assert_done_once(&world, &offer, kind).await;
    }
}

async fn r13_an_opening_without_an_answer_is_recognised(world: World) {
    for (kind, when) in KINDS.into_iter().flat_map(|kind| [(kind, When::Before), (kind, When::After)]) {
        let mut engine = world.engine();
        let offer = ready_for(&world, &engine, kind, &format!("{kind:?}-{when:?}")).await;
        engine.store = Flaky::new(Arc::clone(&world.store), &[(Call::OpenFollowUp, when)]);
        let operation = open(&engine, &offer, kind, sum_of(kind)).await;
        assert_eq!(world.story(&offer).await.follow_ups.len(), 1);
        let again = ask(&engine, offer.intent.id, kind, sum_of(kind)).await;
        assert!(matches!(again, store::OpenedFollowUp::Unfinished(_)), "{again:?}");
        finish(&world, &world.engine(), &offer, operation.id).await;
        assert_done_once(&world, &offer, kind).await;
    }
}
