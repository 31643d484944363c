//! The provider dates its objects by its own clock, which may be up to an hour from ours, either way: what a listing is asked for
//! allows for it. Else what took money would be taken for absent. Further apart (fault 31), a listing proves nothing, and nothing ends.

use std::sync::Arc;

use engine::{Engine, Resolved, Verdict};
use payment::{OperationState, StateName};
use store::SweepRow;
use tokio::sync::Notify;

use crate::{
    bank::Fault,
    follow_ups::{finish, now, refund, state},
    merchant::tenant,
    review::resolve,
    scenarios,
    world::{
        DAY, EXECUTE_MS, GAP_MS, HOUR, MINUTE, Offer, SECOND, SILENCE_MS, TOKEN_LIFE_MS, TOKEN_MARGIN_MS,
        World, claimed, known,
    },
};

scenarios! {
    r10_a_payment_dated_before_its_own_send_is_found,
    r10_a_payment_dated_long_after_its_token_died_is_found,
    a_refund_dated_before_its_own_send_is_found,
    a_refund_dated_before_its_own_send_contradicts_a_person,
    fault_31_clocks_too_far_apart_prove_no_absence,
    fault_31_a_clock_that_was_set_ahead_since_the_send_proves_no_absence,
    fault_31_a_clock_that_was_behind_at_the_send_proves_no_absence,
    fault_31_a_claim_that_waited_for_the_database_for_hours_proves_no_absence,
    fault_31_what_was_sent_by_a_clock_that_was_hours_behind_is_found_after_it_was_set_right,
    fault_31_clocks_that_drift_apart_while_it_is_read_prove_no_absence,
    fault_31_clocks_too_far_apart_lift_no_gate,
    fault_31_clocks_too_far_apart_move_no_sweep,
    fault_31_a_sweep_that_was_written_down_ahead_of_us_hides_nothing,
    fault_31_an_account_that_was_met_by_a_clock_ahead_hides_nothing_that_a_backup_forgot,
    fault_31_clocks_too_far_apart_prove_no_refund_absent,
    fault_31_what_was_sent_by_a_clock_that_was_hours_ahead_is_found_after_it_was_set_right,
}

