//! The rows of the inbox: what providers announced.

use async_trait::async_trait;
use payment::{MerchantId, Timestamp};

use super::Abort;
use crate::{NoticeKey, NoticeRecord};

/// One transaction's view of the inbox.
#[async_trait]
pub trait InboxTables: Send {
    /// A notification.
    async fn notice(&mut self, key: &NoticeKey) -> Result<Option<NoticeRecord>, Abort>;
    /// A notification that was not known; false if it was.
    async fn insert_notice(&mut self, row: &NoticeRecord) -> Result<bool, Abort>;
    /// Everything but its identity, if the fence is still `fence`.
    async fn update_notice(&mut self, row: &NoticeRecord, fence: i64) -> Result<bool, Abort>;
    /// Notifications whose wake-up has come, earliest first.
    async fn due_notices(
        &mut self,
        now: Timestamp,
        busy: &[MerchantId],
        limit: u32,
    ) -> Result<Vec<NoticeKey>, Abort>;
    /// Forgets a merchant's parked notifications beyond the newest `keep`, oldest first, some at a time; how many.
    async fn forget_parked(&mut self, merchant: &MerchantId, keep: u32) -> Result<u64, Abort>;
}
