//! Objects that took money: each is a row, the first pays the checkout, the others are extras.

use std::sync::Arc;

use payment::{CheckoutStatus, Mode, OperationState, ProviderAccount, State};
use store::{
    Charge, ChargeRecord, Committed, Fate, Flow, IntentRecord, OpenFollowUp, OpenedFollowUp, PutFate,
    ReviewId, ReviewItem, StoreError,
};

use crate::{
    commands::{
        WAKE_MS, charge, declined, follow_up_outcome, object, outcome, refund, rub, succeeded, tenant,
        tenant_of,
    },
    conformance::behaviours,
    world::World,
};

behaviours!(
    fault_63_of_several_charges_in_one_commit_the_first_pays,
    fault_63_a_known_charge_beside_a_new_one_is_no_news,
    fault_63_extras_of_a_paid_checkout_are_extras_each,
    r25_a_charge_that_pays_another_sum_than_the_checkouts_is_told,
    fault_15_several_charges_are_told_again_as_they_were,
    equal_objects_of_two_accounts_are_two_charges,
    n5_a_charges_fate_is_written_over_what_was_seen_and_told_once,
    n5_r23_what_has_a_fate_is_no_open_extra,
    n5_one_extra_pays_in_the_place_of_another,
    n5_a_second_extra_that_is_kept_is_refused_by_its_index,
    n5_what_an_extra_pays_in_the_place_of_is_found_by_its_account,
);

/// Object, sum and whether it is an extra, of each charge.
fn told(charges: &[ChargeRecord]) -> Vec<(&str, String, bool)> {
    charges.iter().map(|row| (row.object.as_str(), row.amount.decimal(), row.extra)).collect()
}

async fn fault_63_of_several_charges_in_one_commit_the_first_pays(world: World) {
    let claim = world.sent("order-1").await;
    let mut twice = outcome(&claim, succeeded("object-1"));
    twice.charges.push(Charge { amount: rub("700.00"), ..charge(object("object-2")) });
    twice.charges.push(charge(object("object-3")));
    let first = world.store.commit(twice).await.unwrap();
    assert_eq!(first, Committed::Done { paid: true, extra: true, other_sum: false });
    let story = world.story(claim.intent.id).await;
    let expected =
        [("object-1", "1500.00", false), ("object-2", "700.00", true), ("object-3", "1500.00", true)];
    assert_eq!(told(&story.charges), expected.map(|(id, sum, extra)| (id, sum.to_owned(), extra)));
    for row in &story.charges {
        assert_eq!((&row.tenant, row.checkout, row.intent), (&tenant(), claim.checkout.id, claim.intent.id));
        assert_eq!((row.at, row.reserved_minor, row.refunded_minor), (world.now(), 0, 0));
    }
    assert_eq!(world.checkout(claim.checkout.id).await.0.status, CheckoutStatus::Paid);
    assert_eq!(story.journal.last().unwrap().line.evidence, "extra_charge");
}

/// Of an extra no sum is expected.
async fn r25_a_charge_that_pays_another_sum_than_the_checkouts_is_told(world: World) {
    let claim = world.sent("order-1").await;
    let mut less = outcome(&claim, succeeded("object-1"));
    less.charges = vec![Charge { amount: rub("1499.99"), ..charge(object("object-1")) }];
    let first = world.store.commit(less.clone()).await.unwrap();
    assert_eq!(first, Committed::Done { paid: true, extra: false, other_sum: true });
    assert_eq!(world.store.commit(less).await.unwrap(), first, "its answer was lost");
    let told = async || {
        let journal = world.story(claim.intent.id).await.journal;
        journal.iter().filter(|row| row.line.evidence == "other_sum").count()
    };
    assert_eq!(told().await, 1, "once");
    let looked = world.looked(claim.intent.id).await;
    let mut extra = outcome(&looked, looked.intent.state.clone());
    extra.charges = vec![Charge { amount: rub("7.00"), ..charge(object("object-2")) }];
    let second = world.store.commit(extra).await.unwrap();
    assert_eq!(second, Committed::Done { paid: false, extra: true, other_sum: false });
    assert_eq!(told().await, 1);
}

async fn fault_63_a_known_charge_beside_a_new_one_is_no_news(world: World) {
    let claim = world.settled("order-1", State::Authorized { object: object("ours") }).await;
    for (charges, expected) in [(vec!["other"], (true, false)), (vec!["other", "another"], (false, true))] {
        world.clock.advance(WAKE_MS);
        let asked = world.due(1).await.remove(0);
        let mut seen = outcome(&asked, asked.intent.state.clone());
        seen.charges = charges.into_iter().map(|id| charge(object(id))).collect();
        assert_eq!(world.commit(seen).await, expected);
    }
    let charges = world.story(claim.intent.id).await.charges;
    let extras: Vec<_> = charges.iter().map(|row| (row.object.as_str(), row.extra)).collect();
    assert_eq!(extras, [("other", false), ("another", true)]);
}

