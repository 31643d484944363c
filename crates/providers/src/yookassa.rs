//! YooKassa, API v3. Header `Idempotence-Key`, at most 64 characters; keys live 24 h after the first request; HTTP 500 says
//! nothing about the payment; a 400 means that the request is wrong and wants a new key.

mod decode;

use async_trait::async_trait;
use payment::{Capture, ObjectId, ProviderKey, Timestamp};
use reqwest::{Client, Method as HttpMethod};
use serde_json::{Value, json};

use crate::{Account, Encoded, Method, Page, PayRequest, Provider, Reply, http};

/// The key's documented life.
const KEY_WINDOW_MS: i64 = 24 * 3_600_000;
/// Taken off it: clocks differ, and a request under way arrives later than it was sent.
const KEY_MARGIN_MS: i64 = 3_600_000;
/// Longest page of a listing.
const PAGE: &str = "100";

/// The provider.
pub struct YooKassa {
    client: Client,
}

impl YooKassa {
    /// With a client of its own.
    pub fn new() -> Result<Self, reqwest::Error> {
        Ok(Self { client: http::client()? })
    }

    fn get(&self, account: &Account, path: &str) -> reqwest::RequestBuilder {
        self.client.get(format!("{}{path}", account.url)).basic_auth(&account.id, Some(&account.secret.0))
    }
}

#[async_trait]
impl Provider for YooKassa {
    fn name(&self) -> &'static str {
        "yookassa"
    }

    fn resend_window_ms(&self) -> Option<i64> {
        Some(KEY_WINDOW_MS - KEY_MARGIN_MS)
    }

    fn encode_pay(&self, request: &PayRequest) -> Encoded {
        let mut metadata = request.metadata.clone();
        metadata.insert("checkout_id".to_owned(), request.checkout.to_string());
        metadata.insert("order_id".to_owned(), request.order.to_string());
        metadata.insert("payment_intent_id".to_owned(), request.intent.to_string());
        let mut body = json!({
            "amount": { "value": request.amount.decimal(), "currency": request.amount.currency().code() },
            "capture": request.capture == Capture::Automatic,
            "metadata": metadata,
            // Also for a card: its bank may ask for 3-D Secure.
            "confirmation": { "type": "redirect", "return_url": request.return_url },
        });
        if let Method::CardToken(token) = &request.method {
            body["payment_token"] = Value::from(token.as_str());
        }
        if let Some(description) = &request.description {
            body["description"] = Value::from(description.as_str());
        }
        Encoded { method: "POST", path: "/v3/payments", body: body.to_string().into_bytes() }
    }

    async fn send(
        &self,
        account: &Account,
        method: &str,
        path: &str,
        body: Vec<u8>,
        key: ProviderKey,
    ) -> Reply {
        let method = HttpMethod::from_bytes(method.as_bytes()).unwrap_or(HttpMethod::POST);
        let request = self
            .client
            .request(method, format!("{}{path}", account.url))
            .basic_auth(&account.id, Some(&account.secret.0))
            .header("Idempotence-Key", key.to_string())
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(body);
        match http::send(request).await {
            Ok(answer) => decode::reply(&answer),
            Err(reply) => reply,
        }
    }

    async fn query(&self, account: &Account, object: &ObjectId) -> Reply {
        match http::send(self.get(account, &format!("/v3/payments/{object}"))).await {
            Ok(answer) => decode::reply(&answer),
            Err(reply) => reply,
        }
    }

    async fn list(&self, account: &Account, from: Timestamp, cursor: Option<&str>) -> Page {
        let mut query = vec![("created_at.gte", decode::rfc3339(from)), ("limit", PAGE.to_owned())];
        query.extend(cursor.map(|cursor| ("cursor", cursor.to_owned())));
        match http::send(self.get(account, "/v3/payments").query(&query)).await {
            Ok(answer) => decode::page(&answer),
            Err(_) => Page::Failed { retry_after_ms: None },
        }
    }
}
