//! One input of the card.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    Page,
    field_wrongs::{FieldWrongs, wrongs_id},
};
use crate::form::Field;

/// A labelled input with room for what is wrong with it. It has no name: a card is never posted to us.
#[component]
pub(super) fn CardField(
    /// What is shown.
    page: Arc<Page>,
    /// Which one.
    field: Field,
    /// Message of the label.
    label: &'static str,
    /// An example of what to type.
    placeholder: String,
) -> impl IntoView {
    view! {
        <div class="field">
            <label for=field.id()>{page.say(label)}</label>
            <input
                id=field.id()
                autocomplete=field.id()
                inputmode="numeric"
                type="text"
                dir="ltr"
                spellcheck="false"
                aria-required="true"
                aria-describedby=wrongs_id(field)
                placeholder=placeholder
            />
            <FieldWrongs page=page field=field />
        </div>
    }
}
