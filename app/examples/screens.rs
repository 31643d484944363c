//! Renders every screen of the payment page into a folder, to be looked at: `screens OUT STYLESHEET`.
//! Not part of the product.

use std::{env, fs, path::Path};

use app::{Assets, Lang, Message, Notice, Page, render_message};
use contract::{
    Amount, Checkout, CheckoutIntent, CheckoutStatus, Decline, ExtraCharge, InQuestion, IntentState,
    Metadata, NextAction, PaymentIntent, PaymentMethod, Progress, ProgressKind, ProgressStep,
};

fn main() -> std::io::Result<()> {
    let mut arguments = env::args().skip(1);
    let out = arguments.next().unwrap_or_else(|| "screens".to_owned());
    let css = arguments.next().unwrap_or_else(|| "../style/checkout.css".to_owned());
    fs::create_dir_all(&out)?;
    for lang in [Lang::Ru, Lang::En] {
        for (name, page) in pages(lang, &css) {
            write(&out, &format!("{}-{name}", lang.tag()), &page.render_pay())?;
            write(&out, &format!("{}-status-{name}", lang.tag()), &page.render_status())?;
        }
        write(&out, &format!("{}-message", lang.tag()), &render_message(lang, &css, Message::Busy))?;
    }
    Ok(())
}

fn write(out: &str, name: &str, html: &str) -> std::io::Result<()> {
    fs::write(Path::new(out).join(name).with_extension("html"), html)
}

fn pages(lang: Lang, css: &str) -> Vec<(&'static str, Page)> {
    let page = |status, state| page(lang, css, status, state);
    let canceled = |reason: &str| {
        let mut canceled = page(CheckoutStatus::Open, IntentState::Canceled);
        canceled.intent.cancel_reason = Some(reason.to_owned());
        canceled
    };
    let mut away = page(CheckoutStatus::Open, IntentState::Created);
    away.intent.progress = Some(Progress { held: true, ..progress(&[]) });
    let mut untried = page(CheckoutStatus::Open, IntentState::Processing);
    untried.checkout.payment_intent.state = IntentState::Created;
    untried.intent.progress = away.intent.progress.clone();
    untried.intent.in_question = Some(InQuestion::Restore);
    let mut late = untried.clone();
    late.intent.closed = true;
    let mut declined = page(CheckoutStatus::Open, IntentState::Declined);
    declined.intent.payment_method =
        Some(PaymentMethod { kind: "card_token".to_owned(), last4: Some("4600".to_owned()) });
    declined.intent.decline = Some(Decline {
        by: "issuer".to_owned(),
        code: "insufficient_funds".to_owned(),
        message: String::new(),
    });
    let mut action = page(CheckoutStatus::Open, IntentState::RequiresAction);
    action.intent.next_action =
        Some(NextAction::Redirect { url: "https://bank.example/confirm/1".to_owned() });
    action.intent.progress = Some(progress(&[ProgressKind::Answered, ProgressKind::AtBank]));
    let mut released = action.clone();
    released.notice = Some(Notice::ReleasedBy("2026-11-30T11:05:00.000Z".to_owned()));
    let mut confirming = page(CheckoutStatus::Open, IntentState::Confirming);
    confirming.intent.progress = Some(progress(&[ProgressKind::Unanswered, ProgressKind::Unanswered]));
    confirming.mails = true;
    let mut nameless = confirming.clone();
    nameless.email = None;
    let mut review = page(CheckoutStatus::Open, IntentState::NeedsReview);
    review.intent.progress = Some(progress(&[ProgressKind::Unanswered, ProgressKind::InReview]));
    let mut paid = page(CheckoutStatus::Paid, IntentState::Succeeded);
    paid.intent.payment_method =
        Some(PaymentMethod { kind: "card_token".to_owned(), last4: Some("4444".to_owned()) });
    paid.intent.paid_at = Some("2026-11-30T07:00:00Z".to_owned());
    let mut twice = paid.clone();
    twice.intent.extra_charge = Some(ExtraCharge::ToBeReturned);
    let mut returned = paid.clone();
    returned.intent.returned = true;
    let mut other_sum = paid.clone();
    other_sum.checkout.charged = Some(Amount::new("1499.00", "RUB"));
    let mut noted = page(CheckoutStatus::Open, IntentState::Created);
    noted.notice = Some(Notice::TermsChanged);
    vec![
        ("ready", page(CheckoutStatus::Open, IntentState::Created)),
        ("noted", noted),
        ("processing", page(CheckoutStatus::Open, IntentState::Processing)),
        ("requires_action", action),
        ("released", released),
        ("confirming", confirming),
        ("confirming-no-mail", nameless),
        ("authorized", page(CheckoutStatus::Open, IntentState::Authorized)),
        ("needs_review", review),
        ("succeeded", paid),
        ("succeeded-twice", twice),
        ("succeeded-returned", returned),
        ("succeeded-other-sum", other_sum),
        ("declined", declined),
        ("away", away),
        ("untried", untried),
        ("untried-late", late),
        ("canceled-unreached", canceled("not_executed")),
        ("canceled-hold", canceled("hold_expired")),
        ("canceled-judged", canceled("judged_not_charged")),
        ("canceled", page(CheckoutStatus::Canceled, IntentState::Canceled)),
        ("expired", page(CheckoutStatus::Expired, IntentState::Expired)),
    ]
}

