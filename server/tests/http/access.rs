//! Who may see and do what: keys, tokens, other people's things (attacks 5–8, 22, 26).

use engine::{ClientToken, Vault};
use payment::{MerchantId, Mode};
use serde_json::json;
use store::Tenant;

use crate::support::{
    ALPHA, ALPHA_ID, ALPHA_LIVE, ALPHA_PUBLISHABLE, BETA, DECLINED, GOOD, SECRET, World, order, text,
};

/// Every route that takes credentials, with the ids of a checkout: (method, path, body).
fn routes(checkout: &serde_json::Value) -> Vec<(&'static str, String, Option<serde_json::Value>)> {
    let (id, intent) = (text(&checkout["id"]), text(&checkout["payment_intent"]["id"]));
    let submit = json!({
        "payment_method": { "type": "redirect" }, "checkout_version": checkout["version"], "amount": checkout["amount"],
    });
    vec![
        ("GET", format!("/v1/checkouts/{id}"), None),
        ("POST", format!("/v1/checkouts/{id}/payment_intents"), None),
        ("GET", format!("/v1/payment_intents/{intent}"), None),
        ("POST", format!("/v1/payment_intents/{intent}/check"), None),
        ("POST", format!("/v1/payment_intents/{intent}/release"), None),
        ("POST", format!("/v1/payment_intents/{intent}/submit"), Some(submit)),
    ]
}

/// Calls every such route.
async fn each(
    world: &World,
    checkout: &serde_json::Value,
    credential: Option<&str>,
) -> Vec<crate::support::Reply> {
    let mut replies = Vec::new();
    for (method, path, body) in routes(checkout) {
        let mut call = world.call(method, &path).key(text(&checkout["payment_intent"]["submit_key"]));
        if let Some(body) = body {
            call = call.json(&body);
        }
        if let Some(credential) = credential {
            call = call.bearer(credential);
        }
        replies.push(call.send().await);
    }
    replies
}

#[tokio::test]
async fn attacks_8_26_missing_unknown_and_forged_credentials_are_401() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let token = text(&checkout["client_token"]);
    let (claims, tag) = token.strip_prefix("ct_").unwrap().split_once('.').unwrap();
    let other = world.checkout("2").await;
    let (other_claims, other_tag) =
        text(&other["client_token"]).strip_prefix("ct_").unwrap().split_once('.').unwrap();
    let forged = [
        "sk_test_unknown".to_owned(),
        "ct_".to_owned(),
        "ct_.".to_owned(),
        format!("ct_{claims}."),
        format!("ct_{claims}.{other_tag}"),
        format!("ct_{other_claims}.{tag}"),
        format!("ct_{claims}.{}", tag.to_lowercase()),
        token[..token.len() - 2].to_owned(),
        format!("{token}A"),
        format!("{token}."),
        token.replace("ct_", "CT_"),
        " ".to_owned(),
        ALPHA.to_uppercase(),
        format!("{ALPHA}x"),
        ALPHA[..ALPHA.len() - 1].to_owned(),
    ];
    for credential in std::iter::once(None).chain(forged.iter().map(|text| Some(text.as_str()))) {
        for reply in each(&world, &checkout, credential).await {
            let problem = reply.problem(401, "unauthorized");
            assert_eq!(reply.header("WWW-Authenticate"), Some("Bearer"));
            assert!(credential.is_none_or(
                |credential| credential.trim().is_empty() || !problem.to_string().contains(credential)
            ));
        }
    }
    for scheme in ["Basic c2s6", "Bearer", "sk_test_alpha_canary"] {
        let call =
            world.get(&format!("/v1/checkouts/{}", text(&checkout["id"]))).header("Authorization", scheme);
        call.send().await.problem(401, "unauthorized");
    }
    assert!(world.bank.creates().await.is_empty());
}

#[tokio::test]
async fn a_token_signed_with_another_secret_is_forged() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let tenant = Tenant { merchant: MerchantId::parse(ALPHA_ID).unwrap(), mode: Mode::Test };
    let claims = |version| ClientToken {
        tenant: tenant.clone(),
        checkout: text(&checkout["id"]).parse().unwrap(),
        version,
    };
    assert_eq!(Vault::new(SECRET, None).client_token(&claims(1)), text(&checkout["client_token"]));
    let forged = Vault::new([8; 32], None).client_token(&claims(1));
    // Genuine, but of a generation that was revoked, or never was.
    let revoked = Vault::new(SECRET, None).client_token(&claims(0));
    let future = Vault::new(SECRET, None).client_token(&claims(2));
    for token in [forged, revoked, future] {
        for reply in each(&world, &checkout, Some(&token)).await {
            reply.problem(401, "unauthorized");
        }
        for path in ["", "/status"] {
            let page = world.get(&format!("/pay/{}{path}?token={token}", text(&checkout["id"]))).send().await;
            assert_eq!(page.status, 401);
        }
        let form = format!("previous={}", text(&checkout["payment_intent"]["id"]));
        let again = world.post(&format!("/pay/{}/again?token={token}", text(&checkout["id"])));
        assert_eq!(again.text("application/x-www-form-urlencoded", form).send().await.status, 401);
    }
}

