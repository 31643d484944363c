//! What follows once from a payment, as those who get it see it: a merchant's endpoint, a mail server, a folder of mails.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use mail_parser::MessageParser;
use payment::{EffectKind, IntentId, MerchantId, Mode};
use payonce::config::{MailTransport, SecretText};
use serde_json::{Value, json};
use sha2::Sha256;
use store::{EffectRecord, EffectState, Outbox, Tenant};

use crate::support::{
    ALPHA_ID, Answers, Arrived, DECLINED, Endpoint, Fate, GOOD, MailServer, Reply, Setup, World, eventually,
    text,
};

pub(crate) const ADDRESS: &str = "anna.canary@example.com";
const KEY: &str = "C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

fn webhooks_to(endpoint: &Endpoint) -> Setup {
    Setup { webhook: Some((endpoint.url.clone(), format!("whsec_{KEY}"))), ..Setup::default() }
}

fn mails_by(server: &MailServer) -> Setup {
    Setup { mails: Some(MailTransport::Smtp(SecretText(server.url.clone()))), ..Setup::default() }
}

/// Standard Webhooks, by hand: `v1`, HMAC-SHA-256 over id, time and body.
fn signature(arrived: &Arrived) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(KEY).unwrap()).unwrap();
    mac.update(
        format!("{}.{}.", arrived.header("webhook-id"), arrived.header("webhook-timestamp")).as_bytes(),
    );
    mac.update(&arrived.body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

impl World {
    /// Pays with a card, leaving an address for the receipt.
    pub(crate) async fn pay_with_address(&self, checkout: &Value, card: &str) -> Reply {
        let token = self.bank.token(card).await;
        let intent = &checkout["payment_intent"];
        let body = json!({
            "payment_method": { "type": "card_token", "token": token },
            "checkout_version": checkout["version"], "amount": checkout["amount"],
            "customer": { "email": ADDRESS },
        });
        self.post(&format!("/v1/payment_intents/{}/submit", text(&intent["id"])))
            .bearer(text(&checkout["client_token"]))
            .key(text(&intent["submit_key"]))
            .json(&body)
            .send()
            .await
    }

    async fn effect(&self, checkout: &Value, kind: EffectKind) -> Option<EffectRecord> {
        let tenant = Tenant { merchant: MerchantId::parse(ALPHA_ID).unwrap(), mode: Mode::Test };
        let intent: IntentId = text(&checkout["payment_intent"]["id"]).parse().unwrap();
        let effects = self.store.effects(tenant, intent).await.unwrap();
        effects.into_iter().find(|effect| effect.kind == kind)
    }

    /// Waits until the delivery of an effect has come to this end.
    async fn effect_is(&self, checkout: &Value, kind: EffectKind, state: EffectState) -> EffectRecord {
        eventually(state.as_str(), || async {
            self.effect(checkout, kind).await.filter(|effect| effect.state == state)
        })
        .await
    }
}

#[tokio::test]
async fn r19_a_payment_is_told_by_one_signed_webhook() {
    let endpoint = Endpoint::start().await;
    let world = World::with(webhooks_to(&endpoint)).await;
    let mut body = crate::support::order("1");
    body["metadata"] = json!({ "cart": "7" });
    let checkout = world.open("key", &body).send().await.expect(201).json();
    world.pay(&checkout, GOOD).await.expect(200);
    let effect = world.effect_is(&checkout, EffectKind::CheckoutPaid, EffectState::Delivered).await;
    assert_eq!((effect.tries, effect.outcome.as_deref()), (1, Some("200")));
    let arrived = endpoint.arrived();
    assert_eq!(arrived.len(), 1);
    let webhook = &arrived[0];
    assert_eq!(webhook.header("webhook-id"), effect.id.to_string());
    assert_eq!(webhook.header("webhook-signature"), signature(webhook));
    assert_eq!(webhook.header("content-type"), "application/json");
    let at_s: i64 = webhook.header("webhook-timestamp").parse().unwrap();
    assert!((at_s * 1000).abs_diff(effect.created_at.0) < 10_000, "it says when it was sent, in seconds");
    let told: Value = serde_json::from_slice(&webhook.body).unwrap();
    assert_eq!(
        told,
        json!({
            "type": "checkout.paid",
            "timestamp": told["data"]["paid_at"],
            "data": {
                "id": checkout["id"], "object": "checkout", "status": "paid", "order_id": "1",
                "amount": { "value": "1500.00", "currency": "RUB" }, "metadata": { "cart": "7" },
                "payment_intent": { "id": checkout["payment_intent"]["id"], "state": "succeeded" },
                "paid_at": told["timestamp"],
            },
        })
    );
    assert!(!String::from_utf8_lossy(&webhook.body).contains("ct_"), "no token is given away");
}

#[tokio::test]
async fn fault_56_fault_58_a_webhook_that_was_refused_comes_again_under_its_id() {
    let endpoint = Endpoint::start().await;
    endpoint.next(&[Answers::Status(500), Answers::Status(404), Answers::Redirect]);
    let world = World::with(webhooks_to(&endpoint)).await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, GOOD).await.expect(200);
    let effect = world.effect_is(&checkout, EffectKind::CheckoutPaid, EffectState::Delivered).await;
    let arrived = endpoint.arrived();
    assert_eq!((arrived.len(), effect.tries), (4, 4));
    for webhook in &arrived {
        assert_eq!(webhook.path, "/hook", "attack 49: redirects are not followed");
        assert_eq!(
            (webhook.header("webhook-id"), &webhook.body),
            (arrived[0].header("webhook-id"), &arrived[0].body)
        );
        assert_eq!(webhook.header("webhook-signature"), signature(webhook));
    }
}

