//! Every screen of every page, in both languages: what must be there and what must not.

use contract::{
    Amount, CheckoutIntent, Decline, Metadata, PaymentMethod, Progress, ProgressKind, ProgressStep,
};

use super::{widget_page::SCRIPT, *};
use crate::{
    form::{Field, Wrong},
    stage::Note,
};

const STATES: [IntentState; 10] = [
    IntentState::Created,
    IntentState::Processing,
    IntentState::RequiresAction,
    IntentState::Confirming,
    IntentState::Authorized,
    IntentState::NeedsReview,
    IntentState::Succeeded,
    IntentState::Declined,
    IntentState::Canceled,
    IntentState::Expired,
];

fn page(lang: Lang, status: CheckoutStatus, state: IntentState) -> Page {
    let amount = Amount::new("1500.00", "RUB");
    Page {
        lang,
        nonce: "n0nce".into(),
        assets: Assets { css: "/pkg/c.css".into(), js: "/pkg/a.js".into(), wasm: "/pkg/a.wasm".into() },
        shop_name: "Zerno".into(),
        checkout: Checkout {
            id: "co_1".into(),
            object: "checkout".into(),
            status,
            order_id: "123".into(),
            amount: amount.clone(),
            description: Some("Bravo".into()),
            url: String::new(),
            client_token: "ct_1".into(),
            version: 3,
            payment_intent: CheckoutIntent { id: "pi_1".into(), submit_key: "sub_1".into(), state },
            metadata: Metadata::default(),
            created_at: "2026-11-30T10:00:00Z".into(),
            expires_at: "2026-12-01T10:00:00Z".into(),
        },
        intent: PaymentIntent {
            id: "pi_1".into(),
            object: "payment_intent".into(),
            state,
            amount,
            checkout_id: "co_1".into(),
            checkout_version: 3,
            order_id: "123".into(),
            submit_key: "sub_1".into(),
            payment_method: None,
            decline: None,
            next_action: None,
            paid_at: None,
            progress: None,
            behind: false,
            closed: false,
            extra_charge: None,
            released_by: None,
            previous_intent_id: None,
            created_at: "2026-11-30T10:00:00Z".into(),
            provider: None,
            attempts: None,
            journal: None,
        },
        email: None,
        return_url: Some("https://shop.example/back".into()),
        tokenize_url: "https://bank.example/v3/tokens".into(),
        mails: false,
        no_email: None,
        notice: None,
    }
}

fn open(state: IntentState) -> Page {
    page(Lang::En, CheckoutStatus::Open, state)
}

/// The opening tag of the screen.
fn screen<'a>(html: &'a str, name: &str) -> &'a str {
    let start = html.find(&format!("data-screen=\"{name}\"")).expect(name);
    let start = html[..start].rfind('<').unwrap();
    &html[start..start + html[start..].find('>').unwrap()]
}

/// What a reader sees: no hidden element, no script. Good enough for our own markup.
fn visible(html: &str) -> String {
    let mut text = String::new();
    let mut hidden = Vec::new();
    for part in html.split('<').skip(1) {
        let (tag, after) = part.split_once('>').unwrap_or((part, ""));
        let name = tag.trim_start_matches('/').split([' ', '>']).next().unwrap_or_default();
        let is_void = ["input", "meta", "link", "!", "!doctype"].contains(&name);
        if tag.starts_with('/') {
            hidden.pop();
        } else if !is_void {
            let inherited = hidden.last().copied().unwrap_or(false);
            let own =
                tag.split(' ').any(|attribute| attribute == "hidden") || ["script", "title"].contains(&name);
            hidden.push(inherited || own);
        }
        if !hidden.last().copied().unwrap_or(false) {
            text.push_str(after);
        }
    }
    text
}

