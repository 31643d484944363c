//! What can be wrong with an input, under it.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;
use crate::form::{Field, Wrong};

/// All mistakes of one field, hidden. The input is described by it.
#[component]
pub(super) fn FieldWrongs(
    /// What is shown.
    page: Arc<Page>,
    /// Whose.
    field: Field,
) -> impl IntoView {
    let wrongs = Wrong::ALL.into_iter().filter(|wrong| wrong.field() == field).map(|wrong| {
        view! {
            <span data-wrong=wrong.name() hidden=!page.blames(wrong)>
                {page.say(&format!("wrong-{}", wrong.name()))}
            </span>
        }
    });
    view! {
        <div class="err" id=wrongs_id(field)>
            {wrongs.collect_view()}
        </div>
    }
}

/// For the input's `aria-describedby`.
pub(super) fn wrongs_id(field: Field) -> String {
    format!("{}-wrong", field.id())
}
