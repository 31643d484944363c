//! Card tokens: made by the browser, used up by the first payment. A token row holds neither number nor code.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::book::When;
use crate::cards::{Card, Outcome};
use crate::ids;

/// Makes a token for a checked card, and sweeps out the dead ones.
pub(crate) fn issue(
    tx: &Transaction<'_>,
    card: &Card,
    outcome: Outcome,
    when: When,
) -> rusqlite::Result<String> {
    const SWEEP: &str = "DELETE FROM token WHERE created_ms <= ?1";
    const ISSUE: &str = "INSERT INTO token (token, card, outcome, created_ms) VALUES (?1, ?2, ?3, ?4)";
    tx.prepare_cached(SWEEP)?.execute([when.now_ms - when.lives.token_ms])?;
    let token = format!("tok_{}", ids::fresh());
    tx.prepare_cached(ISSUE)?.execute(params![token, card.to_json(), outcome, when.now_ms])?;
    Ok(token)
}

/// Uses a token up, if it is alive.
pub(crate) fn redeem(
    tx: &Transaction<'_>,
    token: &str,
    when: When,
) -> rusqlite::Result<Option<(Card, Outcome)>> {
    const REDEEM: &str = "DELETE FROM token WHERE token = ?1 AND created_ms > ?2 RETURNING card, outcome";
    tx.prepare_cached(REDEEM)?
        .query_row(params![token, when.now_ms - when.lives.token_ms], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}
