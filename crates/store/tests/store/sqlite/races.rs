//! Many at once, over two stores on one file, as two processes would: an index or a guarded write decides (R6).

use std::{future::Future, sync::Arc};

use payment::{DeclinedBy, IntentId, State, StateName};
use store::{
    CheckoutRecord, Claimed, Commit, Committed, IntentRecord, KnownKey, OpenedCheckout, OpenedIntent,
    SqlStore, Sqlite, Store, Submitted,
};
use tokio::sync::Barrier;

use super::File;
use crate::{
    commands::{LEASE_MS, declined, open, open_intent, outcome, submit, tenant},
    world::{World, due, story},
};

const RACERS: usize = 16;

/// A file with two stores on it, and a world over one of them.
struct Track {
    file: File,
    stores: [Arc<SqlStore<Sqlite>>; 2],
    world: World,
}

impl Track {
    async fn new() -> Self {
        let file = File::new();
        let stores = [Arc::new(file.store().await), Arc::new(file.store().await)];
        let world = file.world().await;
        Self { file, stores, world }
    }

    /// Starts all at the same moment, half of them on each store; their answers.
    async fn race<R, F>(&self, racer: impl Fn(Arc<SqlStore<Sqlite>>, usize) -> F) -> Vec<R>
    where
        R: Send + 'static,
        F: Future<Output = R> + Send + 'static,
    {
        let start = Arc::new(Barrier::new(RACERS));
        let racers: Vec<_> = (0..RACERS)
            .map(|number| {
                let (start, run) = (Arc::clone(&start), racer(Arc::clone(&self.stores[number % 2]), number));
                tokio::spawn(async move {
                    start.wait().await;
                    run.await
                })
            })
            .collect();
        let mut answers = Vec::new();
        for racer in racers {
            answers.push(racer.await.unwrap());
        }
        answers
    }

    async fn count(&self, table: &str) -> i64 {
        self.file.raw().await.count(table).await
    }

    async fn race_for_an_order(&self) -> Vec<OpenedCheckout> {
        let race = |store: Arc<SqlStore<Sqlite>>, number| async move {
            store.open_checkout(open(&format!("key-{number}"), "order-1")).await.unwrap()
        };
        self.race(race).await
    }

    async fn race_for_a_key(&self) -> Vec<OpenedCheckout> {
        let race = |store: Arc<SqlStore<Sqlite>>, _| async move {
            store.open_checkout(open("key-1", "order-1")).await.unwrap()
        };
        self.race(race).await
    }

    async fn race_to_occupy(&self) -> Vec<OpenedIntent> {
        let checkout = self.world.settled("order-1", declined()).await.checkout.id;
        let race = |store: Arc<SqlStore<Sqlite>>, number| async move {
            store.open_intent(open_intent(&format!("try-{number}"), checkout)).await.unwrap()
        };
        self.race(race).await
    }

    async fn race_to_submit(&self) -> (IntentId, Vec<Submitted>) {
        let (checkout, intent) = self.world.offer("order-1").await;
        let race = |store: Arc<SqlStore<Sqlite>>, _| {
            let command = submit(&checkout, &intent);
            async move { store.submit(command).await.unwrap() }
        };
        (intent.id, self.race(race).await)
    }

    async fn race_to_claim(&self) -> (IntentId, Vec<Vec<Claimed>>) {
        let claim = self.world.sent("order-1").await;
        self.file.clock.advance(LEASE_MS);
        let race = |store: Arc<SqlStore<Sqlite>>, _| async move { store.claim_due(due(3)).await.unwrap() };
        (claim.intent.id, self.race(race).await)
    }

    async fn race_to_commit(&self) -> (Claimed, Vec<(String, Committed)>) {
        let claim = self.world.sent("order-1").await;
        let race = |store: Arc<SqlStore<Sqlite>>, number| {
            let commit = ending(&claim, number);
            async move { (number.to_string(), store.commit(commit).await.unwrap()) }
        };
        let answers = self.race(race).await;
        (claim, answers)
    }
}

/// An outcome that no other racer has.
fn ending(claim: &Claimed, number: usize) -> Commit {
    let state = State::Declined { by: DeclinedBy::Issuer, code: number.to_string(), message: String::new() };
    outcome(claim, state)
}

fn only<T>(mut all: Vec<T>) -> T {
    assert_eq!(all.len(), 1, "exactly one wins");
    all.remove(0)
}

