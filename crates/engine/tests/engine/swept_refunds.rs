//! What the sweep reads of an account's refunds; and that one object which cannot be written down hides no other, and keeps no
//! gate down.

use std::sync::Arc;

use engine::{Engine, Vault};
use payment::{CheckoutStatus, OperationId, OperationKind, RefundStatus};
use store::{NoticeState, Stage, SweepRow};

use crate::{
    bank::Fault,
    flaky::{Call, Flaky, When},
    follow_ups::{finish, now, refund},
    merchant::{ACCOUNT, merchant, secret_of, tenant},
    scenarios,
    world::{LEASE_MS, Offer, SILENCE_MS, World},
};

scenarios! {
    fault_23_a_payment_that_cannot_be_read_hides_no_other_and_keeps_no_gate,
    fault_23_a_refund_that_cannot_be_read_hides_no_other_and_keeps_no_gate,
    fault_23_a_refund_that_the_backup_forgot_keeps_no_gate,
    fault_23_refunds_that_are_not_read_to_the_end_keep_the_gate,
    refunds_on_every_page_are_found,
    a_refund_that_is_over_is_not_asked_about_again,
    fault_23_a_refund_whose_seal_does_not_open_hides_no_other_and_keeps_no_gate,
    fault_69_a_notification_of_a_refund_is_not_done_by_another_refund_that_is,
}

const REFUND: OperationKind = OperationKind::Refund;

async fn row(world: &World) -> SweepRow {
    world.store.sweep(tenant(), world.merchant().await.account).await.unwrap().0
}

/// Nobody was alive for a while; the sweep of it.
async fn swept_after_a_gap(world: &World, engine: &Engine) -> bool {
    world.clock.advance(SILENCE_MS + 1);
    assert!(engine.start().await.unwrap());
    let swept = engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!(row(world).await.gated_from.is_none(), swept.complete);
    swept.complete
}

/// A refund that was made, and whose answer was lost.
async fn lost_refund(world: &World, engine: &Engine, order: &str) -> (Offer, OperationId) {
    let offer = world.paying(engine, order).await;
    world.bank.next_for(REFUND, [Fault::LoseAnswer]);
    let id = refund(engine, &offer, "500.00").await.id;
    while engine.run_once().await.unwrap() {}
    assert_ne!(now(world, &offer, id).await.stage, Stage::Done);
    (offer, id)
}

async fn is_over(world: &World, (offer, id): &(Offer, OperationId)) -> bool {
    now(world, offer, *id).await.stage == Stage::Done
}

async fn fault_23_a_payment_that_cannot_be_read_hides_no_other_and_keeps_no_gate(world: World) {
    let mut engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer, Fault::LoseAnswer]);
    let offers = [world.paying(&engine, "1").await, world.paying(&engine, "2").await];
    engine.store = Flaky::new(Arc::clone(&world.store), &[(Call::Standing, When::Unreadable)]);
    assert!(swept_after_a_gap(&world, &engine).await);
    let mut paid = 0;
    for offer in &offers {
        paid += usize::from(world.status(offer).await == CheckoutStatus::Paid);
    }
    assert_eq!(paid, 1, "the other one was read");
    world.settle(&world.engine()).await;
}

async fn fault_23_a_refund_that_cannot_be_read_hides_no_other_and_keeps_no_gate(world: World) {
    let mut engine = world.engine();
    engine.start().await.unwrap();
    let lost = [lost_refund(&world, &engine, "1").await, lost_refund(&world, &engine, "2").await];
    engine.store = Flaky::new(Arc::clone(&world.store), &[(Call::Operation, When::Unreadable)]);
    assert!(swept_after_a_gap(&world, &engine).await);
    assert_ne!(is_over(&world, &lost[0]).await, is_over(&world, &lost[1]).await, "the other one was read");
    world.settle(&world.engine()).await;
}

async fn fault_23_a_refund_that_the_backup_forgot_keeps_no_gate(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.paying(&engine, "1").await;
    let backup = world.backup().await;
    refund(&engine, &offer, "500.00").await;
    while engine.run_once().await.unwrap() {}
    assert_eq!(world.bank.refunds().len(), 1);
    let world = world.restored(backup).await;
    assert!(swept_after_a_gap(&world, &world.engine()).await);
}

