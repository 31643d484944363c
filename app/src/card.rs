//! A card, read from what the shopper typed.
//! Must never show a number or a code in a log, and never judge more than the form can know: the bank decides.

use std::fmt;

use crate::form::{Typed, Wrong};

/// Months since year 0, to compare expiries with today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month(u32);

impl Month {
    /// `month` counts from 1.
    pub fn new(year: u32, month: u32) -> Self {
        Self(year * 12 + month)
    }

    /// The one that is not over anywhere yet on a date in UTC, as the server writes it: `2026-11-30`. Without a date none is over.
    pub fn of(date: &str) -> Self {
        let mut parts = date.split('-').map(|part| part.parse().unwrap_or_default());
        let mut next = || parts.next().unwrap_or_default();
        let (year, month, day): (u32, u32, u32) = (next(), next(), next());
        Self(year * 12 + month - u32::from(day == 1))
    }
}

/// A card that can be sent to the bank.
#[derive(Clone, PartialEq, Eq)]
pub struct Card {
    /// Digits only.
    pub number: String,
    /// Two digits.
    pub expiry_month: String,
    /// Four digits.
    pub expiry_year: String,
    /// Three or four digits.
    pub cvc: String,
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Card(•••• {})", self.last4())
    }
}

impl Card {
    /// Reads the card's fields; `today` is the month that is not over yet.
    ///
    /// # Errors
    /// At most one for each field, in the order of the form.
    pub fn read(typed: &Typed, today: Month) -> Result<Self, Vec<Wrong>> {
        match (read_number(&typed.number), read_expiry(&typed.expiry, today), read_cvc(&typed.cvc)) {
            (Ok(number), Ok((expiry_year, expiry_month)), Ok(cvc)) => {
                Ok(Self { number, expiry_month, expiry_year, cvc })
            }
            (number, expiry, cvc) => {
                Err([number.err(), expiry.err(), cvc.err()].into_iter().flatten().collect())
            }
        }
    }

    /// The last four digits, to recognise it by.
    pub fn last4(&self) -> &str {
        &self.number[self.number.len() - 4..]
    }
}

fn read_number(typed: &str) -> Result<String, Wrong> {
    let number: String = typed.chars().filter(|c| !parts_digits(*c)).collect();
    if number.is_empty() {
        return Err(Wrong::NumberMissing);
    }
    if !(13..=19).contains(&number.len()) || !number.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Wrong::NumberLength);
    }
    if passes_luhn(&number) { Ok(number) } else { Err(Wrong::NumberCheck) }
}

/// Whether it may stand between the digits of a number, or unseen around them, where that was copied from.
fn parts_digits(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '.' | '\u{2000}'..='\u{206f}' | '\u{feff}')
}

/// ISO/IEC 7812-1, annex B.
fn passes_luhn(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| match (place % 2, u32::from(byte - b'0')) {
            (0, digit) => digit,
            (_, digit) => digit * 2 / 10 + digit * 2 % 10,
        })
        .sum();
    sum.is_multiple_of(10)
}

fn read_expiry(typed: &str, today: Month) -> Result<(String, String), Wrong> {
    let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
    if typed.trim().is_empty() {
        return Err(Wrong::ExpiryMissing);
    }
    let (month, year) = match typed.split_once(|c: char| !c.is_ascii_digit() && !c.is_whitespace()) {
        Some((month, year)) => (month.trim(), year.trim()),
        None if matches!(digits.len(), 4 | 6) => digits.split_at(2),
        None => return Err(Wrong::ExpiryForm),
    };
    let month: u32 = month.parse().map_err(|_| Wrong::ExpiryForm)?;
    let year: u32 = match (year.len(), year.parse::<u32>()) {
        (2, Ok(year)) => 2000 + year,
        (4, Ok(year)) => year,
        (_, _) => return Err(Wrong::ExpiryForm),
    };
    if !(1..=12).contains(&month) {
        return Err(Wrong::ExpiryForm);
    }
    if Month::new(year, month) < today {
        return Err(Wrong::ExpiryPast);
    }
    Ok((format!("{year:04}"), format!("{month:02}")))
}

fn read_cvc(typed: &str) -> Result<String, Wrong> {
    let cvc = typed.trim();
    if cvc.is_empty() {
        return Err(Wrong::CvcMissing);
    }
    if !(3..=4).contains(&cvc.len()) || !cvc.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Wrong::CvcForm);
    }
    Ok(cvc.to_owned())
}

