//! How long things take in a world.

use payment::RetryPolicy;

use crate::time::{HOUR, MINUTE, SECOND};

/// How long things take. Times in ms.
#[derive(Clone, Copy, Debug)]
pub struct Periods {
    /// How long after the first submit something may be sent.
    pub execute_ms: i64,
    /// How long a card token takes money.
    pub token_life_ms: i64,
    /// How long after its token's death a payment may still be on its way.
    pub token_margin_ms: i64,
    /// How far apart two listings are that prove something.
    pub listing_gap_ms: i64,
    /// How retries are spaced.
    pub retry: RetryPolicy,
}

impl Periods {
    /// Those of the product.
    pub const SERVED: Self = Self {
        execute_ms: 15 * MINUTE,
        token_life_ms: HOUR,
        token_margin_ms: 10 * MINUTE,
        listing_gap_ms: 5 * MINUTE,
        retry: RetryPolicy { base_ms: SECOND, max_ms: 5 * MINUTE },
    };

    /// In the same order, and so short beside the pauses between tries that a payment that stays unknown is tried a few times, not dozens.
    pub const BRIEF: Self = Self {
        execute_ms: MINUTE,
        token_life_ms: 2 * MINUTE,
        token_margin_ms: MINUTE,
        listing_gap_ms: MINUTE,
        retry: RetryPolicy { base_ms: 5 * MINUTE, max_ms: 5 * MINUTE },
    };

    /// From when on a token is dead, counted from its making.
    pub(crate) fn dead_ms(&self) -> i64 {
        self.token_life_ms + self.token_margin_ms
    }
}

impl Default for Periods {
    fn default() -> Self {
        Self::SERVED
    }
}