fn progress(kinds: &[ProgressKind]) -> Progress {
    let at = |second: usize| format!("2026-11-30T07:00:{second:02}.000Z");
    let steps = kinds.iter().enumerate().map(|(place, what)| ProgressStep { at: at(place * 8), what: *what });
    Progress {
        since: at(0),
        last_look_at: Some(at(20)),
        next_look_at: Some(at(32)),
        unreached_until: None,
        held: false,
        steps: steps.collect(),
    }
}

fn page(lang: Lang, css: &str, status: CheckoutStatus, state: IntentState) -> Page {
    let amount = Amount::new("1500.00", "RUB");
    let id = "pi_01kbb2r7yq8f4m0w9t3x";
    Page {
        lang,
        nonce: "nonce".to_owned(),
        assets: Assets { css: css.to_owned(), js: env_or("PAYONCE_JS"), wasm: env_or("PAYONCE_WASM") },
        shop_name: "Зерно".to_owned(),
        checkout: Checkout {
            id: "co_01kbb2r7yq8f4m0w9t3x".to_owned(),
            object: "checkout".to_owned(),
            status,
            order_id: "123".to_owned(),
            amount: amount.clone(),
            charged: None,
            returned: false,
            in_question: None,
            description: Some("Кофемолка Bravo".to_owned()),
            url: String::new(),
            client_token: "ct_test".to_owned(),
            version: 1,
            payment_intent: CheckoutIntent { id: id.to_owned(), submit_key: "sub_1".to_owned(), state },
            metadata: Metadata::default(),
            created_at: "2026-11-30T07:00:00Z".to_owned(),
            expires_at: "2026-12-01T07:00:00Z".to_owned(),
        },
        intent: PaymentIntent {
            id: id.to_owned(),
            object: "payment_intent".to_owned(),
            state,
            amount,
            charged: None,
            in_question: None,
            checkout_id: "co_01kbb2r7yq8f4m0w9t3x".to_owned(),
            checkout_version: 1,
            order_id: "123".to_owned(),
            submit_key: "sub_1".to_owned(),
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
            created_at: "2026-11-30T07:00:00Z".to_owned(),
            provider: None,
            attempts: None,
            journal: None,
        },
        today: "2026-11-30".to_owned(),
        email: Some("anna@example.com".to_owned()),
        return_url: Some("https://shop.example/orders/123".to_owned()),
        tokenize_url: env::var("PAYONCE_TOKENIZE").unwrap_or_else(|_| "/v3/tokens".to_owned()),
        mails: false,
        no_email: None,
        asks_email: false,
        out_of_tries: false,
        notice: None,
    }
}

fn env_or(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
