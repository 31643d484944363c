//! The guarded writes by themselves. The flows look before they write, so that on a store with one writer no guard is ever met;
//! with many writers the guard is what decides, and it is tested without the look.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use payment::{
    AttemptId, CheckoutId, CheckoutStatus, IntentId, KeyKind, OperationId, OrderId, ProviderKey, State,
};
use store::{
    Abort, AttemptRecord, ChargeRecord, CheckoutRecord, Flow, IntentRecord, JournalRecord, OperationRecord,
    StoreError, Tables,
};

use crate::{
    commands::{cancel, final_answer, frozen, object, outcome, refund, rub, succeeded, tenant},
    conformance::behaviours,
    world::{World, uuid},
};

behaviours!(
    r14_an_operation_is_written_only_under_its_fence,
    an_intent_is_written_only_at_its_version,
    a_checkouts_terms_are_written_only_at_its_version,
    a_paid_checkouts_terms_are_never_written,
    a_checkouts_status_is_written_only_from_the_one_seen,
    r2_a_keys_answer_is_written_once,
    a_sends_outcome_is_written_once,
    r6_a_second_row_is_refused_by_its_index,
    r6_an_operation_takes_no_others_key_or_object,
    a_row_of_another_merchant_is_no_rival,
    r23_a_charges_sums_are_written_only_over_the_ones_seen,
    r23_a_second_unfinished_refund_or_cancel_is_refused_by_its_index,
    r12_a_second_charge_that_pays_is_refused_by_its_index,
);

/// The rows of one order, as a transaction reads them.
#[derive(Clone)]
struct Rows {
    checkout: CheckoutRecord,
    intent: IntentRecord,
    operation: OperationRecord,
    attempt: AttemptRecord,
    journal: JournalRecord,
}

async fn rows(world: &World, id: IntentId) -> Rows {
    let (checkout, intent) = world.store.intent(tenant(), id).await.unwrap().unwrap();
    let mut story = world.story(id).await;
    let (attempt, journal) = (story.attempts.remove(0), story.journal.remove(0));
    Rows { checkout, intent, operation: story.operation, attempt, journal }
}

async fn sent(world: &World, order: &str) -> Rows {
    let id = world.sent(order).await.intent.id;
    rows(world, id).await
}

type Writing<'t> = BoxFuture<'t, Result<bool, Abort>>;
type Write = for<'t> fn(&'t mut dyn Tables, Rows) -> Writing<'t>;

/// Whether a write of `rows` took place.
async fn writes(
    world: &World,
    rows: &Rows,
    write: for<'t> fn(&'t mut dyn Tables, Rows) -> Writing<'t>,
) -> bool {
    let rows = rows.clone();
    let flow: Flow<bool> = Arc::new(move |tables| write(tables, rows.clone()));
    world.write(flow).await.unwrap()
}

async fn r14_an_operation_is_written_only_under_its_fence(world: World) {
    let rows = sent(&world, "order-1").await;
    let stale: Write = |tables, rows| {
        Box::pin(async move { tables.update_operation(&rows.operation, rows.operation.fence - 1).await })
    };
    let mut changed = rows.clone();
    changed.operation.tries = 9;
    assert!(!writes(&world, &changed, stale).await);
    assert_eq!(world.story(rows.intent.id).await.operation, rows.operation);
    let held: Write = |tables, rows| {
        Box::pin(async move { tables.update_operation(&rows.operation, rows.operation.fence).await })
    };
    assert!(writes(&world, &changed, held).await);
    assert_eq!(world.story(rows.intent.id).await.operation, changed.operation);
}

async fn an_intent_is_written_only_at_its_version(world: World) {
    let rows = sent(&world, "order-1").await;
    let mut changed = rows.clone();
    changed.intent.state = State::Expired { code: None };
    let stale: Write = |tables, rows| {
        Box::pin(async move { tables.update_intent(&rows.intent, rows.intent.version - 1).await })
    };
    assert!(!writes(&world, &changed, stale).await);
    assert_eq!(world.intent(rows.intent.id).await, rows.intent);
}

async fn a_checkouts_terms_are_written_only_at_its_version(world: World) {
    let rows = sent(&world, "order-1").await;
    let mut changed = rows.clone();
    changed.checkout.amount = rub("1.00");
    changed.checkout.version += 1;
    let stale: Write = |tables, rows| {
        Box::pin(async move { tables.update_checkout_terms(&rows.checkout, rows.checkout.version).await })
    };
    assert!(!writes(&world, &changed, stale).await);
    assert_eq!(world.checkout(rows.checkout.id).await.0, rows.checkout);
}

