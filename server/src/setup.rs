//! From configuration to a running engine and router: what `serve`, `demo` and the tests share.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use engine::{Engine, Ids, Memory, Seal, Settings, Vault};
use payment::{ProviderAccount, RetryPolicy};
use providers::yookassa::YooKassa;
use sha2::{Digest, Sha256};
use store::{ApiKeyKind, MerchantRecord, SqlStore, Sqlite, SqliteOptions, Tenant, WebhookRecord};

use crate::{
    answers::JsonAnswers,
    clock::SystemClock,
    config::{Config, Database, MerchantConfig, Timing},
    effects::WaysOut,
    ids::{self, SystemIds},
    live::Hub,
};

/// Most intents of a checkout: tries with stolen cards end here.
const INTENTS_PER_CHECKOUT: i64 = 10;
/// Claims in a row without a result before a person has to look: more than a machine in trouble brings about.
const MOST_UNFINISHED: i64 = 10;
/// A start after a longer silence than this puts the gate down.
const GAP_MS: i64 = 60_000;
/// Longest wait after the first send.
const RETRY_BASE_MS: i64 = 1_000;

/// Opens the database and makes an engine over it; the configured merchants are written down.
pub async fn engine(config: &Config) -> Result<Engine> {
    let Database::Sqlite(path) = &config.database;
    let options = SqliteOptions::new(path);
    if !path.exists() {
        tracing::warn!(
            database = %path.display(),
            "there is no database yet: a new one is made. If there should be one, stop now, and look at PAYONCE_DATA: what was paid \
             before is not known here, and can be paid again"
        );
    }
    let store = SqlStore::<Sqlite>::open(options).await;
    let store = Arc::new(store.with_context(|| format!("cannot open the database {}", path.display()))?);
    let vault = Vault::new(config.secret.0, config.secret_old.as_ref().map(|secret| secret.0));
    let engine = Engine {
        store: store.clone(),
        directory: store,
        provider: Arc::new(YooKassa::new().context("cannot make an HTTP client")?),
        sender: Arc::new(WaysOut::new(config)?),
        ids: Arc::new(SystemIds),
        answers: Arc::new(JsonAnswers { public_url: config.public_url.clone() }),
        clock: Arc::new(SystemClock),
        // Whoever serves puts the one there that its pages wait at.
        changes: Arc::new(Hub::default()),
        memory: Memory::default(),
        vault: Arc::new(vault),
        settings: settings(&config.timing, &config.public_url),
    };
    check_secret(&engine).await?;
    for merchant in &config.merchants {
        put_merchant(&engine, merchant).await?;
    }
    Ok(engine)
}

/// A server with another secret than the one that wrote the database would take orders that it cannot send.
async fn check_secret(engine: &Engine) -> Result<()> {
    for merchant in engine.directory.merchants().await? {
        if engine.vault.open(&merchant.sealed_secret, &Seal::credentials(&merchant.tenant)).is_err() {
            bail!(
                "the database was written with another PAYONCE_SECRET: the credentials of merchant {} do not open. \
                 Start with that secret, or give it as PAYONCE_SECRET_OLD beside the new one",
                merchant.tenant.merchant
            );
        }
    }
    Ok(())
}

fn settings(timing: &Timing, public_url: &str) -> Settings {
    Settings {
        holder: ids::holder(),
        public_url: public_url.to_owned(),
        lease_ms: timing.lease_ms,
        execute_ms: timing.execute_ms,
        retry: RetryPolicy { base_ms: RETRY_BASE_MS.min(timing.retry_max_ms), max_ms: timing.retry_max_ms },
        token_life_ms: timing.token_life_ms,
        token_margin_ms: timing.token_margin_ms,
        listing_gap_ms: timing.listing_gap_ms,
        review_after_ms: timing.review_after_ms,
        intents_per_checkout: INTENTS_PER_CHECKOUT,
        most_unfinished: MOST_UNFINISHED,
        gap_ms: GAP_MS,
        // Both outlast a call to the provider.
        on_its_way_ms: timing.lease_ms,
    }
}

/// Makes or replaces a merchant; its provider secret is sealed, its keys are kept as hashes.
pub async fn put_merchant(engine: &Engine, merchant: &MerchantConfig) -> Result<()> {
    let tenant = Tenant { merchant: merchant.id.clone(), mode: merchant.mode };
    let secret = merchant.provider.secret.0.as_bytes();
    let record = MerchantRecord {
        name: merchant.name.clone(),
        provider: merchant.provider.kind.clone(),
        account: ProviderAccount::parse(merchant.provider.account.clone()).context("the provider account")?,
        url: merchant.provider.url.clone(),
        sealed_secret: engine.vault.seal(secret, &Seal::credentials(&tenant), SystemIds.nonce()),
        return_origins: merchant.return_origins.clone(),
        frame_origins: merchant.frame_origins.clone(),
        refund_extras: merchant.refund_extras,
        webhook: merchant.webhook.as_ref().map(|webhook| WebhookRecord {
            url: webhook.url.clone(),
            sealed_secret: engine.vault.seal(
                webhook.secret.0.as_bytes(),
                &Seal::webhook(&tenant),
                SystemIds.nonce(),
            ),
        }),
        notify_secret_hash: merchant.provider.notify_secret.as_ref().map(|secret| key_hash(&secret.0)),
        tenant,
    };
    let secret = (key_hash(&merchant.secret_key.0), ApiKeyKind::Secret);
    let publishable = merchant.publishable_key.iter().map(|key| (key_hash(key), ApiKeyKind::Publishable));
    let keys = std::iter::once(secret).chain(publishable).collect();
    let name = merchant.id.as_str();
    engine.directory.put_merchant(record, keys).await.with_context(|| format!("cannot write merchant {name}"))
}

/// What is kept of an API key, and of the secret in a notification's address.
pub(crate) fn key_hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}
