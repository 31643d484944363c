//! Which webhooks are believed, and what is answered to the others.

use crate::{
    signing::{OTHER_SECRET, WEBHOOK_SECRET, headers, now_s, paid, signature},
    support::TestShop,
};

#[tokio::test]
async fn a_forged_webhook_is_refused_and_ships_nothing() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    let body = paid(&order.id);
    let at_s = now_s();
    let good = signature(WEBHOOK_SECRET, "msg_1", at_s, &body);
    for forged in [
        headers("msg_1", at_s, &signature(OTHER_SECRET, "msg_1", at_s, &body)),
        headers("msg_2", at_s, &good),
        headers("msg_1", at_s + 1, &good),
        headers("msg_1", at_s, &good.replace("v1,", "v2,")),
        headers("msg_1", at_s, "v1,"),
    ] {
        assert_eq!(shop.deliver(forged, &body).await.status, 401);
    }
    for missing in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        let mut lacking = headers("msg_1", at_s, &good);
        lacking.remove(missing);
        assert_eq!(shop.deliver(lacking, &body).await.status, 401, "{missing}");
    }
    let another = body.replace(&order.id, "0000-0000-0000");
    assert_eq!(shop.deliver(headers("msg_1", at_s, &good), &another).await.status, 401);
    assert!(!shop.has_shipped(&order).await);
    // The very same one ships when nothing about it was changed.
    assert_eq!(shop.deliver(headers("msg_1", at_s, &good), &body).await.status, 200);
    assert!(shop.has_shipped(&order).await);
}

#[tokio::test]
async fn an_old_webhook_is_refused_and_one_from_the_future_too() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    let body = paid(&order.id);
    for off_s in [-310, 310] {
        let at_s = now_s() + off_s;
        let signed = headers("msg_1", at_s, &signature(WEBHOOK_SECRET, "msg_1", at_s, &body));
        assert_eq!(shop.deliver(signed, &body).await.status, 401, "{off_s}");
    }
    assert!(!shop.has_shipped(&order).await);
}

#[tokio::test]
async fn while_the_secret_changes_one_of_several_signatures_is_enough() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    let (body, at_s) = (paid(&order.id), now_s());
    let both = [OTHER_SECRET, WEBHOOK_SECRET].map(|secret| signature(secret, "msg_1", at_s, &body)).join(" ");
    assert_eq!(shop.deliver(headers("msg_1", at_s, &both), &body).await.status, 200);
    assert!(shop.has_shipped(&order).await);
}

#[tokio::test]
async fn other_types_are_taken_and_ignored() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    let refunded = paid(&order.id).replace("checkout.paid", "refund.succeeded");
    assert_eq!(shop.tell("msg_1", &refunded).await.status, 200);
    assert_eq!(shop.tell("msg_2", r#"{"type":"new","data":null}"#).await.status, 200);
    assert!(!shop.has_shipped(&order).await);
}

#[tokio::test]
async fn an_unknown_order_is_404_and_the_same_webhook_ships_it_later() {
    let (first, second) = (TestShop::start().await, TestShop::start().await);
    let order = first.buy().await;
    let answer = second.tell("msg_1", &paid(&order.id)).await;
    assert_eq!(answer.status, 404);
    assert!(answer.body.contains("no such order"), "{}", answer.body);
    second.post("/shop/orders", &order.form).await;
    assert_eq!(second.tell("msg_1", &paid(&order.id)).await.status, 200);
    assert!(second.has_shipped(&order).await);
}

#[tokio::test]
async fn another_sum_than_the_orders_ships_nothing_and_does_not_use_up_the_webhook() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    for wrong in [
        paid(&order.id).replace("1500.00", "1.00"),
        paid(&order.id).replace("RUB", "USD"),
        paid(&order.id).replace(r#""status":"paid""#, r#""status":"open""#),
    ] {
        assert_eq!(shop.tell("msg_1", &wrong).await.status, 422, "{wrong}");
        assert!(!shop.has_shipped(&order).await);
    }
    assert_eq!(shop.tell("msg_1", &paid(&order.id)).await.status, 200);
    assert!(shop.has_shipped(&order).await);
}

#[tokio::test]
async fn a_signed_body_that_makes_no_sense_is_422_and_too_long_a_one_413() {
    let shop = TestShop::start().await;
    for body in ["", "{", "[]", r#"{"type":"checkout.paid","data":{}}"#, r#"{"type":"checkout.paid"}"#] {
        assert_eq!(shop.tell("msg_1", body).await.status, 422, "{body}");
    }
    assert_eq!(shop.tell("msg_1", &"x".repeat(65 * 1024)).await.status, 413);
}