async fn a_paid_checkouts_terms_are_never_written(world: World) {
    let claim = world.settled("order-1", succeeded("object-1")).await;
    let mut changed = rows(&world, claim.intent.id).await;
    let paid = changed.checkout.clone();
    changed.checkout.status = CheckoutStatus::Open;
    let reopen: Write = |tables, rows| {
        Box::pin(async move { tables.update_checkout_terms(&rows.checkout, rows.checkout.version).await })
    };
    assert!(!writes(&world, &changed, reopen).await);
    assert_eq!(world.checkout(paid.id).await.0, paid);
}

async fn a_checkouts_status_is_written_only_from_the_one_seen(world: World) {
    let rows = sent(&world, "order-1").await;
    let stale: Write = |tables, rows| {
        let (from, to) = (CheckoutStatus::Expired, CheckoutStatus::Paid);
        Box::pin(async move { tables.update_checkout_status(&tenant(), rows.checkout.id, from, to).await })
    };
    assert!(!writes(&world, &rows, stale).await);
    assert_eq!(world.checkout(rows.checkout.id).await.0.status, CheckoutStatus::Open);
}

async fn r2_a_keys_answer_is_written_once(world: World) {
    let rows = sent(&world, "order-1").await;
    let answer: Write = |tables, rows| {
        Box::pin(async move {
            let key = rows.intent.submit_key.to_string();
            tables.update_key_answer(&tenant(), KeyKind::Submit, &key, &final_answer("an answer")).await
        })
    };
    assert!(writes(&world, &rows, answer).await);
    assert!(!writes(&world, &rows, answer).await);
}

async fn a_sends_outcome_is_written_once(world: World) {
    let rows = sent(&world, "order-1").await;
    let end: Write = |tables, rows| {
        Box::pin(async move { tables.update_attempt_outcome(&tenant(), rows.attempt.id, "answered").await })
    };
    assert!(writes(&world, &rows, end).await);
    assert!(!writes(&world, &rows, end).await);
}

async fn r6_a_second_row_is_refused_by_its_index(world: World) {
    let claim = world.sent("order-1").await;
    world.commit(outcome(&claim, succeeded("object-1"))).await;
    let rows = rows(&world, claim.intent.id).await;
    let inserts: [(&str, Write); 7] = [
        ("key", |tables, rows| {
            Box::pin(async move {
                let key = rows.intent.submit_key.to_string();
                let row = tables.key(&tenant(), KeyKind::Submit, &key).await?.unwrap();
                tables.insert_key(&row).await
            })
        }),
        ("checkout", |tables, rows| {
            Box::pin(async move {
                let row = CheckoutRecord { id: CheckoutId(uuid()), ..rows.checkout };
                tables.insert_checkout(&row).await
            })
        }),
        ("intent", |tables, rows| {
            Box::pin(async move {
                let row =
                    IntentRecord { id: IntentId(uuid()), number: 2, state: State::Created, ..rows.intent };
                tables.insert_intent(&row).await
            })
        }),
        ("operation", |tables, rows| {
            Box::pin(async move {
                let (id, provider_key) = (OperationId(uuid()), ProviderKey(uuid()));
                let row = OperationRecord { id, provider_key, frozen: None, object: None, ..rows.operation };
                tables.insert_operation(&row).await
            })
        }),
        ("attempt", |tables, rows| {
            Box::pin(async move {
                let row = AttemptRecord { id: AttemptId(uuid()), ..rows.attempt };
                tables.insert_attempt(&tenant(), &row).await
            })
        }),
        ("charge", |tables, rows| Box::pin(async move { tables.insert_charge(&charge(&rows)).await })),
        ("journal", |tables, rows| {
            Box::pin(async move { tables.insert_journal(&tenant(), rows.intent.id, &rows.journal).await })
        }),
    ];
    for (name, insert) in inserts {
        assert!(!writes(&world, &rows, insert).await, "a second {name} was taken");
    }
}

fn charge(rows: &Rows) -> ChargeRecord {
    ChargeRecord {
        tenant: tenant(),
        account: rows.operation.frozen.as_ref().unwrap().account.clone(),
        object: object("object-1"),
        checkout: rows.checkout.id,
        intent: rows.intent.id,
        amount: rows.intent.amount,
        extra: true,
        reserved_minor: 0,
        refunded_minor: 0,
        fate: None,
        at: rows.attempt.started_at,
    }
}

