//! What the engine is given besides store and bank: a directory of merchants, ids that repeat from run to run, plain answers.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use engine::{Answers, Ids, Seal, Vault};
use payment::{
    AttemptId, CheckoutId, IntentId, MerchantId, Mode, OperationId, ProviderAccount, ProviderKey, SubmitKey,
};
use store::{
    Answer, ApiKeyKind, Caller, CheckoutRecord, Directory, IntentRecord, MerchantRecord, NewIds, StoreError,
    Tenant, WebhookRecord,
};
use uuid::Uuid;

pub const ACCOUNT: &str = "100500";
/// The second merchant's.
pub const OTHER_ACCOUNT: &str = "100501";
pub const WEBHOOK_URL: &str = "https://shop.example/hook";
pub const WEBHOOK_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
pub const URL: &str = "https://bank.example";

pub fn tenant() -> Tenant {
    tenant_of("mer_1")
}

pub fn tenant_of(merchant: &str) -> Tenant {
    Tenant { merchant: MerchantId::parse(merchant).unwrap(), mode: Mode::Test }
}

/// The secret that the bank knows an account by.
pub fn secret_of(account: &str) -> String {
    format!("secret of {account}")
}

/// A merchant whose money goes to `account`, its secret sealed by `vault`.
pub fn merchant(tenant: Tenant, account: &str, secret: &str, vault: &Vault) -> MerchantRecord {
    let sealed_secret = vault.seal(WEBHOOK_SECRET.as_bytes(), &Seal::webhook(&tenant), [8; 24]);
    let webhook = WebhookRecord { url: WEBHOOK_URL.into(), sealed_secret };
    MerchantRecord {
        sealed_secret: vault.seal(secret.as_bytes(), &Seal::credentials(&tenant), [7; 24]),
        tenant,
        name: "Zerno".into(),
        provider: "fake".into(),
        account: ProviderAccount::parse(account).unwrap(),
        url: URL.into(),
        return_origins: Vec::new(),
        frame_origins: Vec::new(),
        refund_extras: false,
        webhook: Some(webhook),
        notify_secret_hash: None,
    }
}

/// Merchants in memory.
#[derive(Default)]
pub struct Merchants {
    all: Mutex<BTreeMap<Tenant, MerchantRecord>>,
    busy: AtomicBool,
    /// What the next look finds in place of what is there.
    stale: Mutex<Option<MerchantRecord>>,
}

impl Merchants {
    pub fn put(&self, merchant: MerchantRecord) {
        self.all.lock().unwrap().insert(merchant.tenant.clone(), merchant);
    }

    /// Whether nobody is found, from now on: the database is busy.
    pub fn is_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::SeqCst);
    }

    /// Somebody looked just before the directory changed: the next look finds him still.
    pub fn was(&self, merchant: MerchantRecord) {
        *self.stale.lock().unwrap() = Some(merchant);
    }

    pub fn remove(&self, tenant: &Tenant) {
        self.all.lock().unwrap().remove(tenant);
    }
}

#[async_trait]
impl Directory for Merchants {
    async fn put_merchant(
        &self,
        merchant: MerchantRecord,
        _: Vec<([u8; 32], ApiKeyKind)>,
    ) -> Result<(), StoreError> {
        self.put(merchant);
        Ok(())
    }

    async fn merchant(&self, tenant: &Tenant) -> Result<Option<MerchantRecord>, StoreError> {
        if self.busy.load(Ordering::SeqCst) {
            return Err(StoreError::Busy(None));
        }
        if let Some(stale) = self.stale.lock().unwrap().take_if(|stale| stale.tenant == *tenant) {
            return Ok(Some(stale));
        }
        Ok(self.all.lock().unwrap().get(tenant).cloned())
    }

    async fn merchants(&self) -> Result<Vec<MerchantRecord>, StoreError> {
        Ok(self.all.lock().unwrap().values().cloned().collect())
    }

    async fn caller(&self, _: [u8; 32]) -> Result<Option<Caller>, StoreError> {
        Ok(None)
    }
}

/// Ids that count.
#[derive(Default)]
pub struct CountingIds(AtomicU64);

impl CountingIds {
    pub fn uuid(&self) -> Uuid {
        let next = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        Uuid::from_u128(0x0190_0000_0000_4000_8000_0000_0000_0000 | u128::from(next))
    }
}

impl Ids for CountingIds {
    fn new_ids(&self) -> NewIds {
        NewIds {
            checkout: CheckoutId(self.uuid()),
            intent: IntentId(self.uuid()),
            operation: OperationId(self.uuid()),
            submit_key: SubmitKey(self.uuid()),
            provider_key: ProviderKey(self.uuid()),
        }
    }

    fn attempt(&self) -> AttemptId {
        AttemptId(self.uuid())
    }

    /// Waits are as long as they can be: the jitter itself is proved where it lives.
    fn random(&self) -> u64 {
        19_200_000 - 1
    }

    fn nonce(&self) -> [u8; 24] {
        let mut nonce = [0; 24];
        nonce[..16].copy_from_slice(self.uuid().as_bytes());
        nonce
    }
}

/// Answers that tell what they were written from.
pub struct PlainAnswers;

impl Answers for PlainAnswers {
    fn checkout(&self, status: u16, checkout: &CheckoutRecord, intent: &IntentRecord, token: &str) -> Answer {
        let amount = checkout.amount;
        let body = format!("{} {amount} {} {} {token}", checkout.id, intent.id, intent.submit_key);
        Answer { status, location: Some(format!("/v1/checkouts/{}", checkout.id)), body: body.into_bytes() }
    }

    fn intent(&self, status: u16, _: &CheckoutRecord, intent: &IntentRecord) -> Answer {
        let body = format!("{} {:?} {} {:?}", intent.id, intent.state, intent.amount, intent.paid_with);
        Answer { status, location: None, body: body.into_bytes() }
    }
}
