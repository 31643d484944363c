//! The body of `POST /v1/checkouts`. Input: the body.

use contract::{Amount, CreateCheckout, Problem};
use payment::Fingerprint;
use payonce::http::offline;
use serde_json::{Value, json};

use crate::{refusal, written};

/// The fields there are.
const FIELDS: [&str; 8] =
    ["order_id", "amount", "description", "customer", "return_url", "metadata", "expires_in", "capture"];
/// What a refusal may say.
const REFUSALS: [&str; 3] = ["invalid_json", "invalid_field", "card_number_in_text"];

pub(crate) fn check(body: &[u8]) {
    match read(body) {
        Ok(fingerprint) => accepted(body, &fingerprint),
        Err(problem) => refused(body, &problem),
    }
}

/// What was accepted is plain, means the same however it is written, and nothing else.
fn accepted(body: &[u8], fingerprint: &Fingerprint) {
    assert!(written::is_plain(body), "a list, or a field that is here twice");
    let Some(Value::Object(fields)) = written::object(body) else { panic!("no object") };
    assert!(fields.keys().all(|name| FIELDS.contains(&name.as_str())), "a field that does not exist");
    let typed: CreateCheckout = serde_json::from_slice(body).expect("it was read once");

    same(&Value::Object(fields.clone()), fingerprint);
    same(&json!(typed), fingerprint);
    let defaulted = CreateCheckout {
        expires_in: typed.expires_in.or(Some(86_400)),
        capture: Some(typed.capture.unwrap_or_default()),
        metadata: Some(typed.metadata.clone().unwrap_or_default()),
        ..typed.clone()
    };
    same(&json!(defaulted), fingerprint);
    let sum = typed.amount.value.text().expect("a number is no sum").to_owned();
    let whole = sum.strip_suffix("00").and_then(|sum| sum.strip_suffix('.'));
    if let Some(whole) = whole {
        same(&json!(with_sum(&typed, whole.to_owned())), fingerprint);
    }

    other(&json!(with_sum(&typed, format!("1{sum}"))), fingerprint, "amount");
    other(
        &json!(CreateCheckout { order_id: format!("{}x", typed.order_id), ..typed.clone() }),
        fingerprint,
        "order_id",
    );
    let description = Some(typed.description.as_ref().map_or_else(String::new, |text| format!("{text}x")));
    other(&json!(CreateCheckout { description, ..typed }), fingerprint, "description");

    not_taken(body, "unknown");
    not_taken(body, "order_id");
}

/// A refusal is a proper one; a value that cannot be taken is never called bad JSON, and the other way round.
fn refused(body: &[u8], problem: &Problem) {
    refusal::is_proper(problem, &REFUSALS);
    assert_eq!(problem.code == "invalid_json", problem.status == 400, "{problem:?}");
    let typed = serde_json::from_slice::<CreateCheckout>(body).is_ok() && written::is_plain(body);
    assert_eq!(typed, problem.status == 422, "{problem:?}");
    if let (422, Some(field)) = (problem.status, &problem.field) {
        let first = field.split('.').next().unwrap_or_default();
        assert!(FIELDS.contains(&first), "{problem:?}");
    }
}

fn read(body: &[u8]) -> Result<Fingerprint, Box<Problem>> {
    let (terms, fingerprint) = offline::checkout(body, &["https://shop.example".to_owned()])?;
    assert!(terms.amount.minor() > 0 && terms.expires_in_ms > 0);
    let texts = terms.description.iter().chain(terms.metadata.values()).chain(terms.metadata.keys());
    assert!(!texts.into_iter().any(|text| payment::has_card_number(text) || text.contains('\0')));
    assert!(terms.return_url.is_none_or(|url| url.to_ascii_lowercase().starts_with("https://shop.example")));
    let email = terms.email.as_deref();
    assert!(email.is_none_or(|email| email.contains('@') && !email.contains(['\r', '\n', ' '])));
    Ok(fingerprint)
}

fn same(body: &Value, fingerprint: &Fingerprint) {
    let again = read(body.to_string().as_bytes());
    assert_eq!(again.as_ref().ok(), Some(fingerprint), "{body}: {again:?}");
    assert_eq!(again.ok().and_then(|again| again.differs_from(fingerprint)), None);
}

/// Another request, where it is one that can be taken: it differs, and the field to blame is named.
fn other(body: &Value, fingerprint: &Fingerprint, field: &str) {
    if let Ok(again) = read(body.to_string().as_bytes()) {
        assert_ne!(again.digest(), fingerprint.digest(), "{body}");
        assert_eq!(again.differs_from(fingerprint).as_deref(), Some(field), "{body}");
    }
}

fn with_sum(typed: &CreateCheckout, sum: String) -> CreateCheckout {
    CreateCheckout { amount: Amount::new(sum, typed.amount.currency.as_str()), ..typed.clone() }
}

/// The same bytes with this field in front, which there is not, or is already: refused, and it is named.
fn not_taken(body: &[u8], field: &str) {
    let rest = body.trim_ascii_start().strip_prefix(b"{").expect("an object");
    let more = [format!(r#"{{"{field}":"x","#).as_bytes(), rest].concat();
    let problem = read(&more).expect_err("a field too many is taken");
    assert_eq!(problem.code, "invalid_json");
    assert!(problem.detail.contains(field), "{problem:?}");
}
