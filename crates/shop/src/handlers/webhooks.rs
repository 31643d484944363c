//! `POST /shop/webhooks`: what Payonce tells the shop. Believed by its signature only, on the disk before the 200.
//! Any other answer asks the sender to come again.

use axum::{
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use contract::{Amount, CheckoutStatus};
use serde::Deserialize;
use tracing::{error, info, warn};

use crate::{
    Shop, clock,
    shipments::{Outcome, PaidOrder},
};

/// Longest webhook that is read: a checkout with the most metadata has some ten thousand bytes.
pub const MAX_WEBHOOK_BYTES: usize = 64 * 1024;

/// A webhook, as far as every type has it.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    data: serde_json::Value,
}

/// The `data` of `checkout.paid`, as far as the shop reads it.
#[derive(Deserialize)]
struct PaidCheckout {
    status: CheckoutStatus,
    order_id: String,
    amount: Amount,
}

/// Takes a webhook in.
pub async fn receive(State(shop): State<Shop>, headers: HeaderMap, body: Bytes) -> Response {
    let now = clock::now();
    let id = match shop.webhooks().verify(&headers, &body, now) {
        Ok(id) => id.to_owned(),
        Err(disbelief) => {
            warn!(%disbelief, "a webhook was not believed");
            return say(StatusCode::UNAUTHORIZED, &format!("Not believed: {disbelief}."));
        }
    };
    let Ok(event) = serde_json::from_slice::<Event>(&body) else {
        return unreadable(&id);
    };
    if event.kind != "checkout.paid" {
        return say(StatusCode::OK, "Nothing to do.");
    }
    let Ok(checkout) = serde_json::from_value::<PaidCheckout>(event.data) else {
        return unreadable(&id);
    };
    if checkout.status != CheckoutStatus::Paid {
        return unreadable(&id);
    }
    let paid = PaidOrder { webhook_id: id, number: checkout.order_id, amount: checkout.amount };
    answer(&paid, shop.shipments().ship(paid.clone(), now).await)
}

fn answer(paid: &PaidOrder, shipped: rusqlite::Result<Outcome>) -> Response {
    let (order, webhook) = (&paid.number, &paid.webhook_id);
    match shipped {
        Ok(Outcome::Shipped) => {
            info!(order, webhook, "shipped");
            say(StatusCode::OK, "Shipped.")
        }
        Ok(Outcome::ShippedBefore) => say(StatusCode::OK, "Shipped before."),
        Ok(Outcome::UnknownOrder) => {
            warn!(order, webhook, "a webhook names an order that the shop does not have");
            say(StatusCode::NOT_FOUND, "The shop has no such order.")
        }
        Ok(Outcome::WrongAmount) => {
            error!(order, webhook, "a webhook says that another sum than the order's was paid");
            say(StatusCode::UNPROCESSABLE_ENTITY, "The order's sum is another.")
        }
        Err(error) => {
            error!(order, webhook, error = &error as &dyn std::error::Error, "a webhook was not kept");
            say(StatusCode::SERVICE_UNAVAILABLE, "The shop cannot write it down.")
        }
    }
}

fn unreadable(webhook: &str) -> Response {
    error!(webhook, "a webhook with the right signature makes no sense");
    say(StatusCode::UNPROCESSABLE_ENTITY, "The body is not a webhook that the shop understands.")
}

fn say(status: StatusCode, words: &str) -> Response {
    (status, words.to_owned()).into_response()
}