async fn read(store: &SqlStore<Sqlite>, id: IntentId) -> (CheckoutRecord, IntentRecord) {
    store.intent(tenant(), id).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r6_fault_16_one_of_many_opens_the_order() {
    let track = Track::new().await;
    let answers = track.race_for_an_order().await;
    let made =
        |opened: &OpenedCheckout| matches!(opened, OpenedCheckout::Fresh(_, answer) if answer.status == 201);
    only(answers.into_iter().filter(made).collect());
    for table in ["checkout", "payment_intent", "operation"] {
        assert_eq!(track.count(table).await, 1, "{table}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r6_who_did_not_open_the_order_adopts_it() {
    let track = Track::new().await;
    let mut adopted = 0;
    for opened in track.race_for_an_order().await {
        let OpenedCheckout::Fresh(checkout, answer) = opened else { panic!("{opened:?}") };
        assert_eq!(checkout.id, track.world.order("order-1").await.unwrap().0.id);
        adopted += usize::from(answer.status == 200);
    }
    assert_eq!(adopted, RACERS - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r6_fault_16_one_of_many_claims_the_key() {
    let track = Track::new().await;
    let answers = track.race_for_a_key().await;
    only(answers.into_iter().filter(|opened| matches!(opened, OpenedCheckout::Fresh(..))).collect());
    assert_eq!((track.count("idempotency_key").await, track.count("checkout").await), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r2_who_did_not_claim_the_key_gets_the_first_answer() {
    let track = Track::new().await;
    let (mut first, mut replays) = (Vec::new(), Vec::new());
    for opened in track.race_for_a_key().await {
        match &opened {
            OpenedCheckout::Fresh(_, answer) => first.push(Some(answer.clone())),
            OpenedCheckout::Known(KnownKey::Same { answer, .. }) => replays.push(answer.clone()),
            OpenedCheckout::Known(KnownKey::Reused { .. })
            | OpenedCheckout::Paid(_)
            | OpenedCheckout::InProgress(..)
            | OpenedCheckout::Gated => panic!("{opened:?}"),
        }
    }
    let first = only(first);
    assert_eq!(replays, vec![first; RACERS - 1]);
}

/// Also woocommerce-gateway-stripe#3638.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r6_one_of_many_occupies_the_checkout() {
    let track = Track::new().await;
    let answers = track.race_to_occupy().await;
    let made =
        |opened: &OpenedIntent| matches!(opened, OpenedIntent::Fresh(_, answer) if answer.status == 201);
    only(answers.into_iter().filter(made).collect());
    assert_eq!(track.count("payment_intent").await, 2);
    assert_eq!(track.count("payment_intent WHERE state = 'created'").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r6_who_does_not_occupy_is_told_who_does() {
    let track = Track::new().await;
    let answers = track.race_to_occupy().await;
    let (_, newest) = track.world.order("order-1").await.unwrap();
    for opened in answers {
        let OpenedIntent::Fresh(_, answer) = opened else { panic!("{opened:?}") };
        assert!(String::from_utf8(answer.body).unwrap().contains(&newest.id.to_string()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r6_fault_3_one_of_many_submits() {
    let track = Track::new().await;
    let (intent, answers) = track.race_to_submit().await;
    let won = only(answers.into_iter().filter(|answer| matches!(answer, Submitted::Claimed(_))).collect());
    let Submitted::Claimed(claim) = won else { panic!("{won:?}") };
    let story = story(track.stores[0].as_ref(), tenant(), intent).await;
    assert_eq!((story.attempts.len(), story.operation), (1, claim.operation));
    assert_eq!(track.count("attempt").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r6_who_did_not_submit_reads_the_winners_state() {
    let track = Track::new().await;
    let (intent, answers) = track.race_to_submit().await;
    let (_, now) = read(&track.stores[1], intent).await;
    for answer in answers.into_iter().filter(|answer| !matches!(answer, Submitted::Claimed(_))) {
        let Submitted::Known(KnownKey::Same { intent, answer, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!((*intent, answer), (now.clone(), None));
    }
    assert_eq!(now.state.name(), StateName::Processing);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r14_one_of_many_claims_what_is_due() {
    let track = Track::new().await;
    let (intent, answers) = track.race_to_claim().await;
    let claim = only(answers.into_iter().flatten().collect());
    assert_eq!(claim.operation.fence, 2);
    let story = story(track.stores[0].as_ref(), tenant(), intent).await;
    assert_eq!((story.operation, story.attempts.len()), (claim.operation, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r14_who_claims_nothing_gets_nothing() {
    let track = Track::new().await;
    let (_, answers) = track.race_to_claim().await;
    assert_eq!(answers.iter().filter(|claims| claims.is_empty()).count(), RACERS - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r14_one_of_many_commits_under_a_fence() {
    let track = Track::new().await;
    let (claim, answers) = track.race_to_commit().await;
    let done = |(_, committed): &(String, Committed)| matches!(committed, Committed::Done { .. });
    let (winner, _) = only(answers.into_iter().filter(done).collect());
    let (_, intent) = read(&track.stores[0], claim.intent.id).await;
    assert!(matches!(&intent.state, State::Declined { code, .. } if *code == winner), "{:?}", intent.state);
    assert_eq!(track.count("journal").await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r14_who_did_not_commit_is_stale() {
    let track = Track::new().await;
    let (claim, answers) = track.race_to_commit().await;
    let stale = Committed::Stale { fence: claim.operation.fence, version: claim.intent.version + 1 };
    let losers = answers.into_iter().filter(|(_, committed)| *committed == stale).count();
    assert_eq!(losers, RACERS - 1);
}
