//! A database that is busy, and callers that go away: an honest "busy", and nothing left behind (faults 10, 18, 22).

use std::{future::poll_fn, sync::Arc, task::Poll};

use store::{OpenedCheckout, SqlStore, Sqlite, SqliteOptions, Store, StoreError};
use tokio::task::yield_now;

use super::File;
use crate::{
    commands::{open, submit, tenant},
    world::{World, due},
};

const IMPATIENT_MS: u64 = 100;

fn is_busy<R>(answer: &Result<R, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Busy(_)))
}

#[tokio::test]
async fn fault_22_a_lock_that_stays_is_told_as_busy() {
    let file = File::new();
    let store = file.impatient(IMPATIENT_MS).await;
    let mut raw = file.raw().await;
    raw.run("BEGIN IMMEDIATE").await.unwrap();
    let started = tokio::time::Instant::now();
    let answer = store.open_checkout(open("key-1", "order-1")).await;
    assert!(is_busy(&answer), "{answer:?}");
    assert!(started.elapsed().as_millis() >= u128::from(IMPATIENT_MS), "it did not wait");
    raw.run("ROLLBACK").await.unwrap();
    // Nothing was applied, and the same call works now.
    assert_eq!(raw.opened().await, [0; 5]);
    let answer = store.open_checkout(open("key-1", "order-1")).await;
    assert!(matches!(answer, Ok(OpenedCheckout::Fresh(..))), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_22_a_lock_that_ends_is_waited_for() {
    let file = File::new();
    let store = Arc::new(file.store().await);
    let mut raw = file.raw().await;
    raw.run("BEGIN IMMEDIATE").await.unwrap();
    let waiting = {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.open_checkout(open("key-1", "order-1")).await })
    };
    // Readers are not held up by a writer, here or elsewhere.
    for _ in 0..50 {
        assert!(store.order(tenant(), payment::OrderId::parse("order-1").unwrap()).await.unwrap().is_none());
    }
    assert!(!waiting.is_finished(), "it answered without the lock");
    raw.run("ROLLBACK").await.unwrap();
    let answer = waiting.await.unwrap();
    assert!(matches!(answer, Ok(OpenedCheckout::Fresh(..))), "{answer:?}");
}

#[tokio::test]
async fn fault_18_an_exhausted_pool_is_busy_and_recovers() {
    let file = File::new();
    let store = file.impatient(IMPATIENT_MS).await;
    let mut taken = Vec::new();
    for _ in 0..file.options().readers {
        taken.push(store.dialect().readers().acquire().await.unwrap());
    }
    let read = || store.order(tenant(), payment::OrderId::parse("order-1").unwrap());
    let answer = read().await;
    assert!(is_busy(&answer), "{answer:?}");
    let ping = store.ping().await;
    assert!(is_busy(&ping), "not ready while nobody can read: {ping:?}");
    // Writing has a connection of its own.
    assert!(store.open_checkout(open("key-1", "order-1")).await.is_ok());
    drop(taken);
    assert!(read().await.unwrap().is_some());
}

/// Starts callers of every kind and aborts each after its own number of turns.
async fn callers_that_go_away(store: &Arc<SqlStore<Sqlite>>, world: &World) {
    let (checkout, intent) = world.offer("order-shared").await;
    let mut turns = 0_usize;
    for number in 0..200 {
        let (store, submit, id) = (Arc::clone(store), submit(&checkout, &intent), checkout.id);
        let caller = tokio::spawn(async move {
            let order = format!("order-{number}");
            match number % 4 {
                0 => drop(store.open_checkout(open(&format!("key-{number}"), &order)).await),
                1 => drop(store.checkout(tenant(), id).await),
                2 => drop(store.submit(submit).await),
                _ => drop(store.claim_due(due(2)).await),
            }
        });
        turns = (turns * 7 + 3) % 11;
        for _ in 0..turns {
            yield_now().await;
        }
        caller.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_10_callers_that_go_away_leave_nothing_open() {
    let file = File::new();
    let store = Arc::new(file.store().await);
    let world = file.world().await;
    callers_that_go_away(&store, &world).await;

    // The writer has finished what it took on: it serves the next in line, and holds no lock afterwards.
    assert!(store.open_checkout(open("key-last", "order-last")).await.is_ok());
    let mut raw = file.raw().await;
    raw.run("BEGIN IMMEDIATE; ROLLBACK").await.unwrap();
    // Each of the readers' connections is free of a transaction: BEGIN fails where one is open.
    let mut readers = Vec::new();
    for _ in 0..file.options().readers {
        readers.push(store.dialect().readers().acquire().await.unwrap());
    }
    for reader in &readers {
        reader.execute_batch("BEGIN; ROLLBACK").unwrap();
    }
    // Whatever was taken on was done as a whole.
    let [checkouts, rest @ ..] = raw.opened().await;
    let submitted = raw.count("idempotency_key WHERE kind = 'submit'").await;
    assert_eq!(rest, [checkouts, checkouts, checkouts + submitted, checkouts + submitted]);
    assert_eq!(raw.count("attempt").await, submitted);
}

/// A connection must not come back with its transaction open, wherever its reader was dropped, in BEGIN too (transact-rs/sqlx 4393).
#[tokio::test]
async fn fault_10_a_reader_dropped_at_any_moment_leaves_its_connection_clean() {
    let file = File::new();
    let store = SqlStore::open(SqliteOptions { readers: 1, ..file.options() }).await.unwrap();
    let world = file.world().await;
    let (checkout, _) = world.offer("order-1").await;
    for turns in 0..300 {
        let mut read = Box::pin(store.checkout(tenant(), checkout.id));
        for _ in 0..turns {
            if poll_fn(|context| Poll::Ready(read.as_mut().poll(context))).await.is_ready() {
                break;
            }
            yield_now().await;
        }
        drop(read);
        // The one connection there is serves the next reader.
        let next = store.checkout(tenant(), checkout.id).await;
        assert!(matches!(next, Ok(Some(_))), "after {turns} turns: {next:?}");
    }
}
