//! An extra of which nothing is to be given back: it went back without us, or it is all that pays, because what had paid went back.

use engine::{Engine, OutOfReach, Verdict};
use payment::{CheckoutStatus, Ending, ObjectId, ObjectStatus, OperationKind, RefundStatus};
use store::{ChargeRecord, EffectRecord, Fate, MerchantRecord, OpenedFollowUp};

use super::{REASON, Word, done, not_charged, refused, resolve, waiting};
use crate::{
    bank::Fault,
    follow_ups::{ask, finish},
    merchant::tenant,
    scenarios,
    world::{DAY, HOUR, Offer, World, rub},
};

scenarios! {
    n5_an_extra_that_the_bank_took_back_ends_by_a_persons_word,
    n5_an_extra_that_was_given_back_in_full_ends_by_a_persons_word,
    n5_an_extra_whose_money_did_not_go_back_is_not_called_returned,
    n5_an_extra_that_nobody_can_ask_about_ends_by_evidence,
    n5_an_extra_pays_once_what_had_paid_was_taken_back,
    n5_an_extra_pays_once_what_had_paid_was_given_back,
    n5_an_extra_does_not_pay_while_what_had_paid_stands,
    n5_an_extra_that_went_back_does_not_pay,
    n5_r23_what_a_person_kept_is_not_given_back_by_one_who_read_it_before,
    n5_r23_while_a_refund_is_under_way_no_word_ends_an_extra,
    n5_an_extra_that_went_back_ends_by_itself_and_stands_again_when_its_money_does,
    n5_a_notification_that_an_extra_was_taken_back_ends_it,
    n5_of_several_extras_one_pays,
    n5_what_had_paid_and_is_there_again_is_a_persons_matter,
    n5_once_what_had_paid_is_there_again_what_was_kept_is_an_extra_again,
    n5_what_had_paid_and_is_there_again_is_found_whatever_day_it_is_dated_to,
}

pub async fn sweeps(world: &World, engine: &Engine) {
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
}

/// An order that was charged twice: what paid, and the extra.
pub async fn charged_twice(world: &World, engine: &Engine) -> (Offer, ObjectId, ObjectId) {
    engine.start().await.unwrap();
    charged_twice_for(world, engine, "1").await
}

async fn charged_twice_for(world: &World, engine: &Engine, order: &str) -> (Offer, ObjectId, ObjectId) {
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(engine, order).await;
    world.bank.forget_keys();
    world.settle(engine).await;
    sweeps(world, engine).await;
    let charges = world.story(&offer).await.charges;
    let of = |extra| charges.iter().find(|charge| charge.extra == extra).unwrap().object.clone();
    assert_eq!(waiting(engine).await, [of(true).to_string()]);
    (offer, of(false), of(true))
}

async fn charge(world: &World, offer: &Offer, object: &ObjectId) -> ChargeRecord {
    world.story(offer).await.charges.into_iter().find(|charge| charge.object == *object).unwrap()
}

pub async fn fate(world: &World, offer: &Offer, object: &ObjectId) -> Option<Fate> {
    charge(world, offer, object).await.fate
}

async fn pays(world: &World, offer: &Offer) -> ObjectId {
    ChargeRecord::paying(&world.story(offer).await.charges).unwrap().object.clone()
}

pub fn takes_back(world: &World, object: &ObjectId) {
    world.bank.moves_object(object, ObjectStatus::Ended(Ending::Declined { code: "issuer".into() }));
}

pub fn gives_back(world: &World, object: &ObjectId) {
    world.bank.gives_back_by_hand(object, rub("1500.00"), RefundStatus::Succeeded);
}

pub fn keep(object: &ObjectId) -> Verdict {
    Verdict::Charged(object.clone())
}

/// Nobody is sent anything by a verdict, and it is told in the journal, once.
async fn assert_told_once(world: &World, offer: &Offer, event: &str, effects: &[EffectRecord]) {
    let journal = world.journal(offer).await;
    let told: Vec<_> = journal.iter().filter(|line| line.starts_with(event)).collect();
    assert!(told.len() == 1 && told[0].contains(REASON), "{journal:?}");
    assert_eq!(world.store.effects(tenant(), offer.intent.id).await.unwrap(), effects);
    assert_eq!(world.status(offer).await, CheckoutStatus::Paid);
    assert!(world.bank.sent_for(OperationKind::Refund).is_empty());
}

