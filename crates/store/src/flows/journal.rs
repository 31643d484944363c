//! Appends to an intent's journal, each line chained to the one before it.

use payment::{IntentId, JournalHash, JournalLine, Timestamp};

use super::won;
use crate::{Change, JournalRecord, Tables, Tenant, tables::Abort};

/// Appends `changes` in order. A concurrent writer of the same journal is found by its unique index.
pub async fn append(
    tables: &mut dyn Tables,
    tenant: &Tenant,
    intent: IntentId,
    at: Timestamp,
    changes: &[Change],
) -> Result<(), Abort> {
    let (mut seq, mut previous) =
        tables.journal_head(tenant, intent).await?.unwrap_or((0, JournalHash::GENESIS));
    for change in changes {
        seq += 1;
        let line = JournalLine {
            seq,
            at,
            from: change.from.to_owned(),
            event: change.event.clone(),
            to: change.to.to_owned(),
            evidence: change.evidence.clone(),
        };
        previous = line.chained_to(previous);
        won(tables.insert_journal(tenant, intent, &JournalRecord { line, hash: previous }).await?)?;
    }
    Ok(())
}
