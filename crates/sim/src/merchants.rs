//! The merchants of every world: who they are, and what their secrets are sealed with.

use std::sync::{Arc, OnceLock};

use engine::{Seal, Vault};
use payment::{MerchantId, Mode, ProviderAccount};
use store::{MerchantRecord, Tenant, WebhookRecord};

use crate::ports::Merchants;

/// Where the merchant's money goes.
pub const ACCOUNT: &str = "100500";

/// Where it goes after a change.
pub const OTHER_ACCOUNT: &str = "100501";

/// Whose orders these are.
pub fn tenant() -> Tenant {
    let merchant = MerchantId::parse("mer_1").unwrap_or_else(|_| unreachable!("a short word"));
    Tenant { merchant, mode: Mode::Test }
}

fn merchant(vault: &Vault) -> MerchantRecord {
    let tenant = tenant();
    let sealed_secret =
        vault.seal(b"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", &Seal::webhook(&tenant), [8; 24]);
    MerchantRecord {
        sealed_secret: vault.seal(b"a secret", &Seal::credentials(&tenant), [7; 24]),
        tenant,
        name: "Zerno".to_owned(),
        provider: "bank".to_owned(),
        account: ProviderAccount::parse(ACCOUNT).unwrap_or_else(|_| unreachable!("digits")),
        url: "https://bank.example".to_owned(),
        return_origins: Vec::new(),
        frame_origins: Vec::new(),
        refund_extras: false,
        webhook: Some(WebhookRecord { url: "https://shop.example/hook".to_owned(), sealed_secret }),
        notify_secret_hash: None,
    }
}

/// The vault, and the merchants as it knows them: sealed once, since a history is short.
pub fn all(refund_extras: bool) -> (Arc<Vault>, Merchants) {
    static SEALED: OnceLock<(Arc<Vault>, MerchantRecord)> = OnceLock::new();
    let (vault, merchant) = SEALED.get_or_init(|| {
        let vault = Arc::new(Vault::new([1; 32], None));
        let merchant = merchant(&vault);
        (vault, merchant)
    });
    (Arc::clone(vault), Merchants::new(vec![MerchantRecord { refund_extras, ..merchant.clone() }]))
}