async fn ends_as_returned(world: &World, goes: fn(&World, &ObjectId)) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(world, &engine).await;
    refused(world, &offer, &extra, not_charged(), "its money did not go back").await;
    goes(world, &extra);
    let effects = world.store.effects(tenant(), offer.intent.id).await.unwrap();
    let words = done(resolve(&engine, &extra, not_charged()).await);
    assert!(words.contains("went back to the shopper"), "{words}");
    assert_eq!(done(resolve(&engine, &extra, not_charged()).await), words, "said twice");
    assert_eq!((fate(world, &offer, &extra).await, waiting(&engine).await.len()), (Some(Fate::Returned), 0));
    assert_eq!(pays(world, &offer).await, paying);
    assert_told_once(world, &offer, "charge_returned", &effects).await;
    refused(world, &offer, &extra, Verdict::RefundExtra, "that is over").await;
    refused(world, &offer, &extra, keep(&extra), "that is over").await;
    world.merchants.put(MerchantRecord { refund_extras: true, ..world.merchant().await });
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
}

async fn n5_an_extra_that_the_bank_took_back_ends_by_a_persons_word(world: World) {
    ends_as_returned(&world, takes_back).await;
}

async fn n5_an_extra_that_was_given_back_in_full_ends_by_a_persons_word(world: World) {
    ends_as_returned(&world, gives_back).await;
}

async fn n5_an_extra_whose_money_did_not_go_back_is_not_called_returned(world: World) {
    let engine = world.engine();
    let (offer, _, extra) = charged_twice(&world, &engine).await;
    let not_charged = || Word(Verdict::NotCharged, Some("the shopper says so"));
    refused(&world, &offer, &extra, not_charged(), "object-").await;
    world.bank.gives_back_by_hand(&extra, rub("1499.99"), RefundStatus::Succeeded);
    refused(&world, &offer, &extra, not_charged(), "its money did not go back").await;
    takes_back(&world, &extra);
    world.bank.next_query(Fault::LoseAnswer);
    refused(&world, &offer, &extra, not_charged(), "does not show it now").await;
    refused(&world, &offer, &extra, Verdict::NotExecuted, "--not-charged").await;
}

async fn n5_an_extra_that_nobody_can_ask_about_ends_by_evidence(world: World) {
    let engine = world.engine();
    let (offer, _, extra) = charged_twice(&world, &engine).await;
    // One object that is forbidden alone is no account that is closed to us.
    world.bank.next_query(Fault::Unauthorized);
    refused(&world, &offer, &extra, not_charged(), "does not show it now").await;
    world.bank.every(Some(Fault::Unauthorized));
    refused(&world, &offer, &extra, not_charged(), "say by --evidence").await;
    done(resolve(&engine, &extra, Word(Verdict::NotCharged, Some("the account's statement"))).await);
    world.bank.every(None);
    assert_eq!((fate(&world, &offer, &extra).await, waiting(&engine).await.len()), (Some(Fate::Returned), 0));
}

async fn ends_as_kept(world: &World, goes: fn(&World, &ObjectId)) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(world, &engine).await;
    goes(world, &paying);
    sweeps(world, &engine).await;
    refused(world, &offer, &extra, keep(&paying), "is ended by").await;
    refused(world, &offer, &extra, Verdict::RefundExtra, &format!("say --charged {extra}")).await;
    let effects = world.store.effects(tenant(), offer.intent.id).await.unwrap();
    let words = done(resolve(&engine, &extra, keep(&extra)).await);
    assert!(words.contains("stays, and pays the order"), "{words}");
    assert_eq!(done(resolve(&engine, &extra, keep(&extra)).await), words, "said twice");
    assert_eq!((fate(world, &offer, &extra).await, waiting(&engine).await.len()), (Some(Fate::Kept), 0));
    assert_eq!(
        (fate(world, &offer, &paying).await, pays(world, &offer).await),
        (Some(Fate::Returned), extra.clone())
    );
    assert_told_once(world, &offer, "extra_kept", &effects).await;
    refused(world, &offer, &extra, Verdict::RefundExtra, "that is over").await;
    world.merchants.put(MerchantRecord { refund_extras: true, ..world.merchant().await });
    sweeps(world, &engine).await;
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    // The merchant may give it back, as any payment; no more than it took.
    let asks = |sum| ask(&engine, offer.intent.id, OperationKind::Refund, Some(rub(sum)));
    let OpenedFollowUp::Fresh(refund) = asks("500.00").await else { panic!("it can be refunded") };
    finish(world, &engine, &offer, refund.id).await;
    assert_eq!(asks("1000.01").await, OpenedFollowUp::Exceeds { left_minor: 100_000 });
    assert_eq!(world.bank.refunds().last().unwrap().payment, extra);
    assert_eq!(
        (charge(world, &offer, &extra).await.refunded_minor, waiting(&engine).await.len()),
        (50_000, 0)
    );
}

