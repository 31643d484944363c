//! What contradicts us is told: each thing once, and money always.

use payment::{CheckoutStatus, Ending, ObjectStatus, StateName};

use crate::{
    bank::{Fault, Lie, pending},
    merchant::tenant,
    scenarios,
    world::World,
};

scenarios! {
    n5_each_of_two_anomalies_that_took_no_money_is_told_once,
    n5_a_third_object_that_took_money_is_written_down_although_a_second_one_was_told,
    what_changes_there_and_back_is_told_each_time_where_nothing_is_anomalous,
}

fn declined() -> ObjectStatus {
    ObjectStatus::Ended(Ending::Declined { code: "insufficient_funds".into() })
}

async fn news(world: &World) -> usize {
    world.engine().sweep_merchant(&world.merchant().await).await.unwrap().news
}

/// A second object, and the first going back: neither has a charge.
async fn n5_each_of_two_anomalies_that_took_no_money_is_told_once(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.decides(declined());
    world.bank.decides(pending());
    world.bank.next([Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    world.bank.forget_keys();
    world.wake(&engine, &offer).await;
    assert_eq!(world.state(&offer).await, StateName::RequiresAction);
    let own = world.bank.objects()[1].id.clone();
    assert_eq!([news(&world).await, news(&world).await], [1, 0], "the other object");
    world.bank.moves_object(&own, declined());
    assert_eq!([news(&world).await, news(&world).await], [1, 0], "the end");
    world.bank.moves_object(&own, pending());
    assert_eq!([news(&world).await, news(&world).await], [1, 0], "it went back");
    let journal = world.journal(&offer).await;
    for anomaly in ["anomaly: second_object", "anomaly: went_back"] {
        assert_eq!(journal.iter().filter(|line| *line == anomaly).count(), 1, "{anomaly}: {journal:?}");
    }
    assert_eq!(world.state(&offer).await, StateName::Declined);
    world.bank.moves_object(&own, declined());
}

/// The provider forgot the key twice.
async fn n5_a_third_object_that_took_money_is_written_down_although_a_second_one_was_told(world: World) {
    let engine = world.engine();
    engine.start().await.unwrap();
    world.bank.next([Fault::LoseAnswer, Fault::LoseAnswer]);
    let offer = world.paying(&engine, "1").await;
    for _ in 0..2 {
        world.bank.forget_keys();
        world.wake(&engine, &offer).await;
    }
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 3));
    assert_eq!([news(&world).await, news(&world).await], [2, 0]);
    let charges = world.story(&offer).await.charges;
    assert_eq!((charges.len(), charges.iter().filter(|charge| charge.extra).count()), (3, 2));
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}

/// The same words twice, and each time something else before them.
async fn what_changes_there_and_back_is_told_each_time_where_nothing_is_anomalous(world: World) {
    let engine = world.engine();
    world.bank.decides(ObjectStatus::Pending { confirmation_url: None });
    let offer = world.paying(&engine, "1").await;
    for lie in [Some(Lie::Amount), None, Some(Lie::Amount)] {
        world.bank.lies(lie);
        world.wake(&engine, &offer).await;
    }
    world.bank.lies(None);
    let journal = world.journal(&offer).await;
    let told = journal.iter().filter(|line| line.contains("that is not what was asked for")).count();
    assert_eq!(told, 2, "{journal:?}");
    world.bank.moves(offer.intent.id, ObjectStatus::Succeeded);
    engine.look(&tenant(), offer.intent.id, &world.bank.objects()[0].id).await.unwrap();
    assert_eq!(world.status(&offer).await, CheckoutStatus::Paid);
}
