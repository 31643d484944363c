//! The frame of every page.

use leptos::prelude::*;

use super::Lang;

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
                {sheet}
                {head.run()}
            </head>
            <body>{children()}</body>
        </html>
    }
}
