//! The input of the mail address.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    Page,
    field_wrongs::{FieldWrongs, wrongs_id},
};
use crate::form::Field;

/// Where the receipt goes, filled in as far as it is known. It may be left empty.
#[component]
pub(super) fn EmailField(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let field = Field::Email;
    // A receipt is promised only where mails are sent.
    let label = if page.mails { "field-email" } else { "field-email-only" };
    let value = page.no_email.clone().or_else(|| page.email.clone());
    view! {
        <div class="field">
            <label for=field.id()>
                {page.say(label)}" "<span class="muted small">{page.say("field-optional")}</span>
            </label>
            <input
                id=field.id()
                name="email"
                type="text"
                inputmode="email"
                autocapitalize="none"
                spellcheck="false"
                autocomplete=field.id()
                dir="ltr"
                aria-describedby=wrongs_id(field)
                aria-invalid=page.no_email.as_ref().map(|_| "true")
                value=value
            />
            <FieldWrongs page=page field=field />
        </div>
    }
}
