//! The use cases: straight-line async code over a store, a provider and a source of ids. It names no runtime, spawns nothing and
//! reads no clock but the database's, so that a simulation can run the very same code.

mod checkouts;
mod clock;
mod drive;
mod failpoint;
mod follow_up;
mod frozen;
mod inbox;
mod listing;
mod look;
mod neighbours;
mod observe;
mod outbox;
mod review;
mod shared_listing;
mod shopper;
mod submit;
mod sweep;
mod unresolved;
mod vault;
mod worker;
mod write;

use std::sync::Arc;

use payment::{AttemptId, Holder, IntentId, OperationId, RetryPolicy, Timestamp};
use providers::{Account, Provider, Secret};
use store::{
    Answer, CheckoutRecord, Directory, IntentRecord, MerchantRecord, NewIds, Store, StoreError, Tenant,
};

use shared_listing::Listings;
use sweep::Gates;
use unresolved::Unresolved;

pub use checkouts::{CheckoutOutcome, IntentOutcome};
pub use clock::{Clock, Moments};
pub use drive::{Claim, Driven};
pub use follow_up::OutOfReach;
pub use inbox::Accepted;
#[doc(hidden)]
pub use inbox::announcement;
pub use look::Looked;
pub use outbox::{Again, Delivery, Mail, Sender, Webhook};
pub use review::{Grounds, MAX_REVIEW_ITEMS, Resolved, Unaskable, Verdict, item_id};
pub use shopper::Released;
pub use submit::{Submission, SubmitOutcome};
pub use sweep::{LeftAccount, Swept};
pub use vault::{ClientToken, Seal, SealError, Vault};

/// Ids and randomness, passed in.
pub trait Ids: Send + Sync {
    /// Ids for a checkout and an intent; keys are UUID v4.
    fn new_ids(&self) -> NewIds;
    /// A request id for one send.
    fn attempt(&self) -> AttemptId;
    /// Randomness for jitter.
    fn random(&self) -> u64;
    /// Randomness for a seal.
    fn nonce(&self) -> [u8; 24];
}

/// Writes answers as the API sends them, so that a transaction can keep the bytes.
pub trait Answers: Send + Sync {
    /// A checkout with the intent to show, its client token included.
    fn checkout(&self, status: u16, checkout: &CheckoutRecord, intent: &IntentRecord, token: &str) -> Answer;
    /// An intent, as a shopper may see it.
    fn intent(&self, status: u16, checkout: &CheckoutRecord, intent: &IntentRecord) -> Answer;
}

/// Hears that an intent may have changed. Only a reason to read it again.
pub trait Changes: Send + Sync {
    /// It may have.
    fn changed(&self, tenant: &Tenant, intent: IntentId);
}

/// What can be set. Times in ms.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who this process is, for leases.
    pub holder: Holder,
    /// Base of the links shoppers come back by.
    pub public_url: String,
    /// How long a claim lasts: longer than the provider's deadline.
    pub lease_ms: i64,
    /// Nothing is sent later than this after the first submit.
    pub execute_ms: i64,
    /// How retries are spaced.
    pub retry: RetryPolicy,
    /// How long a card token lives at the provider, counted from the first submit.
    pub token_life_ms: i64,
    /// Added to it before a listing is evidence: clocks differ, and a request under way arrives later than it was sent.
    pub token_margin_ms: i64,
    /// How far apart two looks at a listing are.
    pub listing_gap_ms: i64,
    /// A person looks at what is unresolved this long after execute-until.
    pub review_after_ms: i64,
    /// Most intents of a checkout (card testing).
    pub intents_per_checkout: i64,
    /// Claims in a row that may come to no result before a person has to look.
    pub most_unfinished: i64,
    /// A start after a longer silence than this puts the gate down.
    pub gap_ms: i64,
    /// How long a send may be on its way: a listing lifts a gate only if it was begun this long after the gate was met. Longer than
    /// the provider's deadline.
    pub on_its_way_ms: i64,
}

