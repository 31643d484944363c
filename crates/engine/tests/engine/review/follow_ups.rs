//! `--executed OBJECT`, `--not-executed` and `--refund-extra`.

use engine::{Engine, OutOfReach, Verdict, item_id};
use payment::{CheckoutStatus, ObjectId, OperationKind, OperationState, OrderId, State, StateName};
use store::{MerchantRecord, OperationRecord, ReviewItem};

use super::{REASON, done, object, object_of, refused, resolve, rows};
use crate::{
    alarms::Log,
    bank::{Fault, Lie},
    follow_ups::{finish, now, open, ready_for, refund, state, step, sum_of, sums, work_for},
    merchant::{ACCOUNT, merchant, secret_of, tenant},
    scenarios,
    world::{DAY, GAP_MS, HOUR, MINUTE, Offer, World, rub},
};

scenarios! {
    an_executed_refund_is_counted,
    a_refund_that_is_another_or_not_done_or_not_shown_is_refused,
    a_refund_that_was_not_executed_needs_a_dead_key_and_two_listings,
    a_refund_that_the_listing_holds_was_executed,
    fault_47_a_refund_that_nobody_else_made_is_not_denied_by_a_word,
    a_capture_and_a_cancel_end_as_the_payment_shows,
    a_follow_up_takes_no_verdict_of_a_payment,
    n5_an_extra_is_given_back_by_a_persons_word_once,
    n5_an_extra_in_another_account_is_given_back_by_that_account,
    n5_an_extra_is_given_back_by_a_person_where_the_account_that_holds_what_paid_turns_us_away,
    n5_an_extra_in_an_account_whose_secret_is_gone_is_refused_with_what_to_do,
    n5_an_extra_in_an_account_that_was_left_is_given_back_with_the_secret_of_an_earlier_try,
    n5_an_extra_that_is_called_as_the_payment_in_another_account_is_given_back_by_its_own,
    n5_an_extra_that_nobody_can_give_back_is_told_of_once_and_left_alone,
}

/// A follow-up in review, the bank silent until now.
async fn stuck(world: &World, engine: &Engine, kind: OperationKind, lost: Fault) -> (Offer, OperationRecord) {
    let offer = ready_for(world, engine, kind, kind.as_str()).await;
    world.bank.every(Some(lost));
    let operation = open(engine, &offer, kind, sum_of(kind)).await;
    assert!(matches!(finish(world, engine, &offer, operation.id).await, OperationState::NeedsReview { .. }));
    world.bank.every(None);
    (offer, operation)
}

fn refund_object(world: &World, operation: &OperationRecord) -> ObjectId {
    world.bank.refunds().into_iter().find(|refund| refund.operation == operation.id).unwrap().id
}

async fn assert_told(world: &World, offer: &Offer, event: &str) {
    let line = world.journal(offer).await.into_iter().find(|line| line.starts_with(event)).unwrap();
    assert!(line.contains("a person") && line.contains(REASON), "{line}");
}

async fn an_executed_refund_is_counted(world: World) {
    let engine = world.engine();
    let (offer, operation) = stuck(&world, &engine, OperationKind::Refund, Fault::LoseAnswer).await;
    let made = refund_object(&world, &operation);
    let words = done(resolve(&engine, operation.id, Verdict::Executed(made.clone())).await);
    assert!(words.contains("refund") && words.contains("done"), "{words}");
    assert!(matches!(state(&world, &offer, operation.id).await, OperationState::Succeeded { .. }));
    assert_eq!(
        (now(&world, &offer, operation.id).await.object, sums(&world, &offer).await),
        (Some(made), (0, 150_000))
    );
    assert_told(&world, &offer, "refund.judged_executed").await;
    assert!(engine.review().await.unwrap().items.is_empty() && !engine.run_once().await.unwrap());
}

async fn a_refund_that_is_another_or_not_done_or_not_shown_is_refused(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    let other = refund(&engine, &offer, "300.00").await;
    finish(&world, &engine, &offer, other.id).await;
    world.bank.every(Some(Fault::LoseRequest));
    let lost = refund(&engine, &offer, "300.00").await;
    finish(&world, &engine, &offer, lost.id).await;
    world.bank.every(None);
    let executed = |id| Verdict::Executed(id);
    let others = refund_object(&world, &other);
    refused(&world, &offer, lost.id, executed(others.clone()), "is another refund").await;
    refused(&world, &offer, lost.id, executed(object("refund-77")), "does not show").await;
    refused(&world, &offer, lost.id, executed(object_of(&world, &offer)), "does not show").await;
    world.bank.lies(Some(Lie::Amount));
    refused(&world, &offer, lost.id, executed(others.clone()), "is another refund").await;
    // It names no operation, as one that was made by hand.
    world.bank.lies(Some(Lie::Owner));
    refused(&world, &offer, lost.id, executed(others.clone()), "is known already as the refund of").await;
    world.bank.lies(None);
    world.bank.next_query(Fault::LoseAnswer);
    refused(&world, &offer, lost.id, executed(others), "does not show").await;

    world.bank.decides_refund(payment::RefundStatus::Pending);
    let (offer, pending) = stuck(&world, &engine, OperationKind::Refund, Fault::LoseAnswer).await;
    let made = refund_object(&world, &pending);
    refused(&world, &offer, pending.id, executed(made), "is not done").await;
}

