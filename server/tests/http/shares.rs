//! One merchant's provider or endpoint hangs, with more of its work due than the server does at once: nobody else waits for it.

use std::sync::Arc;

use engine::Seal;
use payment::{MerchantId, Mode};
use serde_json::json;
use sha2::{Digest, Sha256};
use store::{ApiKeyKind, Directory, MerchantRecord, Tenant, WebhookRecord};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Mutex, watch},
};

use crate::support::{BETA, Endpoint, GOOD, Setup, World, at_once, eventually, order};

/// More than twice what is worked on at once.
const MANY: usize = 150;
/// What one merchant may have in work of 64.
const SHARE: usize = 32;

/// What webhooks are signed with.
const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// Closes every connection, until it is told to hang: then it keeps them and says nothing.
struct Hanging {
    url: String,
    hangs: watch::Sender<bool>,
    kept: Arc<Mutex<Vec<TcpStream>>>,
}

impl Hanging {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (hangs, told) = watch::channel(false);
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keeps = Arc::clone(&kept);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                if *told.borrow() {
                    keeps.lock().await.push(connection);
                }
            }
        });
        Self { url, hangs, kept }
    }

    /// Hangs from now on; waits until it keeps a merchant's share.
    async fn hang(&self) {
        self.hangs.send_replace(true);
        eventually("as many wait as may", || async { (self.kept.lock().await.len() >= SHARE).then_some(()) })
            .await;
    }
}

impl World {
    async fn change_beta(&self, change: impl FnOnce(MerchantRecord) -> MerchantRecord) {
        let tenant = Tenant { merchant: MerchantId::parse("mer_beta").unwrap(), mode: Mode::Test };
        let beta = self.store.merchant(&tenant).await.unwrap().unwrap();
        let key = (Sha256::digest(BETA).into(), ApiKeyKind::Secret);
        self.store.put_merchant(change(beta), vec![key]).await.unwrap();
    }

    /// Many shoppers pay merchant beta.
    async fn many_pay_beta(&self) {
        let mut pays = Vec::new();
        for number in 0..MANY {
            let opened = self.post("/v1/checkouts").bearer(BETA).key(&format!("beta-{number}"));
            let checkout = opened.json(&order(&number.to_string())).send().await.expect(201).json();
            pays.push(self.submit(&checkout, &self.bank.token(GOOD).await));
        }
        for reply in at_once(pays.into_iter().map(|pay| async move { pay.send().await })).await {
            assert!([200, 202].contains(&reply.status), "{reply:?}");
        }
    }
}

#[tokio::test]
async fn fault_33_a_merchants_hanging_provider_holds_up_nobody_elses_recovery() {
    let world = World::start().await;
    let provider = Hanging::start().await;
    world.change_beta(|beta| MerchantRecord { url: provider.url.clone(), ..beta }).await;
    world.many_pay_beta().await;
    provider.hang().await;
    let checkout = world.checkout("alpha").await;
    world.bank.fault(json!({ "kind": "lose_answer" })).await;
    world.pay(&checkout, GOOD).await.expect(202);
    world.reaches(&checkout, "succeeded").await;
    assert_eq!(world.bank.charges("alpha").await, 1);
}

#[tokio::test]
async fn fault_33_a_merchants_hanging_endpoint_holds_up_nobody_elses_webhooks() {
    let endpoint = Endpoint::start().await;
    let world =
        World::with(Setup { webhook: Some((endpoint.url.clone(), SECRET.to_owned())), ..Setup::default() })
            .await;
    let hanging = Hanging::start().await;
    world
        .change_beta(|beta| {
            let (vault, seal) = (&world.engine.vault, Seal::webhook(&beta.tenant));
            let sealed_secret = vault.seal(SECRET.as_bytes(), &seal, [1; 24]);
            MerchantRecord {
                webhook: Some(WebhookRecord { url: hanging.url.clone(), sealed_secret }),
                ..beta
            }
        })
        .await;
    hanging.hangs.send_replace(true);
    world.many_pay_beta().await;
    hanging.hang().await;
    let checkout = world.checkout("alpha").await;
    world.pay(&checkout, GOOD).await.expect(200);
    eventually("alpha's webhook", || async { (!endpoint.arrived().is_empty()).then_some(()) }).await;
}
