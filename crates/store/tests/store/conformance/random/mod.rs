//! The same random calls on the store in memory and on SQLite: every answer, and every row at the end, must be equal.

mod boxes;

use payment::{IntentId, OperationState, OrderId, State, UnknownReason};
use proptest::{prelude::*, test_runner::Config};
use store::{
    CheckoutRecord, ClaimDue, Claimed, ClaimedEffect, ClaimedNotice, Commit, Fate, IntentRecord, LookOf,
    Looking, PutFate, Resolution, Start, Store, StoreError, StrangerRecord, Submitted, SweepRow, Task,
};

use self::boxes::BoxCall;
use crate::{
    commands::{
        self, confirming, declined, frozen, object, open_for, open_intent, outcome, submit, succeeded, tenant,
    },
    conformance::run,
    world::{self, DAY, MINUTE, SECOND, World},
};

/// Few, so that it is reached.
const MOST_UNFINISHED: i64 = 3;

#[derive(Clone, Copy, Debug)]
enum Call {
    Open { key: u8, order: u8, dear: bool },
    OpenIntent { key: u8, order: u8 },
    Submit { intent: usize, stale: bool },
    Due { most: usize },
    Commit { claim: usize, to: u8, old_version: bool, charges: u8 },
    Look { intent: usize, follow_up: bool },
    FollowUp { intent: usize, kind: u8, sum: u8 },
    LookNow { intent: usize },
    SetEmail { intent: usize },
    Start { away: bool },
    Swept { current: bool },
    Meet { stranger: u8, order: u8 },
    Resolve { stranger: u8, linked: bool },
    Fate { intent: usize, charge: usize, to: u8, stale: bool },
    Expire { limit: u32 },
    HandOver { claim: usize },
    Boxes(BoxCall),
    Advance { ms: i64 },
}

fn any_call() -> impl Strategy<Value = Call> {
    let pauses = prop::sample::select(vec![1, 10 * SECOND, 30 * SECOND, 16 * MINUTE, DAY]);
    prop_oneof![
        3 => (0_u8..6, 0_u8..3, prop::bool::weighted(0.3)).prop_map(|(key, order, dear)| Call::Open { key, order, dear }),
        2 => (0_u8..6, 0_u8..3).prop_map(|(key, order)| Call::OpenIntent { key, order }),
        4 => (0_usize..8, prop::bool::weighted(0.1)).prop_map(|(intent, stale)| Call::Submit { intent, stale }),
        3 => (0_usize..3).prop_map(|most| Call::Due { most }),
        6 => (0_usize..12, 0_u8..10, prop::bool::weighted(0.1), prop::sample::select(vec![0, 0, 0, 0, 1, 2]))
            .prop_map(|(claim, to, old_version, charges)| Call::Commit { claim, to, old_version, charges }),
        2 => (0_usize..8, any::<bool>()).prop_map(|(intent, follow_up)| Call::Look { intent, follow_up }),
        3 => (0_usize..8, 0_u8..3, 1_u8..4).prop_map(|(intent, kind, sum)| Call::FollowUp { intent, kind, sum }),
        1 => (0_usize..8).prop_map(|intent| Call::LookNow { intent }),
        1 => (0_usize..8).prop_map(|intent| Call::SetEmail { intent }),
        1 => prop::bool::weighted(0.3).prop_map(|away| Call::Start { away }),
        1 => prop::bool::weighted(0.8).prop_map(|current| Call::Swept { current }),
        1 => (0_u8..3, 0_u8..4).prop_map(|(stranger, order)| Call::Meet { stranger, order }),
        1 => (0_u8..3, any::<bool>()).prop_map(|(stranger, linked)| Call::Resolve { stranger, linked }),
        2 => (0_usize..8, 0_usize..3, 0_u8..3, prop::bool::weighted(0.1))
            .prop_map(|(intent, charge, to, stale)| Call::Fate { intent, charge, to, stale }),
        1 => (0_u32..3).prop_map(|limit| Call::Expire { limit }),
        1 => (0_usize..4).prop_map(|claim| Call::HandOver { claim }),
        8 => boxes::any_call().prop_map(Call::Boxes),
        3 => pauses.prop_map(|ms| Call::Advance { ms }),
    ]
}

/// What the calls so far have brought to light.
#[derive(Default)]
struct Seen {
    intents: Vec<(CheckoutRecord, IntentRecord)>,
    claims: Vec<Claimed>,
    notices: Vec<ClaimedNotice>,
    effects: Vec<ClaimedEffect>,
    /// An early state of the sweep.
    swept: Option<SweepRow>,
}

impl Seen {
    fn note(&mut self, found: Option<(CheckoutRecord, IntentRecord)>) {
        let Some(found) = found else { return };
        if !self.intents.iter().any(|(_, intent)| intent.id == found.1.id) {
            self.intents.push(found);
        }
    }

