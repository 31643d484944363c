//! Money that was taken twice: found, told, and given back where that is the merchant's setting (N5, fault 63).

use std::sync::Arc;

use engine::{Engine, OutOfReach, Verdict};
use payment::{CheckoutStatus, Ending, ObjectStatus, OperationKind, OperationState, RefundStatus};
use store::{ChargeRecord, ReviewItem};

use super::{finish, refund, state, step};
use crate::{
    alarms::Log,
    bank::{Fault, Lie},
    flaky::{Call, Flaky, When},
    merchant::{ACCOUNT, merchant, secret_of, tenant},
    review::{done, refused, resolve},
    scenarios,
    world::{LEASE_MS, Offer, World, rub},
};

scenarios! {
    n5_fault_63_an_extra_stands_before_a_person_without_the_setting,
    n5_fault_63_an_extra_is_given_back_once_where_the_merchant_wants_it,
    n5_a_refund_opened_by_one_who_died_is_not_opened_again,
    n5_what_the_provider_refused_to_give_back_stands_before_a_person,
    n5_two_servers_give_an_extra_back_once,
    n5_the_charge_that_paid_is_never_given_back_by_itself,
    n5_an_extra_is_not_given_back_once_the_money_that_paid_was_taken_back,
    n5_an_extra_is_not_given_back_once_the_money_that_paid_was_given_back,
    n5_an_extra_is_not_given_back_while_the_money_that_paid_is_being_given_back,
    n5_an_extra_neither_pays_nor_goes_back_while_what_paid_is_held,
    n5_an_extra_waits_until_the_provider_shows_the_money_that_paid,
    n5_an_extra_that_waits_for_a_silent_provider_is_told_of_once,
    n5_fault_33_extras_whose_payers_are_not_shown_keep_no_others_waiting,
    n5_an_extra_is_not_given_back_where_the_provider_shows_that_another_sum_paid,
    n5_a_refund_that_was_turned_away_is_not_sent_again_once_the_money_that_paid_is_gone,
    n5_a_refund_waits_until_the_provider_shows_the_money_that_paid,
    n5_an_extra_that_names_another_order_is_not_given_back_without_a_person,
    n5_an_extra_is_given_back_by_a_person_alone_where_what_paid_was_taken_back_and_is_there_again,
    n5_a_person_gives_an_extra_back_where_another_sum_paid,
    a_refund_of_the_money_that_paid_asks_for_nothing_else,
}

/// A provider that lost its keys took the money twice: both objects are found.
async fn charged_twice(world: &World, engine: &Engine) -> Offer {
    engine.start().await.unwrap();
    let offer = charged_twice_for(world, engine, "1").await;
    assert_eq!((world.bank.charges(), world.status(&offer).await), (2, CheckoutStatus::Paid));
    offer
}

async fn charged_twice_for(world: &World, engine: &Engine, order: &str) -> Offer {
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(engine, order).await;
    world.bank.forget_keys();
    world.settle(engine).await;
    let swept = engine.sweep_merchant(&wants(world, false)).await.unwrap();
    assert_eq!((swept.news, swept.complete), (1, true));
    offer
}

fn wants(world: &World, refund_extras: bool) -> store::MerchantRecord {
    let mut record = merchant(tenant(), ACCOUNT, &secret_of(ACCOUNT), &world.vault);
    record.refund_extras = refund_extras;
    world.merchants.put(record.clone());
    record
}

async fn extra(world: &World, offer: &Offer) -> ChargeRecord {
    let charges = world.story(offer).await.charges;
    assert_eq!(charges.len(), 2);
    charges.into_iter().find(|charge| charge.extra).unwrap()
}

async fn n5_an_extra_that_waits_for_a_silent_provider_is_told_of_once(world: World) {
    let engine = world.engine();
    charged_twice(&world, &engine).await;
    wants(&world, true);
    let (log, _guard) = Log::open();
    let mut out_of_reach = OutOfReach::default();
    for told in [1, 0, 0] {
        world.bank.next_query(Fault::LoseAnswer);
        assert_eq!(engine.refund_extras(&mut out_of_reach).await.unwrap(), 0);
        assert_eq!(log.told("an extra charge is not given back yet").len(), told);
    }
    assert_eq!(engine.refund_extras(&mut out_of_reach).await.unwrap(), 1, "it is tried again");
}

