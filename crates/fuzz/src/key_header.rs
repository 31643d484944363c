//! The key header. Input: one line each for `Idempotency-Key`, its alias, and a second `Idempotency-Key`; the last two may be missing.

use contract::{IDEMPOTENCE_KEY, IDEMPOTENCY_KEY, Problem};
use http::{HeaderMap, HeaderName, HeaderValue};
use payment::IdempotencyKey;

use crate::refusal;

type Line<'a> = (&'static str, &'a [u8]);

pub(crate) fn check(data: &[u8]) {
    let mut lines = data.splitn(3, |byte| *byte == b'\n');
    let (Some(ours), alias, again) = (lines.next(), lines.next(), lines.next()) else { return };
    one(ours);
    let Some(alias) = alias else { return };
    one(alias);
    both(ours, alias);
    if let Some(again) = again {
        let twice = read(&[(IDEMPOTENCY_KEY, ours), (IDEMPOTENCE_KEY, alias), (IDEMPOTENCY_KEY, again)]);
        assert!(!matches!(twice, Some(Ok(_))), "two lines are one key");
    }
}

/// What parses is a key, and every way to write it is the same one.
fn one(line: &[u8]) {
    let Some(found) = read(&[(IDEMPOTENCY_KEY, line)]) else { return };
    let aliased = read(&[(IDEMPOTENCE_KEY, line)]).expect("a header's value is one under any name");
    assert_eq!(found.as_ref().ok(), aliased.as_ref().ok(), "the alias is read otherwise");
    match found {
        Ok(key) => {
            let text = key.as_str().to_owned();
            assert!(is_key(text.as_bytes()), "{text:?} is no key");
            let quoted = format!("\"{text}\"");
            let plain = line == text.as_bytes();
            assert!(
                plain || line.trim_ascii_start().starts_with(quoted.as_bytes()),
                "{line:?} is not {text}"
            );
            for written in [&text, &quoted, &format!("{quoted};v=1")] {
                let again = read(&[(IDEMPOTENCY_KEY, written.as_bytes())]);
                assert_eq!(again.and_then(Result::ok), Some(key.clone()), "{written}");
            }
            let pair = [(IDEMPOTENCY_KEY, text.as_bytes()), (IDEMPOTENCE_KEY, quoted.as_bytes())];
            assert_eq!(read(&pair).and_then(Result::ok), Some(key));
        }
        Err(problem) => {
            assert!(!is_key(line), "{line:?} is a key");
            let inner = line.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
            assert!(!inner.is_some_and(is_key), "{line:?} is a quoted key");
            refused(&problem);
        }
    }
}

/// Both headers: the same key, or none at all.
fn both(ours: &[u8], alias: &[u8]) {
    let alone = |line| read(&[(IDEMPOTENCY_KEY, line)]).and_then(Result::ok);
    let Some(together) = read(&[(IDEMPOTENCY_KEY, ours), (IDEMPOTENCE_KEY, alias)]) else { return };
    let same = alone(ours).filter(|key| alone(alias).as_ref() == Some(key));
    if let Err(problem) = &together {
        refused(problem);
    }
    assert_eq!(together.ok(), same);
}

fn refused(problem: &Problem) {
    refusal::is_proper(problem, &["idempotency_key_invalid"]);
    let named = [IDEMPOTENCY_KEY, IDEMPOTENCE_KEY].map(Some).contains(&problem.field.as_deref());
    assert!(named, "{problem:?}");
}

/// `None`: HTTP lets no such line through.
fn read(lines: &[Line]) -> Option<Result<IdempotencyKey, Box<Problem>>> {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
        headers.append(name, HeaderValue::from_bytes(value).ok()?);
    }
    Some(payonce::http::offline::key(&headers))
}

fn is_key(text: &[u8]) -> bool {
    (1..=255).contains(&text.len())
        && text.iter().all(|byte| byte.is_ascii_graphic() && !b"\"\\,".contains(byte))
}
