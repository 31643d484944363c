//! The demo shop "Зерно": a merchant like any other, a client of the public API with a secret key of its own.
//! Ships what was paid, by webhook. Must never reach into the server's insides, decide whether money moved, or show or log its key.

mod api;
mod bank;
mod clock;
mod database;
mod faults;
mod figures;
mod goods;
mod handlers;
mod headers;
mod ids;
mod language;
mod mailbox;
mod orders;
mod pages;
mod price;
mod shipments;
mod signature;

use std::{path::PathBuf, sync::Arc};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{get, post},
};
use reqwest::Url;

use crate::{
    api::Api, bank::Bank, database::Database, headers::SecurityHeaders, mailbox::Mailbox, orders::Orders,
    shipments::Shipments, signature::Verifier,
};

pub use crate::database::{DatabaseError, ShopDatabase};

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
    /// What webhooks are signed with: `whsec_` and 24 to 64 bytes in base64.
    pub webhook_secret: String,
    /// Where orders are kept.
    pub database: ShopDatabase,
    /// Base of the sandbox bank, which lets payments go wrong on demand and shows its ledger; `None`: no drawer.
    pub bank_url: Option<String>,
    /// Where mails are written instead of being sent; `None`: no mailbox.
    pub mail_folder: Option<PathBuf>,
}

/// Why a shop cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
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
    /// A webhook secret that is none. It is not repeated here.
    #[error("the shop's webhook secret is not whsec_ and 24 to 64 bytes in base64")]
    WebhookSecret,
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
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
    bank: Option<Bank>,
    mailbox: Option<Mailbox>,
    orders: Orders,
    shipments: Shipments,
    webhooks: Verifier,
    public_url: Url,
    headers: SecurityHeaders,
}

impl Shop {
    /// Opens the shop with the orders it has. The process must have installed a rustls provider before.
    ///
    /// # Errors
    /// [`OpenError`] when an address, a key, a secret or the database is unusable.
    pub fn open(config: Config) -> Result<Self, OpenError> {
        let payment_pages = web_url("payment_pages_url", &config.payment_pages_url)?;
        let bank_url = config.bank_url.map(|url| web_url("bank_url", &url)).transpose()?;
        let database = Database::open(&config.database)?;
        let inner = Inner {
            api: Api::new(web_url("api_url", &config.api_url)?, &config.secret_key)?,
            bank: bank_url.map(Bank::new).transpose()?,
            mailbox: config.mail_folder.map(Mailbox::new),
            orders: Orders::new(database.clone()),
            shipments: Shipments::new(database),
            webhooks: Verifier::new(&config.webhook_secret).map_err(|_| OpenError::WebhookSecret)?,
            public_url: web_url("public_url", &config.public_url)?,
            headers: SecurityHeaders::new(&payment_pages.origin().ascii_serialization()),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// `/shop` and everything below it.
    pub fn router(&self) -> Router {
        let webhooks = post(handlers::webhooks::receive)
            .layer(DefaultBodyLimit::max(handlers::webhooks::MAX_WEBHOOK_BYTES));
        Router::new()
            .route("/shop", get(handlers::catalogue::show))
            .route("/shop/", get(handlers::catalogue::move_here))
            .route("/shop/orders", get(handlers::catalogue::move_here).merge(post(handlers::orders::place)))
            .route("/shop/orders/{number}", get(handlers::orders::show))
            .route("/shop/orders/{number}/faults", post(handlers::drawer::choose))
            .route("/shop/orders/{number}/live", get(handlers::drawer::live))
            .route("/shop/mailbox", get(handlers::mailbox::list))
            .route("/shop/mailbox/{name}", get(handlers::mailbox::show))
            .route("/shop/shop.css", get(handlers::stylesheet::show))
            .route("/shop/{*rest}", get(handlers::catalogue::not_found))
            .layer(DefaultBodyLimit::max(MAX_FORM_BYTES))
            .route("/shop/webhooks", webhooks)
            .route_layer(middleware::map_response_with_state(self.clone(), headers::add))
            .with_state(self.clone())
    }

    fn api(&self) -> &Api {
        &self.inner.api
    }

    /// `None`: there is no sandbox bank to play with.
    fn bank(&self) -> Option<&Bank> {
        self.inner.bank.as_ref()
    }

    /// `None`: mails are not written anywhere.
    fn mailbox(&self) -> Option<&Mailbox> {
        self.inner.mailbox.as_ref()
    }

    fn orders(&self) -> &Orders {
        &self.inner.orders
    }

    fn shipments(&self) -> &Shipments {
        &self.inner.shipments
    }

    fn webhooks(&self) -> &Verifier {
        &self.inner.webhooks
    }

    fn public_url(&self) -> &Url {
        &self.inner.public_url
    }

    fn headers(&self) -> &SecurityHeaders {
        &self.inner.headers
    }
}

fn web_url(name: &'static str, value: &str) -> Result<Url, OpenError> {
    Url::parse(value)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| OpenError::Url { name, value: value.to_owned() })
}
