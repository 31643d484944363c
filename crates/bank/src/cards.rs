//! Card numbers: what is wrong with one, which outcome it stands for, and the little that is kept of it.
//! A full number or code lives only in the request that brought it.

use jiff::Timestamp;
use jiff::tz::Offset;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::refusal::Refusal;

/// The card of whoever pays on the bank's page without having given one.
const PAGE_CARD: &str = "5555555555554444";

/// What will come of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The money is taken.
    Success,
    /// The payer is asked to confirm (3-D Secure).
    Challenge,
    /// The issuer declines.
    Decline(Reason),
}

/// Why an issuer declines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    InsufficientFunds,
    ExpiredCard,
    GeneralDecline,
}

/// What is kept of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Card {
    first6: String,
    last4: String,
    expiry_month: String,
    expiry_year: String,
    card_type: String,
}

/// Checks `body.card` and keeps what a payment needs of it.
pub(crate) fn accept(body: &Value, now_ms: i64) -> Result<(Card, Outcome), Refusal> {
    let card = body.get("card").ok_or_else(|| Refusal::invalid("card", "Card is missing"))?;
    let text = |name: &str| card.get(name).and_then(Value::as_str).unwrap_or_default();

    let number = text("number");
    if !(12..=19).contains(&number.len()) || !is_digits(number) || !passes_luhn(number) {
        return Err(Refusal::invalid("card.number", "The card number is not valid"));
    }
    let (month, year) = (text("expiry_month"), text("expiry_year"));
    let Some(expiry) = parse_expiry(month, year) else {
        return Err(Refusal::invalid("card.expiry_month", "MM and YYYY are wanted"));
    };
    if expiry < year_and_month(now_ms) {
        return Err(Refusal::invalid("card.expiry_year", "The card has expired"));
    }
    let code = text("cvc");
    if !(3..=4).contains(&code.len()) || !is_digits(code) {
        return Err(Refusal::invalid("card.cvc", "Three or four digits are wanted"));
    }
    Ok((keep(number, month, year), outcome(number)))
}

impl Card {
    /// The card the page pays with.
    pub fn of_page(now_ms: i64) -> Self {
        let (year, _) = year_and_month(now_ms);
        keep(PAGE_CARD, "12", &(year + 1).to_string())
    }

    /// The digits that the payer knows it by.
    pub fn last4(&self) -> &str {
        &self.last4
    }

    /// YooKassa's `payment_method`; a single payment's method has that payment's id.
    pub fn payment_method(&self, payment_id: &str) -> Value {
        json!({
            "type": "bank_card",
            "id": payment_id,
            "saved": false,
            "title": format!("Bank card *{}", self.last4),
            "card": self,
        })
    }

    /// As the ledger keeps it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings always encode")
    }
}

impl FromSql for Card {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map_err(FromSqlError::other)
    }
}

impl Reason {
    /// As `cancellation_details.reason` names it.
    pub fn name(self) -> &'static str {
        match self {
            Reason::InsufficientFunds => "insufficient_funds",
            Reason::ExpiredCard => "expired_card",
            Reason::GeneralDecline => "general_decline",
        }
    }
}

impl Outcome {
    const ALL: [Outcome; 5] = [
        Outcome::Success,
        Outcome::Challenge,
        Outcome::Decline(Reason::InsufficientFunds),
        Outcome::Decline(Reason::ExpiredCard),
        Outcome::Decline(Reason::GeneralDecline),
    ];

    fn name(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::Challenge => "challenge",
            Outcome::Decline(reason) => reason.name(),
        }
    }
}

impl ToSql for Outcome {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

impl FromSql for Outcome {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        Outcome::ALL.into_iter().find(|outcome| outcome.name() == name).ok_or(FromSqlError::InvalidType)
    }
}

fn outcome(number: &str) -> Outcome {
    match number {
        "5555555555554444" | "4111111111111111" | "2200000000000004" => Outcome::Success,
        "5555555555554477" => Outcome::Challenge,
        "5555555555554600" => Outcome::Decline(Reason::InsufficientFunds),
        "5555555555554592" => Outcome::Decline(Reason::ExpiredCard),
        _ => Outcome::Decline(Reason::GeneralDecline),
    }
}

fn keep(number: &str, month: &str, year: &str) -> Card {
    let card_type = match number.as_bytes() {
        [b'4', ..] => "Visa",
        [b'5', b'1'..=b'5', ..] => "MasterCard",
        [b'2', b'2', b'0', b'0'..=b'4', ..] => "Mir",
        _ => "Unknown",
    };
    Card {
        first6: number[..6].to_owned(),
        last4: number[number.len() - 4..].to_owned(),
        expiry_month: format!("{month:0>2}"),
        expiry_year: year.to_owned(),
        card_type: card_type.to_owned(),
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn passes_luhn(number: &str) -> bool {
    let sum: u32 = number
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            if place % 2 == 0 { digit } else { digit * 2 / 10 + digit * 2 % 10 }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Year first, so that dates compare.
fn parse_expiry(month: &str, year: &str) -> Option<(i16, i8)> {
    let shaped = (1..=2).contains(&month.len()) && year.len() == 4 && is_digits(month) && is_digits(year);
    let month = month.parse().ok().filter(|month| (1..=12).contains(month))?;
    shaped.then_some((year.parse().ok()?, month))
}

fn year_and_month(now_ms: i64) -> (i16, i8) {
    let now = Offset::UTC.to_datetime(Timestamp::from_millisecond(now_ms).expect("the clock gave it"));
    (now.year(), now.month())
}
