//! Lines above the screen: what the page has to say about itself, and what came of the last press.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    Page,
    clock::{Look, To},
    slot::Slot,
};
use crate::stage::Note;

/// What the server has to say about a form that was posted without scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The order has other terms than the form that was sent.
    TermsChanged,
    /// No more tries for this order.
    TooManyTries,
    /// We cannot answer now; nothing was started.
    Busy,
    /// The form could not be taken; nothing was started.
    Refused,
    /// The form wanted the bank's page; a card of another tab pays.
    CardElsewhere,
    /// The bank was asked to let go of the payment.
    ReleaseAsked,
    /// The bank lets go by itself, by then: RFC 3339, UTC.
    ReleasedBy(String),
}

impl Notice {
    fn message(&self) -> &'static str {
        match self {
            Self::TermsChanged => "note-terms-changed",
            Self::TooManyTries => "note-too-many-tries",
            Self::Busy => "note-busy",
            Self::Refused => "note-refused",
            Self::CardElsewhere => "note-card-elsewhere",
            Self::ReleaseAsked => "note-release-asked",
            Self::ReleasedBy(_) => "note-released-by",
        }
    }

    /// The server's own line.
    pub(super) fn write(&self, page: &Arc<Page>) -> AnyView {
        match self {
            Self::ReleasedBy(at) => {
                let (page, message, at) = (page.clone(), self.message(), Some(at.clone()));
                view! { <Look page message name="notice" at to=To::Minutes /> }.into_any()
            }
            Self::TermsChanged
            | Self::TooManyTries
            | Self::Busy
            | Self::Refused
            | Self::CardElsewhere
            | Self::ReleaseAsked => page.say(self.message()).into_any(),
        }
    }
}

/// All lines that may ever be needed, hidden but for the server's own.
#[component]
pub(super) fn Notes(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let notice =
        page.notice.as_ref().map(|notice| view! { <p class="note" data-notice>{notice.write(&page)}</p> });
    let loading = ["load-slow", "load-failed", "load-still", "load-broken"].map(|name| {
        view! {
            <p class="note" data-load=name hidden>
                {page.say(name)}
                " "
                <a href=page.pay_path()>{page.say("reload")}</a>
            </p>
        }
    });
    view! {
        {notice}
        {loading.collect_view()}
        {Note::ALL.map(|note| view! { <Line page=page.clone() note /> }).collect_view()}
    }
}

/// One that the island shows.
#[component]
fn Line(page: Arc<Page>, note: Note) -> impl IntoView {
    let words = match note {
        Note::ReleasedBy => {
            let (lang, message) = (page.lang, "note-released-by");
            view! { <Slot lang message argument="time" name="released-by" /> }.into_any()
        }
        Note::Unreached
        | Note::NoToken
        | Note::Busy
        | Note::Refused
        | Note::TooManyTries
        | Note::NotRenewed
        | Note::ReleaseAsked
        | Note::NotReleased
        | Note::NoConnection
        | Note::NotNow
        | Note::NotShown
        | Note::Behind
        | Note::Away => page.say(&format!("note-{}", note.name())).into_any(),
    };
    let hidden = note != Note::Away || !page.is_away();
    view! {
        <p class="note" data-note=note.name() tabindex="-1" hidden=hidden>
            {words}
        </p>
    }
}
