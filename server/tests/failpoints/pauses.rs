//! A process that stands still for longer than it may: its lease runs out, then its time to send. Whoever goes on meanwhile is
//! right; who wakes sends nothing and writes nothing (R14, R17).

use serde_json::json;

use crate::{
    process::eventually,
    server::{Deed, Server},
    shopper::{Order, text},
    witnesses::Receipt,
    world::{Setup, World},
};

/// A server that is about to send an order's payment, and stands still.
async fn paused(setup: Setup) -> (World, Server, Order) {
    loop {
        let world = World::new(setup).await;
        let mut server = world.serve_until(Some(("drive.claimed", Deed::Stop))).await;
        let order = world.buy(&server).await;
        let (submitted, url) = (order.clone(), server.url.clone());
        // It hears nothing before the server goes on, if then.
        tokio::spawn(async move { submitted.submit(&url).await.ok() });
        server.is_struck(Deed::Stop).await;
        // Who is stopped while it writes keeps the lock of the file, and nobody can go on: another case.
        if world.may_write() {
            return (world, server, order);
        }
    }
}

/// Wakes it and waits until it has nothing left to do; who woke sent nothing.
async fn wakes_and_ends(world: &World, server: Server) -> String {
    let creates = world.bank.creates().await;
    server.process.go_on();
    server.process.says("the lease was lost").await;
    let log = server.process.log();
    server.process.terminate().await;
    assert_eq!(world.bank.creates().await, creates, "who wakes late sends nothing");
    std::fs::read_to_string(log).unwrap()
}

#[tokio::test]
async fn r14_fault_28_fault_36_another_server_pays_while_the_first_stands_still() {
    let (world, server, order) = paused(Setup::default()).await;
    let heir = world.serve_beside().await;
    world.is_paid_once(&heir, &order).await;
    let settled = world.ask(&heir, &format!("/v1/payment_intents/{}", order.intent())).await;
    wakes_and_ends(&world, server).await;
    assert_eq!(world.ask(&heir, &format!("/v1/payment_intents/{}", order.intent())).await, settled);
    world.is_paid_once(&heir, &order).await;
}

#[tokio::test]
async fn r14_fault_36_who_wakes_alone_after_its_lease_claims_anew_before_it_sends() {
    let (world, server, order) = paused(Setup::default()).await;
    let sql = "SELECT lease_until_ms < CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
        FROM operation WHERE holder IS NOT NULL";
    eventually("its lease has ended", async || {
        let ended: bool = world.database().query_row(sql, [], |row| row.get(0)).unwrap();
        ended.then_some(())
    })
    .await;
    assert_eq!(world.bank.creates().await, []);
    server.process.go_on();
    world.is_paid_once(&server, &order).await;
    let intent = world.ask(&server, &format!("/v1/payment_intents/{}", order.intent())).await;
    let first = &intent["attempts"][0]["outcome"];
    // Where its own worker was faster, nobody ever learned what became of the first.
    assert!(first.is_null() || text(first).contains("woke too late, not a byte was sent"), "{first}");
}

/// Here the lease is longer than the time to send: who takes over may not send any more, and proves that nothing happened.
#[tokio::test]
async fn r14_r17_fault_30_fault_36_who_wakes_after_its_time_to_send_sends_nothing() {
    let timing = &[("lease_s", "3"), ("execute_s", "2"), ("token_life_s", "1"), ("token_margin_s", "0.5")];
    let (world, server, order) = paused(Setup { timing, ..Setup::default() }).await;
    let heir = world.serve_beside().await;
    let ended = world.reaches(&heir, &order, "canceled").await;
    let last = ended["journal"].as_array().unwrap().last().unwrap();
    assert_eq!(last["event"], "absent", "{last}");
    assert_eq!(world.bank.creates().await, []);
    wakes_and_ends(&world, server).await;
    assert_eq!(world.bank.creates().await, []);
    let now = world.ask(&heir, &format!("/v1/payment_intents/{}", order.intent())).await;
    assert_eq!((&now["state"], &now["journal"]), (&json!("canceled"), &ended["journal"]));
    // The order can be paid: by another intent.
    let order = world.try_again(&heir, &order).await;
    order.submit_until_final(&heir.url).await;
    world.is_paid_once(&heir, &order).await;
}

/// Not at a place of ours: wherever the process is while the bank takes its time.
#[tokio::test]
async fn r14_fault_32_fault_36_stopped_in_mid_call() {
    let world = World::new(Setup { notified: true, ..Setup::default() }).await;
    let mut server = world.serve().await;
    let order = world.buy(&server).await;
    world.bank.fault(&json!({ "kind": "delay", "order_id": order.number, "delay_ms": 1_500 })).await;
    let (submitted, url) = (order.clone(), server.url.clone());
    let first = tokio::spawn(async move { submitted.submit(&url).await });
    eventually("the bank is asked", async || world.bank.creates().await.pop()).await;
    loop {
        server.process.stop().await;
        if world.may_write() {
            break;
        }
        server.process.go_on();
    }
    let heir = world.serve_beside().await;
    world.reaches(&heir, &order, "succeeded").await;
    server.process.go_on();
    server = server.ready(&world.client).await;
    world.is_paid_once_with(&server, &order, Receipt::WrittenOrUnknown).await;
    let told = first.await.unwrap().unwrap().json();
    assert_eq!(text(&told["id"]), order.intent());
}