#[tokio::test]
async fn attack_7_a_token_opens_its_own_checkout_only() {
    let world = World::start().await;
    let (mine, other) = (world.checkout("1").await, world.checkout("2").await);
    world.pay(&other, DECLINED).await.expect(200);
    let before = world.intent(&other["payment_intent"]["id"]).await;
    let token = text(&mine["client_token"]);
    for reply in each(&world, &other, Some(token)).await {
        reply.problem(404, "not_found");
    }
    for path in ["", "/status"] {
        let page = world.get(&format!("/pay/{}{path}?token={token}", text(&other["id"]))).send().await;
        assert_eq!(page.status, 404);
    }
    let form = format!("previous={}", text(&other["payment_intent"]["id"]));
    let again = world.post(&format!("/pay/{}/again?token={token}", text(&other["id"])));
    assert_eq!(again.text("application/x-www-form-urlencoded", form).send().await.status, 404);
    assert_eq!(world.intent(&other["payment_intent"]["id"]).await, before);
    assert_eq!(world.shown(&other).await["payment_intent"]["id"], other["payment_intent"]["id"]);
    // A token opens no merchant's door.
    let reply = world.post("/v1/checkouts").bearer(token).key("k").json(&order("3")).send().await;
    reply.problem(404, "not_found");
}

#[tokio::test]
async fn attack_6_anothers_things_look_as_if_there_were_none() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let mut missing = checkout.clone();
    missing["id"] = json!("co_00000000000000000000000000000000");
    missing["payment_intent"]["id"] = json!("pi_00000000000000000000000000000000");
    for secret in [BETA, ALPHA_LIVE] {
        let theirs = each(&world, &checkout, Some(secret)).await;
        let none = each(&world, &missing, Some(secret)).await;
        for (theirs, none) in theirs.iter().zip(&none) {
            let (mut theirs, mut none) = (theirs.problem(404, "not_found"), none.problem(404, "not_found"));
            theirs["request_id"].take();
            none["request_id"].take();
            assert_eq!(theirs, none);
        }
    }
    for id in [
        "co_",
        "pi_x",
        "co_0000000000000000000000000000000G",
        "CO_00000000000000000000000000000000",
        "%00",
        "1' OR '1'='1",
    ] {
        let id = id.replace(' ', "%20").replace('\'', "%27");
        for path in [format!("/v1/checkouts/{id}"), format!("/v1/payment_intents/{id}")] {
            world.get(&path).bearer(ALPHA).send().await.problem(404, "not_found");
        }
    }
    assert_eq!(world.intent(&checkout["payment_intent"]["id"]).await["state"], "created");
    assert!(world.bank.creates().await.is_empty());
}

#[tokio::test]
async fn attack_22_a_publishable_key_does_nothing_secret() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let create = world.post("/v1/checkouts").bearer(ALPHA_PUBLISHABLE).key("k").json(&order("2"));
    create.send().await.problem(403, "forbidden");
    for reply in each(&world, &checkout, Some(ALPHA_PUBLISHABLE)).await {
        reply.problem(403, "forbidden");
    }
}

#[tokio::test]
async fn r7_a_replay_asks_again_who_is_asking() {
    let world = World::start().await;
    let (mine, other) = (world.checkout("1").await, world.checkout("2").await);
    world.pay(&mine, GOOD).await.expect(200);
    let (first, second) = (world.checkout("3").await, world.checkout("4").await);
    world.pay(&first, DECLINED).await.expect(200);
    world.again(&first, "key").send().await.expect(201);
    // The right keys in the wrong hands.
    let mut stolen = mine.clone();
    stolen["client_token"] = other["client_token"].clone();
    world.submit(&stolen, "token").send().await.problem(404, "not_found");
    stolen["client_token"] = json!(BETA);
    world.submit(&stolen, "token").send().await.problem(404, "not_found");
    let mut stolen = first.clone();
    stolen["client_token"] = second["client_token"].clone();
    world.again(&stolen, "key").send().await.problem(404, "not_found");
    // The same key for a checkout of one's own shows nothing of the other.
    let reply = world.again(&second, "key").send().await;
    assert!(reply.status == 200 || reply.status == 422, "{reply:?}");
    assert!(!reply.text().contains(text(&first["id"])), "{reply:?}");
}
