//! The small worlds.

use crate::{fault::Fault, periods::Periods};

/// A small world, and what may go wrong in it how often.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// What it is about.
    pub name: &'static str,
    /// What may go wrong, and how often at most.
    pub faults: &'static [(Fault, u32)],
    /// How many of them at most, of all together.
    pub together: u32,
    /// How often another goes on before what is at work has come to where it waits.
    pub switches: u32,
    /// Servers.
    pub nodes: usize,
    /// Tabs.
    pub tabs: usize,
    /// What each shopper does after the first look: pays, tries again, looks again.
    pub deeds: u32,
    /// How long things take.
    pub periods: Periods,
}

const fn world(
    name: &'static str,
    faults: &'static [(Fault, u32)],
    nodes: usize,
    tabs: usize,
    deeds: u32,
) -> Bounds {
    Bounds {
        name,
        faults,
        together: u32::MAX,
        switches: u32::MAX,
        nodes,
        tabs,
        deeds,
        periods: Periods::SERVED,
    }
}

/// What is explored by every run of the proof.
pub const BOUNDS: &[Bounds] = &[
    world(
        "two workers, two tabs: a crash, a request that is lost",
        &[(Fault::Killed, 1), (Fault::RequestLost, 1)],
        2,
        2,
        1,
    ),
    world(
        "two workers, two tabs: a request that is repeated, a lease that ends early",
        &[(Fault::RequestRepeated, 1), (Fault::LeaseEnds, 1)],
        2,
        2,
        1,
    ),
    world(
        "two workers, one tab: a crash, a request that is lost, one that is repeated, a lease that ends early",
        &[(Fault::Killed, 1), (Fault::RequestLost, 1), (Fault::RequestRepeated, 1), (Fault::LeaseEnds, 1)],
        2,
        1,
        1,
    ),
    world(
        "one worker, one tab: a crash, a request that is lost, one that is repeated, a dead token",
        &[(Fault::Killed, 1), (Fault::RequestLost, 1), (Fault::RequestRepeated, 1), (Fault::TokenDies, 1)],
        1,
        1,
        1,
    ),
    world(
        "two intents on one checkout: a decline, an answer that is lost, a commit whose end is unknown, a lease that ends early",
        &[(Fault::CardRefused, 1), (Fault::AnswerLost, 1), (Fault::CommitUnknown, 1), (Fault::LeaseEnds, 1)],
        2,
        1,
        5,
    ),
    world(
        "two tabs race for the occupying intent: a decline, a request that is repeated",
        &[(Fault::CardRefused, 1), (Fault::RequestRepeated, 1)],
        2,
        2,
        3,
    ),
];

const FIVE: &[(Fault, u32)] = &[
    (Fault::Killed, 1),
    (Fault::RequestLost, 1),
    (Fault::RequestRepeated, 1),
    (Fault::LeaseEnds, 1),
    (Fault::TokenDies, 1),
];

/// What is explored and compared by a long run only: half a million states.
pub const WIDE: Bounds = Bounds {
    together: 2,
    periods: Periods::BRIEF,
    ..world(
        "two workers, two tabs: any two of a crash, a request that is lost, one that is repeated, a lease that ends early, a dead token",
        FIVE,
        2,
        2,
        1,
    )
};

/// What is explored by a long run only, too, and too large to be compared: eight million states.
pub const DEEP: Bounds = Bounds {
    periods: Periods::BRIEF,
    ..world(
        "one worker, two tabs: a crash, a request that is lost, one that is repeated, a lease that ends early, and a dead token",
        FIVE,
        1,
        2,
        1,
    )
};

const fn in_turn(name: &'static str, together: u32) -> Bounds {
    Bounds { together, switches: 0, periods: Periods::BRIEF, ..world(name, FIVE, 2, 2, 1) }
}

/// In these what is at work goes on until it waits for the bank: nothing but a fault comes between. The first is compared, too; the last,
/// of fourteen million states, is explored by a long run only.
pub const IN_TURN: [Bounds; 3] = [
    in_turn("two workers, two tabs, each in turn: any two of the five", 2),
    in_turn("two workers, two tabs, each in turn: any three of the five", 3),
    in_turn(
        "two workers, two tabs, each in turn: a crash, a request that is lost, one that is repeated, a lease that ends early, and a dead token",
        u32::MAX,
    ),
];

/// Smaller ones, explored with and without all that is left out: it must make no difference.
pub const COMPARED: &[Bounds] = &[
    world(
        "a request that is lost, one that is repeated, a lease that ends early",
        &[(Fault::RequestLost, 1), (Fault::RequestRepeated, 1), (Fault::LeaseEnds, 1)],
        2,
        1,
        1,
    ),
    world("a crash, a lease that ends early", &[(Fault::Killed, 1), (Fault::LeaseEnds, 1)], 2, 1, 1),
    world("two tabs, a lease that ends early", &[(Fault::LeaseEnds, 1)], 2, 2, 1),
    world(
        "a decline, a request that is repeated",
        &[(Fault::CardRefused, 1), (Fault::RequestRepeated, 1)],
        2,
        1,
        3,
    ),
    Bounds { periods: Periods::BRIEF, ..world("a dead token", &[(Fault::TokenDies, 1)], 1, 1, 1) },
];
