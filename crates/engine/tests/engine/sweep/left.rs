//! An account that a merchant left is swept as long as something is unfinished there: what waits at its gate is let through.

use engine::{Engine, LeftAccount};
use payment::{
    CheckoutStatus, ObjectStatus, OperationKind, OperationState, OrderId, ProviderAccount, StateName,
};
use store::{Doubt, ReviewItem, Task};

use super::submits;
use crate::{
    bank::{Fault, Lie, pending},
    merchant::{ACCOUNT, OTHER_ACCOUNT, merchant, secret_of, tenant, tenant_of},
    scenarios,
    world::{DAY, HOUR, MINUTE, Offer, SECOND, SILENCE_MS, World, create_key, rub, terms},
};

scenarios! {
    what_is_unknown_in_an_account_that_was_left_is_found,
    a_refund_at_the_gate_of_an_account_that_was_left_goes_out,
    fault_23_after_a_gap_an_account_that_was_left_waits_for_its_own_sweep,
    where_the_old_credentials_are_dead_nothing_goes_out,
    the_newest_credentials_of_an_account_that_was_left_count,
    an_account_is_left_only_while_something_is_unfinished,
    a_payment_of_one_who_left_the_same_account_is_no_stranger,
    what_others_take_in_an_account_that_was_left_is_no_stranger,
    fault_23_after_a_restore_with_a_change_of_account_the_old_one_is_read_first,
    fault_23_after_a_restore_with_a_change_of_account_a_created_intent_is_found_paid,
    fault_23_after_a_restore_with_a_change_of_account_what_waits_in_the_old_one_is_asked_about_there,
    fault_23_after_a_restore_with_a_change_of_account_another_sum_in_the_old_one_holds_its_order,
    fault_23_a_left_account_that_nobody_can_read_holds_the_new_one_until_it_is_configured_again,
    fault_23_after_a_restore_what_others_take_in_the_old_account_is_no_stranger,
    a_gap_long_after_a_change_of_account_waits_for_nobody,
    what_others_took_while_the_merchant_was_away_is_no_stranger_when_he_is_back,
}

impl World {
    /// A server starts with the merchant's new account, and reads it: payments go there.
    pub(super) async fn has_met(&self, engine: &Engine) {
        engine.start().await.unwrap();
        assert!(self.sweeps(engine).await.complete);
    }
}

/// The merchant's money goes to the first account again.
pub(super) fn moves_back(world: &World) {
    world.merchants.put(merchant(tenant(), ACCOUNT, &secret_of(ACCOUNT), &world.vault));
}

/// The merchant's money goes to another account from now on.
pub(super) fn moves(world: &World) {
    world.merchants.put(merchant(tenant(), "200600", &secret_of("200600"), &world.vault));
}

pub(super) async fn left(engine: &Engine) -> Vec<LeftAccount> {
    engine.left_accounts().await.unwrap()
}

pub(super) async fn sweeps_left(engine: &Engine) -> bool {
    let left = left(engine).await;
    assert_eq!(left.len(), 1);
    assert_eq!((&left[0].tenant, left[0].id.as_str()), (&tenant(), ACCOUNT));
    engine.sweep_left(&left[0]).await.unwrap().complete
}

/// A paid order, whose account was left while its gate was down, and the refund that is asked for then.
async fn refund_at_the_gate(world: &World, engine: &Engine) -> Offer {
    engine.start().await.unwrap();
    let offer = world.paying(engine, "1").await;
    world.clock.advance(SILENCE_MS + 1);
    assert!(engine.start().await.unwrap());
    moves(world);
    let (kind, reason) = (OperationKind::Refund, "returned".to_owned());
    engine.open_follow_up(&tenant(), offer.intent.id, kind, Some(rub("500.00")), reason).await.unwrap();
    world.sweeps(engine).await;
    assert_eq!(refunds_within(world, engine, MINUTE).await, 0, "another account's listing says nothing");
    offer
}

