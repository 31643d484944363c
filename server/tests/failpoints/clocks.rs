//! A server whose wall clock is wrong (fault 31): by libfaketime, which has to be installed. Money is taken once all the same:
//! nothing ends early, and nothing is sent late. What waits for a time waits for that clock: webhooks carry it as well, so the shop
//! does not believe them until it is right again.

use serde_json::json;

use crate::{
    process::eventually,
    server::{Server, Start},
    shopper::{Order, text},
    witnesses::check_journal,
    world::{Setup, World},
};

const AHEAD: &str = "+2h";
const BEHIND: &str = "-2h";
const HOUR_MS: i64 = 3_600_000;

impl World {
    async fn serve_at(&self, clock: &'static str) -> Server {
        let server = Start { clock: Some(clock), ..self.first() }.now().ready(&self.client).await;
        self.is_off(clock);
        server
    }

    /// Whether that clock is really wrong: without the library it would not be, and nothing would be proved.
    fn is_off(&self, clock: &str) {
        const OFF: &str =
            "SELECT at_ms - CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) FROM heartbeat";
        let off_ms: i64 = self.database().query_row(OFF, [], |row| row.get(0)).unwrap();
        let is_off = if clock == AHEAD { off_ms > HOUR_MS } else { off_ms < -HOUR_MS };
        assert!(is_off, "libfaketime does not work (Debian: apt-get install faketime): {off_ms} ms");
    }

    /// By the server whose clock agrees with the bank's: for the other one there was a gap of two hours.
    async fn gate_is_lifted(&self) {
        const GATED: &str = "SELECT count(*) FROM sweep WHERE gated_from_ms IS NOT NULL";
        let gated = || self.database().query_row(GATED, [], |row| row.get::<_, i64>(0)).unwrap();
        eventually("the gate is lifted", async || (gated() == 0).then_some(())).await;
    }

    /// A payment that the bank has taken, and whose answer was lost with the server.
    async fn lost(&self) -> Order {
        let server = self.serve().await;
        let order = self.buy(&server).await;
        self.bank
            .fault(&json!({ "kind": "lose_answer", "order_id": order.number, "delay_ms": 60_000 }))
            .await;
        let (submitted, url) = (order.clone(), server.url.clone());
        tokio::spawn(async move { submitted.submit(&url).await.ok() });
        eventually("the bank has it", async || self.bank.payments(&order.number).await.pop()).await;
        server.process.kill();
        order
    }
}

#[tokio::test]
async fn fault_31_two_hours_ahead_what_is_unknown_is_looked_for_and_not_sent_again() {
    let world = World::new(Setup::default()).await;
    let order = world.lost().await;
    let creates = world.bank.creates().await;
    let server = world.serve_at(AHEAD).await;
    let intent = world.reaches(&server, &order, "succeeded").await;
    check_journal(&intent);
    world.is_charged_once(&order).await;
    assert_eq!(world.bank.creates().await, creates, "its time to send is over, by that clock");
    // The gap before it was not read by a clock that agrees with the bank's: what is new waits at the gate.
    let fresh = world.buy(&server).await;
    let reply = fresh.submit(&server.url).await.unwrap();
    assert_eq!((reply.status, text(&reply.json()["state"])), (202, "processing"));
    assert_eq!(world.bank.creates().await, creates, "nothing is sent");
    server.process.terminate().await;

    let server = world.serve().await;
    let fresh = world.buy(&server).await;
    assert_eq!(fresh.submit_until_final(&server.url).await.json()["state"], "succeeded");
    world.is_charged_once(&fresh).await;
}

#[tokio::test]
async fn fault_31_two_hours_behind_nothing_ends_early_and_the_right_clock_goes_on() {
    let world = World::new(Setup::default()).await;
    let order = world.lost().await;
    let creates = world.bank.creates().await;
    // Else its start would be two hours before the last sign of life, and nothing would be sent.
    world.database().execute("DELETE FROM heartbeat", []).unwrap();
    let server = world.serve_at(BEHIND).await;
    let fresh = world.buy(&server).await;
    fresh.submit_until_final(&server.url).await;
    world.is_charged_once(&fresh).await;
    // The lease of the dead server ends in two hours, by that clock.
    let reply = order.submit(&server.url).await.unwrap();
    assert_eq!((reply.status, text(&reply.json()["state"])), (202, "processing"));
    assert_eq!(world.asked_for(&order).await, creates);
    assert_eq!(world.shipments(&fresh), 0, "the shop does not believe a webhook of two hours ago");
    server.process.terminate().await;

    let server = world.serve().await;
    world.is_paid_once(&server, &order).await;
    world.is_paid_once(&server, &fresh).await;
}

/// Some clock is wrong, this one or the last one's; a copy may have been restored that the other one wrote.
#[tokio::test]
async fn fault_31_a_start_two_hours_before_the_last_sign_of_life_sends_nothing_until_the_clock_is_right() {
    let world = World::new(Setup::default()).await;
    world.serve().await.process.terminate().await;
    let server = world.serve_at(BEHIND).await;
    let order = world.buy(&server).await;
    let reply = order.submit(&server.url).await.unwrap();
    assert_eq!((reply.status, text(&reply.json()["state"])), (202, "processing"));
    server.process.terminate().await;
    assert_eq!(world.bank.creates().await, []);

    let server = world.serve().await;
    let fresh = world.buy(&server).await;
    fresh.submit_until_final(&server.url).await;
    world.is_paid_once(&server, &fresh).await;
    assert_eq!(world.bank.payments(&order.number).await.len(), 0, "its time to send is over");
}

/// The one that is ahead takes every lease for ended and every time to send for over, while the other waits for the bank.
#[tokio::test]
async fn r14_fault_31_two_servers_disagree_about_the_time() {
    // The gap between two listings is the one of production: it is what keeps absence from being proved too early.
    let timing = &[("listing_gap_s", "300"), ("lease_s", "30")];
    let world = World::new(Setup { notified: true, timing, ..Setup::default() }).await;
    let server = world.serve().await;
    let ahead = Start { clock: Some(AHEAD), ..world.second() }.now().ready(&world.client).await;
    world.is_off(AHEAD);
    world.gate_is_lifted().await;
    let order = world.buy(&server).await;
    world.bank.fault(&json!({ "kind": "delay", "order_id": order.number, "delay_ms": 2_000 })).await;
    let reply = order.submit(&server.url).await.unwrap();
    assert_eq!(text(&reply.json()["id"]), order.intent());
    let intent = world.reaches(&ahead, &order, "succeeded").await;
    check_journal(&intent);
    world.is_charged_once(&order).await;
    assert_eq!(world.bank.creates().await.len(), 1, "the one that is ahead sends nothing");
}
