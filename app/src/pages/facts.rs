//! What was paid, for what, with what, when: to keep, and to tell the shop's support.

use std::sync::Arc;

use leptos::prelude::*;

use super::{Page, clock::write_whole};

/// A list of facts.
#[component]
pub(super) fn Facts(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let card = page.last4().map(|last4| format!("•••• {last4}"));
    let no_card = card.is_none();
    let paid_at = page.intent.paid_at.clone();
    let no_time = paid_at.is_none();
    view! {
        <dl class="facts">
            <div>
                <dt>{page.say("amount")}</dt>
                <dd data-slot="amount">{page.amount()}</dd>
            </div>
            <div>
                <dt>{page.say("fact-order")}</dt>
                <dd>
                    <bdi>{page.checkout.order_id.clone()}</bdi>
                </dd>
            </div>
            <div data-with="card" hidden=no_card>
                <dt>{page.say("fact-card")}</dt>
                <dd data-slot="card">{card}</dd>
            </div>
            <div data-look="paid" hidden=no_time>
                <dt>{page.say("fact-time")}</dt>
                <dd>
                    <time datetime=paid_at.clone()>{paid_at.as_deref().map(write_whole)}</time>
                </dd>
            </div>
            <div>
                <dt>{page.say("reference")}</dt>
                <dd class="mono" data-slot="intent">{page.intent.id.clone()}</dd>
            </div>
        </dl>
    }
}
