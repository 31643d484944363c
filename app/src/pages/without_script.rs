//! What the form's screen says where scripts do not run.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;

/// Shown until the loader runs: why there are no card fields, and that the bank's page has them.
#[component]
pub(super) fn WithoutScript(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    view! {
        <div class="stack" data-plain>
            <h2>{page.say("plain-title")}</h2>
            <p>{page.say("plain-lead")}</p>
        </div>
    }
}