/// Lets a worker do all it can for a while; the refunds that left till then.
async fn refunds_within(world: &World, engine: &Engine, ms: i64) -> usize {
    world.sends_within(engine, ms).await;
    world.bank.sent_for(OperationKind::Refund).len()
}

async fn what_is_unknown_in_an_account_that_was_left_is_found(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    moves(&world);
    world.clock.advance(MINUTE);
    assert_eq!(world.sweeps(&engine).await.news, 0);
    assert!(sweeps_left(&engine).await);
    assert_eq!((world.state(&offer).await, world.bank.asked().0), (StateName::Succeeded, 0));
}

async fn a_refund_at_the_gate_of_an_account_that_was_left_goes_out(world: World) {
    let engine = world.engine();
    let offer = refund_at_the_gate(&world, &engine).await;
    assert!(sweeps_left(&engine).await);
    assert_eq!(refunds_within(&world, &engine, 5 * SECOND).await, 1);
    assert_eq!(world.story(&offer).await.charges[0].refunded_minor, 50_000);
}

async fn fault_23_after_a_gap_an_account_that_was_left_waits_for_its_own_sweep(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::NotSent]);
    let offer = world.paying(&engine, "1").await;
    moves(&world);
    world.clock.advance(SILENCE_MS + 1);
    assert!(engine.start().await.unwrap());
    world.sweeps(&engine).await;
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    assert!(sweeps_left(&engine).await);
    assert_eq!(world.sends_within(&engine, 5 * SECOND).await, 1);
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

/// Nothing is known of what happened there, so nothing is done: the sum stays reserved, and nobody's money is given back twice.
async fn where_the_old_credentials_are_dead_nothing_goes_out(world: World) {
    let engine = world.engine();
    let offer = refund_at_the_gate(&world, &engine).await;
    world.bank.change_secret(ACCOUNT, "revoked");
    assert!(!sweeps_left(&engine).await);
    world.clock.advance(2 * DAY);
    world.settle(&engine).await;
    assert!(world.bank.sent_for(OperationKind::Refund).is_empty());
    let story = world.story(&offer).await;
    let Task::FollowUp(refund) = &story.follow_ups[0].task else { panic!("it is a refund") };
    assert!(matches!(refund.state, OperationState::NeedsReview { .. }), "{:?}", refund.state);
    assert_ne!(story.charges[0].reserved_minor, 0, "nobody knows yet that it was not given back");
}

/// Keys were rotated before the merchant left.
async fn the_newest_credentials_of_an_account_that_was_left_count(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let old = world.paying(&engine, "1").await;
    world.bank.change_secret(ACCOUNT, "rotated");
    world.merchants.put(merchant(tenant(), ACCOUNT, "rotated", &world.vault));
    world.clock.advance(SECOND);
    world.bank.next([Fault::LoseAnswer]);
    let new = world.paying(&engine, "2").await;
    moves(&world);
    assert!(sweeps_left(&engine).await);
    for offer in [old, new] {
        assert_eq!(world.state(&offer).await, StateName::Succeeded, "order {}", offer.checkout.order);
    }
}

async fn an_account_is_left_only_while_something_is_unfinished(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    world.paying(&engine, "1").await;
    assert!(left(&engine).await.is_empty(), "it is the merchant's own");
    moves(&world);
    assert_eq!(left(&engine).await.len(), 1);
    world.settle(&engine).await;
    assert!(left(&engine).await.is_empty());
}

