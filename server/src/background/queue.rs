//! What becomes due and is worked on, claim by claim: operations, notifications, effects. Each claim is worked on in a task of its own,
//! so that one that hangs holds up no other; and no merchant has all the tasks, so that a merchant whose work hangs holds up no other.

use std::{sync::Arc, time::Duration};

use engine::{Claim, Engine, EngineError};
use payment::MerchantId;
use store::{ClaimedEffect, ClaimedNotice};
use tokio::{sync::Notify, time::MissedTickBehavior};
use tokio_util::task::TaskTracker;

use super::shares::{Room, Shares};

/// Tells whoever works on a queue that something has come in.
#[derive(Clone, Debug, Default)]
pub struct Nudge(Arc<Notify>);

impl Nudge {
    /// Something has come in.
    pub fn nudge(&self) {
        self.0.notify_one();
    }
}

/// Something that becomes due.
pub(super) trait Queue: Clone + Send + Sync + 'static {
    /// The right to work on one.
    type Claim: Send + 'static;
    /// Claims worked on at the same time, of all merchants.
    const CONCURRENCY: usize;
    /// Claims of one transaction.
    const CLAIM_AT_ONCE: usize;
    /// Between two such transactions.
    const PACE: Duration;
    /// How often it is looked for what is due.
    const LOOK_EVERY: Duration;

    /// Claims what there is room for.
    fn claim(&self, room: Room) -> impl Future<Output = Result<Vec<Self::Claim>, EngineError>> + Send;

    /// Whose it is.
    fn merchant(claim: &Self::Claim) -> &MerchantId;

    /// Works on one. What fails is told by its name and comes again when its lease ends.
    fn work(&self, claim: Self::Claim) -> impl Future<Output = Result<(), (String, EngineError)>> + Send;
}

/// Works on a queue until it is dropped: it only waits between transactions, which run in the store's own tasks.
pub(super) async fn work<Q: Queue>(queue: Q, tasks: TaskTracker, nudge: Nudge) {
    let shares = Arc::new(Shares::new(Q::CONCURRENCY));
    let mut ticks = tokio::time::interval(Q::LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = nudge.0.notified() => {}
            () = shares.freed.notified() => {}
        }
        let mut more = true;
        while more {
            more = claim(&queue, &tasks, &shares).await;
            tokio::time::sleep(Q::PACE).await;
        }
    }
}

/// Claims what is due and there is room for; whether there may be more.
async fn claim<Q: Queue>(queue: &Q, tasks: &TaskTracker, shares: &Arc<Shares>) -> bool {
    // Nobody else takes places of it: each that is claimed finds its own.
    let room = shares.room(Q::CLAIM_AT_ONCE);
    let most = room.most;
    if most == 0 {
        return false;
    }
    let (queue, working, shares) = (queue.clone(), tasks.clone(), Arc::clone(shares));
    // In its own task: a claim that is committed must reach its worker even while the server stops.
    let claiming = tasks.spawn(async move {
        let claims = match queue.claim(room).await {
            Ok(claims) => claims,
            Err(error) => {
                tracing::warn!(%error, "looking for what is due failed; it is looked for again");
                return false;
            }
        };
        let more = claims.len() == most;
        for claimed in claims {
            let place = shares.take(Q::merchant(&claimed).clone());
            let worker = queue.clone();
            working.spawn(async move {
                let _place = place;
                if let Err((what, error)) = worker.work(claimed).await {
                    tracing::warn!(%what, %error, "working on this failed; its lease ends and it is worked on again");
                }
            });
        }
        more
    });
    claiming.await.unwrap_or(false)
}

/// Operations whose wake-up has come.
#[derive(Clone)]
pub(super) struct Operations(pub(super) Engine);

impl Queue for Operations {
    type Claim = Claim;
    const CONCURRENCY: usize = 64;
    /// At most 250 a second begin: ten thousand that are due at once leave room for who pays just now, and are done within a minute.
    const CLAIM_AT_ONCE: usize = 3;
    const PACE: Duration = Duration::from_millis(12);
    const LOOK_EVERY: Duration = Duration::from_millis(200);

    async fn claim(&self, room: Room) -> Result<Vec<Claim>, EngineError> {
        self.0.claim_due(room.most, room.busy).await
    }

    fn merchant(claim: &Claim) -> &MerchantId {
        &claim.work.operation.tenant.merchant
    }

    async fn work(&self, claim: Claim) -> Result<(), (String, EngineError)> {
        let intent = claim.work.intent.id;
        self.0.drive(claim).await.map(drop).map_err(|error| (intent.to_string(), error))
    }
}

/// Notifications to ask about.
#[derive(Clone)]
pub(super) struct Notifications(pub(super) Engine);

impl Queue for Notifications {
    type Claim = ClaimedNotice;
    const CONCURRENCY: usize = 32;
    const CLAIM_AT_ONCE: usize = 16;
    const PACE: Duration = Duration::ZERO;
    const LOOK_EVERY: Duration = Duration::from_millis(500);

    async fn claim(&self, room: Room) -> Result<Vec<ClaimedNotice>, EngineError> {
        self.0.claim_notices(u32::try_from(room.most).unwrap_or(u32::MAX), room.busy).await
    }

    fn merchant(claim: &ClaimedNotice) -> &MerchantId {
        &claim.notice.tenant.merchant
    }

    async fn work(&self, claim: ClaimedNotice) -> Result<(), (String, EngineError)> {
        let object = claim.notice.said.object.clone();
        self.0.work_notice(claim).await.map_err(|error| (format!("a notification about {object}"), error))
    }
}

/// Webhooks and mails to deliver.
#[derive(Clone)]
pub(super) struct Effects(pub(super) Engine);

impl Queue for Effects {
    type Claim = ClaimedEffect;
    const CONCURRENCY: usize = 64;
    const CLAIM_AT_ONCE: usize = 16;
    const PACE: Duration = Duration::ZERO;
    const LOOK_EVERY: Duration = Duration::from_millis(200);

    async fn claim(&self, room: Room) -> Result<Vec<ClaimedEffect>, EngineError> {
        self.0.claim_effects(u32::try_from(room.most).unwrap_or(u32::MAX), room.busy).await
    }

    fn merchant(claim: &ClaimedEffect) -> &MerchantId {
        &claim.effect.tenant.merchant
    }

    async fn work(&self, claim: ClaimedEffect) -> Result<(), (String, EngineError)> {
        let effect = claim.effect.id;
        self.0.deliver(claim).await.map_err(|error| (effect.to_string(), error))
    }
}
