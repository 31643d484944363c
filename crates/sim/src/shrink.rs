//! Makes a list of decisions that breaks an invariant as short as it can be, and as harmless: what can be left out is, and what can be
//! decided so that nothing goes wrong is.

use crate::{
    check::Broken,
    choices::Choices,
    histories::{Worlds, world_of},
    world::{Ended, World},
};

/// Plays a list of decisions; where worlds are drawn they decide the size, too.
pub fn play(worlds: Worlds, decisions: &[u32], tells: bool) -> (Ended, World) {
    world_of(worlds, Choices::from_list(decisions.to_vec()), tells).run()
}

/// The shortest and most harmless list that `breaks` still says breaks the same.
pub fn shrink(mut list: Vec<u32>, breaks: impl Fn(&[u32]) -> bool) -> Vec<u32> {
    loop {
        let before = list.clone();
        list = without_chunks(list, &breaks);
        list = lowered(list, &breaks);
        if list == before {
            return list;
        }
    }
}

/// Whether a list breaks this invariant.
pub fn breaks(worlds: Worlds, invariant: u8) -> impl Fn(&[u32]) -> bool {
    move |list| play(worlds, list, false).0.broken.is_some_and(|broken: Broken| broken.invariant == invariant)
}

fn without_chunks(mut list: Vec<u32>, breaks: &impl Fn(&[u32]) -> bool) -> Vec<u32> {
    let mut length = list.len();
    while length > 0 {
        let mut from = list.len().saturating_sub(length);
        loop {
            let mut shorter = list.clone();
            shorter.drain(from..(from + length).min(list.len()));
            if shorter.len() < list.len() && breaks(&shorter) {
                list = shorter;
            }
            if from == 0 {
                break;
            }
            from = from.saturating_sub(length);
        }
        length /= 2;
    }
    list
}

fn lowered(mut list: Vec<u32>, breaks: &impl Fn(&[u32]) -> bool) -> Vec<u32> {
    for index in 0..list.len() {
        for lower in [0, list[index] / 2, list[index].saturating_sub(1)] {
            if lower >= list[index] {
                continue;
            }
            let kept = std::mem::replace(&mut list[index], lower);
            if breaks(&list) {
                break;
            }
            list[index] = kept;
        }
    }
    list
}
