//! One input of the card.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;
use crate::card::{Field, Wrong};

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
    let wrong_id = format!("{}-wrong", field.id());
    let wrongs = Wrong::ALL.into_iter().filter(|wrong| wrong.field() == field).map(|wrong| {
        view! {
            <span data-wrong=wrong.name() hidden>
                {page.say(&format!("wrong-{}", wrong.name()))}
            </span>
        }
    });
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
                aria-describedby=wrong_id.clone()
                placeholder=placeholder
            />
            <div class="err" id=wrong_id>
                {wrongs.collect_view()}
            </div>
        </div>
    }
}
