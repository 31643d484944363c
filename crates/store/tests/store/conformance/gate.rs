//! The gate: after a gap in our own life nothing is dispatched until the listing has been read (fault 23).

use payment::{Event, Mode, NotExecutedReason, OrderId, ProviderAccount, StateName, Step};
use store::{Committed, Doubt, KnownKey, OpenedCheckout, Start, Submitted, SweepRow, Tenant, Tenure};

use crate::{
    commands::{
        EXECUTE_MS, LEASE_MS, REVIEW_AFTER_MS, WAKE_MS, declined, frozen, open, open_for, outcome, stranger,
        submit, succeeded, tenant, tenant_of,
    },
    conformance::behaviours,
    world::{DAY, SECOND, World, after, claimed, events, is},
};

behaviours!(
    fault_23_the_first_start_has_no_gate,
    fault_23_a_short_absence_puts_no_gate_down,
    fault_23_an_account_is_known_from_our_last_sign_of_life_on,
    fault_23_after_a_gap_every_account_waits,
    fault_23_while_gated_a_submission_is_taken_and_sent_afterwards,
    fault_23_while_gated_a_repeated_submission_is_known,
    fault_23_while_gated_a_submission_sends_under_no_lookers_lease,
    fault_23_what_is_unanswered_is_asked_for_while_gated,
    fault_23_what_was_never_executed_waits_and_ends_when_the_gate_is_up,
    fault_23_what_is_held_for_a_day_waits_for_a_person,
    r14_who_held_it_before_the_gate_went_down_writes_nothing,
    fault_23_the_gate_survives_a_restart,
    fault_23_while_gated_nothing_ends_as_never_sent,
    fault_23_while_gated_of_no_order_it_is_known_whether_money_was_taken,
    fault_31_a_sign_of_life_from_the_future_is_a_gap,
    fault_23_a_sweep_lifts_only_the_gate_it_read_for,
    fault_23_a_gated_account_holds_its_own_operations_and_no_others,
    what_was_read_is_never_unread,
    fault_31_nothing_is_read_beyond_now,
);

pub(super) const GAP_MS: i64 = 60 * SECOND;

pub(super) fn account(name: &str) -> ProviderAccount {
    ProviderAccount::parse(name).unwrap()
}

impl World {
    pub(super) async fn start(&self, accounts: &[(Tenant, &str)]) -> bool {
        self.start_beside(accounts, &[]).await
    }

    /// The same, while something is unfinished in accounts that were left.
    pub(super) async fn start_beside(&self, own: &[(Tenant, &str)], left: &[(Tenant, &str)]) -> bool {
        let all = |accounts: &[(Tenant, &str)]| {
            accounts.iter().map(|(tenant, name)| (tenant.clone(), account(name))).collect()
        };
        self.store.start(Start { own: all(own), left: all(left), gap_ms: GAP_MS }).await.unwrap()
    }

    pub(super) async fn sweep_of(&self, tenant: &Tenant, name: &str) -> SweepRow {
        self.store.sweep(tenant.clone(), account(name)).await.unwrap().0
    }

    /// A server has this account, and has read its listing.
    pub(super) async fn has(&self, name: &str) {
        self.start(&[(tenant(), name)]).await;
        self.clock.advance(SECOND);
        self.read_for(self.sweep_of(&tenant(), name).await).await;
        self.store.beat().await.unwrap();
    }

    /// The server was away, and starts again.
    pub(super) async fn gated(&self) -> SweepRow {
        self.has(ours()).await;
        self.clock.advance(GAP_MS + 1);
        assert!(self.start(&[(tenant(), ours())]).await);
        self.sweep_of(&tenant(), ours()).await
    }

    /// The listing is read until now, for the gate that `row` names.
    pub(super) async fn read_for(&self, row: SweepRow) {
        self.store.swept(SweepRow { swept_until: self.now(), ..row }).await.unwrap();
    }
}

/// The account that every request of these tests goes to.
pub(super) fn ours() -> &'static str {
    "100500"
}

async fn fault_23_the_first_start_has_no_gate(world: World) {
    assert_eq!(frozen("").account, account(ours()));
    assert!(!world.start(&[(tenant(), ours())]).await);
    let row = world.sweep_of(&tenant(), ours()).await;
    assert_eq!((row.swept_until, row.gated_from, row.tenure), (world.now(), None, Tenure::Own));
    world.sent("order-1").await;
}

