//! Every screen of every page, in both languages: what must be there and what must not.

mod awaited;
mod ended;
mod form;

use contract::{Amount, CheckoutIntent, Metadata};

use super::{widget_page::SCRIPT, *};
use crate::stage::Note;

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
            charged: None,
            returned: false,
            in_question: None,
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
            charged: None,
            in_question: None,
            checkout_id: "co_1".into(),
            checkout_version: 3,
            order_id: "123".into(),
            submit_key: "sub_1".into(),
            payment_method: None,
            decline: None,
            cancel_reason: None,
            next_action: None,
            paid_at: None,
            progress: None,
            told_to: None,
            behind: false,
            closed: false,
            extra_charge: None,
            returned: false,
            released_by: None,
            previous_intent_id: None,
            created_at: "2026-11-30T10:00:00Z".into(),
            provider: None,
            attempts: None,
            journal: None,
        },
        today: "2026-11-30".into(),
        email: None,
        return_url: Some("https://shop.example/back".into()),
        tokenize_url: "https://bank.example/v3/tokens".into(),
        mails: false,
        no_email: None,
        asks_email: false,
        out_of_tries: false,
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

/// The island hides the first once it is no more true, and reads the page anew at the second: the page may be the answer to a form.
#[test]
fn r10_what_was_said_of_a_form_that_was_sent_can_be_taken_back() {
    let notice = Some(Notice::TermsChanged);
    let html = Page { notice, ..open(IntentState::Created) }.render_pay();
    let (before, said) = html.split_once(">The shop changed the order").unwrap();
    assert!(before.rsplit_once('<').unwrap().1.contains("data-notice"), "{said}");
    assert!(html.contains("data-page=\"/pay/co_1?token=ct_1&amp;lang=en\""));
}

#[test]
fn without_built_files_no_script_is_promised() {
    let html = Page { assets: Assets::default(), ..open(IntentState::Created) }.render_pay();
    assert!(html.contains("data-wasm=\"failed\""));
    assert!(!html.contains("<script") && !html.contains("/pkg/"));
}

#[test]
fn the_status_page_only_reads() {
    for state in STATES {
        let html = open(state).render_status();
        assert!(html.contains(&format!("data-state=\"{}\"", state.as_str())));
        assert_eq!(html.matches("<script").count(), 2, "times by the shopper's clock, and another look");
        for script in [super::clock::SCRIPT, super::status::LOOK] {
            assert!(html.contains(&format!("<script nonce=\"n0nce\">{script}</script>")));
            assert!(!script.contains("</script"));
        }
        assert!(!html.contains("cc-number"));
        let waits = [
            IntentState::Processing,
            IntentState::RequiresAction,
            IntentState::Confirming,
            IntentState::NeedsReview,
            IntentState::Authorized,
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

/// An earlier press, of this tab or another, may be on its way: what is said of the last one is no word about the money.
#[test]
fn r10_what_is_said_of_one_press_is_not_said_of_the_order() {
    for lang in Lang::ALL {
        for name in [
            "note-unreached",
            "note-no-token",
            "note-busy",
            "note-refused",
            "load-slow",
            "load-failed",
            "load-still",
        ] {
            let words = lang.say(name);
            for claim in ["o money was taken", "не списаны", "Nothing was sent", "Ничего не отправлено"]
            {
                assert!(!words.contains(claim), "{name}: {words}");
            }
        }
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

/// Also after the bank's page, and on another device by the link that is to be kept.
#[test]
fn a_page_leads_on_in_its_own_language_and_to_itself_in_the_other() {
    for lang in Lang::ALL {
        let mut page = Page { mails: true, ..page(lang, CheckoutStatus::Open, IntentState::Confirming) };
        page.checkout.url = "https://pay.example/pay/co_1?token=ct_1".into();
        for (html, own) in [(page.render_pay(), ""), (page.render_status(), "/status")] {
            let links = html.split("\"/pay/").skip(1).chain(html.split("https://pay.example/pay/").skip(1));
            let links: Vec<_> = links.map(|link| link.split('"').next().unwrap()).collect();
            let here = format!("lang={}", lang.tag());
            let (own_language, others): (Vec<&str>, Vec<&str>) =
                links.iter().partition(|link| link.ends_with(&here));
            assert!(own_language.len() >= 4, "{links:?}");
            let other = format!("co_1{own}?token=ct_1&amp;lang={}", lang.other().tag());
            assert_eq!(others, [other.as_str()], "the switch");
        }
    }
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
