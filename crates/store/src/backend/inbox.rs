//! The inbox's transactions over a backend.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

use super::Backend;
use crate::{
    AcceptNotice, ClaimNotices, ClaimedNotice, Inbox, NoticeAccepted, NoticeKey, NoticeRecord, NoticeSettled,
    SettleNotice, StoreError, Tables, flows,
};

#[async_trait]
impl<B: Backend> Inbox for B {
    async fn accept_notice(&self, command: AcceptNotice) -> Result<NoticeAccepted, StoreError> {
        self.write(flow!(command, flows::inbox::accept)).await
    }

    async fn claim_notices(&self, claim: ClaimNotices) -> Result<Vec<ClaimedNotice>, StoreError> {
        self.write(flow!(claim, flows::inbox::claim)).await
    }

    async fn settle_notice(&self, command: SettleNotice) -> Result<NoticeSettled, StoreError> {
        self.write(flow!(command, flows::inbox::settle)).await
    }

    async fn notice(&self, key: NoticeKey) -> Result<Option<NoticeRecord>, StoreError> {
        self.read(flow!(key, flows::inbox::find)).await
    }
}
