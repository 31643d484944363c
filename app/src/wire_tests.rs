//! The few members that are read, from what the server and the bank really write.

use contract::{
    Checkout, CheckoutIntent, CheckoutStatus, Decline, ExtraCharge, InQuestion, Metadata, NextAction,
    PaymentIntent, PaymentMethod, Problem,
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
        charged: None,
        in_question: None,
        checkout_id: "co_1".into(),
        checkout_version: 1,
        order_id: "123".into(),
        submit_key: "sub_1".into(),
        payment_method: Some(PaymentMethod { kind: "card_token".into(), last4: Some("4600".into()) }),
        cancel_reason: None,
        decline: Some(Decline {
            by: "issuer".into(),
            code: "insufficient_funds".into(),
            message: "No money".into(),
        }),
        next_action: Some(NextAction::Redirect { url: "https://bank.example/confirm/1".into() }),
        paid_at: None,
        progress: None,
        told_to: None,
        behind: true,
        closed: true,
        extra_charge: None,
        returned: false,
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
    let seen = Seen::read(&on_the_wire(&intent()), "pi_1").unwrap();
    assert_eq!(seen.state, IntentState::Declined);
    assert_eq!(seen.last4.as_deref(), Some("4600"));
    assert_eq!(seen.reason.as_deref(), Some("insufficient_funds"));
    assert_eq!(seen.bank_url.as_deref(), Some("https://bank.example/confirm/1"));
    assert_eq!((seen.behind, seen.released_by.as_deref()), (true, Some("2026-11-30T11:00:00Z")));
    assert_eq!((seen.closed, seen.by_redirect, seen.stuck), (true, false, false));
    let asked = PaymentIntent { in_question: Some(InQuestion::Review), ..intent() };
    assert!(!seen.in_question && Seen::read(&on_the_wire(&asked), "pi_1").unwrap().in_question);
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
    let seen = Seen::read(&on_the_wire(&bare), "pi_1").unwrap();
    assert_eq!(seen, Seen::bare(IntentState::Created));
}

#[test]
fn why_it_was_canceled_is_a_reason_as_a_decline_has() {
    let canceled = PaymentIntent {
        state: IntentState::Canceled,
        decline: None,
        cancel_reason: Some("judged_not_charged".into()),
        ..intent()
    };
    let seen = Seen::read(&on_the_wire(&canceled), "pi_1").unwrap();
    assert_eq!(seen.reason.as_deref(), Some("judged_not_charged"));
}

#[test]
fn a_page_that_thanks_for_one_charge_is_made_anew_where_there_is_another() {
    let mut paid = PaymentIntent { state: IntentState::Succeeded, behind: false, ..intent() };
    assert!(!Seen::read(&on_the_wire(&paid), "pi_1").unwrap().behind);
    paid.extra_charge = Some(ExtraCharge::ToBeReturned);
    let seen = Seen::read(&on_the_wire(&paid), "pi_1").unwrap();
    assert_eq!((seen.behind, seen.extra.as_deref()), (true, Some("to_be_returned")));
    for extra_charge in [None, Some(ExtraCharge::Returned)] {
        let all = PaymentIntent { extra_charge, returned: true, ..paid.clone() };
        let seen = Seen::read(&on_the_wire(&all), "pi_1").unwrap();
        assert_eq!((seen.behind, seen.extra.as_deref()), (true, Some("all_returned")), "the money went back");
    }
    for extra in [ExtraCharge::ToBeReturned, ExtraCharge::Returned, ExtraCharge::InReview] {
        assert_eq!(serde_json::to_value(extra).unwrap(), extra.as_str(), "as the page has it");
    }
}

#[test]
fn r25_a_page_that_shows_another_sum_than_was_charged_is_made_anew() {
    let mut paid = PaymentIntent { state: IntentState::Succeeded, behind: false, ..intent() };
    for (value, currency, behind) in
        [("1500.00", "RUB", false), ("1499.00", "RUB", true), ("1500.00", "KZT", true)]
    {
        paid.charged = Some(Amount::new(value, currency));
        assert_eq!(Seen::read(&on_the_wire(&paid), "pi_1").unwrap().behind, behind, "{value} {currency}");
    }
}

#[test]
fn a_payment_is_stuck_that_is_held_or_could_not_be_passed_on() {
    let stuck = |progress: Value| {
        Seen::read(&json!({"id": "pi_1", "state": "processing", "progress": progress}), "pi_1").unwrap().stuck
    };
    assert!(stuck(json!({"held": true})) && stuck(json!({"unreached_until": "2026-11-30T11:00:00Z"})));
    assert!(!stuck(json!({"held": false})) && !stuck(Value::Null));
}

#[test]
fn what_cannot_be_read_is_no_answer() {
    assert_eq!(Seen::read(&Value::Null, "pi_1"), None);
    assert_eq!(Seen::read(&json!({"id": "pi_1", "state": "a_later_state"}), "pi_1"), None);
    let sly =
        json!({"id": "pi_1", "state": "requires_action", "next_action": {"url": "javascript:alert(1)"}});
    assert_eq!(Seen::read(&sly, "pi_1").unwrap().bank_url, None);
    for state in STATES {
        assert_eq!(Seen::read(&json!({"id": "pi_1", "state": state}), "pi_1"), Some(Seen::bare(state)));
        assert_eq!(Seen::read(&json!({"state": state}), "pi_1"), None, "nobody's");
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
        charged: None,
        returned: false,
        in_question: None,
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
            kind: format!("{PROBLEMS}#checkout_changed"),
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
    let mut of_another = problem(&checkout);
    of_another["type"] = json!("about:blank");
    assert_eq!(read_code(&of_another), None, "somebody else's problem, with a code like ours");
    let offer = Offer::read(&problem(&checkout), &["checkout"]).unwrap();
    assert_eq!(offer.terms, Terms { version: 2, amount: Amount::new("1700.00", "RUB") });
    assert_eq!((offer.intent.as_str(), offer.submit_key.as_str()), ("pi_2", "sub_2"));
    assert_eq!(Offer::read(&on_the_wire(&checkout), &[]), Some(offer), "the checkout itself brings the same");
    checkout.payment_intent.state = IntentState::Processing;
    assert_eq!(Offer::read(&problem(&checkout), &["checkout"]), None, "another tab is paying it already");
}
