//! A disk without room: what cannot be written down is not begun, and what was done is written down later (faults 19, 20).

use std::sync::Arc;

use engine::EngineError;
use payment::StateName;
use store::StoreError;

use crate::{
    flaky::{Call, Flaky, When},
    scenarios,
    world::{World, create_key, known, terms},
};

scenarios! {
    fault_19_what_finds_no_room_is_an_error_and_nothing_is_sent,
    fault_20_a_result_that_finds_no_room_is_not_failed_and_then_right,
}

fn is_full<R>(answer: &Result<R, EngineError>) -> bool {
    matches!(answer, Err(EngineError::Store(StoreError::Refused(_))))
}

async fn fault_19_what_finds_no_room_is_an_error_and_nothing_is_sent(world: World) {
    let mut engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let full = [(Call::OpenCheckout, When::Refused), (Call::Submit, When::Refused)];
    engine.store = Flaky::new(Arc::clone(&world.store), &full);
    let key = create_key(&offer.checkout.tenant, "k", "2", "1500.00");
    assert!(is_full(&engine.open_checkout(key, terms("2", "1500.00")).await));
    assert!(is_full(&engine.submit(offer.submission("tok_1")).await));
    assert!(!world.engine().run_once().await.unwrap(), "there is nothing to go on with");
    assert_eq!((world.state(&offer).await, world.bank.sends()), (StateName::Created, 0));
    // There is room again: the same key, the same intent.
    world.pay(&engine, &offer).await;
    assert_eq!((world.state(&offer).await, world.bank.charges()), (StateName::Succeeded, 1));
}

async fn fault_20_a_result_that_finds_no_room_is_not_failed_and_then_right(world: World) {
    let mut engine = world.engine();
    let offer = world.offer(&engine, "1").await;
    let claim = world.claim(&engine, &offer).await;
    engine.store = Flaky::new(Arc::clone(&world.store), &[(Call::Commit, When::Refused); 2]);
    assert!(is_full(&engine.drive(claim).await));
    assert_eq!(world.bank.charges(), 1);
    for _ in 0..2 {
        let (seen, answer) = known(world.engine().submit(offer.submission("tok_2")).await.unwrap());
        assert_eq!(
            (seen.state.name(), answer),
            (StateName::Processing, None),
            "it is under way, and not failed"
        );
        let wake_at = world.story(&offer).await.operation.wake_at.unwrap();
        world.clock.advance(wake_at.since_ms(world.clock.now()));
        // The first of them finds no room either.
        let worked = engine.run_once().await;
        assert!(is_full(&worked) || worked.unwrap());
    }
    assert_eq!((world.state(&offer).await, world.bank.objects().len()), (StateName::Succeeded, 1));
    assert_eq!(world.bank.charges(), 1);
}
