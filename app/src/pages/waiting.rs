//! What every screen of an unknown result says: do not pay again, what was done, how to ask, where to look later.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Page, mail::Mail, slot::Slot, trail::Trail};

/// For a page that has to ask our own server first: whether it knows of the payment.
#[component]
pub(super) fn Asking(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let lang = page.lang;
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
                <Slot lang message="next-check" argument="time" name="next" />
            </span>
        </p>
        <a class="button quiet" data-do="check" href=page.status_path()>
            {page.say("check-again")}
        </a>
    }
}

/// For a payment that the server knows of. Neutral on purpose: nothing is wrong yet, and there is no button to pay.
#[component]
pub(super) fn Waiting(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    view! {
        <p class="note">
            <b>{page.say("do-not-pay")}</b>
            " "
            {page.say("do-not-pay-why")}
            " "
            {page.say("may-close")}
            " "
            <a href=page.kept_url()>{page.say("may-close-link")}</a>
            "."
        </p>
        <Mail page=page.clone() />
        <div class="ways">
            <CheckNow page=page.clone() />
            <button class="button quiet" type="button" data-do="copy" data-scripted hidden>
                {page.say("copy-link")}
            </button>
        </div>
        // It grows: nothing that can be pressed stands below it.
        <Trail page=page.clone() />
        <p class="muted small">
            {page.say("reference")} ": " <span class="mono" data-slot="intent">{page.intent.id.clone()}</span>
        </p>
    }
}

/// Has the bank asked at once.
#[component]
pub(super) fn CheckNow(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    view! {
        <form method="post" action=page.check_path() data-do="check">
            <button class="button quiet" type="submit">
                {page.say("check-again")}
            </button>
        </form>
    }
}
