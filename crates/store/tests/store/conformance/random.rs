//! The same random calls on the store in memory and on SQLite: every answer, and everything that can be read, must be equal.

use payment::{IntentId, State};
use proptest::{prelude::*, test_runner::Config};
use store::{CheckoutRecord, Claimed, Commit, IntentRecord, Store, StoreError, Submitted};

use crate::{
    commands::{
        self, confirming, declined, object, open_for, open_intent, outcome, submit, succeeded, tenant,
    },
    conformance::run,
    world::{self, DAY, MINUTE, SECOND, World},
};

#[derive(Clone, Copy, Debug)]
enum Call {
    Open { key: u8, order: u8, dear: bool },
    OpenIntent { key: u8, order: u8 },
    Submit { intent: usize, stale: bool },
    Due { most: usize },
    Commit { claim: usize, to: u8, old_version: bool, charge: bool },
    Expire { limit: u32 },
    Advance { ms: i64 },
}

fn any_call() -> impl Strategy<Value = Call> {
    let pauses = prop::sample::select(vec![1, 10 * SECOND, 30 * SECOND, 16 * MINUTE, DAY]);
    prop_oneof![
        3 => (0_u8..6, 0_u8..3, prop::bool::weighted(0.3)).prop_map(|(key, order, dear)| Call::Open { key, order, dear }),
        2 => (0_u8..6, 0_u8..3).prop_map(|(key, order)| Call::OpenIntent { key, order }),
        4 => (0_usize..8, prop::bool::weighted(0.1)).prop_map(|(intent, stale)| Call::Submit { intent, stale }),
        3 => (0_usize..3).prop_map(|most| Call::Due { most }),
        5 => (0_usize..8, 0_u8..9, prop::bool::weighted(0.1), prop::bool::weighted(0.1))
            .prop_map(|(claim, to, old_version, charge)| Call::Commit { claim, to, old_version, charge }),
        1 => (0_u32..3).prop_map(|limit| Call::Expire { limit }),
        3 => pauses.prop_map(|ms| Call::Advance { ms }),
    ]
}

/// What the calls so far have brought to light.
#[derive(Default)]
struct Seen {
    intents: Vec<(CheckoutRecord, IntentRecord)>,
    claims: Vec<Claimed>,
}

impl Seen {
    fn note(&mut self, found: Option<(CheckoutRecord, IntentRecord)>) {
        let Some(found) = found else { return };
        if !self.intents.iter().any(|(_, intent)| intent.id == found.1.id) {
            self.intents.push(found);
        }
    }

    fn ids(&self) -> Vec<IntentId> {
        self.intents.iter().map(|(_, intent)| intent.id).collect()
    }
}

/// Two stores under one clock's hands.
struct Twins {
    memory: World,
    sqlite: World,
}

impl Twins {
    async fn both<R: std::fmt::Debug>(
        &self,
        call: impl AsyncFn(&dyn Store) -> Result<R, StoreError>,
    ) -> Option<R> {
        let expected = call(self.memory.store.as_ref()).await;
        let found = call(self.sqlite.store.as_ref()).await;
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                Some(expected)
            }
            (Err(expected), Err(found)) => {
                assert_eq!(std::mem::discriminant(&found), std::mem::discriminant(&expected));
                None
            }
            (expected, found) => panic!("memory: {expected:?}, SQLite: {found:?}"),
        }
    }

    async fn call(&self, call: Call, seen: &mut Seen) {
        match call {
            Call::Open { key, order, dear } => {
                let amount = if dear { "1700.00" } else { "1500.00" };
                let command = open_for(tenant(), &format!("open-{key}"), &format!("order-{order}"), amount);
                self.both(async |store| store.open_checkout(command.clone()).await).await;
                seen.note(self.memory.order(command.terms.order.as_str()).await);
            }
            Call::OpenIntent { key, order } => {
                let Some((checkout, _)) = self.memory.order(&format!("order-{order}")).await else { return };
                let command = open_intent(&format!("try-{key}"), checkout.id);
                self.both(async |store| store.open_intent(command.clone()).await).await;
                seen.note(self.memory.order(checkout.order.as_str()).await);
            }
            Call::Submit { intent, stale } => self.submit(intent, stale, seen).await,
            Call::Due { most } => {
                let claim = world::due(most);
                let due = self.both(async |store| store.claim_due(claim.clone()).await).await;
                seen.claims.extend(due.unwrap_or_default());
            }
            Call::Commit { claim, to, old_version, charge } => {
                if seen.claims.is_empty() {
                    return;
                }
                let commit = commit(&seen.claims[claim % seen.claims.len()], to, old_version, charge);
                self.both(async |store| store.commit(commit.clone()).await).await;
            }
            Call::Expire { limit } => {
                self.both(async |store| store.expire(limit).await).await;
            }
            Call::Advance { ms } => {
                self.memory.clock.advance(ms);
                self.sqlite.clock.advance(ms);
            }
        }
    }

    async fn submit(&self, intent: usize, stale: bool, seen: &mut Seen) {
        if seen.intents.is_empty() {
            return;
        }
        let (checkout, intent) = &seen.intents[intent % seen.intents.len()];
        let mut command = submit(checkout, intent);
        command.version += i64::from(stale);
        let submitted = self.both(async |store| store.submit(command.clone()).await).await;
        if let Some(Submitted::Claimed(claim)) = submitted {
            seen.claims.push(*claim);
        }
    }

    async fn compare(&self, seen: &Seen) {
        for id in seen.ids() {
            self.both(async |store| store.intent(tenant(), id).await).await;
            self.both(async |store| store.story(tenant(), id).await).await;
            world::story(self.sqlite.store.as_ref(), tenant(), id).await;
            world::story(self.memory.store.as_ref(), tenant(), id).await;
        }
        for order in ["order-0", "order-1", "order-2"] {
            assert_eq!(self.sqlite.order(order).await, self.memory.order(order).await);
        }
    }
}

fn commit(claim: &Claimed, to: u8, old_version: bool, charge: bool) -> Commit {
    let own = format!("object of {}", claim.intent.id);
    let url = "https://bank.example/3ds".to_owned();
    let state = match to {
        0 => claim.intent.state.clone(),
        1 => confirming(None),
        2 => confirming(Some(&own)),
        3 => State::RequiresAction { object: object(&own), url },
        4 => State::Authorized { object: object(&own) },
        5 | 6 => declined(),
        // An object of another intent, too: its unique index decides.
        7 => succeeded("object of somebody"),
        _ => succeeded(&own),
    };
    let mut commit = outcome(claim, state);
    commit.version -= i64::from(old_version);
    if charge {
        commit.charges = vec![commands::charge(object("object of somebody"))];
        commit.paid_with = Some(payment::PaidWith { last4: None });
    }
    commit
}

proptest! {
    #![proptest_config(Config { cases: 48, failure_persistence: None, ..Config::default() })]

    #[test]
    fn memory_and_sqlite_answer_alike(calls in prop::collection::vec(any_call(), 1..60)) {
        run(async {
            let twins = Twins { memory: World::in_memory(), sqlite: World::on_sqlite().await };
            let mut seen = Seen::default();
            for call in calls {
                twins.call(call, &mut seen).await;
            }
            twins.compare(&seen).await;
        });
    }
}
