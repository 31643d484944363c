//! What every screen of an unknown result says: do not pay again, when we asked, how to ask, where to look later.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Page, slot::Slot};

/// Neutral on purpose: nothing is wrong yet, and there is no button to pay.
#[component]
pub(super) fn Waiting(
    /// What is shown.
    page: Arc<Page>,
    /// Whether the link is worth keeping: the server knows of the payment.
    #[prop(optional)]
    keep: bool,
) -> impl IntoView {
    let lang = page.lang;
    let copy = keep.then(|| {
        view! {
            <button class="button quiet" type="button" data-do="copy" data-scripted hidden>
                {page.say("copy-link")}
            </button>
        }
    });
    let reference = keep.then(|| {
        view! {
            <p class="muted small">
                {page.say("reference")} ": " <span class="mono" data-slot="intent">{page.intent.id.clone()}</span>
            </p>
        }
    });
    view! {
        <p class="note">
            <b>{page.say("do-not-pay")}</b>
            " "
            {page.say("do-not-pay-why")}
        </p>
        <p class="muted small" data-with="checked" hidden>
            <Slot lang message="checked" argument="time" name="checked" />
            " "
            <span data-with="next">
                <Slot lang message="next-check" argument="seconds" name="next" />
            </span>
        </p>
        <div class="stack">
            <a class="button quiet" data-do="check" href=page.status_path()>
                {page.say("check-again")}
            </a>
            {copy}
        </div>
        {reference}
    }
}
