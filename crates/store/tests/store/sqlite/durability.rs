//! An answer is a promise: its rows are on disk before it is told, and a COMMIT serves many (faults 13, 14).

use std::{fs, sync::Arc};

use futures_util::future::join_all;
use payment::CheckoutStatus;
use store::{OpenedCheckout, SqlStore, SqliteOptions, Store};

use super::File;
use crate::{
    commands::{open, succeeded, tenant},
    world::World,
};

const WRITERS: usize = 16;
const ROUNDS: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_is_never_told_before_its_commit() {
    let file = Arc::new(File::new());
    let store = Arc::new(file.store().await);
    let writers = (0..WRITERS).map(|writer| {
        let (file, store) = (Arc::clone(&file), Arc::clone(&store));
        tokio::spawn(async move {
            let mut raw = file.raw().await;
            for round in 0..ROUNDS {
                let order = format!("order-{writer}-{round}");
                let opened = store.open_checkout(open(&format!("key-{order}"), &order)).await.unwrap();
                assert!(matches!(opened, OpenedCheckout::Fresh(..)));
                // Another process sees only what is committed, and sees it now.
                assert_eq!(raw.count(&format!("checkout WHERE order_id = '{order}'")).await, 1);
            }
            raw.close().await;
        })
    });
    for writer in join_all(writers).await {
        writer.unwrap();
    }
}

#[tokio::test]
async fn fault_14_what_was_answered_survives_a_crash_right_after_it() {
    let file = File::new();
    let world = file.world().await;
    let claim = world.settled("order-1", succeeded("object-1")).await;
    // The files as they are at this moment, with the store still open: what a crash would leave.
    let after = tempfile::tempdir().unwrap();
    for name in ["test.db", "test.db-wal"] {
        fs::copy(file.folder.path().join(name), after.path().join(name)).unwrap();
    }
    let options =
        SqliteOptions { clock: Some(file.clock.clock()), ..SqliteOptions::new(after.path().join("test.db")) };
    let reopened = World::over(SqlStore::open(options).await.unwrap(), file.clock.clone());
    assert_eq!(reopened.checkout(claim.checkout.id).await.0.status, CheckoutStatus::Paid);
    assert_eq!(reopened.story(claim.intent.id).await, world.story(claim.intent.id).await);
}

#[tokio::test]
async fn fault_13_what_was_not_answered_is_there_whole_or_not_at_all() {
    let file = File::new();
    let store = file.store().await;
    let mut raw = file.raw().await;
    // The process dies with its transaction open: nothing of it is read afterwards, and the retry creates.
    raw.run("BEGIN IMMEDIATE; INSERT INTO heartbeat (id, at_ms) VALUES (1, 1)").await.unwrap();
    drop(raw);
    assert!(store.open_checkout(open("key-1", "order-1")).await.is_ok());
    assert_eq!(file.raw().await.count("heartbeat").await, 0);
}

#[tokio::test]
async fn waiting_writers_share_a_commit() {
    let file = File::new();
    let store = file.store().await;
    let before = store.dialect().commits();
    for round in 0..ROUNDS {
        let name = |writer: usize| format!("{round}-{writer}");
        let all = (0..WRITERS).map(|writer| store.open_checkout(open(&name(writer), &name(writer))));
        assert!(join_all(all).await.iter().all(Result::is_ok));
    }
    let commits = store.dialect().commits() - before;
    let members = (WRITERS * ROUNDS) as u64;
    assert!(commits * 8 <= members, "{commits} commits for {members} members");
    assert_eq!(file.raw().await.count("checkout").await, members as i64);
}

#[tokio::test]
async fn a_lone_writer_waits_for_nobody() {
    let file = File::new();
    let store = file.store().await;
    let before = store.dialect().commits();
    for number in 0..3 {
        store.open_checkout(open(&format!("key-{number}"), &format!("order-{number}"))).await.unwrap();
        assert_eq!(store.dialect().commits() - before, number + 1);
    }
    assert!(store.order(tenant(), payment::OrderId::parse("order-2").unwrap()).await.unwrap().is_some());
}
