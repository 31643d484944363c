//! Captures, cancels and refunds: the same recovery as a payment's, each under a key of its own, counted in the bank's ledger.

mod crashes;
mod extras;
mod held;
mod refunds;
mod retries;

use engine::Engine;
use payment::{CheckoutStatus, IntentId, Money, ObjectStatus, OperationId, OperationKind, OperationState};
use store::{ChargeRecord, FollowUp, OpenedFollowUp, OperationRecord, Stage, Task};

use crate::{
    merchant::tenant,
    world::{Offer, World, rub},
};

/// Steps after which what is still open is open for ever.
const MAX_STEPS: usize = 1_000;

/// Works for a kind of follow-up: what it needs, and what its end looks like in the ledger.
pub const KINDS: [OperationKind; 3] = [OperationKind::Refund, OperationKind::Capture, OperationKind::Cancel];

/// An order whose payment stands so that `kind` can be asked for.
pub async fn ready_for(world: &World, engine: &Engine, kind: OperationKind, order: &str) -> Offer {
    if kind != OperationKind::Refund {
        world.bank.decides(ObjectStatus::WaitingForCapture);
    }
    world.paying(engine, order).await
}

/// How much a kind is asked for in these tests: all of it.
pub fn sum_of(kind: OperationKind) -> Option<Money> {
    (kind != OperationKind::Cancel).then(|| rub("1500.00"))
}

/// Opens one, for certain.
pub async fn open(
    engine: &Engine,
    offer: &Offer,
    kind: OperationKind,
    amount: Option<Money>,
) -> OperationRecord {
    let opened = ask(engine, offer.intent.id, kind, amount).await;
    let OpenedFollowUp::Fresh(operation) = opened else { panic!("{opened:?}") };
    *operation
}

/// Opens one, or hears why not.
pub async fn ask(
    engine: &Engine,
    intent: IntentId,
    kind: OperationKind,
    amount: Option<Money>,
) -> OpenedFollowUp {
    engine.open_follow_up(&tenant(), intent, kind, amount, "the shopper asked".into()).await.unwrap()
}

/// A refund of this much.
pub async fn refund(engine: &Engine, offer: &Offer, amount: &str) -> OperationRecord {
    open(engine, offer, OperationKind::Refund, Some(rub(amount))).await
}

/// An operation as it stands now.
pub async fn now(world: &World, offer: &Offer, id: OperationId) -> OperationRecord {
    let rows = world.story(offer).await.follow_ups;
    rows.into_iter().find(|row| row.id == id).unwrap()
}

/// Where it stands.
pub async fn state(world: &World, offer: &Offer, id: OperationId) -> OperationState {
    follow_up(&now(world, offer, id).await).state
}

pub fn follow_up(row: &OperationRecord) -> FollowUp {
    let Task::FollowUp(follow_up) = &row.task else { panic!("a payment") };
    follow_up.clone()
}

/// Moves the clock to its wake-up and works off all that is due then; how long that was, ms.
pub async fn step(world: &World, engine: &Engine, offer: &Offer, id: OperationId) -> i64 {
    let wake_at = now(world, offer, id).await.wake_at.expect("it waits for nothing");
    let wait_ms = wake_at.since_ms(world.clock.now()).max(0);
    world.clock.advance(wait_ms);
    while engine.run_once().await.unwrap() {}
    wait_ms
}

/// Steps until it is over, or stands before a person.
pub async fn finish(world: &World, engine: &Engine, offer: &Offer, id: OperationId) -> OperationState {
    for _ in 0..MAX_STEPS {
        let row = now(world, offer, id).await;
        if row.stage != Stage::Open {
            return follow_up(&row).state;
        }
        step(world, engine, offer, id).await;
    }
    panic!("it stays open for ever");
}

/// Steps until `ms` have passed, whatever becomes of it.
pub async fn work_for(world: &World, engine: &Engine, offer: &Offer, id: OperationId, ms: i64) {
    let end = world.clock.now().plus_ms(ms);
    while now(world, offer, id).await.wake_at.is_some_and(|at| at <= end) {
        step(world, engine, offer, id).await;
    }
    world.clock.advance(end.since_ms(world.clock.now()).max(0));
}

/// The order's only charge.
pub async fn charge(world: &World, offer: &Offer) -> ChargeRecord {
    let charges = world.story(offer).await.charges;
    let [charge] = &charges[..] else { panic!("{charges:?}") };
    charge.clone()
}

/// What is reserved and what is refunded of the order's only charge, minor units.
pub async fn sums(world: &World, offer: &Offer) -> (i64, i64) {
    let charge = charge(world, offer).await;
    (charge.reserved_minor, charge.refunded_minor)
}

/// Asserts by the bank's ledger and by ours that `kind` was done to this order, once.
pub async fn assert_done_once(world: &World, offer: &Offer, kind: OperationKind) {
    let objects = world.bank.objects();
    let object = objects.iter().find(|object| object.intent == offer.intent.id).unwrap();
    let refunds = world.bank.refunds().into_iter().filter(|refund| refund.payment == object.id).count();
    match kind {
        OperationKind::Pay => panic!("no follow-up"),
        OperationKind::Refund => {
            assert_eq!((refunds, sums(world, offer).await), (1, (0, 150_000)));
        }
        OperationKind::Capture => {
            assert_eq!((&object.status, object.took_money), (&ObjectStatus::Succeeded, true));
            assert_eq!((world.status(offer).await, sums(world, offer).await), (CheckoutStatus::Paid, (0, 0)));
        }
        OperationKind::Cancel => {
            assert!(matches!(object.status, ObjectStatus::Ended(_)) && !object.took_money);
            assert_eq!(world.status(offer).await, CheckoutStatus::Open);
            assert!(world.intent(offer.intent.id).await.state.is_terminal());
        }
    }
}
