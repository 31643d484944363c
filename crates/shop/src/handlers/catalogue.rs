//! `GET /shop`: the shelves.

use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::header::CACHE_CONTROL,
    response::{IntoResponse, Redirect},
};
use serde::Deserialize;

use super::missing::Missing;
use crate::{
    Shop, faults,
    language::Visitor,
    pages::{self, drawer::ShelfDrawer},
};

/// What the address of the shelves may say.
#[derive(Deserialize)]
pub struct Shelves {
    fault: Option<String>,
}

/// The goods. The page may be shown again from the browser's history, and should: its forms keep their tokens
/// then, and going back to buy once more what is already on its way finds the same order.
pub async fn show(
    State(shop): State<Shop>,
    visitor: Visitor,
    asked: Result<Query<Shelves>, QueryRejection>,
) -> impl IntoResponse {
    let chosen = asked.ok().and_then(|Query(asked)| faults::find(&asked.fault?));
    let drawer = shop.bank().map(|_| ShelfDrawer { chosen, has_mailbox: shop.mailbox().is_some() });
    ([(CACHE_CONTROL, "private, no-cache")], pages::catalogue::render(visitor, drawer))
}

/// For addresses that mean the shelves.
pub async fn move_here(visitor: Visitor) -> Redirect {
    Redirect::to(&visitor.link("/shop"))
}

/// Anything below `/shop` that is not there.
pub async fn not_found(visitor: Visitor) -> Missing {
    Missing::Page(visitor)
}
