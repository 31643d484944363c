//! Times of day. The server writes UTC; the page's script writes them anew by the shopper's clock.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;

/// Writes every time of a page, and those that come later.
pub(super) const SCRIPT: &str = include_str!("clock.js");

const PLACE: &str = "\u{fffc}";

/// How exactly a time is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// Of what is asked again and again.
    Seconds,
    /// Of what takes hours.
    Minutes,
}

impl To {
    /// `data-clock`, and the browser's `timeStyle`.
    fn style(self) -> &'static str {
        match self {
            Self::Seconds => "medium",
            Self::Minutes => "short",
        }
    }

    /// Where it ends in an RFC 3339 time.
    fn end(self) -> usize {
        match self {
            Self::Seconds => 19,
            Self::Minutes => 16,
        }
    }
}

/// One time of day, with its date where that is not today's.
#[component]
pub(super) fn Clock(
    /// Whose today.
    page: Arc<Page>,
    /// RFC 3339, UTC; empty in a pattern that the script fills.
    #[prop(optional, into)]
    at: String,
    /// How exactly.
    to: To,
) -> impl IntoView {
    view! {
        <time data-clock=to.style() datetime=at.clone()>
            {write(&at, &page.today, to)}
        </time>
    }
}

/// A message with a time in it, shown while there is one.
#[component]
pub(super) fn Look(
    /// Of the words, and whose today.
    page: Arc<Page>,
    /// The message; its argument is `time`.
    message: &'static str,
    /// `data-look`.
    name: &'static str,
    /// RFC 3339, UTC.
    at: Option<String>,
    /// How exactly.
    to: To,
) -> impl IntoView {
    let text = page.lang.say_with(message, "time", PLACE);
    let (before, after) = text.split_once(PLACE).unwrap_or((&text, ""));
    let hidden = at.is_none();
    view! {
        <span data-look=name hidden=hidden>
            {before.to_owned()}
            <Clock page at=at.unwrap_or_default() to />
            {after.to_owned()}
            " "
        </span>
    }
}

/// `10:00:08 UTC`, or `2026-11-30 10:00 UTC`: the shopper's clock is known to the browser only.
fn write(rfc3339: &str, today: &str, to: To) -> String {
    match (rfc3339.get(..10), rfc3339.get(11..to.end())) {
        (Some(day), Some(time)) if day == today => format!("{time} UTC"),
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => String::new(),
    }
}

/// The same for what is kept: with its date, whatever day it is read on.
pub(super) fn write_whole(rfc3339: &str) -> String {
    write(rfc3339, "", To::Minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_is_in_utc_until_the_browser_knows_better_and_has_a_date_where_it_is_not_of_today() {
        let at = "2026-11-30T10:00:08.123Z";
        assert_eq!(write(at, "2026-11-30", To::Seconds), "10:00:08 UTC");
        assert_eq!(write(at, "2026-11-30", To::Minutes), "10:00 UTC");
        assert_eq!(write(at, "2026-12-01", To::Minutes), "2026-11-30 10:00 UTC");
        assert_eq!(write_whole(at), "2026-11-30 10:00 UTC");
        assert_eq!(write("", "2026-11-30", To::Seconds), "");
        assert_eq!(write("soon", "2026-11-30", To::Seconds), "");
    }
}