#[tokio::test]
async fn an_endpoint_that_is_gone_is_left_alone() {
    let endpoint = Endpoint::start().await;
    endpoint.next(&[Answers::Status(410)]);
    let world = World::with(webhooks_to(&endpoint)).await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, GOOD).await.expect(200);
    let effect = world.effect_is(&checkout, EffectKind::CheckoutPaid, EffectState::Abandoned).await;
    assert_eq!(effect.outcome.as_deref(), Some("410"));
}

#[tokio::test]
async fn attack_51_an_endless_answer_holds_up_nothing() {
    let endpoint = Endpoint::start().await;
    endpoint.next(&[Answers::Endless]);
    let world = World::with(webhooks_to(&endpoint)).await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, GOOD).await.expect(200);
    world.effect_is(&checkout, EffectKind::CheckoutPaid, EffectState::Delivered).await;
}

#[tokio::test]
async fn without_a_webhook_and_without_mails_nothing_waits() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.pay_with_address(&checkout, GOOD).await.expect(200);
    for kind in [EffectKind::CheckoutPaid, EffectKind::Receipt] {
        world.effect_is(&checkout, kind, EffectState::NotWanted).await;
    }
}

#[tokio::test]
async fn r20_a_payment_is_receipted_by_one_mail() {
    let server = MailServer::start().await;
    let world = World::with(mails_by(&server)).await;
    let checkout = world.checkout("order-7").await;
    world.pay_with_address(&checkout, GOOD).await.expect(200);
    let effect = world.effect_is(&checkout, EffectKind::Receipt, EffectState::Delivered).await;
    let letters = server.letters();
    assert_eq!(letters.len(), 1);
    assert_eq!(letters[0].to, ADDRESS);
    let mail = MessageParser::default().parse(letters[0].text.as_bytes()).unwrap();
    assert_eq!(mail.message_id(), Some(format!("{}@pay.example", effect.id).as_str()));
    assert_eq!(mail.subject(), Some("Заказ order-7 оплачен — Зерно & <b>Co</b>"));
    let from = mail.from().unwrap().first().unwrap();
    assert_eq!((from.name(), from.address()), (Some("Зерно & <b>Co</b>"), Some("mails@pay.example")));
    assert_eq!(mail.header_raw("Auto-Submitted").map(str::trim), Some("auto-generated"));
    assert_eq!(mail.header_raw("MIME-Version").map(str::trim), Some("1.0"));
    let words = mail.body_text(0).unwrap();
    for part in ["1\u{a0}500,00\u{a0}₽", "₽1,500.00", "Платить снова не нужно", "no need to pay again"]
    {
        assert!(words.contains(part), "{part} in {words}");
    }
    let link = words.lines().find(|line| line.starts_with(crate::support::PUBLIC_URL)).unwrap();
    let path = link.strip_prefix(crate::support::PUBLIC_URL).unwrap();
    assert!(path.contains("/status?token="), "{path}");
    world.get(path).send().await.expect(200);
}

