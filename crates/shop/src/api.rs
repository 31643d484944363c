//! The shop's calls of the public API, as any merchant makes them: open a checkout, ask how it stands.
//! Must never believe an answer about another order or sum, follow a redirect, or let the key out.

use std::time::Duration;

use contract::{Checkout, IDEMPOTENCY_KEY, PaymentIntent, Problem};
use reqwest::{
    Client, RequestBuilder, StatusCode, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER},
    redirect::Policy,
};
use serde::de::DeserializeOwned;

use crate::{OpenError, orders::Order};

/// Longest wait for a connection: the API is near.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Longest wait for a whole answer. Opening a checkout charges nobody, so giving up is harmless.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer that is read.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Why the API gave us nothing to go on with.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// No answer, or half of one: whether the request was executed is not known.
    #[error("the API did not answer")]
    NoAnswer(#[source] reqwest::Error),
    /// 429: nothing was done, come back later.
    #[error("the API has too many requests")]
    Busy {
        /// Its `Retry-After`, seconds.
        retry_after_s: Option<u32>,
    },
    /// 401 or 403: the shop's key is wrong.
    #[error("the API does not accept the shop's key: {status} {code}")]
    KeyRefused {
        /// What the API answered.
        status: StatusCode,
        /// The problem's code.
        code: String,
        /// The API's name of the request.
        request_id: Option<String>,
    },
    /// 409 `order_paid`: there is nothing left to pay.
    #[error("the order is paid already")]
    OrderPaid,
    /// Any other 4xx: the API understood, and said no.
    #[error("the API refused: {status} {code}")]
    Refused {
        /// What the API answered.
        status: StatusCode,
        /// The problem's code.
        code: String,
        /// The API's name of the request.
        request_id: Option<String>,
    },
    /// 5xx, or any other answer that is not one of ours: whether the request was executed is not known.
    #[error("the API failed: {status}")]
    Failed {
        /// What the API answered.
        status: StatusCode,
        /// The API's name of the request.
        request_id: Option<String>,
    },
    /// An answer that cannot be read or is about something else.
    #[error("the API's answer makes no sense: {0}")]
    Garbled(&'static str),
}

impl ApiError {
    /// The API's name of the request, for support.
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Self::KeyRefused { request_id, .. }
            | Self::Refused { request_id, .. }
            | Self::Failed { request_id, .. } => request_id.as_deref(),
            Self::NoAnswer(_) | Self::Busy { .. } | Self::OrderPaid | Self::Garbled(_) => None,
        }
    }
}

/// The way to the API.
pub struct Api {
    client: Client,
    base: Url,
}

impl Api {
    /// A client that speaks for the merchant whose key it is.
    ///
    /// # Errors
    /// When the key cannot stand in a header, or the client cannot be made.
    pub fn new(base: Url, secret_key: &str) -> Result<Self, OpenError> {
        let mut bearer =
            HeaderValue::try_from(format!("Bearer {secret_key}")).map_err(|_| OpenError::SecretKey)?;
        bearer.set_sensitive(true);
        let client = Client::builder()
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, bearer)]))
            .user_agent(concat!("payonce-shop/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ANSWER_TIMEOUT)
            .redirect(Policy::none())
            .no_proxy()
            .build()
            .map_err(OpenError::Client)?;
        Ok(Self { client, base })
    }

    /// Opens the checkout of an order, or finds the one that an earlier try opened: key and request are the
    /// order's own and never change (R1, R2).
    ///
    /// # Errors
    /// [`ApiError`]; whichever it is, nobody was charged, and the call can be made again.
    pub async fn open_checkout(&self, order: &Order) -> Result<Checkout, ApiError> {
        let request = self
            .client
            .post(self.url(&["v1", "checkouts"]))
            .header(IDEMPOTENCY_KEY, order.idempotency_key.to_string())
            .json(&order.request);
        ask_about(order, request).await
    }

    /// How the checkout of an order stands.
    ///
    /// # Errors
    /// [`ApiError`], which says nothing about the payment.
    pub async fn show_checkout(&self, order: &Order, checkout_id: &str) -> Result<Checkout, ApiError> {
        ask_about(order, self.client.get(self.url(&["v1", "checkouts", checkout_id]))).await
    }

    /// An intent of the order's checkout, with everything that its merchant may see.
    ///
    /// # Errors
    /// [`ApiError`], which says nothing about the payment.
    pub async fn show_intent(&self, order: &Order, intent_id: &str) -> Result<PaymentIntent, ApiError> {
        let intent: PaymentIntent =
            ask(self.client.get(self.url(&["v1", "payment_intents", intent_id]))).await?;
        if intent.order_id != order.number {
            return Err(ApiError::Garbled("it is about another order"));
        }
        Ok(intent)
    }

    fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .expect("an http URL has a path: Shop::open accepts no other")
            .pop_if_empty()
            .extend(segments);
        url
    }
}

async fn ask_about(order: &Order, request: RequestBuilder) -> Result<Checkout, ApiError> {
    let checkout: Checkout = ask(request).await?;
    if checkout.order_id != order.number || checkout.amount != order.request.amount {
        return Err(ApiError::Garbled("it is about another order or sum"));
    }
    Ok(checkout)
}

async fn ask<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ApiError> {
    let mut response = request.send().await.map_err(ApiError::NoAnswer)?;
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(ApiError::NoAnswer)? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(ApiError::Garbled("it is too long"));
        }
        body.extend_from_slice(&chunk);
    }
    if !status.is_success() {
        return Err(refusal(status, &headers, &body));
    }
    serde_json::from_slice(&body).map_err(|_| ApiError::Garbled("it is not what was asked for"))
}

fn refusal(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ApiError {
    let problem: Option<Problem> = serde_json::from_slice(body).ok();
    let (code, request_id) = problem.map(|problem| (problem.code, problem.request_id)).unzip();
    let code = code.unwrap_or_default();
    match status {
        StatusCode::TOO_MANY_REQUESTS => {
            let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            ApiError::Busy { retry_after_s: retry_after.and_then(|value| value.parse().ok()) }
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ApiError::KeyRefused { status, code, request_id },
        StatusCode::CONFLICT if code == "order_paid" => ApiError::OrderPaid,
        status if status.is_client_error() => ApiError::Refused { status, code, request_id },
        status => ApiError::Failed { status, request_id },
    }
}
