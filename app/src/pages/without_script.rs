//! What the form's screen says where scripts do not run.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Page, back::Back};

/// Shown until the loader runs. The button of a bank's own page belongs here, once a provider has one: a form of its
/// own that posts the same hidden fields.
#[component]
pub(super) fn WithoutScript(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    view! {
        <div class="screen" data-plain>
            <h2>{page.say("plain-title")}</h2>
            <p>{page.say("plain-lead")}</p>
            <p>{page.say("plain-what-to-do")}</p>
            <a class="button" href=page.pay_path()>
                {page.say("reload")}
            </a>
            <Back page=page.clone() />
        </div>
    }
}
