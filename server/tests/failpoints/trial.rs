//! One payment that goes through one place, where the server is killed, stopped or fails; and what has to be true afterwards.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinHandle;

use crate::{
    bank::{Create, rows},
    process::eventually,
    server::{Deed, Server, Start},
    shopper::{Order, Reply},
    witnesses::{Receipt, check_journal},
    world::{Setup, World},
};

/// Longer than the gap after which a server does not send before it has looked.
const LONG_SILENCE: Duration = Duration::from_secs(120);

/// What leads to the place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Road {
    /// A payment.
    Payment,
    /// A payment whose answer is lost, and the bank's notification of it.
    Notification,
    /// A payment whose answer was lost with the server that waited for it, and the sweep of the next one.
    Sweep,
    /// Money that was taken twice, and its return.
    Extra,
}

/// Who goes on when the server is stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Heir {
    /// Another server, before the stopped one wakes.
    Another,
    /// The same one, when it wakes.
    Itself,
}

/// A place, and how to get there.
#[derive(Clone, Copy)]
pub struct Trial {
    pub place: &'static str,
    pub road: Road,
    pub heir: Heir,
    /// What is known of the receipt in the end.
    pub receipt: Receipt,
}

impl Trial {
    pub const fn new(place: &'static str, road: Road, heir: Heir, receipt: Receipt) -> Self {
        Self { place, road, heir, receipt }
    }

    /// Goes there, lets it happen, and looks at what came of it.
    pub async fn of(self, deed: Deed) {
        let setup = Setup {
            notified: self.road == Road::Notification,
            refunds_extras: self.road == Road::Extra,
            ..Setup::default()
        };
        let world = World::new(setup).await;
        let mut server = world.serve().await;
        let earlier = world.buy_and_pay(&server).await;
        let (order, first_reply);
        (server, order, first_reply) = self.go_there(&world, server, deed).await;
        server.is_struck(deed).await;
        let written = world.receipts(&order);
        let server = self.go_on(&world, server, &order, deed).await;
        self.check(&world, &server, &order).await;
        world.is_paid_once(&server, &earlier).await;
        assert!(world.receipts(&order).starts_with(&written), "what was written is not written again");
        repeats_get_the_first_answer(&server, &order, first_reply).await;
    }

    /// A server on its way to the place, with a shopper who waits for its answer.
    async fn go_there(
        self,
        world: &World,
        server: Server,
        deed: Deed,
    ) -> (Server, Order, JoinHandle<reqwest::Result<Reply>>) {
        let strike = Some((self.place, deed));
        match self.road {
            Road::Payment | Road::Notification => {
                server.process.terminate().await;
                let server = world.serve_until(strike).await;
                let order = world.buy(&server).await;
                if self.road == Road::Notification {
                    world.bank.fault(&json!({ "kind": "lose_answer", "order_id": order.number })).await;
                }
                let reply = submit(&server, &order);
                (server, order, reply)
            }
            Road::Sweep => {
                let order = world.buy(&server).await;
                let lost = json!({ "kind": "lose_answer", "order_id": order.number, "delay_ms": 60_000 });
                world.bank.fault(&lost).await;
                let reply = submit(&server, &order);
                eventually("the bank has it", async || world.bank.payments(&order.number).await.pop()).await;
                server.process.kill();
                world.was_silent_for(LONG_SILENCE);
                (Start { strike, ..world.first() }.now(), order, reply)
            }
            Road::Extra => {
                let order = world.buy(&server).await;
                let reply = order.submit(&server.url).await;
                world.is_paid_once(&server, &order).await;
                server.process.terminate().await;
                let server = world.serve_until(strike).await;
                let payment = world.bank.payments(&order.number).await.pop().unwrap();
                world.bank.charge_again(&payment).await;
                (server, order, tokio::spawn(async { reply }))
            }
        }
    }

    /// The server that goes on after it.
    async fn go_on(self, world: &World, server: Server, order: &Order, deed: Deed) -> Server {
        match (deed, self.heir) {
            (Deed::Kill, _) => {
                drop(server);
                world.serve().await
            }
            (Deed::Error, _) => server.ready(&world.client).await,
            // A server that is stopped while it writes keeps the file's lock, and its heirs wait for it.
            (Deed::Stop, Heir::Another) if world.may_write() => {
                let heir = world.serve_beside().await;
                self.check(world, &heir, order).await;
                let sent = requests(world).await;
                server.process.go_on();
                let server = server.ready(&world.client).await;
                server.process.terminate().await;
                assert_eq!(requests(world).await, sent, "who wakes late sends nothing");
                heir
            }
            (Deed::Stop, _) => {
                server.process.go_on();
                server.ready(&world.client).await
            }
        }
    }

    async fn check(self, world: &World, server: &Server, order: &Order) {
        if self.road == Road::Extra {
            world.is_given_back_once(order).await;
            check_journal(&world.reaches(server, order, "succeeded").await);
        } else {
            world.is_paid_once_with(server, order, self.receipt).await;
        }
    }
}

fn submit(server: &Server, order: &Order) -> JoinHandle<reqwest::Result<Reply>> {
    let (order, url) = (order.clone(), server.url.clone());
    tokio::spawn(async move { order.submit(&url).await })
}

async fn requests(world: &World) -> (Vec<Create>, Vec<Create>) {
    (world.bank.creates().await, world.bank.refund_requests().await)
}

/// Whoever repeats the submission now gets the first final answer, to the byte.
async fn repeats_get_the_first_answer(
    server: &Server,
    order: &Order,
    first: JoinHandle<reqwest::Result<Reply>>,
) {
    let again = order.submit(&server.url).await.unwrap();
    assert!(again.is_final() && again.is_replay(), "{again:?}");
    let once_more = order.submit(&server.url).await.unwrap();
    assert_eq!((once_more.status, &once_more.bytes), (again.status, &again.bytes));
    // Whose server was killed got no answer; whose server was slow was told the truth of the moment.
    if let Ok(first) = first.await.unwrap()
        && first.is_final()
    {
        assert_eq!(first.bytes, again.bytes);
    }
}

impl World {
    /// The bank's word: two payments of the order, and one of them given back, by requests that are all the same.
    async fn is_given_back_once(&self, order: &Order) {
        let payments = self.bank.payments(&order.number).await;
        assert_eq!(payments.len(), 2, "{payments:?}");
        let extra = &payments[1]["id"];
        eventually("the extra is given back", async || {
            let ledger = self.bank.ledger().await;
            let refunds = rows(&ledger, "refunds");
            refunds.iter().any(|refund| refund["status"] == "succeeded").then_some(())
        })
        .await;
        eventually("and that is written down", async || self.nothing_is_open().then_some(())).await;
        let ledger = self.bank.ledger().await;
        let refunds = rows(&ledger, "refunds");
        assert_eq!(refunds.len(), 1, "{refunds:?}");
        assert_eq!(&refunds[0]["payment_id"], extra);
        let asked = self.bank.refund_requests().await;
        assert!(asked.iter().all(|request| *request == asked[0]), "{asked:?}");
        assert_eq!((self.shipments(order), self.receipts(order).len()), (1, 1));
    }
}
