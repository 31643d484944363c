//! Random ids: keys, form tokens, nonces. Made here and nowhere else.

use uuid::Uuid;

/// 122 random bits.
#[expect(clippy::disallowed_methods, reason = "the only place of this crate that makes ids")]
pub fn new_uuid() -> Uuid {
    Uuid::new_v4()
}