async fn fault_23_a_short_absence_puts_no_gate_down(world: World) {
    world.start(&[(tenant(), ours())]).await;
    world.clock.advance(GAP_MS);
    assert!(!world.start(&[(tenant(), ours())]).await);
    // A heartbeat counts like a start.
    world.clock.advance(GAP_MS);
    world.store.beat().await.unwrap();
    world.clock.advance(GAP_MS);
    assert!(!world.start(&[(tenant(), ours())]).await);
    world.sent("order-1").await;
}

/// What is older is none of ours; what happened in a gap may be.
/// What this copy never sent, the lost time may have.
async fn fault_23_while_gated_nothing_ends_as_never_sent(world: World) {
    let (fresh, intent) = world.offer("order-1").await;
    let late = world.offer("order-2").await.0;
    let elsewhere = open_for(tenant_of("mer_2", Mode::Test), "another", "order-1", "7.00");
    assert!(matches!(world.store.open_checkout(elsewhere).await.unwrap(), OpenedCheckout::Fresh(..)));
    let row = world.gated().await;
    let other_terms = || world.store.open_checkout(open_for(tenant(), "other-terms", "order-1", "2000.00"));
    assert_eq!(other_terms().await.unwrap(), OpenedCheckout::Gated);
    assert_eq!(world.checkout(fresh.id).await.1, intent, "nothing was changed");
    let same_terms = world.store.open_checkout(open("same-terms", "order-1")).await.unwrap();
    assert!(matches!(same_terms, OpenedCheckout::Fresh(..)), "{same_terms:?}");
    world.clock.set(late.expires_at.plus_ms(GAP_MS));
    let expired = world.store.expire(10).await.unwrap().intents;
    assert_eq!(expired.len(), 1, "another merchant's ends");
    assert_eq!(world.checkout(late.id).await.1.state.name(), StateName::Created);
    world.read_for(row).await;
    assert_eq!(world.store.expire(10).await.unwrap().intents.len(), 2);
    assert!(matches!(other_terms().await.unwrap(), OpenedCheckout::Fresh(..)), "the key is unused");
}

async fn fault_23_while_gated_of_no_order_it_is_known_whether_money_was_taken(world: World) {
    let doubt = |tenant: Tenant| world.store.doubt(tenant, OrderId::parse("order-1").unwrap());
    let declined = world.settled("order-1", declined()).await;
    assert_eq!(doubt(tenant()).await.unwrap(), None);
    let row = world.gated().await;
    assert_eq!(doubt(tenant()).await.unwrap(), Some(Doubt::Gate));
    assert_eq!(doubt(tenant_of("mer_2", Mode::Test)).await.unwrap(), None, "another merchant's");
    let other_terms = || world.store.open_checkout(open_for(tenant(), "other-terms", "order-1", "2000.00"));
    assert_eq!(other_terms().await.unwrap(), OpenedCheckout::Gated, "it may have been tried again, and paid");
    assert!(world.store.put_stranger(stranger("stranger-1", Some("order-1"))).await.unwrap());
    assert_eq!(doubt(tenant()).await.unwrap(), Some(Doubt::Stranger));
    world.read_for(row).await;
    assert_eq!(doubt(tenant()).await.unwrap(), Some(Doubt::Stranger), "a person's word ends that");
    assert!(matches!(other_terms().await.unwrap(), OpenedCheckout::Fresh(..)));
    is(&world.intent(declined.intent.id).await, StateName::Declined);
}

async fn fault_31_a_sign_of_life_from_the_future_is_a_gap(world: World) {
    world.start(&[(tenant(), ours())]).await;
    let began = world.now();
    world.clock.set(began.plus_ms(-GAP_MS));
    assert!(!world.start(&[(tenant(), ours())]).await, "clocks are never quite the same");
    world.clock.set(began.plus_ms(-2 * GAP_MS - 1));
    assert!(world.start(&[(tenant(), ours())]).await);
    assert_eq!(world.sweep_of(&tenant(), ours()).await.gated_from, Some(world.now()));
}

async fn fault_23_an_account_is_known_from_our_last_sign_of_life_on(world: World) {
    assert_eq!(world.sweep_of(&tenant(), ours()).await.known_from, world.now());
    world.start(&[(tenant(), ours())]).await;
    let alive = world.now();
    world.clock.advance(SECOND);
    world.start(&[(tenant(), "200")]).await;
    let row = world.sweep_of(&tenant(), "200").await;
    assert_eq!(row.known_from, alive);
    world.read_for(row).await;
    assert_eq!(
        world.sweep_of(&tenant(), "200").await.known_from,
        alive,
        "reading on changes nothing about it"
    );
}

