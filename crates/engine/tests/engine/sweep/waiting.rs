//! A payment that the backup forgot may wait at the bank, its shopper with the bank's page open: its order takes no other payment until
//! it ends (fault 23).

use engine::{CheckoutOutcome, Engine, Resolved, Verdict};
use payment::{CheckoutStatus, Ending, ObjectId, ObjectStatus, OrderId, StateName};
use store::{Resolution, ReviewItem, StrangerRecord};

use super::submits;
use crate::{
    bank::{Fault, pending},
    merchant::{ACCOUNT, OTHER_ACCOUNT, merchant, secret_of, tenant},
    review::{Word, resolve},
    scenarios,
    world::{DAY, HOUR, MINUTE, Offer, World, create_key, terms},
};

scenarios! {
    fault_23_what_waits_at_the_bank_and_was_forgotten_holds_its_order_until_it_ends,
    fault_23_what_waited_at_the_bank_and_was_forgotten_pays_its_order_once,
    fault_23_what_may_still_take_money_is_not_let_go_of,
    fault_23_who_may_have_seen_held_money_is_told_that_it_was_taken,
    fault_23_who_may_have_paid_is_offered_no_other_terms_before_the_sweep,
    fault_23_a_bank_that_is_silent_holds_up_no_sweep_and_one_that_cannot_be_read_no_other,
    fault_23_what_waits_in_an_account_that_was_left_is_not_let_go_of_without_evidence,
    fault_23_held_money_that_is_let_go_of_frees_its_order,
    fault_23_who_is_turned_away_learns_nothing_of_what_waits,
    what_waits_for_nobody_of_ours_holds_nothing,
}

/// The order "1" waits at the bank since after the backup; the merchant's server asks for its checkout again, and the shopper pays.
async fn forgotten(world: &World) -> (World, Engine, Offer, ObjectId) {
    world.bank.decides(pending());
    let (world, engine, offer) = world.forgets_a_payment(HOUR / 2).await;
    submits(&engine, &offer).await;
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.news, swept.strangers), (true, 0, 1));
    let object = world.bank.objects()[0].id.clone();
    assert!(!waits(&engine).await.took_money);
    (world, engine, offer, object)
}

fn order(text: &str) -> OrderId {
    OrderId::parse(text).unwrap()
}

/// The one stranger that waits for a person.
async fn waits(engine: &Engine) -> StrangerRecord {
    match &engine.review().await.unwrap().items[..] {
        [ReviewItem::Stranger(found)] => StrangerRecord::clone(found),
        others => panic!("{others:?}"),
    }
}

async fn fault_23_what_waits_at_the_bank_and_was_forgotten_holds_its_order_until_it_ends(world: World) {
    let (world, engine, offer, object) = forgotten(&world).await;
    assert_eq!(world.sends_within(&engine, 5 * MINUTE).await, 0, "its shopper may still confirm it");
    assert_eq!(world.sweeps(&engine).await.strangers, 0, "once");
    world.bank.next_query(Fault::LoseAnswer);
    world.bank.moves_object(
        &object,
        ObjectStatus::Ended(Ending::Canceled { code: "expired_on_confirmation".into() }),
    );
    world.sweeps(&engine).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0, "nobody knows yet");
    world.sweeps(&engine).await;
    assert_eq!(engine.review().await.unwrap().items, [], "nobody has to look");
    assert_eq!(world.sends_within(&engine, MINUTE).await, 1);
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn fault_23_what_waited_at_the_bank_and_was_forgotten_pays_its_order_once(world: World) {
    let (world, engine, offer, object) = forgotten(&world).await;
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    // Long after its listing was read for the last time.
    world.clock.advance(5 * HOUR);
    world.sweeps(&engine).await;
    world.clock.advance(5 * HOUR);
    world.sweeps(&engine).await;
    assert!(waits(&engine).await.took_money);
    let linked = resolve(&engine, &object, Verdict::Charged(object.clone())).await;
    assert!(matches!(linked, Resolved::Done(_)), "{linked:?}");
    assert_eq!(world.sends_within(&engine, HOUR).await, 0);
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

async fn fault_23_held_money_that_is_let_go_of_frees_its_order(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let object = world.bank.stranger_waits(ACCOUNT, &order("1"), ObjectStatus::WaitingForCapture);
    assert_eq!(world.sweeps(&engine).await.strangers, 1);
    let offer = world.offer(&engine, "1").await;
    submits(&engine, &offer).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    world
        .bank
        .moves_object(&object, ObjectStatus::Ended(Ending::Canceled { code: "expired_on_capture".into() }));
    world.sweeps(&engine).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 1);
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
    let tenant = world.merchant().await.tenant;
    let account = world.merchant().await.account;
    let known = world.store.standing(tenant, account, object, None).await.unwrap().stranger.unwrap();
    assert_eq!(known.resolution, Some(Resolution { linked: false, reason: "the provider: canceled".into() }));
}

