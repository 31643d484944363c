//! Who sells what for how much: the head of every page of a checkout.

use std::sync::Arc;

use leptos::prelude::*;

use super::Page;

/// Shop, goods, sum.
#[component]
pub(super) fn Order(
    /// What is shown.
    page: Arc<Page>,
) -> impl IntoView {
    let order = page.lang.say_with("order-line", "order", &page.checkout.order_id);
    let (heading, below) = match &page.checkout.description {
        Some(description) => (description.clone(), Some(order)),
        None => (order, None),
    };
    view! {
        <header class="shop">
            <bdi>{page.shop_name.clone()}</bdi>
        </header>
        <div class="order">
            <div class="what">
                <h1>
                    <bdi data-slot="what">{heading}</bdi>
                </h1>
                {below.map(|below| view! { <p class="muted">{below}</p> })}
            </div>
            <p class="sum" data-slot="amount">
                {page.amount()}
            </p>
        </div>
    }
}
