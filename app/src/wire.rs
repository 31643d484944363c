//! What the page sends and what it reads of the answers: no more than it shows, so that the WebAssembly stays small.
//! Must never guess: an answer that cannot be read is no answer.

use contract::{Amount, Customer, IntentState, PaymentMethodInput, Submit};
use serde::Serialize;

use crate::{card::Card, form::Wrong, stage::STATES};

/// A JSON answer. The browser parses it, for code that does so is a third of an island; tests have serde_json.
pub trait Answer {
    /// The text at the end of the path; `None` when there is none or it is no text.
    fn text(&self, path: &[&str]) -> Option<String>;
    /// The whole number there.
    fn number(&self, path: &[&str]) -> Option<i64>;
    /// Whether `true` stands there.
    fn flag(&self, path: &[&str]) -> bool;
}

/// What the page knows of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where it stands.
    pub state: IntentState,
    /// Last digits of the card it is paid with.
    pub last4: Option<String>,
    /// Whether it is paid on the bank's own page.
    pub by_redirect: bool,
    /// Why it was declined.
    pub decline: Option<String>,
    /// The bank's page, while the shopper has to act there.
    pub bank_url: Option<String>,
    /// The checkout has gone on without this intent.
    pub behind: bool,
    /// Nothing of the checkout can be tried any more.
    pub closed: bool,
    /// Nothing has got through to the bank so far.
    pub unreached: bool,
    /// When the bank lets go of it by itself, where it was asked to.
    pub released_by: Option<String>,
}

impl Seen {
    /// The part of a [`contract::PaymentIntent`] that is shown.
    pub fn read(answer: &impl Answer) -> Option<Self> {
        let name = answer.text(&["state"])?;
        let created = Some(IntentState::Created).filter(|created| created.as_str() == name);
        Some(Self {
            state: created.or_else(|| STATES.into_iter().find(|state| state.as_str() == name))?,
            last4: answer.text(&["payment_method", "last4"]),
            by_redirect: answer.text(&["payment_method", "type"]).as_deref() == Some("redirect"),
            decline: answer.text(&["decline", "code"]),
            // Anything but a web address has no business in a link.
            bank_url: answer.text(&["next_action", "url"]).filter(|url| url.starts_with("http")),
            behind: answer.flag(&["behind"]),
            closed: answer.flag(&["closed"]),
            unreached: answer.text(&["progress", "unreached_until"]).is_some(),
            released_by: answer.text(&["released_by"]),
        })
    }

    /// What is known when only the state is.
    pub fn bare(state: IntentState) -> Self {
        Self {
            state,
            last4: None,
            by_redirect: false,
            decline: None,
            bank_url: None,
            behind: false,
            closed: false,
            unreached: false,
            released_by: None,
        }
    }
}

/// The stable word of a [`contract::Problem`].
pub fn read_code(answer: &impl Answer) -> Option<String> {
    answer.text(&["code"])
}

/// Which field of a submit we refuse, where the shopper can correct it.
pub fn read_blame(answer: &impl Answer) -> Option<Wrong> {
    (answer.text(&["field"])? == "customer.email").then_some(Wrong::EmailForm)
}

/// What is offered now instead of what the page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What is paid for, where the merchant said so.
    pub description: Option<String>,
    /// What the shopper would agree to.
    pub terms: Terms,
    /// The intent that pays it.
    pub intent: String,
    /// Its key.
    pub submit_key: String,
}

impl Offer {
    /// From the checkout in a [`contract::Problem`], if that can still be paid as a new one.
    pub fn read(answer: &impl Answer) -> Option<Self> {
        let text = |path: &[&str]| answer.text(&[&["checkout"], path].concat());
        if text(&["payment_intent", "state"])? != IntentState::Created.as_str() {
            return None;
        }
        Some(Self {
            description: text(&["description"]),
            terms: Terms {
                version: answer.number(&["checkout", "version"])?,
                amount: Amount::new(text(&["amount", "value"])?, text(&["amount", "currency"])?),
            },
            intent: text(&["payment_intent", "id"])?,
            submit_key: text(&["payment_intent", "submit_key"])?,
        })
    }
}

/// The bank's token for a card.
pub fn read_token(answer: &impl Answer) -> Option<String> {
    answer.text(&["token"])
}