async fn a_payment_of_one_who_left_the_same_account_is_no_stranger(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    let theirs = tenant_of("mer_2");
    let with_ours = merchant(theirs.clone(), ACCOUNT, &secret_of(ACCOUNT), &world.vault);
    world.merchants.put(with_ours.clone());
    engine.start().await.unwrap();
    assert!(engine.sweep_merchant(&with_ours).await.unwrap().complete);
    let key = create_key(&theirs, "k", "1", "1500.00");
    engine.open_checkout(key, terms("1", "1500.00")).await.unwrap();
    let found = world.store.order(theirs.clone(), OrderId::parse("1").unwrap()).await.unwrap();
    let (checkout, intent) = found.unwrap();
    world.note(&checkout);
    world.pay(&engine, &Offer { checkout, intent }).await;
    world.merchants.put(merchant(theirs, OTHER_ACCOUNT, &secret_of(OTHER_ACCOUNT), &world.vault));
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.read, swept.strangers), (1, 0));
    let account = ProviderAccount::parse(ACCOUNT).unwrap();
    let object = world.bank.objects()[0].id.clone();
    assert_eq!(world.store.standing(tenant(), account, object, None).await.unwrap().stranger, None);
}

/// Something is unfinished there, so it is swept; other software goes on with the account.
async fn what_others_take_in_an_account_that_was_left_is_no_stranger(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer]);
    let ours = world.paying(&engine, "1").await;
    moves(&world);
    world.clock.advance(MINUTE);
    world.stranger("2");
    let swept = engine.sweep_left(&left(&engine).await[0]).await.unwrap();
    assert_eq!((swept.complete, swept.read, swept.news, swept.strangers), (true, 2, 1, 0));
    assert_eq!(world.state(&ours).await, StateName::Succeeded);
    world.has_met(&engine).await;
    let theirs = world.paying(&engine, "2").await;
    assert_eq!(world.state(&theirs).await, StateName::Succeeded, "it has nothing to do with our order 2");
}

/// A copy was taken while the money went to the first account, which took some for `order` afterwards; it is brought back with the
/// other account configured.
async fn moved_in_the_gap(world: &World, order: &str) -> (World, Engine) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.paying(&engine, "0").await;
    assert!(world.sweeps(&engine).await.complete);
    let created = world.offer(&engine, "1").await;
    world.clock.advance(MINUTE);
    engine.beat().await.unwrap();
    let backup = world.backup().await;
    world.clock.advance(MINUTE);
    let paid = if order == "1" { created } else { world.offer(&engine, order).await };
    world.pay(&engine, &paid).await;
    world.clock.advance(HOUR);
    moves(world);
    let world = world.restored(backup).await;
    world.order("0").await;
    let engine = world.engine();
    assert!(world.gated(&engine).await);
    (world, engine)
}

async fn fault_23_after_a_restore_with_a_change_of_account_the_old_one_is_read_first(world: World) {
    let (world, engine) = moved_in_the_gap(&world, "2").await;
    let offer = world.offer(&engine, "2").await;
    submits(&engine, &offer).await;
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.waits_for), (false, 1));
    assert_eq!(world.sends_within(&engine, SECOND).await, 0, "the new account's listing says nothing of it");
    let other = world.offer(&engine, "3").await;
    submits(&engine, &other).await;
    // The server dies and starts again meanwhile.
    assert!(world.gated(&engine).await);
    assert!(sweeps_left(&engine).await);
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.waits_for), (true, 0));
    assert_eq!(world.sends_within(&engine, MINUTE).await, 1);
    assert_eq!(world.state(&other).await, StateName::Succeeded);
    assert_eq!(world.state(&offer).await, StateName::Processing, "its money may be there already");
    assert!(left(&engine).await.is_empty());
}

