//! What was paid, for what, with what, when: to keep, and to tell the shop's support.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;

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
                    <time datetime=paid_at.clone()>{paid_at.as_deref().map(write_time)}</time>
                </dd>
            </div>
            <div>
                <dt>{page.say("reference")}</dt>
                <dd class="mono" data-slot="intent">{page.intent.id.clone()}</dd>
            </div>
        </dl>
    }
}

/// `2026-11-30 10:00 UTC`: the shopper's clock is known to the browser only, which writes it anew.
fn write_time(rfc3339: &str) -> String {
    match (rfc3339.get(..10), rfc3339.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        _ => rfc3339.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_time_is_shown_in_utc_until_the_browser_knows_better() {
        assert_eq!(super::write_time("2026-11-30T10:00:00.123Z"), "2026-11-30 10:00 UTC");
        assert_eq!(super::write_time("soon"), "soon");
    }
}
