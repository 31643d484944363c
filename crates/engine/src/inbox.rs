//! What providers announce: written down before it is acknowledged, then asked about. A notification is never evidence, whoever
//! sent it: it only makes us look.

use payment::{MerchantId, ObjectId, OperationId, RetryPolicy, Step};
use planted::Fault;
use providers::{About, Notice};
use store::{
    AcceptNotice, Announcement, ClaimNotices, ClaimedNotice, LookOf, Looking, NoticeAbout, NoticeAccepted,
    NoticeSettled, NoticeSubject, NoticeVerdict, SettleNotice, Stage, StoreError, Tenant,
};

use crate::{Claim, Engine, EngineError, Looked, failpoint::failpoint};

/// Answers that do not show what was announced, after which it was wrong, or is over. A provider's own answers may lag behind
/// its notifications by seconds.
const MAX_LOOKS: i64 = 10;
/// Claims after which what brings no answer is parked: its object may exist in nobody's books but the sender's.
const MAX_TRIES: i64 = 20;
/// Most parked notifications of a merchant.
const MAX_PARKED: u32 = 1_000;
/// The longest wait of a parked one.
const PARKED_MS: i64 = 24 * 60 * 60 * 1_000;

/// What became of a notification that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It is committed: it may be acknowledged.
    Committed(NoticeAccepted),
    /// It is none that the provider sends about payments or refunds.
    NotOurs,
}

/// What a look said about an announcement.
pub(crate) enum Shown {
    /// The object is at or past what was announced.
    Reached,
    /// It is not.
    Otherwise,
    /// Somebody else is at it, or the provider says nothing.
    Nothing,
    /// There is nobody to look for.
    Nobody,
}

impl Engine {
    /// Writes a notification down. Only then may it be acknowledged; what repeats a known one makes us ask again (R21).
    pub async fn accept_notice(&self, tenant: &Tenant, body: &[u8]) -> Result<Accepted, EngineError> {
        let said = self.provider.read_notice(body).map(announcement).filter(Announcement::is_plain);
        let Some(said) = said else { return Ok(Accepted::NotOurs) };
        let merchant = self.directory.merchant(tenant).await?;
        let merchant = merchant.ok_or_else(|| EngineError::NoMerchant(tenant.clone()))?;
        let command = AcceptNotice { tenant: tenant.clone(), account: merchant.account, said };
        let accepted = match self.store.accept_notice(command.clone()).await {
            // It may be there: then it is woken once more.
            Err(StoreError::Unknown(_)) => self.store.accept_notice(command).await,
            other => other,
        };
        failpoint!("inbox.accepted");
        if accepted.is_err() && planted::is(Fault::NoticeAnsweredUncommitted) {
            return Ok(Accepted::Committed(NoticeAccepted::New));
        }
        Ok(Accepted::Committed(accepted?))
    }

    /// Claims up to `most` notifications whose wake-up has come, none of the busy merchants'.
    pub async fn claim_notices(
        &self,
        most: u32,
        busy: Vec<MerchantId>,
    ) -> Result<Vec<ClaimedNotice>, EngineError> {
        let claim =
            ClaimNotices { holder: self.settings.holder, lease_ms: self.settings.lease_ms, most, busy };
        Ok(self.store.claim_notices(claim).await?)
    }

    /// Claims what is due and works on one after the other; how many there were.
    pub async fn work_inbox(&self, most: u32) -> Result<usize, EngineError> {
        let claims = self.claim_notices(most, Vec::new()).await?;
        let found = claims.len();
        for claimed in claims {
            self.work_notice(claimed).await?;
        }
        Ok(found)
    }

    /// Asks the provider about a claimed notification's object, lets the answer have its effect, and settles the notification.
    pub async fn work_notice(&self, claimed: ClaimedNotice) -> Result<(), EngineError> {
        failpoint!("inbox.claimed");
        let shown = self.look_for(&claimed).await?;
        failpoint!("inbox.asked");
        let verdict = self.verdict(&claimed, &shown);
        let notice = &claimed.notice;
        let command = SettleNotice { key: notice.key(), fence: notice.fence, verdict };
        let settled = match self.store.settle_notice(command.clone()).await {
            // The verdict may be there: the same one is recognised by its fence.
            Err(StoreError::Unknown(_)) => self.store.settle_notice(command).await,
            other => other,
        };
        failpoint!("inbox.settled");
        let merchant = &notice.tenant.merchant;
        match settled? {
            NoticeSettled::Done { forgotten: 0 } | NoticeSettled::Stale => {}
            NoticeSettled::Done { forgotten } => {
                tracing::warn!(%merchant, forgotten, "too many notifications about unknown objects: the oldest are forgotten");
            }
        }
        Ok(())
    }

