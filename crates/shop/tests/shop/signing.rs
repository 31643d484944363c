//! Webhooks as Payonce sends them: Standard Webhooks, signed.

use axum::http::HeaderMap;
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde_json::json;
use sha2::Sha256;

use crate::support::{Answer, TestShop};

pub const WEBHOOK_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
pub const OTHER_SECRET: &str = "whsec_b3RoZXIgc2VjcmV0LCBvdGhlciBzZWNyZXQh";

/// Seconds since 1970.
pub fn now_s() -> i64 {
    Timestamp::now().as_second()
}

/// `checkout.paid` for an order of 1500 rubles.
pub fn paid(order_id: &str) -> String {
    let data = json!({
        "id": "co_1", "object": "checkout", "status": "paid", "order_id": order_id,
        "amount": { "value": "1500.00", "currency": "RUB" }, "metadata": {},
        "payment_intent": { "id": "pi_1", "state": "succeeded" }, "paid_at": "2026-11-30T10:00:00Z",
    });
    json!({ "type": "checkout.paid", "timestamp": "2026-11-30T10:00:00Z", "data": data }).to_string()
}

/// `v1,…`
pub fn signature(secret: &str, id: &str, at_s: i64, body: &str) -> String {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{id}.{at_s}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// The three headers.
pub fn headers(id: &str, at_s: i64, signature: &str) -> HeaderMap {
    HeaderMap::from_iter([
        ("webhook-id".parse().unwrap(), id.parse().unwrap()),
        ("webhook-timestamp".parse().unwrap(), at_s.to_string().parse().unwrap()),
        ("webhook-signature".parse().unwrap(), signature.parse().unwrap()),
    ])
}

impl TestShop {
    /// Delivers a webhook as its sender does, now.
    pub async fn tell(&self, id: &str, body: &str) -> Answer {
        let at_s = now_s();
        self.deliver(headers(id, at_s, &signature(WEBHOOK_SECRET, id, at_s, body)), body).await
    }
}
