//! The demo shop "Зерно": a merchant like any other, a client of the public API with a secret key of its own.
//! Must never reach into the server's insides, decide whether money moved, or show or log its key.

mod api;
mod goods;
mod handlers;
mod headers;
mod language;
mod orders;
mod pages;
mod price;

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};
use reqwest::Url;

use crate::{api::Api, headers::SecurityHeaders, orders::Orders};

/// Longest form that is read; ours have some hundred bytes.
const MAX_FORM_BYTES: usize = 16 * 1024;

/// What the shop has to be told.
pub struct Config {
    /// Base of the API as the shop reaches it, for example `http://127.0.0.1:8080`.
    pub api_url: String,
    /// Base of the payment pages as browsers reach them. The shopper is sent there by a redirect after a form
    /// post, which Chromium checks against `form-action`.
    pub payment_pages_url: String,
    /// Base of the shop's own absolute links.
    pub public_url: String,
    /// The merchant's secret key.
    pub secret_key: String,
}

/// Why a shop cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// An address that is not one.
    #[error("{name} is {value:?}, and has to be an absolute http or https URL")]
    Url {
        /// Which field of [`Config`].
        name: &'static str,
        /// What it was.
        value: String,
    },
    /// A key that cannot stand in a header. The key itself is not repeated here.
    #[error("the shop's secret key has characters that a header cannot carry")]
    SecretKey,
    /// The HTTP client cannot be made.
    #[error("the shop's HTTP client cannot be made")]
    Client(#[source] reqwest::Error),
}

/// The shop: its goods, its orders, and its way to the API.
#[derive(Clone)]
pub struct Shop {
    inner: Arc<Inner>,
}

struct Inner {
    api: Api,
    orders: Orders,
    public_url: Url,
    headers: SecurityHeaders,
}

impl Shop {
    /// Sets a shop up; it has no orders yet. The process must have installed a rustls provider before.
    ///
    /// # Errors
    /// [`ConfigError`] when an address or the key is unusable.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let public_url = web_url("public_url", &config.public_url)?;
        let payment_pages = web_url("payment_pages_url", &config.payment_pages_url)?;
        let api = Api::new(web_url("api_url", &config.api_url)?, &config.secret_key)?;
        let headers = SecurityHeaders::new(&payment_pages.origin().ascii_serialization());
        Ok(Self { inner: Arc::new(Inner { api, orders: Orders::default(), public_url, headers }) })
    }

    /// `/shop` and everything below it.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/shop", get(handlers::catalogue::show))
            .route("/shop/", get(handlers::catalogue::move_here))
            .route("/shop/orders", get(handlers::catalogue::move_here).merge(post(handlers::orders::place)))
            .route("/shop/orders/{number}", get(handlers::orders::show))
            .route("/shop/shop.css", get(handlers::stylesheet::show))
            .route("/shop/{*rest}", get(handlers::catalogue::not_found))
            .layer(DefaultBodyLimit::max(MAX_FORM_BYTES))
            .route_layer(middleware::map_response_with_state(self.clone(), headers::add))
            .with_state(self.clone())
    }

    fn api(&self) -> &Api {
        &self.inner.api
    }

    fn orders(&self) -> &Orders {
        &self.inner.orders
    }

    fn public_url(&self) -> &Url {
        &self.inner.public_url
    }

    fn headers(&self) -> &SecurityHeaders {
        &self.inner.headers
    }
}

fn web_url(name: &'static str, value: &str) -> Result<Url, ConfigError> {
    Url::parse(value)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| ConfigError::Url { name, value: value.to_owned() })
}
