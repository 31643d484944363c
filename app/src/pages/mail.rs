//! Where the result will be told. Said only where mails are really sent.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Page, slot::Slot};
use crate::form::Field;

/// The promise, with a way to another address, or a form for one.
#[component]
pub(super) fn Mail(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    page.tells_by_mail().then(|| {
        let email = page.email.clone();
        let unknown = email.is_none();
        let closed = !unknown && !page.opens_email();
        view! {
            <div class="stack" data-mail>
                <p class="muted" data-with="email" hidden=unknown>
                    <Slot lang=page.lang message="mail-promise" argument="email" name="email" value=email.unwrap_or_default() />
                    " "
                    <a data-with="email" hidden=!closed href=page.email_path()>{page.say("mail-other")}</a>
                </p>
                <form class="mail" method="post" action=page.email_path() data-without="email" hidden=closed>
                    <Address page=page.clone() />
                    <button class="button quiet" type="submit">
                        {page.say("mail-send")}
                    </button>
                </form>
            </div>
        }
    })
}

/// The field, with what was typed and is no address.
#[component]
fn Address(page: Arc<Page>) -> impl IntoView {
    let wrong = page.no_email.clone();
    let invalid = wrong.as_ref().map(|_| "true");
    let mistake = wrong.as_ref().map(|_| {
        view! {
            <span class="err">
                <b>{page.say("wrong-email-form")}</b>
            </span>
        }
    });
    view! {
        <label>
            <span>{page.say("mail-label")}</span>
            {mistake}
            <input
                name="email"
                type="text"
                inputmode="email"
                autocapitalize="none"
                spellcheck="false"
                autocomplete=Field::Email.id()
                dir="ltr"
                aria-invalid=invalid
                value=wrong
                required
            />
        </label>
    }
}
