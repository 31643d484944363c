//! Table `inbox`.

use async_trait::async_trait;
use payment::{Holder, IntentId, MerchantId, ObjectId, ProviderAccount, Timestamp};

use super::{Row, SqlTables, Value, checkout::read_tenant, lines, session::unreadable, tables::Done};
use crate::{
    Announcement, Lease, NoticeAbout, NoticeKey, NoticeRecord, NoticeState, StoreError, tables::InboxTables,
};

const FIND: &str = "SELECT merchant_id, mode, provider_account, event, object_id, about, payment_id, announced, \
     hinted_intent_id, received_at_ms, state, wake_at_ms, tries, looks, holder, lease_until_ms, fence FROM inbox \
     WHERE merchant_id = $1 AND provider_account = $2 AND identity = $3";

const INSERT: &str = "INSERT INTO inbox (merchant_id, provider_account, identity, mode, event, object_id, about, payment_id, \
     announced, hinted_intent_id, received_at_ms, state, wake_at_ms, tries, looks, fence) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
     ON CONFLICT (merchant_id, provider_account, identity) DO NOTHING";

const UPDATE: &str = "UPDATE inbox SET hinted_intent_id = $1, state = $2, wake_at_ms = $3, tries = $4, looks = $5, \
     holder = $6, lease_until_ms = $7, fence = $8 \
     WHERE merchant_id = $9 AND provider_account = $10 AND identity = $11 AND fence = $12";

/// Only states this version knows: an older binary leaves newer rows alone. [`lines`] of those passed over.
const DUE: &str = "SELECT merchant_id, provider_account, identity FROM inbox WHERE wake_at_ms <= $1 \
     AND replace($2, '\n' || merchant_id || '\n', '') = $2 AND state IN ('waiting', 'parked') \
     ORDER BY wake_at_ms, merchant_id, provider_account, identity LIMIT $3";

const FORGET_PARKED: &str = "DELETE FROM inbox WHERE merchant_id = $1 AND state = 'parked' AND (provider_account, identity) IN \
     (SELECT provider_account, identity FROM inbox WHERE merchant_id = $1 AND state = 'parked' \
     ORDER BY received_at_ms DESC, provider_account DESC, identity DESC LIMIT $2 OFFSET $3)";
/// Rows forgotten at once.
const FORGET_AT_ONCE: i64 = 1_000;

#[async_trait]
impl InboxTables for SqlTables<'_> {
    async fn notice(&mut self, key: &NoticeKey) -> Done<Option<NoticeRecord>> {
        self.first(FIND, key_values(key).into(), read).await
    }

    async fn insert_notice(&mut self, row: &NoticeRecord) -> Done<bool> {
        let said = &row.said;
        let (about, payment) = match &said.about {
            NoticeAbout::Payment => (PAYMENT, None),
            NoticeAbout::Refund { payment } => (REFUND, Some(payment.as_str())),
        };
        let mut values: Vec<Value> = key_values(&row.key()).into();
        values.extend([
            row.tenant.mode.as_str().into(),
            said.event.as_str().into(),
            said.object.as_str().into(),
            about.into(),
            payment.into(),
            said.status.as_str().into(),
            said.hint.map(|intent| intent.0).into(),
            row.received_at.0.into(),
            row.state.as_str().into(),
            row.state.wake_at().map(|at| at.0).into(),
            row.tries.into(),
            row.looks.into(),
            row.fence.into(),
        ]);
        self.one(INSERT, values).await
    }

    async fn update_notice(&mut self, row: &NoticeRecord, fence: i64) -> Done<bool> {
        let mut values: Vec<Value> = vec![
            row.said.hint.map(|intent| intent.0).into(),
            row.state.as_str().into(),
            row.state.wake_at().map(|at| at.0).into(),
            row.tries.into(),
            row.looks.into(),
            row.lease.map(|lease| lease.holder.0).into(),
            row.lease.map(|lease| lease.until.0).into(),
            row.fence.into(),
        ];
        values.extend(key_values(&row.key()));
        values.push(fence.into());
        self.one(UPDATE, values).await
    }

    async fn due_notices(&mut self, now: Timestamp, busy: &[MerchantId], limit: u32) -> Done<Vec<NoticeKey>> {
        self.all(DUE, vec![now.0.into(), lines(busy), i64::from(limit).into()], read_key).await
    }

    async fn forget_parked(&mut self, merchant: &MerchantId, keep: u32) -> Done<u64> {
        let values = vec![merchant.as_str().into(), FORGET_AT_ONCE.into(), i64::from(keep).into()];
        Ok(self.session.execute(FORGET_PARKED, values).await?)
    }
}

const PAYMENT: &str = "payment";
const REFUND: &str = "refund";

fn key_values(key: &NoticeKey) -> [Value; 3] {
    [key.merchant.as_str().into(), key.account.as_str().into(), key.identity.as_str().into()]
}

/// A notification's name.
pub(super) fn read_key(mut row: Row) -> Result<NoticeKey, StoreError> {
    Ok(NoticeKey {
        merchant: row.parsed(|text| MerchantId::parse(text).ok())?,
        account: row.parsed(|text| ProviderAccount::parse(text).ok())?,
        identity: row.text()?,
    })
}

fn read(mut row: Row) -> Result<NoticeRecord, StoreError> {
    Ok(NoticeRecord {
        tenant: read_tenant(&mut row)?,
        account: row.parsed(|text| ProviderAccount::parse(text).ok())?,
        said: Announcement {
            event: row.text()?,
            object: row.parsed(|text| ObjectId::parse(text).ok())?,
            about: read_about(&mut row)?,
            status: row.text()?,
            hint: row.uuid_opt()?.map(IntentId),
        },
        received_at: Timestamp(row.int()?),
        state: read_state(&mut row)?,
        tries: row.int()?,
        looks: row.int()?,
        lease: match (row.uuid_opt()?, row.int_opt()?) {
            (Some(holder), Some(until)) => Some(Lease { holder: Holder(holder), until: Timestamp(until) }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(unreadable("half a lease")),
        },
        fence: row.int()?,
    })
}

fn read_about(row: &mut Row) -> Result<NoticeAbout, StoreError> {
    match (row.text()?.as_str(), row.text_opt()?) {
        (PAYMENT, None) => Ok(NoticeAbout::Payment),
        (REFUND, Some(payment)) => ObjectId::parse(payment)
            .map(|payment| NoticeAbout::Refund { payment })
            .map_err(|_| unreadable("a provider's object id")),
        (..) => Err(unreadable("what a notification is about")),
    }
}

fn read_state(row: &mut Row) -> Result<NoticeState, StoreError> {
    match (row.text()?.as_str(), row.int_opt()?.map(Timestamp)) {
        ("waiting", Some(wake_at)) => Ok(NoticeState::Waiting { wake_at }),
        ("parked", Some(wake_at)) => Ok(NoticeState::Parked { wake_at }),
        ("done", None) => Ok(NoticeState::Done),
        (..) => Err(unreadable("a notification's state")),
    }
}
