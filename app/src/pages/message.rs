//! Pages that have no checkout to show.

use leptos::prelude::*;

use super::{Lang, document::Document, render};

/// What went wrong, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// No such checkout, or another merchant's (404).
    NotFound,
    /// No token, or a forged one (401).
    Unauthorized,
    /// A form that cannot be read (400).
    BadRequest,
    /// Asked too often (429).
    TooMany,
    /// We cannot answer now (503).
    Busy,
}

impl Message {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::NotFound, Self::Unauthorized, Self::BadRequest, Self::TooMany, Self::Busy];

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::NotFound => ("message-not-found-title", "message-not-found-lead"),
            Self::Unauthorized => ("message-unauthorized-title", "message-unauthorized-lead"),
            Self::BadRequest => ("message-bad-request-title", "message-bad-request-lead"),
            Self::TooMany => ("message-too-many-title", "message-too-many-lead"),
            Self::Busy => ("message-busy-title", "message-busy-lead"),
        }
    }
}

/// A whole document; `css` is the path of the style sheet.
pub fn render_message(lang: Lang, css: &str, message: Message) -> String {
    let (title, lead) = message.words();
    let (title, lead, css) = (lang.say(title), lang.say(lead), css.to_owned());
    render(move || {
        view! {
            <Document lang title=title.clone() css>
                <main class="card">
                    <div class="state">
                        <div class="dot wait" aria-hidden="true">
                            "!"
                        </div>
                        <div>
                            <h1>{title}</h1>
                            <p class="lead">{lead}</p>
                        </div>
                    </div>
                </main>
            </Document>
        }
    })
}
