//! What YooKassa's answers mean. Pure. Whatever cannot be read is unknown, never success.

use payment::{NotExecutedReason, UnknownReason, has_card_number};
use reqwest::StatusCode;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::fields::Fields;
use crate::{
    Page, Reply,
    http::{Answer, NoAnswer},
};

/// Most characters of a code that are kept.
pub(super) const MAX_CODE: usize = 64;
/// Most characters of words for people that are kept.
const MAX_WORDS: usize = 256;

/// The header of our keys: how an error names it.
const KEY_HEADER: &str = "Idempotence-Key";

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameter: Option<String>,
}

#[derive(Deserialize)]
struct Processing {
    /// Milliseconds, as YooKassa documents.
    #[serde(default)]
    retry_after: Option<u32>,
}

#[derive(Deserialize)]
struct List<'a> {
    /// As they are written: one that cannot be read does not spoil the others.
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// The answer to a send or a query. `read` takes the object as it is written. That nothing was executed is believed only in YooKassa's
/// own words: a firewall or a proxy may turn an answer away that came after the charge.
pub(super) fn reply<W: DeserializeOwned, O>(
    answer: Result<Answer, NoAnswer>,
    read: impl FnOnce(W) -> Option<O>,
) -> Reply<O> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(none) => return none.into(),
    };
    let retry_after_ms = wait_ms(&answer);
    let unknown = |reason| Reply::Unknown { reason, turned_away: None, retry_after_ms };
    let turned_away = |reason| match own_error(&answer) {
        Some(_) => Reply::NotExecuted { reason, retry_after_ms },
        None => {
            let (why, turned_away) = (UnknownReason::Unreadable, Some(reason));
            Reply::Unknown { reason: why, turned_away, retry_after_ms }
        }
    };
    match answer.status {
        StatusCode::OK | StatusCode::CREATED => {
            written(&answer.body).and_then(read).map_or(unknown(UnknownReason::Unreadable), Reply::Object)
        }
        StatusCode::ACCEPTED => unknown(UnknownReason::Accepted),
        StatusCode::BAD_REQUEST => match own_error(&answer) {
            // Our key came with another request before: one that this database does not know, so what became of it is not known.
            Some(body) if body.parameter.as_deref() == Some(KEY_HEADER) => {
                unknown(UnknownReason::RejectedAfterUnknown)
            }
            Some(body) => {
                let (code, message) = (capped(body.code, MAX_CODE), capped(body.description, MAX_WORDS));
                Reply::Rejected { code, message }
            }
            None => unknown(UnknownReason::Unreadable),
        },
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => turned_away(NotExecutedReason::NotAuthorized),
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => turned_away(NotExecutedReason::NotFound),
        StatusCode::TOO_MANY_REQUESTS => turned_away(NotExecutedReason::RateLimited),
        status if status.is_server_error() => unknown(UnknownReason::ProviderError),
        _ => unknown(UnknownReason::Unreadable),
    }
}

/// An error in YooKassa's own words.
fn own_error(answer: &Answer) -> Option<ErrorBody> {
    written(&answer.body).filter(|body: &ErrorBody| body.kind == "error")
}

/// What is written as an object, if it reads as this one.
fn written<'a, W: Deserialize<'a>>(body: &'a [u8]) -> Option<W> {
    serde_json::from_slice(body).ok().map(|Fields(written)| written)
}

/// A page of a listing. `read` takes a row as it is written.
pub(super) fn page<W: DeserializeOwned, O>(
    answer: Result<Answer, NoAnswer>,
    read: impl Fn(W) -> Option<O>,
) -> Page<O> {
    let Ok(answer) = answer else { return Page::Failed { retry_after_ms: None } };
    let list = (answer.status == StatusCode::OK).then(|| written::<List>(&answer.body)).flatten();
    let Some(list) = list else {
        let shut = matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        return match own_error(&answer).filter(|_| shut) {
            Some(_) => Page::TurnedAway,
            None => Page::Failed { retry_after_ms: wait_ms(&answer) },
        };
    };
    let rows = list.items.len();
    let read_row = |row: &RawValue| written(row.get().as_bytes()).and_then(&read);
    let objects: Vec<_> = list.items.into_iter().filter_map(read_row).collect();
    Page::Objects { unreadable: rows - objects.len(), objects, next: list.next_cursor, at: answer.at }
}