/// Two of a merchant's are tried in one go, those first that were not silent before, then in turn: so a provider that hangs takes two
/// answers' time from the others, and none of its own is forgotten.
async fn n5_fault_33_extras_whose_payers_are_not_shown_keep_no_others_waiting(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let mut payers = Vec::new();
    for order in ["1", "2", "3", "4"] {
        let offer = charged_twice_for(&world, &engine, order).await;
        let charges = world.story(&offer).await.charges;
        payers.push(ChargeRecord::paying(&charges).unwrap().object.clone());
    }
    wants(&world, true);
    let mut out_of_reach = OutOfReach::default();
    let mut go = async || {
        let before = world.bank.asked().0;
        let opened = engine.refund_extras(&mut out_of_reach).await.unwrap();
        (opened, world.bank.asked().0 - before)
    };
    world.bank.every(Some(Fault::LoseAnswer));
    assert_eq!(go().await, (0, 2), "the provider hangs");
    world.bank.every(None);
    let show = |status: &ObjectStatus| {
        for payer in &payers[..2] {
            world.bank.moves_object(payer, status.clone());
        }
    };
    show(&ObjectStatus::WaitingForCapture);
    world.bank.forbids(Some(&payers[2]));
    assert_eq!(go().await.0, 1, "the fourth; the third is silent, and then the first");
    world.bank.forbids(None);
    assert_eq!(go().await.0, 0, "the second and the first are, again");
    assert_eq!(go().await.0, 1, "the third");
    show(&ObjectStatus::Succeeded);
}

/// What stands before a person of it.
async fn waiting(engine: &Engine) -> Vec<ReviewItem> {
    engine.review().await.unwrap().items
}

async fn n5_fault_63_an_extra_stands_before_a_person_without_the_setting(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    for _ in 0..3 {
        assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
        engine.sweep_merchant(&wants(&world, false)).await.unwrap();
    }
    let extra = extra(&world, &offer).await;
    assert_eq!(waiting(&engine).await, [ReviewItem::Extra(Box::new(extra))]);
    let told = world.journal(&offer).await;
    assert_eq!(told.iter().filter(|line| *line == "anomaly: extra_charge").count(), 1, "{told:?}");
    assert!(world.bank.sent_for(OperationKind::Refund).is_empty());
}

async fn n5_fault_63_an_extra_is_given_back_once_where_the_merchant_wants_it(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    wants(&world, true);
    let extra = extra(&world, &offer).await;
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 1);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    let refund = world.story(&offer).await.follow_ups.remove(0);
    assert!(matches!(finish(&world, &engine, &offer, refund.id).await, OperationState::Succeeded { .. }));
    for _ in 0..3 {
        assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
        engine.sweep_merchant(&wants(&world, true)).await.unwrap();
    }
    let refunds = world.bank.refunds();
    assert_eq!(refunds.len(), 1, "once");
    assert_eq!((&refunds[0].payment, refunds[0].amount), (&extra.object, extra.amount), "all of the extra");
    assert_eq!(waiting(&engine).await, [], "nobody has to look any more");
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    let reason = "the order was paid already";
    assert!(world.journal(&offer).await.iter().any(|line| line.contains(reason)), "it says why");
}

async fn n5_a_refund_opened_by_one_who_died_is_not_opened_again(world: World) {
    for when in [When::Before, When::After] {
        let world = world.clone();
        let engine = world.engine();
        if when == When::Before {
            charged_twice(&world, &engine).await;
            wants(&world, true);
        }
        let offer = world.order("1").await;
        let mut dying = world.engine();
        // Both the opening and its repetition.
        dying.store =
            Flaky::new(Arc::clone(&world.store), &[(Call::OpenFollowUp, when), (Call::OpenFollowUp, when)]);
        assert!(dying.refund_extras(&mut OutOfReach::default()).await.is_err());
        let opened = world.story(&offer).await.follow_ups.len();
        assert_eq!(opened, usize::from(when == When::After));
    }
    let (engine, offer) = (world.engine(), world.order("1").await);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    let refunds = world.story(&offer).await.follow_ups;
    assert_eq!(refunds.len(), 1);
    // And by one who died in the middle of it.
    assert_eq!(world.engine().claim_due(1, Vec::new()).await.unwrap().len(), 1);
    world.clock.advance(LEASE_MS);
    finish(&world, &engine, &offer, refunds[0].id).await;
    assert_eq!(
        (engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), world.bank.refunds().len()),
        (0, 1)
    );
}

async fn n5_what_the_provider_refused_to_give_back_stands_before_a_person(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    wants(&world, true);
    world.bank.next_for(OperationKind::Refund, [Fault::BadRequest]);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 1);
    let refund = world.story(&offer).await.follow_ups.remove(0);
    finish(&world, &engine, &offer, refund.id).await;
    assert!(matches!(state(&world, &offer, refund.id).await, OperationState::Rejected { .. }));
    for _ in 0..3 {
        assert_eq!(
            engine.refund_extras(&mut OutOfReach::default()).await.unwrap(),
            0,
            "it would be refused again"
        );
    }
    let extra = extra(&world, &offer).await;
    assert_eq!((extra.reserved_minor, extra.refunded_minor), (0, 0));
    assert_eq!(waiting(&engine).await, [ReviewItem::Extra(Box::new(extra))]);
}

