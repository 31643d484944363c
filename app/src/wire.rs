//! What the page sends and what it reads of the answers: no more than it shows, so that the WebAssembly stays small.
//! Must never guess: an answer that cannot be read is no answer.

use contract::{Amount, Customer, IntentState, PROBLEMS, PaymentMethodInput, Submit};
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

/// As the page says that all of the money went back.
pub(crate) const ALL_RETURNED: &str = "all_returned";

/// What the page knows of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where it stands.
    pub state: IntentState,
    /// Last digits of the card it is paid with.
    pub last4: Option<String>,
    /// Whether it is paid on the bank's own page.
    pub by_redirect: bool,
    /// Why it was declined or canceled.
    pub reason: Option<String>,
    /// The bank's page, while the shopper has to act there.
    pub bank_url: Option<String>,
    /// The checkout has gone on without this intent, or has another charge: the page is made anew.
    pub behind: bool,
    /// What becomes of another charge than the one that paid; `all_returned` where all of the money went back.
    pub extra: Option<String>,
    /// Nothing of the checkout can be tried any more.
    pub closed: bool,
    /// It is held back, or could not be passed to the bank so far: the page tells which.
    pub stuck: bool,
    /// When the bank lets go of it by itself, where it was asked to.
    pub released_by: Option<String>,
    /// Nothing of its own is awaited: it is in question whether other money paid the order.
    pub in_question: bool,
}

impl Seen {
    /// The part of a [`contract::PaymentIntent`] that is shown; `None` where it is not the intent that was asked about: somebody on
    /// the way may answer in our place.
    pub fn read(answer: &impl Answer, intent: &str) -> Option<Self> {
        if answer.text(&["id"])? != intent {
            return None;
        }
        let returned = answer.flag(&["returned"]).then(|| ALL_RETURNED.to_owned());
        let extra = returned.or_else(|| answer.text(&["extra_charge"]));
        let name = answer.text(&["state"])?;
        let created = Some(IntentState::Created).filter(|created| created.as_str() == name);
        Some(Self {
            state: created.or_else(|| STATES.into_iter().find(|state| state.as_str() == name))?,
            last4: answer.text(&["payment_method", "last4"]),
            by_redirect: answer.text(&["payment_method", "type"]).as_deref() == Some("redirect"),
            reason: answer.text(&["decline", "code"]).or_else(|| answer.text(&["cancel_reason"])),
            // Anything but a web address has no business in a link.
            bank_url: answer.text(&["next_action", "url"]).filter(|url| url.starts_with("http")),
            // A page that was made before an extra charge was known, or before the money went back, thanks for one charge, and one that was made before any, for its sum.
            behind: answer.flag(&["behind"]) || extra.is_some() || is_other_sum(answer),
            extra,
            closed: answer.flag(&["closed"]),
            stuck: answer.flag(&["progress", "held"])
                || answer.text(&["progress", "unreached_until"]).is_some(),
            released_by: answer.text(&["released_by"]),
            in_question: answer.text(&["in_question"]).is_some(),
        })
    }

    /// What is known when only the state is.
    pub fn bare(state: IntentState) -> Self {
        Self {
            state,
            last4: None,
            by_redirect: false,
            reason: None,
            bank_url: None,
            behind: false,
            extra: None,
            closed: false,
            stuck: false,
            released_by: None,
            in_question: false,
        }
    }
}

/// Whether another sum was charged than the page shows.
fn is_other_sum(answer: &impl Answer) -> bool {
    ["value", "currency"].into_iter().any(|part| {
        let charged = answer.text(&["charged", part]);
        charged.is_some() && charged != answer.text(&["amount", part])
    })
}

/// The stable word of a [`contract::Problem`]; `None` where somebody else on the way answered.
pub fn read_code(answer: &impl Answer) -> Option<String> {
    let code = answer.text(&["code"])?;
    let kind = answer.text(&["type"])?;
    (kind.strip_prefix(PROBLEMS)?.strip_prefix('#')? == code).then_some(code)
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
    /// From the checkout there, which is all of the answer or a part of a [`contract::Problem`], if that can still be paid as a new one.
    pub fn read(answer: &impl Answer, place: &[&str]) -> Option<Self> {
        let text = |path: &[&str]| answer.text(&[place, path].concat());
        if text(&["payment_intent", "state"])? != IntentState::Created.as_str() {
            return None;
        }
        Some(Self {
            description: text(&["description"]),
            terms: Terms {
                version: answer.number(&[place, &["version"]].concat())?,
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
#[path = "wire_tests.rs"]
mod tests;
