//! The headers of every answer: no foreign content, no frames, no leaks, and no scripts but the one of a page that
//! made a nonce for it. Must never be loosened for a page's convenience.

use axum::{
    extract::State,
    http::{
        HeaderValue,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS},
    },
    response::Response,
};

use crate::{Shop, ids};

/// Lets one script of one page run. A page that has one puts it into the extensions of its answer.
#[derive(Clone)]
pub struct Nonce(String);

impl Nonce {
    /// One that nobody can guess.
    pub fn new() -> Self {
        Self(ids::new_uuid().simple().to_string())
    }

    /// For the script's attribute.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The values that depend on where the shop runs.
pub struct SecurityHeaders {
    content_security_policy: String,
}

impl SecurityHeaders {
    /// `payment_pages` is the origin that a buy form is redirected to.
    pub fn new(payment_pages: &str) -> Self {
        let content_security_policy = format!(
            "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self' {payment_pages}; \
             base-uri 'none'; frame-ancestors 'none'"
        );
        Self { content_security_policy }
    }

    /// The script may ask the shop, and nobody else.
    fn policy(&self, nonce: Option<&Nonce>) -> HeaderValue {
        let policy = &self.content_security_policy;
        let value = match nonce {
            Some(Nonce(nonce)) => {
                HeaderValue::try_from(format!("{policy}; script-src 'nonce-{nonce}'; connect-src 'self'"))
            }
            None => HeaderValue::try_from(policy),
        };
        value.expect("origins and nonces are ASCII without control characters")
    }
}

/// Adds them to an answer. What a handler said about caching stands; otherwise nothing is kept.
pub async fn add(State(shop): State<Shop>, mut response: Response) -> Response {
    let policy = shop.headers().policy(response.extensions().get::<Nonce>());
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // An order's link is a key to its page: it stays within this site.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(VARY, HeaderValue::from_static("Accept-Language"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
