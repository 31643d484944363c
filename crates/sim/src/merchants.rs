//! The merchants of every world: who they are, and what their secrets are sealed with.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use engine::{Seal, Vault};
use payment::{MerchantId, Mode, ProviderAccount};
use store::{ApiKeyKind, Caller, Directory, MerchantRecord, StoreError, Tenant, WebhookRecord};

use crate::size::Size;

/// Where the merchant's money goes.
pub const ACCOUNT: &str = "100500";

/// Where it goes after a change.
pub const OTHER_ACCOUNT: &str = "100501";

/// Where the second merchant's money goes, unless both have one account.
pub const SECOND_ACCOUNT: &str = "200500";

/// A merchant of a world.
pub fn tenant(number: usize) -> Tenant {
    let merchant = MerchantId::parse(["mer_1", "mer_2"][number]);
    Tenant { merchant: merchant.unwrap_or_else(|_| unreachable!("a short word")), mode: Mode::Test }
}

/// Account number, as it is written down.
pub fn account(id: &str) -> ProviderAccount {
    ProviderAccount::parse(id).unwrap_or_else(|_| unreachable!("digits"))
}

fn merchant(vault: &Vault, tenant: Tenant, id: &str) -> MerchantRecord {
    let sealed_secret =
        vault.seal(b"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", &Seal::webhook(&tenant), [8; 24]);
    MerchantRecord {
        sealed_secret: vault.seal(b"a secret", &Seal::credentials(&tenant), [7; 24]),
        tenant,
        name: "Zerno".to_owned(),
        provider: "bank".to_owned(),
        account: account(id),
        url: "https://bank.example".to_owned(),
        return_origins: Vec::new(),
        frame_origins: Vec::new(),
        refund_extras: false,
        webhook: Some(WebhookRecord { url: "https://shop.example/hook".to_owned(), sealed_secret }),
        notify_secret_hash: None,
    }
}

/// The vault, and the merchants of a world as it knows them: sealed once, since a history is short.
pub fn all(size: &Size) -> (Arc<Vault>, Merchants) {
    static SEALED: OnceLock<(Arc<Vault>, [MerchantRecord; 2])> = OnceLock::new();
    let (vault, both) = SEALED.get_or_init(|| {
        let vault = Arc::new(Vault::new([1; 32], None));
        let both = [merchant(&vault, tenant(0), ACCOUNT), merchant(&vault, tenant(1), SECOND_ACCOUNT)];
        (vault, both)
    });
    let refund_extras = size.refund_extras;
    let mut merchants: Vec<_> =
        both[..size.merchants].iter().map(|one| MerchantRecord { refund_extras, ..one.clone() }).collect();
    if size.shared {
        merchants.iter_mut().for_each(|one| one.account = account(ACCOUNT));
    }
    (Arc::clone(vault), Merchants::new(merchants))
}

/// The merchants, as every server knows them.
#[derive(Clone, Default)]
pub struct Merchants(Arc<Mutex<Vec<MerchantRecord>>>);

impl Merchants {
    /// These are all.
    pub fn new(merchants: Vec<MerchantRecord>) -> Self {
        Self(Arc::new(Mutex::new(merchants)))
    }

    /// The first one's money goes to another account from now on, or to his first one again.
    pub fn change_account(&self) {
        if let Some(merchant) = self.0.lock().unwrap_or_else(PoisonError::into_inner).first_mut() {
            let other = if merchant.account.as_str() == ACCOUNT { OTHER_ACCOUNT } else { ACCOUNT };
            merchant.account = account(other);
        }
    }

    /// The account that a merchant's money goes to now.
    pub fn account_of(&self, tenant: &Tenant) -> String {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|merchant| merchant.tenant == *tenant);
        found.map(|merchant| merchant.account.as_str().to_owned()).unwrap_or_default()
    }

    /// A copy of all.
    pub fn all(&self) -> Vec<MerchantRecord> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Directory for Merchants {
    async fn put_merchant(
        &self,
        merchant: MerchantRecord,
        _: Vec<([u8; 32], ApiKeyKind)>,
    ) -> Result<(), StoreError> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.tenant != merchant.tenant);
        all.push(merchant);
        Ok(())
    }

    async fn merchant(&self, tenant: &Tenant) -> Result<Option<MerchantRecord>, StoreError> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(all.iter().find(|merchant| merchant.tenant == *tenant).cloned())
    }

    async fn merchants(&self) -> Result<Vec<MerchantRecord>, StoreError> {
        Ok(self.all())
    }

    async fn caller(&self, _: [u8; 32]) -> Result<Option<Caller>, StoreError> {
        Ok(None)
    }
}
