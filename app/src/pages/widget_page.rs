//! The payment page: one root element that the loader, the island and the tests find everything on.

use std::sync::Arc;

use contract::IntentState;
use leptos::prelude::*;

use super::{
    Page,
    card_form::CardForm,
    document::Document,
    foot::Foot,
    notes::Notes,
    order::Order,
    outcome::Outcome,
    refresh::Refresh,
    screen::{Mark, Screen},
    slot::Slot,
    waiting::Asking,
};
use crate::widget::Widget;

/// A plain script: what works, or says that it does not, before WebAssembly is there; and the live part that is smaller so.
pub(super) const SCRIPT: &str = concat!(
    include_str!("clock.js"),
    include_str!("loader.js"),
    include_str!("live.js"),
    include_str!("language.js")
);

/// Order, form, and every screen that may follow.
#[component]
pub(super) fn WidgetPage(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let title = page.title(&page.lang.say_with("pay", "amount", &page.amount()));
    let head = page.clone();
    view! {
        <Document lang=page.lang title css=page.assets.css.clone() head=move || view! { <Refresh page=head.clone() pause_s=head.refresh_s() /><Preload page=head /> }>
            <main
                class="card"
                data-payonce
                data-state=state(&page)
                data-wasm=if page.assets.has_script() { "loading" } else { "failed" }
                data-page=page.pay_path()
                data-today=page.today.clone()
                data-checkout=page.checkout.id.clone()
                data-intent=page.intent.id.clone()
                data-key=page.intent.submit_key.clone()
                data-token=page.checkout.client_token.clone()
                data-tokenize=page.tokenize_url.clone()
                data-because=page.reason()
                data-last4=page.last4()
                data-bank=page.bank_url()
                data-watch=page.is_watched()
                data-extra=page.paid_news()
                data-closed=page.is_closed()
                data-away=page.is_away()
                data-again=page.is_again()
                data-expires=page.checkout.expires_at.clone()
            >
                <Order page=page.clone() />
                <Live page=page.clone() />
                <Notes page=page.clone() />
                <Widget clone:page>
                    <CardForm page=page.clone() />
                    <OwnScreens page=page.clone() />
                    <Outcome page=page.clone() />
                </Widget>
                <Foot page=page.clone() other=page.other_language_path() />
            </main>
            <Loader page=page.clone() />
        </Document>
    }
}

/// `data-state`: the form stands where nothing was submitted.
fn state(page: &Page) -> &'static str {
    let shown = page.shown();
    if shown == IntentState::Created { "ready" } else { shown.as_str() }
}

/// What is read aloud when it changes, and the words of it that stand nowhere else.
#[component]
fn Live(page: Arc<Page>) -> impl IntoView {
    view! {
        <p class="unseen" role="status"></p>
        <span data-say="copied" hidden>
            {page.say("copied")}
        </span>
        <span data-say="not-copied" hidden>
            {page.say("not-copied")}
        </span>
    }
}

/// Screens of states that only a page can be in.
#[component]
fn OwnScreens(page: Arc<Page>) -> impl IntoView {
    view! {
        <Screen page=page.clone() clone:page name="checking" mark=Mark::Working title="checking-title" lead="checking-lead">
            <Asking page=page.clone() />
        </Screen>
        <Screen page=page.clone() clone:page name="elsewhere" mark=Mark::Working title="elsewhere-title" lead="elsewhere-lead">
            <Asking page=page.clone() />
        </Screen>
        <Screen page=page.clone() clone:page name="changed" mark=Mark::Waiting title="changed-title" lead="changed-lead">
            <p data-with="new-amount">
                <Slot lang=page.lang message="changed-now" argument="amount" name="new-amount" />
            </p>
            <p data-with="same-amount">
                <Slot lang=page.lang message="changed-same" argument="amount" name="same-amount" />
            </p>
            <p data-with="new-what">
                <Slot lang=page.lang message="changed-what" argument="what" name="new-what" />
            </p>
            <a class="button" data-do="accept" href=page.pay_path()>
                {page.say("changed-accept")}
            </a>
        </Screen>
    }
}

/// Asks for the island's files early. `crossorigin` stays plain: a nonce there makes Firefox drop the preload.
#[component]
fn Preload(page: Arc<Page>) -> impl IntoView {
    page.assets.has_script().then(|| {
        view! {
            <link rel="modulepreload" href=page.assets.js.clone() nonce=page.nonce.clone() />
            <link
                rel="preload"
                href=page.assets.wasm.clone()
                r#as="fetch"
                r#type="application/wasm"
                crossorigin="anonymous"
            />
        }
    })
}

#[component]
fn Loader(page: Arc<Page>) -> impl IntoView {
    page.assets.has_script().then(|| {
        view! {
            <script
                nonce=page.nonce.clone()
                data-js=page.assets.js.clone()
                data-wasm=page.assets.wasm.clone()
                inner_html=SCRIPT
            ></script>
        }
    })
}
