//! Two merchants of ours whose money goes to one account of the provider.

use payment::StateName;

use crate::{
    bank::Fault,
    merchant::{ACCOUNT, merchant, secret_of, tenant_of},
    scenarios,
    world::{SECOND, World},
};

scenarios! {
    fault_23_neither_takes_the_others_payment_for_a_strangers,
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
