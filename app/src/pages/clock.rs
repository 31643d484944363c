//! Times of day. The server writes UTC; the page's script writes them anew by the shopper's clock.

use leptos::prelude::*;

use super::Lang;

const PLACE: &str = "\u{fffc}";

/// One time of day.
#[component]
pub(super) fn Clock(
    /// RFC 3339, UTC; empty in a pattern that the script fills.
    #[prop(optional, into)]
    at: String,
) -> impl IntoView {
    view! {
        <time data-clock datetime=at.clone()>
            {write_clock(&at)}
        </time>
    }
}

/// A message with a time in it, shown while there is one.
#[component]
pub(super) fn Look(
    /// Of the words.
    lang: Lang,
    /// The message; its argument is `time`.
    message: &'static str,
    /// `data-look`.
    name: &'static str,
    /// RFC 3339, UTC.
    at: Option<String>,
) -> impl IntoView {
    let text = lang.say_with(message, "time", PLACE);
    let (before, after) = text.split_once(PLACE).unwrap_or((&text, ""));
    let hidden = at.is_none();
    view! {
        <span data-look=name hidden=hidden>
            {before.to_owned()}
            <Clock at=at.unwrap_or_default() />
            {after.to_owned()}
            " "
        </span>
    }
}

/// `10:00:08 UTC`.
fn write_clock(rfc3339: &str) -> String {
    rfc3339.get(11..19).map_or_else(String::new, |time| format!("{time} UTC"))
}

/// `10:00 UTC`.
pub(super) fn write_minute(rfc3339: &str) -> String {
    rfc3339.get(11..16).map_or_else(String::new, |time| format!("{time} UTC"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_time_of_day_is_in_utc_until_the_browser_knows_better() {
        assert_eq!(super::write_clock("2026-11-30T10:00:08.123Z"), "10:00:08 UTC");
        assert_eq!(super::write_minute("2026-11-30T10:00:08.123Z"), "10:00 UTC");
        assert_eq!(super::write_clock(""), "");
        assert_eq!(super::write_clock("soon"), "");
    }
}
