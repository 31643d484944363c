//! Where a fault is not asked for: everywhere else each must be met at least once by every run of the proof, or the run fails. Some pairs
//! cannot be (nothing is sent before there is an intent, nor while a person has to decide); others were met less than forty times in
//! two hundred thousand histories.

use crate::fault::Fault;

/// Histories after which everything that is not seldom must have been met.
pub const ENOUGH: u64 = 200_000;

/// Whether a fault is not asked for in a state of the newest intent.
pub fn is_seldom(fault: Fault, state: &str) -> bool {
    let elsewhere = [Fault::AccountChanged, Fault::TakesAnotherSum].contains(&fault);
    elsewhere || SELDOM.iter().any(|(seldom, states)| *seldom == fault && states.contains(&state))
}

const SELDOM: &[(Fault, &[&str])] = &[
    (
        Fault::NotSent,
        &["requires_action", "authorized", "needs_review", "declined", "canceled", "expired", "none yet"],
    ),
    (
        Fault::RequestLost,
        &["requires_action", "authorized", "needs_review", "declined", "canceled", "expired", "none yet"],
    ),
    (
        Fault::RequestLate,
        &["requires_action", "authorized", "needs_review", "declined", "canceled", "expired", "none yet"],
    ),
    (
        Fault::RequestRepeated,
        &["requires_action", "authorized", "needs_review", "declined", "canceled", "expired", "none yet"],
    ),
    (
        Fault::ErrorAfter,
        &["requires_action", "authorized", "needs_review", "declined", "canceled", "expired", "none yet"],
    ),
    (
        Fault::StillAtIt,
        &["requires_action", "authorized", "needs_review", "declined", "canceled", "expired", "none yet"],
    ),
    (
        Fault::RateLimited,
        &["requires_action", "authorized", "needs_review", "declined", "canceled", "expired", "none yet"],
    ),
    (
        Fault::TurnedAway,
        &["requires_action", "authorized", "needs_review", "declined", "canceled", "expired", "none yet"],
    ),
    (
        Fault::CardRefused,
        &["authorized", "needs_review", "succeeded", "declined", "canceled", "expired", "none yet"],
    ),
    (
        Fault::RequestRefused,
        &[
            "requires_action",
            "authorized",
            "needs_review",
            "succeeded",
            "declined",
            "canceled",
            "expired",
            "none yet",
        ],
    ),
    (
        Fault::FallsIll,
        &[
            "requires_action",
            "authorized",
            "needs_review",
            "succeeded",
            "declined",
            "canceled",
            "expired",
            "none yet",
        ],
    ),
    (
        Fault::ThreeDs,
        &[
            "requires_action",
            "authorized",
            "needs_review",
            "succeeded",
            "declined",
            "canceled",
            "expired",
            "none yet",
        ],
    ),
    (
        Fault::Slow,
        &[
            "requires_action",
            "authorized",
            "needs_review",
            "succeeded",
            "declined",
            "canceled",
            "expired",
            "none yet",
        ],
    ),
    (Fault::ChangesItsMind, &["needs_review"]),
    (Fault::NoticeLost, &["needs_review", "expired"]),
    (Fault::NoticeRepeated, &["needs_review"]),
    (
        Fault::ReceiverRefuses,
        &[
            "processing",
            "requires_action",
            "confirming",
            "authorized",
            "needs_review",
            "declined",
            "expired",
            "none yet",
        ],
    ),
    (
        Fault::ReceiverSilent,
        &[
            "processing",
            "requires_action",
            "confirming",
            "authorized",
            "needs_review",
            "declined",
            "expired",
            "none yet",
        ],
    ),
    (
        Fault::ReceiverUnreachable,
        &[
            "processing",
            "requires_action",
            "confirming",
            "authorized",
            "needs_review",
            "declined",
            "expired",
            "none yet",
        ],
    ),
    (Fault::PageAnswerLost, &["needs_review", "none yet"]),
    (Fault::Restored, &["needs_review"]),
];