async fn a_refund_that_was_not_executed_needs_a_dead_key_and_two_listings(world: World) {
    let engine = world.engine();
    let (offer, operation) = stuck(&world, &engine, OperationKind::Refund, Fault::LoseRequest).await;
    let id = operation.id;
    refused(&world, &offer, id, Verdict::NotExecuted, "could still be executed; wait 2 h").await;
    work_for(&world, &engine, &offer, id, HOUR + 50 * MINUTE).await;
    refused(&world, &offer, id, Verdict::NotExecuted, "could still be executed").await;
    world.clock.advance(15 * MINUTE);
    refused(&world, &offer, id, Verdict::NotExecuted, "two complete listings").await;
    step(&world, &engine, &offer, id).await;
    let since = now(&world, &offer, id).await.absent_since.expect("the first one");
    world.clock.advance(since.plus_ms(GAP_MS - 1).since_ms(world.clock.now()));
    refused(&world, &offer, id, Verdict::NotExecuted, "two complete listings").await;
    world.clock.advance(1);
    world.bank.listing_down(true);
    refused(&world, &offer, id, Verdict::NotExecuted, "two complete listings").await;
    world.bank.listing_down(false);
    let words = done(resolve(&engine, id, Verdict::NotExecuted).await);
    assert!(words.contains("not done"), "{words}");
    assert_eq!(
        (state(&world, &offer, id).await, sums(&world, &offer).await),
        (OperationState::NotExecuted, (0, 0))
    );
    assert_told(&world, &offer, "refund.judged_not_executed").await;
    // What was reserved is free: a new refund is a new one.
    let again = refund(&engine, &offer, "1500.00").await;
    finish(&world, &engine, &offer, again.id).await;
    assert_eq!(world.bank.refunds().len(), 1);
}

async fn a_refund_that_the_listing_holds_was_executed(world: World) {
    let engine = world.engine();
    let (offer, operation) = stuck(&world, &engine, OperationKind::Refund, Fault::LoseAnswer).await;
    world.clock.advance(10 * DAY);
    refused(&world, &offer, operation.id, Verdict::NotExecuted, "the listing holds this refund").await;
}

/// A proxy takes our name off what the bank shows, or puts another one on; the answer to our own send was one of them, or was lost.
async fn fault_47_a_refund_that_nobody_else_made_is_not_denied_by_a_word(world: World) {
    let engine = world.engine();
    for (order, lost, lie) in
        [("1", None, Lie::Another), ("2", None, Lie::Amount), ("3", Some(Fault::LoseAnswer), Lie::Owner)]
    {
        let offer = world.paying(&engine, order).await;
        let by_us = refund(&engine, &offer, "300.00").await;
        finish(&world, &engine, &offer, by_us.id).await;
        world.bank.lies(Some(lie));
        world.bank.every(lost);
        let operation = refund(&engine, &offer, "300.00").await;
        let state = finish(&world, &engine, &offer, operation.id).await;
        assert!(matches!(state, OperationState::NeedsReview { .. }), "{lie:?}: {state:?}");
        world.bank.every(None);
        world.clock.advance(2 * HOUR);
        step(&world, &engine, &offer, operation.id).await;
        world.clock.advance(GAP_MS);
        let part = format!("say `--executed {}`", refund_object(&world, &operation));
        if lie != Lie::Amount {
            refused(&world, &offer, operation.id, Verdict::NotExecuted, &part).await;
        } else {
            refused(&world, &offer, operation.id, Verdict::NotExecuted, "the listing holds this refund")
                .await;
        }
        world.bank.lies(None);
        work_for(&world, &engine, &offer, operation.id, DAY).await;
        assert_eq!(sums(&world, &offer).await, (0, 60_000), "{lie:?}");
    }
}

