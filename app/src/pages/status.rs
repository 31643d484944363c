//! The status page: how the payment stands, to read. Its script only writes times by the shopper's clock; a plain reload shows the truth.

use std::sync::Arc;

use contract::IntentState;
use leptos::prelude::*;

use super::{
    Page,
    clock::SCRIPT,
    document::Document,
    foot::Foot,
    order::Order,
    outcome::Outcome,
    screen::{Mark, Screen},
};

/// The same screens as the payment page, without its form.
#[component]
pub(super) fn StatusPage(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let (nonce, other) = (page.nonce.clone(), page.other_language_status_path());
    let title = page.title(&page.say("unpaid-title"));
    let unpaid = page.clone();
    let unpaid = (page.shown() == IntentState::Created).then(|| view! { <Unpaid page=unpaid /> });
    view! {
        <Document lang=page.lang title css=page.assets.css.clone()>
            <main class="card" data-payonce data-state=page.shown().as_str()>
                <Order page=page.clone() />
                {page.notice.as_ref().map(|notice| view! { <p class="note">{notice.write(&page)}</p> })}
                {unpaid}
                <Outcome page=page.clone() />
                <Foot page=page.clone() other />
            </main>
            <script nonce=nonce inner_html=SCRIPT></script>
        </Document>
    }
}

/// In place of the form: the way to it.
#[component]
fn Unpaid(page: Arc<Page>) -> impl IntoView {
    let (path, link) = (page.pay_path(), page.say("unpaid-link"));
    view! {
        <Screen page name="created" mark=Mark::Waiting title="unpaid-title" lead="unpaid-lead">
            <a class="button" href=path>
                {link}
            </a>
        </Screen>
    }
}
