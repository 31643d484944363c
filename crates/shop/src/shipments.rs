//! What leaves the shop: an order ships once, when a webhook says that it is paid, and for no other reason.
//! Must never ship because a page was reached, or twice, however often and by however many messages it is told (R20).

use contract::Amount;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction, params};

use crate::{database::Database, orders};

/// What a webhook says about a payment.
#[derive(Clone, Debug)]
pub struct PaidOrder {
    /// The sender's id of the message; the same one for every delivery of it.
    pub webhook_id: String,
    /// Which order.
    pub number: String,
    /// How much was paid.
    pub amount: Amount,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The order is on its way.
    Shipped,
    /// The order has been on its way before: this message, or another one, came earlier.
    ShippedBefore,
    /// No such order. Nothing is kept, so that the message can come again.
    UnknownOrder,
    /// Not the order's sum. Nothing is kept.
    WrongAmount,
}

/// All shipments.
pub struct Shipments {
    database: Database,
}

impl Shipments {
    /// The shipments in that database.
    pub fn new(database: Database) -> Self {
        Self { database }
    }

    /// Ships a paid order, once. When this returns, what it says is on the disk.
    ///
    /// # Errors
    /// When the database fails: then nothing is known to be kept, and the message has to come again.
    pub async fn ship(&self, paid: PaidOrder, now: Timestamp) -> rusqlite::Result<Outcome> {
        self.database.run(move |tx| ship(tx, &paid, now.as_millisecond())).await
    }

    /// When the order was shipped, if it was.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn shipped_at(&self, number: &str) -> rusqlite::Result<Option<Timestamp>> {
        const FIND: &str = "SELECT shipped_ms FROM shipment WHERE order_number = ?1";
        let number = number.to_owned();
        let found = self.database.run(move |tx| tx.query_row(FIND, [number], |row| row.get(0)).optional());
        Ok(found.await?.and_then(|shipped_ms| Timestamp::from_millisecond(shipped_ms).ok()))
    }

    /// How many shipments the order has.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count(&self, number: &str) -> rusqlite::Result<u32> {
        const COUNT: &str = "SELECT count(*) FROM shipment WHERE order_number = ?1";
        let number = number.to_owned();
        self.database.run(move |tx| tx.query_row(COUNT, [number], |row| row.get(0))).await
    }
}

fn ship(tx: &Transaction<'_>, paid: &PaidOrder, now_ms: i64) -> rusqlite::Result<Outcome> {
    const REMEMBER: &str = "INSERT INTO webhook (id, order_number, received_ms) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO NOTHING";
    const SHIP: &str = "INSERT INTO shipment (order_number, webhook_id, shipped_ms) VALUES (?1, ?2, ?3)
         ON CONFLICT (order_number) DO NOTHING";
    let Some(order) = orders::find(tx, &paid.number)? else { return Ok(Outcome::UnknownOrder) };
    if order.request.amount != paid.amount {
        return Ok(Outcome::WrongAmount);
    }
    let told = params![paid.webhook_id, order.number, now_ms];
    if tx.execute(REMEMBER, told)? == 0 {
        return Ok(Outcome::ShippedBefore);
    }
    let shipped = tx.execute(SHIP, params![order.number, paid.webhook_id, now_ms])?;
    Ok(if shipped == 1 { Outcome::Shipped } else { Outcome::ShippedBefore })
}
