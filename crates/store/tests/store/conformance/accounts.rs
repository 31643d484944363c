//! What a merchant's accounts are to each other while a gate is down: his own, a new one, one that he left (fault 23).

use payment::{Event, Mode, NotExecutedReason, Step, UnknownReason};
use store::{Claimed, Commit, Submitted, SweepRow, Tenure};

use super::gate::{GAP_MS, account, ours};
use crate::{
    commands::{WAKE_MS, frozen, outcome, refund, submit, succeeded, tenant, tenant_of},
    conformance::behaviours,
    world::{DAY, SECOND, World, after, claimed},
};

behaviours!(
    an_account_is_told_while_something_of_it_is_unfinished,
    fault_23_an_account_that_was_left_in_a_gap_is_gated_with_the_new_one,
    fault_23_an_account_that_is_met_later_is_read_from_the_first_order_on,
    fault_23_before_the_start_that_meets_an_account_nothing_is_sent_to_it,
    fault_23_what_was_left_before_a_gap_is_not_gated,
    a_gated_account_is_told_with_its_newest_operation,
    fault_23_a_new_account_waits_for_the_gates_of_the_others,
    fault_23_an_account_that_the_merchant_comes_back_to_is_a_new_one,
    fault_23_an_account_that_the_merchant_comes_back_to_in_a_gap_waits_for_the_other_one,
    fault_23_before_the_start_that_meets_an_account_its_payments_wait,
    fault_23_what_goes_to_an_account_that_was_left_waits_for_that_one_alone,
    fault_23_what_was_proved_not_executed_waits_for_all_like_what_was_never_sent,
    fault_23_what_is_made_out_for_the_account_of_before_is_not_claimed,
    an_account_that_was_a_slip_of_the_pen_holds_nobody,
    fault_23_an_account_that_may_have_been_used_is_no_slip,
    fault_31_an_account_that_was_read_is_no_slip_once_the_clock_was_set_back,
    fault_23_a_new_account_waits_for_no_later_gate_once_all_were_up,
    fault_23_what_is_new_is_read_from_the_first_gap_that_is_not_read,
    fault_23_a_sweep_from_before_the_merchant_left_makes_no_account_his_own,
);

/// The account that the merchant takes.
const NEW: &str = "200";

impl World {
    /// The shopper presses Pay for an order that goes to that account; whether it is sent.
    pub(super) async fn sends_to(&self, order: &str, name: &str) -> bool {
        let (checkout, intent) = self.offer(order).await;
        let mut command = submit(&checkout, &intent);
        command.frozen.account = account(name);
        matches!(self.store.submit(command).await.unwrap(), Submitted::Claimed(_))
    }

    /// What it waits for is over; the steps of what is due then.
    async fn steps(&self) -> Vec<Step> {
        self.clock.advance(WAKE_MS);
        self.due(10).await.into_iter().map(|claim| claim.step).collect()
    }

    async fn tenure(&self, name: &str) -> Tenure {
        self.sweep_of(&tenant(), name).await.tenure
    }
}

/// By its newest operation, which has the newest credentials; of a merchant's two accounts, each by its own.
async fn an_account_is_told_while_something_of_it_is_unfinished(world: World) {
    let unfinished = async || -> Vec<_> {
        let found = world.store.unfinished_accounts().await.unwrap();
        found.into_iter().map(|row| (row.tenant, row.frozen.unwrap().account.clone(), row.id)).collect()
    };
    world.offer("never-sent").await;
    assert!(unfinished().await.is_empty());
    let first = world.sent("order-1").await;
    world.clock.advance(SECOND);
    let second = world.sent("order-2").await;
    world.clock.advance(SECOND);
    let (checkout, intent) = world.offer("order-3").await;
    let mut elsewhere = submit(&checkout, &intent);
    elsewhere.frozen.account = account("200");
    let third = claimed(world.store.submit(elsewhere).await.unwrap());
    let row = |of: &Claimed, name| (tenant(), account(name), of.operation.id);
    let mut both = vec![row(&second, ours()), row(&third, "200")];
    both.sort();
    let mut told = unfinished().await;
    told.sort();
    assert_eq!(told, both);
    world.commit(outcome(&second, succeeded("object-2"))).await;
    world.commit(outcome(&third, succeeded("object-3"))).await;
    assert_eq!(unfinished().await, [row(&first, ours())]);
    world.commit(outcome(&first, succeeded("object-1"))).await;
    assert!(unfinished().await.is_empty());
}