/// A number in fours, as it is printed on the card; anything but digits and spaces is left alone.
pub fn in_fours(typed: &str) -> String {
    if typed.chars().any(|c| !c.is_ascii_digit() && c != ' ') {
        return typed.to_owned();
    }
    let mut out = String::with_capacity(24);
    for (place, digit) in typed.chars().filter(char::is_ascii_digit).enumerate() {
        if place > 0 && place.is_multiple_of(4) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// An expiry with its stroke, once both digits of the month are there: `12 / 2` while typing `122`.
pub fn with_stroke(typed: &str) -> String {
    let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
    let only_digits = digits.len() == typed.len();
    if only_digits && digits.len() > 2 {
        format!("{} / {}", &digits[..2], &digits[2..])
    } else {
        typed.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: fn() -> Month = || Month::new(2026, 11);

    fn read(number: &str, expiry: &str, cvc: &str) -> Result<Card, Vec<Wrong>> {
        let typed =
            Typed { number: number.into(), expiry: expiry.into(), cvc: cvc.into(), ..Typed::default() };
        Card::read(&typed, TODAY())
    }

    #[test]
    fn a_card_is_read_however_it_is_spaced() {
        for expiry in ["12/27", "12 / 27", "1227", "12/2027", "122027", "12.27", "12-27"] {
            let card = read(" 5555 5555-55554444 ", expiry, " 123 ").unwrap();
            assert_eq!((card.number.as_str(), card.cvc.as_str()), ("5555555555554444", "123"), "{expiry}");
            assert_eq!((card.expiry_month.as_str(), card.expiry_year.as_str()), ("12", "2027"), "{expiry}");
            assert_eq!(card.last4(), "4444");
        }
        assert_eq!(read("5555555555554444", "1/27", "1234").unwrap().expiry_month, "01");
        for number in
            ["\u{202a}5555\u{2013}5555\u{2013}5555\u{2013}4444\u{202c}", "5555.5555.5555.4444\u{200b}"]
        {
            assert_eq!(read(number, "12/27", "123").unwrap().number, "5555555555554444", "as it was copied");
        }
    }

    #[test]
    fn every_card_of_the_sandbox_passes() {
        for number in [
            "5555555555554444",
            "4111111111111111",
            "5555555555554477",
            "5555555555554600",
            "5555555555554592",
            "5555555555554535",
            "2200000000000004",
        ] {
            assert!(read(number, "12/30", "000").is_ok(), "{number}");
        }
    }

    #[test]
    fn each_field_is_blamed_for_its_own_mistake_only() {
        assert_eq!(
            read("", "", ""),
            Err(vec![Wrong::NumberMissing, Wrong::ExpiryMissing, Wrong::CvcMissing])
        );
        assert_eq!(read("5555 5555 5555", "12/27", "123"), Err(vec![Wrong::NumberLength]));
        assert_eq!(read("5555 5555 5555 4445", "12/27", "123"), Err(vec![Wrong::NumberCheck]));
        assert_eq!(read("5555 5555 5555 444x", "12/27", "123"), Err(vec![Wrong::NumberLength]));
        assert_eq!(read("5555555555554444", "13/27", "12"), Err(vec![Wrong::ExpiryForm, Wrong::CvcForm]));
        assert_eq!(read("5555555555554444", "00/27", "1234"), Err(vec![Wrong::ExpiryForm]));
        assert_eq!(read("5555555555554444", "127", "1234"), Err(vec![Wrong::ExpiryForm]));
        assert_eq!(read("5555555555554444", "12/027", "12345"), Err(vec![Wrong::ExpiryForm, Wrong::CvcForm]));
        assert_eq!(read("5555555555554444", "x", "12a"), Err(vec![Wrong::ExpiryForm, Wrong::CvcForm]));
    }

    #[test]
    fn a_card_is_good_to_the_end_of_its_month() {
        assert!(read("5555555555554444", "11/26", "123").is_ok());
        assert_eq!(read("5555555555554444", "10/26", "123"), Err(vec![Wrong::ExpiryPast]));
        assert_eq!(read("5555555555554444", "01/20", "123"), Err(vec![Wrong::ExpiryPast]));
    }

    /// Somewhere the last day of a month goes on while it is the first in UTC. The bank judges.
    #[test]
    fn a_card_is_over_where_its_month_is_over_everywhere() {
        for (date, expiry, over) in [
            ("2026-12-01", "11/26", false),
            ("2026-12-02", "11/26", true),
            ("2026-01-01", "12/25", false),
            ("2026-01-02", "12/25", true),
            ("", "01/00", false),
        ] {
            let read = read_expiry(expiry, Month::of(date));
            assert_eq!(read == Err(Wrong::ExpiryPast), over, "{expiry} on {date}");
        }
    }

    #[test]
    fn a_card_never_shows_itself() {
        let card = read("5555555555554444", "12/27", "987").unwrap();
        assert_eq!(format!("{card:?}"), "Card(•••• 4444)");
    }

    #[test]
    fn typing_is_helped_and_never_eaten() {
        assert_eq!(in_fours("55555555"), "5555 5555");
        assert_eq!(in_fours("5555 5"), "5555 5");
        assert_eq!(in_fours("5555-5555"), "5555-5555");
        assert_eq!(with_stroke("12"), "12");
        assert_eq!(with_stroke("122"), "12 / 2");
        assert_eq!(with_stroke("12 / 2"), "12 / 2");
        assert_eq!(with_stroke("1/2"), "1/2");
    }
}
