//! How many histories a second: of the world of two servers, two tabs and one checkout.

use std::{num::NonZero, thread::available_parallelism};

use crate::{
    histories::{Worlds, play_all},
    prove::{now, rate},
};

/// Plays the small world so often, on one thread and then on one for each core, and tells the rates; whether nothing broke.
pub fn speed(histories: u64) -> bool {
    let cores = available_parallelism().map_or(1, NonZero::get);
    println!("two servers, two tabs, one checkout: {histories} histories");
    let mut broken = 0;
    for threads in [1, cores] {
        let began = now();
        let told = play_all(Worlds::Small, 0..histories, threads, false);
        let per_second = rate(told.histories, began);
        println!("  on {threads} threads: {per_second} a second, {} broken", told.broken);
        broken += told.broken;
    }
    broken == 0
}