/// The provider shows it no more, for a while: that is not its end.
async fn fault_23_who_is_turned_away_learns_nothing_of_what_waits(world: World) {
    let (world, engine, _, object) = forgotten(&world).await;
    for fault in [Fault::Unauthorized, Fault::NotFound, Fault::RateLimited(None), Fault::BadRequest] {
        world.bank.next_query(fault);
        world.sweeps(&engine).await;
        assert_eq!(waits(&engine).await.object, object);
        assert_eq!(world.sends_within(&engine, MINUTE).await, 0, "its shopper may still confirm it");
    }
}

/// Others take payments in the account too: what only waits, and names no payment of ours, is theirs.
async fn what_waits_for_nobody_of_ours_holds_nothing(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.stranger_waits(ACCOUNT, &order("1"), pending());
    assert_eq!(world.sweeps(&engine).await.strangers, 0);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn fault_23_what_may_still_take_money_is_not_let_go_of(world: World) {
    let (world, engine, _, object) = forgotten(&world).await;
    let let_go = || resolve(&engine, &object, Verdict::NotCharged);
    for (fault, part) in
        [(None, "it may still take money: it is pending"), (Some(Fault::LoseAnswer), "does not show it now")]
    {
        fault.into_iter().for_each(|fault| world.bank.next_query(fault));
        let Resolved::Refused(words) = let_go().await else { panic!("its shopper may still confirm it") };
        assert!(words.contains(part), "{words}");
    }
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    // Taken after the person looked: he said it of money that was only held.
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    let Resolved::Refused(words) = let_go().await else { panic!("it took the money meanwhile") };
    assert!(words.contains("it took 1500.00 RUB after it was found"), "{words}");
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    assert!(matches!(let_go().await, Resolved::Done(_)), "a person may know that it is none of ours");
}

async fn fault_23_who_may_have_seen_held_money_is_told_that_it_was_taken(world: World) {
    let (world, engine, _, object) = forgotten(&world).await;
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    // Between the person's look and his word.
    world.sweeps(&engine).await;
    assert!(waits(&engine).await.took_money);
    let let_go = || resolve(&engine, &object, Verdict::NotCharged);
    let Resolved::Refused(words) = let_go().await else { panic!("it took the money meanwhile") };
    assert!(words.contains("it took 1500.00 RUB after it was found"), "{words}");
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    assert!(matches!(let_go().await, Resolved::Done(_)), "a person may know that it is none of ours");
}

/// The copy knows an intent that was submitted after it: what the copy calls never sent waits at the bank.
async fn fault_23_who_may_have_paid_is_offered_no_other_terms_before_the_sweep(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let offer = world.offer(&engine, "1").await;
    let backup = world.backup().await;
    world.bank.decides(pending());
    world.pay(&engine, &offer).await;
    world.clock.advance(HOUR / 2);
    let world = world.restored(backup).await;
    let engine = world.engine();
    assert!(world.gated(&engine).await);
    let edit =
        |key: &str| engine.open_checkout(create_key(&tenant(), key, "1", "2000.00"), terms("1", "2000.00"));
    assert_eq!(edit("edit-1").await.unwrap(), CheckoutOutcome::Gated);
    assert_eq!(engine.expire().await.unwrap(), 0);
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(world.state(&offer).await, StateName::RequiresAction, "it is the same payment");
    let refused = CheckoutOutcome::InProgress(offer.checkout.id, offer.intent.id);
    assert_eq!(edit("edit-1").await.unwrap(), refused);
    let object = world.bank.objects()[0].id.clone();
    world.bank.moves_object(&object, ObjectStatus::Succeeded);
    assert_eq!(world.sends_within(&engine, HOUR).await, 0);
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

async fn fault_23_a_bank_that_is_silent_holds_up_no_sweep_and_one_that_cannot_be_read_no_other(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    for number in ["1", "2", "3", "4", "5"] {
        world.bank.stranger_waits(ACCOUNT, &order(number), ObjectStatus::WaitingForCapture);
    }
    let asks = async |silent: usize| {
        let (before, _) = world.bank.asked();
        (0..silent).for_each(|_| world.bank.next_query(Fault::LoseAnswer));
        assert!(world.sweeps(&engine).await.complete);
        world.bank.asked().0 - before
    };
    assert_eq!(asks(1).await, 5);
    assert_eq!(asks(3).await, 3, "each could take its time");
    assert_eq!(asks(0).await, 5);
}

/// The merchant took another account meanwhile: nobody can ask, and its shopper may still have the bank's page open.
async fn fault_23_what_waits_in_an_account_that_was_left_is_not_let_go_of_without_evidence(world: World) {
    let (world, engine, _, object) = forgotten(&world).await;
    let moved = merchant(tenant(), OTHER_ACCOUNT, &secret_of(OTHER_ACCOUNT), &world.vault);
    world.merchants.put(moved);
    let refuses = async || {
        let Resolved::Refused(words) = resolve(&engine, &object, Verdict::NotCharged).await else {
            panic!("its shopper may still confirm it")
        };
        assert!(words.contains("it may still take money until") && words.contains(ACCOUNT), "{words}");
    };
    refuses().await;
    // A payment waits for an hour, and money is held for a week.
    world.clock.advance(7 * DAY);
    refuses().await;
    let shown = Word(Verdict::NotCharged, Some("the dashboard shows that it ran out"));
    assert!(matches!(resolve(&engine, &object, shown).await, Resolved::Done(_)));
}
