//! The rows of the sweep: when a server was last alive, how far each account's listing was read, and whom it found.

use async_trait::async_trait;
use payment::{ObjectId, OrderId, ProviderAccount, Timestamp};

use super::Abort;
use crate::{Resolution, StrangerRecord, Tenant};

/// What an account is to its merchant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tenure {
    /// His money goes here, and only its own gate holds its payments.
    Own,
    /// His money goes here since a moment when what his other accounts took was not known: their gates hold its payments, too.
    New,
    /// His money does not go here, as of the last start.
    Left,
}

impl Tenure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Own, Self::New, Self::Left];

    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::New => "new",
            Self::Left => "left",
        }
    }

    /// From what is stored.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tenure| tenure.as_str() == text)
    }
}

/// How far an account's listing was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SweepRow {
    /// Whose account.
    pub tenant: Tenant,
    /// The account.
    pub account: ProviderAccount,
    /// Nothing that was made before is ours: the account was not known.
    pub known_from: Timestamp,
    /// Read until here.
    pub swept_until: Timestamp,
    /// While set, nothing is dispatched for the account: what happened from here on is not known yet.
    pub gated_from: Option<Timestamp>,
    /// Whether the gates of the merchant's other accounts hold its payments.
    pub tenure: Tenure,
}

/// One transaction's view of the sweep's rows.
#[async_trait]
pub trait SweepTables: Send {
    /// The last moment a server was alive.
    async fn heartbeat(&mut self) -> Result<Option<Timestamp>, Abort>;
    /// A server is alive.
    async fn put_heartbeat(&mut self, at: Timestamp) -> Result<(), Abort>;
    /// A merchant's accounts.
    async fn sweeps(&mut self, tenant: &Tenant) -> Result<Vec<SweepRow>, Abort>;
    /// Writes how far an account was read, and its gate.
    async fn put_sweep(&mut self, row: &SweepRow) -> Result<(), Abort>;
    /// Accounts that were met, or read until, later than `now` were so at `now`.
    async fn pull_back_sweeps(&mut self, now: Timestamp) -> Result<(), Abort>;
    /// Forgets how far an account was read.
    async fn delete_sweep(&mut self, row: &SweepRow) -> Result<(), Abort>;

    /// A stranger is found; false if it was found before.
    async fn insert_stranger(&mut self, row: &StrangerRecord) -> Result<bool, Abort>;
    /// A stranger.
    async fn stranger(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<StrangerRecord>, Abort>;
    /// Whether an open stranger names this order.
    async fn is_blocked(&mut self, tenant: &Tenant, order: &OrderId) -> Result<bool, Abort>;
    /// Strangers nobody has resolved, of every merchant, oldest first.
    async fn open_strangers(&mut self, limit: u32) -> Result<Vec<StrangerRecord>, Abort>;
    /// That stranger, of whatever merchant, if nobody has resolved it; the oldest where accounts name theirs alike.
    async fn open_stranger(&mut self, object: &ObjectId) -> Result<Option<StrangerRecord>, Abort>;
    /// Strangers of an account that wait at the provider, oldest first.
    async fn waiting_strangers(
        &mut self,
        tenant: &Tenant,
        account: &ProviderAccount,
        limit: u32,
    ) -> Result<Vec<StrangerRecord>, Abort>;
    /// A stranger that waited took money, that sum: of what was held a part can be taken; or somebody was told so. False if it does not
    /// wait any more, or he was before.
    async fn stranger_took_money(&mut self, row: &StrangerRecord) -> Result<bool, Abort>;
    /// What became of it, if nothing has yet; it is let go of only as it was read: with its money taken, or not.
    async fn resolve_stranger(
        &mut self,
        row: &StrangerRecord,
        resolution: &Resolution,
    ) -> Result<bool, Abort>;
}