async fn a_capture_and_a_cancel_end_as_the_payment_shows(world: World) {
    let engine = world.engine();
    for kind in [OperationKind::Capture, OperationKind::Cancel] {
        let (offer, operation) = stuck(&world, &engine, kind, Fault::LoseRequest).await;
        let target = object_of(&world, &offer);
        let executed = || Verdict::Executed(target.clone());
        refused(&world, &offer, operation.id, executed(), "it is waiting_for_capture at the provider").await;
        world.bank.next_query(Fault::LoseAnswer);
        refused(&world, &offer, operation.id, Verdict::NotExecuted, "does not show").await;
        let words = done(resolve(&engine, operation.id, Verdict::NotExecuted).await);
        assert!(words.contains(kind.as_str()) && words.contains("not done"), "{words}");
        assert_eq!(state(&world, &offer, operation.id).await, OperationState::NotExecuted);
        assert_told(&world, &offer, &format!("{}.judged_not_executed", kind.as_str())).await;
        assert!(matches!(world.intent(offer.intent.id).await.state, State::Authorized { .. }));
        // Done by hand meanwhile.
        let again = open(&engine, &offer, kind, sum_of(kind)).await;
        world.bank.every(Some(Fault::LoseAnswer));
        finish(&world, &engine, &offer, again.id).await;
        world.bank.every(None);
        refused(&world, &offer, again.id, Verdict::NotExecuted, "does not show").await;
        done(resolve(&engine, again.id, executed()).await);
        world.wake(&engine, &offer).await;
        let paid = world.status(&offer).await == CheckoutStatus::Paid;
        assert_eq!(paid, kind == OperationKind::Capture, "{kind:?}");
    }
}

async fn a_follow_up_takes_no_verdict_of_a_payment(world: World) {
    let engine = world.engine();
    let (offer, operation) = stuck(&world, &engine, OperationKind::Refund, Fault::LoseAnswer).await;
    let verdicts = [Verdict::Charged(object_of(&world, &offer)), Verdict::NotCharged, Verdict::RefundExtra];
    for verdict in verdicts {
        refused(&world, &offer, operation.id, verdict, "--executed OBJECT or --not-executed").await;
    }
}

async fn n5_an_extra_is_given_back_by_a_persons_word_once(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.forget_keys();
    world.settle(&engine).await;
    engine.sweep_merchant(&merchant(tenant(), ACCOUNT, &secret_of(ACCOUNT), &world.vault)).await.unwrap();
    let items = engine.review().await.unwrap().items;
    let [ReviewItem::Extra(extra)] = &items[..] else { panic!("{items:?}") };
    let id = item_id(&items[0]);
    let wrong = [
        (Verdict::Charged(extra.object.clone()), "lies at the provider"),
        (super::not_charged(), "its money did not go back"),
        (Verdict::NotExecuted, "is ended by --refund-extra; by --executed REFUND"),
    ];
    for (verdict, part) in wrong {
        refused(&world, &offer, &id, verdict, part).await;
    }
    let words = done(resolve(&engine, &id, Verdict::RefundExtra).await);
    assert!(words.contains("1500.00 RUB") && words.contains(&id), "{words}");
    refused(&world, &offer, &id, Verdict::RefundExtra, "is being given back already").await;
    let refund = world.story(&offer).await.follow_ups.remove(0);
    assert!(world.journal(&offer).await.iter().any(|line| line.contains(REASON)));
    finish(&world, &engine, &offer, refund.id).await;
    assert_eq!(engine.review().await.unwrap().items, []);
    let before = rows(&world, &offer).await;
    refused(&world, &offer, &id, Verdict::RefundExtra, "does not wait for a person").await;
    assert_eq!(rows(&world, &offer).await, before);
    let refunds = world.bank.refunds();
    assert_eq!((refunds.len(), &refunds[0].payment, refunds[0].amount), (1, &extra.object, rub("1500.00")));
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Succeeded, CheckoutStatus::Paid)
    );
}

/// Where the merchant's money goes after it left the first account, and then the second.
pub const SECOND_ACCOUNT: &str = "100502";
const THIRD_ACCOUNT: &str = "100503";

fn moves_to(world: &World, account: &str) -> MerchantRecord {
    let record = merchant(tenant(), account, &secret_of(account), &world.vault);
    world.merchants.put(record.clone());
    record
}

/// Paid in the first account, and again, by hand, in the second.
pub async fn paid_in_two_accounts(world: &World, engine: &Engine) -> (Offer, ObjectId) {
    let offer = world.paying(engine, "1").await;
    let again = world.bank.stranger_pays(SECOND_ACCOUNT, &OrderId::parse("1").unwrap(), rub("1500.00"));
    found_in_the_second(world, engine, &again).await;
    (offer, again)
}

