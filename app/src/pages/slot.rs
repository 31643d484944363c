//! A message with a place in it that the browser fills.

use leptos::prelude::*;

use super::Lang;

const PLACE: &str = "\u{fffc}";

/// The message, its argument an element of its own.
#[component]
pub(super) fn Slot(
    /// Of the words.
    lang: Lang,
    /// The message.
    message: &'static str,
    /// Its argument.
    argument: &'static str,
    /// `data-slot`.
    name: &'static str,
    /// What stands there at first.
    #[prop(optional)]
    value: String,
) -> impl IntoView {
    let text = lang.say_with(message, argument, PLACE);
    let (before, after) = text.split_once(PLACE).unwrap_or((&text, ""));
    view! {
        {before.to_owned()}
        <span data-slot=name>{value}</span>
        {after.to_owned()}
    }
}
