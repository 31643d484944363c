//! The screen of a payment on its way to the bank: at work there, not passed on yet, or kept back by ourselves (N2).

use std::sync::Arc;

use contract::IntentState;
use leptos::prelude::*;

use super::{
    Page,
    clock::{Look, To},
    screen::{Heading, Mark},
    waiting::Waiting,
};

/// Its state is one, its words are three: which of them are true changes with every try, and whoever types an address below must
/// not lose the field for it.
#[component]
pub(super) fn Processing(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let (lang, about) = (page.lang, page.clone());
    let progress = page.intent.progress.as_ref();
    let until = progress.and_then(|progress| progress.unreached_until.clone());
    let shown = shown(&page);
    let hidden = page.shown() != IntentState::Processing;
    let untried = !hidden && shown == Shown::Untried;
    let (held_title, held_lead) =
        if untried { ("untried-title", "untried-lead") } else { ("held-title", "held-lead") };
    let (reached, unreached) = (shown == Shown::Reached, shown == Shown::Unreached);
    let unpaid = (untried && page.can_be_tried()).then(|| {
        view! {
            <p>
                {lang.say("unpaid-still")}
                " "
                <a href=page.pay_path()>{lang.say("unpaid-link")}</a>
            </p>
        }
    });
    view! {
        <section class="screen" data-screen="processing" hidden=hidden>
            <Heading lang mark=Mark::Working title="processing-title" name="reached" hidden=!reached>
                {lang.say("processing-lead")}
            </Heading>
            <Heading lang mark=Mark::Working title="unreached-title" name="unreached" hidden=!unreached>
                {lang.say("unreached-lead")}
                " "
                <Look page=about message="unreached-until" name="unreached" at=until to=To::Seconds />
            </Heading>
            <Heading lang mark=Mark::Working title=held_title name="held" hidden=reached || unreached>
                {lang.say(held_lead)}
            </Heading>
            {unpaid}
            <Waiting page=page />
        </section>
    }
}

/// Which words are true.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Reached,
    Unreached,
    Held,
    /// Held, and nobody tried to pay, as far as this copy knows.
    Untried,
}

fn shown(page: &Page) -> Shown {
    let progress = page.intent.progress.as_ref();
    if progress.is_some_and(|progress| progress.held) {
        if page.intent.payment_method.is_some() { Shown::Held } else { Shown::Untried }
    } else if progress.is_some_and(|progress| progress.unreached_until.is_some()) {
        Shown::Unreached
    } else {
        Shown::Reached
    }
}

/// Message of the heading that is shown.
pub(super) fn title(page: &Page) -> &'static str {
    match shown(page) {
        Shown::Reached => "processing-title",
        Shown::Unreached => "unreached-title",
        Shown::Held => "held-title",
        Shown::Untried => "untried-title",
    }
}
