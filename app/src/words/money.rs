//! Amounts as people write them. Must never round: the decimals are those of the text that came.

use contract::Amount;
use fixed_decimal::Decimal;
use icu_decimal::DecimalFormatter;
use icu_locale_core::locale;

use super::Lang;
use crate::money::with_currency;

impl Lang {
    /// `1 500,00 ₽` with no-break spaces, or `₽1,500.00`. Money whose sign could be another's shows its code.
    pub fn write_amount(self, amount: &Amount) -> String {
        let value = amount.value.text().unwrap_or_default();
        let number = match value.parse::<Decimal>() {
            Ok(decimal) => self.formatter().format(&decimal).to_string(),
            // Not ours to judge: the server writes decimals, anything else is shown as it came.
            Err(_) => value.to_owned(),
        };
        with_currency(self.tag(), &number, &amount.currency)
    }

    fn formatter(self) -> DecimalFormatter {
        let locale = match self {
            Self::Ru => locale!("ru"),
            Self::En => locale!("en"),
        };
        DecimalFormatter::try_new(locale.into(), Default::default()).expect("its data is compiled in")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_as_its_readers_expect() {
        let write =
            |lang: Lang, value: &str, currency: &str| lang.write_amount(&Amount::new(value, currency));
        assert_eq!(write(Lang::Ru, "1500.00", "RUB"), "1\u{a0}500,00\u{a0}₽");
        assert_eq!(write(Lang::En, "1500.00", "RUB"), "₽1,500.00");
        assert_eq!(write(Lang::En, "1234567.89", "USD"), "$1,234,567.89");
        assert_eq!(write(Lang::Ru, "0.05", "EUR"), "0,05\u{a0}€");
        assert_eq!(write(Lang::En, "1500", "JPY"), "JPY\u{a0}1,500");
        assert_eq!(write(Lang::Ru, "1500.000", "KWD"), "1\u{a0}500,000\u{a0}KWD");
        assert_eq!(write(Lang::En, "90071992547409.93", "RUB"), "₽90,071,992,547,409.93");
    }
}
