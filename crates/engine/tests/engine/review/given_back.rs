//! `--executed REFUND` on an extra: somebody gave it back in the provider's dashboard.

use engine::{Engine, OutOfReach, Verdict};
use payment::{ObjectId, OperationKind, RefundStatus};
use store::{ChargeRecord, MerchantRecord, ReviewItem};

use super::{REASON, Word, done, object, refused, resolve, waiting};
use crate::{
    bank::{Fault, Lie},
    follow_ups::{finish, step},
    merchant::{ACCOUNT, merchant, secret_of, tenant},
    scenarios,
    world::{Offer, World, rub},
};

scenarios! {
    n5_an_extra_that_was_given_back_by_hand_ends_by_that_refund,
    n5_r23_a_part_that_was_given_back_by_hand_is_counted_once,
    n5_r23_what_gave_nothing_of_the_extra_back_is_refused,
    n5_an_extra_of_an_account_that_turns_us_away_ends_by_evidence,
    n5_r23_while_a_refund_of_ours_is_not_over_another_is_not_counted,
}

/// An order that was charged twice.
async fn charged_twice(world: &World, engine: &Engine) -> (Offer, ObjectId) {
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(engine, "1").await;
    world.bank.forget_keys();
    world.settle(engine).await;
    engine.sweep_merchant(&merchant(tenant(), ACCOUNT, &secret_of(ACCOUNT), &world.vault)).await.unwrap();
    let items = engine.review().await.unwrap().items;
    let [ReviewItem::Extra(extra)] = &items[..] else { panic!("{items:?}") };
    (offer, extra.object.clone())
}

async fn charge(world: &World, offer: &Offer, extra: &ObjectId) -> ChargeRecord {
    world.story(offer).await.charges.into_iter().find(|charge| charge.object == *extra).unwrap()
}

/// Reserved and given back of the extra.
async fn sums(world: &World, offer: &Offer, extra: &ObjectId) -> (i64, i64) {
    let charge = charge(world, offer, extra).await;
    (charge.reserved_minor, charge.refunded_minor)
}

/// The bank refuses our refund, and a person gives it back in the dashboard.
async fn n5_an_extra_that_was_given_back_by_hand_ends_by_that_refund(world: World) {
    let engine = world.engine();
    world.merchants.put(MerchantRecord { refund_extras: true, ..world.merchant().await });
    let (offer, extra) = charged_twice(&world, &engine).await;
    world.bank.next_for(OperationKind::Refund, [Fault::BadRequest]);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 1);
    let tried = world.story(&offer).await.follow_ups.remove(0);
    finish(&world, &engine, &offer, tried.id).await;
    let refund = world.bank.gives_back_by_hand(&extra, rub("1500.00"), RefundStatus::Succeeded);
    assert_eq!(waiting(&engine).await, [extra.to_string()], "nobody here knows");
    let words = done(resolve(&engine, &extra, Verdict::Executed(refund.clone())).await);
    assert!(words.contains("1500.00 RUB") && words.contains(refund.as_str()), "{words}");
    assert_eq!((sums(&world, &offer, &extra).await, waiting(&engine).await.len()), ((0, 150_000), 0));
    let line = world.journal(&offer).await.pop().unwrap();
    for part in ["refund.found", "made by somebody else", "a person", REASON, refund.as_str()] {
        assert!(line.contains(part), "{part} in {line}");
    }
    refused(&world, &offer, &extra, Verdict::Executed(refund), "does not wait for a person").await;
    assert!(!engine.run_once().await.unwrap(), "nothing is sent");
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    assert_eq!(world.bank.refunds().len(), 1);
}

async fn n5_r23_a_part_that_was_given_back_by_hand_is_counted_once(world: World) {
    let engine = world.engine();
    let (offer, extra) = charged_twice(&world, &engine).await;
    let part = world.bank.gives_back_by_hand(&extra, rub("400.00"), RefundStatus::Succeeded);
    done(resolve(&engine, &extra, Verdict::Executed(part.clone())).await);
    let known = world.story(&offer).await.follow_ups.remove(0);
    let words = format!("is known already as the refund of {}", known.id);
    refused(&world, &offer, &extra, Verdict::Executed(part), &words).await;
    assert_eq!(sums(&world, &offer, &extra).await, (0, 40_000));
    // What is left is given back by us, or by another hand.
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    let ours = world.story(&offer).await.follow_ups.into_iter().find(|row| row.id != known.id).unwrap();
    finish(&world, &engine, &offer, ours.id).await;
    assert_eq!((sums(&world, &offer, &extra).await, waiting(&engine).await.len()), ((0, 150_000), 0));
}

