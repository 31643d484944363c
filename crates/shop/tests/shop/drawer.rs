//! The drawer "what could go wrong": faults for the bank, and five numbers.

use axum::http::StatusCode;
use contract::{CheckoutStatus, IntentState};
use serde_json::json;

use crate::{
    fake_bank::FakeBank,
    signing::paid,
    support::{TestShop, nowhere},
};

const FIGURES: [&str; 5] = ["attempts", "operations", "charges", "mails", "shipments"];

#[tokio::test]
async fn without_a_bank_there_is_no_drawer_and_no_script() {
    let shop = TestShop::start().await;
    let order = shop.buy().await;
    for path in ["/shop", order.path.as_str()] {
        let page = shop.get(path, "en").await;
        assert!(!page.body.contains(r#"data-shop="drawer""#) && !page.body.contains("<script"), "{path}");
    }
    assert_eq!(shop.get(&format!("{}/live", order.path), "en").await.status, 404);
    let choice = "fault=fault-answer-lost";
    assert_eq!(shop.post(&format!("{}/faults", order.path), choice).await.status, 404);
}

#[tokio::test]
async fn a_fault_chosen_on_the_orders_page_is_set_for_this_order() {
    let (shop, bank) = TestShop::start_with_bank().await;
    let order = shop.buy().await;
    let answer = shop.post(&format!("{}/faults?lang=en", order.path), "fault=fault-answer-lost-twice").await;
    assert_eq!((answer.status, answer.location()), (303, format!("{}?lang=en", order.path).as_str()));
    let silence = json!({ "kind": "notify_never", "times": 1, "order_id": order.id });
    assert_eq!(bank.faults(), [silence, json!({ "kind": "lose_answer", "times": 2, "order_id": order.id })]);
    let page = shop.get(&order.path, "en").await;
    assert!(page.body.contains(r#"data-armed="lose_answer""#));
    // What waits for another order is not this one's affair.
    let other = shop.buy().await;
    assert!(!shop.get(&other.path, "en").await.body.contains("data-armed"));
}

#[tokio::test]
async fn a_fault_chosen_on_the_shelves_is_set_for_the_next_order_once() {
    let (shop, bank) = TestShop::start_with_bank().await;
    let page = shop.get("/shop?fault=fault-slow", "en").await;
    assert!(page.body.contains(r#"data-fault="fault-slow""#) && page.body.contains("takes 12 seconds"));
    let form = page.buy_form("bravo", 1);
    assert!(form.contains("&fault=fault-slow"));
    for _ in 0..2 {
        assert_eq!(shop.post("/shop/orders", &form).await.status, 303);
    }
    let order_id = shop.api.opened().pop().unwrap().body.unwrap().order_id;
    let expected = json!({ "kind": "delay", "times": 1, "order_id": order_id, "delay_ms": 12_000 });
    assert_eq!(bank.faults(), [expected]);
}

#[tokio::test]
async fn every_fault_on_offer_is_taken_by_the_form_and_said_in_both_languages() {
    let (shop, bank) = TestShop::start_with_bank().await;
    let order = shop.buy().await;
    let page = shop.get(&order.path, "ru").await;
    let offered = page.all_between(r#"name="fault" value=""#, '"');
    assert!(offered.len() > 10);
    for fault in &offered {
        let answer = shop.post(&format!("{}/faults", order.path), &format!("fault={fault}")).await;
        assert_eq!(answer.status, 303, "{fault}");
        assert!(!page.body.contains(&format!(">{fault}<")), "{fault} has no words");
    }
    assert_eq!(bank.faults().len(), offered.len() + 1, "the drill is two faults");
}

#[tokio::test]
async fn what_is_not_on_offer_is_refused_and_an_ended_order_offers_nothing() {
    let (shop, bank) = TestShop::start_with_bank().await;
    let order = shop.buy().await;
    for form in ["", "fault=", "fault=lose_answer", "fault=%3Cscript%3E"] {
        assert_eq!(shop.post(&format!("{}/faults", order.path), form).await.status, 400, "{form}");
    }
    let form = shop.form("bravo", 1).await;
    assert_eq!(shop.post("/shop/orders", &format!("{form}&fault=nonsense")).await.status, 400);
    assert_eq!(shop.post("/shop/orders/0000-0000-0000/faults", "fault=fault-slow").await.status, 404);
    assert!(bank.faults().is_empty());
    shop.api.set(contract::CheckoutStatus::Paid, contract::IntentState::Succeeded);
    assert!(!shop.get(&order.path, "ru").await.body.contains(r#"name="fault""#));
}

#[tokio::test]
async fn a_bank_that_takes_no_fault_is_told_and_the_order_can_be_paid_without() {
    let (shop, bank) = TestShop::start_with_bank().await;
    bank.is_obstinate();
    let form = shop.get("/shop?fault=fault-slow", "en").await.buy_form("bravo", 1);
    let answer = shop.post("/shop/orders?lang=en", &form).await;
    assert_eq!(answer.status, 502);
    assert!(answer.body.contains(r#"data-status="fault-not-set""#));
    assert!(shop.api.calls().is_empty());
    let path = answer.all_between(r#"class="main" href=""#, '"').remove(0);
    let page = shop.get(&path, "en").await;
    assert!(page.body.contains(r#"data-status="not-offered""#) && page.body.contains("Go to payment"));
}

#[tokio::test]
async fn the_five_numbers_come_from_whoever_knows_each_best() {
    let (shop, bank) = TestShop::start_with_bank().await;
    let (order, other) = (shop.buy().await, shop.buy().await);
    shop.api.sent(&order.id, &[("pi_1", "op_1", 0)]);
    assert_eq!(numbers(&shop, &order.path).await, ["0", "0", "0", "0", "0"]);

    shop.api.sent(&order.id, &[("pi_2", "op_2", 3), ("pi_1", "op_1", 2)]);
    bank.enter(&order.id, "succeeded");
    bank.enter(&order.id, "canceled");
    bank.enter(&order.id, "pending");
    bank.enter(&other.id, "succeeded");
    shop.put_mail("receipt.eml", &mail(&format!("Receipt for {}", order.id), "Thank you."));
    shop.put_mail("other.eml", &mail("Receipt", &format!("For order {}", other.id)));
    shop.tell("msg_1", &paid(&order.id)).await;
    assert_eq!(numbers(&shop, &order.path).await, ["5", "2", "1", "1", "1"]);
    assert_eq!(numbers(&shop, &format!("{}/live", order.path)).await, ["5", "2", "1", "1", "1"]);
}

/// A refusal at the bank sends nothing, charges nothing and ships nothing.
#[tokio::test]
async fn an_open_order_learns_how_it_stands_where_no_number_changes() {
    let (shop, _bank) = TestShop::start_with_bank().await;
    let order = shop.buy().await;
    let (live, mut seen) = (format!("{}/live", order.path), Vec::new());
    for state in [IntentState::RequiresAction, IntentState::Declined, IntentState::Expired] {
        shop.api.set(CheckoutStatus::Open, state);
        let page = shop.get(&order.path, "en").await;
        let now = shop.get(&live, "en").await.all_between(r#" data-standing=""#, '"').remove(0);
        assert_eq!(now, page.all_between(r#" data-status=""#, '"').remove(0), "what the script compares");
        assert_eq!(numbers(&shop, &live).await, numbers(&shop, &order.path).await);
        seen.push(now);
    }
    assert_eq!(seen, ["at-the-bank", "failed", "failed"]);
    let script = shop.get(&order.path, "en").await.body;
    assert!(script.contains("stands !== order?.dataset.status"), "and it does compare");
}

#[tokio::test]
async fn r20_the_drill_of_two_lost_answers_reads_3_1_1_1_1() {
    let (shop, bank) = TestShop::start_with_bank().await;
    let order = shop.buy().await;
    shop.api.sent(&order.id, &[("pi_1", "op_1", 3)]);
    bank.enter(&order.id, "succeeded");
    shop.put_mail("receipt.eml", &mail("Receipt", &format!("For order {}", order.id)));
    shop.tell("msg_1", &paid(&order.id)).await;
    shop.tell("msg_1", &paid(&order.id)).await;
    assert_eq!(numbers(&shop, &order.path).await, ["3", "1", "1", "1", "1"]);
}

#[tokio::test]
async fn a_number_that_cannot_be_learnt_is_a_dash_and_the_others_stand() {
    let shop = TestShop::start_before_bank(nowhere().await).await;
    let order = shop.buy().await;
    shop.api.sent(&order.id, &[("pi_1", "op_1", 1)]);
    shop.tell("msg_1", &paid(&order.id)).await;
    assert_eq!(numbers(&shop, &order.path).await, ["1", "1", "—", "0", "1"]);
    shop.api.refuse(Some((StatusCode::SERVICE_UNAVAILABLE, "unavailable")));
    assert_eq!(numbers(&shop, &order.path).await, ["—", "—", "—", "0", "1"]);
    assert!(shop.get(&order.path, "en").await.body.contains("The bank is not answering now"));
}

#[tokio::test]
async fn the_one_script_runs_by_a_nonce_of_its_page() {
    let (shop, _): (TestShop, FakeBank) = TestShop::start_with_bank().await;
    let order = shop.buy().await;
    let (first, second) = (shop.get(&order.path, "ru").await, shop.get(&order.path, "ru").await);
    let nonce = first.all_between(r#"<script nonce=""#, '"').remove(0);
    let policy = first.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.ends_with(&format!("script-src 'nonce-{nonce}'; connect-src 'self'")), "{policy}");
    assert_ne!(nonce, second.all_between(r#"<script nonce=""#, '"').remove(0));
    let live = shop.get(&format!("{}/live", order.path), "ru").await;
    assert!(!live.body.contains("<script") && !live.body.contains("<html"));
    assert!(!live.headers["content-security-policy"].to_str().unwrap().contains("script-src"));
    // Without scripts the same is a link away.
    assert!(first.body.contains(&format!(r#"<a href="{}">Обновить</a>"#, order.path)));
}

async fn numbers(shop: &TestShop, path: &str) -> [String; 5] {
    let page = shop.get(path, "en").await;
    assert_eq!(page.status, 200, "{path}");
    FIGURES.map(|name| page.all_between(&format!(r#"data-drill="{name}">"#), '<').remove(0))
}

fn mail(subject: &str, text: &str) -> String {
    format!("From: shop@example.com\r\nTo: anna@example.com\r\nSubject: {subject}\r\n\r\n{text}\r\n")
}
