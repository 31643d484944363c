//! The shop's own orders, in memory: this is a demo, and a restart forgets them (the money side never does).
//! An order is stored with its idempotency key and its request *before* the API hears of it (R1).
//! Must never make a second order, or a second key, for a form that was posted twice.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use contract::CreateCheckout;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::goods::Good;

/// Orders kept; beyond this the oldest is forgotten.
const MAX_ORDERS: usize = 10_000;
/// Characters of an order number, five bits each: too many to guess, few enough to read aloud.
const NUMBER_LENGTH: usize = 12;
/// Crockford's base 32: no I, L, O or U to misread.
const NUMBER_ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// What a buy form asks for.
#[derive(Clone, Copy, Debug)]
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
    /// It follows from the wish, so that a form posted again after the shop forgot its orders names the same
    /// order, and the API recognises it. Nobody can guess it without the token: the number is all it takes to
    /// see the order's page. A form sent again with another quantity is another order.
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
#[derive(Clone, Debug)]
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

/// All orders.
#[derive(Default)]
pub struct Orders {
    shelf: Mutex<Shelf>,
}

#[derive(Default)]
struct Shelf {
    by_number: HashMap<String, Order>,
    oldest_first: VecDeque<String>,
}

impl Orders {
    /// The order of this wish: the one it made before, or a new one with a new key. `request` gets the number.
    pub fn place(&self, wish: Wish, request: impl FnOnce(&str) -> CreateCheckout) -> Order {
        let number = wish.order_number();
        let mut shelf = self.shelf();
        if let Some(known) = shelf.by_number.get(&number) {
            return known.clone();
        }
        if shelf.oldest_first.len() == MAX_ORDERS
            && let Some(oldest) = shelf.oldest_first.pop_front()
        {
            shelf.by_number.remove(&oldest);
        }
        let request = request(&number);
        let order = Order { number, wish, idempotency_key: new_uuid(), request, checkout_id: None };
        shelf.oldest_first.push_back(order.number.clone());
        shelf.by_number.insert(order.number.clone(), order.clone());
        order
    }

    /// Keeps the id of the checkout that the API opened for an order.
    pub fn link(&self, number: &str, checkout_id: &str) {
        if let Some(order) = self.shelf().by_number.get_mut(number) {
            order.checkout_id = Some(checkout_id.to_owned());
        }
    }

    /// The order of that number.
    pub fn find(&self, number: &str) -> Option<Order> {
        self.shelf().by_number.get(number).cloned()
    }

    /// No holder of the lock leaves the shelf half changed, so a panic elsewhere does not spoil it.
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A token for a form that is being rendered.
pub fn new_form_token() -> Uuid {
    new_uuid()
}

#[expect(clippy::disallowed_methods, reason = "the only place of this crate that makes ids")]
fn new_uuid() -> Uuid {
    Uuid::new_v4()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goods::GOODS;

    fn wish() -> Wish {
        Wish { form_token: new_form_token(), good: &GOODS[0], quantity: 1 }
    }

    fn place(orders: &Orders, wish: Wish) -> Order {
        orders.place(wish, |number| CreateCheckout {
            order_id: number.to_owned(),
            amount: wish.good.price.times(wish.quantity).to_amount(),
            description: None,
            customer: None,
            return_url: None,
            metadata: None,
            expires_in: None,
            capture: None,
        })
    }

    #[test]
    fn r1_one_wish_is_one_order_with_one_key() {
        let (orders, wish) = (Orders::default(), wish());
        let first = place(&orders, wish);
        let again = place(&orders, wish);
        assert_eq!((&first.number, first.idempotency_key), (&again.number, again.idempotency_key));
        assert_eq!(first.number.len(), NUMBER_LENGTH + 2);
    }

    #[test]
    fn r5_another_form_or_another_quantity_is_another_order() {
        let (orders, first) = (Orders::default(), wish());
        let number = place(&orders, first).number;
        assert_ne!(place(&orders, wish()).number, number);
        assert_ne!(place(&orders, Wish { quantity: 2, ..first }).number, number);
    }

    #[test]
    fn a_forgotten_order_comes_back_under_its_number() {
        let wish = wish();
        assert_eq!(place(&Orders::default(), wish).number, place(&Orders::default(), wish).number);
    }

    #[test]
    fn the_store_is_bounded_and_forgets_the_oldest() {
        let (orders, first) = (Orders::default(), wish());
        let number = place(&orders, first).number;
        for _ in 0..MAX_ORDERS {
            place(&orders, wish());
        }
        assert!(orders.find(&number).is_none());
        assert_eq!(orders.shelf().by_number.len(), MAX_ORDERS);
    }
}
