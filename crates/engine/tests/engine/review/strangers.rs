//! Money that no payment of ours asked for: it pays the order it names, or is none of ours.

use engine::{Engine, Resolved, Verdict};
use payment::{
    CheckoutStatus, Money, ObjectId, ObjectStatus, OperationKind, OrderId, RefundStatus, StateName,
};
use store::ReviewItem;

use super::{REASON, Word, done, grounds, not_charged, object, refused, resolve};
use crate::{
    bank::Fault,
    flaky::{Call, Flaky, When},
    follow_ups::follow_up,
    merchant::{ACCOUNT, merchant, secret_of, tenant},
    scenarios,
    world::{DAY, HOUR, MINUTE, World, rub},
};

scenarios! {
    a_stranger_is_linked_and_pays_the_order_it_names,
    a_stranger_of_another_sum_is_not_linked,
    n5_of_what_a_stranger_held_the_sum_that_was_taken_counts,
    a_stranger_whose_money_was_given_back_pays_nothing_without_evidence,
    a_stranger_whose_order_has_no_checkout_waits_for_one,
    a_stranger_that_is_none_of_ours_is_released_and_the_order_flows_again,
    a_stranger_that_the_provider_does_not_show_is_not_linked,
    a_stranger_of_an_account_that_turns_us_away_pays_by_evidence,
    a_stranger_takes_no_other_verdict,
    n5_a_stranger_linked_to_a_paid_order_is_an_extra,
    a_link_by_one_who_died_is_made_once,
    a_link_that_was_overtaken_changes_nothing,
    a_stranger_pays_no_other_payment,
    a_stranger_in_an_account_that_the_merchant_left_is_released_only,
}

/// Else one charge would pay two orders, and the one it names would be dispatched again.
async fn a_stranger_pays_no_other_payment(world: World) {
    let engine = world.engine();
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    let other = super::in_review(&world, &engine, "2", Fault::LoseRequest).await;
    refused(&world, &other, other.intent.id, Verdict::Charged(id), "waits for a person by itself").await;
}

