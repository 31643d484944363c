//! `kill -9` of bank and server at moments that nobody chose, again and again, while shoppers pay.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

use futures_util::future::{join, join_all};
use serde_json::json;

use crate::{
    server::Server,
    shopper::Order,
    witnesses::Receipt,
    world::{Setup, World},
};

/// Set it to what a failed run printed: the same choices, as far as the machine keeps time.
const SEED: &str = "PAYONCE_TEST_SEED";
const ROUNDS: usize = 5;
const ORDERS: usize = 4;
const KILLS: usize = 3;
/// Longest time between two kills.
const LIFE_MS: u64 = 600;
const TROUBLE: [&str; 5] = ["none", "lose_answer", "lose_request", "error_500_after", "delay"];

/// Randomness with a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[tokio::test]
async fn r13_r25_faults_25_to_27_bank_and_server_are_killed_at_random_moments() {
    let given = std::env::var(SEED).ok().map(|seed| seed.parse().unwrap());
    let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish());
    println!("{SEED}={seed}");
    let mut dice = Dice(seed);
    let mut world = World::new(Setup { notified: true, ..Setup::default() }).await;
    let mut server = world.serve().await;
    for _ in 0..ROUNDS {
        let orders = troubled_orders(&world, &server, &mut dice).await;
        let url = server.url.clone();
        let paying = join_all(orders.iter().map(|order| order.submit_until_final(&url)));
        let paid;
        (paid, server) = join(paying, strike(&mut world, server, &mut dice)).await;
        for (order, paid) in orders.iter().zip(paid) {
            world.is_paid_once_with(&server, order, Receipt::WrittenOrUnknown).await;
            let again = order.submit(&server.url).await.unwrap();
            assert!(again.is_replay() && again.bytes == paid.bytes, "{again:?} after {paid:?}");
        }
    }
}

async fn strike(world: &mut World, mut server: Server, dice: &mut Dice) -> Server {
    for _ in 0..KILLS {
        // The moment is the test: there is nothing to wait for.
        tokio::time::sleep(Duration::from_millis(dice.below(LIFE_MS))).await;
        server = kill(world, server, dice.below(3)).await;
    }
    server
}

async fn troubled_orders(world: &World, server: &Server, dice: &mut Dice) -> Vec<Order> {
    let mut orders = Vec::new();
    for _ in 0..ORDERS {
        let order = world.buy(server).await;
        let kind = TROUBLE[dice.below(TROUBLE.len() as u64) as usize];
        if kind != "none" {
            let delay_ms = dice.below(LIFE_MS);
            world.bank.fault(&json!({ "kind": kind, "order_id": order.number, "delay_ms": delay_ms })).await;
        }
        orders.push(order);
    }
    orders
}

/// Kills the bank, the server or both, and starts what was killed.
async fn kill(world: &mut World, server: Server, whom: u64) -> Server {
    let (bank, both) = (whom > 0, whom > 1);
    if bank {
        world.bank.kill();
    }
    if bank && !both {
        world.bank.open().await;
        return server;
    }
    server.process.kill();
    if both {
        world.bank.open().await;
    }
    world.serve().await
}