async fn n5_an_extra_pays_once_what_had_paid_was_taken_back(world: World) {
    ends_as_kept(&world, takes_back).await;
}

async fn n5_an_extra_pays_once_what_had_paid_was_given_back(world: World) {
    ends_as_kept(&world, gives_back).await;
}

async fn n5_an_extra_does_not_pay_while_what_had_paid_stands(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    let (keep_unproved, keep) = (|| keep(&extra), || Word(keep(&extra), Some("the shopper says so")));
    refused(&world, &offer, &extra, keep(), "lies at the provider").await;
    world.bank.gives_back_by_hand(&paying, rub("1499.99"), RefundStatus::Succeeded);
    refused(&world, &offer, &extra, keep(), "lies at the provider").await;
    // Of the extra it says something, of what had paid it does not.
    world.bank.change_secret(crate::merchant::ACCOUNT, "nobody's");
    refused(
        &world,
        &offer,
        &extra,
        keep_unproved(),
        "say by --evidence what shows that what had paid went back",
    )
    .await;
    assert_eq!(pays(&world, &offer).await, paying);
}

async fn n5_an_extra_that_went_back_does_not_pay(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    takes_back(&world, &paying);
    for goes in [gives_back, takes_back] {
        goes(&world, &extra);
        refused(&world, &offer, &extra, keep(&extra), "it pays nothing").await;
    }
    done(resolve(&engine, &extra, not_charged()).await);
    assert_eq!((world.status(&offer).await, waiting(&engine).await.len()), (CheckoutStatus::Paid, 0));
}

/// By the setting, which saw the money that paid a moment ago, or by a second person.
async fn n5_r23_what_a_person_kept_is_not_given_back_by_one_who_read_it_before(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    let read_before = charge(&world, &offer, &extra).await;
    takes_back(&world, &paying);
    done(resolve(&engine, &extra, keep(&extra)).await);
    let late = engine.refund_charge(&read_before, "the order was paid already".into()).await.unwrap();
    assert_eq!(late, OpenedFollowUp::Exceeds { left_minor: 0 });
    assert!(world.story(&offer).await.follow_ups.is_empty());
}

async fn n5_r23_while_a_refund_is_under_way_no_word_ends_an_extra(world: World) {
    let engine = world.engine();
    let (offer, _, extra) = charged_twice(&world, &engine).await;
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    gives_back(&world, &extra);
    sweeps(&world, &engine).await;
    assert_eq!(fate(&world, &offer, &extra).await, None, "it may be our own refund that is seen");
    for word in [keep(&extra), not_charged()] {
        refused(&world, &offer, &extra, word, "a refund of").await;
    }
    let read = charge(&world, &offer, &extra).await;
    for fate in [Fate::Kept, Fate::Returned] {
        let command = store::PutFate { charge: read.clone(), fate: Some(fate), evidence: String::new() };
        assert!(!world.store.put_fate(command).await.unwrap(), "whoever says it");
    }
}

async fn n5_an_extra_that_went_back_ends_by_itself_and_stands_again_when_its_money_does(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    let count =
        async |event: &str| world.journal(&offer).await.iter().filter(|line| line.starts_with(event)).count();
    for round in 1..=2 {
        takes_back(&world, &extra);
        for _ in 0..2 {
            sweeps(&world, &engine).await;
            assert_eq!((waiting(&engine).await.len(), count("charge_returned").await), (0, round));
        }
        world.bank.moves_object(&extra, ObjectStatus::Succeeded);
        for _ in 0..2 {
            sweeps(&world, &engine).await;
            assert_eq!((waiting(&engine).await.len(), count("charge_came_back").await), (1, round));
        }
    }
    assert_eq!(pays(&world, &offer).await, paying);
}

async fn n5_a_notification_that_an_extra_was_taken_back_ends_it(world: World) {
    let engine = world.engine();
    let (offer, _, extra) = charged_twice(&world, &engine).await;
    takes_back(&world, &extra);
    engine.look(&tenant(), offer.intent.id, &extra).await.unwrap();
    assert_eq!((fate(&world, &offer, &extra).await, waiting(&engine).await.len()), (Some(Fate::Returned), 0));
}

