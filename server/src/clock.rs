//! The machine's clocks: the only place that reads them.

use std::time::{SystemTime, UNIX_EPOCH};

use engine::{Clock, Moments};
use rustix::time::{ClockId, clock_gettime};

/// The clocks of this machine.
pub struct SystemClock;

impl Clock for SystemClock {
    /// Since boot with the time asleep counted, where the system tells it; and the wall clock.
    #[expect(clippy::disallowed_methods, reason = "the source of moments that is passed in elsewhere")]
    fn moments(&self) -> Moments {
        let boot = clock_gettime(BOOT_CLOCK);
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moments {
            boot_ms: boot.tv_sec.saturating_mul(1_000).saturating_add(boot.tv_nsec / 1_000_000),
            wall_ms: i64::try_from(wall.as_millis()).unwrap_or(i64::MAX),
        }
    }
}

#[cfg(target_os = "linux")]
const BOOT_CLOCK: ClockId = ClockId::Boottime;
/// Elsewhere the wall clock alone counts the time asleep.
#[cfg(not(target_os = "linux"))]
const BOOT_CLOCK: ClockId = ClockId::Monotonic;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_go_forward() {
        let before = SystemClock.moments();
        std::thread::yield_now();
        let elapsed_ms = SystemClock.moments().since_ms(before);
        assert!((0..60_000).contains(&elapsed_ms), "{elapsed_ms}");
        assert!(before.wall_ms > 1_700_000_000_000 && before.boot_ms > 0);
    }
}
