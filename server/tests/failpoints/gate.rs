//! A start after a silence: what happened meanwhile is not known, be it that a backup was restored. Checkouts are made, nothing is
//! sent before the bank's listing has been read (fault 23).

use std::{fs, time::Duration};

use serde_json::json;

use crate::{
    bank::rows,
    process::eventually,
    shopper::text,
    world::{Setup, World},
};

const LONG: Duration = Duration::from_secs(120);

impl World {
    /// Copies the servers' database, while no server runs.
    fn back_up(&self) {
        // Whatever still stands beside the file goes into it first.
        self.database().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        fs::copy(self.path("payonce.db"), self.path("backup.db")).unwrap();
    }

    /// Puts the copy back; since it was made, much time has passed.
    fn restore(&self) {
        for beside in ["payonce.db-wal", "payonce.db-shm"] {
            // Both are gone where the last server closed the file in order.
            fs::remove_file(self.path(beside)).ok();
        }
        fs::copy(self.path("backup.db"), self.path("payonce.db")).unwrap();
        self.was_silent_for(LONG);
    }

    /// The merchant's money goes to another account of the bank from the next start on.
    fn moves_to(&self, account: &str) {
        let config = fs::read_to_string(self.path("payonce.toml")).unwrap();
        let moved = config.replace("account = \"100500\"", &format!("account = \"{account}\""));
        assert_ne!(moved, config);
        fs::write(self.path("payonce.toml"), moved).unwrap();
    }

    /// How often the bank was asked for its payments.
    async fn listings(&self) -> usize {
        let ledger = self.bank.ledger().await;
        let lists = |request: &&serde_json::Value| {
            request["method"] == "GET" && text(&request["path"]).starts_with("/v3/payments")
        };
        rows(&ledger, "requests").iter().filter(lists).count()
    }
}

#[tokio::test]
async fn fault_23_after_a_silence_nothing_is_sent_before_the_listing_was_read() {
    let world = World::new(Setup::default()).await;
    world.serve().await.process.terminate().await;
    world.was_silent_for(LONG);
    world.bank.fault(&json!({ "kind": "error_500_before", "on": "list", "times": 1_000 })).await;
    let server = world.serve().await;
    let order = world.buy(&server).await;
    let reply = order.submit(&server.url).await.unwrap();
    assert_eq!((reply.status, text(&reply.json()["state"])), (202, "processing"));
    let before = world.listings().await;
    eventually("it tries to read the listing", async || (world.listings().await > before + 1).then_some(()))
        .await;
    assert_eq!(world.bank.creates().await, []);
    world.bank.disarm().await;
    world.is_paid_once(&server, &order).await;
}

#[tokio::test]
async fn fault_23_what_waits_at_the_gate_of_an_account_that_was_left_goes_on() {
    let world = World::new(Setup::default()).await;
    let server = world.serve().await;
    world.bank.fault(&json!({ "kind": "error_500_before", "times": 1_000 })).await;
    let order = world.buy(&server).await;
    assert_eq!(order.submit(&server.url).await.unwrap().status, 202);
    server.process.terminate().await;
    world.bank.disarm().await;
    world.moves_to("100501");
    world.was_silent_for(LONG);
    let server = world.serve().await;
    world.is_paid_once(&server, &order).await;
}

#[tokio::test]
async fn fault_23_a_backup_from_before_the_payment_does_not_pay_again() {
    let world = World::new(Setup::default()).await;
    let server = world.serve().await;
    let order = world.buy(&server).await;
    server.process.terminate().await;
    world.back_up();
    let server = world.serve().await;
    order.submit_until_final(&server.url).await;
    world.is_paid_once(&server, &order).await;
    let creates = world.bank.creates().await;
    server.process.terminate().await;
    world.restore();

    // Nothing was read yet when the shopper presses the button again.
    world.bank.fault(&json!({ "kind": "error_500_before", "on": "list", "times": 1_000 })).await;
    let server = world.serve().await;
    assert_eq!(order.submit(&server.url).await.unwrap().status, 202);
    world.bank.disarm().await;
    world.is_paid_once(&server, &order).await;
    assert_eq!(world.bank.creates().await, creates, "it was found, not sent again");
}

#[tokio::test]
async fn fault_23_a_backup_from_before_the_order_finds_a_stranger_and_sends_nothing_for_its_order() {
    let world = World::new(Setup::default()).await;
    world.serve().await.process.terminate().await;
    world.back_up();
    let server = world.serve().await;
    let order = world.buy_and_pay(&server).await;
    server.process.terminate().await;
    world.restore();

    let server = world.serve().await;
    server.process.says("money was taken that no payment of ours asked for").await;
    // The merchant offers the order again; no server knows it.
    let offered = world.offer_again(&server, &order).await;
    assert_ne!(offered.intent(), order.intent());
    assert_eq!(offered.submit(&server.url).await.unwrap().status, 202);
    // Others are paid meanwhile.
    world.buy_and_pay(&server).await;
    let reply = offered.submit(&server.url).await.unwrap();
    assert_eq!((reply.status, text(&reply.json()["state"])), (202, "processing"));
    assert_eq!(world.bank.payments(&order.number).await.len(), 1);
    assert_eq!(world.asked_for(&offered).await, []);
}
