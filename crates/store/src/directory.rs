//! Who the merchants are and what their keys open. Nothing here touches money.

use async_trait::async_trait;
use payment::ProviderAccount;

use crate::{StoreError, Tenant};

/// A merchant in one mode, with the account its money goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MerchantRecord {
    /// Merchant and mode.
    pub tenant: Tenant,
    /// Shown to shoppers.
    pub name: String,
    /// Which provider: `yookassa`.
    pub provider: String,
    /// Which account there.
    pub account: ProviderAccount,
    /// The base of the provider's API.
    pub url: String,
    /// The account's secret, encrypted, bound to the merchant.
    pub sealed_secret: Vec<u8>,
    /// Where `return_url` may lead.
    pub return_origins: Vec<String>,
    /// Which pages may frame the checkout.
    pub frame_origins: Vec<String>,
    /// Whether money taken for a paid checkout is given back without a person.
    pub refund_extras: bool,
    /// Where it hears of payments.
    pub webhook: Option<WebhookRecord>,
    /// SHA-256 of the secret in the address that its provider notifies.
    pub notify_secret_hash: Option<[u8; 32]>,
}

/// An address for a merchant's webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookRecord {
    /// Where they go.
    pub url: String,
    /// What they are signed with, encrypted, bound to the merchant.
    pub sealed_secret: Vec<u8>,
}

/// What an API key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiKeyKind {
    /// The merchant's server.
    Secret,
    /// The merchant's pages.
    Publishable,
}

impl ApiKeyKind {
    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Publishable => "publishable",
        }
    }

    /// From its stored form.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Secret, Self::Publishable].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Whom an API key belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The merchant.
    pub tenant: Tenant,
    /// What its key is for.
    pub kind: ApiKeyKind,
}

/// Merchants and their keys. Keys are known by their SHA-256 only.
#[async_trait]
pub trait Directory: Send + Sync {
    /// Makes or replaces a merchant, with the hashes of its keys.
    async fn put_merchant(
        &self,
        merchant: MerchantRecord,
        keys: Vec<([u8; 32], ApiKeyKind)>,
    ) -> Result<(), StoreError>;

    /// A merchant.
    async fn merchant(&self, tenant: &Tenant) -> Result<Option<MerchantRecord>, StoreError>;

    /// All merchants.
    async fn merchants(&self) -> Result<Vec<MerchantRecord>, StoreError>;

    /// Whom the key with this hash belongs to.
    async fn caller(&self, key_hash: [u8; 32]) -> Result<Option<Caller>, StoreError>;
}
