//! Sends a webhook once, as Standard Webhooks say: signed, with an id that is the same over all tries. Follows no redirect, reads no
//! more of an answer than it must, and never shows the secret or the address.

use std::time::Duration;

use contract::{Event, Metadata, PaidCheckout, PaidIntent};
use engine::{Again, Delivery, Webhook};
use payment::Mode;
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{CONTENT_TYPE, RETRY_AFTER},
    redirect::Policy,
};
use standardwebhooks::{
    HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP, Webhook as Signer,
};

use super::public_address::PublicOnly;
use crate::{
    answers::{amount, json, rfc3339, state, status},
    config::is_public_https,
};

/// An endpoint's whole answer is awaited this long.
const DEADLINE: Duration = Duration::from_secs(15);
/// A connection is awaited this long.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);
/// Most of an answer's body that is read; it says nothing to us.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// The way out for webhooks.
pub struct Webhooks {
    /// Goes anywhere: to a developer's own machine too.
    test: Client,
    /// Goes to public addresses only.
    live: Client,
}

impl Webhooks {
    /// The process must have installed a rustls provider before.
    pub fn new() -> Result<Self, reqwest::Error> {
        let builder = || {
            Client::builder()
                .timeout(DEADLINE)
                .connect_timeout(CONNECT_DEADLINE)
                .redirect(Policy::none())
                // Behind a proxy the address that is checked would not be the one that is connected to.
                .no_proxy()
                .user_agent(concat!("Payonce/", env!("CARGO_PKG_VERSION")))
        };
        Ok(Self { test: builder().build()?, live: builder().dns_resolver(PublicOnly).build()? })
    }

    /// One try.
    pub async fn send(&self, webhook: &Webhook) -> Delivery {
        let client = match webhook.checkout.tenant.mode {
            Mode::Test => &self.test,
            Mode::Live if is_public_https(&webhook.url) => &self.live,
            Mode::Live => return refused("the address is not a public one", Again::Never),
        };
        let Ok(url) = Url::parse(&webhook.url) else {
            return refused("the address cannot be read", Again::Never);
        };
        let body = json(&event(webhook));
        let (id, sent_s) = (webhook.id.to_string(), webhook.at.0.div_euclid(1000));
        let Some(signature) = sign(&webhook.secret.0, &id, sent_s, &body) else {
            return refused("the secret is not whsec_ and base64", Again::Never);
        };
        let request = client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(HEADER_WEBHOOK_ID, id)
            .header(HEADER_WEBHOOK_TIMESTAMP, sent_s.to_string())
            .header(HEADER_WEBHOOK_SIGNATURE, signature)
            .body(body);
        match request.send().await {
            Ok(response) => {
                let delivery = judge(&response);
                read_off(response).await;
                delivery
            }
            Err(error) if error.is_connect() => refused("no connection", Again::Later(None)),
            Err(error) if error.is_timeout() => Delivery::Unanswered("no answer in time".to_owned()),
            Err(_) => Delivery::Unanswered("the connection ended without an answer".to_owned()),
        }
    }
}

fn refused(why: &str, again: Again) -> Delivery {
    Delivery::Refused(why.to_owned(), again)
}

/// `v1,…` over id, timestamp and the very bytes that are sent.
fn sign(secret: &str, id: &str, sent_s: i64, body: &[u8]) -> Option<String> {
    Signer::new(secret).and_then(|signer| signer.sign(id, sent_s, body)).ok()
}

fn judge(response: &Response) -> Delivery {
    let status = response.status();
    let words = status.as_u16().to_string();
    if status.is_success() {
        return Delivery::Delivered(words);
    }
    if status == StatusCode::GONE {
        return Delivery::Refused(words, Again::Never);
    }
    let after_s = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Delivery::Refused(words, Again::Later(after_s.map(|s: i64| s.saturating_mul(1000))))
}

/// What is read to its end lets the connection be used again.
async fn read_off(mut response: Response) {
    let mut left = MAX_BODY_BYTES;
    while let Ok(Some(chunk)) = response.chunk().await {
        match left.checked_sub(chunk.len()) {
            Some(less) => left = less,
            None => break,
        }
    }
}

/// What a webhook says.
pub(super) fn event(webhook: &Webhook) -> Event {
    let (checkout, intent) = (&webhook.checkout, &webhook.intent);
    let happened_at = rfc3339(webhook.happened_at);
    Event {
        kind: webhook.kind.as_str().to_owned(),
        timestamp: happened_at.clone(),
        data: PaidCheckout {
            id: checkout.id.to_string(),
            object: "checkout".to_owned(),
            status: status(checkout.status),
            order_id: checkout.order.to_string(),
            amount: amount(webhook.amount),
            metadata: Metadata(checkout.metadata.clone()),
            payment_intent: PaidIntent { id: intent.id.to_string(), state: state(intent.state.name()) },
            paid_at: happened_at,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specifications_example_is_signed_as_it_says() {
        let body = br#"{"email":"test@example.com","username":"test_user"}"#;
        let signature = sign(
            "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
            "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            1_649_367_553,
            body,
        );
        assert_eq!(signature.as_deref(), Some("v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="));
    }

    #[test]
    fn the_type_is_the_effects_name() {
        assert_eq!(payment::EffectKind::CheckoutPaid.as_str(), contract::CHECKOUT_PAID);
    }
}
