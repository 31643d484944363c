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
    let held = progress.is_some_and(|progress| progress.held);
    let shown = if held {
        "held"
    } else if until.is_some() {
        "unreached"
    } else {
        "reached"
    };
    let hidden = page.shown() != IntentState::Processing;
    // Nobody tried to pay, as far as this copy knows.
    let untried = !hidden && held && page.intent.payment_method.is_none();
    let (held_title, held_lead) =
        if untried { ("untried-title", "untried-lead") } else { ("held-title", "held-lead") };
    view! {
        <section class="screen" data-screen="processing" hidden=hidden>
            <Heading lang mark=Mark::Working title="processing-title" name="reached" hidden=shown != "reached">
                {lang.say("processing-lead")}
            </Heading>
            <Heading lang mark=Mark::Working title="unreached-title" name="unreached" hidden=shown != "unreached">
                {lang.say("unreached-lead")}
                " "
                <Look page=about message="unreached-until" name="unreached" at=until to=To::Seconds />
            </Heading>
            <Heading lang mark=Mark::Working title=held_title name="held" hidden=shown != "held">
                {lang.say(held_lead)}
            </Heading>
            <Waiting page=page />
        </section>
    }
}
