//! `GET /shop/shop.css?v=…`: the stylesheet, named by its content.

use axum::{
    extract::RawQuery,
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::IntoResponse,
};

use crate::pages::layout::{STYLESHEET, STYLESHEET_VERSION};

/// To be kept for ever under the version of its content, and for no time under any other name.
pub async fn show(RawQuery(query): RawQuery) -> impl IntoResponse {
    let named = query.as_deref().and_then(|query| query.strip_prefix("v="));
    let caching = if named == Some(STYLESHEET_VERSION.as_str()) {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    ([(CONTENT_TYPE, "text/css; charset=utf-8"), (CACHE_CONTROL, caching)], STYLESHEET)
}
