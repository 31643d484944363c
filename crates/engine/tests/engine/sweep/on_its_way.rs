//! A send from before the gate may still be on its way when the listing is read: what it holds too soon lifts no gate (fault 23).

use engine::Engine;
use payment::CheckoutStatus;

use super::submits;
use crate::{
    bank::Fault,
    scenarios,
    world::{HOUR, MINUTE, SECOND, SILENCE_MS, World},
};

scenarios! {
    fault_23_what_is_on_its_way_at_a_start_is_found_before_anything_is_sent,
    fault_23_a_clock_that_is_set_shortens_nothing,
    fault_23_a_process_that_comes_later_waits_as_long,
}

const ON_ITS_WAY_MS: i64 = 30 * SECOND;

/// A process that lets what is on its way arrive.
fn patient(world: &World) -> Engine {
    let mut engine = world.engine();
    engine.settings.on_its_way_ms = ON_ITS_WAY_MS;
    engine
}

async fn fault_23_what_is_on_its_way_at_a_start_is_found_before_anything_is_sent(world: World) {
    let engine = patient(&world);
    engine.start().await.unwrap();
    world.offer(&engine, "1").await;
    let backup = world.backup().await;
    world.clock.advance(SILENCE_MS + 1);
    world.bank.next([Fault::LoseRequest]);
    let offer = world.order("1").await;
    world.pay(&engine, &offer).await;
    let world = world.restored(backup).await;
    let engine = patient(&world);
    assert!(engine.start().await.unwrap());
    let page = world.order("1").await;
    submits(&engine, &page).await;
    let early = world.sweeps(&engine).await;
    assert_eq!((early.complete, early.too_soon_ms), (true, Some(ON_ITS_WAY_MS)));
    world.clock.advance(ON_ITS_WAY_MS - SECOND);
    assert_eq!(world.sweeps(&engine).await.too_soon_ms, Some(SECOND));
    assert_eq!(world.sends_within(&engine, SECOND).await, 0);
    world.bank.repeat_last();
    assert_eq!(world.sweeps(&engine).await.too_soon_ms, None);
    assert_eq!(world.sends_within(&engine, MINUTE).await, 0);
    assert_eq!((world.status(&page).await, world.bank.charges()), (CheckoutStatus::Paid, 1));
    assert_eq!(world.sweeps(&engine).await.too_soon_ms, None, "without a gate nothing is too soon");
}

async fn fault_23_a_clock_that_is_set_shortens_nothing(world: World) {
    let engine = patient(&world);
    world.after_a_gap(&engine).await;
    world.sweeps(&engine).await;
    world.clock.set_wall(HOUR);
    assert_eq!(world.sweeps(&engine).await.too_soon_ms, Some(ON_ITS_WAY_MS));
}

/// Each process counts from when it met the gate itself.
async fn fault_23_a_process_that_comes_later_waits_as_long(world: World) {
    let first = patient(&world);
    world.after_a_gap(&first).await;
    world.sweeps(&first).await;
    world.clock.advance(ON_ITS_WAY_MS);
    assert_eq!(world.sweeps(&patient(&world)).await.too_soon_ms, Some(ON_ITS_WAY_MS));
    assert!(world.is_down().await);
    assert_eq!(world.sweeps(&first).await.too_soon_ms, None);
    assert!(!world.is_down().await);
    // A newer gate is another one.
    world.clock.advance(SILENCE_MS + 1);
    assert!(world.gated(&first).await);
    assert_eq!(world.sweeps(&first).await.too_soon_ms, Some(ON_ITS_WAY_MS));
}

impl World {
    async fn is_down(&self) -> bool {
        let merchant = self.merchant().await;
        self.store.sweep(merchant.tenant, merchant.account).await.unwrap().0.gated_from.is_some()
    }
}
