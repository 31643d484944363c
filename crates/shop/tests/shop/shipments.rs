//! One order, one shipment: on a webhook and on nothing else.

use contract::{CheckoutStatus, IntentState};

use crate::{signing::paid, support::TestShop};

#[tokio::test]
async fn nothing_ships_because_a_page_was_reached() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    shop.api.set(CheckoutStatus::Paid, IntentState::Succeeded);
    let page = shop.get(&order.path, "en").await;
    assert!(page.body.contains(r#"data-status="paid""#));
    assert!(page.body.contains(r#"data-shipped="false""#));
    assert!(page.body.contains("waiting for the payment's confirmation"));
    assert_eq!(page.headers["refresh"], "10");

    shop.tell("msg_1", &paid(&order.id)).await;
    let page = shop.get(&order.path, "en").await;
    assert!(page.body.contains(r#"data-shipped="true""#) && page.body.contains("shipped on "));
    assert!(!page.headers.contains_key("refresh"));
}

#[tokio::test]
async fn what_ended_unpaid_waits_for_no_delivery() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    shop.api.set(CheckoutStatus::Expired, IntentState::Expired);
    assert!(!shop.get(&order.path, "ru").await.body.contains("data-shipped"));
    shop.tell("msg_1", &paid(&order.id)).await;
    assert!(shop.has_shipped(&order).await);
}

#[tokio::test]
async fn r20_one_shipment_whatever_reports_the_payment() {
    let (shop, bank) = TestShop::start_with_bank().await;
    let order = shop.buy().await;
    bank.enter(&order.id, "succeeded");
    for id in ["msg_1", "msg_2", "msg_1", "msg_3"] {
        assert_eq!(shop.tell(id, &paid(&order.id)).await.status, 200);
        shop.get(&order.path, "ru").await;
    }
    assert_eq!(shop.drill(&order, "shipments").await, "1");
}

#[tokio::test]
async fn fault_50_the_same_webhook_again_is_200_again_and_ships_nothing_more() {
    let (shop, _) = TestShop::start_with_bank().await;
    let order = shop.buy().await;
    let first = shop.tell("msg_1", &paid(&order.id)).await;
    let again = shop.tell("msg_1", &paid(&order.id)).await;
    assert_eq!((first.status, first.body.as_str()), (200, "Shipped."));
    assert_eq!((again.status, again.body.as_str()), (200, "Shipped before."));
    assert_eq!(shop.drill(&order, "shipments").await, "1");
}

#[tokio::test]
async fn a_webhook_that_was_acted_on_ships_nothing_more_whatever_it_says_now() {
    let shop = TestShop::start().await;
    let (order, other) = (shop.buy().await, shop.buy().await);
    assert_eq!(shop.tell("msg_1", &paid(&order.id)).await.body, "Shipped.");
    assert_eq!(shop.tell("msg_1", &paid(&other.id)).await.body, "Shipped before.");
    assert!(!shop.has_shipped(&other).await);
}

#[tokio::test]
async fn fault_56_the_same_webhook_after_the_shop_restarted_ships_nothing_more() {
    let (shop, _) = TestShop::start_with_bank().await;
    let order = shop.buy().await;
    assert_eq!(shop.tell("msg_1", &paid(&order.id)).await.body, "Shipped.");
    let shop = shop.restart().await;
    assert_eq!(shop.tell("msg_1", &paid(&order.id)).await.body, "Shipped before.");
    assert_eq!(shop.drill(&order, "shipments").await, "1");
}

#[tokio::test]
async fn fault_63_two_payments_of_one_order_are_one_shipment() {
    let (shop, bank) = TestShop::start_with_bank().await;
    let order = shop.buy().await;
    bank.enter(&order.id, "succeeded");
    bank.enter(&order.id, "succeeded");
    shop.tell("msg_1", &paid(&order.id)).await;
    shop.tell("msg_2", &paid(&order.id).replace("pi_1", "pi_2")).await;
    assert_eq!(shop.drill(&order, "charges").await, "2");
    assert_eq!(shop.drill(&order, "shipments").await, "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r20_webhooks_at_the_same_moment_in_two_processes_are_one_shipment() {
    let (shop, _) = TestShop::start_with_bank().await;
    let other = shop.second_process().await;
    for round in 0..10 {
        let order = shop.buy().await;
        let (same, another) = (format!("msg_{round}"), format!("msg_other_{round}"));
        let body = paid(&order.id);
        let answers = tokio::join!(
            shop.tell(&same, &body),
            other.tell(&same, &body),
            shop.tell(&another, &body),
            other.tell(&another, &body),
        );
        let said = [answers.0, answers.1, answers.2, answers.3].map(|answer| answer.body);
        assert_eq!(said.iter().filter(|words| *words == "Shipped.").count(), 1, "{said:?}");
        assert_eq!(said.iter().filter(|words| *words == "Shipped before.").count(), 3, "{said:?}");
    }
}

#[tokio::test]
async fn a_restart_forgets_nothing() {
    let shop = TestShop::start().await;
    let (paid_for, waiting) = (shop.buy().await, shop.buy().await);
    shop.tell("msg_1", &paid(&paid_for.id)).await;
    let shop = shop.restart().await;
    assert!(shop.has_shipped(&paid_for).await);
    assert!(!shop.has_shipped(&waiting).await);
    // The form is posted once more: the same order, the same key, the same request.
    let before = shop.api.opened().pop().unwrap();
    assert_eq!(shop.post("/shop/orders", &waiting.form).await.status, 303);
    let after = shop.api.opened().pop().unwrap();
    assert_eq!((before.key, before.body), (after.key, after.body));
}