/// What was kept goes back in its turn, and there is another.
async fn n5_of_several_extras_one_pays(world: World) {
    let engine = world.engine();
    let (offer, first, second) = charged_twice(&world, &engine).await;
    world.bank.forget_keys();
    world.bank.repeat_last();
    sweeps(&world, &engine).await;
    let third = waiting(&engine).await.into_iter().find(|id| *id != second.to_string()).unwrap();
    let third = super::object(&third);
    takes_back(&world, &first);
    done(resolve(&engine, &second, keep(&second)).await);
    refused(&world, &offer, &third, keep(&third), "lies at the provider").await;
    takes_back(&world, &second);
    done(resolve(&engine, &third, keep(&third)).await);
    assert_eq!((pays(&world, &offer).await, waiting(&engine).await.len()), (third, 0));
    assert_eq!(fate(&world, &offer, &second).await, Some(Fate::Returned));
    // The bank changes its mind: what is too much stands before a person.
    world.bank.moves_object(&second, ObjectStatus::Succeeded);
    sweeps(&world, &engine).await;
    assert_eq!(waiting(&engine).await, [second.to_string()]);
    done(resolve(&engine, &second, Verdict::RefundExtra).await);
}

async fn n5_what_had_paid_and_is_there_again_is_a_persons_matter(world: World) {
    let engine = world.engine();
    world.merchants.put(MerchantRecord { refund_extras: true, ..world.merchant().await });
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    takes_back(&world, &paying);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0);
    world.bank.moves_object(&paying, ObjectStatus::Succeeded);
    assert_eq!(engine.refund_extras(&mut OutOfReach::default()).await.unwrap(), 0, "it wavers");
    refused(&world, &offer, &extra, keep(&extra), "lies at the provider").await;
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
    let refund = world.story(&offer).await.follow_ups.remove(0);
    finish(&world, &engine, &offer, refund.id).await;
    assert_eq!((world.bank.refunds().len(), waiting(&engine).await.len()), (1, 0));
}

async fn n5_once_what_had_paid_is_there_again_what_was_kept_is_an_extra_again(world: World) {
    let engine = world.engine();
    let (offer, paying, extra) = charged_twice(&world, &engine).await;
    takes_back(&world, &paying);
    done(resolve(&engine, &extra, keep(&extra)).await);
    world.bank.moves_object(&paying, ObjectStatus::Succeeded);
    sweeps(&world, &engine).await;
    assert_eq!((pays(&world, &offer).await, waiting(&engine).await), (paying, vec![extra.to_string()]));
    done(resolve(&engine, &extra, Verdict::RefundExtra).await);
}

/// The provider lists it neither as made nor as taken since. Others like it, which it does not show at all, do not hide it.
async fn n5_what_had_paid_and_is_there_again_is_found_whatever_day_it_is_dated_to(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let mut kept = Vec::new();
    for order in ["1", "2", "3", "4"] {
        let (offer, paying, extra) = charged_twice_for(&world, &engine, order).await;
        takes_back(&world, &paying);
        done(resolve(&engine, &extra, keep(&extra)).await);
        kept.push((offer, paying, extra));
    }
    world.clock.advance(5 * DAY);
    sweeps(&world, &engine).await;
    let (offer, paying, extra) = kept.remove(0);
    assert_eq!((pays(&world, &offer).await, waiting(&engine).await.len()), (extra.clone(), 0));

    world.clock.advance(5 * DAY);
    world.bank.moves_object(&paying, ObjectStatus::Succeeded);
    for (_, gone, extra) in &kept {
        world.bank.renames(gone, &ObjectId::parse(format!("no-{extra}")).unwrap());
    }
    for _ in &kept {
        world.clock.advance(HOUR + 1);
        sweeps(&world, &engine).await;
    }
    world.clock.advance(HOUR + 1);
    sweeps(&world, &engine).await;
    assert_eq!(fate(&world, &offer, &paying).await, None, "each is the first in its turn");
    for (_, gone, extra) in &kept {
        world.bank.renames(&ObjectId::parse(format!("no-{extra}")).unwrap(), gone);
    }
    assert_eq!((pays(&world, &offer).await, waiting(&engine).await), (paying, vec![extra.to_string()]));
}
