//! When to try again: full jitter, growing, bounded (R15). Randomness comes in.

/// How retries to a provider are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Longest wait after the first try, ms.
    pub base_ms: i64,
    /// Longest wait ever, ms.
    pub max_ms: i64,
}

impl RetryPolicy {
    /// The wait after `tries` sends (1 or more), in ms: somewhere below min(max, base · 2^(tries−1)), as `random` says;
    /// never less than what the provider asked for with `Retry-After`.
    pub fn delay_ms(&self, tries: u32, random: u64, retry_after_ms: Option<i64>) -> i64 {
        let doublings = tries.saturating_sub(1).min(32);
        let ceiling = self.base_ms.saturating_mul(1_i64 << doublings).clamp(1, self.max_ms.max(1));
        let jittered = i64::try_from(random % ceiling.unsigned_abs()).expect("below an i64") + 1;
        jittered.max(retry_after_ms.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn r15_waits_grow_within_their_bounds(tries in 0_u32..200, random: u64, after in prop::option::of(0_i64..600_000)) {
            let policy = RetryPolicy { base_ms: 1_000, max_ms: 300_000 };
            let delay = policy.delay_ms(tries, random, after);
            prop_assert!(delay >= 1);
            prop_assert!(delay >= after.unwrap_or(0));
            prop_assert!(delay <= policy.max_ms.max(after.unwrap_or(0)));
        }
    }

    #[test]
    fn r15_the_shortest_wait_is_one_millisecond_and_the_longest_is_the_ceiling() {
        let policy = RetryPolicy { base_ms: 1_000, max_ms: 300_000 };
        assert_eq!((policy.delay_ms(1, 0, None), policy.delay_ms(1, 999, None)), (1, 1_000));
    }

    #[test]
    fn r15_the_ceiling_doubles() {
        let policy = RetryPolicy { base_ms: 1_000, max_ms: 300_000 };
        let longest = |tries| (0..20_000).map(|random| policy.delay_ms(tries, random * 7919, None)).max();
        assert!(longest(1) <= Some(1_000) && longest(1) > Some(900));
        assert!(longest(4) <= Some(8_000) && longest(4) > Some(7_000));
    }
}
