//! Money: minor units with the currency's exponent. Strict when it reads, since a false match would be a wrong charge (R4).

use std::fmt;

use serde::{Deserialize, Serialize};

/// An ISO 4217 currency that has minor units.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency(iso_currency::Currency);

impl Currency {
    /// From a code such as `RUB`, capitals only.
    pub fn parse(code: &str) -> Result<Self, MoneyError> {
        let unknown = || MoneyError::UnknownCurrency { code: code.chars().take(8).collect() };
        let known = iso_currency::Currency::from_code(code).ok_or_else(unknown)?;
        known.exponent().map(|_| Self(known)).ok_or_else(unknown)
    }

    /// `RUB`.
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// Decimals: 2 for RUB, 0 for JPY, 3 for KWD.
    pub fn exponent(self) -> u32 {
        u32::from(self.0.exponent().unwrap_or_default())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Currency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        Self::parse(&code).map_err(serde::de::Error::custom)
    }
}

/// A sum to be paid: more than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Money {
    minor: i64,
    currency: Currency,
}

/// A text is not a sum we take; each message says what would be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// Anything but digits with one point.
    #[error("must be a decimal string such as \"1500.00\": digits, and a point before the decimals")]
    Malformed,
    /// More decimals than the currency has.
    #[error("{code} has {decimals} decimals, so no more than that may follow the point")]
    TooManyDecimals {
        /// The currency.
        code: &'static str,
        /// What it has.
        decimals: u32,
    },
    /// More than 64 bits of minor units.
    #[error("is more than can be paid at once")]
    TooLarge,
    /// Zero.
    #[error("must be more than zero")]
    NotPositive,
    /// Not in ISO 4217, or without minor units.
    #[error("`{code}` is not an ISO 4217 currency with minor units (RUB, EUR, …)")]
    UnknownCurrency {
        /// What came, cut to eight characters.
        code: String,
    },
}

impl Money {
    /// From minor units (kopecks, cents).
    pub fn from_minor(minor: i64, currency: Currency) -> Result<Self, MoneyError> {
        if minor <= 0 { Err(MoneyError::NotPositive) } else { Ok(Self { minor, currency }) }
    }

    /// From a decimal string: `1500`, `1500.0` and `1500.00` are the same sum; `1,500`, `1e3`, `+1`, `.5`, `007` are none.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, MoneyError> {
        let (whole, decimals) = match text.split_once('.') {
            Some((_, "")) => return Err(MoneyError::Malformed),
            Some(parts) => parts,
            None => (text, ""),
        };
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let plain = !whole.is_empty()
            && digits(whole)
            && digits(decimals)
            && !(whole.len() > 1 && whole.starts_with('0'));
        if !plain {
            return Err(MoneyError::Malformed);
        }
        let exponent = currency.exponent();
        if decimals.len() > exponent as usize {
            return Err(MoneyError::TooManyDecimals { code: currency.code(), decimals: exponent });
        }
        let padded = format!("{whole}{:0<width$.width$}", decimals, width = exponent as usize);
        let minor = padded.parse::<i64>().map_err(|_| MoneyError::TooLarge)?;
        Self::from_minor(minor, currency)
    }

    /// Minor units.
    pub fn minor(self) -> i64 {
        self.minor
    }

    /// The currency.
    pub fn currency(self) -> Currency {
        self.currency
    }

    /// Major units with all decimals: `1500.00`.
    pub fn decimal(self) -> String {
        let exponent = self.currency.exponent() as usize;
        let digits = format!("{:0>width$}", self.minor, width = exponent + 1);
        let (whole, decimals) = digits.split_at(digits.len() - exponent);
        if exponent == 0 { whole.to_owned() } else { format!("{whole}.{decimals}") }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", self.decimal(), self.currency.code())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str, code: &str) -> Result<i64, MoneyError> {
        Money::parse(text, Currency::parse(code)?).map(Money::minor)
    }

    #[test]
    fn r4_equal_sums_are_equal_however_they_are_written() {
        for same in ["1500", "1500.0", "1500.00"] {
            assert_eq!(parse(same, "RUB"), Ok(150_000), "{same}");
        }
    }

    #[test]
    fn exponents_come_from_the_currency() {
        assert_eq!(parse("80", "JPY"), Ok(80)); // Paymenter 1258
        assert_eq!(parse("1.234", "KWD"), Ok(1234)); // woocommerce-gateway-stripe 2720
        assert_eq!(parse("80.5", "JPY"), Err(MoneyError::TooManyDecimals { code: "JPY", decimals: 0 }));
    }

    #[test]
    fn what_is_not_plainly_a_sum_is_refused() {
        for wrong in
            ["", "-1", "+1", "NaN", "1e3", "1500,00", "1 500", ".5", "5.", "1.2.3", "007", "0x10", "١٥"]
        {
            assert_eq!(parse(wrong, "RUB"), Err(MoneyError::Malformed), "{wrong}");
        }
        assert_eq!(parse("0", "RUB"), Err(MoneyError::NotPositive));
        assert_eq!(parse("0.00", "RUB"), Err(MoneyError::NotPositive));
        assert_eq!(parse("9223372036854775808", "RUB"), Err(MoneyError::TooLarge));
        for excess in ["1.001", "1500.000"] {
            assert_eq!(parse(excess, "RUB"), Err(MoneyError::TooManyDecimals { code: "RUB", decimals: 2 }));
        }
        for unknown in ["rub", "XYZ", "", "RUBLES"] {
            assert!(matches!(parse("1", unknown), Err(MoneyError::UnknownCurrency { .. })), "{unknown}");
        }
    }

    proptest! {
        #[test]
        fn a_sum_reads_back_as_itself(minor in 1..i64::MAX, code in prop::sample::select(vec!["RUB", "JPY", "KWD"])) {
            let money = Money::from_minor(minor, Currency::parse(code)?)?;
            prop_assert_eq!(Money::parse(&money.decimal(), money.currency()), Ok(money));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            let _ = parse(&text, "RUB");
        }
    }
}