/// The shopper presses Pay while a person links: the commit is stale, and the stranger goes on blocking its order.
async fn a_link_that_was_overtaken_changes_nothing(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    let store = Flaky::new(world.store.clone(), &[(Call::Commit, When::Overtaken)]);
    let overtaken = Engine { store, ..world.engine() };
    let words = match resolve(&overtaken, &id, Verdict::Charged(id.clone())).await {
        Resolved::Refused(words) => words,
        Resolved::Done(words) => panic!("{words}"),
    };
    assert!(words.contains("try again"), "{words}");
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
    assert!(matches!(&engine.review().await.unwrap().items[..], [ReviewItem::Stranger(_)]));
    world.clock.advance(MINUTE);
    done(resolve(&engine, &id, Verdict::Charged(id.clone())).await);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

async fn found(world: &World, engine: &Engine, order: &str, amount: Money) -> ObjectId {
    engine.start().await.unwrap();
    let id = world.bank.stranger_pays(ACCOUNT, &OrderId::parse(order).unwrap(), amount);
    sweep(world, engine).await;
    let items = engine.review().await.unwrap().items;
    assert!(matches!(&items[..], [ReviewItem::Stranger(stranger)] if stranger.object == id), "{items:?}");
    id
}

/// The account's sweep.
pub async fn sweep(world: &World, engine: &Engine) {
    let merchant = merchant(tenant(), ACCOUNT, &secret_of(ACCOUNT), &world.vault);
    assert!(engine.sweep_merchant(&merchant).await.unwrap().complete);
}

async fn a_stranger_is_linked_and_pays_the_order_it_names(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    let words = done(resolve(&engine, &id, Verdict::Charged(id.clone())).await);
    assert!(words.contains("pays order 1"), "{words}");
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
    let charge = world.story(&offer).await.charges.remove(0);
    assert_eq!((charge.object, charge.amount, charge.extra), (id.clone(), rub("1500.00"), false));
    let line = world.journal(&offer).await.pop().unwrap();
    for part in ["stranger_linked", "a person", id.as_str(), REASON] {
        assert!(line.contains(part), "{part} in {line}");
    }
    assert_eq!(engine.review().await.unwrap().items, []);
    sweep(&world, &engine).await;
    assert_eq!(engine.review().await.unwrap().items, [], "it is known");
    refused(&world, &offer, &id, not_charged(), "does not wait for a person").await;
}

async fn a_stranger_of_another_sum_is_not_linked(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1499.99")).await;
    let part = "costs 1500.00 RUB, and 1499.99 RUB was taken";
    refused(&world, &offer, &id, Verdict::Charged(id.clone()), part).await;
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
}

/// A part of the hold, be it known by the sweep or not yet.
async fn n5_of_what_a_stranger_held_the_sum_that_was_taken_counts(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    engine.start().await.unwrap();
    let order = OrderId::parse("1").unwrap();
    let id = world.bank.stranger_waits(ACCOUNT, &order, ObjectStatus::WaitingForCapture);
    sweep(&world, &engine).await;
    world.bank.takes_part(&id, rub("100.00"));
    let part = "costs 1500.00 RUB, and 100.00 RUB was taken";
    refused(&world, &offer, &id, Verdict::Charged(id.clone()), part).await;
    sweep(&world, &engine).await;
    let items = engine.review().await.unwrap().items;
    let [ReviewItem::Stranger(stranger)] = &items[..] else { panic!("{items:?}") };
    assert_eq!((stranger.took_money, stranger.amount), (true, rub("100.00")));
    refused(&world, &offer, &id, Verdict::Charged(id.clone()), part).await;
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
}

async fn a_stranger_whose_money_was_given_back_pays_nothing_without_evidence(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    world.bank.gives_back_by_hand(&id, rub("1500.00"), RefundStatus::Succeeded);
    let [ReviewItem::Stranger(stranger)] = &engine.review().await.unwrap().items[..] else { panic!("one") };
    let shown = engine.shown_of(stranger).await.unwrap().unwrap();
    assert!(shown.contains("1500.00 RUB, and all of it was given back"), "{shown}");
    let charged = Verdict::Charged(id.clone());
    refused(&world, &offer, &id, charged.clone(), "all of it was given back").await;
    done(resolve(&engine, &id, Word(charged, Some("it was shipped, and came back"))).await);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

async fn a_stranger_whose_order_has_no_checkout_waits_for_one(world: World) {
    let engine = world.engine();
    let other = world.offer(&engine, "other").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    refused(&world, &other, &id, Verdict::Charged(id.clone()), "there is no checkout for 1").await;
    let offer = world.offer(&engine, "1").await;
    done(resolve(&engine, &id, Verdict::Charged(id.clone())).await);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    assert_eq!(world.status(&other).await, CheckoutStatus::Open);
}

async fn a_stranger_that_is_none_of_ours_is_released_and_the_order_flows_again(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    engine.submit(offer.submission("tok_1")).await.unwrap();
    assert!(!engine.run_once().await.unwrap());
    assert_eq!(
        (world.bank.sends(), world.state(&offer).await),
        (0, StateName::Processing),
        "its order waits"
    );
    let words = done(resolve(&engine, &id, not_charged()).await);
    assert!(words.contains("can be paid again"), "{words}");
    world.clock.advance(MINUTE);
    world.settle(&engine).await;
    assert_eq!((world.bank.sends(), world.status(&offer).await), (1, CheckoutStatus::Paid));
    sweep(&world, &engine).await;
    assert_eq!(engine.review().await.unwrap().items, [], "it is not asked about again");
    let story = world.story(&offer).await;
    assert!(story.charges.len() == 1 && story.charges[0].object != id);
}

async fn a_stranger_that_the_provider_does_not_show_is_not_linked(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    for silence in [Fault::LoseAnswer, Fault::NotFound] {
        world.bank.next_query(silence);
        refused(&world, &offer, &id, Verdict::Charged(id.clone()), "does not show it now").await;
    }
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
}

/// Its merchant's credentials were revoked after it was found. One object that is forbidden alone is no such account.
async fn a_stranger_of_an_account_that_turns_us_away_pays_by_evidence(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    let by_evidence = Word(Verdict::Charged(id.clone()), Some("the account's statement of May"));
    world.bank.every(Some(Fault::Unauthorized));
    refused(&world, &offer, &id, by_evidence.clone(), "correct its secret, or wait 25 h").await;
    world.clock.advance(DAY + HOUR);
    let part = "does not accept the credentials of this account; say by --evidence";
    refused(&world, &offer, &id, Verdict::Charged(id.clone()), part).await;
    world.bank.every(None);
    world.bank.forbids(Some(&id));
    refused(&world, &offer, &id, by_evidence.clone(), "does not show it now").await;
    world.bank.every(Some(Fault::Unauthorized));
    done(resolve(&engine, &id, by_evidence).await);
    let charge = world.story(&offer).await.charges.remove(0);
    assert_eq!((charge.object, charge.amount), (id, rub("1500.00")));
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    let line = world.journal(&offer).await.pop().unwrap();
    for part in ["stranger_linked", "the account's statement of May", "does not accept the credentials"] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

async fn a_stranger_takes_no_other_verdict(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    let verdicts = [
        Verdict::Charged(object("another")),
        Verdict::Executed(id.clone()),
        Verdict::NotExecuted,
        Verdict::RefundExtra,
    ];
    for verdict in verdicts {
        refused(&world, &offer, &id, verdict, "or is none of ours (--not-charged)").await;
    }
}

async fn n5_a_stranger_linked_to_a_paid_order_is_an_extra(world: World) {
    let engine = world.engine();
    let offer = world.paying(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    done(resolve(&engine, &id, Verdict::Charged(id.clone())).await);
    let items = engine.review().await.unwrap().items;
    assert!(matches!(&items[..], [ReviewItem::Extra(extra)] if extra.object == id), "{items:?}");
    done(resolve(&engine, &id, Verdict::RefundExtra).await);
    let refund = follow_up(&world.story(&offer).await.follow_ups[0]);
    assert_eq!(
        (refund.kind, refund.target, refund.amount),
        (OperationKind::Refund, id, Some(rub("1500.00")))
    );
    assert!(world.journal(&offer).await.iter().any(|line| line == "anomaly: extra_charge"));
}

/// Between the charge and the stranger's row: said again, it is no second charge.
async fn a_link_by_one_who_died_is_made_once(world: World) {
    let engine = world.engine();
    world.bank.next([Fault::NotSent]);
    let offer = world.paying(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    let mut dying = world.engine();
    dying.store = Flaky::new(world.store.clone(), &[(Call::ResolveStranger, When::Before)]);
    assert!(dying.resolve(id.as_str(), Verdict::Charged(id.clone()), &grounds(None)).await.is_err());
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    done(resolve(&engine, &id, Verdict::Charged(id.clone())).await);
    let story = world.story(&offer).await;
    assert_eq!((story.charges.len(), engine.review().await.unwrap().items.len()), (1, 0));
    assert_eq!(world.bank.sends(), 1, "what is paid is not sent again");
}

/// Nobody can ask about it, and what another account says is no word about it.
async fn a_stranger_in_an_account_that_the_merchant_left_is_released_only(world: World) {
    let engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let id = found(&world, &engine, "1", rub("1500.00")).await;
    world.merchants.put(merchant(tenant(), "100502", "its secret", &world.vault));
    refused(&world, &offer, &id, Verdict::Charged(id.clone()), "is not the merchant's any more").await;
    done(resolve(&engine, &id, not_charged()).await);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
}