#[tokio::test]
async fn what_was_unknown_and_took_no_money_is_explained_by_mail() {
    let server = MailServer::start().await;
    let world = World::with(mails_by(&server)).await;
    world.bank.fault(json!({ "kind": "error_500_after" })).await;
    let checkout = world.checkout("1").await;
    world.pay_with_address(&checkout, DECLINED).await.expect(202);
    world.effect_is(&checkout, EffectKind::ResultKnown, EffectState::Delivered).await;
    let letters = server.letters();
    assert_eq!(letters.len(), 1);
    let mail = MessageParser::default().parse(letters[0].text.as_bytes()).unwrap();
    let words = mail.body_text(0).unwrap();
    for part in ["Деньги не списаны", "No money was taken", "отклонил", "declined"] {
        assert!(words.contains(part), "{part} in {words}");
    }
    assert!(world.effect(&checkout, EffectKind::Receipt).await.is_none());
}

#[tokio::test]
async fn a_mail_that_was_refused_for_now_comes_again_and_one_refused_for_good_does_not() {
    let server = MailServer::start().await;
    let world = World::with(mails_by(&server)).await;
    server.next(&[Fate::Code(451)]);
    let now = world.checkout("1").await;
    world.pay_with_address(&now, GOOD).await.expect(200);
    let effect = world.effect_is(&now, EffectKind::Receipt, EffectState::Delivered).await;
    assert_eq!((effect.tries, server.letters().len()), (2, 1));
    server.next(&[Fate::Code(550)]);
    let never = world.checkout("2").await;
    world.pay_with_address(&never, GOOD).await.expect(200);
    let effect = world.effect_is(&never, EffectKind::Receipt, EffectState::Abandoned).await;
    assert_eq!(effect.outcome.as_deref(), Some("550"), "the server's words hold the address");
    assert_eq!(server.letters().len(), 1);
}

#[tokio::test]
async fn a_mail_server_that_dies_with_the_mail_in_hand_gets_it_once() {
    let server = MailServer::start().await;
    server.next(&[Fate::Silence]);
    let world = World::with(mails_by(&server)).await;
    let checkout = world.checkout("1").await;
    world.pay_with_address(&checkout, GOOD).await.expect(200);
    world.effect_is(&checkout, EffectKind::Receipt, EffectState::DeliveryUnknown).await;
    // A second one would be on its way by now, and be the first to arrive.
    let other = world.checkout("2").await;
    world.pay_with_address(&other, GOOD).await.expect(200);
    world.effect_is(&other, EffectKind::Receipt, EffectState::Delivered).await;
    assert_eq!(server.letters().len(), 2);
}

#[tokio::test]
async fn mails_can_be_kept_in_a_folder() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::with(Setup { mails: Some(MailTransport::Folder), ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    world.pay_with_address(&checkout, GOOD).await.expect(200);
    let effect = world.effect_is(&checkout, EffectKind::Receipt, EffectState::Delivered).await;
    let folder = world.folder.path().join("mails");
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files, [folder.join(format!("{}.eml", effect.id))]);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&files[0])), (0o700, 0o600));
    let mail = std::fs::read(&files[0]).unwrap();
    let mail = MessageParser::default().parse(&mail).unwrap();
    assert_eq!(mail.to().unwrap().first().unwrap().address(), Some(ADDRESS));
}

/// A merchant that hangs delays its own webhooks only.
#[tokio::test]
async fn a_mail_does_not_wait_for_an_endpoint() {
    let (server, closed) = (MailServer::start().await, "http://127.0.0.1:9/hook".to_owned());
    let setup = Setup { webhook: Some((closed, format!("whsec_{KEY}"))), ..mails_by(&server) };
    let world = World::with(setup).await;
    let checkout = world.checkout("1").await;
    world.pay_with_address(&checkout, GOOD).await.expect(200);
    world.effect_is(&checkout, EffectKind::Receipt, EffectState::Delivered).await;
    let waiting = world.effect(&checkout, EffectKind::CheckoutPaid).await.unwrap();
    assert_eq!((waiting.state, waiting.outcome.as_deref()), (EffectState::Waiting, Some("no connection")));
}
