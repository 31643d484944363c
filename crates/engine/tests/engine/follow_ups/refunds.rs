//! Refunds: pending ones, the guard over their sums, and which refund at the provider is ours (R23).

use payment::{Mismatch, Money, ObjectStatus, OperationKind, OperationState, RefundStatus, UnknownReason};
use store::OpenedFollowUp;

use super::{ask, charge, finish, now, refund, state, step, sums, work_for};
use crate::{
    bank::{Fault, Lie, WINDOW_MS},
    scenarios,
    world::{DAY, MINUTE, Offer, World, rub},
};

scenarios! {
    r23_a_pending_refund_is_asked_about_until_it_is_done,
    r23_a_refund_that_the_provider_cancels_lets_go_of_its_sum,
    r23_never_more_than_was_taken,
    r23_two_refunds_at_once_are_one,
    r23_two_equal_refunds_one_after_the_other_are_two,
    r23_what_was_not_taken_is_not_refunded,
    fault_69_a_refund_is_known_by_its_operation_among_equal_sums,
    a_refund_of_another_operation_sum_or_currency_is_never_taken_for_ours,
    a_pending_refund_that_never_ends_stands_before_a_person,
}

const REFUND: OperationKind = OperationKind::Refund;

async fn r23_a_pending_refund_is_asked_about_until_it_is_done(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.bank.decides_refund(RefundStatus::Pending);
    let operation = refund(&engine, &offer, "500.00").await;
    for _ in 0..5 {
        step(&world, &engine, &offer, operation.id).await;
    }
    let OperationState::Confirming { why: UnknownReason::Pending, .. } =
        state(&world, &offer, operation.id).await
    else {
        panic!("it is under way")
    };
    assert_eq!((sums(&world, &offer).await, world.bank.sent_for(REFUND).len()), ((50_000, 0), 1));
    assert!(matches!(
        ask(&engine, offer.intent.id, REFUND, Some(rub("1.00"))).await,
        OpenedFollowUp::Unfinished(_)
    ));
    world.bank.moves_refund(operation.id, RefundStatus::Succeeded);
    finish(&world, &engine, &offer, operation.id).await;
    assert_eq!((sums(&world, &offer).await, world.bank.refunds().len()), ((0, 50_000), 1));
    assert_eq!(now(&world, &offer, operation.id).await.object, Some(world.bank.refunds()[0].id.clone()));
}

async fn r23_a_refund_that_the_provider_cancels_lets_go_of_its_sum(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    let canceled = || RefundStatus::Canceled { code: "insufficient_funds".into() };
    world.bank.decides_refund(canceled());
    let at_once = refund(&engine, &offer, "1500.00").await;
    finish(&world, &engine, &offer, at_once.id).await;
    world.bank.decides_refund(RefundStatus::Pending);
    let later = refund(&engine, &offer, "1500.00").await;
    step(&world, &engine, &offer, later.id).await;
    world.bank.moves_refund(later.id, canceled());
    finish(&world, &engine, &offer, later.id).await;
    for operation in [at_once.id, later.id] {
        let OperationState::Rejected { code, .. } = state(&world, &offer, operation).await else {
            panic!("it was refused")
        };
        assert_eq!(code, "insufficient_funds");
    }
    assert_eq!(sums(&world, &offer).await, (0, 0));
    let third = refund(&engine, &offer, "1500.00").await;
    finish(&world, &engine, &offer, third.id).await;
    assert_eq!(sums(&world, &offer).await, (0, 150_000));
}

async fn r23_never_more_than_was_taken(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    let exceeds = |left_minor| OpenedFollowUp::Exceeds { left_minor };
    let ask = async |amount| super::ask(&engine, offer.intent.id, REFUND, Some(amount)).await;
    assert_eq!(ask(rub("1500.01")).await, exceeds(150_000));
    let first = refund(&engine, &offer, "1000.00").await;
    let OpenedFollowUp::Unfinished(rival) = ask(rub("500.00")).await else { panic!("one at a time") };
    assert_eq!(rival.id, first.id);
    finish(&world, &engine, &offer, first.id).await;
    assert_eq!(ask(rub("500.01")).await, exceeds(50_000));
    let usd = Money::parse("1.00", payment::Currency::parse("USD").unwrap()).unwrap();
    assert_eq!(ask(usd).await, exceeds(50_000));
    let rest = refund(&engine, &offer, "500.00").await;
    finish(&world, &engine, &offer, rest.id).await;
    assert_eq!(ask(rub("0.01")).await, exceeds(0));
    assert_eq!(engine.refund_charge(&charge(&world, &offer).await, "all".into()).await.unwrap(), exceeds(0));
    let refunded: i64 = world.bank.refunds().iter().map(|refund| refund.amount.minor()).sum();
    assert_eq!((refunded, world.bank.sent_for(REFUND).len()), (150_000, 2));
}

async fn r23_two_refunds_at_once_are_one(world: World) {
    let (one, other) = (world.engine(), world.engine());
    let offer = world.paying(&one, "1").await;
    let whole = Some(rub("1500.00"));
    let intent = offer.intent.id;
    let (first, second) = tokio::join!(ask(&one, intent, REFUND, whole), ask(&other, intent, REFUND, whole));
    let fresh = |opened: &OpenedFollowUp| matches!(opened, OpenedFollowUp::Fresh(_));
    assert_eq!(
        [&first, &second].into_iter().filter(|opened| fresh(opened)).count(),
        1,
        "{first:?} {second:?}"
    );
    let id = world.story(&offer).await.follow_ups[0].id;
    finish(&world, &one, &offer, id).await;
    assert_eq!((world.bank.refunds().len(), sums(&world, &offer).await), (1, (0, 150_000)));
}