    fn intent(&self, index: usize) -> Option<IntentId> {
        self.intents.get(index % self.intents.len().max(1)).map(|(_, intent)| intent.id)
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
                let claim = ClaimDue { most_unfinished: MOST_UNFINISHED, ..world::due(most) };
                let due = self.both(async |store| store.claim_due(claim.clone()).await).await;
                seen.claims.extend(due.unwrap_or_default());
            }
            Call::Commit { claim, to, old_version, charges } => {
                let Some(claim) = newest(&seen.claims, claim) else { return };
                let commit = match &claim.operation.task {
                    Task::Pay => commit(claim, to, old_version, charges),
                    Task::FollowUp(_) => follow_up_commit(claim, to, charges),
                };
                self.both(async |store| store.commit(commit.clone()).await).await;
            }
            Call::Look { intent, follow_up } => self.look(intent, follow_up, seen).await,
            Call::FollowUp { intent, kind, sum } => self.follow_up(intent, kind, sum, seen).await,
            Call::LookNow { intent } => {
                let Some(id) = seen.intent(intent) else { return };
                self.both(async |store| store.look_now(tenant(), id).await).await;
            }
            Call::SetEmail { intent } => {
                let Some(id) = seen.intent(intent) else { return };
                self.both(async |store| store.set_email(tenant(), id, "shopper@example.com".into()).await)
                    .await;
            }
            Call::Fate { intent, charge, to, stale } => {
                let Some(id) = seen.intent(intent) else { return };
                let Some(mut charge) = self.memory.story(id).await.charges.into_iter().nth(charge) else {
                    return;
                };
                charge.reserved_minor += i64::from(stale);
                let fate = [None, Some(Fate::Kept), Some(Fate::Returned)][usize::from(to)];
                let command = PutFate { charge, fate, evidence: "a person says so".into() };
                self.both(async |store| store.put_fate(command.clone()).await).await;
            }
            Call::Start { .. } | Call::Swept { .. } | Call::Meet { .. } | Call::Resolve { .. } => {
                self.around(call, seen).await;
            }
            Call::Expire { limit } => {
                self.both(async |store| store.expire(limit).await).await;
            }
            Call::HandOver { claim } => {
                let Some(lease) = newest(&seen.claims, claim).and_then(|claim| claim.operation.lease) else {
                    return;
                };
                self.both(async |store| store.hand_over(lease.holder, commands::LEASE_MS).await).await;
            }
            Call::Boxes(call) => self.boxes(call, seen).await,
            Call::Advance { ms } => {
                self.memory.clock.advance(ms);
                self.sqlite.clock.advance(ms);
            }
        }
    }

    async fn look(&self, intent: usize, follow_up: bool, seen: &mut Seen) {
        let Some(id) = seen.intent(intent) else { return };
        let story = self.memory.story(id).await;
        let of = match story.follow_ups.last() {
            Some(last) if follow_up => LookOf::Operation(last.id),
            Some(_) | None => LookOf::Intent(id),
        };
        let command = commands::look(of);
        let looked = self.both(async |store| store.claim_look(command.clone()).await).await;
        if let Some(Looking::Claimed(claim)) = looked {
            seen.claims.push(*claim);
        }
    }

    async fn follow_up(&self, intent: usize, kind: u8, sum: u8, seen: &Seen) {
        let Some(id) = seen.intent(intent) else { return };
        let (intent, own) = (self.memory.intent(id).await, format!("object of {id}"));
        let command = match kind {
            0 => commands::capture(&intent, &own),
            1 => commands::cancel(&intent, &own),
            _ => commands::refund(&intent, &own, &format!("{}00.00", u32::from(sum) * 4)),
        };
        self.both(async |store| store.open_follow_up(command.clone()).await).await;
    }

    /// What happens to the servers and to the merchant's account, not to an intent.
    async fn around(&self, call: Call, seen: &mut Seen) {
        let account = frozen("").account;
        let swept = async |store: &dyn Store| store.sweep(tenant(), account.clone()).await;
        match call {
            Call::Start { away } => {
                if away {
                    self.memory.clock.advance(MINUTE);
                    self.sqlite.clock.advance(MINUTE);
                } else {
                    self.both(async |store| store.beat().await).await;
                }
                let own = vec![(tenant(), account.clone())];
                let start = Start { own, left: Vec::new(), gap_ms: 30 * SECOND };
                self.both(async |store| store.start(start.clone()).await).await;
                seen.swept = self.both(swept).await.map(|(row, _)| row).filter(|_| seen.swept.is_none());
            }
            Call::Swept { current } => {
                let now = self.both(swept).await.map(|(row, now)| SweepRow { swept_until: now, ..row });
                let read = if current { now } else { seen.swept.clone() };
                let Some(read) = read else { return };
                self.both(async |store| store.swept(read.clone()).await).await;
            }
            Call::Meet { stranger, order } => {
                let found = stranger_of(stranger, order);
                self.both(async |store| store.put_stranger(found.clone()).await).await;
            }
            Call::Resolve { stranger, linked } => {
                let found = stranger_of(stranger, 0);
                let said = Resolution { linked, reason: "a person says so".into() };
                self.both(async |store| store.resolve_stranger(found.clone(), said.clone()).await).await;
            }
            Call::Open { .. }
            | Call::OpenIntent { .. }
            | Call::Submit { .. }
            | Call::Due { .. }
            | Call::Commit { .. }
            | Call::Look { .. }
            | Call::FollowUp { .. }
            | Call::LookNow { .. }
            | Call::SetEmail { .. }
            | Call::Fate { .. }
            | Call::Expire { .. }
            | Call::HandOver { .. }
            | Call::Boxes(_)
            | Call::Advance { .. } => panic!("{call:?} is another's"),
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

    /// Every row, and what is read of them.
    async fn compare(&self, seen: &Seen) {
        assert_eq!(self.sqlite.rows().await, self.memory.rows().await);
        let account = frozen("").account;
        for id in seen.ids() {
            self.both(async |store| store.story(tenant(), id).await).await;
            self.both(async |store| store.effects(tenant(), id).await).await;
            world::story(self.sqlite.store.as_ref(), tenant(), id).await;
            world::story(self.memory.store.as_ref(), tenant(), id).await;
        }
        for order in ["order-0", "order-1", "order-2"] {
            assert_eq!(self.sqlite.order(order).await, self.memory.order(order).await);
            let order = OrderId::parse(order).unwrap();
            self.both(async |store| store.doubt(tenant(), order.clone()).await).await;
        }
        for number in 0..3 {
            for untold in [true, false] {
                let stranger = StrangerRecord { untold, ..stranger_of(number, 0) };
                self.both(async |store| store.stranger_took_money(stranger.clone()).await).await;
            }
        }
        self.both(async |store| store.review(10).await).await;
        self.both(async |store| store.open_extras(10).await).await;
        self.both(async |store| store.undelivered_effects(10).await).await;
        self.both(async |store| store.unfinished_accounts().await).await;
        self.both(async |store| store.waiting_strangers(tenant(), account.clone(), 10).await).await;
        self.both(async |store| store.replaced_charges(tenant(), account.clone(), 10).await).await;
    }
}

/// The newest first: most of the older claims are stale.
fn newest<C>(claims: &[C], index: usize) -> Option<&C> {
    claims.iter().rev().nth(index % claims.len().max(1))
}

fn stranger_of(number: u8, order: u8) -> StrangerRecord {
    commands::stranger(&format!("stranger {number}"), Some(&format!("order-{order}")))
}

/// A follow-up's commit: most leave the intent alone, some say that its money was taken.
fn follow_up_commit(claim: &Claimed, to: u8, charges: u8) -> Commit {
    let own = format!("object of {}", claim.intent.id);
    let state = match to {
        0..3 => OperationState::Confirming { since: claim.now, why: UnknownReason::NoAnswer },
        3 => OperationState::NeedsReview { since: claim.now },
        4 | 5 => OperationState::NotExecuted,
        6 => OperationState::Rejected { code: "no".into(), message: String::new() },
        _ => OperationState::Succeeded { at: claim.now },
    };
    let mut commit = commands::follow_up_outcome(claim, state);
    if to == 9 && !claim.intent.state.is_terminal() {
        let told = outcome(claim, succeeded(&own));
        commit.touches_intent = true;
        (commit.state, commit.charges, commit.object) = (told.state, told.charges, told.object);
        commit.changes.extend(told.changes);
    }
    if charges == 2 {
        commit.object = Some(object(&format!("made by {}", claim.operation.id)));
    }
    commit
}

fn commit(claim: &Claimed, to: u8, old_version: bool, charges: u8) -> Commit {
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
    if charges > 0 {
        commit.paid_with = Some(payment::PaidWith { last4: None });
        commit.charges.push(commands::charge(object("object of somebody")));
    }
    if charges > 1 {
        commit.charges.insert(0, commands::charge(object(&own)));
        commit.absent_since = Some(claim.now);
    }
    commit
}

fn answer_alike(calls: Vec<Call>) {
    run(async {
        let twins = Twins { memory: World::in_memory(), sqlite: World::on_sqlite().await };
        let mut seen = Seen::default();
        for call in calls {
            twins.call(call, &mut seen).await;
        }
        twins.compare(&seen).await;
    });
}

proptest! {
    #![proptest_config(Config { cases: 48, failure_persistence: None, ..Config::default() })]

    #[test]
    fn memory_and_sqlite_answer_alike(calls in prop::collection::vec(any_call(), 1..60)) {
        answer_alike(calls);
    }

    /// With more that comes in and goes out.
    #[test]
    fn memory_and_sqlite_answer_alike_about_inbox_and_outbox(
        calls in prop::collection::vec(prop_oneof![any_call(), boxes::any_call().prop_map(Call::Boxes)], 1..120)
    ) {
        answer_alike(calls);
    }
}