/// Something failed that is no expected result.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored secret does not open: another `PAYONCE_SECRET` wrote it.
    #[error("a stored secret does not open with this server's secret")]
    Sealed(#[from] SealError),
    /// The caller's merchant is gone.
    #[error("merchant {} is not configured", .0.merchant)]
    NoMerchant(Tenant),
    /// The rules refuse what the code asked: a bug.
    #[error(transparent)]
    Transition(#[from] payment::TransitionError),
    /// Another provider than this binary knows.
    #[error("provider `{0}` is not known to this version")]
    UnknownProvider(String),
}

/// What a process keeps in memory: how long it has known what it waits for, which no clock that is set tells.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// What was read lately of providers' listings.
    listings: Listings,
    /// Since when each gate is known.
    gates: Gates,
    /// Since when each payment is known to have no result.
    unresolved: Unresolved,
}

impl Memory {
    /// The payments that this process knows to have no result, and when it first met each, by the clock that nobody sets, ms.
    pub fn unresolved(&self) -> Vec<(OperationId, i64)> {
        self.unresolved.met()
    }

    /// A digest of each listing that a claim of `now` may still look at, or that is being read.
    pub fn listings(&self, now: Timestamp, keep_ms: i64) -> Vec<u64> {
        self.listings.digests(now, keep_ms)
    }
}

/// The use cases.
#[derive(Clone)]
pub struct Engine {
    /// Everything that touches money.
    pub store: Arc<dyn Store>,
    /// Merchants.
    pub directory: Arc<dyn Directory>,
    /// Who moves the money.
    pub provider: Arc<dyn Provider>,
    /// The ways out for webhooks and mails.
    pub sender: Arc<dyn Sender>,
    /// Ids and randomness.
    pub ids: Arc<dyn Ids>,
    /// Writes answers.
    pub answers: Arc<dyn Answers>,
    /// The process's own clocks.
    pub clock: Arc<dyn Clock>,
    /// Hears of changes.
    pub changes: Arc<dyn Changes>,
    /// What this process has seen. Nothing that money depends on is lost with it.
    pub memory: Memory,
    /// Seals and tokens.
    pub vault: Arc<Vault>,
    /// Settings.
    pub settings: Settings,
}

impl Engine {
    /// The client token of a checkout: derived, never stored.
    pub fn token(&self, checkout: &CheckoutRecord) -> String {
        self.vault.client_token(&ClientToken {
            tenant: checkout.tenant.clone(),
            checkout: checkout.id,
            version: checkout.token_version,
        })
    }

    /// The account that the merchant's money goes to now, for a first dispatch.
    async fn current_account(&self, tenant: &Tenant) -> Result<(Account, MerchantRecord), EngineError> {
        let merchant = self.directory.merchant(tenant).await?;
        let merchant = merchant.ok_or_else(|| EngineError::NoMerchant(tenant.clone()))?;
        Ok((self.account_of(&merchant)?, merchant))
    }

    /// A merchant's account, its secret opened.
    fn account_of(&self, merchant: &MerchantRecord) -> Result<Account, EngineError> {
        let secret = self.vault.open(&merchant.sealed_secret, &Seal::credentials(&merchant.tenant))?;
        let secret = Secret(String::from_utf8_lossy(&secret).into_owned());
        Ok(Account { url: merchant.url.clone(), id: merchant.account.as_str().to_owned(), secret })
    }

    /// Where the provider's page sends the shopper back to.
    fn status_url(&self, checkout: &CheckoutRecord) -> String {
        format!("{}/pay/{}/status?token={}", self.settings.public_url, checkout.id, self.token(checkout))
    }

    /// Puts the token back where a stored answer is blank.
    fn filled(&self, answer: Answer, checkout: &CheckoutRecord) -> Answer {
        vault::fill(answer, &self.token(checkout))
    }

    /// An intent with its checkout, now.
    async fn reread(
        &self,
        tenant: &Tenant,
        id: IntentId,
    ) -> Result<(CheckoutRecord, IntentRecord), EngineError> {
        let found = self.store.intent(tenant.clone(), id).await?;
        Ok(found.ok_or_else(|| StoreError::Unreadable(format!("{id} is gone")))?)
    }
}
