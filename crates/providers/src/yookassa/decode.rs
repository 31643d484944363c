//! YooKassa's answers in our words. Pure. Whatever cannot be read is unknown, never success.

use jiff::Timestamp as Moment;
use payment::{
    Currency, Ending, Money, NotExecutedReason, ObjectId, ObjectStatus, Observation, PaidWith, Timestamp,
    UnknownReason,
};
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::Value;

use crate::{Page, Reply, http::Answer};

#[derive(Deserialize)]
struct Payment {
    id: String,
    status: String,
    amount: Amount,
    #[serde(default)]
    metadata: Option<Metadata>,
    #[serde(default)]
    payment_method: Option<PaymentMethod>,
    #[serde(default)]
    confirmation: Option<Confirmation>,
    #[serde(default)]
    cancellation_details: Option<CancellationDetails>,
    #[serde(default)]
    created_at: Option<String>,
}

#[derive(Deserialize)]
struct Amount {
    value: String,
    currency: String,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    payment_intent_id: Option<Value>,
}

#[derive(Deserialize)]
struct PaymentMethod {
    #[serde(default)]
    card: Option<Card>,
}

#[derive(Deserialize)]
struct Card {
    #[serde(default)]
    last4: Option<String>,
}

#[derive(Deserialize)]
struct Confirmation {
    #[serde(default)]
    confirmation_url: Option<String>,
}

#[derive(Deserialize)]
struct CancellationDetails {
    #[serde(default)]
    reason: String,
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    description: String,
}

#[derive(Deserialize)]
struct Processing {
    /// Milliseconds, as YooKassa documents.
    #[serde(default)]
    retry_after: Option<i64>,
}

#[derive(Deserialize)]
struct List {
    items: Vec<Value>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// The answer to a send or a query.
pub(super) fn reply(answer: &Answer) -> Reply {
    let retry_after_ms = answer.retry_after_ms;
    let unknown = |reason| Reply::Unknown { reason, retry_after_ms };
    let not_executed = |reason| Reply::NotExecuted { reason, retry_after_ms };
    match answer.status {
        StatusCode::OK | StatusCode::CREATED => {
            let payment = serde_json::from_slice::<Payment>(&answer.body).ok().and_then(observation);
            payment.map_or(unknown(UnknownReason::Unreadable), Reply::Object)
        }
        StatusCode::ACCEPTED => {
            let told =
                serde_json::from_slice::<Processing>(&answer.body).ok().and_then(|body| body.retry_after);
            Reply::Unknown { reason: UnknownReason::Accepted, retry_after_ms: told.or(retry_after_ms) }
        }
        StatusCode::BAD_REQUEST => match serde_json::from_slice::<ErrorBody>(&answer.body) {
            Ok(body) if body.kind == "error" => {
                Reply::Rejected { code: body.code, message: body.description }
            }
            // Not YooKassa's own words: a proxy's, perhaps.
            Ok(_) | Err(_) => unknown(UnknownReason::Unreadable),
        },
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => not_executed(NotExecutedReason::NotAuthorized),
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => not_executed(NotExecutedReason::NotFound),
        StatusCode::TOO_MANY_REQUESTS => not_executed(NotExecutedReason::RateLimited),
        status if status.is_server_error() => unknown(UnknownReason::ProviderError),
        _ => unknown(UnknownReason::Unreadable),
    }
}

/// A page of the listing.
pub(super) fn page(answer: &Answer) -> Page {
    let list = (answer.status == StatusCode::OK)
        .then(|| serde_json::from_slice::<List>(&answer.body).ok())
        .flatten();
    let Some(list) = list else { return Page::Failed { retry_after_ms: answer.retry_after_ms } };
    let rows = list.items.len();
    let read = |item| serde_json::from_value::<Payment>(item).ok().and_then(observation);
    let objects: Vec<_> = list.items.into_iter().filter_map(read).collect();
    Page::Objects { unreadable: rows - objects.len(), objects, next: list.next_cursor }
}

fn observation(payment: Payment) -> Option<Observation> {
    let currency = Currency::parse(&payment.amount.currency).ok()?;
    let intent = payment.metadata.and_then(|metadata| metadata.payment_intent_id?.as_str()?.parse().ok());
    let status = match payment.status.as_str() {
        "pending" => {
            ObjectStatus::Pending { confirmation_url: payment.confirmation.and_then(|c| c.confirmation_url) }
        }
        "waiting_for_capture" => ObjectStatus::WaitingForCapture,
        "succeeded" => ObjectStatus::Succeeded,
        "canceled" => ObjectStatus::Ended(ending(
            payment.cancellation_details.map_or_else(String::new, |details| details.reason),
        )),
        _ => return None,
    };
    let last4 = payment.payment_method.and_then(|method| method.card).and_then(|card| card.last4);
    Some(Observation {
        object: ObjectId::parse(payment.id).ok()?,
        status,
        amount: Money::parse(&payment.amount.value, currency).ok()?,
        intent,
        paid_with: last4.map(|last4| PaidWith { last4: Some(last4) }),
        created_at: payment
            .created_at
            .and_then(|at| at.parse::<Moment>().ok())
            .map(|at| Timestamp(at.as_millisecond())),
    })
}

/// `cancellation_details.reason`: withdrawn and run out are not refusals.
fn ending(code: String) -> Ending {
    match code.as_str() {
        "canceled_by_merchant" | "expired_on_capture" => Ending::Canceled { code },
        "expired_on_confirmation" => Ending::Expired { code },
        _ => Ending::Declined { code },
    }
}

/// A moment as YooKassa's filters take it.
pub(super) fn rfc3339(at: Timestamp) -> String {
    Moment::from_millisecond(at.0).unwrap_or(Moment::UNIX_EPOCH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        let status = StatusCode::from_u16(status).unwrap();
        Answer { status, retry_after_ms: None, body: body.as_bytes().to_vec() }
    }

    const PAID: &str = r#"{"id":"2f-1","status":"succeeded","paid":true,"amount":{"value":"1500.00","currency":"RUB"},
        "metadata":{"payment_intent_id":"pi_00000000000000000000000000000001","cms_name":"x"},"payment_method":
        {"type":"bank_card","card":{"last4":"4444"}},"created_at":"2026-11-30T10:00:00.123Z","unknown":1}"#;

