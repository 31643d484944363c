//! The form: what it posts, what it keeps, and what is told at its fields.

use super::*;
use crate::form::Field;

#[test]
fn a_card_field_has_no_name_so_that_it_can_never_be_posted() {
    let html = open(IntentState::Created).render_pay();
    for field in [Field::Number, Field::Expiry, Field::Cvc] {
        let at = html.find(&format!("autocomplete=\"{}\"", field.id())).unwrap();
        let (start, end) = (html[..at].rfind('<').unwrap(), at + html[at..].find('>').unwrap());
        assert!(!html[start..end].contains("name="), "{}", &html[start..end]);
        assert!(!html[start..end].contains("value="), "nothing to overwrite what was typed with");
    }
}

#[test]
fn the_address_is_shown_as_far_as_it_is_known_and_its_mistake_is_told_at_its_field() {
    let input = |email: Option<&str>| {
        let html = Page { email: email.map(str::to_owned), ..open(IntentState::Created) }.render_pay();
        let at = html.find("autocomplete=\"email\"").unwrap();
        html[html[..at].rfind('<').unwrap()..at + html[at..].find('>').unwrap()].to_owned()
    };
    assert!(input(Some("anna@example.com")).contains("value=\"anna@example.com\""));
    assert!(!input(None).contains("value="));
    for attribute in
        ["id=\"email\"", "name=\"email\"", "inputmode=\"email\"", "aria-describedby=\"email-wrong\""]
    {
        assert!(input(None).contains(attribute), "{attribute}");
    }
    let html = open(IntentState::Created).render_pay();
    assert!(html.contains("id=\"email-wrong\"") && html.contains("href=\"#email\""));
}

#[test]
fn a_receipt_is_promised_only_where_mails_are_sent() {
    for lang in Lang::ALL {
        for mails in [true, false] {
            let text = visible(&Page { lang, mails, ..open(IntentState::Created) }.render_pay());
            assert!(text.contains(&lang.say("field-email-only")), "{text}");
            assert!(text.contains(&lang.say("field-optional")), "{text}");
            assert_eq!(text.contains(&lang.say("field-email")), mails, "{text}");
        }
    }
}

#[test]
fn the_form_posts_the_intent_its_key_and_the_terms_that_were_seen() {
    let html = open(IntentState::Created).render_pay();
    assert!(html.contains("method=\"post\" action=\"/pay/co_1?token=ct_1&amp;lang=en\""));
    for (name, value) in [
        ("intent", "pi_1"),
        ("submit_key", "sub_1"),
        ("checkout_version", "3"),
        ("amount_value", "1500.00"),
        ("amount_currency", "RUB"),
    ] {
        assert!(
            html.contains(&format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">")),
            "{name}"
        );
    }
    assert!(html.contains("autocomplete=\"email\""));
}

#[test]
fn without_scripts_there_are_no_card_fields_and_the_page_says_why() {
    let text = visible(&open(IntentState::Created).render_pay());
    assert!(text.contains("The card is entered on the bank's page"));
    assert!(text.contains("Back to the shop"));
    assert!(!text.contains("Card number") && !text.contains("Pay ₽"));
}

#[test]
fn n3_the_banks_page_is_a_button_of_the_plain_form_with_scripts_and_without() {
    let html = open(IntentState::Created).render_pay();
    assert!(visible(&html).contains("Pay on the bank's page"));
    assert!(html.contains("type=\"submit\" name=\"method\" value=\"redirect\" data-submit=\"bank\""));
    let form = &html[html.find("data-do=\"pay\"").unwrap()..];
    let form = &form[..form.find("</form>").unwrap()];
    for part in ["name=\"submit_key\"", "name=\"email\"", "name=\"pay\"", "name=\"method\""] {
        assert!(form.contains(part), "{part}");
    }
}

/// A hidden button of a form is its first one all the same, and that is what Enter presses.
#[test]
fn n3_without_scripts_enter_in_the_address_presses_the_banks_button() {
    let html = open(IntentState::Created).render_pay();
    let form = &html[html.find("data-do=\"pay\"").unwrap()..];
    let first = &form[form.find("type=\"submit\"").unwrap()..];
    assert!(first.starts_with("type=\"submit\" name=\"method\" value=\"redirect\""));
    assert!(form.contains("type=\"button\" name=\"pay\""), "the loader makes it one that submits");
    assert!(SCRIPT.contains("button.type = \"submit\""));
}

#[test]
fn n1_the_form_of_another_try_holds_the_stream_and_the_first_one_does_not() {
    let mut form = open(IntentState::Created);
    assert!(!form.render_pay().contains(" data-watch") && !form.render_pay().contains(" data-again"));
    form.intent.previous_intent_id = Some("pi_0".into());
    assert!(form.render_pay().contains(" data-watch") && form.render_pay().contains(" data-again"));
    form.intent.state = IntentState::Succeeded;
    form.checkout.status = CheckoutStatus::Paid;
    assert!(!form.render_pay().contains(" data-watch") && !form.render_pay().contains(" data-again"));
}

#[test]
fn a_plain_forms_mistake_is_told_at_its_field_and_what_was_typed_is_kept() {
    let typed = |page: Page| Page { no_email: Some("<script>@b.com".into()), ..page };
    let html = typed(open(IntentState::Created)).render_pay();
    let kept = "value=\"&lt;script&gt;@b.com\"";
    assert!(html.contains(kept) && html.contains("aria-invalid=\"true\""), "{html}");
    let text = visible(&html);
    assert_eq!(text.matches("Check the address").count(), 2, "summary and field: {text}");
    let email = Some("anna@example.com".into());
    let page = Page { email, mails: true, ..open(IntentState::Confirming) };
    let page = typed(page);
    let html = page.render_pay();
    assert!(html.contains(kept) && visible(&html).contains("Check the address"));
    assert_eq!(page.refresh_s(), None, "it is not taken away while it is typed anew");
    assert!(!visible(&open(IntentState::Created).render_pay()).contains("Check the address"));
}

#[test]
fn every_address_can_be_filled_in_by_the_browser() {
    let html = Page { mails: true, ..open(IntentState::Confirming) }.render_pay();
    let inputs: Vec<_> = html.split("<input").filter(|input| input.contains("inputmode=\"email\"")).collect();
    assert!(inputs.len() > 1);
    inputs.iter().for_each(|input| assert!(input.contains("autocomplete=\"email\""), "{input}"));
}
