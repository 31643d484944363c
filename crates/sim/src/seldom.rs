//! Where a fault is not asked for: everywhere else each must be met at least once by every run of the proof, or the run fails.

use crate::fault::Fault;

/// Histories after which everything that is not seldom must have been met.
pub const ENOUGH: u64 = 200_000;

/// Whether a fault is not asked for in a state of the newest intent.
pub fn is_seldom(fault: Fault, state: &str) -> bool {
    SELDOM.iter().any(|(seldom, states)| *seldom == fault && states.contains(&state))
}

const SELDOM: &[(Fault, &[&str])] = &[];
