//! How long things take: the `[timing]` table. In live mode nothing may be shorter than the defaults.

/// Longest time that can be set: a year.
const MAX_S: f64 = 31_536_000.0;

/// What is accepted, in the words of every message about it.
pub const ALLOWED: &str = "seconds from 0.001 to 31536000";

/// Times in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long a claim of an operation lasts.
    pub lease_ms: i64,
    /// Nothing is dispatched later than this after the first submit.
    pub execute_ms: i64,
    /// How long a card token lives at the provider.
    pub token_life_ms: i64,
    /// Added to it: after both, no straggling request can take money, and a listing without the payment is evidence.
    pub token_margin_ms: i64,
    /// How far apart two looks at a provider's listing are.
    pub listing_gap_ms: i64,
    /// Longest wait between two tries.
    pub retry_max_ms: i64,
    /// How far apart two sweeps of the provider's listing are.
    pub sweep_ms: i64,
    /// A person looks at what is unresolved this long after the last moment of sending.
    pub review_after_ms: i64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            lease_ms: 30_000,
            execute_ms: 900_000,
            token_life_ms: 3_600_000,
            token_margin_ms: 600_000,
            listing_gap_ms: 300_000,
            retry_max_ms: 300_000,
            sweep_ms: 600_000,
            review_after_ms: 86_400_000,
        }
    }
}

impl Timing {
    /// The keys in the file.
    pub const KEYS: [&str; 8] = [
        "lease_s",
        "execute_s",
        "token_life_s",
        "token_margin_s",
        "listing_gap_s",
        "retry_max_s",
        "sweep_s",
        "review_after_s",
    ];

    /// Every key with its value.
    pub fn entries(&mut self) -> [(&'static str, &mut i64); 8] {
        let values = [
            &mut self.lease_ms,
            &mut self.execute_ms,
            &mut self.token_life_ms,
            &mut self.token_margin_ms,
            &mut self.listing_gap_ms,
            &mut self.retry_max_ms,
            &mut self.sweep_ms,
            &mut self.review_after_ms,
        ];
        let mut keys = Self::KEYS.into_iter();
        values.map(|value| (keys.next().expect("as many keys as values"), value))
    }
}

/// Seconds as the file writes them, in ms; `None` when they are not [`ALLOWED`].
pub fn milliseconds(seconds: &str) -> Option<i64> {
    let seconds: f64 = seconds.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "at most a year of milliseconds")]
    let ms = (0.001..=MAX_S).contains(&seconds).then(|| (seconds * 1000.0).round() as i64);
    ms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_become_milliseconds() {
        assert_eq!(milliseconds("30"), Some(30_000));
        assert_eq!(milliseconds("0.25"), Some(250));
        assert_eq!(milliseconds("0.001"), Some(1));
        for wrong in ["0", "-1", "0.0001", "nan", "inf", "31536001", "1 s", ""] {
            assert_eq!(milliseconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_key_names_its_own_value() {
        let mut timing = Timing::default();
        let [lease, .., review] = timing.entries();
        assert_eq!((lease.0, *lease.1), ("lease_s", 30_000));
        assert_eq!((review.0, *review.1), ("review_after_s", 86_400_000));
    }
}
