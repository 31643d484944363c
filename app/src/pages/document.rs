//! The frame of every page.

use leptos::prelude::*;

use super::Lang;

/// A browser would ask for `/favicon.ico` otherwise, at every visit. No page of ours refuses `data:` pictures.
const ICON: &str = concat!(
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E",
    "%3Crect width='32' height='32' rx='9' fill='%233451c7'/%3E",
    "%3Cpath d='m9 17 5 5 9-11' fill='none' stroke='%23fff' stroke-width='3.5'/%3E%3C/svg%3E"
);

/// A document in one language.
#[component]
pub(super) fn Document(
    /// Of its words.
    lang: Lang,
    /// For the browser's tab.
    title: String,
    /// Path of the style sheet; none when empty.
    css: String,
    /// Anything else for the head.
    #[prop(optional, into)]
    head: ViewFnOnce,
    /// The body.
    children: Children,
) -> impl IntoView {
    let sheet = (!css.is_empty()).then(|| view! { <link rel="stylesheet" href=css /> });
    view! {
        <html lang=lang.tag()>
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name="robots" content="noindex" />
                <title>{title}</title>
                <link rel="icon" href=ICON />
                {sheet}
                {head.run()}
            </head>
            <body>{children()}</body>
        </html>
    }
}
