//! What a first dispatch freezes, as bytes under one seal: the request's body, and the secret of the account it went to. The merchant
//! may move to another account in mid-flight, and its row then holds another account's secret.

use payment::ProviderAccount;
use planted::Fault;
use providers::{Account, Secret};
use store::{Frozen, OperationRecord, StoreError, Tenant};

use crate::{Engine, EngineError, Seal, SealError};

/// Bytes of the secret's length, in front of it.
const LENGTH_BYTES: usize = 4;

/// What is sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) secret: Secret,
    pub(crate) body: Vec<u8>,
}

impl Content {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let secret = self.secret.0.as_bytes();
        let length = u32::try_from(secret.len()).expect("a secret is shorter than 4 GiB");
        [&length.to_be_bytes(), secret, &self.body].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (secret, body) = rest.split_at_checked(length)?;
        Some(Self { secret: Secret(String::from_utf8(secret.to_vec()).ok()?), body: body.to_vec() })
    }
}

/// A request as it was first sent, and the account it went to.
pub(crate) struct FrozenRequest {
    pub(crate) account: Account,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

fn request_of(operation: &OperationRecord) -> Result<&Frozen, EngineError> {
    let missing = || StoreError::Unreadable("a claimed operation has no frozen request".to_owned());
    Ok(operation.frozen.as_deref().ok_or_else(missing)?)
}

/// The account that an operation's request is frozen for, whether or not it can be asked.
pub(crate) fn account_in(operation: &OperationRecord) -> Result<ProviderAccount, EngineError> {
    Ok(request_of(operation)?.account.clone())
}

impl Engine {
    /// The account and the request an operation was frozen with (R15).
    pub(crate) async fn frozen(
        &self,
        tenant: &Tenant,
        operation: &OperationRecord,
    ) -> Result<FrozenRequest, EngineError> {
        let account = self.frozen_account(tenant, operation).await?;
        let frozen = self.frozen_of(operation)?;
        let Content { body, .. } = self.content(tenant, operation, frozen)?;
        Ok(FrozenRequest { account, method: frozen.method.clone(), path: frozen.path.clone(), body })
    }

    /// The account alone, as it is reached now if it is still the merchant's: whoever only asks needs no request that opens.
    pub(crate) async fn frozen_account(
        &self,
        tenant: &Tenant,
        operation: &OperationRecord,
    ) -> Result<Account, EngineError> {
        if planted::is(Fault::PresentAccount) {
            return Ok(self.current_account(tenant).await?.0);
        }
        let frozen = self.frozen_of(operation)?;
        if let Some(newest) = self.newest(tenant, frozen).await? {
            return Ok(newest);
        }
        let secret = self.content(tenant, operation, frozen)?.secret;
        Ok(Account { url: frozen.url.clone(), id: frozen.account.as_str().to_owned(), secret })
    }

    fn frozen_of<'o>(&self, operation: &'o OperationRecord) -> Result<&'o Frozen, EngineError> {
        let frozen = request_of(operation)?;
        if frozen.provider != self.provider.name() {
            return Err(EngineError::UnknownProvider(frozen.provider.clone()));
        }
        Ok(frozen)
    }

    fn content(
        &self,
        tenant: &Tenant,
        operation: &OperationRecord,
        frozen: &Frozen,
    ) -> Result<Content, EngineError> {
        let opened = self.vault.open(&frozen.sealed_body, &Seal::request(tenant, operation.intent))?;
        Ok(Content::from_bytes(&opened).ok_or(SealError)?)
    }

    /// The merchant's account with its present secret and address, if it is still this one: keys are rotated, and a provider's address
    /// changes, while payments are under way. What names an account is its provider and its id there.
    async fn newest(&self, tenant: &Tenant, frozen: &Frozen) -> Result<Option<Account>, EngineError> {
        let Some(merchant) = self.directory.merchant(tenant).await? else { return Ok(None) };
        if merchant.provider != frozen.provider || merchant.account != frozen.account {
            return Ok(None);
        }
        Ok(Some(self.account_of(&merchant)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_reads_back_and_nothing_else_does() {
        for (secret, body) in [("", ""), ("secret", "{}"), ("ключ", "\u{0}")] {
            let content = Content { secret: Secret(secret.to_owned()), body: body.as_bytes().to_vec() };
            assert_eq!(Content::from_bytes(&content.to_bytes()), Some(content));
        }
        for wrong in [&[0, 0, 0][..], &[0, 0, 0, 2, b'a'], &[0, 0, 0, 1, 0xff]] {
            assert_eq!(Content::from_bytes(wrong), None);
        }
    }
}
