//! What ended: paid, or without money.

use contract::{Decline, PaymentMethod};

use super::*;

#[test]
fn a_decline_says_why_in_peoples_words_and_that_no_money_was_taken() {
    let mut declined = open(IntentState::Declined);
    let code = |code: &str| Some(Decline { by: "issuer".into(), code: code.into(), message: "raw".into() });
    declined.intent.decline = code("insufficient_funds");
    let text = visible(&declined.render_pay());
    assert!(text.contains("There is not enough money on the card.") && text.contains("Money was not taken."));
    assert!(text.contains("Try again") && !text.contains("gave no reason") && !text.contains("raw"));
    declined.intent.decline = code("a_new_code");
    assert!(visible(&declined.render_pay()).contains("The bank gave no reason."));
}

#[test]
fn a_payment_that_did_not_take_place_says_why() {
    for lang in Lang::ALL {
        for (reason, message) in [
            ("not_executed", "cancel-unreached"),
            ("absent", "cancel-absent"),
            ("replaced", "cancel-replaced"),
            ("by_shop", "cancel-shop"),
            ("hold_expired", "cancel-hold"),
            ("by_provider", "cancel-bank"),
            ("a_reason_of_tomorrow", "not-taken"),
        ] {
            let mut canceled = page(lang, CheckoutStatus::Open, IntentState::Canceled);
            canceled.intent.cancel_reason = Some(reason.into());
            for html in [canceled.render_pay(), canceled.render_status()] {
                let text = visible(&html);
                for said in [message, "canceled-title", "not-taken"] {
                    assert!(text.contains(&lang.say(said)), "{reason}: {said} in {text}");
                }
                assert_eq!(text.matches("cancel-").count(), 0, "{text}");
            }
            assert!(canceled.render_pay().contains(&format!("data-because=\"{reason}\"")));
        }
    }
}

/// A person says so of money that was given back, too; the mail says the same.
#[test]
fn r25_where_a_person_found_nothing_charged_it_is_not_said_that_no_money_was_taken() {
    for lang in Lang::ALL {
        let mut judged = page(lang, CheckoutStatus::Open, IntentState::Canceled);
        judged.intent.cancel_reason = Some("judged_not_charged".into());
        judged.out_of_tries = true;
        for html in [judged.render_pay(), judged.render_status()] {
            let text = visible(&html);
            assert!(
                text.contains(&lang.say("judged-title")) && text.contains(&lang.say("judged-lead")),
                "{text}"
            );
            for claim in ["No money was taken", &lang.say("not-taken"), &lang.say("canceled-title")] {
                assert!(!text.contains(claim), "{claim} in {text}");
            }
        }
    }
}

/// The shopper may have typed another one since it was sent.
#[test]
fn a_decline_names_its_card_as_far_as_it_is_known() {
    let mut declined = open(IntentState::Declined);
    assert!(!visible(&declined.render_pay()).contains("Card "));
    declined.intent.payment_method =
        Some(PaymentMethod { kind: "card_token".into(), last4: Some("4600".into()) });
    for html in [declined.render_pay(), declined.render_status()] {
        assert!(visible(&html).contains("Card •••• 4600"), "{}", visible(&html));
    }
}

#[test]
fn a_new_try_is_offered_only_while_the_checkout_is_open() {
    for state in [IntentState::Declined, IntentState::Canceled, IntentState::Expired] {
        let html = open(state).render_pay();
        assert!(visible(&html).contains("Try again"));
        assert!(html.contains("action=\"/pay/co_1/again?token=ct_1&amp;lang=en\""));
        for status in [CheckoutStatus::Canceled, CheckoutStatus::Expired] {
            let html = page(Lang::En, status, state).render_pay();
            assert!(!html.contains("/again") && visible(&html).contains("can no longer be paid"));
        }
    }
}

#[test]
fn attack_23_a_page_that_is_read_anew_offers_no_try_where_none_is_left() {
    for lang in Lang::ALL {
        let tried = Page { out_of_tries: true, ..page(lang, CheckoutStatus::Open, IntentState::Declined) };
        let noticed = Page { notice: Some(Notice::TooManyTries), ..tried.clone() };
        for html in [tried.render_pay(), tried.render_status(), noticed.render_status()] {
            assert!(!html.contains("/again"), "{html}");
            assert_eq!(visible(&html).matches(&lang.say("note-too-many-tries")).count(), 1, "said, and once");
        }
        let last = Page { out_of_tries: true, ..page(lang, CheckoutStatus::Open, IntentState::Created) };
        assert!(
            !visible(&last.render_pay()).contains(&lang.say("note-too-many-tries")),
            "the last can be paid"
        );
    }
}

