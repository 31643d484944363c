//! The clocks: everybody's time passes together, and some clocks are set wrong.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use engine::Moments;
use payment::Timestamp;

/// A second, ms.
pub const SECOND: i64 = 1_000;
/// A minute, ms.
pub const MINUTE: i64 = 60 * SECOND;
/// An hour, ms.
pub const HOUR: i64 = 60 * MINUTE;
/// A day, ms.
pub const DAY: i64 = 24 * HOUR;

const START_MS: i64 = 1_800_000_000_000;
/// When the machines were booted.
const BOOTED_MS: i64 = START_MS - DAY;

/// The time that passes for everybody, and the database's clock, which somebody may set.
#[derive(Clone)]
pub struct Time {
    passed_ms: Arc<AtomicI64>,
    ahead_ms: Arc<AtomicI64>,
}

impl Default for Time {
    fn default() -> Self {
        Self::of(START_MS, 0)
    }
}

impl Time {
    fn of(passed_ms: i64, ahead_ms: i64) -> Self {
        Self { passed_ms: Arc::new(AtomicI64::new(passed_ms)), ahead_ms: Arc::new(AtomicI64::new(ahead_ms)) }
    }

    /// Another one that goes on from the same time.
    pub fn again(&self) -> Self {
        Self::of(self.real().0, self.ahead_ms.load(Ordering::Relaxed))
    }

    /// This one begins again.
    pub fn begin_again(&self) {
        self.passed_ms.store(START_MS, Ordering::Relaxed);
        self.set_ahead(0);
    }

    /// What time it is, whatever a clock shows.
    pub fn real(&self) -> Timestamp {
        Timestamp(self.passed_ms.load(Ordering::Relaxed))
    }

    /// What the database's clock shows.
    pub fn now(&self) -> Timestamp {
        self.real().plus_ms(self.ahead_ms.load(Ordering::Relaxed))
    }

    /// Time passes, for everybody.
    pub fn pass(&self, ms: i64) {
        self.passed_ms.fetch_add(ms, Ordering::Relaxed);
    }

    /// Somebody sets the database's clock so far ahead of the time.
    pub fn set_ahead(&self, ms: i64) {
        self.ahead_ms.store(ms, Ordering::Relaxed);
    }

    /// As the store asks for it.
    pub fn of_store(&self) -> store::Clock {
        let time = self.clone();
        Arc::new(move || time.now())
    }
}

/// A machine's clocks.
#[derive(Clone)]
pub struct MachineClock {
    time: Time,
    wall_ahead_ms: Arc<AtomicI64>,
}

impl MachineClock {
    /// Those of a machine whose wall clock is so far ahead.
    pub fn new(time: &Time, wall_ahead_ms: i64) -> Self {
        Self { time: time.clone(), wall_ahead_ms: Arc::new(AtomicI64::new(wall_ahead_ms)) }
    }

    /// Those of the same machine in a copy of its world.
    pub fn again(&self, time: &Time) -> Self {
        Self::new(time, self.wall_ahead_ms.load(Ordering::Relaxed))
    }

    /// Somebody sets its wall clock.
    pub fn set_wall(&self, by_ms: i64) {
        self.wall_ahead_ms.fetch_add(by_ms, Ordering::Relaxed);
    }
}

impl engine::Clock for MachineClock {
    fn moments(&self) -> Moments {
        let now = self.time.real().0;
        Moments { boot_ms: now - BOOTED_MS, wall_ms: now + self.wall_ahead_ms.load(Ordering::Relaxed) }
    }
}
