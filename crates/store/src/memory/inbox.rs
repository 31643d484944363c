//! The rows of the inbox, in memory.

use async_trait::async_trait;
use payment::{MerchantId, Timestamp};

use super::Draft;
use crate::{
    NoticeKey, NoticeRecord, NoticeState,
    tables::{Abort, InboxTables},
};

#[async_trait]
impl InboxTables for Draft {
    async fn notice(&mut self, key: &NoticeKey) -> Result<Option<NoticeRecord>, Abort> {
        Ok(self.rows.inbox.get(key).cloned())
    }

    async fn insert_notice(&mut self, row: &NoticeRecord) -> Result<bool, Abort> {
        Ok(self.rows.inbox.insert(row.key(), row.clone()))
    }

    async fn update_notice(&mut self, row: &NoticeRecord, fence: i64) -> Result<bool, Abort> {
        Ok(self.rows.inbox.replace(&row.key(), |found| found.fence == fence, row.clone()))
    }

    async fn due_notices(
        &mut self,
        now: Timestamp,
        busy: &[MerchantId],
        limit: u32,
    ) -> Result<Vec<NoticeKey>, Abort> {
        let rows = self.rows.inbox.iter().filter(|(key, _)| !busy.contains(&key.merchant));
        let waking = rows.filter_map(|(key, row)| Some((row.state.wake_at()?, key)));
        let mut due: Vec<_> = waking.filter(|(at, _)| *at <= now).collect();
        due.sort();
        Ok(due.into_iter().take(limit as usize).map(|(_, key)| key.clone()).collect())
    }

    async fn forget_parked(&mut self, merchant: &MerchantId, keep: u32) -> Result<u64, Abort> {
        let parked = |row: &NoticeRecord| matches!(row.state, NoticeState::Parked { .. });
        let of_merchant =
            self.rows.inbox.iter().filter(|(key, row)| key.merchant == *merchant && parked(row));
        let mut keys: Vec<_> = of_merchant.map(|(key, row)| (row.received_at, key.clone())).collect();
        keys.sort();
        let forgotten = keys.len().saturating_sub(keep as usize);
        for (_, key) in keys.into_iter().take(forgotten) {
            self.rows.inbox.remove(&key);
        }
        Ok(forgotten as u64)
    }
}