async fn fault_23_an_account_that_was_left_in_a_gap_is_gated_with_the_new_one(world: World) {
    let other = tenant_of("mer_2", Mode::Test);
    world.has(ours()).await;
    world.start(&[(tenant(), ours()), (other.clone(), "300")]).await;
    let alive = world.now();
    world.clock.advance(GAP_MS + 1);
    let moved = [(tenant(), "200"), (other.clone(), "300")];
    assert!(world.start(&moved).await);
    let gated = async || -> Vec<_> {
        let found = world.store.gated_beside(tenant(), account("200")).await.unwrap();
        found.into_iter().map(|gated| gated.row.account).collect()
    };
    assert_eq!(gated().await, [account(ours())]);
    let row = world.sweep_of(&tenant(), ours()).await;
    assert_eq!((row.gated_from, row.swept_until), (Some(alive), alive));
    assert!(world.store.gated_beside(other, account("300")).await.unwrap().is_empty());
    // Another start, without a gap, does not lift it; the sweep does.
    assert!(world.start(&moved).await);
    assert_eq!(gated().await, [account(ours())]);
    world.read_for(row).await;
    assert!(gated().await.is_empty());
}

/// A copy was brought back and read for the accounts that it knew; then the configuration told of one that the lost time had used.
async fn fault_23_an_account_that_is_met_later_is_read_from_the_first_order_on(world: World) {
    world.has(ours()).await;
    world.offer("order-1").await;
    let first = world.now();
    world.clock.advance(GAP_MS / 2);
    let other = tenant_of("mer_2", Mode::Test);
    let theirs = (other.clone(), "300");
    for (who, name, own) in [(other, "300", ours()), (tenant(), NEW, NEW)] {
        let accounts = [(tenant(), own), theirs.clone()];
        assert!(world.start(&accounts).await, "no gap, and a gate all the same");
        let row = world.sweep_of(&who, name).await;
        assert!(row.gated_from.is_some() && row.tenure == Tenure::New);
        let lost_ms = if who == tenant() { DAY } else { 30 * DAY };
        let from = first.plus_ms(-lost_ms);
        assert!(row.swept_until >= from && row.swept_until <= from.plus_ms(GAP_MS), "{row:?}");
        assert!(row.known_from >= first, "what others took before is none of ours");
    }
    assert!(!world.sends_to("order-2", NEW).await);
    world.read_for(world.sweep_of(&tenant(), NEW).await).await;
    assert!(world.sends_to("order-3", NEW).await);
}

async fn fault_23_before_the_start_that_meets_an_account_nothing_is_sent_to_it(world: World) {
    assert!(world.sends_to("order-0", "300").await, "nobody was alive yet");
    world.has(ours()).await;
    assert!(!world.sends_to("order-1", NEW).await);
    world.start(&[(tenant(), NEW)]).await;
    world.read_for(world.sweep_of(&tenant(), NEW).await).await;
    assert_eq!(world.steps().await, [Step::Send]);
}

/// It is forgotten, and met anew.
async fn fault_23_what_was_left_before_a_gap_is_not_gated(world: World) {
    world.start(&[(tenant(), ours())]).await;
    world.clock.advance(SECOND);
    world.start(&[(tenant(), "200")]).await;
    world.clock.advance(GAP_MS + 1);
    assert!(world.start(&[(tenant(), "200")]).await);
    assert!(world.store.gated_beside(tenant(), account("200")).await.unwrap().is_empty());
    world.read_for(world.sweep_of(&tenant(), "200").await).await;
    let alive = world.now();
    world.clock.advance(SECOND);
    world.start(&[(tenant(), "200"), (tenant(), ours())]).await;
    assert_eq!(world.sweep_of(&tenant(), ours()).await.known_from, alive);
}