async fn fault_23_after_a_gap_every_account_waits(world: World) {
    let other = tenant_of("mer_2", Mode::Live);
    let accounts = [(tenant(), ours()), (other.clone(), "200")];
    world.start(&accounts).await;
    world.clock.advance(SECOND);
    world.read_for(world.sweep_of(&tenant(), ours()).await).await;
    world.store.beat().await.unwrap();
    let alive = world.now();
    world.clock.advance(GAP_MS + 1);
    assert!(world.start(&accounts).await);
    for (who, name) in accounts {
        let row = world.sweep_of(&who, name).await;
        assert_eq!(row.gated_from, Some(alive));
        let is_read = who == tenant();
        assert_eq!(row.swept_until == alive, is_read);
        assert_eq!(
            row.swept_until == alive.plus_ms(-30 * DAY),
            !is_read,
            "when it was met is no proof that it was read"
        );
    }
    // An account that is met for the first time was not read before the gap either.
    world.clock.advance(GAP_MS + 1);
    let met = tenant_of("mer_3", Mode::Test);
    assert!(world.start(&[(met.clone(), "300")]).await);
    assert!(world.sweep_of(&met, "300").await.gated_from.is_some());
}

async fn fault_23_while_gated_a_submission_is_taken_and_sent_afterwards(world: World) {
    let gate = world.gated().await;
    // Checkouts are still made, and submitted.
    let (checkout, intent) = world.offer("order-1").await;
    let taken = world.store.submit(submit(&checkout, &intent)).await.unwrap();
    let Submitted::Known(KnownKey::Same { intent: told, answer: None, .. }) = taken else {
        panic!("{taken:?}")
    };
    is(&told, StateName::Processing);
    assert_eq!(*told, world.intent(intent.id).await);
    world.clock.advance(10 * SECOND);
    assert!(world.due(10).await.is_empty());
    let story = world.story(intent.id).await;
    assert!(story.attempts.is_empty() && story.operation.lease.is_none());
    assert_eq!((story.operation.tries, events(&story).last()), (0, Some(&"submitted")));
    world.read_for(gate).await;
    world.clock.advance(SECOND);
    let sent = world.due(10).await.remove(0);
    assert_eq!((sent.step, sent.unanswered), (Step::Send, false));
    assert_eq!((sent.attempt.unwrap().number, sent.operation.tries), (1, 1));
    assert_eq!(sent.operation.frozen.as_deref(), Some(&frozen("a request")));
    assert_eq!(sent.operation.first_sent_at, story.operation.first_sent_at);
}

async fn fault_23_while_gated_a_repeated_submission_is_known(world: World) {
    world.gated().await;
    let (checkout, intent) = world.offer("order-1").await;
    let command = submit(&checkout, &intent);
    world.store.submit(command.clone()).await.unwrap();
    let story = world.story(intent.id).await;
    let again = world.store.submit(command).await.unwrap();
    assert!(matches!(again, Submitted::Known(KnownKey::Same { answer: None, .. })), "{again:?}");
    assert_eq!(world.story(intent.id).await, story);
}

async fn fault_23_while_gated_a_submission_sends_under_no_lookers_lease(world: World) {
    let gate = world.gated().await;
    let (checkout, intent) = world.offer("order-1").await;
    // The sweep has it in hand at this very moment.
    let seen = world.looked(intent.id).await;
    let taken = world.store.submit(submit(&checkout, &intent)).await.unwrap();
    assert!(matches!(taken, Submitted::Known(KnownKey::Same { answer: None, .. })), "{taken:?}");
    let story = world.story(intent.id).await;
    assert!(story.attempts.is_empty() && story.operation.lease.is_none());
    let stale = world.store.commit(outcome(&seen, succeeded("object-1"))).await.unwrap();
    assert!(matches!(stale, Committed::Stale { .. }), "{stale:?}");
    world.read_for(gate).await;
    assert_eq!(world.due(10).await[0].step, Step::Send);
}