#[test]
fn every_state_opens_with_its_own_screen_and_no_other() {
    for lang in Lang::ALL {
        for state in STATES {
            let html = page(lang, CheckoutStatus::Open, state).render_pay();
            let name = if state == IntentState::Created { "ready" } else { state.as_str() };
            assert!(html.starts_with(&format!("<!doctype html><html lang=\"{}\">", lang.tag())));
            assert!(
                html.contains(&format!("data-payonce data-state=\"{name}\" data-wasm=\"loading\"")),
                "{name}"
            );
            assert_eq!(!screen(&html, "form").contains(" hidden"), state == IntentState::Created, "{name}");
            for other in STATES.into_iter().filter(|other| *other != IntentState::Created) {
                assert_eq!(!screen(&html, other.as_str()).contains(" hidden"), state == other, "{name}");
            }
            for own in ["checking", "elsewhere", "changed"] {
                assert!(screen(&html, own).contains(" hidden"));
            }
            assert!(html.contains("role=\"status\""), "from the first byte");
        }
    }
}

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
    for attribute in ["id=\"email\"", "name=\"email\"", "type=\"email\"", "aria-describedby=\"email-wrong\""]
    {
        assert!(input(None).contains(attribute), "{attribute}");
    }
    let html = open(IntentState::Created).render_pay();
    assert!(html.contains("id=\"email-wrong\"") && html.contains("href=\"#email\""));
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
    assert!(html.contains("type=\"submit\" name=\"pay\""));
    assert!(html.contains("autocomplete=\"email\""));
}

#[test]
fn nothing_inline_but_the_loader_with_its_nonce() {
    for html in [open(IntentState::Created).render_pay(), open(IntentState::Confirming).render_pay()] {
        assert!(!html.contains("style=") && !html.contains("<style") && !html.contains(" onclick"));
        assert_eq!(html.matches("<script").count(), 1);
        assert!(html.contains("<script nonce=\"n0nce\""));
    }
    assert!(!SCRIPT.contains("</script"), "the script must not end its own element");
}

#[test]
fn names_from_outside_are_text_and_links_are_web_addresses() {
    let mut sly = open(IntentState::Created);
    sly.shop_name = "<script>alert(1)</script>".into();
    sly.checkout.description = Some("\"><img src=x onerror=alert(1)>".into());
    sly.checkout.order_id = "</title><b>".into();
    sly.email = Some("a\" autofocus onfocus=\"alert(1)".into());
    sly.return_url = Some("javascript:alert(1)".into());
    for html in [sly.render_pay(), sly.render_status()] {
        assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("</title><b>"));
        assert!(!html.contains("autofocus onfocus=\"") && !html.contains("javascript:"));
    }
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

#[test]
fn n3_without_scripts_a_page_that_waits_looks_again_by_itself() {
    for state in STATES {
        let html = open(state).render_pay();
        let waits = open(state).refresh_s().is_some();
        assert_eq!(html.contains("<noscript><meta http-equiv=\"refresh\""), waits, "{state:?}");
        let ended = [IntentState::Declined, IntentState::Canceled, IntentState::Expired].contains(&state);
        assert_eq!(html.contains(" data-watch"), waits || ended, "{state:?}");
        let closed = page(Lang::En, CheckoutStatus::Expired, state).render_pay();
        assert_eq!(closed.contains(" data-watch"), waits, "{state:?}: nothing more can happen");
        let body = &html[html.find("<body").unwrap()..];
        assert!(!body.contains("<noscript"), "not in what is hydrated");
    }
}

fn with_progress(state: IntentState) -> Page {
    let step = |at: &str, what| ProgressStep { at: at.into(), what };
    let mut page = open(state);
    page.checkout.url = "https://pay.example/pay/co_1?token=ct_1".into();
    page.intent.progress = Some(Progress {
        since: "2026-11-30T10:00:00.000Z".into(),
        last_look_at: Some("2026-11-30T10:00:20.000Z".into()),
        next_look_at: Some("2026-11-30T10:00:32.000Z".into()),
        unreached_until: None,
        held: false,
        steps: vec![
            step("2026-11-30T10:00:00.000Z", ProgressKind::Unanswered),
            step("2026-11-30T10:00:08.000Z", ProgressKind::Sent),
        ],
    });
    page
}

#[test]
fn n2_an_unknown_result_tells_what_was_done_when_we_look_next_and_where_to_look_later() {
    for state in [IntentState::Processing, IntentState::Confirming, IntentState::NeedsReview] {
        for html in [with_progress(state).render_pay(), with_progress(state).render_status()] {
            let text = visible(&html);
            for said in [
                "10:00:00 UTC",
                "Sent to the bank, no answer came",
                "10:00:08 UTC",
                "Sent to the bank, waiting for its answer",
                "We last asked the bank at 10:00:20 UTC.",
                "We ask again at 10:00:32 UTC.",
                "You can close this page",
                "pi_1",
            ] {
                assert!(text.contains(said), "{said} in {text}");
            }
            assert!(html.contains("href=\"https://pay.example/pay/co_1?token=ct_1\""), "a link for later");
            assert!(html.contains("method=\"post\" action=\"/pay/co_1/check?token=ct_1&amp;lang=en\""));
        }
    }
    assert!(!visible(&open(IntentState::Confirming).render_pay()).contains("We ask again"), "not known yet");
}

