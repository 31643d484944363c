//! Two merchants of ours whose money goes to one account of the provider.

use std::sync::{Arc, atomic::Ordering};

use engine::{Engine, Resolved, Verdict};
use payment::{CheckoutStatus, ObjectId, OrderId, ProviderAccount, StateName, Timestamp};
use store::{MerchantRecord, Resolution, ReviewItem, StrangerRecord, Tenant};

use crate::{
    alarms::Log,
    bank::Fault,
    flaky::{Call, Flaky, When},
    follow_ups::refund,
    merchant::{ACCOUNT, merchant, secret_of, tenant, tenant_of},
    review::{done, grounds, in_review, not_charged, refused, resolve},
    scenarios,
    world::{Offer, SECOND, World, create_key, fresh, rub, terms},
};

scenarios! {
    n5_one_sum_of_which_both_were_told_pays_an_order_of_one,
    n5_what_was_counted_for_one_is_not_linked_by_the_other,
    n5_what_was_linked_by_one_pays_no_payment_of_the_other,
    n5_what_a_person_counts_for_a_payment_of_one_waits_with_neither,
    n5_one_who_dies_while_he_links_leaves_it_to_the_same_order,
    fault_23_what_was_counted_for_one_is_no_stranger_of_the_other,
    fault_23_a_refund_of_one_is_not_missed_by_the_other,
    fault_23_neither_takes_the_others_payment_for_a_strangers,
    whose_payments_lie_in_the_same_account_is_not_asked_of_all_for_each,
}

