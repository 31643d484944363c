//! Answers to requests for what is not there, or cannot be read now.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use tracing::error;

use crate::{language::Visitor, pages};

/// Why there is nothing to show, and to whom.
#[derive(Debug)]
pub enum Missing {
    /// No page has this address.
    Page(Visitor),
    /// The shop has no such order.
    Order(Visitor),
    /// The shop cannot read or write its own files: nothing was done, and nothing can be said.
    Files(Visitor),
}

impl Missing {
    /// After a failure of the shop's own files, which is logged here.
    pub fn unreadable(visitor: Visitor, failure: &(dyn std::error::Error + 'static)) -> Self {
        error!(error = failure, "the shop cannot use its files");
        Self::Files(visitor)
    }
}

impl IntoResponse for Missing {
    fn into_response(self) -> Response {
        match self {
            Self::Page(visitor) => (StatusCode::NOT_FOUND, pages::trouble::no_such_page(visitor)),
            Self::Order(visitor) => (StatusCode::NOT_FOUND, pages::trouble::no_such_order(visitor)),
            Self::Files(visitor) => (StatusCode::SERVICE_UNAVAILABLE, pages::trouble::shop_failed(visitor)),
        }
        .into_response()
    }
}