#[test]
fn n2_a_payment_that_cannot_be_passed_on_is_said_to_be_so_with_the_time_until_which_we_try() {
    let mut page = with_progress(IntentState::Processing);
    let progress = page.intent.progress.as_mut().unwrap();
    progress.unreached_until = Some("2026-11-30T10:15:00.000Z".into());
    progress.steps.iter_mut().for_each(|step| step.what = ProgressKind::NotExecuted);
    for html in [page.render_pay(), page.render_status()] {
        let text = visible(&html);
        for said in [
            "The payment could not be passed to the bank yet",
            "no money was taken so far",
            "We keep trying by ourselves.",
            "by 10:15:00 UTC",
            "Could not be passed to the bank: nothing was executed",
            "You do not need to pay again.",
        ] {
            assert!(text.contains(said), "{said} in {text}");
        }
        assert!(!text.contains("being processed") && !text.contains("Try again"), "{text}");
    }
    let text = visible(&with_progress(IntentState::Processing).render_pay());
    assert!(text.contains("Your payment is being processed") && !text.contains("could not be passed"));
}

/// Whether money was taken is not known then: the database may be an old copy.
#[test]
fn fault_23_a_payment_that_is_held_is_said_to_wait_and_nothing_is_said_of_the_money() {
    for lang in Lang::ALL {
        let mut page = Page { lang, ..with_progress(IntentState::Processing) };
        let progress = page.intent.progress.as_mut().unwrap();
        (progress.held, progress.next_look_at) = (true, None);
        for html in [page.render_pay(), page.render_status()] {
            let text = visible(&html);
            for said in ["held-title", "held-lead", "do-not-pay"] {
                assert!(text.contains(&lang.say(said)), "{said} in {text}");
            }
            for other in ["processing-title", "unreached-title", "unreached-lead", "next-look", "try-again"] {
                let words = lang.say_with(other, "time", "|");
                assert!(!text.contains(words.split('|').next().unwrap()), "{other} in {text}");
            }
        }
    }
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
    let inputs: Vec<_> = html.split("<input").filter(|input| input.contains("type=\"email\"")).collect();
    assert!(inputs.len() > 1);
    inputs.iter().for_each(|input| assert!(input.contains("autocomplete=\"email\""), "{input}"));
}

#[test]
fn n2_a_mail_is_promised_only_where_mails_are_sent() {
    let text = |mails, email: Option<&str>| {
        let page = Page { mails, email: email.map(str::to_owned), ..open(IntentState::Confirming) };
        visible(&page.render_pay())
    };
    assert!(text(true, Some("anna@example.com")).contains("We will write to anna@example.com"));
    assert!(!text(true, Some("anna@example.com")).contains("Write to me"));
    assert!(text(true, None).contains("Write to me") && !text(true, None).contains("We will write"));
    let html = Page { mails: true, ..open(IntentState::Confirming) }.render_pay();
    assert!(html.contains("action=\"/pay/co_1/email?token=ct_1&amp;lang=en\""));
    for email in [None, Some("anna@example.com")] {
        let said = text(false, email);
        assert!(!said.contains("We will write") && !said.contains("Write to me"), "{said}");
    }
}

#[test]
fn at_the_bank_the_main_way_is_its_page_and_another_way_has_to_wait_for_it() {
    let mut page = open(IntentState::RequiresAction);
    page.intent.next_action = Some(NextAction::Redirect { url: "https://bank.example/confirm/1".into() });
    for html in [page.render_pay(), page.render_status()] {
        assert!(html.contains("href=\"https://bank.example/confirm/1\""));
        assert!(html.contains("method=\"post\" action=\"/pay/co_1/release?token=ct_1&amp;lang=en\""));
        let text = visible(&html);
        assert!(text.contains("Continue to the bank") && text.contains("Pay another way"));
        assert!(!text.contains("Pay ₽") && !text.contains("Try again"));
    }
    page.notice = Some(Notice::ReleasedBy("2026-11-30T11:00:00.000Z".into()));
    for html in [page.render_pay(), page.render_status()] {
        assert!(visible(&html).contains("lets go of this one by 11:00 UTC at the latest"));
    }
    page.notice = Some(Notice::ReleaseAsked);
    assert!(visible(&page.render_status()).contains("We asked the bank to let go"));
}

