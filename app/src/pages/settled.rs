//! How a try that took no money goes on: once more, while the checkout is open, or back.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Page, back::Back};

/// The next try is a post, with scripts and without.
#[component]
pub(super) fn Onward(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let closed = page.is_closed();
    let out_of_tries = page.out_of_tries && !closed;
    // The notice of a form that was posted says the same.
    let no_try = (out_of_tries && page.notice.is_none()).then(|| {
        view! { <p class="muted">{page.say("note-too-many-tries")}</p> }
    });
    let again = (!closed && !out_of_tries).then(|| {
        view! {
            <form method="post" data-open action=page.again_path() data-do="again">
                <input type="hidden" name="previous" value=page.intent.id.clone() />
                <button class="button" type="submit" name="again">
                    {page.say("try-again")}
                </button>
            </form>
        }
    });
    view! {
        {again}
        {no_try}
        <p class="muted" data-closed hidden=!closed>
            {page.say("closed")}
        </p>
        <Back page />
    }
}