/// The clock was hours ahead and was set right, and the hours went by before anything was looked for: by our own dates nothing tells.
async fn fault_31_what_was_sent_by_a_clock_that_was_hours_ahead_is_found_after_it_was_set_right(
    world: World,
) {
    let engine = world.engine();
    engine.start().await.unwrap();
    assert!(engine.sweep_merchant(&world.merchant().await).await.unwrap().complete);
    world.clock.advance(4 * HOUR);
    world.bank.tells_time(-4 * HOUR);
    world.bank.every(Some(Fault::LoseAnswer));
    let offer = world.paying(&engine, "1").await;
    world.bank.dates_what_it_made(-4 * HOUR);
    world.bank.every(None);
    world.clock.advance(EXECUTE_MS + TOKEN_LIFE_MS + TOKEN_MARGIN_MS);
    world.bank.tells_time(0);
    assert_eq!((ends(&world, &offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// Almost an hour.
const FAR_MS: i64 = HOUR - MINUTE;
/// So long after the send its token still takes money; by the dates of a clock that was set by so much it is dead, and its absence proved.
const ALIVE_MS: i64 = 45 * MINUTE;

/// By our clock all tokens are dead; by the provider's, what the network holds can still take money: the clock was set ahead since the
/// send.
async fn fault_31_a_clock_that_was_set_ahead_since_the_send_proves_no_absence(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    world.clock.set_all(FAR_MS);
    world.bank.tells_time(-FAR_MS);
    is_waited_for(&world, &engine, &offer, -FAR_MS).await;
}

/// The same where it was behind, and is right now, so that no listing tells.
async fn fault_31_a_clock_that_was_behind_at_the_send_proves_no_absence(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    world.clock.set_all(FAR_MS);
    is_waited_for(&world, &engine, &offer, 0).await;
}

/// Who asked for the claim hours before he had it was there before the send, not since: the clock was behind then, and is right now.
async fn fault_31_a_claim_that_waited_for_the_database_for_hours_proves_no_absence(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let mut claim = claimed(engine.submit(offer.submission("tok_1")).await.unwrap());
    claim.began.boot_ms -= 3 * HOUR;
    engine.drive(claim).await.unwrap();
    assert_eq!(world.bank.sends(), 0, "it is late");
    world.bank.next([Fault::LoseRequest]);
    world.clock.advance(MINUTE);
    while engine.run_once().await.unwrap() {}
    assert_eq!(world.bank.sends(), 1);
    world.clock.set_all(FAR_MS);
    let began = world.clock.now();
    while world.clock.now().since_ms(began) < ALIVE_MS {
        world.wake(&engine, &offer).await;
    }
    assert_eq!(world.state(&offer).await, StateName::Confirming);
    world.bank.repeat_last();
    assert_eq!((ends(&world, &offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// By everybody who learns of it later as well; and a straggler is found.
async fn is_waited_for(world: &World, engine: &Engine, offer: &Offer, theirs_ms: i64) {
    let (other, began) = (world.engine(), world.clock.now());
    while world.clock.now().since_ms(began) < ALIVE_MS {
        world.wake(engine, offer).await;
        world.wake(&other, offer).await;
    }
    assert_eq!(world.state(offer).await, StateName::Confirming);
    assert!(!matches!(resolve(&other, offer.intent.id, Verdict::NotCharged).await, Resolved::Done(_)));
    world.bank.repeat_last();
    world.bank.dates_what_it_made(theirs_ms);
    assert_eq!((ends(world, offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// By our dates it was made long after every token was dead.
async fn fault_31_what_was_sent_by_a_clock_that_was_hours_behind_is_found_after_it_was_set_right(
    world: World,
) {
    world.bank.every(Some(Fault::LoseAnswer));
    let offer = world.paying(&world.engine(), "1").await;
    world.bank.every(None);
    world.clock.set_all(5 * HOUR);
    world.bank.dates_what_it_made(5 * HOUR);
    assert_eq!((ends(&world, &offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// Nothing of it is answered, so that the listing alone can tell; and how it ends.
async fn ends(world: &World, offer: &Offer) -> StateName {
    world.settle(&world.engine()).await;
    world.state(offer).await
}

async fn r10_a_payment_dated_before_its_own_send_is_found(world: World) {
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&world.engine(), "1").await;
    world.bank.dates_what_it_made(-FAR_MS);
    world.clock.advance(EXECUTE_MS);
    assert_eq!((ends(&world, &offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// A send that was under way for as long as it can be.
async fn r10_a_payment_dated_long_after_its_token_died_is_found(world: World) {
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&world.engine(), "1").await;
    world.clock.advance(TOKEN_LIFE_MS);
    world.bank.repeat_last();
    world.bank.dates_what_it_made(FAR_MS);
    // It lists by its own clock, too.
    world.bank.listing_lags(-FAR_MS);
    assert_eq!((ends(&world, &offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn a_refund_dated_before_its_own_send_is_found(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(HOUR);
    world.bank.every(Some(Fault::LoseAnswer));
    let operation = refund(&engine, &offer, "500.00").await.id;
    assert!(engine.run_once().await.unwrap());
    world.bank.dates_what_it_made(-FAR_MS);
    // Nothing is sent any more.
    let execute_until = now(&world, &offer, operation).await.execute_until.unwrap();
    world.clock.advance(execute_until.since_ms(world.clock.now()));
    world.bank.every(None);
    assert!(matches!(finish(&world, &engine, &offer, operation).await, OperationState::Succeeded { .. }));
}

async fn a_refund_dated_before_its_own_send_contradicts_a_person(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(HOUR);
    world.bank.every(Some(Fault::LoseAnswer));
    let operation = refund(&engine, &offer, "500.00").await.id;
    finish(&world, &engine, &offer, operation).await;
    world.bank.every(None);
    assert!(matches!(state(&world, &offer, operation).await, OperationState::NeedsReview { .. }));
    world.bank.dates_what_it_made(-FAR_MS);
    world.clock.advance(2 * HOUR);
    let resolved = resolve(&engine, operation, Verdict::NotExecuted).await;
    let Resolved::Refused(words) = resolved else { panic!("{resolved:?}") };
    assert!(words.contains("the listing holds this refund"), "{words}");
}

/// The sweep's progress, by the database.
async fn sweep_row(world: &World) -> SweepRow {
    world.store.sweep(tenant(), world.merchant().await.account).await.unwrap().0
}

/// A charge whose answer was lost, dated by the bank's right clock; ours is two hours ahead, or behind.
async fn fault_31_clocks_too_far_apart_prove_no_absence(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    assert!(engine.sweep_merchant(&world.merchant().await).await.unwrap().complete);
    for (order, ahead_ms) in [("ahead", -2 * HOUR), ("behind", 2 * HOUR)] {
        world.bank.tells_time(ahead_ms);
        world.bank.next([Fault::LoseAnswer]);
        let offer = world.paying(&engine, order).await;
        let object = world.bank.objects().pop().unwrap();
        world.bank.dates(&object.id, ahead_ms);
        world.clock.advance(EXECUTE_MS + TOKEN_LIFE_MS + TOKEN_MARGIN_MS);
        for _ in 0..4 {
            world.wake(&engine, &offer).await;
            assert_eq!(world.state(&offer).await, StateName::Confirming, "{order}");
            assert_eq!(world.story(&offer).await.operation.absent_since, None, "{order}");
        }
        let resolved = resolve(&engine, offer.intent.id, Verdict::NotCharged).await;
        assert!(matches!(resolved, Resolved::Refused(_)), "{order}: {resolved:?}");
        // It is right again, and so is what it dates.
        world.bank.tells_time(0);
        world.bank.dates(&object.id, -ahead_ms);
        assert_eq!(ends(&world, &offer).await, StateName::Succeeded);
    }
    assert_eq!(world.bank.charges(), 2);
}

/// A clock that was right when the listing was begun.
async fn fault_31_clocks_that_drift_apart_while_it_is_read_prove_no_absence(world: World) {
    let engine = world.engine();
    world.bank.tells_time(0);
    world.bank.next([Fault::LoseRequest]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(EXECUTE_MS + TOKEN_LIFE_MS + TOKEN_MARGIN_MS);
    let gate = Arc::new(Notify::new());
    world.bank.listing_waits(Arc::clone(&gate));
    let claim = engine.claim_due(1, Vec::new()).await.unwrap().remove(0);
    let reading = tokio::spawn({
        let engine = engine.clone();
        async move { engine.drive(claim).await }
    });
    while world.bank.reading() == 0 {
        tokio::task::yield_now().await;
    }
    world.clock.set_wall(2 * HOUR);
    gate.notify_one();
    reading.await.unwrap().unwrap();
    assert_eq!(world.story(&offer).await.operation.absent_since, None);
    world.clock.set_wall(-2 * HOUR);
    assert_eq!(ends(&world, &offer).await, StateName::Canceled);
}

async fn fault_31_clocks_too_far_apart_lift_no_gate(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.clock.advance(SILENCE_MS + 1);
    assert!(engine.start().await.unwrap(), "the gate is down");
    let merchant = world.merchant().await;
    for ahead_ms in [-2 * HOUR, 2 * HOUR, HOUR + 1] {
        world.bank.tells_time(ahead_ms);
        assert!(!engine.sweep_merchant(&merchant).await.unwrap().complete);
        assert!(sweep_row(&world).await.gated_from.is_some(), "{ahead_ms}");
    }
    let offer = world.offer(&engine, "1").await;
    engine.submit(offer.submission("tok_1")).await.unwrap();
    engine.run_once().await.unwrap();
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Processing, 0));
    world.bank.tells_time(HOUR);
    assert!(engine.sweep_merchant(&merchant).await.unwrap().complete);
    assert_eq!(ends(&world, &offer).await, StateName::Succeeded);
}

/// What it finds is written down all the same.
async fn fault_31_clocks_too_far_apart_move_no_sweep(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    let before = sweep_row(&world).await.swept_until;
    world.bank.tells_time(-DAY);
    world.clock.advance(SECOND);
    let swept = engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!((swept.complete, swept.apart_ms), (false, Some(DAY)));
    assert_eq!(sweep_row(&world).await.swept_until, before);
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
    world.bank.tells_time(0);
    assert!(engine.sweep_merchant(&world.merchant().await).await.unwrap().complete);
    assert_eq!(sweep_row(&world).await.swept_until, world.clock.now());
}

/// Where the provider does not tell the time, a clock that was a day ahead could not be noticed.
async fn fault_31_a_sweep_that_was_written_down_ahead_of_us_hides_nothing(world: World) {
    let engine = world.engine();
    world.clock.advance(DAY);
    engine.start().await.unwrap();
    assert!(engine.sweep_merchant(&world.merchant().await).await.unwrap().complete);
    world.clock.advance(-DAY);
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(MINUTE);
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

/// Too little for a listing to be doubted. It was set right long ago, while nobody was alive to see it.
async fn fault_31_an_account_that_was_met_by_a_clock_ahead_hides_nothing_that_a_backup_forgot(world: World) {
    world.clock.advance(FAR_MS);
    world.engine().start().await.unwrap();
    world.clock.advance(-FAR_MS);
    let engine = world.engine();
    let (backup, offer) = (world.backup().await, world.offer(&engine, "1").await);
    world.pay(&engine, &offer).await;
    world.clock.advance(2 * HOUR);
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(engine.start().await.unwrap(), "it is gated");
    let swept = engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!((swept.complete, swept.strangers), (true, 1));
    let again = world.offer(&engine, "1").await;
    known(engine.submit(again.submission("tok_2")).await.unwrap());
    assert_eq!(
        (world.state(&again).await, world.bank.charges()),
        (StateName::Processing, 1),
        "a person looks first"
    );
}

async fn fault_31_clocks_too_far_apart_prove_no_refund_absent(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    world.bank.every(Some(Fault::LoseRequest));
    let operation = refund(&engine, &offer, "500.00").await.id;
    assert!(engine.run_once().await.unwrap());
    world.bank.every(None);
    world.bank.tells_time(2 * HOUR);
    let execute_until = now(&world, &offer, operation).await.execute_until.unwrap();
    world.clock.advance(execute_until.since_ms(world.clock.now()) + 2 * HOUR);
    for _ in 0..3 {
        assert!(engine.run_once().await.unwrap());
        assert_eq!(now(&world, &offer, operation).await.absent_since, None);
        world.clock.advance(GAP_MS);
    }
    let refused = resolve(&engine, operation, Verdict::NotExecuted).await;
    assert!(matches!(refused, Resolved::Refused(_)), "{refused:?}");
    world.bank.tells_time(0);
    world.clock.advance(GAP_MS);
    engine.run_once().await.unwrap();
    assert!(now(&world, &offer, operation).await.absent_since.is_some());
    world.clock.advance(GAP_MS);
    world.bank.tells_time(2 * HOUR);
    let refused = resolve(&engine, operation, Verdict::NotExecuted).await;
    assert!(matches!(refused, Resolved::Refused(_)), "{refused:?}");
    world.bank.tells_time(0);
    let resolved = resolve(&engine, operation, Verdict::NotExecuted).await;
    assert!(matches!(resolved, Resolved::Done(_)), "{resolved:?}");
}
