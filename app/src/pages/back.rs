//! The way back to the shop.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;

/// A link to the shop, if it gave one. It leaves a frame.
#[component]
pub(super) fn Back(
    /// What is shown.
    page: Arc<Page>,
    /// Whether it is what the screen is for.
    #[prop(optional)]
    main: bool,
) -> impl IntoView {
    let class = if main { "button" } else { "button quiet" };
    page.return_url().map(|url| {
        view! {
            <a class=class href=url target="_top" rel="noopener">
                {page.say("return")}
            </a>
        }
    })
}
