//! The small print under every page of a checkout.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;

/// What we promise, and the same page in the other language.
#[component]
pub(super) fn Foot(
    /// What is shown.
    page: Arc<Page>,
    /// The address of the same page in the other language.
    other: String,
) -> impl IntoView {
    // Not to somebody who was charged twice, or has the money back.
    let promise = page.paid_news().is_none().then(|| page.say("promise"));
    view! {
        <footer class="foot">
            <span>{promise}</span>
            <a href=other lang=page.lang.other().tag() title=page.say("language-hint")>
                {page.say("language-name")}
            </a>
        </footer>
    }
}