/// Finished or not; what was only adopted was never sent, and is the oldest.
async fn a_gated_account_is_told_with_its_newest_operation(world: World) {
    let newest = async || {
        let mut found = world.store.gated_beside(tenant(), account("200")).await.unwrap();
        assert_eq!(found.len(), 1);
        found.remove(0).newest.map(|operation| operation.id)
    };
    world.gated().await;
    assert_eq!(newest().await, None);
    world.read_for(world.sweep_of(&tenant(), ours()).await).await;
    world.sent("order-1").await;
    world.clock.advance(SECOND);
    let second = world.sent("order-2").await;
    let (_, intent) = world.offer("order-3").await;
    let looked = world.looked(intent.id).await;
    let adopts = Commit { adopted: Some(frozen("")), ..outcome(&looked, succeeded("object-3")) };
    world.commit(adopts).await;
    world.commit(outcome(&second, succeeded("object-2"))).await;
    world.clock.advance(GAP_MS + 1);
    world.start(&[(tenant(), ours())]).await;
    assert_eq!(newest().await, Some(second.operation.id));
}

/// They may have taken the money of an order that a copy calls unpaid. It is taken while servers live: there is no new gap.
async fn fault_23_a_new_account_waits_for_the_gates_of_the_others(world: World) {
    let old = world.gated().await;
    world.clock.advance(SECOND);
    assert!(world.start(&[(tenant(), NEW)]).await);
    let new = world.sweep_of(&tenant(), NEW).await;
    assert_eq!((new.tenure, new.gated_from), (Tenure::New, old.gated_from), "the lost time may have had it");
    assert_eq!(new.known_from, old.swept_until);
    assert!(new.swept_until < old.swept_until, "he has no order here, which may be what is lost");
    assert!(!world.sends_to("order-1", NEW).await);
    world.read_for(new).await;
    assert_eq!(world.sweep_of(&tenant(), NEW).await.gated_from, None, "it waits, and nobody waits for it");
    assert!(world.steps().await.is_empty());
    assert!(!world.sends_to("order-2", NEW).await);
    world.store.beat().await.unwrap();
    assert!(world.start(&[(tenant(), NEW)]).await, "a restart is told so");
    assert_eq!((world.tenure(NEW).await, world.tenure(ours()).await), (Tenure::New, Tenure::Left));
    assert!(world.steps().await.is_empty());
    world.read_for(world.sweep_of(&tenant(), ours()).await).await;
    assert_eq!(world.tenure(NEW).await, Tenure::Own);
    assert_eq!(world.steps().await, [Step::Send, Step::Send]);
}

async fn fault_23_an_account_that_the_merchant_comes_back_to_is_a_new_one(world: World) {
    world.has(NEW).await;
    let at_home = async || world.start_beside(&[(tenant(), ours())], &[(tenant(), NEW)]).await;
    at_home().await;
    world.clock.advance(SECOND);
    world.read_for(world.sweep_of(&tenant(), ours()).await).await;
    world.clock.advance(GAP_MS + 1);
    assert!(at_home().await);
    // Its own gate is lifted, and something is still unfinished there.
    world.read_for(world.sweep_of(&tenant(), NEW).await).await;
    assert!(at_home().await);
    assert_eq!((world.tenure(NEW).await, world.tenure(ours()).await), (Tenure::Left, Tenure::Own));
    assert!(world.start(&[(tenant(), NEW)]).await);
    let (back, old) = (world.sweep_of(&tenant(), NEW).await, world.sweep_of(&tenant(), ours()).await);
    assert_eq!((back.tenure, back.gated_from), (Tenure::New, old.gated_from));
    assert_eq!((old.tenure, Some(back.swept_until)), (Tenure::Left, old.gated_from));
    world.read_for(back).await;
    assert!(!world.sends_to("order-1", NEW).await);
    world.read_for(old).await;
    assert_eq!(world.steps().await, [Step::Send]);
}

async fn fault_23_an_account_that_the_merchant_comes_back_to_in_a_gap_waits_for_the_other_one(world: World) {
    world.start(&[(tenant(), NEW)]).await;
    world.has(ours()).await;
    world.start_beside(&[(tenant(), ours())], &[(tenant(), NEW)]).await;
    world.clock.advance(GAP_MS + 1);
    assert!(world.start(&[(tenant(), NEW)]).await);
    let old = world.sweep_of(&tenant(), ours()).await;
    assert!(old.gated_from.is_some(), "the lost time had it");
    world.read_for(world.sweep_of(&tenant(), NEW).await).await;
    assert!(!world.sends_to("order-1", NEW).await);
    world.read_for(old).await;
    assert_eq!(world.steps().await, [Step::Send]);
}