#[test]
fn a_persons_check_has_words_of_its_own_and_says_what_it_means_for_the_money() {
    let text = visible(&open(IntentState::NeedsReview).render_pay());
    for said in
        ["A person is checking this payment", "it counts for this order", "You do not need to pay again."]
    {
        assert!(text.contains(said), "{said} in {text}");
    }
}

#[test]
fn without_built_files_no_script_is_promised() {
    let html = Page { assets: Assets::default(), ..open(IntentState::Created) }.render_pay();
    assert!(html.contains("data-wasm=\"failed\""));
    assert!(!html.contains("<script") && !html.contains("/pkg/"));
}

#[test]
fn an_unknown_result_never_invites_to_pay() {
    for state in [IntentState::Processing, IntentState::Confirming, IntentState::NeedsReview] {
        for html in [open(state).render_pay(), open(state).render_status()] {
            let text = visible(&html);
            assert!(text.contains("You do not need to pay again."), "{state:?}");
            assert!(text.contains("pi_1") && text.contains("Check now"));
            assert!(!text.contains("Pay ₽") && !text.contains("Try again"), "{text}");
        }
    }
}

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
fn a_paid_order_with_another_charge_is_not_said_to_be_charged_once() {
    let mut paid = page(Lang::En, CheckoutStatus::Paid, IntentState::Succeeded);
    assert!(visible(&paid.render_pay()).contains("Charged once"));
    for (extra, words) in
        [(ExtraCharge::ToBeReturned, "it is to be given back"), (ExtraCharge::Returned, "it was given back")]
    {
        paid.intent.extra_charge = Some(extra);
        for html in [paid.render_pay(), paid.render_status()] {
            let text = visible(&html);
            assert!(
                text.contains("Paid") && text.contains("One more charge was seen") && text.contains(words)
            );
            assert!(!html.contains("Charged once") && !text.contains("We charge once"));
        }
    }
}

#[test]
fn the_status_page_only_reads() {
    for state in STATES {
        let html = open(state).render_status();
        assert!(html.contains(&format!("data-state=\"{}\"", state.as_str())));
        assert!(!html.contains("<script") && !html.contains("cc-number"));
        let waits = [
            IntentState::Processing,
            IntentState::RequiresAction,
            IntentState::Confirming,
            IntentState::NeedsReview,
        ];
        assert_eq!(open(state).refresh_s().is_some(), waits.contains(&state));
    }
    let text = visible(&open(IntentState::Created).render_status());
    assert!(text.contains("not paid yet") && text.contains("Go to payment"));
}

#[test]
fn the_island_finds_words_for_everything_it_can_say() {
    let html = open(IntentState::Created).render_pay();
    for wrong in Wrong::ALL {
        assert_eq!(html.matches(&format!("data-wrong=\"{}\"", wrong.name())).count(), 2, "summary and field");
    }
    for note in Note::ALL {
        assert!(html.contains(&format!("data-note=\"{}\"", note.name())));
    }
    for step in ["sent", "unanswered", "not_executed", "answered", "at_bank", "in_review"] {
        assert_eq!(html.matches(&format!("data-step=\"{step}\"")).count(), 1, "{step}");
    }
    for slot in ["card", "checked", "next", "bank", "released-by"] {
        assert!(html.contains(&format!("data-slot=\"{slot}\"")), "{slot}");
    }
}

#[test]
fn both_languages_write_the_amount_their_way() {
    let button = |lang| {
        visible(&page(lang, CheckoutStatus::Open, IntentState::Created).render_pay().replace(" hidden", ""))
    };
    assert!(button(Lang::Ru).contains("Оплатить 1\u{a0}500,00\u{a0}₽"));
    assert!(button(Lang::En).contains("Pay ₽1,500.00"));
}

#[test]
fn a_message_is_a_whole_page() {
    for lang in Lang::ALL {
        for message in Message::ALL {
            let html = render_message(lang, "/pkg/c.css", message);
            assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>"));
            assert!(html.contains("<h1>") && !html.contains("message-"));
            let of_money =
                ["No money", "не списаны", "Nothing was sent"].iter().any(|words| html.contains(words));
            assert!(!of_money, "it stands for any order, a paid one too: {html}");
        }
    }
}
