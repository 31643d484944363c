//! The headers of every answer: no scripts, no foreign content, no frames, no leaks.
//! Must never be loosened for a page's convenience.

use axum::{
    extract::State,
    http::{
        HeaderValue,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS},
    },
    response::Response,
};

use crate::Shop;

/// The values that depend on where the shop runs.
pub struct SecurityHeaders {
    content_security_policy: HeaderValue,
}

impl SecurityHeaders {
    /// `payment_pages` is the origin that a buy form is redirected to.
    pub fn new(payment_pages: &str) -> Self {
        let policy = format!(
            "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self' {payment_pages}; \
             base-uri 'none'; frame-ancestors 'none'"
        );
        let content_security_policy =
            HeaderValue::try_from(policy).expect("an origin is ASCII without control characters");
        Self { content_security_policy }
    }
}

/// Adds them to an answer. What a handler said about caching stands; otherwise nothing is kept.
pub async fn add(State(shop): State<Shop>, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, shop.headers().content_security_policy.clone());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // An order's link is a key to its page: it stays within this site.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(VARY, HeaderValue::from_static("Accept-Language"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
