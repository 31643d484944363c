//! The clocks, in the test's hand: the database's, and those of the processes, which can be set apart from it.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use engine::Moments;
use payment::Timestamp;

const START_MS: i64 = 1_800_000_000_000;
/// When the machine was booted.
const BOOTED_MS: i64 = START_MS - 1_000_000;

/// Clocks that stand still until they are moved. Everybody's time passes together: a process that is paused is one that is not
/// driven meanwhile.
#[derive(Clone)]
pub struct Hands {
    now_ms: Arc<AtomicI64>,
    wall_set_by_ms: Arc<AtomicI64>,
    all_set_by_ms: Arc<AtomicI64>,
}

impl Hands {
    pub fn new() -> Self {
        Self {
            now_ms: Arc::new(AtomicI64::new(START_MS)),
            wall_set_by_ms: Arc::default(),
            all_set_by_ms: Arc::default(),
        }
    }

    /// By the database.
    pub fn now(&self) -> Timestamp {
        Timestamp(self.now_ms.load(Ordering::SeqCst))
    }

    pub fn advance(&self, ms: i64) {
        self.now_ms.fetch_add(ms, Ordering::SeqCst);
    }

    /// Somebody sets the wall clock of the processes' machine, and nothing else.
    pub fn set_wall(&self, by_ms: i64) {
        self.wall_set_by_ms.fetch_add(by_ms, Ordering::SeqCst);
    }

    /// Somebody sets the clock of the machine that the database is on as well: no time passes.
    pub fn set_all(&self, by_ms: i64) {
        self.all_set_by_ms.fetch_add(by_ms, Ordering::SeqCst);
        self.advance(by_ms);
    }

    pub fn clock(&self) -> store::Clock {
        let hands = self.clone();
        Arc::new(move || hands.now())
    }
}

impl engine::Clock for Hands {
    fn moments(&self) -> Moments {
        let now = self.now().0;
        let passed_ms = now - self.all_set_by_ms.load(Ordering::SeqCst);
        Moments { boot_ms: passed_ms - BOOTED_MS, wall_ms: now + self.wall_set_by_ms.load(Ordering::SeqCst) }
    }
}

/// A machine that sleeps with its clocks, while the database's go on.
pub struct Stopped(pub Moments);

impl engine::Clock for Stopped {
    fn moments(&self) -> Moments {
        self.0
    }
}
