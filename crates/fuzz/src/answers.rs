//! What a provider answers. Input: the HTTP status in a line of its own, then the body, which is read as an answer about a payment, as
//! one about a refund, and as a page of each.

use std::fmt::Debug;

use http::StatusCode;
use payment::{
    Money, NotExecutedReason, ObjectId, ObjectStatus, Observation, RefundObservation, RefundStatus,
    UnknownReason,
};
use providers::{Page, Reply, yookassa::offline};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::written;

pub(crate) fn check(data: &[u8]) {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let (head, body) = (&data[..end], &data[end + 1..]);
    let Ok(status) = StatusCode::from_bytes(head) else { return };
    reply(status, body, offline::payment(status, body), payment);
    reply(status, body, offline::refund(status, body), refund);
    page(status, body, offline::payments(status, body), offline::payment);
    page(status, body, offline::refunds(status, body), offline::refund);
}

/// An object is what the bytes say; that nothing was executed is said by the provider itself; anything else is unknown.
fn reply<O>(status: StatusCode, body: &[u8], reply: Reply<O>, says: fn(&O, &Value)) {
    let value = written::object(body);
    let own_words = || {
        assert_eq!(body.trim_ascii_start().first(), Some(&b'{'), "no object");
        let kind = value.as_ref().map(|value| written::text(value, &["type"]));
        assert!(kind.is_none_or(|kind| kind == Some("error")), "not in the provider's own words");
    };
    match reply {
        Reply::Object(seen) => {
            assert!(matches!(status.as_u16(), 200 | 201), "{status}");
            assert_eq!(body.trim_ascii_start().first(), Some(&b'{'), "no object");
            if let Some(value) = &value {
                says(&seen, value);
            }
        }
        Reply::NotExecuted { reason, .. } => {
            let expected = match status.as_u16() {
                401 | 403 => NotExecutedReason::NotAuthorized,
                404 | 405 => NotExecutedReason::NotFound,
                429 => NotExecutedReason::RateLimited,
                _ => panic!("{status}: {reason:?}"),
            };
            assert_eq!(reason, expected);
            own_words();
        }
        Reply::Rejected { code, message } => {
            assert_eq!(status, StatusCode::BAD_REQUEST);
            own_words();
            let parameter = value.as_ref().and_then(|value| written::text(value, &["parameter"]));
            assert_ne!(parameter, Some("Idempotence-Key"));
            assert!(code.chars().count() <= 64 && message.chars().count() <= 256);
            assert!(![&code, &message].into_iter().any(|text| payment::has_card_number(text)));
        }
        Reply::Unknown { reason, .. } => match status.as_u16() {
            202 => assert_eq!(reason, UnknownReason::Accepted),
            500..600 => assert_eq!(reason, UnknownReason::ProviderError),
            _ => assert!(matches!(reason, UnknownReason::Unreadable | UnknownReason::RejectedAfterUnknown)),
        },
    }
}

fn payment(seen: &Observation, value: &Value) {
    let status = match &seen.status {
        ObjectStatus::Pending { confirmation_url } => {
            assert!(confirmation_url.as_ref().is_none_or(|url| url.starts_with("https://")), "{seen:?}");
            "pending"
        }
        ObjectStatus::WaitingForCapture => "waiting_for_capture",
        ObjectStatus::Succeeded => "succeeded",
        ObjectStatus::Ended(_) => "canceled",
    };
    is_written(value, status, &seen.object, seen.amount);
    let decimals = seen.amount.currency().exponent();
    let sum = |of: &str| minor(written::text(value, &[of, "value"])?, decimals as usize);
    let all_is_back = sum("refunded_amount").is_some_and(|back| Some(back) >= sum("amount"));
    assert_eq!(seen.given_back, status == "succeeded" && all_is_back, "{value}");
    let named = written::text(value, &["metadata", "payment_intent_id"]).and_then(|id| id.parse().ok());
    assert_eq!(seen.intent, named);
}

/// Minor units of a sum as it is written.
fn minor(sum: &str, decimals: usize) -> Option<u128> {
    let (whole, part) = sum.split_once('.').unwrap_or((sum, ""));
    format!("{whole}{part:0<decimals$}").parse().ok()
}

fn refund(seen: &RefundObservation, value: &Value) {
    let status = match &seen.status {
        RefundStatus::Pending => "pending",
        RefundStatus::Succeeded => "succeeded",
        RefundStatus::Canceled { .. } => "canceled",
    };
    is_written(value, status, &seen.object, seen.amount);
    assert_eq!(written::text(value, &["payment_id"]), Some(seen.payment.as_str()));
}

/// Status, id and sum stand in the bytes, the sum perhaps with fewer zeros behind the point.
fn is_written(value: &Value, status: &str, object: &ObjectId, amount: Money) {
    assert_eq!(written::text(value, &["status"]), Some(status));
    assert_eq!(written::text(value, &["id"]), Some(object.as_str()));
    assert_eq!(written::text(value, &["amount", "currency"]), Some(amount.currency().code()));
    let sum = written::text(value, &["amount", "value"]).expect("a sum from nothing");
    let printed = amount.decimal();
    let rest = printed.strip_prefix(sum);
    assert!(
        rest.is_some_and(|rest| rest.trim_start_matches('.').bytes().all(|b| b == b'0')),
        "{sum} is not {printed}"
    );
}

/// A page's rows as they are written.
#[derive(Deserialize)]
struct Rows<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// No row gets lost, and none is read otherwise than an answer about it alone would be.
fn page<O: PartialEq + Debug>(
    status: StatusCode,
    body: &[u8],
    page: Page<O>,
    alone: fn(StatusCode, &[u8]) -> Reply<O>,
) {
    let Page::Objects { objects, unreadable, .. } = page else { return };
    assert_eq!(status, StatusCode::OK);
    assert_eq!(body.trim_ascii_start().first(), Some(&b'{'), "no object");
    let Rows { items } = serde_json::from_slice(body).expect("rows from nothing");
    assert_eq!(objects.len() + unreadable, items.len(), "a row got lost");
    let again = items.iter().filter_map(|row| match alone(status, row.get().as_bytes()) {
        Reply::Object(seen) => Some(seen),
        Reply::NotExecuted { .. } | Reply::Rejected { .. } | Reply::Unknown { .. } => None,
    });
    assert_eq!(objects, again.collect::<Vec<_>>());
}
