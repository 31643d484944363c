//! Tables `merchant` and `api_key`: the directory.

use payment::ProviderAccount;

use super::{Row, Session, SessionError, Value, checkout::read_tenant, session::unreadable};
use crate::{ApiKeyKind, Caller, MerchantRecord, StoreError, Tenant, WebhookRecord};

const PUT: &str = "INSERT INTO merchant (merchant_id, mode, name, provider_kind, provider_account, provider_url, \
     provider_secret, return_origins, frame_origins, webhook_url, webhook_secret, notify_secret_hash, \
     refund_extras) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
     ON CONFLICT (merchant_id, mode) DO UPDATE SET name = excluded.name, provider_kind = excluded.provider_kind, \
     provider_account = excluded.provider_account, provider_url = excluded.provider_url, \
     provider_secret = excluded.provider_secret, return_origins = excluded.return_origins, \
     frame_origins = excluded.frame_origins, webhook_url = excluded.webhook_url, \
     webhook_secret = excluded.webhook_secret, notify_secret_hash = excluded.notify_secret_hash, \
     refund_extras = excluded.refund_extras";

const FORGET_KEYS: &str = "DELETE FROM api_key WHERE merchant_id = $1 AND mode = $2";

const PUT_KEY: &str = "INSERT INTO api_key (hash, merchant_id, mode, kind) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (hash) DO NOTHING";

const COLUMNS: &str = "SELECT merchant_id, mode, name, provider_kind, provider_account, provider_url, provider_secret, \
     return_origins, frame_origins, webhook_url, webhook_secret, notify_secret_hash, refund_extras \
     FROM merchant ORDER BY merchant_id, mode";

const FIND: &str = "SELECT merchant_id, mode, name, provider_kind, provider_account, provider_url, provider_secret, \
     return_origins, frame_origins, webhook_url, webhook_secret, notify_secret_hash, refund_extras \
     FROM merchant WHERE merchant_id = $1 AND mode = $2";

/// Where a merchant's money goes.
pub(super) const ACCOUNT: &str = "SELECT provider_account FROM merchant WHERE merchant_id = $1 AND mode = $2";
/// All merchants.
pub(super) const MERCHANTS: &str = "SELECT merchant_id, mode FROM merchant";

const CALLER: &str = "SELECT merchant_id, mode, kind FROM api_key WHERE hash = $1";

/// The directory's statements over a session.
pub(crate) struct SqlDirectory<'s> {
    pub(crate) session: &'s mut dyn Session,
}

impl SqlDirectory<'_> {
    pub(crate) async fn put(
        &mut self,
        merchant: &MerchantRecord,
        keys: &[([u8; 32], ApiKeyKind)],
    ) -> Result<(), SessionError> {
        let origins = |list: &[String]| serde_json::to_string(list).expect("origins are JSON");
        let tenant = &merchant.tenant;
        let scope: [Value; 2] = [tenant.merchant.as_str().into(), tenant.mode.as_str().into()];
        let mut values = scope.to_vec();
        values.extend([
            merchant.name.as_str().into(),
            merchant.provider.as_str().into(),
            merchant.account.as_str().into(),
            merchant.url.as_str().into(),
            merchant.sealed_secret.as_slice().into(),
            origins(&merchant.return_origins).into(),
            origins(&merchant.frame_origins).into(),
            merchant.webhook.as_ref().map(|webhook| webhook.url.as_str()).into(),
            merchant.webhook.as_ref().map(|webhook| webhook.sealed_secret.as_slice()).into(),
            merchant.notify_secret_hash.as_ref().map(<[u8; 32]>::as_slice).into(),
            i64::from(merchant.refund_extras).into(),
        ]);
        self.session.execute(PUT, values).await?;
        self.session.execute(FORGET_KEYS, scope.to_vec()).await?;
        for (hash, kind) in keys {
            let mut values: Vec<Value> = vec![hash.as_slice().into()];
            values.extend(scope.clone());
            values.push(kind.as_str().into());
            // A key that another merchant has already must not open two doors.
            if self.session.execute(PUT_KEY, values).await? == 0 {
                return Err(SessionError::Conflict);
            }
        }
        Ok(())
    }

    pub(crate) async fn find(&mut self, tenant: &Tenant) -> Result<Option<MerchantRecord>, SessionError> {
        let values = vec![tenant.merchant.as_str().into(), tenant.mode.as_str().into()];
        let rows = self.session.query(FIND, values).await?;
        rows.into_iter().next().map(read).transpose().map_err(SessionError::Failed)
    }

    pub(crate) async fn all(&mut self) -> Result<Vec<MerchantRecord>, SessionError> {
        let rows = self.session.query(COLUMNS, Vec::new()).await?;
        rows.into_iter().map(read).collect::<Result<_, _>>().map_err(SessionError::Failed)
    }

    pub(crate) async fn caller(&mut self, hash: &[u8; 32]) -> Result<Option<Caller>, SessionError> {
        let rows = self.session.query(CALLER, vec![hash.as_slice().into()]).await?;
        let read = |mut row: Row| {
            Ok::<_, StoreError>(Caller {
                tenant: read_tenant(&mut row)?,
                kind: row.parsed(ApiKeyKind::parse)?,
            })
        };
        rows.into_iter().next().map(read).transpose().map_err(SessionError::Failed)
    }
}

fn read(mut row: Row) -> Result<MerchantRecord, StoreError> {
    Ok(MerchantRecord {
        tenant: read_tenant(&mut row)?,
        name: row.text()?,
        provider: row.text()?,
        account: row.parsed(|text| ProviderAccount::parse(text).ok())?,
        url: row.text()?,
        sealed_secret: row.bytes()?,
        return_origins: row.parsed(|text| serde_json::from_str(text).ok())?,
        frame_origins: row.parsed(|text| serde_json::from_str(text).ok())?,
        webhook: match (row.text_opt()?, row.bytes_opt()?) {
            (Some(url), Some(sealed_secret)) => Some(WebhookRecord { url, sealed_secret }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return Err(unreadable("half a webhook")),
        },
        notify_secret_hash: row
            .bytes_opt()?
            .map(|hash| hash.try_into().map_err(|_| unreadable("a SHA-256 has not 32 bytes")))
            .transpose()?,
        refund_extras: match row.int()? {
            0 => false,
            1 => true,
            _ => return Err(unreadable("whether extras are refunded")),
        },
    })
}