/// Which field the bank blames for a card it takes no token for.
pub fn read_refusal(answer: &impl Answer) -> Wrong {
    let parameter = answer.text(&["parameter"]).unwrap_or_default();
    if parameter.ends_with("expiry_month") || parameter.ends_with("expiry_year") {
        Wrong::ExpiryRefused
    } else if parameter.ends_with("cvc") {
        Wrong::CvcRefused
    } else {
        Wrong::NumberRefused
    }
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
pub fn write_submit(token: String, terms: Terms, email: Option<String>) -> String {
    write(&Submit {
        payment_method: PaymentMethodInput::CardToken { token },
        checkout_version: terms.version,
        amount: terms.amount,
        customer: email.map(|email| Customer { email: Some(email) }),
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
    match serde_json::to_string(body) {
        Ok(json) => json,
        // Not `expect`: it would bring the words of every JSON error into the island.
        Err(_) => unreachable!("text and numbers always have a JSON form"),
    }
}

#[cfg(test)]
mod tests {
    use contract::{
        Checkout, CheckoutIntent, CheckoutStatus, Decline, Metadata, NextAction, PaymentIntent,
        PaymentMethod, Problem,
    };
    use serde_json::{Value, json};

    use super::*;

    impl Answer for Value {
        fn text(&self, path: &[&str]) -> Option<String> {
            let found = path.iter().try_fold(self, |value, name| value.get(name))?;
            found.as_str().map(str::to_owned)
        }

        fn number(&self, path: &[&str]) -> Option<i64> {
            path.iter().try_fold(self, |value, name| value.get(name))?.as_i64()
        }

        fn flag(&self, path: &[&str]) -> bool {
            path.iter().try_fold(self, |value, name| value.get(name)).and_then(Value::as_bool) == Some(true)
        }
    }

    fn on_the_wire(answer: &impl Serialize) -> Value {
        serde_json::to_value(answer).unwrap()
    }

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
            paid_at: None,
            progress: None,
            behind: true,
            closed: true,
            released_by: Some("2026-11-30T11:00:00Z".into()),
            previous_intent_id: None,
            created_at: "2026-11-30T10:00:00Z".into(),
            provider: None,
            attempts: None,
            journal: None,
        }
    }

    #[test]
    fn the_shown_part_of_an_intent_is_read_from_the_wire_type() {
        let seen = Seen::read(&on_the_wire(&intent())).unwrap();
        assert_eq!(seen.state, IntentState::Declined);
        assert_eq!(seen.last4.as_deref(), Some("4600"));
        assert_eq!(seen.decline.as_deref(), Some("insufficient_funds"));
        assert_eq!(seen.bank_url.as_deref(), Some("https://bank.example/confirm/1"));
        assert_eq!((seen.behind, seen.released_by.as_deref()), (true, Some("2026-11-30T11:00:00Z")));
        assert_eq!((seen.closed, seen.by_redirect, seen.unreached), (true, false, false));
        let bare = PaymentIntent {
            behind: false,
            closed: false,
            released_by: None,
            state: IntentState::Created,
            payment_method: None,
            decline: None,
            next_action: None,
            ..intent()
        };
        let seen = Seen::read(&on_the_wire(&bare)).unwrap();
        assert_eq!(seen, Seen::bare(IntentState::Created));
    }

    #[test]
    fn what_cannot_be_read_is_no_answer() {
        assert_eq!(Seen::read(&Value::Null), None);
        assert_eq!(Seen::read(&json!({"state": "a_later_state"})), None);
        let sly = json!({"state": "requires_action", "next_action": {"url": "javascript:alert(1)"}});
        assert_eq!(Seen::read(&sly).unwrap().bank_url, None);
        for state in STATES {
            assert_eq!(Seen::read(&json!({"state": state})), Some(Seen::bare(state)));
        }
    }

    #[test]
    fn the_submit_is_what_the_contract_reads() {
        let terms = Terms { version: 2, amount: Amount::new("1500.00", "RUB") };
        let written = |email| write_submit("tok_\"1".into(), terms.clone(), email);
        let body: Submit = serde_json::from_str(&written(Some("anna@example.com".into()))).unwrap();
        assert_eq!(body.payment_method, PaymentMethodInput::CardToken { token: "tok_\"1".into() });
        assert_eq!((body.checkout_version, body.amount), (2, Amount::new("1500.00", "RUB")));
        assert_eq!(body.customer.unwrap().email.as_deref(), Some("anna@example.com"));
        assert!(!written(None).contains("customer"), "nothing is said where nothing was typed");
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
        assert_eq!(read_token(&json!({"token": "t"})).as_deref(), Some("t"));
        assert_eq!(read_refusal(&json!({"parameter": "card.expiry_month"})), Wrong::ExpiryRefused);
        assert_eq!(read_refusal(&json!({"parameter": "card.cvc"})), Wrong::CvcRefused);
        assert_eq!(read_refusal(&json!({"parameter": "card.number"})), Wrong::NumberRefused);
        assert_eq!(read_refusal(&Value::Null), Wrong::NumberRefused);
    }

    #[test]
    fn a_problem_is_known_by_its_code_and_brings_the_new_terms() {
        let mut checkout = Checkout {
            id: "co_1".into(),
            object: "checkout".into(),
            status: CheckoutStatus::Open,
            order_id: "123".into(),
            amount: Amount::new("1700.00", "RUB"),
            description: Some("Bravo".into()),
            url: String::new(),
            client_token: "ct_1".into(),
            version: 2,
            payment_intent: CheckoutIntent {
                id: "pi_2".into(),
                submit_key: "sub_2".into(),
                state: IntentState::Created,
            },
            metadata: Metadata::default(),
            created_at: String::new(),
            expires_at: String::new(),
        };
        let problem = |checkout: &Checkout| {
            on_the_wire(&Problem {
                kind: "https://payonce.example/problems/checkout-changed".into(),
                title: String::new(),
                status: 409,
                detail: String::new(),
                code: "checkout_changed".into(),
                field: None,
                request_id: "req_1".into(),
                checkout: Some(Box::new(checkout.clone())),
            })
        };
        assert_eq!(read_code(&problem(&checkout)).as_deref(), Some("checkout_changed"));
        let offer = Offer::read(&problem(&checkout)).unwrap();
        assert_eq!(offer.terms, Terms { version: 2, amount: Amount::new("1700.00", "RUB") });
        assert_eq!((offer.intent.as_str(), offer.submit_key.as_str()), ("pi_2", "sub_2"));
        checkout.payment_intent.state = IntentState::Processing;
        assert_eq!(Offer::read(&problem(&checkout)), None, "another tab is paying it already");
    }
}
