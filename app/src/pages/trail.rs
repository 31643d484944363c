//! What was done to learn a result, step by step (N2).

use std::sync::Arc;

use contract::ProgressKind;
use leptos::prelude::*;

use super::{
    Page,
    clock::{Clock, Look, To},
};

const KINDS: [ProgressKind; 6] = [
    ProgressKind::Sent,
    ProgressKind::Unanswered,
    ProgressKind::NotExecuted,
    ProgressKind::Answered,
    ProgressKind::AtBank,
    ProgressKind::InReview,
];

/// The steps so far, and the looks.
#[component]
pub(super) fn Trail(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let steps = page.intent.progress.clone().map(|progress| progress.steps).unwrap_or_default();
    let lines = steps.into_iter().map(|step| {
        view! {
            <li>
                <Clock page=page.clone() at=step.at to=To::Seconds />
                <span>{page.say(words(step.what))}</span>
            </li>
        }
    });
    view! {
        <ol class="trail" data-trail>
            {lines.collect_view()}
        </ol>
        <Looks page />
    }
}

/// When the bank was asked last, and when it is asked next: what a press of "check now" changes.
#[component]
pub(super) fn Looks(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let progress = page.intent.progress.clone().unwrap_or_default();
    view! {
        <p class="muted small" data-looks>
            <Look page=page.clone() message="last-look" name="last" at=progress.last_look_at to=To::Seconds />
            <Look page=page.clone() message="next-look" name="next" at=progress.next_look_at to=To::Seconds />
        </p>
    }
}

/// A line for every kind of step, for the page's script to copy: once in a page.
#[component]
pub(super) fn Patterns(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let lines = KINDS.map(|kind| {
        view! {
            <li data-step=name(kind)>
                <Clock page=page.clone() to=To::Seconds />
                <span>{page.say(words(kind))}</span>
            </li>
        }
    });
    view! { <ul hidden>{lines.collect_view()}</ul> }
}

/// As on the wire.
fn name(kind: ProgressKind) -> &'static str {
    match kind {
        ProgressKind::Sent => "sent",
        ProgressKind::Unanswered => "unanswered",
        ProgressKind::NotExecuted => "not_executed",
        ProgressKind::Answered => "answered",
        ProgressKind::AtBank => "at_bank",
        ProgressKind::InReview => "in_review",
    }
}

fn words(kind: ProgressKind) -> &'static str {
    match kind {
        ProgressKind::Sent => "step-sent",
        ProgressKind::Unanswered => "step-unanswered",
        ProgressKind::NotExecuted => "step-not-executed",
        ProgressKind::Answered => "step-answered",
        ProgressKind::AtBank => "step-at-bank",
        ProgressKind::InReview => "step-in-review",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_by_its_name_on_the_wire() {
        for kind in KINDS {
            assert_eq!(serde_json::to_value(kind).unwrap(), name(kind));
        }
    }
}
