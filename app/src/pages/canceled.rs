//! The screen of a payment that did not take place: why, and what that means for the money.

use std::sync::Arc;

use contract::IntentState;
use leptos::prelude::*;

use super::{
    Page,
    screen::{Heading, Mark},
    settled::Onward,
};

/// Messages, and the reasons they are for.
const REASONS: [(&str, &str); 6] = [
    ("cancel-unreached", "not_executed"),
    ("cancel-absent", "absent"),
    ("cancel-replaced", "replaced"),
    ("cancel-shop", "by_shop"),
    ("cancel-hold", "hold_expired"),
    ("cancel-bank", "by_provider"),
];

/// A person says it of money that was given back, too: nothing more is said of that money than what they know.
const JUDGED: &str = "judged_not_charged";
/// All others, and none.
const OTHERS: &str = "other not_executed absent replaced by_shop hold_expired by_provider";

/// Its headings are two, of which the reason tells one.
#[component]
pub(super) fn Canceled(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let lang = page.lang;
    let (reason, judged) = (page.reason(), is_judged(&page));
    let reasons = REASONS.map(|(message, name)| {
        view! {
            <p data-reason=name hidden=reason.as_deref() != Some(name)>
                {lang.say(message)}
            </p>
        }
    });
    view! {
        <section class="screen" data-screen="canceled" hidden=page.shown() != IntentState::Canceled>
            <Heading lang mark=Mark::Bad title="canceled-title" reason=OTHERS hidden=judged>
                {lang.say("not-taken")}
            </Heading>
            <Heading lang mark=Mark::Bad title="judged-title" reason=JUDGED hidden=!judged>
                {lang.say("judged-lead")}
            </Heading>
            {reasons.collect_view()}
            <p class="muted">{lang.say("hold-goes")}</p>
            <Onward page=page.clone() />
        </section>
    }
}

fn is_judged(page: &Page) -> bool {
    page.reason().as_deref() == Some(JUDGED)
}

/// Message of the heading that is shown.
pub(super) fn title(page: &Page) -> &'static str {
    if is_judged(page) { "judged-title" } else { "canceled-title" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_one_heading() {
        let others: Vec<_> = OTHERS.split(' ').collect();
        assert!(!others.contains(&JUDGED) && others.contains(&"other"));
        assert!(REASONS.iter().all(|(_, reason)| others.contains(reason)));
        assert_eq!(others.len(), REASONS.len() + 1);
    }
}