/// The merchant moves to the second account, and that object is found there.
async fn found_in_the_second(world: &World, engine: &Engine, again: &ObjectId) {
    let merchant = moves_to(world, SECOND_ACCOUNT);
    engine.start().await.unwrap();
    assert!(engine.sweep_merchant(&merchant).await.unwrap().complete);
    done(resolve(engine, again, Verdict::Charged(again.clone())).await);
}

async fn assert_given_back(world: &World, engine: &Engine, offer: &Offer, extra: &ObjectId) {
    let refund = world.story(offer).await.follow_ups.pop().unwrap();
    finish(world, engine, offer, refund.id).await;
    assert_eq!(refund.frozen.unwrap().account.as_str(), SECOND_ACCOUNT);
    let refunds = world.bank.refunds();
    assert_eq!((refunds.len(), &refunds[0].payment, refunds[0].account.as_str()), (1, extra, SECOND_ACCOUNT));
    assert_eq!(engine.review().await.unwrap().items, []);
}

async fn n5_an_extra_in_another_account_is_given_back_by_that_account(world: World) {
    let engine = world.engine();
    let (offer, extra) = paid_in_two_accounts(&world, &engine).await;
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    assert_given_back(&world, &engine, &offer, &extra).await;
}

/// Nobody can tell whether what paid still lies there; the person has heard it somewhere else.
async fn n5_an_extra_is_given_back_by_a_person_where_the_account_that_holds_what_paid_turns_us_away(
    world: World,
) {
    let engine = world.engine();
    let (offer, extra) = paid_in_two_accounts(&world, &engine).await;
    world.bank.change_secret(ACCOUNT, "nobody's");
    let merchant = MerchantRecord { refund_extras: true, ..world.merchant().await };
    world.merchants.put(merchant);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0, "not by itself");
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    assert_given_back(&world, &engine, &offer, &extra).await;
}

async fn n5_an_extra_in_an_account_whose_secret_is_gone_is_refused_with_what_to_do(world: World) {
    let engine = world.engine();
    let (offer, extra) = paid_in_two_accounts(&world, &engine).await;
    world.merchants.put(MerchantRecord { refund_extras: true, ..moves_to(&world, THIRD_ACCOUNT) });
    for part in [SECOND_ACCOUNT, "in the provider's dashboard"] {
        refused(&world, &offer, &extra, Verdict::RefundExtra, part).await;
    }
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0, "nor by itself");
    moves_to(&world, SECOND_ACCOUNT);
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    assert_given_back(&world, &engine, &offer, &extra).await;
}

async fn n5_an_extra_in_an_account_that_was_left_is_given_back_with_the_secret_of_an_earlier_try(
    world: World,
) {
    let engine = world.engine();
    let (offer, extra) = paid_in_two_accounts(&world, &engine).await;
    world.bank.next_for(OperationKind::Refund, [Fault::BadRequest]);
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    let refund = world.story(&offer).await.follow_ups.remove(0);
    finish(&world, &engine, &offer, refund.id).await;
    moves_to(&world, THIRD_ACCOUNT);
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    assert_given_back(&world, &engine, &offer, &extra).await;
}

/// What tells objects apart is the account, too.
async fn n5_an_extra_that_is_called_as_the_payment_in_another_account_is_given_back_by_its_own(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    let name = object_of(&world, &offer);
    let again = world.bank.stranger_pays(SECOND_ACCOUNT, &OrderId::parse("1").unwrap(), rub("1500.00"));
    world.bank.renames(&again, &name);
    found_in_the_second(&world, &engine, &name).await;
    done(resolve(&engine, &name, Verdict::RefundExtra).await);
    assert_given_back(&world, &engine, &offer, &name).await;
}

async fn n5_an_extra_that_nobody_can_give_back_is_told_of_once_and_left_alone(world: World) {
    let (engine, (log, _guard)) = (world.engine(), Log::open());
    let (offer, extra) = paid_in_two_accounts(&world, &engine).await;
    let wants = |account| {
        world.merchants.put(MerchantRecord { refund_extras: true, ..moves_to(&world, account) });
    };
    wants(THIRD_ACCOUNT);
    let mut out_of_reach = OutOfReach::default();
    for _ in 0..3 {
        assert_eq!(engine.refund_extras(&mut out_of_reach).await.unwrap(), 0);
    }
    let told = log.told("an extra charge is not given back by itself");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(SECOND_ACCOUNT) && told[0].contains(extra.as_str()), "{told:?}");
    wants(SECOND_ACCOUNT);
    assert_eq!(engine.refund_extras(&mut out_of_reach).await.unwrap(), 0, "it is not even tried");
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 1);
    assert_given_back(&world, &engine, &offer, &extra).await;
}
