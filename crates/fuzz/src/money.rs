//! Sums. Input: a currency's code, then sums, a line each.

use std::cmp::Ordering;

use contract::Amount;
use payment::{Currency, Money, MoneyError};

pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (code, texts) = text.split_once('\n').unwrap_or((text, ""));
    let currency = match Currency::parse(code) {
        Ok(currency) => {
            assert_eq!(currency.code(), code);
            currency
        }
        Err(error) => {
            assert!(matches!(&error, MoneyError::UnknownCurrency { code } if code.chars().count() <= 8));
            return;
        }
    };
    let sums: Vec<Money> = texts.split('\n').take(8).filter_map(|text| sum(text, currency)).collect();
    for pair in sums.windows(2) {
        assert_eq!(pair[0].minor().cmp(&pair[1].minor()), in_text(pair[0], pair[1]), "{pair:?}");
    }
}

/// One sum: its value is what arithmetic on its digits says, and every way to write it is the same sum.
fn sum(text: &str, currency: Currency) -> Option<Money> {
    let value = is_plain(text).then(|| value_of(text, currency));
    let most = currency.exponent() as usize;
    match Money::parse(text, currency) {
        Ok(money) => {
            assert_eq!(value, Some(Value::Minor(money.minor())), "{text}");
            assert_eq!(Money::from_minor(money.minor(), currency), Ok(money));
            let written = money.decimal();
            assert_eq!(decimals(&written).len(), most, "{written}");
            let short = if most == 0 { written.as_str() } else { written.trim_end_matches('0') };
            for same in [&written, short.trim_end_matches('.')] {
                assert_eq!(Money::parse(same, currency), Ok(money), "{text} is not {same}");
            }
            assert_eq!(money.to_string(), format!("{written} {}", currency.code()));
            on_the_wire(&written, currency);
            Some(money)
        }
        Err(error) => {
            let expected = match value {
                None => MoneyError::Malformed,
                Some(Value::Minor(_)) => panic!("{text} is a sum: {error}"),
                Some(Value::TooFine) => {
                    MoneyError::TooManyDecimals { code: currency.code(), decimals: currency.exponent() }
                }
                Some(Value::TooLarge) => MoneyError::TooLarge,
                Some(Value::Nothing) => MoneyError::NotPositive,
            };
            assert_eq!(error, expected, "{text}");
            None
        }
    }
}

/// As JSON it keeps every digit; as a JSON number it has none.
fn on_the_wire(written: &str, currency: Currency) {
    let amount = Amount::new(written, currency.code());
    let json = serde_json::to_string(&amount).expect("an amount is JSON");
    assert_eq!(serde_json::from_str::<Amount>(&json).ok(), Some(amount));
    let bare = json.replace(&format!("\"{written}\""), written);
    let read = serde_json::from_str::<Amount>(&bare).expect("a number parses, to be refused with a hint");
    assert_eq!(read.value.text(), None);
}

/// What a text amounts to.
#[derive(Debug, PartialEq)]
enum Value {
    Minor(i64),
    TooFine,
    TooLarge,
    Nothing,
}

fn value_of(text: &str, currency: Currency) -> Value {
    let missing = (currency.exponent() as usize).checked_sub(decimals(text).len());
    let Some(missing) = missing else { return Value::TooFine };
    let digits = text.bytes().filter(u8::is_ascii_digit).chain(std::iter::repeat_n(b'0', missing));
    let minor =
        digits.fold(0_u128, |sum, digit| sum.saturating_mul(10).saturating_add(u128::from(digit - b'0')));
    match i64::try_from(minor) {
        Ok(0) => Value::Nothing,
        Ok(minor) => Value::Minor(minor),
        Err(_) => Value::TooLarge,
    }
}

/// Digits without a leading zero, and after a point at least one more.
fn is_plain(text: &str) -> bool {
    #[derive(Clone, Copy)]
    enum At {
        Start,
        Zero,
        Whole,
        Point,
        Decimals,
        Nowhere,
    }
    let end = text.bytes().fold(At::Start, |at, byte| match (at, byte) {
        (At::Start, b'0') => At::Zero,
        (At::Start, b'1'..=b'9') | (At::Whole, b'0'..=b'9') => At::Whole,
        (At::Zero | At::Whole, b'.') => At::Point,
        (At::Point | At::Decimals, b'0'..=b'9') => At::Decimals,
        (At::Start | At::Zero | At::Whole | At::Point | At::Decimals | At::Nowhere, _) => At::Nowhere,
    });
    matches!(end, At::Zero | At::Whole | At::Decimals)
}

fn decimals(text: &str) -> &str {
    text.split_once('.').map_or("", |(_, decimals)| decimals)
}

/// The order of two sums of one currency, by their digits alone.
fn in_text(one: Money, other: Money) -> Ordering {
    let (one, other) = (one.decimal(), other.decimal());
    one.len().cmp(&other.len()).then_with(|| one.cmp(&other))
}
