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

/// Its state is one, its words are four: which of them are true changes with every try, and whoever types an address below must
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
    let is = |one| shown == one;
    let (late, lead) = (lang.say("untried-late"), lang.say("untried-lead"));
    let in_time = !page.is_closed();
    let unpaid = (!hidden && is(Shown::Untried) && page.can_be_tried()).then(|| {
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
            <Heading lang mark=Mark::Working title="processing-title" name="reached" hidden=!is(Shown::Reached)>
                {lang.say("processing-lead")}
            </Heading>
            <Heading lang mark=Mark::Working title="unreached-title" name="unreached" hidden=!is(Shown::Unreached)>
                {lang.say("unreached-lead")}
                " "
                <Look page=about message="unreached-until" name="unreached" at=until to=To::Seconds />
            </Heading>
            <Heading lang mark=Mark::Working title="held-title" name="held" hidden=!is(Shown::Held)>
                {lang.say("held-lead")}
            </Heading>
            <Heading lang mark=Mark::Working title="untried-title" name="untried" hidden=!is(Shown::Untried)>
                <span data-closed hidden=in_time>
                    {late}
                    " "
                </span>
                {lead}
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
    /// Nothing of its own waits: it is not known whether the order was paid while we were away.
    Untried,
}

fn shown(page: &Page) -> Shown {
    let progress = page.intent.progress.as_ref();
    if progress.is_some_and(|progress| progress.held) {
        if page.intent.in_question.is_some() { Shown::Untried } else { Shown::Held }
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
