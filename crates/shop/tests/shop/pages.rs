//! What the pages say and what they are allowed to do.

use crate::support::{SECRET_KEY, TestShop};
use axum::http::StatusCode;
use contract::{CheckoutStatus, IntentState};

#[tokio::test]
async fn looking_changes_nothing_and_asks_only_about_ones_own_order() {
    let shop = TestShop::start().await;
    for path in
        ["/shop", "/shop/", "/shop/orders", "/shop/orders/XXXX", "/shop/nothing/here", "/shop/shop.css"]
    {
        shop.get(path, "ru").await;
    }
    assert!(shop.api.calls().is_empty());
    let order = shop.buy().await;
    shop.get(&order.path, "ru").await;
    let asked = shop.api.calls().pop().unwrap();
    assert!(asked.key.is_none() && asked.body.is_none());
}

#[tokio::test]
async fn every_good_has_a_form_with_a_token_of_its_own() {
    let shop = TestShop::start().await;
    let page = shop.get("/shop", "ru").await;
    let mut tokens: Vec<_> =
        page.body.split(r#"name="form_token" value=""#).skip(1).map(|s| &s[..36]).collect();
    assert_eq!(tokens.len(), 6);
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!(tokens.len(), 6);
    assert!(page.body.contains("1\u{a0}500,00\u{a0}₽"));
}

#[tokio::test]
async fn the_order_page_tells_what_the_api_knows() {
    use CheckoutStatus::{Canceled, Expired, Open, Paid};
    let cases = [
        (Open, IntentState::Created, "waiting", true),
        (Open, IntentState::Declined, "failed", true),
        (Open, IntentState::RequiresAction, "at-the-bank", true),
        (Open, IntentState::Confirming, "settling", false),
        (Open, IntentState::NeedsReview, "review", false),
        (Expired, IntentState::Confirming, "settling", false),
        (Paid, IntentState::Succeeded, "paid", false),
        (Canceled, IntentState::Canceled, "canceled", false),
        (Expired, IntentState::Expired, "expired", false),
    ];
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    for (status, state, shown, pay) in cases {
        shop.api.set(status, state);
        let page = shop.get(&order.path, "ru").await;
        assert_eq!(page.status, 200);
        assert!(page.body.contains(&format!(r#"data-status="{shown}""#)), "{status:?} {state:?}");
        assert_eq!(page.body.contains("data-pay"), pay, "{status:?} {state:?}");
        let will_change = ["settling", "paid"].contains(&shown);
        assert_eq!(page.headers.contains_key("refresh"), will_change, "{status:?} {state:?}");
    }
}

#[tokio::test]
async fn an_unreachable_api_makes_the_status_unknown_and_not_unpaid() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    shop.api.set(CheckoutStatus::Paid, IntentState::Succeeded);
    shop.api.refuse(Some((StatusCode::SERVICE_UNAVAILABLE, "unavailable")));
    let page = shop.get(&order.path, "ru").await;
    assert!(page.body.contains(r#"data-status="unknown""#));
    assert!(!page.body.contains("data-pay") && page.body.contains("не платите ещё раз"));
}

#[tokio::test]
async fn the_language_is_the_chosen_one_then_the_browsers() {
    let shop = TestShop::start().await;
    for (path, accepted, title) in [
        ("/shop", "", "Кофемолка Bravo"),
        ("/shop", "en-GB,en;q=0.9", "Bravo grinder"),
        ("/shop?lang=ru", "en", "Кофемолка Bravo"),
        ("/shop?x=1&lang=en", "ru", "Bravo grinder"),
        ("/shop?lang=<script>", "en", "Bravo grinder"),
    ] {
        let page = shop.get(path, accepted).await;
        assert!(page.body.contains(title), "{path} {accepted}");
        assert!(!page.body.contains("<script"), "{path}");
    }
    let chosen = shop.get("/shop?lang=en", "ru").await;
    assert!(chosen.body.contains(r#"action="/shop/orders?lang=en""#));
}

#[tokio::test]
async fn every_answer_carries_the_policy_and_none_the_key() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    for path in
        ["/shop", "/shop/", "/shop/orders/XXXX", "/shop/a/b?<b>", "/shop/shop.css", order.path.as_str()]
    {
        let page = shop.get(path, "en").await;
        assert_eq!(
            page.headers["content-security-policy"],
            "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self' http://pay.test; \
             base-uri 'none'; frame-ancestors 'none'",
            "{path}"
        );
        assert_eq!(page.headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(page.headers["referrer-policy"], "same-origin", "{path}");
        for absent in [SECRET_KEY, "<script", " style=", "<b>", " onclick="] {
            assert!(!page.body.contains(absent), "{path} has {absent}");
        }
    }
}

#[tokio::test]
async fn what_the_api_says_is_escaped() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    shop.api.spoil(|checkout| checkout.url = r#"http://pay.test/"><script>"#.to_owned());
    let page = shop.get(&order.path, "ru").await;
    assert!(page.body.contains("data-pay") && !page.body.contains("<script"));
}

#[tokio::test]
async fn the_stylesheet_is_kept_under_the_name_of_its_content_only() {
    let shop = TestShop::start().await;
    let page = shop.get("/shop", "ru").await;
    let path = page.body.split_once(r#"rel="stylesheet" href=""#).unwrap().1.split('"').next().unwrap();
    let named = shop.get(path, "ru").await;
    assert_eq!(named.headers["cache-control"], "public, max-age=31536000, immutable");
    assert_eq!(named.headers["content-type"], "text/css; charset=utf-8");
    assert_eq!(shop.get("/shop/shop.css?v=old", "ru").await.headers["cache-control"], "no-cache");
}

#[tokio::test]
async fn what_is_not_there_is_404_in_words() {
    let shop = TestShop::start().await;
    for path in ["/shop/orders/XXXX-XXXX-XXXX", "/shop/nothing", "/shop/%3Cb%3E"] {
        let page = shop.get(path, "en").await;
        assert_eq!(page.status, 404, "{path}");
        assert!(page.body.contains("Back to the shop"), "{path}");
    }
    assert_eq!(shop.get("/shop/", "en").await.location(), "/shop");
}
