//! The page on which the payer decides.

use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::support::{CHALLENGE_CARD, GOOD_CARD, HOUR, TestBank, id, payment};

const BACK: &str = "https://shop.example/back?a=1";

async fn decide(bank: &TestBank, payment: &Value, decision: &str) -> Response {
    let url = payment["confirmation"]["confirmation_url"].as_str().unwrap();
    bank.client.post(url).form(&[("decision", decision)]).send().await.unwrap()
}

fn assert_back(answer: &Response) {
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()["location"], BACK);
}

async fn state(bank: &TestBank, payment: &Value) -> Value {
    bank.get(&format!("/v3/payments/{}", id(payment))).await.ok()
}

#[tokio::test]
async fn n4_the_payer_confirms_refuses_or_leaves() {
    let bank = TestBank::start().await;
    let pending = bank.pay("1", CHALLENGE_CARD).await;
    let url = format!("{}/confirm/{}", bank.url, id(&pending));
    let expected = json!({ "type": "redirect", "confirmation_url": url, "return_url": BACK });
    assert_eq!(pending["confirmation"], expected);

    assert_back(&decide(&bank, &pending, "leave").await);
    assert_eq!(state(&bank, &pending).await, pending);
    assert_back(&decide(&bank, &pending, "confirm").await);
    let paid = state(&bank, &pending).await;
    assert_eq!((&paid["status"], &paid["paid"]), (&json!("succeeded"), &json!(true)));
    assert_eq!(paid.get("confirmation"), None);

    let refused = bank.pay("2", CHALLENGE_CARD).await;
    assert_back(&decide(&bank, &refused, "refuse").await);
    let refused = state(&bank, &refused).await;
    assert_eq!(refused["status"], "canceled");
    let details = json!({ "party": "payment_network", "reason": "3d_secure_failed" });
    assert_eq!(refused["cancellation_details"], details);
}

#[tokio::test]
async fn a_decision_is_made_once() {
    let bank = TestBank::start().await;
    let pending = bank.pay("key", CHALLENGE_CARD).await;
    decide(&bank, &pending, "refuse").await;
    let refused = state(&bank, &pending).await;
    assert_back(&decide(&bank, &pending, "confirm").await);
    assert_eq!(state(&bank, &pending).await, refused);
    let late = bank.pay("late", CHALLENGE_CARD).await;
    bank.advance(HOUR);
    decide(&bank, &late, "confirm").await;
    assert_eq!(state(&bank, &late).await["cancellation_details"]["reason"], "expired_on_confirmation");
    assert_eq!(bank.charges().await, 0);
}

#[tokio::test]
async fn a_confirmed_hold_waits_for_its_capture() {
    let bank = TestBank::start().await;
    let mut body = payment(&bank.token(CHALLENGE_CARD).await);
    body["capture"] = json!(false);
    let pending = bank.post("/v3/payments", "key", &body).await.ok();
    decide(&bank, &pending, "confirm").await;
    assert_eq!(state(&bank, &pending).await["status"], "waiting_for_capture");
}

#[tokio::test]
async fn a_payer_without_a_token_chooses_a_card_on_the_page() {
    let bank = TestBank::start().await;
    let mut body = payment("");
    body.as_object_mut().unwrap().remove("payment_token");
    let pending = bank.post("/v3/payments", "key", &body).await.ok();
    assert_eq!((&pending["status"], pending.get("payment_method")), (&json!("pending"), None));
    decide(&bank, &pending, "confirm").await;
    let paid = state(&bank, &pending).await;
    assert_eq!(paid["status"], "succeeded");
    assert_eq!(paid["payment_method"]["card"]["last4"], "4444");
}

#[tokio::test]
async fn the_page_speaks_the_payers_language_and_changes_nothing() {
    let bank = TestBank::start().await;
    let mut body = payment(&bank.token(CHALLENGE_CARD).await);
    body["description"] = json!("<script>alert(1)</script>");
    let pending = bank.post("/v3/payments", "key", &body).await.ok();
    let url = pending["confirmation"]["confirmation_url"].as_str().unwrap();
    for (accepted, lang, word) in [
        ("ru-RU,ru;q=0.9,en;q=0.8", "ru", "Подтвердить"),
        ("de,en;q=0.5", "en", "Refuse"),
        ("", "en", "Leave"),
    ] {
        let page = bank.client.get(url).header("Accept-Language", accepted).send().await.unwrap();
        assert_eq!(page.status(), 200);
        assert!(
            page.headers()["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'")
        );
        let html = page.text().await.unwrap();
        assert!(html.contains(&format!("<html lang=\"{lang}\">")) && html.contains(word), "{html}");
        let sum = if lang == "ru" { "1\u{a0}500,00\u{a0}₽" } else { "RUB\u{a0}1,500.00" };
        assert!(html.contains(sum) && html.contains("•••• 4477"), "{html}");
        assert!(!html.contains("<script"), "{html}");
    }
    assert_eq!(state(&bank, &pending).await, pending);
    let none = bank.client.get(format!("{}/confirm/none", bank.url)).send().await.unwrap();
    assert_eq!(none.status(), 404);
}

#[tokio::test]
async fn without_a_return_address_the_page_says_what_became_of_the_payment() {
    let bank = TestBank::start().await;
    let mut body = payment(&bank.token(CHALLENGE_CARD).await);
    body.as_object_mut().unwrap().remove("confirmation");
    let pending = bank.post("/v3/payments", "key", &body).await.ok();
    let answer = decide(&bank, &pending, "confirm").await;
    assert_eq!(answer.status(), 200);
    assert!(answer.text().await.unwrap().contains("The payment went through."));
}

#[tokio::test]
async fn links_begin_with_the_public_address() {
    let bank = TestBank::with(|config| config.public_url = Some("https://bank.example".to_owned())).await;
    let pending = bank.pay("key", CHALLENGE_CARD).await;
    let url = format!("https://bank.example/confirm/{}", id(&pending));
    assert_eq!(pending["confirmation"]["confirmation_url"], url);
    assert_eq!(bank.pay("2", GOOD_CARD).await.get("confirmation"), None);
}
