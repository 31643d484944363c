//! The shop's own orders. An order is on the disk with its idempotency key and its request *before* the API hears
//! of it (R1). Must never make a second order, or a second key, for a form that was posted twice.

use contract::CreateCheckout;
use rusqlite::{OptionalExtension, Row, Transaction, params, types::Type};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    database::Database,
    goods::{self, Good},
    ids,
};

/// Characters of an order number, five bits each: too many to guess, few enough to read aloud.
const NUMBER_LENGTH: usize = 12;
/// Crockford's base 32: no I, L, O or U to misread.
const NUMBER_ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// What a buy form asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// Made when the form was rendered, so that posting the same form again is the same wish.
    pub form_token: Uuid,
    /// What to buy.
    pub good: &'static Good,
    /// How many.
    pub quantity: u8,
}

impl Wish {
    /// The number of the order that this wish makes, for example `K7M2-9QXA-4T0B`.
    ///
    /// It follows from the wish, so that a form posted again names the same order. Nobody can guess it without
    /// the token: the number is all it takes to see the order's page. A form sent again with another quantity is
    /// another order.
    fn order_number(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.form_token.as_bytes());
        hash.update([self.quantity]);
        hash.update(self.good.slug);
        let digest = hash.finalize();
        let mut number = String::with_capacity(NUMBER_LENGTH + 2);
        for (index, byte) in digest.iter().take(NUMBER_LENGTH).enumerate() {
            if index > 0 && index % 4 == 0 {
                number.push('-');
            }
            number.push(char::from(NUMBER_ALPHABET[usize::from(byte % 32)]));
        }
        number
    }
}

/// An order as the shop knows it. What became of its payment is not kept: the API is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Names it to the shopper and to the API, and unlocks its page.
    pub number: String,
    /// What was asked for.
    pub wish: Wish,
    /// Sent with every try to open the checkout.
    pub idempotency_key: Uuid,
    /// Sent with every try, exactly like this.
    pub request: CreateCheckout,
    /// The API's id of the checkout, once it answered.
    pub checkout_id: Option<String>,
}

impl Order {
    /// Where its page is.
    pub fn path(&self) -> String {
        path_of(&self.number)
    }
}

/// Where the page of the order with that number is.
pub fn path_of(number: &str) -> String {
    format!("/shop/orders/{number}")
}

/// What a wish led to.
pub struct Placed {
    /// The order.
    pub order: Order,
    /// Whether this wish made it; otherwise an earlier posting of the same form had.
    pub is_new: bool,
}

/// All orders.
pub struct Orders {
    database: Database,
}

impl Orders {
    /// The orders in that database.
    pub fn new(database: Database) -> Self {
        Self { database }
    }

    /// The order of this wish: the one it made before, or a new one with a new key. `request` gets the number.
    ///
    /// # Errors
    /// When the database fails: then nothing is known to be kept, and the API must not be called.
    pub async fn place(
        &self,
        wish: Wish,
        request: impl FnOnce(&str) -> CreateCheckout,
    ) -> rusqlite::Result<Placed> {
        let number = wish.order_number();
        let request = request(&number);
        let order = Order { number, wish, idempotency_key: ids::new_uuid(), request, checkout_id: None };
        self.database
            .run(move |tx| {
                let is_new = insert(tx, &order)?;
                let order = find(tx, &order.number)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
                Ok(Placed { order, is_new })
            })
            .await
    }

    /// Keeps the id of the checkout that the API opened for an order.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn link(&self, number: &str, checkout_id: &str) -> rusqlite::Result<()> {
        const LINK: &str = "UPDATE shop_order SET checkout_id = ?2 WHERE number = ?1";
        let (number, checkout_id) = (number.to_owned(), checkout_id.to_owned());
        self.database
            .run(move |tx| match tx.execute(LINK, [number, checkout_id])? {
                1 => Ok(()),
                changed => Err(rusqlite::Error::StatementChangedRows(changed)),
            })
            .await
    }

    /// The order of that number.
    ///
    /// # Errors
    /// When the database fails, which says nothing about the order.
    pub async fn find(&self, number: &str) -> rusqlite::Result<Option<Order>> {
        let number = number.to_owned();
        self.database.run(move |tx| find(tx, &number)).await
    }
}

/// Keeps an order, unless its number is known: the primary key decides. Says whether it did.
fn insert(tx: &Transaction<'_>, order: &Order) -> rusqlite::Result<bool> {
    const INSERT: &str =
        "INSERT INTO shop_order (number, form_token, good, quantity, idempotency_key, request)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (number) DO NOTHING";
    let inserted = tx.execute(
        INSERT,
        params![
            order.number,
            order.wish.form_token.as_bytes(),
            order.wish.good.slug,
            order.wish.quantity,
            order.idempotency_key.as_bytes(),
            serde_json::to_string(&order.request).expect("a request is strings and numbers"),
        ],
    )?;
    Ok(inserted == 1)
}

/// The order of that number.
pub fn find(tx: &Transaction<'_>, number: &str) -> rusqlite::Result<Option<Order>> {
    const FIND: &str = "SELECT number, form_token, good, quantity, idempotency_key, request, checkout_id
         FROM shop_order WHERE number = ?1";
    tx.prepare_cached(FIND)?.query_row([number], read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Order> {
    let good: String = row.get(2)?;
    let request: String = row.get(5)?;
    Ok(Order {
        number: row.get(0)?,
        wish: Wish {
            form_token: Uuid::from_bytes(row.get(1)?),
            good: goods::find(&good)
                .ok_or_else(|| unreadable(2, format!("{good} is no longer on the shelves").into()))?,
            quantity: row.get(3)?,
        },
        idempotency_key: Uuid::from_bytes(row.get(4)?),
        request: serde_json::from_str(&request).map_err(|error| unreadable(5, error.into()))?,
        checkout_id: row.get(6)?,
    })
}

fn unreadable(column: usize, cause: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ShopDatabase, goods::GOODS};

    fn orders() -> Orders {
        Orders::new(Database::open(&ShopDatabase::Memory).unwrap())
    }

    fn wish() -> Wish {
        Wish { form_token: ids::new_uuid(), good: &GOODS[0], quantity: 1 }
    }

    async fn place(orders: &Orders, wish: Wish) -> Placed {
        let request = |number: &str| CreateCheckout {
            order_id: number.to_owned(),
            amount: wish.good.price.times(wish.quantity).to_amount(),
            description: None,
            customer: None,
            return_url: None,
            metadata: None,
            expires_in: None,
            capture: None,
        };
        orders.place(wish, request).await.unwrap()
    }

    #[tokio::test]
    async fn r1_one_wish_is_one_order_with_one_key() {
        let (orders, wish) = (orders(), wish());
        let first = place(&orders, wish).await;
        let again = place(&orders, wish).await;
        assert_eq!(first.order, again.order);
        assert_eq!((first.is_new, again.is_new), (true, false));
        assert_eq!(first.order.number.len(), NUMBER_LENGTH + 2);
    }

    #[tokio::test]
    async fn r5_another_form_or_another_quantity_is_another_order() {
        let (orders, first) = (orders(), wish());
        let number = place(&orders, first).await.order.number;
        assert_ne!(place(&orders, wish()).await.order.number, number);
        assert_ne!(place(&orders, Wish { quantity: 2, ..first }).await.order.number, number);
    }
}
