//! Money on the wire: a decimal string and a currency code. Never a JSON number: a double cannot hold every sum.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// `{"value":"1500.00","currency":"RUB"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Amount {
    /// Major units as a decimal string, `.` as the separator.
    pub value: Decimal,
    /// ISO 4217 code.
    pub currency: String,
}

impl Amount {
    /// An amount as our answers write it.
    pub fn new(value: impl Into<String>, currency: impl Into<String>) -> Self {
        Self { value: Decimal::Text(value.into()), currency: currency.into() }
    }
}

/// The `value` of an [`Amount`]. A JSON number parses, so that the refusal can be a 422 with a hint and not a
/// syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decimal {
    /// A JSON string, not yet checked.
    Text(String),
    /// A JSON number: refused.
    Number,
}

impl Decimal {
    /// The text, if it was one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Decimal::Text(text) => Some(text),
            Decimal::Number => None,
        }
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text().unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Decimal;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a decimal string")
            }
            fn visit_str<E>(self, v: &str) -> Result<Decimal, E> {
                Ok(Decimal::Text(v.to_owned()))
            }
            fn visit_u64<E>(self, _: u64) -> Result<Decimal, E> {
                Ok(Decimal::Number)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Decimal, E> {
                Ok(Decimal::Number)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Decimal, E> {
                Ok(Decimal::Number)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
