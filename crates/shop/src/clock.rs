//! The shop's clock, and how it writes time. Time enters the crate here and nowhere else.

use jiff::Timestamp;

/// Now.
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// For people: `30.11.2026 14:05 UTC`, the same in both languages.
pub fn written(at: Timestamp) -> String {
    at.strftime("%d.%m.%Y %H:%M UTC").to_string()
}
