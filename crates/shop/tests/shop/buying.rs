//! From the shelf to the payment page, and every way in which that can go wrong.

use crate::support::{SECRET_KEY, TestShop};
use axum::http::StatusCode;
use contract::{Amount, CheckoutStatus, IntentState};

#[tokio::test]
async fn buying_opens_a_checkout_with_the_orders_own_key_and_goes_to_its_page() {
    let shop = TestShop::start().await;
    let form = shop.form("bravo", 2).await;
    let answer = shop.post("/shop/orders", &form).await;
    assert_eq!((answer.status, answer.location()), (303, "http://pay.test/pay/co_1?token=ct_co_1"));

    let call = shop.api.calls().pop().unwrap();
    assert_eq!(call.key.unwrap().len(), 36);
    assert_eq!(call.authorization.unwrap(), format!("Bearer {SECRET_KEY}"));
    let body = call.body.unwrap();
    assert_eq!(body.amount, Amount::new("3000.00", "RUB"));
    assert_eq!(body.description.unwrap(), "Кофемолка Bravo × 2");
    assert_eq!(body.return_url.unwrap(), format!("http://shop.test/shop/orders/{}", body.order_id));
}

#[tokio::test]
async fn r1_a_double_click_is_one_order_with_one_key() {
    let shop = TestShop::start().await;
    let form = shop.form("bravo", 1).await;
    let (first, second) = tokio::join!(shop.post("/shop/orders", &form), shop.post("/shop/orders", &form));
    assert_eq!((first.status, second.status), (303, 303));
    assert_eq!(first.location(), second.location());
    let calls = shop.api.calls();
    assert_eq!(calls[0].key, calls[1].key);
    assert_eq!(calls[0].body, calls[1].body);
}

#[tokio::test]
async fn r1_the_same_request_goes_out_whatever_language_the_form_is_sent_again_in() {
    let shop = TestShop::start().await;
    let form = shop.form("bravo", 1).await;
    shop.post("/shop/orders", &form).await;
    let answer = shop.post("/shop/orders?lang=en", &form).await;
    assert_eq!(answer.location(), "http://pay.test/pay/co_1?token=ct_co_1&lang=en");
    let calls = shop.api.calls();
    assert_eq!(calls[0].body, calls[1].body);
}

#[tokio::test]
async fn r5_two_forms_are_two_orders() {
    let shop = TestShop::start().await;
    for _ in 0..2 {
        let form = shop.form("bravo", 1).await;
        shop.post("/shop/orders", &form).await;
    }
    let calls = shop.api.calls();
    assert_ne!(calls[0].key, calls[1].key);
    assert_ne!(calls[0].body.as_ref().unwrap().order_id, calls[1].body.as_ref().unwrap().order_id);
}