async fn fault_23_what_is_unanswered_is_asked_for_while_gated(world: World) {
    let claim = world.sent("order-1").await;
    world.gated().await;
    assert!(world.now() >= claim.now.plus_ms(LEASE_MS));
    let asked = world.due(10).await.remove(0);
    assert_eq!((asked.step.clone(), asked.unanswered, asked.attempt.clone()), (Step::Find, true, None));
    world.commit(outcome(&asked, succeeded("object-1"))).await;
    is(&world.intent(claim.intent.id).await, StateName::Succeeded);
}

async fn fault_23_what_was_never_executed_waits_and_ends_when_the_gate_is_up(world: World) {
    let gate = world.gated().await;
    let (checkout, intent) = world.offer("order-1").await;
    world.store.submit(submit(&checkout, &intent)).await.unwrap();
    world.clock.advance(EXECUTE_MS - 1);
    assert!(world.due(10).await.is_empty());
    world.clock.advance(SECOND);
    assert!(world.due(10).await.is_empty(), "the lost hour may have sent it");
    world.read_for(gate).await;
    world.clock.advance(120 * SECOND);
    let ended = world.due(10).await.remove(0);
    assert_eq!((ended.step.clone(), ended.attempt.clone()), (Step::EndUnsent, None));
    world.commit(outcome(&ended, after(&ended, Event::ExecuteUntilPassed))).await;
    is(&world.intent(intent.id).await, StateName::Canceled);
}

async fn fault_23_what_is_held_for_a_day_waits_for_a_person(world: World) {
    let gate = world.gated().await;
    let (checkout, intent) = world.offer("order-1").await;
    world.store.submit(submit(&checkout, &intent)).await.unwrap();
    world.clock.advance(EXECUTE_MS + REVIEW_AFTER_MS - 1);
    assert!(world.due(10).await.is_empty());
    is(&world.intent(intent.id).await, StateName::Processing);
    world.clock.advance(120 * SECOND);
    assert!(world.due(10).await.is_empty());
    is(&world.intent(intent.id).await, StateName::NeedsReview);
    // Nor does a listing of its own account say then what became of it: it may have been sent to another.
    world.clock.advance(DAY);
    assert!(world.due(10).await.is_empty());
    is(&world.intent(intent.id).await, StateName::NeedsReview);
    world.read_for(gate).await;
    world.clock.advance(120 * SECOND);
    assert_eq!(world.due(10).await.remove(0).step, Step::Find);
}

async fn r14_who_held_it_before_the_gate_went_down_writes_nothing(world: World) {
    world.start(&[(tenant(), ours())]).await;
    let (checkout, intent) = world.offer("order-1").await;
    let first = claimed(world.store.submit(submit(&checkout, &intent)).await.unwrap());
    let not_sent = after(&first, Event::NotExecuted(NotExecutedReason::NotSent));
    world.commit(outcome(&first, not_sent)).await;
    world.clock.advance(EXECUTE_MS);
    let ending = world.due(10).await.remove(0);
    assert_eq!(ending.step, Step::EndUnsent);
    world.clock.advance(GAP_MS + LEASE_MS);
    assert!(world.start(&[(tenant(), ours())]).await);
    assert!(world.due(10).await.is_empty(), "the gate holds it");
    let late = outcome(&ending, after(&ending, Event::ExecuteUntilPassed));
    assert!(matches!(world.store.commit(late).await.unwrap(), Committed::Stale { .. }));
    is(&world.intent(intent.id).await, StateName::Processing);
}

async fn fault_23_the_gate_survives_a_restart(world: World) {
    let gate = world.gated().await;
    for _ in 0..2 {
        world.clock.advance(SECOND);
        assert!(world.start(&[(tenant(), ours())]).await);
        assert_eq!(world.sweep_of(&tenant(), ours()).await, gate);
    }
    world.read_for(gate).await;
    assert!(!world.start(&[(tenant(), ours())]).await);
    assert_eq!(world.sweep_of(&tenant(), ours()).await.gated_from, None);
}

async fn fault_23_a_sweep_lifts_only_the_gate_it_read_for(world: World) {
    world.start(&[(tenant(), ours())]).await;
    let ungated = world.sweep_of(&tenant(), ours()).await;
    let gate = world.gated().await;
    // It began before the gap.
    world.read_for(ungated).await;
    assert_eq!(world.sweep_of(&tenant(), ours()).await.gated_from, gate.gated_from);
    // It read for this gate, and there was another gap before it ended.
    let newer = world.gated().await;
    assert_ne!(newer.gated_from, gate.gated_from);
    world.read_for(gate).await;
    assert_eq!(world.sweep_of(&tenant(), ours()).await.gated_from, newer.gated_from);
    world.read_for(newer).await;
    assert_eq!(world.sweep_of(&tenant(), ours()).await.gated_from, None);
    world.sent("order-1").await;
}