async fn fault_63_extras_of_a_paid_checkout_are_extras_each(world: World) {
    let first = world.settled("order-1", declined()).await;
    let second = world.tried_again(first.checkout.id).await;
    world.commit(outcome(&second, succeeded("object-2"))).await;
    let late = world.looked(first.intent.id).await;
    let mut paid = outcome(&late, declined());
    paid.charges = vec![charge(object("object-1")), charge(object("object-3"))];
    assert_eq!(world.commit(paid).await, (false, true));
    let of_first = world.story(first.intent.id).await.charges;
    assert_eq!(of_first, world.story(second.intent.id).await.charges, "they are the checkout's");
    let extras: Vec<_> = of_first.into_iter().filter(|row| row.extra).collect();
    assert!(extras.len() == 2 && extras.iter().all(|row| row.intent == first.intent.id));
    assert_eq!(world.store.open_extras(10).await.unwrap(), extras);
}

async fn fault_15_several_charges_are_told_again_as_they_were(world: World) {
    let claim = world.sent("order-1").await;
    let mut twice = outcome(&claim, succeeded("object-1"));
    twice.charges.push(charge(object("object-2")));
    let first = world.store.commit(twice.clone()).await.unwrap();
    let story = world.story(claim.intent.id).await;
    world.clock.advance(WAKE_MS);
    assert_eq!(world.store.commit(twice).await.unwrap(), first);
    assert_eq!(world.story(claim.intent.id).await, story);
}

async fn equal_objects_of_two_accounts_are_two_charges(world: World) {
    let claim = world.sent("order-1").await;
    let mut twice = outcome(&claim, succeeded("object-1"));
    let account = ProviderAccount::parse("200").unwrap();
    twice.charges.push(Charge { account, ..charge(object("object-1")) });
    assert_eq!(world.commit(twice).await, (true, true));
    assert_eq!(world.story(claim.intent.id).await.charges.len(), 2);
}

/// An order that `object-1` paid, with extras.
async fn charged(world: &World, extras: &[&str]) -> (IntentRecord, Vec<ChargeRecord>) {
    let claim = world.sent("order-1").await;
    let mut several = outcome(&claim, succeeded("object-1"));
    several.charges.extend(extras.iter().map(|id| charge(object(id))));
    assert_eq!(world.commit(several).await, (true, true));
    (claim.intent.clone(), world.story(claim.intent.id).await.charges)
}

async fn put(world: &World, charge: &ChargeRecord, fate: Option<Fate>) -> bool {
    let command = PutFate { charge: charge.clone(), fate, evidence: "a test says so".into() };
    world.store.put_fate(command).await.unwrap()
}

/// What pays, and the fates of all.
async fn fates(world: &World, intent: &IntentRecord) -> (String, Vec<Option<Fate>>) {
    let charges = world.story(intent.id).await.charges;
    let pays = ChargeRecord::paying(&charges).unwrap().object.to_string();
    (pays, charges.iter().map(|charge| charge.fate).collect())
}

async fn n5_a_charges_fate_is_written_over_what_was_seen_and_told_once(world: World) {
    let (intent, charges) = charged(&world, &["object-2"]).await;
    let [paying, extra] = &charges[..] else { panic!("{charges:?}") };
    assert!(!put(&world, paying, Some(Fate::Kept)).await, "it is no extra");
    let stale = ChargeRecord { refunded_minor: 1, ..extra.clone() };
    assert!(!put(&world, &stale, Some(Fate::Returned)).await);
    for _ in 0..2 {
        assert!(put(&world, extra, Some(Fate::Returned)).await, "its answer may be lost");
    }
    assert!(!put(&world, extra, Some(Fate::Kept)).await, "it was seen without a fate");
    let again = world.story(intent.id).await.charges.remove(1);
    assert!(put(&world, &again, None).await);
    let journal = world.story(intent.id).await.journal;
    let told: Vec<_> = journal.iter().rev().take(2).map(|row| row.line.event.as_str()).collect();
    assert_eq!(told, ["charge_came_back", "charge_returned"]);
    assert_eq!(world.checkout(extra.checkout).await.0.status, CheckoutStatus::Paid);
}

async fn n5_r23_what_has_a_fate_is_no_open_extra(world: World) {
    let (intent, charges) = charged(&world, &["object-2", "object-3"]).await;
    assert_eq!(world.store.open_extras(10).await.unwrap(), charges[1..]);
    let (kept, returned) = (&charges[1], &charges[2]);
    let under_way = world.followed(refund(&intent, "object-2", "1.00")).await;
    assert!(
        !put(&world, &world.story(intent.id).await.charges.remove(1), Some(Fate::Kept)).await,
        "it is under way"
    );
    let work = world.due(10).await.into_iter().find(|claim| claim.operation.id == under_way.id).unwrap();
    world.commit(follow_up_outcome(&work, OperationState::NotExecuted)).await;
    assert!(put(&world, kept, Some(Fate::Kept)).await && put(&world, returned, Some(Fate::Returned)).await);
    assert_eq!(world.store.open_extras(10).await.unwrap(), []);
    assert_eq!(world.store.review(10).await.unwrap().items, []);
    for charge in [kept, returned] {
        let found = world.store.review_item(ReviewId::Object(charge.object.clone())).await.unwrap();
        assert!(matches!(found, Some(ReviewItem::Extra(found)) if found.fate.is_some()), "it answers again");
        let late = OpenFollowUp { of_open_extra: true, ..refund(&intent, charge.object.as_str(), "1.00") };
        let late = world.store.open_follow_up(late).await.unwrap();
        assert_eq!(late, OpenedFollowUp::Exceeds { left_minor: 0 });
    }
    let nothing = world.store.open_follow_up(refund(&intent, "object-3", "1.00")).await.unwrap();
    assert_eq!(nothing, OpenedFollowUp::Exceeds { left_minor: 0 }, "it went back");
    world.followed(refund(&intent, "object-2", "1.00")).await;
}

