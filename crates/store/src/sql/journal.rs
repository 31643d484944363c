//! Table `journal`: append only.

use payment::{JournalHash, JournalLine, Timestamp};

use super::{Row, session::unreadable};
use crate::{JournalRecord, StoreError};

pub(super) const HEAD: &str =
    "SELECT seq, hash FROM journal WHERE merchant_id = $1 AND intent_id = $2 ORDER BY seq DESC LIMIT 1";

pub(super) const ALL: &str = "SELECT seq, at_ms, from_state, event, to_state, evidence, hash FROM journal \
     WHERE merchant_id = $1 AND intent_id = $2 ORDER BY seq";

pub(super) const INSERT: &str = "INSERT INTO journal (merchant_id, intent_id, seq, at_ms, from_state, event, to_state, \
     evidence, hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (merchant_id, intent_id, seq) DO NOTHING";

pub(super) fn read_hash(row: &mut Row) -> Result<JournalHash, StoreError> {
    JournalHash::from_bytes(&row.bytes()?).ok_or_else(|| unreadable("a journal hash"))
}

pub(super) fn read(mut row: Row) -> Result<JournalRecord, StoreError> {
    let line = JournalLine {
        seq: row.int()?,
        at: Timestamp(row.int()?),
        from: row.text()?,
        event: row.text()?,
        to: row.text()?,
        evidence: row.text()?,
    };
    Ok(JournalRecord { line, hash: read_hash(&mut row)? })
}
