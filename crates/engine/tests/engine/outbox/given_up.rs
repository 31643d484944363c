//! The moment from which nothing more is tried.

use payment::EffectKind;
use store::EffectState;

use crate::{
    outside::Mood,
    scenarios,
    world::{DAY, World},
};

scenarios! {
    what_was_refused_a_moment_before_three_days_is_tried_again,
}

/// Tries after which time alone decides.
const TRIES: i64 = 12;

async fn what_was_refused_a_moment_before_three_days_is_tried_again(world: World) {
    for (order, ms, gives_up) in [("1", 3 * DAY - 1, false), ("2", 3 * DAY, true)] {
        let engine = world.engine();
        let offer = world.paying(&engine, order).await;
        world.outside.is(Mood::Refuses);
        let effect = async || world.effect(&offer, EffectKind::CheckoutPaid).await;
        while effect().await.tries < TRIES {
            let wake_at = effect().await.wake_at.unwrap();
            world.clock.advance(wake_at.since_ms(world.clock.now()).max(0));
            engine.deliver_due(10).await.unwrap();
        }
        let first = effect().await.first_tried_at.unwrap();
        world.clock.advance(first.plus_ms(ms).since_ms(world.clock.now()));
        engine.deliver_due(10).await.unwrap();
        assert_eq!(effect().await.state == EffectState::Abandoned, gives_up);
        world.outside.is(Mood::Takes);
        world.deliver_all(&offer).await;
    }
}