/// A server has the new configuration already, and none has started with it.
async fn fault_23_before_the_start_that_meets_an_account_its_payments_wait(world: World) {
    let old = world.gated().await;
    assert!(!world.sends_to("order-1", NEW).await);
    // Another one sweeps it already.
    let new = world.sweep_of(&tenant(), NEW).await;
    assert_eq!(new.gated_from, old.gated_from);
    assert!(new.swept_until <= old.swept_until);
    world.store.swept(SweepRow { gated_from: None, ..new.clone() }).await.unwrap();
    assert_eq!(
        world.sweep_of(&tenant(), NEW).await.gated_from,
        old.gated_from,
        "it was not read for that gate"
    );
    world.read_for(new).await;
    assert_eq!(world.sweep_of(&tenant(), NEW).await.gated_from, None);
    assert!(world.steps().await.is_empty());
    assert!(!world.sends_to("order-2", NEW).await);
    world.read_for(old).await;
    assert_eq!(world.steps().await, [Step::Send, Step::Send]);
}

/// What was sent there, and money that was taken there, have nothing to do with the others: one that cannot be read any more must
/// not hold it.
async fn fault_23_what_goes_to_an_account_that_was_left_waits_for_that_one_alone(world: World) {
    let sent = world.sent("order-1").await;
    world.commit(outcome(&sent, after(&sent, Event::Unanswered(UnknownReason::NoAnswer)))).await;
    let paid = world.settled("order-2", succeeded("object-2")).await;
    let moved = async || world.start_beside(&[(tenant(), NEW)], &[(tenant(), ours())]).await;
    world.start(&[(tenant(), ours())]).await;
    world.clock.advance(GAP_MS + 1);
    assert!(moved().await);
    world.followed(refund(&paid.intent, "object-2", "1.00")).await;
    assert_eq!(world.steps().await, [Step::Find], "nothing is sent");
    assert!(world.story(sent.intent.id).await.held);
    world.read_for(world.sweep_of(&tenant(), ours()).await).await;
    assert!(world.sweep_of(&tenant(), NEW).await.gated_from.is_some());
    assert!(!world.story(sent.intent.id).await.held);
    assert_eq!(world.steps().await, [Step::Send]);
    assert!(!world.sends_to("order-3", ours()).await, "what was never sent waits for all");
}

/// No send of it was executed, as far as a copy knows: it is like one that was never sent.
async fn fault_23_what_was_proved_not_executed_waits_for_all_like_what_was_never_sent(world: World) {
    let sent = world.sent("order-1").await;
    world.commit(outcome(&sent, after(&sent, Event::NotExecuted(NotExecutedReason::NotSent)))).await;
    world.start(&[(tenant(), ours())]).await;
    world.clock.advance(GAP_MS + 1);
    assert!(world.start_beside(&[(tenant(), NEW)], &[(tenant(), ours())]).await);
    world.read_for(world.sweep_of(&tenant(), ours()).await).await;
    assert!(world.steps().await.is_empty());
    world.read_for(world.sweep_of(&tenant(), NEW).await).await;
    assert_eq!(world.steps().await, [Step::Send]);
}

/// Nothing is sent there first after a start has met another: a backup of just that moment would know neither.
async fn fault_23_what_is_made_out_for_the_account_of_before_is_not_claimed(world: World) {
    world.put_account(tenant(), account(ours())).await;
    let (checkout, intent) = world.offer("order-1").await;
    let made_out = submit(&checkout, &intent);
    world.put_account(tenant(), account(NEW)).await;
    let before = world.rows().await;
    let refused = world.store.submit(made_out.clone()).await.unwrap();
    assert!(matches!(refused, Submitted::Moved), "{refused:?}");
    assert_eq!(world.rows().await, before);
    assert!(world.sends_to("order-2", NEW).await);
    let mut anew = made_out;
    anew.frozen.account = account(NEW);
    claimed(world.store.submit(anew).await.unwrap());
}

/// Nobody can read it, and nothing was ever sent there: it must not hold the right one for ever.
async fn an_account_that_was_a_slip_of_the_pen_holds_nobody(world: World) {
    world.start(&[(tenant(), "typo")]).await;
    for _ in 0..2 {
        world.clock.advance(GAP_MS + 1);
        assert!(world.start(&[(tenant(), "typo")]).await);
    }
    assert!(world.start(&[(tenant(), NEW)]).await, "its own gap is read");
    world.read_for(world.sweep_of(&tenant(), NEW).await).await;
    assert!(world.sends_to("order-1", NEW).await);
    // So is one that he tries in mid-life, and has to give up.
    world.start(&[(tenant(), "typo")]).await;
    world.start(&[(tenant(), NEW)]).await;
    world.read_for(world.sweep_of(&tenant(), NEW).await).await;
    assert!(world.sends_to("order-2", NEW).await);
}

