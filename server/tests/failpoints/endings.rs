//! SIGTERM in mid-call: what can end in time does, what cannot is handed over (fault 35).

use std::time::Duration;

use serde_json::json;

use crate::{
    process::eventually,
    shopper::{Order, Reply},
    world::{Setup, World},
};

/// A process that was told to end has ended by then.
const END: Duration = Duration::from_secs(10);

/// Tells a server to end while the bank does this with a payment; what its shopper heard.
async fn ends_while(world: &World, fault: &str, delay_ms: u64) -> (Order, Option<Reply>) {
    let server = world.serve().await;
    let order = world.buy(&server).await;
    world.bank.fault(&json!({ "kind": fault, "order_id": order.number, "delay_ms": delay_ms })).await;
    let (submitted, url) = (order.clone(), server.url.clone());
    let reply = tokio::spawn(async move { submitted.submit(&url).await });
    eventually("the bank is asked", async || world.bank.creates().await.pop()).await;
    tokio::time::timeout(END, server.process.terminate()).await.expect("it ends in time");
    (order, reply.await.unwrap().ok())
}

#[tokio::test]
async fn fault_35_a_call_that_ends_in_time_is_finished_and_answered() {
    let world = World::new(Setup { timing: &[("lease_s", "10")], ..Setup::default() }).await;
    let (order, reply) = ends_while(&world, "delay", 1_000).await;
    let reply = reply.unwrap();
    assert!(reply.is_final(), "{reply:?}");
    let server = world.serve().await;
    world.is_paid_once(&server, &order).await;
    let again = order.submit(&server.url).await.unwrap();
    assert!(again.is_replay() && again.bytes == reply.bytes, "{again:?}");
    assert_eq!(world.bank.creates().await.len(), 1);
}

#[tokio::test]
async fn fault_35_a_call_that_takes_too_long_is_handed_over() {
    // Nobody could wait for the end of that lease.
    let world = World::new(Setup { timing: &[("lease_s", "3600")], ..Setup::default() }).await;
    let (order, _) = ends_while(&world, "lose_answer", 60_000).await;
    let server = world.serve().await;
    world.is_paid_once(&server, &order).await;
    assert!(order.submit_until_final(&server.url).await.is_replay());
}