/// A conflict inside an update is no "false" but a race: the flow runs again, and reads who was first.
async fn r6_an_operation_takes_no_others_key_or_object(world: World) {
    let claim = world.settled("order-1", succeeded("object-1")).await;
    let other = sent(&world, "order-2").await;
    let taken = world.store.commit(outcome(&world.sent("order-3").await, succeeded("object-1"))).await;
    assert!(matches!(taken, Err(StoreError::Busy(_))), "{taken:?}");
    assert_eq!(world.order("order-3").await.unwrap().0.status, CheckoutStatus::Open);
    assert_ne!(other.operation.provider_key, claim.operation.provider_key);
    assert_eq!(other.operation.frozen.as_deref(), Some(&frozen("a request")));
}

async fn a_row_of_another_merchant_is_no_rival(world: World) {
    let rows = sent(&world, "order-1").await;
    let insert: Write = |tables, rows| {
        Box::pin(async move {
            let stranger = crate::commands::tenant_of("mer_2", payment::Mode::Test);
            let order = OrderId::parse("order-1").unwrap();
            let row = CheckoutRecord { tenant: stranger.clone(), order, ..rows.checkout };
            let intent = IntentRecord { tenant: stranger, ..rows.intent };
            Ok(tables.insert_checkout(&row).await? && tables.insert_intent(&intent).await?)
        })
    };
    assert!(writes(&world, &rows, insert).await);
}

/// What a race that no run of the flow can win comes to.
async fn is_refused(world: &World, flow: Flow<bool>) {
    let refused = world.write(flow).await;
    assert!(matches!(refused, Err(StoreError::Busy(_))), "{refused:?}");
}

async fn r23_a_charges_sums_are_written_only_over_the_ones_seen(world: World) {
    let id = world.settled("order-1", succeeded("object-1")).await.intent.id;
    let before = world.story(id).await.charges.remove(0);
    let seen: [(i64, i64, bool); 4] = [(1, 0, false), (0, 1, false), (0, 0, true), (0, 0, false)];
    for (reserved_minor, refunded_minor, written) in seen {
        let stale = ChargeRecord { reserved_minor, refunded_minor, ..before.clone() };
        let row = ChargeRecord { reserved_minor: 100, refunded_minor: 50, ..before.clone() };
        let flow: Flow<bool> = Arc::new(move |tables| {
            let (row, stale) = (row.clone(), stale.clone());
            Box::pin(async move { tables.update_charge_sums(&row, &stale).await })
        });
        assert_eq!(world.write(flow).await.unwrap(), written);
    }
    let now = world.story(id).await.charges.remove(0);
    assert_eq!((now.reserved_minor, now.refunded_minor), (100, 50));
    for (reserved_minor, refunded_minor) in [(now.amount.minor(), 50), (-1, 50), (100, -1)] {
        let (row, before) = (ChargeRecord { reserved_minor, refunded_minor, ..now.clone() }, now.clone());
        let flow: Flow<bool> = Arc::new(move |tables| {
            let (row, before) = (row.clone(), before.clone());
            Box::pin(async move { tables.update_charge_sums(&row, &before).await })
        });
        let refused = world.write(flow).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }
}

async fn r23_a_second_unfinished_refund_or_cancel_is_refused_by_its_index(world: World) {
    let paid = world.settled("order-1", succeeded("object-1")).await.intent;
    let held = world.settled("order-2", State::Authorized { object: object("object-2") }).await.intent;
    for command in [refund(&paid, "object-1", "1.00"), cancel(&held, "object-2")] {
        let first = world.followed(command).await;
        let row = OperationRecord { id: OperationId(uuid()), provider_key: ProviderKey(uuid()), ..first };
        let flow: Flow<bool> = Arc::new(move |tables| {
            let row = row.clone();
            Box::pin(async move { tables.insert_operation(&row).await })
        });
        is_refused(&world, flow).await;
    }
}

async fn r12_a_second_charge_that_pays_is_refused_by_its_index(world: World) {
    let claim = world.settled("order-1", succeeded("object-1")).await;
    let rows = rows(&world, claim.intent.id).await;
    let row = ChargeRecord { object: object("object-2"), extra: false, ..charge(&rows) };
    let flow: Flow<bool> = Arc::new(move |tables| {
        let row = row.clone();
        Box::pin(async move { tables.insert_charge(&row).await })
    });
    is_refused(&world, flow).await;
}
