//! The process's own clocks: only to notice that it was paused. What time it is, the database says.

/// What the clocks show at one moment, ms. Both count while the machine sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moments {
    /// Since the machine was booted.
    pub boot_ms: i64,
    /// Since 1970.
    pub wall_ms: i64,
}

impl Moments {
    /// How much later this is than `earlier`, by the clock that says more: one may have been set back.
    pub fn since_ms(self, earlier: Self) -> i64 {
        (self.boot_ms - earlier.boot_ms).max(self.wall_ms - earlier.wall_ms)
    }
}

/// The clocks, passed in.
pub trait Clock: Send + Sync {
    /// What they show now.
    fn moments(&self) -> Moments;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_that_says_more_counts() {
        let began = Moments { boot_ms: 1_000, wall_ms: 50_000 };
        let set_back = Moments { boot_ms: 4_000, wall_ms: 20_000 };
        let set_forward = Moments { boot_ms: 1_001, wall_ms: 90_000 };
        assert_eq!((set_back.since_ms(began), set_forward.since_ms(began)), (3_000, 40_000));
    }
}
