//! One suite of behaviours over every store, through the public trait alone. A behaviour that holds for one and not for another
//! would make the simulation, which runs over memory, prove something about a product that does not exist.

mod accounts;
mod busy;
mod charges;
mod checks;
mod claim_due;
mod commit;
mod expire;
mod follow_ups;
mod gate;
mod held_orders;
mod inbox;
mod look;
mod open_checkout;
mod open_intent;
mod outbox;
mod random;
mod review;
mod rows;
mod shopper;
mod stuck;
mod submit;
mod tables;

use crate::world::World;

/// Makes a test of each behaviour for each store.
macro_rules! behaviours {
    ($($name:ident),+ $(,)?) => {
        mod memory {
            $(#[test] fn $name() { $crate::conformance::in_memory(super::$name); })+
        }
        mod sqlite {
            $(#[test] fn $name() { $crate::conformance::on_sqlite(super::$name); })+
        }
    };
}
use behaviours;

fn in_memory<F: Future<Output = ()>>(behaviour: fn(World) -> F) {
    run(async { behaviour(World::in_memory()).await });
}

fn on_sqlite<F: Future<Output = ()>>(behaviour: fn(World) -> F) {
    run(async { behaviour(World::on_sqlite().await).await });
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}