/// What was read once, or has a payment, or was new itself, may be where the lost time sent.
async fn fault_23_an_account_that_may_have_been_used_is_no_slip(world: World) {
    let left_in_a_gap = async |from: &'static str, to: &'static str| {
        world.clock.advance(GAP_MS + 1);
        world.start(&[(tenant(), to)]).await;
        world.sweep_of(&tenant(), from).await.gated_from.is_some()
    };
    world.start(&[(tenant(), ours())]).await;
    world.settled("order-1", succeeded("object-1")).await;
    assert!(left_in_a_gap(ours(), "new").await, "it has a payment");
    assert!(left_in_a_gap("new", "read").await, "it was met while the gate of another was down");
    for name in [ours(), "new", "read"] {
        world.read_for(world.sweep_of(&tenant(), name).await).await;
    }
    assert_eq!(world.tenure("read").await, Tenure::Own);
    assert!(left_in_a_gap("read", NEW).await, "it was read");
}

/// A copy from the first minute, and a clock that is set to before it: as of now nothing was read.
async fn fault_31_an_account_that_was_read_is_no_slip_once_the_clock_was_set_back(world: World) {
    world.start(&[(tenant(), ours())]).await;
    world.clock.advance(1);
    world.read_for(world.sweep_of(&tenant(), ours()).await).await;
    world.clock.advance(-GAP_MS - SECOND);
    for name in [ours(), NEW, NEW] {
        assert!(world.start(&[(tenant(), name)]).await);
    }
    world.read_for(world.sweep_of(&tenant(), NEW).await).await;
    assert!(!world.sends_to("order-1", NEW).await, "the account of before was not read");
}

/// Else a left account whose credentials are revoked would stop the merchant after each gap.
async fn fault_23_a_new_account_waits_for_no_later_gate_once_all_were_up(world: World) {
    world.gated().await;
    let moved = async || world.start_beside(&[(tenant(), NEW)], &[(tenant(), ours())]).await;
    assert!(moved().await);
    for name in [NEW, ours()] {
        world.read_for(world.sweep_of(&tenant(), name).await).await;
    }
    world.clock.advance(GAP_MS + 1);
    assert!(moved().await);
    assert!(!world.sends_to("order-1", NEW).await, "its own gate is down");
    world.read_for(world.sweep_of(&tenant(), NEW).await).await;
    assert!(world.sweep_of(&tenant(), ours()).await.gated_from.is_some());
    assert_eq!(world.steps().await, [Step::Send]);
    assert!(world.sends_to("order-2", NEW).await);
}

/// The gate is named by the last of several gaps, and nobody read since the first.
async fn fault_23_what_is_new_is_read_from_the_first_gap_that_is_not_read(world: World) {
    let first = world.gated().await;
    world.clock.advance(GAP_MS + 1);
    assert!(world.start(&[(tenant(), ours())]).await);
    let last = world.sweep_of(&tenant(), ours()).await;
    assert!(last.gated_from > first.gated_from);
    world.start(&[(tenant(), NEW)]).await;
    let new = world.sweep_of(&tenant(), NEW).await;
    assert_eq!((Some(new.known_from), new.gated_from), (first.gated_from, last.gated_from));
    assert!(new.swept_until <= new.known_from);
}

async fn fault_23_a_sweep_from_before_the_merchant_left_makes_no_account_his_own(world: World) {
    world.start(&[(tenant(), ours())]).await;
    let read = world.sweep_of(&tenant(), ours()).await;
    assert_eq!(read.tenure, Tenure::Own);
    world.start(&[(tenant(), NEW)]).await;
    world.put_account(tenant(), account(NEW)).await;
    world.read_for(read).await;
    assert_eq!((world.tenure(ours()).await, world.tenure(NEW).await), (Tenure::Left, Tenure::New));
    world.read_for(world.sweep_of(&tenant(), NEW).await).await;
    assert_eq!(world.tenure(NEW).await, Tenure::Own, "its own gate alone was down");
}
