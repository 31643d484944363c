//! Where a fault is not asked for: everywhere else each must be met at least once by every run of the proof, or the run fails. Some pairs
//! cannot be (nothing is sent before there is an intent, nor while a person has to decide); others were met less than forty times in
//! two hundred thousand histories.

use crate::fault::Fault;

/// Histories after which everything that is not seldom must have been met.
pub const ENOUGH: u64 = 200_000;

/// Whether a fault is asked for in all histories together, since those whose faults the seed draws hardly meet it.
pub fn is_elsewhere(fault: Fault) -> bool {
    [Fault::AccountChanged, Fault::TakesAnotherSum, Fault::PartTaken, Fault::OldConfiguration]
        .contains(&fault)
}

/// Whether a fault is not asked for in a state of the newest intent.
pub fn is_seldom(fault: Fault, state: &str) -> bool {
    SELDOM.iter().any(|(seldom, states)| seldom.contains(&fault) && states.contains(&state))
}

/// On the way of a request: nothing is sent for an intent then, except refunds and captures that follow it.
const SENDING: &[Fault] = &[
    Fault::NotSent,
    Fault::RequestLost,
    Fault::RequestLate,
    Fault::RequestRepeated,
    Fault::ErrorAfter,
    Fault::StillAtIt,
    Fault::RateLimited,
    Fault::TurnedAway,
];
const UNSENT: &[&str] =
    &["requires_action", "authorized", "needs_review", "declined", "canceled", "expired", "none yet"];

/// What becomes of a payment that is new at the bank.
const NEW: &[Fault] =
    &[Fault::RequestRefused, Fault::FallsIll, Fault::ThreeDs, Fault::Slow, Fault::TakesAnotherSum];
const MADE: &[&str] = &[
    "requires_action",
    "authorized",
    "needs_review",
    "succeeded",
    "declined",
    "canceled",
    "expired",
    "none yet",
];

/// On the way to a receiver, who is told how it ended.
const TELLING: &[Fault] =
    &[Fault::ReceiverRefuses, Fault::ReceiverSilent, Fault::ReceiverUnreachable, Fault::ReceiverLate];
const UNTOLD: &[&str] = &[
    "processing",
    "requires_action",
    "confirming",
    "authorized",
    "needs_review",
    "declined",
    "expired",
    "none yet",
];

const SELDOM: &[(&[Fault], &[&str])] = &[
    (SENDING, UNSENT),
    (&[Fault::AnothersNamed], UNSENT),
    (NEW, MADE),
    (
        &[Fault::CardRefused],
        &["authorized", "needs_review", "succeeded", "declined", "canceled", "expired", "none yet"],
    ),
    (TELLING, UNTOLD),
    (&[Fault::ChangesItsMind, Fault::NoticeRepeated, Fault::Restored], &["needs_review"]),
    (&[Fault::NoticeLost], &["needs_review", "expired"]),
    (&[Fault::PageAnswerLost], &["needs_review", "none yet"]),
    (&[Fault::AccountChanged], &["needs_review"]),
    (&[Fault::PartTaken], &["authorized"]),
    (
        &[Fault::OldConfiguration],
        &["requires_action", "confirming", "authorized", "needs_review", "declined", "canceled", "expired"],
    ),
];
