//! Tokens and what each card stands for.

use reqwest::Method;
use serde_json::json;

use crate::support::{CHALLENGE_CARD, GOOD_CARD, HOUR, TestBank, card, payment};

#[tokio::test]
async fn each_card_has_its_outcome() {
    let bank = TestBank::start().await;
    let outcomes = [
        (GOOD_CARD, "succeeded", None, "MasterCard"),
        ("4111111111111111", "succeeded", None, "Visa"),
        ("2200000000000004", "succeeded", None, "Mir"),
        (CHALLENGE_CARD, "pending", None, "MasterCard"),
        ("5555555555554600", "canceled", Some("insufficient_funds"), "MasterCard"),
        ("5555555555554592", "canceled", Some("expired_card"), "MasterCard"),
        ("5555555555554535", "canceled", Some("general_decline"), "MasterCard"),
        ("4242424242424242", "canceled", Some("general_decline"), "Visa"),
        ("6011000990139424", "canceled", Some("general_decline"), "Unknown"),
    ];
    for (number, status, reason, card_type) in outcomes {
        let paid = bank.pay(number, number).await;
        assert_eq!(paid["status"], status, "{number}");
        assert_eq!(paid["paid"], status == "succeeded", "{number}");
        assert_eq!(paid["cancellation_details"]["reason"].as_str(), reason, "{number}");
        let shown = &paid["payment_method"]["card"];
        assert_eq!(shown["first6"], number[..6], "{number}");
        assert_eq!(shown["last4"], number[12..], "{number}");
        assert_eq!(shown["card_type"], card_type, "{number}");
    }
    assert_eq!(bank.charges().await, 3);
}

#[tokio::test]
async fn a_wrong_card_makes_no_token_and_the_answer_says_which_field() {
    let bank = TestBank::start().await;
    let wrong = [
        ("number", json!("5555555555554445"), "card.number"),
        ("number", json!("5555 5555 5555 4444"), "card.number"),
        ("number", json!("0"), "card.number"),
        ("number", json!(5555555555554444_u64), "card.number"),
        ("expiry_month", json!("13"), "card.expiry_month"),
        ("expiry_year", json!("30"), "card.expiry_month"),
        ("expiry_year", json!("2025"), "card.expiry_year"),
        ("cvc", json!("12"), "card.cvc"),
        ("cvc", json!("12a"), "card.cvc"),
        ("cvc", json!(null), "card.cvc"),
    ];
    for (field, value, parameter) in wrong {
        let mut card = card(GOOD_CARD);
        card[field] = value;
        bank.tokenise(&card).await.refused(400, "invalid_request", parameter);
    }
}

#[tokio::test]
async fn a_card_is_good_until_its_month_is_over() {
    let bank = TestBank::start().await;
    let mut this_month = card(GOOD_CARD);
    (this_month["expiry_month"], this_month["expiry_year"]) = (json!("3"), json!("2026"));
    assert_eq!(bank.tokenise(&this_month).await.status, 200);
    bank.advance(HOUR * 24 * 31);
    bank.tokenise(&this_month).await.refused(400, "invalid_request", "card.expiry_year");
}

#[tokio::test]
async fn a_token_pays_once() {
    let bank = TestBank::start().await;
    let body = payment(&bank.token(GOOD_CARD).await);
    bank.post("/v3/payments", "first", &body).await.ok();
    bank.post("/v3/payments", "second", &body).await.refused(400, "invalid_request", "payment_token");
    bank.post("/v3/payments", "third", &payment("tok_none")).await.refused(
        400,
        "invalid_request",
        "payment_token",
    );
    assert_eq!(bank.charges().await, 1);
}

#[tokio::test]
async fn a_declined_payment_uses_its_token_up() {
    let bank = TestBank::start().await;
    let body = payment(&bank.token("5555555555554600").await);
    bank.post("/v3/payments", "first", &body).await.ok();
    bank.post("/v3/payments", "second", &body).await.refused(400, "invalid_request", "payment_token");
}

#[tokio::test]
async fn a_refused_request_leaves_the_token_and_the_key_as_they_were() {
    let bank = TestBank::start().await;
    let good = payment(&bank.token(GOOD_CARD).await);
    let mut bad = good.clone();
    bad["amount"]["value"] = json!("0.00");
    bank.post("/v3/payments", "key", &bad).await.refused(400, "invalid_request", "amount.value");
    bank.post("/v3/payments", "key", &good).await.ok();
    assert_eq!(bank.charges().await, 1);
}

#[tokio::test]
async fn a_token_dies_after_an_hour() {
    let bank = TestBank::start().await;
    let (in_time, late) = (bank.token(GOOD_CARD).await, bank.token(GOOD_CARD).await);
    bank.advance(HOUR - std::time::Duration::from_millis(1));
    bank.post("/v3/payments", "1", &payment(&in_time)).await.ok();
    bank.advance(std::time::Duration::from_millis(1));
    bank.post("/v3/payments", "2", &payment(&late)).await.refused(400, "invalid_request", "payment_token");
}

#[tokio::test]
async fn a_browser_on_any_page_may_make_a_token() {
    let bank = TestBank::start().await;
    let url = format!("{}/v3/tokens", bank.url);
    let preflight = bank
        .client
        .request(Method::OPTIONS, &url)
        .header("Origin", "https://shop.example")
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "content-type")
        .send()
        .await
        .unwrap();
    assert_eq!(preflight.status(), 204);
    assert_eq!(preflight.headers()["access-control-allow-origin"], "*");
    assert_eq!(preflight.headers()["access-control-allow-methods"], "POST");
    assert_eq!(preflight.headers()["access-control-allow-headers"], "content-type");
    for body in [json!({ "card": card(GOOD_CARD) }), json!({})] {
        let answer = bank.client.post(&url).json(&body).send().await.unwrap();
        assert_eq!(answer.headers()["access-control-allow-origin"], "*");
    }
}

#[tokio::test]
async fn the_ledger_holds_no_card_number_and_no_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank.db");
    let bank = TestBank::on_file(&path).await;
    let mut secret = card(GOOD_CARD);
    secret["cvc"] = json!("7391");
    bank.tokenise(&secret).await.ok();
    bank.pay("key", GOOD_CARD).await;
    let ledger = bank.ledger().await.to_string();
    bank.stop().await;
    let mut kept = ledger.into_bytes();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        kept.extend(std::fs::read(entry.unwrap().path()).unwrap());
    }
    let holds = |needle: &[u8]| kept.windows(needle.len()).any(|window| window == needle);
    assert!(!holds(GOOD_CARD.as_bytes()) && !holds(b"7391"));
    assert!(holds(b"4444"), "the search itself works");
}
