//! The summary of mistakes on top of the form: focused when there are any, each linked to its field.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;
use crate::form::{Field, Wrong};

/// All mistakes there can be, hidden but for what a plain form brought.
#[component]
pub(super) fn Wrongs(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let items = Wrong::ALL.map(|wrong| {
        let label = match wrong.field() {
            Field::Number => "field-number",
            Field::Expiry => "field-expiry",
            Field::Cvc => "field-cvc",
            Field::Email => "field-email",
        };
        let text = format!("{}: {}", page.say(label), page.say(&format!("wrong-{}", wrong.name())));
        view! {
            <li data-wrong=wrong.name() hidden=!page.blames(wrong)>
                <a href=format!("#{}", wrong.field().id())>{text}</a>
            </li>
        }
    });
    let none = !Wrong::ALL.into_iter().any(|wrong| page.blames(wrong));
    view! {
        <div class="note bad" data-wrongs tabindex="-1" role="group" aria-labelledby="wrongs" hidden=none>
            <b id="wrongs">{page.say("wrongs")}</b>
            <ul>{items.collect_view()}</ul>
        </div>
    }
}
