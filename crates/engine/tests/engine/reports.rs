//! Reports about other products that no rule or fault above stands for already; each is written from what must be true here.

use engine::{CheckoutOutcome, IntentOutcome};
use payment::{CheckoutStatus, EffectKind, Ending, ObjectStatus, StateName};

use crate::{
    bank::{Fault, pending},
    flaky::{Call, Flaky, When},
    merchant::tenant,
    scenarios,
    world::{DAY, EXECUTE_MS, LEASE_MS, World, create_key, fresh, known, terms},
};

scenarios! {
    events_are_scoped_to_their_intent,
    an_outage_is_not_stored_as_a_result,
    a_crash_blocks_for_a_lease_and_no_longer,
    the_order_of_fields_is_the_callers_business,
    an_unresolved_payment_is_found_days_later,
    fault_42_a_500_that_is_replayed_for_ever_is_looked_up_another_way,
    a_slow_confirmation_outlives_the_checkouts_end,
    money_after_everything_ended_is_recorded_and_shown,
}

/// Also mollie/WooCommerce#139: the old payment's end does not touch the order's live one.
async fn events_are_scoped_to_their_intent(world: World) {
    let engine = world.engine();
    let ended = || ObjectStatus::Ended(Ending::Expired { code: "expired_on_confirmation".into() });
    world.bank.decides(ended());
    let first = world.paying(&engine, "1").await;
    let (_, second) = world.try_again(&engine, &first, "again").await;
    world.bank.decides(pending());
    world.pay(&engine, &second).await;
    world.bank.moves(first.intent.id, ended());
    world.wake(&engine, &second).await;
    assert_eq!(world.state(&second).await, StateName::RequiresAction);
    assert_eq!(world.status(&second).await, CheckoutStatus::Open);
    world.bank.moves(second.intent.id, ObjectStatus::Succeeded);
    world.settle(&engine).await;
    assert_eq!((world.status(&second).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

/// Also node-idempotency#36.
async fn an_outage_is_not_stored_as_a_result(world: World) {
    let mut engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let trips = [(Call::Submit, When::Before), (Call::Submit, When::Before)];
    engine.store = Flaky::new(world.store.clone(), &trips);
    assert!(engine.submit(offer.submission("tok_1")).await.is_err());
    assert_eq!(world.state(&offer).await, StateName::Created, "the key stays unused");
    world.pay(&engine, &offer).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// Also express-idempotency#32.
async fn a_crash_blocks_for_a_lease_and_no_longer(world: World) {
    let offer = world.offer(&world.engine(), "1").await;
    drop(world.claim(&world.engine(), &offer).await);
    let (seen, answer) = known(world.engine().submit(offer.submission("tok_2")).await.unwrap());
    assert_eq!((seen.state.name(), answer), (StateName::Processing, None));
    world.clock.advance(LEASE_MS);
    assert!(world.engine().run_once().await.unwrap());
    let (seen, answer) = known(world.engine().submit(offer.submission("tok_2")).await.unwrap());
    assert_eq!((seen.state.name(), answer.is_some()), (StateName::Succeeded, true));
}

/// Also powertools-python#638 and mojaloop#2463. The metadata is a map; the fingerprint is typed.
async fn the_order_of_fields_is_the_callers_business(world: World) {
    let engine = world.engine();
    let key = || create_key(&tenant(), "k", "1", "1500.00");
    let mut one = terms("1", "1500.00");
    one.metadata = [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())].into();
    let mut two = terms("1", "1500.00");
    two.metadata = [("b".to_owned(), "2".to_owned()), ("a".to_owned(), "1".to_owned())].into();
    let first = fresh(engine.open_checkout(key(), one).await.unwrap());
    // A new key with the same terms adopts; the intent is the same.
    let other = create_key(&tenant(), "k2", "1", "1500.00");
    assert_eq!(fresh(engine.open_checkout(other, two).await.unwrap()).body, first.body);
    world.order("1").await;
}

/// Also akash-network/console#3449.
async fn an_unresolved_payment_is_found_days_later(world: World) {
    let engine = world.engine();
    world.bank.every(Some(Fault::LoseAnswer));
    world.bank.listing_down(true);
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(5 * DAY);
    engine.expire().await.unwrap();
    let key = create_key(&tenant(), "another-day", "1", "1500.00");
    let refused = engine.open_checkout(key, terms("1", "1500.00")).await.unwrap();
    assert_eq!(refused, CheckoutOutcome::InProgress(offer.checkout.id, offer.intent.id));
    world.bank.heal();
    world.wake(&engine, &offer).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

/// Also pay-connector#3989. Stripe stores the 500 under the key: whether or not there is an object, the listing tells.
async fn fault_42_a_500_that_is_replayed_for_ever_is_looked_up_another_way(world: World) {
    let engine = world.engine();
    for (order, fault, state) in [
        ("charged", Fault::Error500After, StateName::Succeeded),
        ("not charged", Fault::Error500Before, StateName::Canceled),
    ] {
        let order = order.replace(' ', "-");
        world.bank.next(std::iter::repeat_n(fault, 100));
        let offer = world.paying(&engine, &order).await;
        let began = world.clock.now();
        while world.clock.now().since_ms(began) < EXECUTE_MS {
            assert_eq!(world.state(&offer).await, StateName::Confirming, "{order}");
            world.wake(&engine, &offer).await;
        }
        world.settle(&engine).await;
        assert_eq!(world.state(&offer).await, state, "{order}");
        world.bank.heal();
    }
    assert_eq!(world.bank.charges(), 1);
}

/// Also woocommerce-gateway-stripe#1756. Nothing that was sent is ended by the checkout's time: it is paid, and shown as paid.
async fn a_slow_confirmation_outlives_the_checkouts_end(world: World) {
    let engine = world.engine();
    world.bank.decides(pending());
    let offer = world.paying(&engine, "1").await;
    let began = world.clock.now();
    while world.clock.now().since_ms(began) < DAY + LEASE_MS {
        world.wake(&engine, &offer).await;
        assert_eq!(engine.expire().await.unwrap(), 0);
    }
    assert_eq!(world.status(&offer).await, CheckoutStatus::Open);
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    world.wake(&engine, &offer).await;
    assert_eq!((world.status(&offer).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
}

/// Also btcpayserver#7545. The payment ended unpaid, the checkout's time ran out, and then the bank has the money after all.
async fn money_after_everything_ended_is_recorded_and_shown(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(ObjectStatus::Ended(Ending::Expired { code: "expired_on_confirmation".into() }));
    let offer = world.paying(&engine, "1").await;
    world.clock.advance(DAY);
    assert_eq!(engine.expire().await.unwrap(), 1);
    assert_eq!(
        (world.state(&offer).await, world.status(&offer).await),
        (StateName::Expired, CheckoutStatus::Expired)
    );
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    engine.sweep_merchant(&world.merchant().await).await.unwrap();
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
    assert!(world.journal(&offer).await.contains(&"anomaly: paid_after_end".to_owned()));
    let effects = world.store.effects(tenant(), offer.intent.id).await.unwrap();
    assert_eq!(effects.iter().filter(|effect| effect.kind == EffectKind::CheckoutPaid).count(), 1);
    let (outcome, _) = world.try_again(&engine, &offer, "again").await;
    assert_eq!(outcome, IntentOutcome::Paid(offer.intent.id));
    assert_eq!((world.bank.sends(), world.bank.charges()), (1, 1));
}
