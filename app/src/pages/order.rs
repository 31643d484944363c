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
    let description = page.checkout.description.clone();
    let no_description = description.is_none();
    let heading = description.unwrap_or_else(|| order.clone());
    view! {
        <header class="shop">
            <bdi>{page.shop_name.clone()}</bdi>
        </header>
        <div class="order">
            <div class="what">
                <h1>
                    <bdi data-slot="what">{heading}</bdi>
                </h1>
                <p class="muted" data-with="description" hidden=no_description>
                    {order}
                </p>
            </div>
            <p class="sum" data-slot="amount">
                {page.amount()}
            </p>
        </div>
    }
}