async fn n5_two_servers_give_an_extra_back_once(world: World) {
    let (one, other) = (world.engine(), world.engine());
    let offer = charged_twice(&world, &one).await;
    wants(&world, true);
    let (mut here, mut there) = (OutOfReach::default(), OutOfReach::default());
    let (first, second) = tokio::join!(one.refund_extras(&mut here), other.refund_extras(&mut there));
    first.unwrap();
    second.unwrap();
    let refunds = world.story(&offer).await.follow_ups;
    assert_eq!(refunds.len(), 1);
    finish(&world, &one, &offer, refunds[0].id).await;
    assert_eq!(world.bank.refunds().len(), 1);
}

async fn n5_the_charge_that_paid_is_never_given_back_by_itself(world: World) {
    let engine = world.engine();
    wants(&world, true);
    world.paying(&engine, "1").await;
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    assert!(!engine.run_once().await.unwrap() && world.bank.sent_for(OperationKind::Refund).is_empty());
}

/// It is all that is left of the shopper's money. Nobody told us, and no listing reaches back so far: it is asked for.
async fn n5_an_extra_is_not_given_back_once_the_money_that_paid_was_taken_back(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    let code = "issuer".to_owned();
    let gone = ObjectStatus::Ended(Ending::Declined { code });
    world.bank.moves_object(&paying(&world, &offer).await.object, gone);
    stays_with_a_person(&world, &engine, &offer).await;
    assert!(world.journal(&offer).await.contains(&"anomaly: reversed".to_owned()));
}

/// Support saw two payments in the dashboard, and gave one of them back.
async fn n5_an_extra_is_not_given_back_once_the_money_that_paid_was_given_back(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    let ChargeRecord { object, amount, .. } = paying(&world, &offer).await;
    world.bank.gives_back_by_hand(&object, amount, RefundStatus::Succeeded);
    stays_with_a_person(&world, &engine, &offer).await;
}

/// A payment shows what was given back of it, and not what is going to be.
async fn n5_an_extra_is_not_given_back_while_the_money_that_paid_is_being_given_back(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    wants(&world, true);
    let ChargeRecord { object, amount, .. } = paying(&world, &offer).await;
    let refund = world.bank.gives_back_by_hand(&object, amount, RefundStatus::Pending);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    let extra = extra(&world, &offer).await.object;
    for verdict in [Verdict::RefundExtra, Verdict::Charged(extra.clone())] {
        refused(&world, &offer, &extra, verdict, "is being given back").await;
    }
    world.bank.moves_refund_by_hand(&refund, RefundStatus::Canceled { code: "general_decline".into() });
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 1);
}

/// A provider's answer of another day: the money may be taken, or let go of.
async fn n5_an_extra_neither_pays_nor_goes_back_while_what_paid_is_held(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    wants(&world, true);
    let object = paying(&world, &offer).await.object;
    world.bank.moves_object(&object, ObjectStatus::WaitingForCapture);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    let extra = extra(&world, &offer).await.object;
    for verdict in [Verdict::RefundExtra, Verdict::Charged(extra.clone())] {
        refused(&world, &offer, &extra, verdict, "does not show the money that paid").await;
    }
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 1);
}

async fn n5_an_extra_waits_until_the_provider_shows_the_money_that_paid(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    wants(&world, true);
    world.bank.next_query(Fault::LoseAnswer);
    let mut out_of_reach = OutOfReach::default();
    assert_eq!(engine.refund_extras(&mut out_of_reach).await.unwrap(), 0);
    world.bank.next_query(Fault::LoseAnswer);
    let extra = extra(&world, &offer).await.object;
    refused(&world, &offer, &extra, Verdict::RefundExtra, "try again later").await;
    assert_eq!(engine.refund_extras(&mut out_of_reach).await.unwrap(), 1);
}

async fn n5_an_extra_is_not_given_back_where_the_provider_shows_that_another_sum_paid(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    wants(&world, true);
    let ChargeRecord { object, amount, .. } = paying(&world, &offer).await;
    world.bank.takes_part(&object, rub("1.00"));
    let mut out_of_reach = OutOfReach::default();
    assert_eq!(engine.refund_extras(&mut out_of_reach).await.unwrap(), 0);
    world.bank.takes_part(&object, amount);
    assert_eq!(engine.refund_extras(&mut out_of_reach).await.unwrap(), 0, "a person has to look");
}

