//! What the page sends and what it reads of the answers: no more than it shows, so that the WebAssembly stays small.
//! Must never guess: an answer that cannot be read is no answer.

use contract::{Amount, IntentState, PaymentMethodInput, Submit};
use serde::{Deserialize, Serialize};

use crate::card::{Card, Wrong};

/// What the page knows of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where it stands.
    pub state: IntentState,
    /// Last digits of the card it is paid with.
    pub last4: Option<String>,
    /// Why it was declined.
    pub decline: Option<String>,
    /// The bank's page, while the shopper has to act there.
    pub bank_url: Option<String>,
}

impl Seen {
    /// The part of a [`contract::PaymentIntent`] that is shown.
    pub fn read(json: &str) -> Option<Self> {
        let intent: Intent = serde_json::from_str(json).ok()?;
        Some(Self {
            state: intent.state,
            last4: intent.payment_method.and_then(|method| method.last4),
            decline: intent.decline.map(|decline| decline.code),
            // Anything but a web address has no business in a link.
            bank_url: intent.next_action.map(|action| action.url).filter(|url| url.starts_with("http")),
        })
    }

    /// What is known when only the state is.
    pub fn bare(state: IntentState) -> Self {
        Self { state, last4: None, decline: None, bank_url: None }
    }
}

#[derive(Deserialize)]
struct Intent {
    state: IntentState,
    payment_method: Option<Method>,
    decline: Option<Decline>,
    next_action: Option<Action>,
}

#[derive(Deserialize)]
struct Method {
    last4: Option<String>,
}

#[derive(Deserialize)]
struct Decline {
    code: String,
}

#[derive(Deserialize)]
struct Action {
    url: String,
}

/// The stable word of a [`contract::Problem`].
pub fn read_code(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Coded {
        code: String,
    }
    Some(serde_json::from_str::<Coded>(json).ok()?.code)
}

/// The terms the shopper saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Of the checkout.
    pub version: i64,
    /// As the page shows it.
    pub amount: Amount,
}

/// The body of a submit.
pub fn write_submit(token: String, terms: Terms) -> String {
    write(&Submit {
        payment_method: PaymentMethodInput::CardToken { token },
        checkout_version: terms.version,
        amount: terms.amount,
    })
}

/// The body that makes a token of a card, at the bank.
pub fn write_card(card: &Card) -> String {
    #[derive(Serialize)]
    struct Body<'a> {
        card: Fields<'a>,
    }
    #[derive(Serialize)]
    struct Fields<'a> {
        number: &'a str,
        expiry_month: &'a str,
        expiry_year: &'a str,
        cvc: &'a str,
    }
    write(&Body {
        card: Fields {
            number: &card.number,
            expiry_month: &card.expiry_month,
            expiry_year: &card.expiry_year,
            cvc: &card.cvc,
        },
    })
}

fn write(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("text and numbers always have a JSON form")
}

/// The bank's token for a card.
pub fn read_token(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Made {
        token: String,
    }
    Some(serde_json::from_str::<Made>(json).ok()?.token)
}

/// Which field the bank blames for a card it takes no token for.
pub fn read_refusal(json: &str) -> Wrong {
    #[derive(Deserialize)]
    struct Refusal {
        parameter: Option<String>,
    }
    let parameter = serde_json::from_str::<Refusal>(json).ok().and_then(|refusal| refusal.parameter);
    match parameter {
        Some(name) if name.contains("expiry") => Wrong::ExpiryRefused,
        Some(name) if name.contains("cvc") || name.contains("csc") => Wrong::CvcRefused,
        Some(_) | None => Wrong::NumberRefused,
    }
}

#[cfg(test)]
mod tests {
    use contract::{Decline, NextAction, PaymentIntent, PaymentMethod};

    use super::*;

    fn intent() -> PaymentIntent {
        PaymentIntent {
            id: "pi_1".into(),
            object: "payment_intent".into(),
            state: IntentState::Declined,
            amount: Amount::new("1500.00", "RUB"),
            checkout_id: "co_1".into(),
            checkout_version: 1,
            order_id: "123".into(),
            submit_key: "sub_1".into(),
            payment_method: Some(PaymentMethod { kind: "card_token".into(), last4: Some("4600".into()) }),
            decline: Some(Decline {
                by: "issuer".into(),
                code: "insufficient_funds".into(),
                message: "No money".into(),
            }),
            next_action: Some(NextAction::Redirect { url: "https://bank.example/confirm/1".into() }),
            previous_intent_id: None,
            created_at: "2026-11-30T10:00:00Z".into(),
            provider: None,
            attempts: None,
            journal: None,
        }
    }

    #[test]
    fn the_shown_part_of_an_intent_is_read_from_the_wire_type() {
        let seen = Seen::read(&serde_json::to_string(&intent()).unwrap()).unwrap();
        assert_eq!(seen.state, IntentState::Declined);
        assert_eq!(seen.last4.as_deref(), Some("4600"));
        assert_eq!(seen.decline.as_deref(), Some("insufficient_funds"));
        assert_eq!(seen.bank_url.as_deref(), Some("https://bank.example/confirm/1"));
        let bare = PaymentIntent {
            state: IntentState::Created,
            payment_method: None,
            decline: None,
            next_action: None,
            ..intent()
        };
        let seen = Seen::read(&serde_json::to_string(&bare).unwrap()).unwrap();
        assert_eq!(seen, Seen::bare(IntentState::Created));
    }

    #[test]
    fn what_cannot_be_read_is_no_answer() {
        assert_eq!(Seen::read("<html>502</html>"), None);
        assert_eq!(Seen::read(r#"{"state":"a_later_state"}"#), None);
        let sly =
            r#"{"state":"requires_action","next_action":{"type":"redirect","url":"javascript:alert(1)"}}"#;
        assert_eq!(Seen::read(sly).unwrap().bank_url, None);
    }

    #[test]
    fn the_submit_is_what_the_contract_reads() {
        let terms = Terms { version: 2, amount: Amount::new("1500.00", "RUB") };
        let body: Submit = serde_json::from_str(&write_submit("tok_\"1".into(), terms)).unwrap();
        assert_eq!(body.payment_method, PaymentMethodInput::CardToken { token: "tok_\"1".into() });
        assert_eq!((body.checkout_version, body.amount), (2, Amount::new("1500.00", "RUB")));
    }

    #[test]
    fn the_bank_gets_the_card_and_names_the_field_it_refuses() {
        let card = Card {
            number: "5555555555554444".into(),
            expiry_month: "12".into(),
            expiry_year: "2027".into(),
            cvc: "123".into(),
        };
        assert_eq!(
            write_card(&card),
            r#"{"card":{"number":"5555555555554444","expiry_month":"12","expiry_year":"2027","cvc":"123"}}"#
        );
        assert_eq!(read_token(r#"{"token":"t"}"#).as_deref(), Some("t"));
        assert_eq!(read_refusal(r#"{"parameter":"card.expiry_month"}"#), Wrong::ExpiryRefused);
        assert_eq!(read_refusal(r#"{"parameter":"card.cvc"}"#), Wrong::CvcRefused);
        assert_eq!(read_refusal(r#"{"parameter":"card.number"}"#), Wrong::NumberRefused);
        assert_eq!(read_refusal("nonsense"), Wrong::NumberRefused);
    }
}