async fn r23_two_equal_refunds_one_after_the_other_are_two(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    for _ in 0..2 {
        let operation = refund(&engine, &offer, "750.00").await;
        finish(&world, &engine, &offer, operation.id).await;
    }
    assert_eq!((world.bank.refunds().len(), sums(&world, &offer).await), (2, (0, 150_000)));
    let keys: Vec<_> = world.bank.sent_for(REFUND).iter().map(|sent| sent.key).collect();
    assert!(keys.len() == 2 && keys[0] != keys[1]);
}

async fn r23_what_was_not_taken_is_not_refunded(world: World) {
    let engine = world.engine();
    let whole = Some(rub("1500.00"));
    let fresh = world.offer(&engine, "fresh").await;
    world.bank.decides(ObjectStatus::WaitingForCapture);
    let held = world.paying(&engine, "held").await;
    world.bank.next([Fault::LoseRequest]);
    let unknown = world.paying(&engine, "unknown").await;
    for offer in [&fresh, &held, &unknown] {
        assert_eq!(ask(&engine, offer.intent.id, REFUND, whole).await, OpenedFollowUp::NotNow);
    }
    let paid = world.paying(&engine, "paid").await;
    for offer in [&fresh, &unknown, &paid] {
        for (kind, amount) in [(OperationKind::Capture, whole), (OperationKind::Cancel, None)] {
            assert_eq!(ask(&engine, offer.intent.id, kind, amount).await, OpenedFollowUp::NotNow);
        }
    }
    let asked_for_nothing = [(REFUND, None), (OperationKind::Pay, whole)];
    for (kind, amount) in asked_for_nothing {
        assert_eq!(ask(&engine, paid.intent.id, kind, amount).await, OpenedFollowUp::NotNow);
    }
    assert!(world.bank.refunds().is_empty());
}

/// A refund that nobody heard of again, between others of the same payment and the same sum.
async fn lost_among_equals(world: &World, lost: Fault) -> (Offer, store::OperationRecord) {
    let engine = world.engine();
    let offer = world.paying(&engine, &format!("{lost:?}")).await;
    for _ in 0..3 {
        let operation = refund(&engine, &offer, "300.00").await;
        finish(world, &engine, &offer, operation.id).await;
    }
    world.bank.next_for(REFUND, [lost]);
    let operation = refund(&engine, &offer, "300.00").await;
    step(world, &engine, &offer, operation.id).await;
    world.bank.every(Some(Fault::Unauthorized));
    work_for(world, &engine, &offer, operation.id, WINDOW_MS).await;
    world.bank.every(None);
    (offer, operation)
}

async fn fault_69_a_refund_is_known_by_its_operation_among_equal_sums(world: World) {
    let engine = world.engine();
    let (offer, operation) = lost_among_equals(&world, Fault::LoseAnswer).await;
    step(&world, &engine, &offer, operation.id).await;
    assert!(matches!(finish(&world, &engine, &offer, operation.id).await, OperationState::Succeeded { .. }));
    let ours = world.bank.refunds().into_iter().find(|refund| refund.operation == operation.id).unwrap();
    assert_eq!(now(&world, &offer, operation.id).await.object, Some(ours.id));
    assert_eq!(sums(&world, &offer).await, (0, 120_000));

    let (offer, operation) = lost_among_equals(&world, Fault::LoseRequest).await;
    work_for(&world, &engine, &offer, operation.id, DAY).await;
    assert!(matches!(state(&world, &offer, operation.id).await, OperationState::NeedsReview { .. }));
    assert_eq!(now(&world, &offer, operation.id).await.object, None, "an equal one is another's");
    assert_eq!(sums(&world, &offer).await, (30_000, 90_000));
}

async fn a_refund_of_another_operation_sum_or_currency_is_never_taken_for_ours(world: World) {
    let engine = world.engine();
    let lies =
        [(Lie::Amount, Mismatch::Amount), (Lie::Currency, Mismatch::Amount), (Lie::Another, Mismatch::Owner)];
    for (lie, mismatch) in lies {
        let offer = world.paying(&engine, &format!("{lie:?}")).await;
        let operation = refund(&engine, &offer, "500.00").await;
        world.bank.lies(Some(lie));
        step(&world, &engine, &offer, operation.id).await;
        let OperationState::Confirming { why, .. } = state(&world, &offer, operation.id).await else {
            panic!("{lie:?}: that is not what was asked for")
        };
        assert_eq!(why, UnknownReason::Mismatch(mismatch));
        let row = now(&world, &offer, operation.id).await;
        assert_eq!((row.object, sums(&world, &offer).await), (None, (50_000, 0)));
        world.bank.lies(None);
        finish(&world, &engine, &offer, operation.id).await;
        assert_eq!(sums(&world, &offer).await, (0, 50_000));
    }
}

async fn a_pending_refund_that_never_ends_stands_before_a_person(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.bank.decides_refund(RefundStatus::Pending);
    let operation = refund(&engine, &offer, "500.00").await;
    let OperationState::NeedsReview { since } = finish(&world, &engine, &offer, operation.id).await else {
        panic!("it is pending for two days")
    };
    let late_ms = since.since_ms(operation.execute_until.unwrap());
    assert!((DAY..=DAY + 5 * MINUTE).contains(&late_ms), "{late_ms}");
    world.bank.moves_refund(operation.id, RefundStatus::Succeeded);
    work_for(&world, &engine, &offer, operation.id, DAY).await;
    assert_eq!(sums(&world, &offer).await, (0, 50_000), "and is asked about all the same");
}
