//! Lines above the screen: what the page has to say about itself, and what came of the last press.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;
use crate::stage::Note;

/// What the server has to say about a form that was posted without scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The order has other terms than the form that was sent.
    TermsChanged,
    /// No more tries for this order.
    TooManyTries,
    /// We cannot answer now; nothing was started.
    Busy,
}

impl Notice {
    fn message(self) -> &'static str {
        match self {
            Self::TermsChanged => "note-terms-changed",
            Self::TooManyTries => "note-too-many-tries",
            Self::Busy => "note-busy",
        }
    }
}

/// All lines that may ever be needed, hidden but for the server's own.
#[component]
pub(super) fn Notes(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let notice = page.notice.map(|notice| view! { <p class="note">{page.say(notice.message())}</p> });
    let loading = ["load-slow", "load-failed", "load-broken"].map(|name| {
        view! {
            <p class="note" data-load=name hidden>
                {page.say(name)}
                " "
                <a href=page.pay_path()>{page.say("reload")}</a>
            </p>
        }
    });
    let notes = Note::ALL.map(|note| {
        view! {
            <p class="note" data-note=note.name() tabindex="-1" hidden>
                {page.say(&format!("note-{}", note.name()))}
            </p>
        }
    });
    view! {
        {notice}
        {loading.collect_view()}
        {notes.collect_view()}
    }
}
