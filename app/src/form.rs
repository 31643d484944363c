//! What the shopper filled in, and what is wrong with it.
//! Must never show a number, a code or an address in a log, and never judge more than the form can know.

use std::fmt;

use crate::card::{Card, Month};

/// The inputs as they stand in the page.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Typed {
    /// Digits, with spaces or hyphens.
    pub number: String,
    /// `MM / YY`, `MMYY` or `MM/YYYY`.
    pub expiry: String,
    /// Three or four digits.
    pub cvc: String,
    /// The mail address, or nothing.
    pub email: String,
}

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Typed(..)")
    }
}

/// A form that can be sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Form {
    /// For the bank.
    pub card: Card,
    /// Where the receipt goes, if the shopper said so; for us.
    pub email: Option<String>,
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Form({:?})", self.card)
    }
}

impl Form {
    /// Reads the form; `today` is the month that is not over yet.
    ///
    /// # Errors
    /// At most one for each field, in the order of the form.
    pub fn read(typed: &Typed, today: Month) -> Result<Self, Vec<Wrong>> {
        let email = Some(typed.email.trim()).filter(|email| !email.is_empty());
        let malformed = email.is_some_and(|email| !may_be_address(email));
        match (Card::read(typed, today), malformed) {
            (Ok(card), false) => Ok(Self { card, email: email.map(str::to_owned) }),
            (card, malformed) => {
                let mut wrongs = card.err().unwrap_or_default();
                wrongs.extend(malformed.then_some(Wrong::EmailForm));
                Err(wrongs)
            }
        }
    }
}

/// Finds slips; the server has the last word. A browser's own rule takes no letters but Latin ones.
fn may_be_address(text: &str) -> bool {
    let Some((user, domain)) = text.rsplit_once('@') else { return false };
    !user.is_empty() && !domain.is_empty() && !text.contains(char::is_whitespace)
}

/// Which input is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// `cc-number`
    Number,
    /// `cc-exp`
    Expiry,
    /// `cc-csc`
    Cvc,
    /// `email`
    Email,
}

impl Field {
    /// All of them, in the order of the form.
    pub const ALL: [Self; 4] = [Self::Number, Self::Expiry, Self::Cvc, Self::Email];

    /// Its `autocomplete`, which is its `id` too.
    pub fn id(self) -> &'static str {
        match self {
            Self::Number => "cc-number",
            Self::Expiry => "cc-exp",
            Self::Cvc => "cc-csc",
            Self::Email => "email",
        }
    }
}

/// What is wrong with an input. Each has its words in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// No number.
    NumberMissing,
    /// Too few or too many digits, or something else than digits.
    NumberLength,
    /// The check digit disagrees: a typing error.
    NumberCheck,
    /// The bank does not take this number.
    NumberRefused,
    /// No expiry.
    ExpiryMissing,
    /// Not a month and a year.
    ExpiryForm,
    /// Over.
    ExpiryPast,
    /// The bank does not take this expiry.
    ExpiryRefused,
    /// No code.
    CvcMissing,
    /// Not three or four digits.
    CvcForm,
    /// The bank does not take this code.
    CvcRefused,
    /// Not a mail address.
    EmailForm,
}

impl Wrong {
    /// All of them, in the order of the form.
    pub const ALL: [Self; 12] = [
        Self::NumberMissing,
        Self::NumberLength,
        Self::NumberCheck,
        Self::NumberRefused,
        Self::ExpiryMissing,
        Self::ExpiryForm,
        Self::ExpiryPast,
        Self::ExpiryRefused,
        Self::CvcMissing,
        Self::CvcForm,
        Self::CvcRefused,
        Self::EmailForm,
    ];

    /// The name of its words: `data-wrong` in the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::NumberMissing => "number-missing",
            Self::NumberLength => "number-length",
            Self::NumberCheck => "number-check",
            Self::NumberRefused => "number-refused",
            Self::ExpiryMissing => "expiry-missing",
            Self::ExpiryForm => "expiry-form",
            Self::ExpiryPast => "expiry-past",
            Self::ExpiryRefused => "expiry-refused",
            Self::CvcMissing => "cvc-missing",
            Self::CvcForm => "cvc-form",
            Self::CvcRefused => "cvc-refused",
            Self::EmailForm => "email-form",
        }
    }

    /// The input to blame.
    pub fn field(self) -> Field {
        match self {
            Self::NumberMissing | Self::NumberLength | Self::NumberCheck | Self::NumberRefused => {
                Field::Number
            }
            Self::ExpiryMissing | Self::ExpiryForm | Self::ExpiryPast | Self::ExpiryRefused => Field::Expiry,
            Self::CvcMissing | Self::CvcForm | Self::CvcRefused => Field::Cvc,
            Self::EmailForm => Field::Email,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(number: &str, email: &str) -> Typed {
        Typed { number: number.into(), expiry: "12/27".into(), cvc: "987".into(), email: email.into() }
    }

    fn read(number: &str, email: &str) -> Result<Form, Vec<Wrong>> {
        Form::read(&typed(number, email), Month::new(2026, 11))
    }

    #[test]
    fn an_address_is_taken_as_it_stands_and_none_is_needed() {
        let form = read("5555555555554444", "anna@example.com").unwrap();
        assert_eq!((form.card.last4(), form.email.as_deref()), ("4444", Some("anna@example.com")));
        assert_eq!(read("5555555555554444", "").unwrap().email, None);
        let form = read("5555555555554444", " почта@пример.рф ").unwrap();
        assert_eq!(
            form.email.as_deref(),
            Some("почта@пример.рф"),
            "in any letters, without what a keyboard adds"
        );
    }

    #[test]
    fn a_malformed_address_is_a_mistake_beside_the_cards() {
        for slip in ["anna", "@example.com", "anna@", "anna @example.com"] {
            assert_eq!(read("5555555555554444", slip), Err(vec![Wrong::EmailForm]), "{slip}");
        }
        assert_eq!(read("", "anna"), Err(vec![Wrong::NumberMissing, Wrong::EmailForm]));
        assert_eq!(read("", "anna@example.com"), Err(vec![Wrong::NumberMissing]));
    }

    #[test]
    fn mistakes_and_fields_are_in_the_order_of_the_form() {
        let order = Wrong::ALL.map(|wrong| Field::ALL.iter().position(|field| *field == wrong.field()));
        assert!(order.is_sorted() && !order.contains(&None));
    }

    #[test]
    fn a_form_never_shows_itself() {
        let typed = typed("5555555555554444", "anna@example.com");
        assert_eq!(format!("{typed:?}"), "Typed(..)");
        assert_eq!(format!("{:?}", Form::read(&typed, Month::new(2026, 11))), "Ok(Form(Card(•••• 4444)))");
    }
}
