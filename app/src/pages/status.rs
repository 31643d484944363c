//! The status page: how the payment stands, to read. Its scripts write times by the shopper's clock and look again; a plain reload shows
//! the truth.

use std::sync::Arc;

use contract::IntentState;
use leptos::prelude::*;

use super::{
    Page, clock,
    document::Document,
    foot::Foot,
    order::Order,
    outcome::Outcome,
    refresh::Refresh,
    screen::{Mark, Screen},
};

/// Looks again in place of the reader.
pub(super) const LOOK: &str = include_str!("status.js");

/// The same screens as the payment page, without its form.
#[component]
pub(super) fn StatusPage(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let (nonce, other) = (page.nonce.clone(), page.other_language_status_path());
    let title = page.title(&page.say("unpaid-title"));
    let (unpaid, head) = (page.clone(), page.clone());
    let unpaid = (page.shown() == IntentState::Created).then(|| view! { <Unpaid page=unpaid /> });
    view! {
        <Document lang=page.lang title css=page.assets.css.clone() head=move || view! { <Refresh page=head.clone() pause_s=head.read_again_s() /> }>
            <main
                class="card"
                data-payonce
                data-state=page.shown().as_str()
                data-page=page.status_path()
                data-pause=page.look_again_s()
            >
                <Order page=page.clone() />
                {page.notice.as_ref().map(|notice| view! { <p class="note">{notice.write(&page)}</p> })}
                {unpaid}
                <Outcome page=page.clone() />
                <Foot page=page.clone() other />
            </main>
            <script nonce=nonce.clone() inner_html=clock::SCRIPT></script>
            // Of its own: an old browser that cannot read the other one is not to do without this.
            <script nonce=nonce inner_html=LOOK></script>
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