    async fn look_for(&self, claimed: &ClaimedNotice) -> Result<Shown, EngineError> {
        let (tenant, said) = (&claimed.notice.tenant, &claimed.notice.said);
        if planted::is(Fault::NoticeDoneUnasked) {
            return Ok(Shown::Reached);
        }
        Ok(match claimed.subject {
            None => Shown::Nobody,
            Some(NoticeSubject::Payment(intent)) => match self.look(tenant, intent, &said.object).await? {
                Looked::Saw(status) if self.provider.has_reached(&status, &said.status) => Shown::Reached,
                Looked::Saw(_) => Shown::Otherwise,
                Looked::Held | Looked::NoAnswer => Shown::Nothing,
                Looked::NoIntent => Shown::Nobody,
            },
            Some(NoticeSubject::Refund(operation)) => {
                self.look_at_refund(tenant, operation, &said.object).await?
            }
        })
    }

    /// Drives a refund out of turn, by a query.
    pub(crate) async fn look_at_refund(
        &self,
        tenant: &Tenant,
        operation: OperationId,
        object: &ObjectId,
    ) -> Result<Shown, EngineError> {
        let began = self.clock.moments();
        let mut work = match self.claim_look(tenant, LookOf::Operation(operation)).await? {
            Looking::Claimed(work) => *work,
            Looking::Held => return Ok(Shown::Nothing),
            Looking::NotFound => return Ok(Shown::Nobody),
        };
        work.step = Step::Query(object.clone());
        let intent = work.intent.id;
        self.drive(Claim { work, began }).await?;
        let story = self.store.story(tenant.clone(), intent).await?;
        let over = |story: store::Story| {
            story.follow_ups.iter().any(|row| row.id == operation && row.stage == Stage::Done)
        };
        Ok(if story.is_some_and(over) { Shown::Reached } else { Shown::Nothing })
    }

    fn verdict(&self, claimed: &ClaimedNotice, shown: &Shown) -> NoticeVerdict {
        let notice = &claimed.notice;
        match shown {
            Shown::Reached => NoticeVerdict::Done,
            Shown::Otherwise if notice.looks + 1 >= MAX_LOOKS => {
                tracing::warn!(merchant = %notice.tenant.merchant, object = %notice.said.object, announced = %notice.said.status,
                    "a notification announced what the provider does not confirm; it has no effect");
                NoticeVerdict::Done
            }
            Shown::Otherwise => NoticeVerdict::AskAgain {
                wake_in_ms: self.wait(notice.tries, self.settings.retry),
                looked: true,
            },
            Shown::Nothing if notice.tries < MAX_TRIES => NoticeVerdict::AskAgain {
                wake_in_ms: self.wait(notice.tries, self.settings.retry),
                looked: false,
            },
            Shown::Nothing | Shown::Nobody => {
                let parked = RetryPolicy { max_ms: PARKED_MS, ..self.settings.retry };
                NoticeVerdict::Park { wake_in_ms: self.wait(notice.tries, parked), keep: MAX_PARKED }
            }
        }
    }

    fn wait(&self, tries: i64, policy: RetryPolicy) -> i64 {
        policy.delay_ms(u32::try_from(tries).unwrap_or(u32::MAX), self.ids.random(), None)
    }
}

/// A notification as the inbox keeps it.
#[doc(hidden)]
pub fn announcement(notice: Notice) -> Announcement {
    Announcement {
        event: notice.event,
        object: notice.object,
        about: match notice.about {
            About::Payment => NoticeAbout::Payment,
            About::Refund { payment } => NoticeAbout::Refund { payment },
        },
        status: notice.status,
        hint: notice.intent,
    }
}