/// Support gave the other one back while our credentials were refused.
async fn n5_a_refund_that_was_turned_away_is_not_sent_again_once_the_money_that_paid_is_gone(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    wants(&world, true);
    world.bank.next_for(OperationKind::Refund, [Fault::Unauthorized]);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 1);
    let refund = world.story(&offer).await.follow_ups.remove(0);
    step(&world, &engine, &offer, refund.id).await;
    let ChargeRecord { object, amount, .. } = paying(&world, &offer).await;
    let by_hand = world.bank.gives_back_by_hand(&object, amount, RefundStatus::Pending);
    step(&world, &engine, &offer, refund.id).await;
    world.bank.moves_refund_by_hand(&by_hand, RefundStatus::Succeeded);
    let ended = finish(&world, &engine, &offer, refund.id).await;
    assert!(matches!(&ended, OperationState::Rejected { code, .. } if code == "withheld"), "{ended:?}");
    assert_eq!(world.bank.sent_for(OperationKind::Refund).len(), 1, "the one that was turned away");
    let extra = extra(&world, &offer).await;
    assert_eq!((extra.reserved_minor, extra.refunded_minor), (0, 0));
    assert!(matches!(&waiting(&engine).await[..], [ReviewItem::Extra(_)]));
}

async fn n5_a_refund_waits_until_the_provider_shows_the_money_that_paid(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    wants(&world, true);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 1);
    let refund = world.story(&offer).await.follow_ups.remove(0);
    world.bank.next_query(Fault::LoseAnswer);
    step(&world, &engine, &offer, refund.id).await;
    assert!(world.bank.sent_for(OperationKind::Refund).is_empty());
    assert!(matches!(finish(&world, &engine, &offer, refund.id).await, OperationState::Succeeded { .. }));
    assert_eq!(world.bank.refunds().len(), 1);
}

async fn paying(world: &World, offer: &Offer) -> ChargeRecord {
    let charges = world.story(offer).await.charges;
    charges.into_iter().find(|charge| !charge.extra).unwrap()
}

/// And he is told before he gives it back.
async fn stays_with_a_person(world: &World, engine: &Engine, offer: &Offer) {
    wants(world, true);
    let mut out_of_reach = OutOfReach::default();
    for _ in 0..3 {
        assert_eq!(engine.refund_extras(&mut out_of_reach).await.unwrap(), 0);
    }
    let extra = extra(world, offer).await.object;
    refused(world, offer, &extra, Verdict::RefundExtra, "may be all that pays it").await;
    assert!(world.bank.sent_for(OperationKind::Refund).is_empty());
    assert!(matches!(&waiting(engine).await[..], [ReviewItem::Extra(_)]));
}

/// Somebody took it by hand for that order, with what was written on this one.
async fn n5_an_extra_that_names_another_order_is_not_given_back_without_a_person(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.forget_keys();
    world.settle(&engine).await;
    world.bank.lies(Some(Lie::Order));
    engine.sweep_merchant(&wants(&world, true)).await.unwrap();
    assert!(world.journal(&offer).await.contains(&"anomaly: other_order".to_owned()));
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    assert!(matches!(&waiting(&engine).await[..], [ReviewItem::Extra(_)]));
}

/// Whatever the provider shows by now.
async fn n5_an_extra_is_given_back_by_a_person_alone_where_what_paid_was_taken_back_and_is_there_again(
    world: World,
) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    let object = paying(&world, &offer).await.object;
    world.bank.moves_object(&object, ObjectStatus::Ended(Ending::Declined { code: "issuer".into() }));
    engine.sweep_merchant(&wants(&world, false)).await.unwrap();
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    wants(&world, true);
    let mut out_of_reach = OutOfReach::default();
    for _ in 0..3 {
        assert_eq!(engine.refund_extras(&mut out_of_reach).await.unwrap(), 0);
    }
    let extra = extra(&world, &offer).await.object;
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
}

/// He has seen both; the money that paid lies there.
async fn n5_a_person_gives_an_extra_back_where_another_sum_paid(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    world.bank.takes_part(&paying(&world, &offer).await.object, rub("1.00"));
    let extra = extra(&world, &offer).await.object;
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    let opened = world.story(&offer).await.follow_ups.remove(0);
    let ended = finish(&world, &engine, &offer, opened.id).await;
    assert!(matches!(&ended, OperationState::Succeeded { .. }), "{ended:?}");
    world.bank.takes_part(&paying(&world, &offer).await.object, rub("1500.00"));
}

async fn a_refund_of_the_money_that_paid_asks_for_nothing_else(world: World) {
    let engine = world.engine();
    let offer = charged_twice(&world, &engine).await;
    let opened = refund(&engine, &offer, "500.00").await;
    world.bank.next_query(Fault::LoseAnswer);
    assert!(engine.run_once().await.unwrap());
    let ended = state(&world, &offer, opened.id).await;
    assert!(matches!(&ended, OperationState::Succeeded { .. }), "{ended:?}");
    world.bank.heal();
}