/// The first `most` characters: a provider's texts are kept and shown, and nothing promises that they are short, or that they do not
/// echo what the shopper typed.
pub(super) fn capped(mut text: String, most: usize) -> String {
    if has_card_number(&text) {
        return String::new();
    }
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
    }
    text
}

/// How long we are to wait: a 202 says it in its body, whatever else in its head.
fn wait_ms(answer: &Answer) -> Option<i64> {
    let told = (answer.status == StatusCode::ACCEPTED)
        .then(|| written::<Processing>(&answer.body)?.retry_after)
        .flatten();
    told.map(i64::from).or(answer.retry_after_ms)
}

#[cfg(test)]
mod tests {
    use payment::Observation;

    use super::*;
    use crate::yookassa::{
        fixtures::PAID,
        objects::{self, Link},
    };

    fn answer(status: u16, body: &str) -> Result<Answer, NoAnswer> {
        let status = StatusCode::from_u16(status).unwrap();
        Ok(Answer { status, retry_after_ms: None, at: None, body: body.as_bytes().to_vec() })
    }

    fn told(status: u16, body: &str) -> Reply {
        reply(answer(status, body), payment)
    }

    fn payment(payment: objects::Payment) -> Option<Observation> {
        objects::payment(payment, Link::Https)
    }

    fn unknown(reason: UnknownReason) -> Reply {
        Reply::Unknown { reason, turned_away: None, retry_after_ms: None }
    }

    fn listed(answer: Result<Answer, NoAnswer>) -> Page {
        page(answer, payment)
    }

