//! The screens of every state a payment can be in.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    Page,
    back::Back,
    canceled::Canceled,
    facts::Facts,
    processing::Processing,
    reasons::Reasons,
    screen::{Mark, Screen},
    settled::Onward,
    slot::Slot,
    trail::{Looks, Patterns},
    waiting::{CheckNow, Waiting},
};

/// One of them is shown, or none while the form is.
#[component]
pub(super) fn Outcome(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    view! {
        <OtherWay page=page.clone() />
        <UnderWay page=page.clone() />
        <Ended page />
    }
}

/// How the payment goes on, where that is not what this page offered.
#[component]
fn OtherWay(page: Arc<Page>) -> impl IntoView {
    view! {
        <p class="note" data-other="card" hidden>
            <Slot lang=page.lang message="other-card" argument="card" name="card" />
        </p>
        <p class="note" data-other="bank" hidden>
            {page.say("other-bank")}
        </p>
        <p class="note" data-other="tab" hidden>
            {page.say("other-tab")}
        </p>
    }
}

/// The result is not known, or not final.
#[component]
fn UnderWay(page: Arc<Page>) -> impl IntoView {
    let bank_url = page.bank_url();
    view! {
        <Patterns page=page.clone() />
        <Processing page=page.clone() />
        <Screen page=page.clone() clone:page name="confirming" mark=Mark::Working title="confirming-title" lead="confirming-lead">
            <Waiting page=page.clone() />
        </Screen>
        <Screen page=page.clone() clone:page name="needs_review" mark=Mark::Working title="review-title" lead="review-lead">
            <Waiting page=page.clone() />
        </Screen>
        <Screen page=page.clone() clone:page name="requires_action" mark=Mark::Waiting title="action-title" lead="action-lead">
            <a class="button" data-slot="bank" href=bank_url target="_top" rel="noopener">
                {page.say("action-link")}
            </a>
            <div class="ways">
                <form method="post" action=page.release_path() data-do="release">
                    <button class="button quiet" type="submit">
                        {page.say("release")}
                    </button>
                </form>
                <CheckNow page=page.clone() />
            </div>
            <Looks page=page.clone() />
        </Screen>
        <Screen page=page.clone() clone:page name="authorized" mark=Mark::Good title="authorized-title" lead="authorized-lead">
            <Facts page=page.clone() />
            <Back page=page.clone() main=true />
        </Screen>
    }
}

/// Both sums, where not that of the order was charged.
#[component]
fn OtherSum(page: Arc<Page>) -> impl IntoView {
    page.other_due().map(|due| {
        view! {
            <p class="note">
                {page.lang.say_with("other-sum-charged", "amount", &page.amount())}
                " "
                {page.lang.say_with("other-sum-due", "amount", &due)}
            </p>
        }
    })
}

/// It is.
#[component]
fn Ended(page: Arc<Page>) -> impl IntoView {
    view! {
        <Screen page=page.clone() clone:page name="succeeded" mark=Mark::Good title=page.paid_title() lead=page.paid_lead()>
            <OtherSum page=page.clone() />
            <Facts page=page.clone() />
            <Back page=page.clone() main=true />
        </Screen>
        <Screen page=page.clone() clone:page name="declined" mark=Mark::Bad title="declined-title" lead="not-taken">
            <p data-with="card" hidden=page.last4().is_none()>
                {page.say("fact-card")}
                " "
                <span data-slot="card">{page.last4().map(|last4| format!("•••• {last4}"))}</span>
            </p>
            <Reasons page=page.clone() />
            <Onward page=page.clone() />
        </Screen>
        <Canceled page=page.clone() />
        <Screen page=page.clone() clone:page name="expired" mark=Mark::Bad title="expired-title" lead="not-taken">
            <Onward page=page.clone() />
        </Screen>
    }
}