async fn n5_one_extra_pays_in_the_place_of_another(world: World) {
    let (intent, charges) = charged(&world, &["object-2", "object-3"]).await;
    assert!(put(&world, &charges[1], Some(Fate::Kept)).await);
    assert_eq!(fates(&world, &intent).await, ("object-2".into(), vec![None, Some(Fate::Kept), None]));
    assert!(!put(&world, &charges[2], Some(Fate::Kept)).await, "another pays");
    let second = world.story(intent.id).await.charges.remove(1);
    assert!(put(&world, &second, Some(Fate::Returned)).await);
    assert!(put(&world, &charges[2], Some(Fate::Kept)).await);
    let expected = vec![None, Some(Fate::Returned), Some(Fate::Kept)];
    assert_eq!(fates(&world, &intent).await, ("object-3".into(), expected));
    // The first, too, may go back, and be there again.
    for (fate, pays, last) in [(Some(Fate::Returned), "object-3", Some(Fate::Kept)), (None, "object-1", None)]
    {
        let first = world.story(intent.id).await.charges.remove(0);
        assert!(put(&world, &first, fate).await);
        let expected = vec![fate, Some(Fate::Returned), last];
        assert_eq!(fates(&world, &intent).await, (pays.into(), expected));
    }
    assert_eq!(world.store.open_extras(10).await.unwrap(), charges[2..]);
}

/// Without the look of the flow: its index decides among many writers.
async fn n5_a_second_extra_that_is_kept_is_refused_by_its_index(world: World) {
    let (_, charges) = charged(&world, &["object-2", "object-3"]).await;
    let keep = |charge: &ChargeRecord| -> Flow<bool> {
        let charge = charge.clone();
        Arc::new(move |tables| {
            let (kept, seen) = (ChargeRecord { fate: Some(Fate::Kept), ..charge.clone() }, charge.clone());
            Box::pin(async move { tables.update_charge_fate(&kept, &seen).await })
        })
    };
    assert!(world.write(keep(&charges[1])).await.unwrap());
    let second = world.write(keep(&charges[2])).await;
    assert!(matches!(second, Err(StoreError::Busy(_))), "{second:?}");
    let again = ChargeRecord { fate: Some(Fate::Kept), ..charges[1].clone() };
    assert!(world.write(keep(&again)).await.unwrap(), "it is no rival of its own");
}

/// The newest first, and only while one is kept beside it.
async fn n5_what_an_extra_pays_in_the_place_of_is_found_by_its_account(world: World) {
    let (_, charges) = charged(&world, &["object-2"]).await;
    let elsewhere = ChargeRecord { account: ProviderAccount::parse("200").unwrap(), ..charges[0].clone() };
    let of_others = ChargeRecord { tenant: tenant_of("mer_2", Mode::Test), ..charges[0].clone() };
    let replaced = async |of: &ChargeRecord, limit| {
        let found = world.store.replaced_charges(of.tenant.clone(), of.account.clone(), limit).await.unwrap();
        found.into_iter().map(|charge| charge.object.to_string()).collect::<Vec<_>>()
    };
    assert!(put(&world, &charges[0], Some(Fate::Returned)).await);
    assert_eq!(replaced(&charges[0], 9).await, [""; 0], "nothing is kept in its place");
    assert!(put(&world, &charges[1], Some(Fate::Kept)).await);
    assert_eq!(replaced(&charges[0], 9).await, ["object-1"]);
    for of in [&elsewhere, &of_others] {
        assert_eq!(replaced(of, 9).await, [""; 0]);
    }
    world.clock.advance(WAKE_MS);
    let claim = world.sent("order-2").await;
    let mut twice = outcome(&claim, succeeded("object-3"));
    twice.charges.push(charge(object("object-4")));
    world.commit(twice).await;
    let [first, second] = &world.story(claim.intent.id).await.charges[..] else { panic!("two charges") };
    assert!(put(&world, first, Some(Fate::Returned)).await && put(&world, second, Some(Fate::Kept)).await);
    assert_eq!(replaced(&charges[0], 9).await, ["object-3", "object-1"]);
    assert_eq!(replaced(&charges[0], 1).await, ["object-3"]);
}