async fn fault_23_after_a_restore_with_a_change_of_account_a_created_intent_is_found_paid(world: World) {
    let (world, engine) = moved_in_the_gap(&world, "1").await;
    let offer = world.order("1").await;
    submits(&engine, &offer).await;
    assert!(!world.sweeps(&engine).await.complete);
    assert_eq!(world.sends_within(&engine, SECOND).await, 0);
    assert!(sweeps_left(&engine).await);
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

/// The copy knows neither that it was sent nor where to: it is adopted where it was seen.
async fn fault_23_after_a_restore_with_a_change_of_account_what_waits_in_the_old_one_is_asked_about_there(
    world: World,
) {
    world.bank.decides(ObjectStatus::Succeeded);
    world.bank.decides(pending());
    let (world, engine) = moved_in_the_gap(&world, "1").await;
    let offer = world.order("1").await;
    assert!(sweeps_left(&engine).await);
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(world.story(&offer).await.operation.frozen.unwrap().account.as_str(), ACCOUNT);
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    assert_eq!(world.sends_within(&engine, HOUR).await, 0);
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

/// It contradicts what was asked for, and the intent, which the copy calls unsent, would ask elsewhere.
async fn fault_23_after_a_restore_with_a_change_of_account_another_sum_in_the_old_one_holds_its_order(
    world: World,
) {
    let (world, engine) = moved_in_the_gap(&world, "1").await;
    world.bank.lies(Some(Lie::Amount));
    assert!(sweeps_left(&engine).await);
    world.bank.lies(None);
    assert!(world.sweeps(&engine).await.complete);
    let order = OrderId::parse("1").unwrap();
    assert_eq!(world.store.doubt(tenant(), order).await.unwrap(), Some(Doubt::Stranger));
    let items = engine.review().await.unwrap().items;
    assert!(matches!(&items[..], [ReviewItem::Stranger(_)]), "{items:?}");
}

/// Its secret was revoked: the account is configured once more, with a secret that works.
async fn fault_23_a_left_account_that_nobody_can_read_holds_the_new_one_until_it_is_configured_again(
    world: World,
) {
    let (world, engine) = moved_in_the_gap(&world, "2").await;
    world.bank.change_secret(ACCOUNT, "new");
    let offer = world.offer(&engine, "2").await;
    submits(&engine, &offer).await;
    for _ in 0..2 {
        assert!(!sweeps_left(&engine).await);
        assert!(!world.sweeps(&engine).await.complete);
        assert_eq!(world.sends_within(&engine, SECOND).await, 0);
        // Also after another gap.
        world.clock.advance(SILENCE_MS + 1);
        assert!(world.gated(&engine).await);
    }
    world.merchants.put(merchant(tenant(), ACCOUNT, "new", &world.vault));
    assert!(world.gated(&engine).await);
    let swept = world.sweeps(&engine).await;
    assert_eq!(
        (swept.strangers, swept.waits_for),
        (1, 1),
        "it is read; the newest gap of the other one is not"
    );
    moves(&world);
    world.gated(&engine).await;
    assert!(world.sweeps(&engine).await.complete);
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0, "its stranger stands before a person");
}

/// They name no intent.
async fn fault_23_after_a_restore_what_others_take_in_the_old_account_is_no_stranger(world: World) {
    let (world, engine) = moved_in_the_gap(&world, "2").await;
    world.stranger("3");
    let swept = engine.sweep_left(&left(&engine).await[0]).await.unwrap();
    assert_eq!((swept.complete, swept.strangers), (true, 1));
    assert!(world.sweeps(&engine).await.complete);
    let offer = world.paying(&engine, "3").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

/// Whatever became of the old account's credentials.
async fn a_gap_long_after_a_change_of_account_waits_for_nobody(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.paying(&engine, "0").await;
    moves(&world);
    engine.start().await.unwrap();
    world.bank.change_secret(ACCOUNT, "revoked");
    world.clock.advance(DAY);
    assert!(world.gated(&engine).await);
    assert!(left(&engine).await.is_empty());
    assert!(world.sweeps(&engine).await.complete);
    let offer = world.paying(&engine, "1").await;
    assert_eq!(world.state(&offer).await, StateName::Succeeded);
}

async fn what_others_took_while_the_merchant_was_away_is_no_stranger_when_he_is_back(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    moves(&world);
    world.has_met(&engine).await;
    world.clock.advance(MINUTE);
    world.stranger("1");
    world.clock.advance(2 * HOUR);
    engine.beat().await.unwrap();
    moves_back(&world);
    engine.start().await.unwrap();
    let swept = world.sweeps(&engine).await;
    assert_eq!((swept.complete, swept.strangers), (true, 0));
}