#[tokio::test]
async fn a_failure_is_told_honestly_and_retried_with_the_same_key() {
    let kinds = [
        (StatusCode::INTERNAL_SERVER_ERROR, "internal", 502, "error", true),
        (StatusCode::TOO_MANY_REQUESTS, "rate_limited", 503, "busy", true),
        (StatusCode::UNAUTHORIZED, "unauthorized", 502, "key-refused", true),
        (StatusCode::UNPROCESSABLE_ENTITY, "invalid", 502, "refused", false),
        (StatusCode::CONFLICT, "order_paid", 409, "paid-already", false),
    ];
    for (status, code, shown, name, retry) in kinds {
        let shop = TestShop::start().await;
        let form = shop.form("bravo", 1).await;
        shop.api.refuse(Some((status, code)));
        let answer = shop.post("/shop/orders", &form).await;
        assert_eq!(answer.status, shown, "{code}");
        assert!(answer.body.contains(&format!(r#"data-status="{name}""#)), "{code}");
        assert!(answer.body.contains("Кофемолка Bravo"), "{code}");
        assert_eq!(answer.body.contains("<form"), retry, "{code}");
        for secret in [SECRET_KEY, "internal words", "not for shoppers", "req_42<i>"] {
            assert!(!answer.body.contains(secret), "{code} shows {secret}");
        }
        if retry {
            shop.api.refuse(None);
            let token = answer.hidden("<form", "form_token");
            let again = shop.post("/shop/orders", &format!("form_token={token}&good=bravo&quantity=1")).await;
            assert_eq!(again.status, 303, "{code}");
            let calls = shop.api.calls();
            assert_eq!((&calls[0].key, &calls[0].body), (&calls[1].key, &calls[1].body), "{code}");
        }
    }
}

#[tokio::test]
async fn too_many_requests_say_when_to_come_back() {
    let shop = TestShop::start().await;
    let form = shop.form("bravo", 1).await;
    shop.api.refuse(Some((StatusCode::TOO_MANY_REQUESTS, "rate_limited")));
    let answer = shop.post("/shop/orders", &form).await;
    assert_eq!(answer.headers["retry-after"], "3");
    assert!(answer.body.contains("подождать 3 секунды"));
}

#[tokio::test]
async fn without_an_api_nothing_was_charged_and_the_order_waits() {
    let shop = TestShop::start_without_api().await;
    let form = shop.form("kettle", 1).await;
    let answer = shop.post("/shop/orders", &form).await;
    assert_eq!(answer.status, 504);
    assert!(answer.body.contains("Этот запрос денег не списал"));
    let number = answer.body.split_once(r#"class="number">"#).unwrap().1.split('<').next().unwrap();
    let order = shop.get(&format!("/shop/orders/{number}"), "en").await;
    assert!(order.body.contains(r#"data-status="not-offered""#));
}

#[tokio::test]
async fn an_order_that_may_be_paid_is_never_called_unpaid_by_a_failure() {
    let shop = TestShop::start().await;
    let form = shop.form("bravo", 1).await;
    shop.post("/shop/orders", &form).await;
    shop.api.set(CheckoutStatus::Paid, IntentState::Succeeded);
    shop.api.refuse(Some((StatusCode::BAD_GATEWAY, "")));
    let answer = shop.post("/shop/orders?lang=en", &form).await;
    assert!(answer.body.contains("do not pay again"));
    assert!(answer.body.contains("Look at the order"));
}

#[tokio::test]
async fn an_answer_about_another_order_or_sum_sends_nobody_anywhere() {
    let shop = TestShop::start().await;
    let form = shop.form("bravo", 1).await;
    shop.post("/shop/orders", &form).await;
    for spoil in [
        |checkout: &mut contract::Checkout| checkout.url = "javascript:alert(1)".to_owned(),
        |checkout: &mut contract::Checkout| checkout.amount = Amount::new("1.00", "RUB"),
        |checkout: &mut contract::Checkout| checkout.order_id = "other".to_owned(),
    ] {
        shop.api.spoil(spoil);
        let answer = shop.post("/shop/orders", &form).await;
        assert_eq!(answer.status, 502);
        assert!(answer.body.contains(r#"data-status="garbled""#));
    }
}

#[tokio::test]
async fn a_form_the_shop_did_not_make_buys_nothing() {
    let shop = TestShop::start().await;
    let token = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
    for form in [
        String::new(),
        format!("form_token={token}&good=yacht&quantity=1"),
        format!("form_token={token}&good=bravo&quantity=0"),
        format!("form_token={token}&good=bravo&quantity=6"),
        format!("form_token={token}&good=bravo&quantity=-1"),
        "form_token=1&good=bravo&quantity=1".to_owned(),
        format!("form_token={token}&good=bravo&quantity=1&rest={}", "x".repeat(20_000)),
    ] {
        let answer = shop.post("/shop/orders", &form).await;
        assert_eq!(answer.status, 400, "{form}");
        assert!(answer.body.contains("Заказ не создан"), "{form}");
    }
    assert!(shop.api.calls().is_empty());
}
