//! Fault 68: the group of commits dies half way. A trigger of the test's own plays the failing disk, at the moment it is needed:
//! SQLite may roll back the whole transaction on FULL, IOERR or NOMEM, as it does for RAISE(ROLLBACK).

use std::{
    future::{Future, poll_fn},
    sync::Arc,
    task::Poll,
};

use futures_util::future::join_all;
use store::{OpenedCheckout, SqlStore, Sqlite, Store, StoreError};

use super::{File, Raw};
use crate::commands::{open, tenant};

const MEMBERS: usize = 16;
/// The member that breaks its batch, with others before and behind it.
const TRAP: usize = 9;

type Answers = Vec<Result<OpenedCheckout, StoreError>>;

/// All at once while another process holds the lock, so that they wait together and become one batch.
async fn open_all(store: &SqlStore<Sqlite>, raw: &mut Raw) -> Answers {
    raw.run("BEGIN IMMEDIATE").await.unwrap();
    let calls =
        (0..MEMBERS).map(|number| store.open_checkout(open(&format!("key-{number}"), &order(number))));
    let mut calls = Box::pin(join_all(calls));
    let polled = poll_fn(|context| Poll::Ready(calls.as_mut().poll(context).is_pending()));
    assert!(polled.await, "they are in the queue, and the first of them waits for the lock");
    raw.run("ROLLBACK").await.unwrap();
    calls.await
}

fn order(number: usize) -> String {
    if number == TRAP { "trap".to_owned() } else { format!("order-{number}") }
}

async fn trap(file: &File, action: &str) -> Raw {
    let mut raw = file.raw().await;
    let sql = format!(
        "CREATE TRIGGER trap AFTER INSERT ON operation WHEN EXISTS (SELECT 1 FROM checkout WHERE order_id = 'trap' \
                       AND id = (SELECT checkout_id FROM payment_intent WHERE id = NEW.intent_id)) BEGIN {action}; END"
    );
    raw.run(&sql).await.unwrap();
    raw
}

/// Every member but the trap was told that its checkout is there, and it is, whole; of the trap there is nothing.
async fn check(store: &SqlStore<Sqlite>, raw: &mut Raw, answers: &Answers) {
    for (number, answer) in answers.iter().enumerate().filter(|(number, _)| *number != TRAP) {
        let Ok(OpenedCheckout::Fresh(checkout, told)) = answer else { panic!("{number}: {answer:?}") };
        assert_eq!(told.status, 201);
        assert!(
            store.checkout(tenant(), checkout.id).await.unwrap().is_some(),
            "{number} was told too early"
        );
    }
    assert_eq!(raw.opened().await, [MEMBERS as i64 - 1; 5], "nothing is half written");
    assert_eq!(raw.count("checkout WHERE order_id = 'trap'").await, 0);
}

/// Without the trap, the same command goes through, and the others are replays.
async fn recovers(store: &SqlStore<Sqlite>, raw: &mut Raw) {
    raw.run("DROP TRIGGER trap").await.unwrap();
    for (number, answer) in open_all(store, raw).await.into_iter().enumerate() {
        let fresh = matches!(answer, Ok(OpenedCheckout::Fresh(..)));
        assert_eq!(fresh, number == TRAP, "{number}: {answer:?}");
    }
    assert_eq!(raw.opened().await, [MEMBERS as i64; 5]);
}

#[tokio::test]
async fn fault_68_a_batch_that_sqlite_rolled_back_is_run_again_one_by_one() {
    let file = File::new();
    let store = file.store().await;
    let mut raw = trap(&file, "SELECT RAISE(ROLLBACK, 'the disk is full')").await;
    let answers = open_all(&store, &mut raw).await;
    assert!(matches!(answers[TRAP], Err(StoreError::Refused(_))), "{:?}", answers[TRAP]);
    check(&store, &mut raw, &answers).await;
    recovers(&store, &mut raw).await;
}

#[tokio::test]
async fn a_member_that_fails_alone_is_undone_alone() {
    let file = File::new();
    let store = file.store().await;
    let mut raw = trap(&file, "SELECT RAISE(ABORT, 'not this one')").await;
    let before = store.dialect().commits();
    let answers = open_all(&store, &mut raw).await;
    assert!(matches!(answers[TRAP], Err(StoreError::Refused(_))), "{:?}", answers[TRAP]);
    check(&store, &mut raw, &answers).await;
    assert_eq!(store.dialect().commits() - before, 1, "the others were committed together");
    recovers(&store, &mut raw).await;
}

#[tokio::test]
async fn fault_15_a_commit_that_fails_is_unknown_only_to_who_broke_it() {
    let file = File::new();
    let store = file.store().await;
    let mut raw = file.raw().await;
    raw.run(
        "CREATE TABLE later (of_order TEXT REFERENCES order_book (id) DEFERRABLE INITIALLY DEFERRED); \
             CREATE TABLE order_book (id TEXT PRIMARY KEY)",
    )
    .await
    .unwrap();
    // A deferred key fails at the COMMIT and nowhere before.
    let mut raw = trap(&file, "INSERT INTO later VALUES ('nowhere')").await;
    let answers = open_all(&store, &mut raw).await;
    assert!(matches!(answers[TRAP], Err(StoreError::Unknown(_))), "{:?}", answers[TRAP]);
    check(&store, &mut raw, &answers).await;
    recovers(&store, &mut raw).await;
}

#[tokio::test]
async fn a_body_that_panics_does_not_take_the_writer_with_it() {
    let file = File::new();
    let store = file.store().await;
    let mut broken = open("key-broken", "order-broken");
    broken.render = Arc::new(|_, _, _| panic!("a bug in the body of one transaction"));
    let healthy =
        (0..MEMBERS).map(|number| store.open_checkout(open(&format!("key-{number}"), &order(number))));
    let (refused, others) = tokio::join!(store.open_checkout(broken), join_all(healthy));
    assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    assert!(others.iter().all(Result::is_ok), "{others:?}");
    assert_eq!(file.raw().await.opened().await, [MEMBERS as i64; 5]);
}
