//! Writes down what came of a claim, and says so.

use payment::{IntentId, JournalLine};
use store::{Change, Claimed, Commit, Committed, StoreError, Tenant};

use crate::{Engine, EngineError, drive::Driven, failpoint::failpoint};

impl Engine {
    /// One fenced commit, and how things stand then.
    pub(crate) async fn settle(&self, claimed: &Claimed, commit: Commit) -> Result<Driven, EngineError> {
        self.write(claimed, commit).await?;
        self.driven(&claimed.intent.tenant, claimed.intent.id).await
    }

    /// How things stand.
    pub(crate) async fn driven(&self, tenant: &Tenant, intent: IntentId) -> Result<Driven, EngineError> {
        let (checkout, intent) = self.reread(tenant, intent).await?;
        Ok(Driven { checkout, intent })
    }

    /// One fenced commit; whether it is written. A holder that lost its lease writes nothing, and learns it here (R14).
    pub(crate) async fn write(&self, claimed: &Claimed, commit: Commit) -> Result<bool, EngineError> {
        let commit = self.without_repeats(&claimed.intent.tenant, commit).await?;
        let anomalous = !commit.anomalies.is_empty();
        let committed = match self.store.commit(commit.clone()).await {
            // The commit may be there: the same one is recognised by fence and version.
            Err(StoreError::Unknown(_)) => self.store.commit(commit).await,
            other => other,
        };
        let written = match committed? {
            Committed::Done { extra, other_sum, .. } => {
                let (intent, order) = (&claimed.intent, &claimed.checkout.order);
                if extra || anomalous {
                    tracing::error!(intent = %intent.id, %order, extra,
                        "the provider contradicts what was known; the journal tells how, and a person has to look");
                }
                if other_sum {
                    tracing::error!(intent = %intent.id, %order,
                        "the order is paid with another sum than its own; its page tells the shopper to ask the shop");
                }
                self.changes.changed(&intent.tenant, intent.id);
                // Whoever still looks at the try before it is to follow.
                intent.previous.iter().for_each(|previous| self.changes.changed(&intent.tenant, *previous));
                true
            }
            Committed::Stale { fence, version } => {
                tracing::warn!(intent = %claimed.intent.id, held = claimed.operation.fence, fence, version,
                    "the lease was lost; what this holder learned is left to the next one");
                false
            }
        };
        failpoint!("write.committed");
        Ok(written)
    }

    /// A provider that goes on contradicting what was known is told of once, not with every look.
    async fn without_repeats(&self, tenant: &Tenant, mut commit: Commit) -> Result<Commit, EngineError> {
        let moves = commit.changes.iter().any(|change| change.from != change.to);
        if commit.anomalies.is_empty() || commit.changes.is_empty() || moves {
            return Ok(commit);
        }
        let story = self.store.story(tenant.clone(), commit.intent).await?;
        let journal = story.map(|story| story.journal).unwrap_or_default();
        let stands = |change: &Change| {
            let told = |line: &JournalLine| line.event == change.event && line.evidence == change.evidence;
            journal.iter().any(|row| told(&row.line))
        };
        if commit.changes.iter().all(stands) {
            commit.changes.clear();
            commit.anomalies.clear();
        }
        Ok(commit)
    }
}
