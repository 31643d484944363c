//! The bank's clock. Time enters the crate here and nowhere else, so that a test can move hours.

use std::sync::Arc;

use axum::http::HeaderValue;
use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter};

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

/// As the header `Date` tells time (RFC 9110).
pub(crate) fn http_date(at_ms: i64) -> HeaderValue {
    let at = Timestamp::from_millisecond(at_ms).expect("the clock gave it");
    let text = DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&at)
        .expect("this century's years have four digits");
    HeaderValue::try_from(text).expect("a date is ASCII")
}

/// RFC 3339 with milliseconds and `Z`, as YooKassa writes time.
pub(crate) fn rfc3339(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).expect("the ledger holds only times that this clock gave");
    format!("{at:.3}")
}
