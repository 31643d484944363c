//! Notifications as the rest of the product sees them, and the transactions about them. What a notification says is a hint for
//! whom to ask about; nothing here changes a payment.

use async_trait::async_trait;
use payment::{Holder, IntentId, MerchantId, ObjectId, OperationId, ProviderAccount, Timestamp};

use crate::{Lease, StoreError, Tenant};

/// What names a notification for ever (R21).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoticeKey {
    /// Whose.
    pub merchant: MerchantId,
    /// About an object of this account.
    pub account: ProviderAccount,
    /// Which event of which object; see [`Announcement::identity`].
    pub identity: String,
}

/// What a notification says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Announcement {
    /// The provider's name of the event.
    pub event: String,
    /// The object.
    pub object: ObjectId,
    /// What kind of object.
    pub about: NoticeAbout,
    /// The status it announces, in the provider's word.
    pub status: String,
    /// Our intent, if the object names one.
    pub hint: Option<IntentId>,
}

/// What kind of object a notification is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NoticeAbout {
    /// A payment.
    Payment,
    /// A refund of this payment.
    Refund {
        /// The provider's payment.
        payment: ObjectId,
    },
}

/// Longest event and longest status.
const MAX_WORD: usize = 80;

impl Announcement {
    /// Whether event and status are words, as providers write them: then an identity can be read in one way only, and is short.
    pub fn is_plain(&self) -> bool {
        let word = |text: &str| {
            (1..=MAX_WORD).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
        };
        word(&self.event) && word(&self.status) && self.object.as_str().is_ascii()
    }

    /// What repeats it: event, status and object. A new status of the same object is another notification.
    pub fn identity(&self) -> String {
        format!("{} {} {}", self.event, self.status, self.object)
    }
}

/// A notification that came in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoticeRecord {
    /// Whose.
    pub tenant: Tenant,
    /// The account it is about.
    pub account: ProviderAccount,
    /// What it says.
    pub said: Announcement,
    /// When it first came in.
    pub received_at: Timestamp,
    /// What it waits for.
    pub state: NoticeState,
    /// Claims since it last came in: spaces the next ones.
    pub tries: i64,
    /// Answers of the provider since then that did not show what it announces.
    pub looks: i64,
    /// Who works on it.
    pub lease: Option<Lease>,
    /// Rises with every claim, and with every time it comes in.
    pub fence: i64,
}

impl NoticeRecord {
    /// Its name.
    pub fn key(&self) -> NoticeKey {
        NoticeKey {
            merchant: self.tenant.merchant.clone(),
            account: self.account.clone(),
            identity: self.said.identity(),
        }
    }
}

/// What a notification waits for. Whatever waits has a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoticeState {
    /// The provider's answer.
    Waiting {
        /// When it is asked for.
        wake_at: Timestamp,
    },
    /// An object that becomes known.
    Parked {
        /// When it is looked for.
        wake_at: Timestamp,
    },
    /// Nothing.
    Done,
}

impl NoticeState {
    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting { .. } => "waiting",
            Self::Parked { .. } => "parked",
            Self::Done => "done",
        }
    }

    /// When somebody looks.
    pub fn wake_at(self) -> Option<Timestamp> {
        match self {
            Self::Waiting { wake_at } | Self::Parked { wake_at } => Some(wake_at),
            Self::Done => None,
        }
    }

    /// The same, looked at `wake_at`.
    pub(crate) fn woken_at(self, wake_at: Timestamp) -> Self {
        match self {
            Self::Waiting { .. } => Self::Waiting { wake_at },
            Self::Parked { .. } => Self::Parked { wake_at },
            Self::Done => Self::Done,
        }
    }
}

/// A notification comes in.
#[derive(Clone, Debug)]
pub struct AcceptNotice {
    /// Whose.
    pub tenant: Tenant,
    /// The account it is about.
    pub account: ProviderAccount,
    /// What it says.
    pub said: Announcement,
}

/// What came of [`AcceptNotice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeAccepted {
    /// It was not known.
    New,
    /// It was, and wakes whoever asks about it once more: effects happen once, questions do not (R21).
    Known,
}

/// Asks for notifications to work on.
#[derive(Clone, Debug)]
pub struct ClaimNotices {
    /// Who.
    pub holder: Holder,
    /// For how long, ms.
    pub lease_ms: i64,
    /// How many at most.
    pub most: u32,
    /// Merchants whose notifications are passed over: enough of theirs are in work.
    pub busy: Vec<MerchantId>,
}

/// A notification in the holder's hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedNotice {
    /// The notification, lease and fence included.
    pub notice: NoticeRecord,
    /// Whom to ask about; none while its object is unknown.
    pub subject: Option<NoticeSubject>,
}

/// Whom a notification is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeSubject {
    /// An intent: linked to the object, or else named by it.
    Payment(IntentId),
    /// A refund that is linked to the object.
    Refund(OperationId),
}

/// What came of a claim.
#[derive(Clone, Debug)]
pub struct SettleNotice {
    /// Which.
    pub key: NoticeKey,
    /// The fence it was claimed under.
    pub fence: i64,
    /// What came of it.
    pub verdict: NoticeVerdict,
}

/// What a holder found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeVerdict {
    /// The provider's answer is at or past what was announced, or was asked often enough.
    Done,
    /// To be asked again.
    AskAgain {
        /// When, ms from now.
        wake_in_ms: i64,
        /// Whether the provider answered, with something else.
        looked: bool,
    },
    /// Nobody we know.
    Park {
        /// When it is looked for again, ms from now.
        wake_in_ms: i64,
        /// Most parked notifications the merchant may have: the oldest are forgotten.
        keep: u32,
    },
}

/// What came of a [`SettleNotice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeSettled {
    /// Written.
    Done {
        /// Parked notifications that were forgotten for it.
        forgotten: u64,
    },
    /// It came in again, or another holder has it: nothing was written (R14).
    Stale,
}

/// The transactions of the inbox. Each method is one, as those of [`Store`](crate::Store) are.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Writes a notification down, or wakes it again.
    async fn accept_notice(&self, command: AcceptNotice) -> Result<NoticeAccepted, StoreError>;

    /// Claims the next notifications whose wake-up has come, each with a fresh fence.
    async fn claim_notices(&self, claim: ClaimNotices) -> Result<Vec<ClaimedNotice>, StoreError>;

    /// Writes what came of a claim, fenced.
    async fn settle_notice(&self, command: SettleNotice) -> Result<NoticeSettled, StoreError>;

    /// A notification.
    async fn notice(&self, key: NoticeKey) -> Result<Option<NoticeRecord>, StoreError>;
}
