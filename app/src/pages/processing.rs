//! The screen of a payment on its way to the bank: at work there, or not got through to it yet (N2).

use std::sync::Arc;

use contract::IntentState;
use leptos::prelude::*;

use super::{
    Page,
    clock::Look,
    screen::{Heading, Mark},
    waiting::Waiting,
};

/// Its state is one, its words are two: which of them are true changes with every try, and whoever types an address below must not
/// lose the field for it.
#[component]
pub(super) fn Processing(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let lang = page.lang;
    let until = page.intent.progress.as_ref().and_then(|progress| progress.unreached_until.clone());
    let unreached = until.is_some();
    let hidden = page.shown() != IntentState::Processing;
    view! {
        <section class="screen" data-screen="processing" hidden=hidden>
            <Heading lang mark=Mark::Working title="processing-title" name="reached" hidden=unreached>
                {lang.say("processing-lead")}
            </Heading>
            <Heading lang mark=Mark::Working title="unreached-title" name="unreached" hidden=!unreached>
                {lang.say("unreached-lead")}
                " "
                <Look lang message="unreached-until" name="unreached" at=until />
            </Heading>
            <Waiting page=page />
        </section>
    }
}