async fn fault_23_a_gated_account_holds_its_own_operations_and_no_others(world: World) {
    let other = tenant_of("mer_2", Mode::Test);
    let accounts = [(tenant(), ours()), (tenant(), "100501"), (other.clone(), "200")];
    let waits = world.sent("order-1").await;
    let retry = after(&waits, Event::NotExecuted(NotExecutedReason::NotSent));
    world.commit(outcome(&waits, retry)).await;
    world.start(&accounts).await;
    world.clock.advance(GAP_MS + 1);
    world.start(&accounts).await;
    world.read_for(world.sweep_of(&other, "200").await).await;
    world.read_for(world.sweep_of(&tenant(), "100501").await).await;
    world.clock.advance(WAKE_MS);
    assert!(world.due(10).await.is_empty(), "the account it was frozen for is not read yet");
    world.read_for(world.sweep_of(&tenant(), ours()).await).await;
    world.clock.advance(SECOND);
    assert_eq!(world.due(10).await[0].step, Step::Send);
    // An account that the merchant has left, and that nobody reads any more, has no gate.
    world.store.beat().await.unwrap();
    world.clock.advance(GAP_MS + 1);
    world.start(&[(tenant(), "100501")]).await;
    world.read_for(world.sweep_of(&tenant(), "100501").await).await;
    assert!(world.sends_to("order-3", "100501").await);
    // The gate of another merchant, or of the same one's live mode, is none of ours.
    world.store.beat().await.unwrap();
    world.clock.advance(GAP_MS + 1);
    world.start(&[(other, "200"), (tenant_of("mer_1", Mode::Live), ours())]).await;
    assert!(world.sends_to("order-2", "100501").await);
}

async fn what_was_read_is_never_unread(world: World) {
    world.start(&[(tenant(), ours())]).await;
    let early = world.sweep_of(&tenant(), ours()).await;
    world.clock.advance(SECOND);
    world.read_for(early.clone()).await;
    let (row, now) = world.store.sweep(tenant(), account(ours())).await.unwrap();
    assert_eq!((row.swept_until, now), (world.now(), world.now()));
    world.store.swept(early).await.unwrap();
    assert_eq!(world.sweep_of(&tenant(), ours()).await, row);
    // An account nobody wrote down yet is read from now on.
    assert_eq!(world.sweep_of(&tenant(), "new").await.swept_until, world.now());
}

/// A clock that was ahead wrote it down, and was corrected.
async fn fault_31_nothing_is_read_beyond_now(world: World) {
    let ahead_ms = 24 * 3600 * SECOND;
    let accounts = [(tenant(), ours())];
    let reads_ahead = async || {
        world.clock.advance(ahead_ms);
        world.read_for(world.sweep_of(&tenant(), ours()).await).await;
        world.clock.advance(-ahead_ms);
        assert!(world.sweep_of(&tenant(), ours()).await.swept_until > world.now());
    };
    let is_now = async || assert_eq!(world.sweep_of(&tenant(), ours()).await.swept_until, world.now());
    world.start(&accounts).await;
    let met = world.sweep_of(&tenant(), ours()).await;
    reads_ahead().await;
    world.store.beat().await.unwrap();
    is_now().await;
    reads_ahead().await;
    world.start(&accounts).await;
    is_now().await;
    reads_ahead().await;
    world.read_for(met).await;
    is_now().await;
    let row = world.sweep_of(&tenant(), ours()).await;
    world.store.swept(SweepRow { swept_until: world.now().plus_ms(ahead_ms), ..row }).await.unwrap();
    is_now().await;
    // That nobody read an account yet, and that it may wait for another, is not forgotten; but it was not met in the future.
    world.clock.advance(ahead_ms);
    world.start(&[(tenant(), ours())]).await;
    world.start(&[(tenant(), "new")]).await;
    world.clock.advance(-ahead_ms);
    let unread = world.sweep_of(&tenant(), "new").await;
    world.store.beat().await.unwrap();
    let now = world.now();
    assert_eq!(world.sweep_of(&tenant(), "new").await, SweepRow { known_from: now, ..unread });
}
