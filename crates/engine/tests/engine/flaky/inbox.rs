//! The inbox of a store that fails.

use async_trait::async_trait;
use store::{
    AcceptNotice, ClaimNotices, ClaimedNotice, Inbox, NoticeAccepted, NoticeKey, NoticeRecord, NoticeSettled,
    SettleNotice, StoreError,
};

use super::{Call, Flaky};

#[async_trait]
impl Inbox for Flaky {
    async fn accept_notice(&self, command: AcceptNotice) -> Result<NoticeAccepted, StoreError> {
        self.through(Call::AcceptNotice, self.inner.accept_notice(command)).await
    }

    async fn claim_notices(&self, claim: ClaimNotices) -> Result<Vec<ClaimedNotice>, StoreError> {
        self.inner.claim_notices(claim).await
    }

    async fn settle_notice(&self, command: SettleNotice) -> Result<NoticeSettled, StoreError> {
        self.through(Call::SettleNotice, self.inner.settle_notice(command)).await
    }

    async fn notice(&self, key: NoticeKey) -> Result<Option<NoticeRecord>, StoreError> {
        self.inner.notice(key).await
    }
}