async fn fault_23_neither_takes_the_others_payment_for_a_strangers(world: World) {
    let engine = world.engine();
    let other = merchant(tenant_of("mer_2"), ACCOUNT, &secret_of(ACCOUNT), &world.vault);
    world.merchants.put(other.clone());
    engine.start().await.unwrap();
    // Paid, and not known to be.
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(SECOND);
    let swept = engine.sweep_merchant(&other).await.unwrap();
    assert_eq!((swept.read, swept.news, swept.strangers, swept.complete), (1, 0, 0, true));
    assert_eq!(world.state(&offer).await, StateName::Confirming, "its own sweep tells it");
    let swept = engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!((swept.news, swept.strangers), (1, 0));
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn whose_payments_lie_in_the_same_account_is_not_asked_of_all_for_each(world: World) {
    const MERCHANTS: usize = 10;
    const PAYMENTS: usize = 10;
    let mut engine = world.engine();
    for number in 0..MERCHANTS {
        let name = tenant_of(&format!("mer_0{number}"));
        world.merchants.put(merchant(name, ACCOUNT, &secret_of(ACCOUNT), &world.vault));
    }
    let other = merchant(tenant_of("mer_00"), ACCOUNT, &secret_of(ACCOUNT), &world.vault);
    engine.start().await.unwrap();
    for order in 0..PAYMENTS {
        world.paying(&engine, &order.to_string()).await;
    }
    let store = Flaky::new(Arc::clone(&world.store), &[]);
    engine.store = Arc::clone(&store) as _;
    let swept = engine.sweep_merchant(&other).await.unwrap();
    assert_eq!((swept.read, swept.strangers), (PAYMENTS, 0));
    let read = store.intents_read.load(Ordering::SeqCst);
    assert!(read <= PAYMENTS + MERCHANTS + 1, "{read} intents were read");
}

const LOST_REFUND: &str = "a refund of ours is not in this database";

/// The second merchant, whose money goes to the first one's account.
async fn second(world: &World, engine: &Engine) -> MerchantRecord {
    let other = merchant(tenant_of("mer_2"), ACCOUNT, &secret_of(ACCOUNT), &world.vault);
    world.merchants.put(other.clone());
    engine.start().await.unwrap();
    other
}

/// An order of the second merchant's.
async fn offer_of(world: &World, engine: &Engine, other: &Tenant, order: &str) -> Offer {
    let key = create_key(other, "create", order, "1500.00");
    fresh(engine.open_checkout(key, terms(order, "1500.00")).await.unwrap());
    let (checkout, intent) =
        world.store.order(other.clone(), OrderId::parse(order).unwrap()).await.unwrap().unwrap();
    world.note(&checkout);
    Offer { checkout, intent }
}

async fn status(world: &World, offer: &Offer) -> CheckoutStatus {
    let (tenant, id) = (offer.checkout.tenant.clone(), offer.checkout.id);
    world.store.checkout(tenant, id).await.unwrap().unwrap().0.status
}

fn taken_by_hand(world: &World, order: &str) -> ObjectId {
    world.bank.stranger_pays(ACCOUNT, &OrderId::parse(order).unwrap(), rub("1500.00"))
}

/// The first merchant's sweep.
async fn sweep(world: &World, engine: &Engine) {
    assert!(engine.sweep_merchant(&world.merchant().await).await.unwrap().complete);
}

/// For which merchants it waits, the first one of them first.
async fn waits_with(engine: &Engine, object: &ObjectId) -> Vec<String> {
    let items = engine.review().await.unwrap().items;
    let strangers = items.iter().filter_map(|item| match item {
        ReviewItem::Stranger(stranger) if stranger.object == *object => {
            Some(stranger.tenant.merchant.to_string())
        }
        ReviewItem::Stranger(_) | ReviewItem::Extra(_) | ReviewItem::Operation { .. } => None,
    });
    strangers.collect()
}

async fn resolution(world: &World, tenant: Tenant, object: &ObjectId) -> Resolution {
    let account = ProviderAccount::parse(ACCOUNT).unwrap();
    let standing = world.store.standing(tenant, account, object.clone(), None).await.unwrap();
    standing.stranger.unwrap().resolution.unwrap()
}

/// An order of the same name of each, and money for it that both sweeps met in the same moment.
async fn met_by_both(world: &World, engine: &Engine) -> (MerchantRecord, [Offer; 2], ObjectId) {
    let other = second(world, engine).await;
    let offers = [world.offer(engine, "1").await, offer_of(world, engine, &other.tenant, "1").await];
    let object = taken_by_hand(world, "1");
    assert_eq!(engine.sweep_merchant(&other).await.unwrap().strangers, 1);
    sweep(world, engine).await;
    assert_eq!(waits_with(engine, &object).await, ["mer_1", "mer_2"]);
    (other, offers, object)
}

async fn n5_one_sum_of_which_both_were_told_pays_an_order_of_one(world: World) {
    let engine = world.engine();
    let (other, [own, others], object) = met_by_both(&world, &engine).await;
    let words = done(resolve(&engine, &object, Verdict::Charged(object.clone())).await);
    assert_eq!(words, format!("{object} pays order 1 of merchant mer_1 (test)"));
    assert_eq!(waits_with(&engine, &object).await, [""; 0]);
    refused(&world, &own, &object, Verdict::Charged(object.clone()), "does not wait for a person").await;
    assert_eq!(
        (status(&world, &own).await, status(&world, &others).await),
        (CheckoutStatus::Paid, CheckoutStatus::Open)
    );
    assert!(resolution(&world, tenant(), &object).await.linked);
    let released = resolution(&world, other.tenant, &object).await;
    assert_eq!((released.linked, &*released.reason), (false, "it was counted for another merchant's order"));
    // It holds nothing up there.
    engine.submit(others.submission("tok_1")).await.unwrap();
    world.settle(&engine).await;
    assert_eq!((status(&world, &others).await, world.bank.charges()), (CheckoutStatus::Paid, 2));
}

/// A sweep of the other's that had asked before it was linked writes it down after.
async fn n5_what_was_counted_for_one_is_not_linked_by_the_other(world: World) {
    let engine = world.engine();
    let other = second(&world, &engine).await;
    let own = world.offer(&engine, "1").await;
    let others = offer_of(&world, &engine, &other.tenant, "1").await;
    let object = taken_by_hand(&world, "1");
    sweep(&world, &engine).await;
    done(resolve(&engine, &object, Verdict::Charged(object.clone())).await);
    let late = StrangerRecord {
        tenant: other.tenant.clone(),
        account: other.account.clone(),
        object: object.clone(),
        order: Some(others.checkout.order.clone()),
        amount: rub("1500.00"),
        took_money: true,
        untold: false,
        found_at: Timestamp(0),
        resolution: None,
    };
    assert!(world.store.put_stranger(late).await.unwrap());
    let part = format!(
        "its money was recorded for {} of another merchant; release it by --not-charged",
        own.checkout.id
    );
    refused(&world, &own, &object, Verdict::Charged(object.clone()), &part).await;
    assert_eq!(status(&world, &others).await, CheckoutStatus::Open);
    done(resolve(&engine, &object, not_charged()).await);
    assert_eq!(waits_with(&engine, &object).await, [""; 0]);
}

async fn n5_what_was_linked_by_one_pays_no_payment_of_the_other(world: World) {
    let engine = world.engine();
    let other = second(&world, &engine).await;
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    let others = offer_of(&world, &engine, &other.tenant, "2").await;
    let object = taken_by_hand(&world, "2");
    engine.sweep_merchant(&other).await.unwrap();
    done(resolve(&engine, &object, Verdict::Charged(object.clone())).await);
    assert_eq!(status(&world, &others).await, CheckoutStatus::Paid);
    let part = format!("the money of {object} was recorded for {} of another merchant", others.checkout.id);
    refused(&world, &offer, offer.intent.id, Verdict::Charged(object), &part).await;
}

async fn n5_what_a_person_counts_for_a_payment_of_one_waits_with_neither(world: World) {
    let engine = world.engine();
    let other = second(&world, &engine).await;
    let offer = in_review(&world, &engine, "1", Fault::LoseRequest).await;
    let object = taken_by_hand(&world, "till");
    engine.sweep_merchant(&other).await.unwrap();
    assert_eq!(waits_with(&engine, &object).await, ["mer_2"]);
    done(resolve(&engine, offer.intent.id, Verdict::Charged(object.clone())).await);
    assert_eq!(status(&world, &offer).await, CheckoutStatus::Paid);
    assert_eq!(waits_with(&engine, &object).await, [""; 0]);
    assert!(!resolution(&world, other.tenant.clone(), &object).await.linked);
    assert_eq!(engine.sweep_merchant(&other).await.unwrap().strangers, 0);
}

/// Whichever row he came to: what is said again is said of the order that has the money.
async fn n5_one_who_dies_while_he_links_leaves_it_to_the_same_order(world: World) {
    let engine = world.engine();
    let (_, [own, others], object) = met_by_both(&world, &engine).await;
    for when in [When::Before, When::After] {
        let mut dying = world.engine();
        dying.store = Flaky::new(world.store.clone(), &[(Call::ResolveStranger, when)]);
        let word = Verdict::Charged(object.clone());
        assert!(dying.resolve(object.as_str(), word, &grounds(None)).await.is_err());
    }
    assert_eq!(waits_with(&engine, &object).await, ["mer_1"]);
    let resolved = resolve(&engine, &object, Verdict::Charged(object.clone())).await;
    assert!(matches!(resolved, Resolved::Done(_)), "{resolved:?}");
    assert_eq!(world.story(&own).await.charges.len(), 1);
    assert_eq!(
        (status(&world, &own).await, status(&world, &others).await),
        (CheckoutStatus::Paid, CheckoutStatus::Open)
    );
}

async fn fault_23_what_was_counted_for_one_is_no_stranger_of_the_other(world: World) {
    let engine = world.engine();
    let other = second(&world, &engine).await;
    world.offer(&engine, "1").await;
    let object = taken_by_hand(&world, "1");
    sweep(&world, &engine).await;
    done(resolve(&engine, &object, Verdict::Charged(object.clone())).await);
    let swept = engine.sweep_merchant(&other).await.unwrap();
    assert_eq!((swept.read, swept.strangers, swept.complete), (1, 0, true));
    assert_eq!(waits_with(&engine, &object).await, [""; 0]);
}

async fn fault_23_a_refund_of_one_is_not_missed_by_the_other(world: World) {
    let engine = world.engine();
    let other = second(&world, &engine).await;
    let offer = world.paying(&engine, "1").await;
    let backup = world.backup().await;
    refund(&engine, &offer, "500.00").await;
    while engine.run_once().await.unwrap() {}
    assert_eq!(world.bank.refunds().len(), 1);
    let (log, _guard) = Log::open();
    assert!(engine.sweep_merchant(&other).await.unwrap().complete);
    assert_eq!(log.told(LOST_REFUND), [""; 0]);
    // One that nobody knows is told of.
    let world = world.restored(backup).await;
    assert!(world.engine().sweep_merchant(&world.merchant().await).await.unwrap().complete);
    assert_eq!(log.told(LOST_REFUND).len(), 1);
}