#[test]
fn a_paid_checkout_shows_its_facts_whatever_the_newest_intent_says() {
    let mut paid = page(Lang::Ru, CheckoutStatus::Paid, IntentState::Declined);
    paid.intent.payment_method =
        Some(PaymentMethod { kind: "card_token".into(), last4: Some("4444".into()) });
    paid.intent.paid_at = Some("2026-11-30T07:00:00Z".into());
    let html = paid.render_pay();
    assert!(html.contains("data-state=\"succeeded\""));
    let text = visible(&html);
    for fact in ["Оплачено", "1\u{a0}500,00\u{a0}₽", "123", "•••• 4444", "2026-11-30 07:00 UTC", "pi_1"]
    {
        assert!(text.contains(fact), "{fact} in {text}");
    }
    assert!(!text.contains("Попробовать"));
}

#[test]
fn r25_what_was_charged_is_shown_and_both_sums_where_it_is_not_the_orders() {
    let (due, taken) = ("₽1,500.00", "₽1,499.00");
    let shown = |charged: &str| {
        let mut paid = page(Lang::En, CheckoutStatus::Paid, IntentState::Succeeded);
        paid.checkout.charged = Some(Amount::new(charged, "RUB"));
        [paid.render_pay(), paid.render_status()].map(|html| visible(&html))
    };
    for text in shown("1500.00") {
        assert!(text.contains(due) && !text.contains("ask the shop"), "{text}");
    }
    for text in shown("1499.00") {
        assert_eq!(text.matches(taken).count(), 3, "in the head, in the facts, and in words: {text}");
        assert_eq!(text.matches(due).count(), 1, "in words only: {text}");
        for words in ["₽1,499.00 was charged", "comes to ₽1,500.00: please ask the shop"] {
            assert!(text.contains(words), "{words} in {text}");
        }
    }
    let mut russian = page(Lang::Ru, CheckoutStatus::Paid, IntentState::Succeeded);
    russian.checkout.charged = Some(Amount::new("1499.00", "RUB"));
    let text = visible(&russian.render_pay());
    assert!(
        text.contains("списано 1\u{a0}499,00\u{a0}₽") && text.contains("другая: 1\u{a0}500,00\u{a0}₽"),
        "{text}"
    );
}

#[test]
fn n5_of_money_that_went_back_nobody_is_told_that_it_was_charged_once() {
    for lang in Lang::ALL {
        for extra_charge in [None, Some(ExtraCharge::Returned)] {
            let mut paid = page(lang, CheckoutStatus::Paid, IntentState::Succeeded);
            (paid.intent.returned, paid.intent.extra_charge) = (true, extra_charge);
            assert!(
                paid.render_pay().contains("data-extra=\"all_returned\""),
                "the island knows what the page says"
            );
            for html in [paid.render_pay(), paid.render_status()] {
                let text = visible(&html);
                for (words, is_said) in [
                    ("returned-title", true),
                    ("returned-lead", true),
                    ("succeeded-title", false),
                    ("succeeded-lead", false),
                    ("extra-returned", false),
                    ("promise", false),
                ] {
                    assert_eq!(text.contains(&lang.say(words)), is_said, "{words} in {text}");
                }
                assert!(html.contains(&format!("<title>{}", lang.say("returned-title"))));
            }
        }
    }
}

#[test]
fn a_paid_order_with_another_charge_is_not_said_to_be_charged_once() {
    let mut paid = page(Lang::En, CheckoutStatus::Paid, IntentState::Succeeded);
    assert!(visible(&paid.render_pay()).contains("Charged once"));
    assert!(!paid.render_pay().contains("data-extra"));
    for (extra, words) in [
        (ExtraCharge::ToBeReturned, "One more charge was seen for it, and it is to be given back"),
        (ExtraCharge::Returned, "One more charge was seen for it, and it was given back"),
        (ExtraCharge::InReview, "One more payment that names this order was seen"),
    ] {
        paid.intent.extra_charge = Some(extra);
        let known = format!("data-extra=\"{}\"", extra.as_str());
        assert!(paid.render_pay().contains(&known), "the island knows what the page says");
        for html in [paid.render_pay(), paid.render_status()] {
            let text = visible(&html);
            assert!(text.contains("Paid") && text.contains(words), "{text}");
            assert!(!html.contains("Charged once") && !text.contains("We charge once"));
        }
    }
}
