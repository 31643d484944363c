//! Two merchants of ours whose money goes to one account of the provider.

use std::sync::{Arc, atomic::Ordering};

use payment::StateName;

use crate::{
    bank::Fault,
    flaky::Flaky,
    merchant::{ACCOUNT, merchant, secret_of, tenant_of},
    scenarios,
    world::{SECOND, World},
};

scenarios! {
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