async fn n5_r23_what_gave_nothing_of_the_extra_back_is_refused(world: World) {
    let engine = world.engine();
    let (offer, extra) = charged_twice(&world, &engine).await;
    let paying = world.story(&offer).await.charges.into_iter().find(|charge| !charge.extra).unwrap().object;
    let by_hand = |payment, status| world.bank.gives_back_by_hand(payment, rub("1500.00"), status);
    let others = by_hand(&paying, RefundStatus::Succeeded);
    let pending = by_hand(&extra, RefundStatus::Pending);
    let canceled = by_hand(&extra, RefundStatus::Canceled { code: "general_decline".into() });
    for (refund, part) in [
        (&object("refund-77"), "does not show the refund refund-77"),
        (&others, "gave nothing of"),
        (&pending, "pending"),
        (&canceled, "canceled"),
        (&extra, "does not show the refund"),
    ] {
        refused(&world, &offer, &extra, Verdict::Executed(refund.clone()), part).await;
    }
    world.bank.next_query(Fault::LoseAnswer);
    refused(&world, &offer, &extra, Verdict::Executed(others), "does not show").await;
    let too_much = world.bank.gives_back_by_hand(&extra, rub("1500.01"), RefundStatus::Succeeded);
    refused(&world, &offer, &extra, Verdict::Executed(too_much.clone()), "only 1500.00 RUB of").await;
    world.bank.lies(Some(Lie::Currency));
    refused(&world, &offer, &extra, Verdict::Executed(too_much), "only 1500.00 RUB of").await;
    world.bank.lies(None);
    assert_eq!(sums(&world, &offer, &extra).await, (0, 0));
}

/// Nobody can ask any more whether it was given back.
async fn n5_an_extra_of_an_account_that_turns_us_away_ends_by_evidence(world: World) {
    let engine = world.engine();
    let (offer, extra) = charged_twice(&world, &engine).await;
    let refund = world.bank.gives_back_by_hand(&extra, rub("1500.00"), RefundStatus::Succeeded);
    let by_evidence = Word(Verdict::Executed(refund.clone()), Some("the account's statement of May"));
    world.bank.next_query(Fault::Unauthorized);
    refused(&world, &offer, &extra, by_evidence.clone(), "does not show the refund").await;
    world.bank.every(Some(Fault::Unauthorized));
    refused(&world, &offer, &extra, Verdict::Executed(refund), "say by --evidence").await;
    done(resolve(&engine, &extra, by_evidence).await);
    assert_eq!((sums(&world, &offer, &extra).await, waiting(&engine).await.len()), ((0, 150_000), 0));
    let line = world.journal(&offer).await.pop().unwrap();
    assert!(line.contains("statement of May") && line.contains("does not accept the credentials"), "{line}");
    world.bank.every(None);
}

/// It may be the very one, with our name taken off it.
async fn n5_r23_while_a_refund_of_ours_is_not_over_another_is_not_counted(world: World) {
    let engine = world.engine();
    let (offer, extra) = charged_twice(&world, &engine).await;
    world.bank.next_for(OperationKind::Refund, [Fault::LoseAnswer]);
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    let ours = world.story(&offer).await.follow_ups.remove(0);
    step(&world, &engine, &offer, ours.id).await;
    world.bank.every(Some(Fault::LoseAnswer));
    finish(&world, &engine, &offer, ours.id).await;
    world.bank.every(None);
    let made = world.bank.refunds()[0].id.clone();
    let words = format!("{} is at it already", ours.id);
    refused(&world, &offer, &extra, Verdict::Executed(made.clone()), &words).await;
    done(resolve(&engine, ours.id, Verdict::Executed(made)).await);
    assert_eq!((sums(&world, &offer, &extra).await, waiting(&engine).await.len()), ((0, 150_000), 0));
}
