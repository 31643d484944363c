//! From a request's body to typed, defaulted terms, and to what makes two requests the same (R3, R4).

use axum::http::Uri;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use contract::{Amount, CreateCheckout, Customer};
use lettre::Address;
use payment::{Capture, Currency, Fingerprint, KeyKind, Money, MoneyError, OrderId, has_card_number};
use sha2::{Digest, Sha256};
use store::Terms;

use super::{ApiError, Code};

const NO_CARD_NUMBERS: &str = "Card numbers go from the browser to the provider, never through here.";
const MAX_DESCRIPTION_CHARS: usize = 128;
const MAX_METADATA_PAIRS: usize = 13;
const MAX_METADATA_NAME_CHARS: usize = 32;
const MAX_METADATA_VALUE_CHARS: usize = 512;
const MAX_EMAIL_CHARS: usize = 254;
const MAX_URL_CHARS: usize = 2048;
const RESERVED_METADATA: [&str; 3] = ["checkout_id", "order_id", "payment_intent_id"];
const DEFAULT_EXPIRES_IN_S: i64 = 86_400;
const MAX_EXPIRES_IN_S: i64 = 30 * 86_400;

/// A sum as it came in, for the field `name`.
pub(super) fn money(name: &str, amount: &Amount) -> Result<Money, ApiError> {
    let value = format!("{name}.value");
    let number = || {
        Code::InvalidField
            .field(&value, "Write the sum as a string, such as \"1500.00\": a JSON number may lose digits.")
    };
    let text = amount.value.text().ok_or_else(number)?;
    let currency = Currency::parse(&amount.currency)
        .map_err(|error| Code::InvalidField.field(format!("{name}.currency"), error.to_string()))?;
    Money::parse(text, currency)
        .map_err(|error: MoneyError| Code::InvalidField.field(&value, error.to_string()))
}

/// The terms of a checkout, all limits checked.
pub(super) fn checkout(body: CreateCheckout, return_origins: &[String]) -> Result<Terms, ApiError> {
    let order = OrderId::parse(body.order_id)
        .map_err(|error| Code::InvalidField.field("order_id", error.to_string()))?;
    let amount = money("amount", &body.amount)?;
    if let Some(text) = &body.description {
        check_text("description", text, MAX_DESCRIPTION_CHARS)?;
    }
    let email = email(body.customer)?;
    if let Some(url) = &body.return_url {
        check_return_url(url, return_origins)?;
    }
    let metadata = body.metadata.unwrap_or_default().0;
    check_metadata(&metadata)?;
    let expires_in_s = body.expires_in.unwrap_or(DEFAULT_EXPIRES_IN_S);
    if !(1..=MAX_EXPIRES_IN_S).contains(&expires_in_s) {
        return Err(
            Code::InvalidField.field("expires_in", format!("must be 1 to {MAX_EXPIRES_IN_S} seconds"))
        );
    }
    Ok(Terms {
        order,
        amount,
        capture: match body.capture.unwrap_or_default() {
            contract::Capture::Automatic => Capture::Automatic,
            contract::Capture::Manual => Capture::Manual,
        },
        description: body.description,
        return_url: body.return_url,
        email,
        metadata,
        expires_in_ms: expires_in_s * 1000,
    })
}

/// What makes two requests for a checkout the same. A text that was not given is left out: an empty one is something else.
pub(super) fn checkout_fingerprint(terms: &Terms) -> Fingerprint {
    let metadata = serde_json::to_string(&terms.metadata).expect("text pairs are JSON");
    let fields = [
        ("order_id", Some(terms.order.to_string())),
        ("amount", Some(terms.amount.to_string())),
        ("description", terms.description.clone()),
        // Personal data is not kept with keys, which are never erased.
        ("customer.email", terms.email.as_ref().map(|email| STANDARD.encode(Sha256::digest(email)))),
        ("return_url", terms.return_url.clone()),
        ("metadata", Some(metadata)),
        ("expires_in", Some((terms.expires_in_ms / 1000).to_string())),
        ("capture", Some(terms.capture.as_str().to_owned())),
    ];
    let given: Vec<_> = fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    Fingerprint::new(KeyKind::CreateCheckout, &given)
}

fn check_text(field: &str, text: &str, most: usize) -> Result<(), ApiError> {
    if text.chars().count() > most {
        return Err(Code::InvalidField.field(field, format!("must have at most {most} characters")));
    }
    // PostgreSQL's text cannot hold one.
    if text.contains('\0') {
        return Err(Code::InvalidField.field(field, "must not hold the character U+0000"));
    }
    if has_card_number(text) {
        return Err(Code::CardNumber.field(field, NO_CARD_NUMBERS));
    }
    Ok(())
}

/// Where the receipt goes, as a checkout or a submission says: an address that a mail can be sent to.
pub(super) fn email(customer: Option<Customer>) -> Result<Option<String>, ApiError> {
    let Some(email) = customer.and_then(|customer| customer.email) else { return Ok(None) };
    let plain = !email.contains(|c: char| c.is_whitespace() || c.is_control());
    if !plain || email.parse::<Address>().is_err() || email.chars().count() > MAX_EMAIL_CHARS {
        return Err(Code::InvalidField.field("customer.email", "must be an address such as anna@example.com"));
    }
    Ok(Some(email))
}

/// Only origins the merchant has listed: no open redirect (attack 37).
fn check_return_url(url: &str, allowed: &[String]) -> Result<(), ApiError> {
    let refuse = |detail: &str| Err(Code::InvalidField.field("return_url", detail));
    let plain = url.len() <= MAX_URL_CHARS
        && !url.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\');
    let Some(uri) = plain.then(|| url.parse::<Uri>().ok()).flatten() else {
        return refuse("must be an absolute http or https URL");
    };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return refuse("must be an absolute http or https URL");
    };
    let origin = format!("{scheme}://{authority}");
    if authority.as_str().contains('@') || !allowed.iter().any(|listed| listed.eq_ignore_ascii_case(&origin))
    {
        return refuse("must begin with one of the merchant's listed return origins");
    }
    Ok(())
}

fn check_metadata(metadata: &std::collections::BTreeMap<String, String>) -> Result<(), ApiError> {
    if metadata.len() > MAX_METADATA_PAIRS {
        return Err(
            Code::InvalidField.field("metadata", format!("must have at most {MAX_METADATA_PAIRS} pairs"))
        );
    }
    for (name, value) in metadata {
        if has_card_number(name) {
            return Err(Code::CardNumber.field("metadata", NO_CARD_NUMBERS));
        }
        let field = format!("metadata.{name}");
        if RESERVED_METADATA.contains(&name.as_str()) {
            return Err(Code::InvalidField.field(field, "is a name that Payonce sets itself"));
        }
        if name.is_empty() || name.chars().count() > MAX_METADATA_NAME_CHARS || name.contains('\0') {
            let detail =
                format!("a name must have 1 to {MAX_METADATA_NAME_CHARS} characters, none of them U+0000");
            return Err(Code::InvalidField.field("metadata", detail));
        }
        check_text(&field, value, MAX_METADATA_VALUE_CHARS)?;
    }
    Ok(())
}
