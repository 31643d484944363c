//! A sum around its number, the same on the server and in the browser: each writes the number itself.

/// `1 500,00 ₽` with a no-break space, or `₽1,500.00`. Money whose sign could be another's shows its code.
pub(crate) fn with_currency(lang: &str, number: &str, currency: &str) -> String {
    match (lang, sign(currency)) {
        ("ru", sign) => format!("{number}\u{a0}{}", sign.unwrap_or(currency)),
        (_, Some(sign)) => format!("{sign}{number}"),
        (_, None) => format!("{currency}\u{a0}{number}"),
    }
}

/// Signs that mean one currency to everyone.
fn sign(currency: &str) -> Option<&'static str> {
    match currency {
        "RUB" => Some("₽"),
        "EUR" => Some("€"),
        "USD" => Some("$"),
        "GBP" => Some("£"),
        "KZT" => Some("₸"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_that_could_be_another_currencys_is_none() {
        assert_eq!(with_currency("ru", "1\u{a0}500,00", "BYN"), "1\u{a0}500,00\u{a0}BYN");
        assert_eq!(with_currency("en", "1,500", "JPY"), "JPY\u{a0}1,500");
        assert_eq!(with_currency("en", "1,500.00", "CAD"), "CAD\u{a0}1,500.00");
        assert_eq!(with_currency("en", "1,500.00", "RUB"), "₽1,500.00");
    }
}
