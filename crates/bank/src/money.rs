//! Sums as the dialect writes them: a decimal string with two places and a currency YooKassa knows.

use std::fmt;

use serde_json::{Value, json};

use crate::refusal::Refusal;

/// What YooKassa settles in; all of them have two decimal places.
const CURRENCIES: [&str; 13] =
    ["RUB", "USD", "EUR", "BYN", "CNY", "KZT", "UAH", "UZS", "TRY", "INR", "MDL", "AZN", "AMD"];
/// The largest sum of one payment: ten digits before the point.
const MAX_WHOLE_DIGITS: usize = 10;
/// What the bank keeps of a payment, in parts of a thousand.
const FEE_PERMILLE: i64 = 35;

/// A positive sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Amount {
    pub minor: i64,
    pub currency: String,
}

impl Amount {
    /// Reads `{"value":"1500.00","currency":"RUB"}` out of `body[amount]`.
    pub fn of(body: &Value) -> Result<Self, Refusal> {
        let amount = body.get("amount").ok_or_else(|| Refusal::invalid("amount", "Amount is missing"))?;
        let text = amount.get("value").and_then(Value::as_str);
        let minor = text
            .and_then(parse_minor)
            .filter(|minor| *minor > 0)
            .ok_or_else(|| Refusal::invalid("amount.value", "A positive decimal string is wanted"))?;
        let currency = amount.get("currency").and_then(Value::as_str).unwrap_or_default();
        if !CURRENCIES.contains(&currency) {
            return Err(Refusal::invalid("amount.currency", "Unknown currency"));
        }
        Ok(Self { minor, currency: currency.to_owned() })
    }

    /// [`Amount::of`] where the sum may be left out.
    pub fn of_optional(body: &Value) -> Result<Option<Self>, Refusal> {
        match body.get("amount") {
            None | Some(Value::Null) => Ok(None),
            Some(_) => Self::of(body).map(Some),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", decimal(self.minor), self.currency)
    }
}

/// `{"value":"1500.00","currency":"RUB"}`.
pub(crate) fn render(minor: i64, currency: &str) -> Value {
    json!({ "value": decimal(minor), "currency": currency })
}

/// What is left of a sum after the bank's fee.
pub(crate) fn income(minor: i64) -> i64 {
    minor - (minor * FEE_PERMILLE + 500) / 1000
}

fn decimal(minor: i64) -> String {
    format!("{}.{:02}", minor / 100, minor % 100)
}

fn parse_minor(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() > MAX_WHOLE_DIGITS || fraction.len() > 2 {
        return None;
    }
    let cents: i64 = format!("{fraction:0<2}").parse().ok()?;
    Some(whole.parse::<i64>().ok()? * 100 + cents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimals_are_sums() {
        for (text, minor) in
            [("1500.00", 150_000), ("1500", 150_000), ("0.5", 50), ("9999999999.99", 999_999_999_999)]
        {
            assert_eq!(parse_minor(text), Some(minor), "{text}");
        }
        for text in ["", ".5", "1.", "1.005", "-1", "+1", "1e3", "1 000", "1,00", "10000000000", "٣"] {
            assert_eq!(parse_minor(text), None, "{text}");
        }
    }

    #[test]
    fn the_fee_rounds_to_the_nearest_kopeck() {
        assert_eq!(income(10_000), 9_650);
        assert_eq!(income(1), 1);
    }
}