    #[test]
    fn r10_what_does_not_read_is_unknown_and_never_success() {
        let zero = PAID.replace("1500.00", "0.00");
        let strange = PAID.replace("succeeded", "sort_of");
        let number = PAID.replace(r#""1500.00""#, "1500.00");
        let twice = PAID.replace(r#""id""#, r#""status":"succeeded","id""#);
        let nested = "[".repeat(100_000);
        let list = r#"["2f-1","succeeded",{"value":"1500.00","currency":"RUB"}]"#;
        let listed_sum = PAID.replace(r#"{"value":"1500.00","currency":"RUB"}"#, r#"["1500.00","RUB"]"#);
        assert_ne!(listed_sum, PAID);
        let long = PAID.replace("2f-1", &"x".repeat(100_000));
        let odd = [&zero, &strange, &number, &twice, &nested, &listed_sum, &long].map(String::as_str);
        for body in ["", "<html>", "{}", "null", "[]", &PAID[..40], list].into_iter().chain(odd) {
            assert_eq!(told(200, body), unknown(UnknownReason::Unreadable), "{:.80}", body);
        }
        for status in [500, 502, 503, 504] {
            assert_eq!(told(status, PAID), unknown(UnknownReason::ProviderError), "{status}");
        }
        for status in [201, 204, 206, 301, 302, 408, 409, 422] {
            assert_eq!(matches!(told(status, PAID), Reply::Object(_)), status == 201, "{status}");
        }
    }

    const TURNED_AWAY: [(u16, NotExecutedReason); 5] = [
        (401, NotExecutedReason::NotAuthorized),
        (403, NotExecutedReason::NotAuthorized),
        (404, NotExecutedReason::NotFound),
        (405, NotExecutedReason::NotFound),
        (429, NotExecutedReason::RateLimited),
    ];

    #[test]
    fn errors_mean_what_semantics_say() {
        let error = r#"{"type":"error","id":"x","code":"invalid_request","description":"Bad amount","parameter":"amount"}"#;
        let rejected =
            Reply::Rejected { code: "invalid_request".to_owned(), message: "Bad amount".to_owned() };
        assert_eq!(told(400, error), rejected);
        assert!(matches!(told(400, "nginx"), Reply::Unknown { .. }));
        for (status, reason) in TURNED_AWAY {
            assert_eq!(told(status, error), Reply::NotExecuted { reason, retry_after_ms: None }, "{status}");
        }
    }

    /// Who stands between us may have turned away the answer to what was executed.
    #[test]
    fn r10_fault_49b_being_turned_away_is_believed_only_in_yookassas_own_words() {
        let others = [
            "",
            "<html>403</html>",
            "null",
            "{}",
            r#"{"type":"list"}"#,
            r#"{"error":"no"}"#,
            r#"{"type":7}"#,
            r#"["error","forbidden","No"]"#,
        ];
        for (status, reason) in TURNED_AWAY {
            for body in others {
                let expected = Reply::Unknown {
                    reason: UnknownReason::Unreadable,
                    turned_away: Some(reason),
                    retry_after_ms: None,
                };
                assert_eq!(told(status, body), expected, "{status} {body}");
            }
        }
    }

    /// A restored backup does not know what its key did already.
    #[test]
    fn r10_a_key_that_came_with_another_request_says_that_something_was_sent_and_not_what_became_of_it() {
        let error = r#"{"type":"error","id":"x","code":"invalid_request","description":"Key was used","parameter":"Idempotence-Key"}"#;
        assert_eq!(told(400, error), unknown(UnknownReason::RejectedAfterUnknown));
    }

    #[test]
    fn an_errors_texts_are_kept_up_to_a_bound() {
        for (long, kept) in [(63, 63), (64, 64), (65, 64), (10_000, 64)] {
            let error = format!(r#"{{"type":"error","code":"{}","description":"no"}}"#, "ж".repeat(long));
            let expected = Reply::Rejected { code: "ж".repeat(kept), message: "no".to_owned() };
            assert_eq!(told(400, &error), expected, "{long}");
        }
        for (long, kept) in [(255, 255), (256, 256), (257, 256), (10_000, 256)] {
            let error = format!(r#"{{"type":"error","code":"x","description":"{}"}}"#, "ж".repeat(long));
            let expected = Reply::Rejected { code: "x".to_owned(), message: "ж".repeat(kept) };
            assert_eq!(told(400, &error), expected, "{long}");
        }
    }

    #[test]
    fn attack_21_a_card_number_that_a_provider_echoes_is_not_kept() {
        let error = r#"{"type":"error","code":"invalid_request","description":"Card 4111 1111 1111 1111 is blocked"}"#;
        let expected = Reply::Rejected { code: "invalid_request".to_owned(), message: String::new() };
        assert_eq!(told(400, error), expected);
    }

    #[test]
    fn fault_202_says_in_its_body_how_long_to_wait() {
        let accepted = |retry_after_ms| Reply::<Observation>::Unknown {
            reason: UnknownReason::Accepted,
            turned_away: None,
            retry_after_ms,
        };
        let processing = r#"{"type":"processing","description":"…","retry_after":1800}"#;
        assert_eq!(told(202, processing), accepted(Some(1800)));
        for odd in ["", "{}", r#"{"retry_after":"soon"}"#, r#"{"retry_after":-5}"#, r#"{"retry_after":1e99}"#]
        {
            assert_eq!(told(202, odd), accepted(None), "{odd}");
        }
        assert_eq!(listed(answer(202, processing)), Page::Failed { retry_after_ms: Some(1800) });
    }

    #[test]
    fn a_listing_counts_what_it_cannot_read() {
        let twice = PAID.replace(r#""id""#, r#""status":"canceled","id""#);
        let half_a_character = PAID.replace("№ 7", r"\ud800");
        let too_large = PAID.replace(r#""unknown":1"#, r#""amount_before":1e999"#);
        let list = r#"["2f-1","succeeded",{"value":"1500.00","currency":"RUB"}]"#;
        for odd in [&twice, &half_a_character, list, r#"{"id":"odd"}"#, "7", "null"] {
            let body = format!(r#"{{"type":"list","items":[{PAID},{odd},{too_large}],"next_cursor":"c2"}}"#);
            let Page::Objects { objects, unreadable, next, .. } = listed(answer(200, &body)) else {
                panic!("no page: {odd}")
            };
            assert_eq!((objects.len(), unreadable, next.as_deref()), (2, 1, Some("c2")), "{odd}");
        }
    }

    #[test]
    fn what_is_no_listing_is_a_failed_page() {
        let empty = r#"{"type":"list","items":[]}"#;
        assert_eq!(
            listed(answer(200, empty)),
            Page::Objects { objects: Vec::new(), unreadable: 0, next: None, at: None }
        );
        for status in [401, 404, 429, 500] {
            assert_eq!(listed(answer(status, empty)), Page::Failed { retry_after_ms: None });
        }
        for body in ["", "{}", "[]", r#"{"items":{}}"#, "[[]]", r#"{"items":[],"next_cursor":7}"#] {
            assert_eq!(listed(answer(200, body)), Page::Failed { retry_after_ms: None }, "{body}");
        }
    }
}
