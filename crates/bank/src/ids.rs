//! Names for what the bank makes. Random, so that nobody guesses another's; read in one place only.

use uuid::Uuid;

/// A new payment, refund or error id: the shape of YooKassa's.
#[expect(clippy::disallowed_methods, reason = "the one place where the bank makes random ids")]
pub(crate) fn fresh() -> String {
    Uuid::new_v4().to_string()
}
