//! What must not be found: in the database (attacks 52, 53), in what the server logs, in what it answers.

use serde_json::json;

use crate::support::{
    ACCOUNT_SECRET, ALPHA, ALPHA_ID, ALPHA_LIVE, BETA, Child, DECLINED, GOOD, NOTIFY_SECRET, SMTP_PASSWORD,
    Sandbox, Setup, THREE_DS, WEBHOOK_KEY, WEBHOOK_PATH, World, client, order, text,
};

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn attacks_52_53_the_database_opens_no_door() {
    let webhook = Some(("http://127.0.0.1:9/hook".to_owned(), format!("whsec_{WEBHOOK_KEY}")));
    let world = World::with(Setup { webhook, ..Setup::default() }).await;
    let mut secrets: Vec<String> =
        [ALPHA, ALPHA_LIVE, BETA, ACCOUNT_SECRET, NOTIFY_SECRET, WEBHOOK_KEY].map(str::to_owned).into();
    let mut cards = Vec::new();
    for (order_id, card) in [("paid", GOOD), ("declined", DECLINED), ("challenged", THREE_DS)] {
        let checkout = world.checkout(order_id).await;
        let token = world.bank.token(card).await;
        world.submit(&checkout, &token).send().await.expect(200);
        world.submit(&checkout, &token).send().await.expect(200);
        world.open(&format!("open-{order_id}"), &order(order_id)).send().await.expect(201);
        world.get(&world.page(&checkout)).send().await.expect(200);
        let client_token = text(&checkout["client_token"]).to_owned();
        let (claims, tag) = client_token.strip_prefix("ct_").unwrap().split_once('.').unwrap();
        secrets.extend([claims.to_owned(), tag.to_owned(), client_token.clone(), token]);
        cards.push(card.to_owned());
    }
    let declined = world.shown(&world.open("open-declined", &order("declined")).send().await.json()).await;
    world.again(&declined, "again").send().await.expect(201);
    let kept = world.database_bytes();
    assert!(holds(&kept, "challenged") && holds(&kept, "mer_alpha"), "the search finds what is there");
    for secret in secrets.iter().chain(&cards) {
        assert!(!holds(&kept, secret), "{secret}");
    }
    assert!(!kept.windows(32).any(|window| window == crate::support::SECRET));
}

#[tokio::test]
async fn attack_52_no_secret_is_logged_however_much_is_logged() {
    let client = client();
    let bank = Sandbox::start(&client).await;
    let folder = tempfile::tempdir().unwrap();
    let child = Child::start(&client, &bank, folder.path(), "trace").await;
    let open =
        |key: &str, body| child.call("POST", "/v1/checkouts").bearer(ALPHA).key(key).json(&body).send();
    let checkout = open("key", order("logged-order")).await.expect(201).json();
    let mut card_in_text = order("2");
    card_in_text["description"] = json!("5555 5555 5555 4444");
    open("key-2", card_in_text).await.problem(422, "card_number_in_text");
    open("key-3", json!({ "5555555555554444": 1 })).await.problem(400, "invalid_json");
    child
        .call("GET", "/v1/checkouts/co_1")
        .bearer("sk_test_wrong_canary")
        .send()
        .await
        .problem(401, "unauthorized");
    let client_token = text(&checkout["client_token"]);
    let page = text(&checkout["url"]).split_once("/pay/").unwrap().1;
    for path in
        [format!("/pay/{page}"), format!("/pay/{}", page.replace('?', "/status?")), format!("/pay/{page}x")]
    {
        child.call("GET", &path).send().await;
    }
    for secret in [NOTIFY_SECRET, "notify_wrong_canary"] {
        let path = format!("/v1/webhooks/yookassa/{ALPHA_ID}/{secret}");
        child.call("POST", &path).json(&json!({ "type": "notification" })).send().await;
    }
    bank.fault(json!({ "kind": "garbage" })).await;
    bank.fault(json!({ "kind": "error_500_after" })).await;
    let card_token = bank.token(GOOD).await;
    let body = json!({
        "payment_method": { "type": "card_token", "token": card_token },
        "checkout_version": 1, "amount": checkout["amount"], "customer": { "email": "anna.canary@example.com" },
    });
    let intent = &checkout["payment_intent"];
    let path = format!("/v1/payment_intents/{}/submit", text(&intent["id"]));
    let submit =
        || child.call("POST", &path).bearer(client_token).key(text(&intent["submit_key"])).json(&body).send();
    submit().await.expect(202);
    crate::support::eventually("it is paid", || async { (submit().await.status == 200).then_some(()) }).await;
    let logged = || std::fs::read(folder.path().join("log")).unwrap();
    for effect in ["checkout.paid", "receipt"] {
        let told = "not delivered; it is tried again";
        crate::support::eventually(effect, || async {
            let text = String::from_utf8_lossy(&logged()).into_owned();
            text.lines().any(|line| line.contains(told) && line.contains(effect)).then_some(())
        })
        .await;
    }
    child.kill();
    let log = logged();
    assert!(holds(&log, "TRACE"), "there is a log");
    let (_, tag) = client_token.split_once('.').unwrap();
    let server_secret = "BwcHBwcHBwcHBwcH";
    for secret in [
        ALPHA,
        ACCOUNT_SECRET,
        client_token,
        tag,
        &card_token,
        "5555 5555 5555 4444",
        "5555555555554444",
        "sk_test_wrong_canary",
        NOTIFY_SECRET,
        "notify_wrong_canary",
        SMTP_PASSWORD,
        WEBHOOK_PATH,
        WEBHOOK_KEY,
        "anna.canary",
        "?token=",
        server_secret,
        "7, 7, 7, 7, 7",
    ] {
        assert!(!holds(&log, secret), "{secret} in the log of {} bytes", log.len());
    }
}
