//! The key header, in one place: names, syntax, and how a replay is marked.

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use contract::{IDEMPOTENCE_KEY, IDEMPOTENCY_KEY, IDEMPOTENCY_REPLAYED, IDEMPOTENT_REPLAYED};
use payment::IdempotencyKey;
use sfv::{BareItem, Item, Parser};
use store::Answer;

use super::{ApiError, Code};

/// The request's key. `Idempotency-Key` or its alias `Idempotence-Key`, bare or quoted (a structured-field string).
pub(super) fn key(headers: &HeaderMap) -> Result<IdempotencyKey, ApiError> {
    let ours = one(headers, IDEMPOTENCY_KEY)?;
    let alias = one(headers, IDEMPOTENCE_KEY)?;
    match (ours, alias) {
        (Some(ours), Some(alias)) if ours != alias => {
            Err(Code::KeyInvalid.field(IDEMPOTENCY_KEY, "Idempotency-Key and Idempotence-Key are both here, and differ."))
        }
        (Some(key), _) | (None, Some(key)) => Ok(key),
        (None, None) => Err(Code::KeyMissing.field(
            IDEMPOTENCY_KEY,
            "Make one key per intention, keep it, and send it with every repeat of this request. Nothing was changed.",
        )),
    }
}

fn one(headers: &HeaderMap, name: &'static str) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut lines = headers.get_all(name).iter();
    let Some(line) = lines.next() else { return Ok(None) };
    if lines.next().is_some() {
        return Err(Code::KeyInvalid.field(name, format!("{name} is here more than once.")));
    }
    parse(line).map(Some).ok_or_else(|| {
        Code::KeyInvalid.field(
            name,
            "A key has 1 to 255 visible ASCII characters, none of them a double quote, a backslash or a comma.",
        )
    })
}

fn parse(line: &HeaderValue) -> Option<IdempotencyKey> {
    let bytes = line.as_bytes();
    if bytes.first() != Some(&b'"') {
        return IdempotencyKey::parse(std::str::from_utf8(bytes).ok()?).ok();
    }
    let item: Item = Parser::new(bytes).parse().ok()?;
    let BareItem::String(text) = item.bare_item else { return None };
    IdempotencyKey::parse(text.as_str()).ok()
}

/// An answer as it goes out; a replay has the same status, location and bytes as the first, and both marks.
pub(super) fn respond(answer: Answer, replayed: bool) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, answer.body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.extend(
        answer
            .location
            .and_then(|location| HeaderValue::from_str(&location).ok())
            .map(|at| (header::LOCATION, at)),
    );
    if replayed {
        for name in [IDEMPOTENT_REPLAYED, IDEMPOTENCY_REPLAYED] {
            let name = name.parse::<header::HeaderName>().expect("a header's name");
            headers.insert(name, HeaderValue::from_static("true"));
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(lines: &[(&'static str, &[u8])]) -> Result<String, Code> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        key(&headers).map(|key| key.as_str().to_owned()).map_err(|error| error.code())
    }

    #[test]
    fn bare_and_quoted_are_the_same_key() {
        assert_eq!(key_of(&[("idempotency-key", b"abc")]), Ok("abc".into()));
        assert_eq!(key_of(&[("idempotency-key", b"\"abc\"")]), Ok("abc".into()));
        assert_eq!(key_of(&[("idempotency-key", b"\"abc\";v=1")]), Ok("abc".into()));
        assert_eq!(key_of(&[("idempotence-key", b"abc")]), Ok("abc".into()));
        assert_eq!(key_of(&[("idempotency-key", b"abc"), ("idempotence-key", b"\"abc\"")]), Ok("abc".into()));
    }

    #[test]
    fn attacks_1_to_4_what_is_no_key_is_refused() {
        assert_eq!(key_of(&[]), Err(Code::KeyMissing));
        let long = [b'k'; 256];
        for wrong in [&b""[..], b"a b", b"a,b", b"\"abc", b"\"a\"b", b"a\"", "é".as_bytes(), &long] {
            assert_eq!(key_of(&[("idempotency-key", wrong)]), Err(Code::KeyInvalid), "{wrong:?}");
        }
        assert_eq!(key_of(&[("idempotency-key", b"a"), ("idempotency-key", b"a")]), Err(Code::KeyInvalid));
        assert_eq!(key_of(&[("idempotency-key", b"a"), ("idempotence-key", b"b")]), Err(Code::KeyInvalid));
    }
}
