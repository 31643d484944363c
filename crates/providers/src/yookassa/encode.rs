//! Our requests in YooKassa's words. Pure: the same request is always the same bytes.

use jiff::Timestamp as Moment;
use payment::{Capture, Money, ObjectId, Timestamp};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::{By, Encoded, Method, PayRequest, RefundRequest, Span};

/// Where payments are.
pub(super) const PAYMENTS: &str = "/v3/payments";
/// Where refunds are.
pub(super) const REFUNDS: &str = "/v3/refunds";

/// Longest page of a listing.
const PAGE: &str = "100";
/// Longest description of a refund, in characters.
const MAX_DESCRIPTION_CHARS: usize = 250;
/// What stands in a path for itself.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) fn pay(request: &PayRequest) -> Encoded {
    let mut metadata = request.metadata.clone();
    metadata.insert("checkout_id".to_owned(), request.checkout.to_string());
    metadata.insert("order_id".to_owned(), request.order.to_string());
    metadata.insert("payment_intent_id".to_owned(), request.intent.to_string());
    let mut body = json!({
        "amount": amount(request.amount),
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
    post(PAYMENTS.to_owned(), &body)
}

pub(super) fn capture(payment: &ObjectId, sum: Money) -> Encoded {
    post(format!("{}/capture", one(PAYMENTS, payment)), &json!({ "amount": amount(sum) }))
}

pub(super) fn cancel(payment: &ObjectId) -> Encoded {
    post(format!("{}/cancel", one(PAYMENTS, payment)), &json!({}))
}

/// The operation's id comes first in the description, which every version of the API keeps, and once more in the metadata.
pub(super) fn refund(request: &RefundRequest) -> Encoded {
    let operation = request.operation.to_string();
    let description = match &request.reason {
        Some(reason) => format!("{operation} {reason}").chars().take(MAX_DESCRIPTION_CHARS).collect(),
        None => operation.clone(),
    };
    let body = json!({
        "payment_id": request.payment.as_str(),
        "amount": amount(request.amount),
        "description": description,
        "metadata": { "operation_id": operation },
    });
    post(REFUNDS.to_owned(), &body)
}

/// The path of one object.
pub(super) fn one(objects: &str, id: &ObjectId) -> String {
    format!("{objects}/{}", utf8_percent_encode(id.as_str(), SEGMENT))
}

/// The filters of a listing.
pub(super) fn filters(span: Span, cursor: Option<&str>) -> Vec<(&'static str, String)> {
    let (from, to) = match span.by {
        By::Made => ("created_at.gte", "created_at.lte"),
        By::Taken => ("captured_at.gte", "captured_at.lte"),
    };
    let mut filters = vec![(from, rfc3339(span.from)), ("limit", PAGE.to_owned())];
    filters.extend(span.to.map(|at| (to, rfc3339(at))));
    filters.extend(cursor.map(|cursor| ("cursor", cursor.to_owned())));
    filters
}

fn post(path: String, body: &Value) -> Encoded {
    Encoded { method: "POST", path, body: body.to_string().into_bytes() }
}

fn amount(amount: Money) -> Value {
    json!({ "value": amount.decimal(), "currency": amount.currency().code() })
}

/// A moment as the filters take it.
fn rfc3339(at: Timestamp) -> String {
    Moment::from_millisecond(at.0).unwrap_or(Moment::UNIX_EPOCH).to_string()
}