async fn fault_23_refunds_that_are_not_read_to_the_end_keep_the_gate(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.paying(&engine, "1").await;
    for _ in 0..3 {
        refund(&engine, &offer, "100.00").await;
        while engine.run_once().await.unwrap() {}
    }
    // The one payment is on one page, the three refunds are on two.
    world.bank.listing(|listing| listing.breaks_after = Some(1));
    assert!(!swept_after_a_gap(&world, &engine).await);
    world.bank.heal();
    assert!(swept_after_a_gap(&world, &engine).await);
}

async fn refunds_on_every_page_are_found(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let lost = lost_refund(&world, &engine, "1").await;
    // The newest come first: the lost one is on the last page.
    let other = world.paying(&engine, "2").await;
    for _ in 0..4 {
        refund(&engine, &other, "100.00").await;
        while engine.run_once().await.unwrap() {}
    }
    assert!(engine.sweep_merchant(&world.merchant().await).await.unwrap().complete);
    assert!(is_over(&world, &lost).await);
}

async fn a_refund_that_is_over_is_not_asked_about_again(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let lost = lost_refund(&world, &engine, "1").await;
    let sweep = async || assert!(engine.sweep_merchant(&world.merchant().await).await.unwrap().complete);
    sweep().await;
    assert!(is_over(&world, &lost).await);
    let (queries, _) = world.bank.asked();
    sweep().await;
    assert_eq!(world.bank.asked().0, queries);
}

/// The server's secret was changed twice, and the merchant left: the newest operation there opens, an older one does not.
async fn fault_23_a_refund_whose_seal_does_not_open_hides_no_other_and_keeps_no_gate(world: World) {
    let by = |vault: &Arc<Vault>, account: &str| {
        world.merchants.put(merchant(tenant(), account, &secret_of(account), vault));
        Engine { vault: Arc::clone(vault), ..world.engine() }
    };
    let engine = world.engine();
    engine.start().await.unwrap();
    let older = lost_refund(&world, &engine, "1").await;
    let second = by(&Arc::new(Vault::new([2; 32], Some([1; 32]))), ACCOUNT);
    world.clock.advance(1);
    let newer = lost_refund(&world, &second, "2").await;
    let third = by(&Arc::new(Vault::new([3; 32], Some([2; 32]))), "200600");
    let left = third.left_accounts().await.unwrap();
    assert_eq!((left.len(), left[0].id.as_str()), (1, ACCOUNT));
    assert!(third.sweep_left(&left[0]).await.unwrap().complete);
    assert_eq!((is_over(&world, &older).await, is_over(&world, &newer).await), (false, true));
    by(&second.vault, ACCOUNT);
    world.clock.advance(LEASE_MS);
    world.settle(&second).await;
}

/// The first one is over; the second one was announced as done, and the bank does not say so yet.
async fn fault_69_a_notification_of_a_refund_is_not_done_by_another_refund_that_is(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    let first = refund(&engine, &offer, "500.00").await;
    finish(&world, &engine, &offer, first.id).await;
    world.bank.decides_refund(RefundStatus::Pending);
    let second = refund(&engine, &offer, "500.00").await;
    while engine.run_once().await.unwrap() {}
    world.bank.moves_refund(second.id, RefundStatus::Succeeded);
    let body = world.bank.refund_notice(second.id);
    world.bank.moves_refund(second.id, RefundStatus::Pending);
    world.hears_as(&tenant(), &body).await;
    assert_eq!(engine.work_inbox(10).await.unwrap(), 1);
    let notice = async || world.notice_of("refund.succeeded", "refund-1", "succeeded").await.state;
    assert!(notice().await.wake_at().is_some(), "it is asked about again: {:?}", notice().await);
    world.bank.moves_refund(second.id, RefundStatus::Succeeded);
    world.clock.advance(notice().await.wake_at().unwrap().since_ms(world.clock.now()).max(0));
    assert_eq!(engine.work_inbox(10).await.unwrap(), 1);
    assert_eq!(notice().await, NoticeState::Done);
    assert_eq!(now(&world, &offer, second.id).await.stage, Stage::Done);
}
