//! What there is to judge a person's word by: who can ask the provider, and what our own rows know of an object.

use payment::{NotExecutedReason, ObjectId, ProviderAccount, Timestamp};
use providers::{Account, By, Page, Reply, Span};
use store::{OperationRecord, StrangerRecord, Task, Tenant};

use crate::{Engine, EngineError, follow_up::Known};

/// Why the provider cannot be asked about an operation, whatever it would say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unaskable {
    /// Not by this process, and the server's own tries come to nothing: evidence decides.
    ByAnybody(String),
    /// Not by this process, which may have been given less than the server: its word must not replace the provider's.
    FromHere(String),
}

/// Why evidence decides where the provider answers us with 401 or 403, and nothing can be executed any more.
pub(super) const TURNED_AWAY: &str = "the provider does not accept the credentials of this account";

/// Why evidence decides where a provider that can be asked says nothing, and nothing can be executed any more.
pub(super) const SILENT: &str = "the provider cannot say now that it was not done";

impl Engine {
    /// Whether the provider does not talk to us about this account: what it knows, somebody else can see. One object may be forbidden
    /// alone; then the listing of any moment is not.
    pub(crate) async fn turns_away<O: Sync>(
        &self,
        account: &Account,
        reply: &Reply<O>,
        any: Timestamp,
    ) -> bool {
        let refused = matches!(reply, Reply::NotExecuted { reason: NotExecutedReason::NotAuthorized, .. });
        let span = Span { by: By::Made, from: any, to: Some(any) };
        refused && matches!(self.provider.list(account, span, None).await, Page::TurnedAway)
    }

    /// Why the provider cannot be asked about an operation; none where it can.
    pub async fn unaskable(&self, operation: &OperationRecord) -> Result<Option<Unaskable>, EngineError> {
        Ok(self.asked(operation).await?.err())
    }

    /// The account to ask about an operation, or why it cannot be asked.
    pub(crate) async fn asked(
        &self,
        operation: &OperationRecord,
    ) -> Result<Result<Known, Unaskable>, EngineError> {
        let why = match self.paid_to(&operation.tenant, operation).await {
            Ok(known) => return Ok(Ok(known)),
            Err(EngineError::Sealed(_)) => {
                "the secret of that account was sealed with another PAYONCE_SECRET".to_owned()
            }
            Err(EngineError::UnknownProvider(provider)) => {
                format!("this version knows none that is called {provider}")
            }
            Err(other) => return Err(other),
        };
        // A server that can ask comes to a result, whatever it is told.
        Ok(Err(if operation.unfinished >= self.settings.most_unfinished {
            Unaskable::ByAnybody(format!("the provider cannot be asked: {why}"))
        } else {
            Unaskable::FromHere(format!(
                "the provider cannot be asked from here: {why}. The server may be able to: give this command the PAYONCE_SECRET, the \
                 PAYONCE_SECRET_OLD and the version that it has. Evidence counts once {} of the server's own tries in a row came to \
                 no result",
                self.settings.most_unfinished
            ))
        }))
    }

    /// What our own rows know an object as, where it cannot be this operation's.
    pub(super) async fn known_as(
        &self,
        operation: &OperationRecord,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<String>, EngineError> {
        if let Some(words) = self.recorded_as(operation, account, object).await? {
            return Ok(Some(words));
        }
        let waits = self.open_stranger(&operation.tenant, account, object).await?.is_some();
        Ok(waits.then(|| format!("{object} waits for a person by itself: `payonce review show {object}`")))
    }

    /// The same, where a row of ours took it for its own, be it of another merchant with the same account.
    pub(super) async fn recorded_as(
        &self,
        operation: &OperationRecord,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<String>, EngineError> {
        let tenant = operation.tenant.clone();
        let standing = self.store.standing(tenant, account.clone(), object.clone(), None).await?;
        if let Some(charge) = standing.charge {
            return Ok(Some(format!("{object} is known already as the charge of {}", charge.intent)));
        }
        if let Some(other) = standing.linked.filter(|linked| linked.id != operation.id) {
            return Ok(Some(match other.task {
                Task::Pay => format!("{object} is known already as the payment of {}", other.intent),
                Task::FollowUp(_) => format!("{object} is known already as the refund of {}", other.id),
            }));
        }
        let elsewhere = self.counted_elsewhere(&operation.tenant, account, object).await?;
        Ok(elsewhere.map(|what| format!("the money of {object} was recorded for {what}")))
    }

    /// A stranger that waits for a person.
    pub(crate) async fn open_stranger(
        &self,
        tenant: &Tenant,
        account: &ProviderAccount,
        object: &ObjectId,
    ) -> Result<Option<StrangerRecord>, EngineError> {
        let standing = self.store.standing(tenant.clone(), account.clone(), object.clone(), None).await?;
        Ok(standing.stranger.filter(|stranger| stranger.resolution.is_none()))
    }
}
