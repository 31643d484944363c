//! Prices in kopecks, and how they are written: on the wire and for people.
//! Must never be a floating-point number.

use contract::Amount;

use crate::language::Language;

/// What something costs, in kopecks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    minor: u32,
}

impl Price {
    /// A price of whole rubles.
    pub const fn rubles(rubles: u16) -> Self {
        Self { minor: rubles as u32 * 100 }
    }

    /// The price of several.
    pub fn times(self, quantity: u8) -> Self {
        Self { minor: self.minor * u32::from(quantity) }
    }

    /// As the API wants it: `{"value":"1500.00","currency":"RUB"}`.
    pub fn to_amount(self) -> Amount {
        Amount::new(format!("{}.{:02}", self.minor / 100, self.minor % 100), "RUB")
    }

    /// For people: `1 500,00 ₽` (with no-break spaces) or `₽1,500.00`.
    pub fn written_in(self, language: Language) -> String {
        let (rubles, kopecks) = (self.minor / 100, self.minor % 100);
        match language {
            Language::Russian => format!("{},{kopecks:02}\u{a0}₽", grouped(rubles, '\u{a0}')),
            Language::English => format!("₽{}.{kopecks:02}", grouped(rubles, ',')),
        }
    }
}

/// Digits in threes.
fn grouped(number: u32, separator: char) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(separator);
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_written_as_its_readers_expect() {
        let price = Price::rubles(1_500);
        assert_eq!(price.written_in(Language::Russian), "1\u{a0}500,00\u{a0}₽");
        assert_eq!(price.written_in(Language::English), "₽1,500.00");
        assert_eq!(price.to_amount(), Amount::new("1500.00", "RUB"));
        assert_eq!(Price::rubles(390).written_in(Language::Russian), "390,00\u{a0}₽");
        assert_eq!(Price::rubles(u16::MAX).times(u8::MAX).written_in(Language::English), "₽16,711,425.00");
    }
}
