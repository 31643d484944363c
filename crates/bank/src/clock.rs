//! The bank's clock. Time enters the crate here and nowhere else, so that a test can move hours.

use std::sync::Arc;

use jiff::Timestamp;

/// Where the bank reads the time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self::new(Timestamp::now)
    }

    /// A clock of the caller's making.
    pub fn new(read: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// Milliseconds since 1970, the unit of the ledger.
    pub(crate) fn now_ms(&self) -> i64 {
        (self.0)().as_millisecond()
    }
}

/// RFC 3339 with milliseconds and `Z`, as YooKassa writes time.
pub(crate) fn rfc3339(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).expect("the ledger holds only times that this clock gave");
    format!("{at:.3}")
}
