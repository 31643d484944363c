//! Where the result will be told. Said only where mails are really sent.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Page, slot::Slot};

/// The promise, or a form for the address. The payment form's address alone is found as plain `email`.
#[component]
pub(super) fn Mail(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    page.mails.then(|| {
        let email = page.email.clone();
        let known = email.is_some();
        view! {
            <p class="muted" data-with="email" hidden=!known>
                <Slot lang=page.lang message="mail-promise" argument="email" name="email" value=email.unwrap_or_default() />
            </p>
            <form class="mail" method="post" action=page.email_path() data-without="email" hidden=known>
                <label>
                    <span>{page.say("mail-label")}</span>
                    <input name="email" type="email" autocomplete="home email" dir="ltr" required />
                </label>
                <button class="button quiet" type="submit">
                    {page.say("mail-send")}
                </button>
            </form>
        }
    })
}