    #[test]
    fn an_object_reads_as_an_observation() {
        let Reply::Object(seen) = reply(&answer(200, PAID)) else { panic!("not an object") };
        assert_eq!(seen.status, ObjectStatus::Succeeded);
        assert_eq!(seen.amount.to_string(), "1500.00 RUB");
        assert_eq!(
            seen.intent.map(|id| id.to_string()),
            Some("pi_00000000000000000000000000000001".to_owned())
        );
        assert_eq!(seen.paid_with.and_then(|paid| paid.last4), Some("4444".to_owned()));
        assert_eq!(seen.created_at, Some(Timestamp(1_796_032_800_123)));
    }

    #[test]
    fn r10_what_does_not_read_is_unknown_and_never_success() {
        let zero = PAID.replace("1500.00", "0.00");
        let strange = PAID.replace("succeeded", "sort_of");
        for body in ["", "<html>", "{}", &PAID[..40], zero.as_str(), strange.as_str()] {
            let expected = Reply::Unknown { reason: UnknownReason::Unreadable, retry_after_ms: None };
            assert_eq!(reply(&answer(200, body)), expected, "{body}");
        }
        for status in [500, 502, 503, 504] {
            let expected = Reply::Unknown { reason: UnknownReason::ProviderError, retry_after_ms: None };
            assert_eq!(reply(&answer(status, PAID)), expected, "{status}");
        }
    }

    #[test]
    fn errors_mean_what_semantics_say() {
        let error = r#"{"type":"error","id":"x","code":"invalid_request","description":"Bad amount","parameter":"amount"}"#;
        let rejected =
            Reply::Rejected { code: "invalid_request".to_owned(), message: "Bad amount".to_owned() };
        assert_eq!(reply(&answer(400, error)), rejected);
        assert!(matches!(reply(&answer(400, "nginx")), Reply::Unknown { .. }));
        for (status, reason) in [
            (401, NotExecutedReason::NotAuthorized),
            (403, NotExecutedReason::NotAuthorized),
            (404, NotExecutedReason::NotFound),
            (405, NotExecutedReason::NotFound),
            (429, NotExecutedReason::RateLimited),
        ] {
            assert_eq!(
                reply(&answer(status, error)),
                Reply::NotExecuted { reason, retry_after_ms: None },
                "{status}"
            );
        }
        let processing = r#"{"type":"processing","description":"…","retry_after":1800}"#;
        let accepted = Reply::Unknown { reason: UnknownReason::Accepted, retry_after_ms: Some(1800) };
        assert_eq!(reply(&answer(202, processing)), accepted);
    }

    #[test]
    fn a_listing_counts_what_it_cannot_read() {
        let body = format!(r#"{{"type":"list","items":[{PAID},{{"id":"odd"}}],"next_cursor":"c2"}}"#);
        let Page::Objects { objects, unreadable, next } = page(&answer(200, &body)) else {
            panic!("no page")
        };
        assert_eq!((objects.len(), unreadable, next.as_deref()), (1, 1, Some("c2")));
        assert_eq!(page(&answer(500, &body)), Page::Failed { retry_after_ms: None });
    }
}
