//! What is on the shelves. Names and descriptions are messages (`locales/`), pictures are files (`art/`).
//! Must never hold what changes while the shop runs.

use crate::price::Price;

/// Something for sale.
#[derive(Debug, PartialEq, Eq)]
pub struct Good {
    /// Names it in forms, links and messages.
    pub slug: &'static str,
    /// What one costs.
    pub price: Price,
    /// Its picture: an SVG element of our own making, to be put into a page as it is.
    pub picture: &'static str,
}

macro_rules! good {
    ($slug:literal, $rubles:literal) => {
        Good {
            slug: $slug,
            price: Price::rubles($rubles),
            picture: include_str!(concat!("../art/", $slug, ".svg")),
        }
    };
}

/// Everything for sale, in the order of the shelf.
pub const GOODS: [Good; 6] = [
    good!("bravo", 1_500),
    good!("guji", 890),
    good!("cerrado", 1_690),
    good!("dripper", 1_190),
    good!("filters", 390),
    good!("kettle", 3_490),
];

/// Most pieces of one good in one order.
pub const MAX_QUANTITY: u8 = 5;

/// The good of that name.
pub fn find(slug: &str) -> Option<&'static Good> {
    GOODS.iter().find(|good| good.slug == slug)
}
