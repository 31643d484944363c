//! `GET /shop`: the shelves.

use axum::{
    http::{StatusCode, header::CACHE_CONTROL},
    response::{IntoResponse, Redirect},
};

use crate::{language::Visitor, pages};

/// The goods. The page may be shown again from the browser's history, and should: its forms keep their tokens
/// then, and going back to buy once more what is already on its way finds the same order.
pub async fn show(visitor: Visitor) -> impl IntoResponse {
    ([(CACHE_CONTROL, "private, no-cache")], pages::catalogue::render(visitor))
}

/// For addresses that mean the shelves.
pub async fn move_here(visitor: Visitor) -> Redirect {
    Redirect::to(&visitor.link("/shop"))
}

/// Anything below `/shop` that is not there.
pub async fn not_found(visitor: Visitor) -> impl IntoResponse {
    (StatusCode::NOT_FOUND, pages::trouble::no_such_page(visitor))
}
