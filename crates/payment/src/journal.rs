//! The journal's chain: each line carries a hash over the one before it, so that an edit shows, and where (R24).

use std::fmt;

use sha2::{Digest, Sha256};

use crate::Timestamp;

/// SHA-256 of a line and of all before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct JournalHash(pub [u8; 32]);

impl JournalHash {
    /// What the first line of an intent follows.
    pub const GENESIS: Self = Self([0; 32]);

    /// From its stored bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for JournalHash {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for JournalHash {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One line: what happened to an intent, and why.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JournalLine {
    /// Counts from 1 within the intent.
    pub seq: i64,
    /// When, by the database.
    pub at: Timestamp,
    /// State before, as stored.
    pub from: String,
    /// The event.
    pub event: String,
    /// State after, as stored.
    pub to: String,
    /// What justified it: operation, attempt, object, answer; for a person to read, never a secret.
    pub evidence: String,
}

impl JournalLine {
    /// The hash of this line on top of `previous`. Fields are written with their lengths, so that no two lines read alike.
    pub fn chained_to(&self, previous: JournalHash) -> JournalHash {
        let mut hash = Sha256::new();
        hash.update(previous.0);
        hash.update(self.seq.to_be_bytes());
        hash.update(self.at.0.to_be_bytes());
        for text in [&self.from, &self.event, &self.to, &self.evidence] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        }
        JournalHash(hash.finalize().into())
    }

    /// Follows a chain from its beginning; the `seq` of the first line that does not fit, if any.
    pub fn first_break<'a>(chain: impl IntoIterator<Item = (&'a JournalLine, JournalHash)>) -> Option<i64> {
        let mut previous = JournalHash::GENESIS;
        for (expected_seq, (line, stored)) in (1..).zip(chain) {
            if line.seq != expected_seq || line.chained_to(previous) != stored {
                return Some(expected_seq);
            }
            previous = stored;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> Vec<(JournalLine, JournalHash)> {
        let mut previous = JournalHash::GENESIS;
        let line = |seq| JournalLine {
            seq,
            at: Timestamp(seq * 1000),
            from: "created".into(),
            event: "submitted".into(),
            to: "processing".into(),
            evidence: format!("attempt {seq}"),
        };
        (1..=3)
            .map(|seq| {
                previous = line(seq).chained_to(previous);
                (line(seq), previous)
            })
            .collect()
    }

    fn first_break(chain: &[(JournalLine, JournalHash)]) -> Option<i64> {
        JournalLine::first_break(chain.iter().map(|(line, hash)| (line, *hash)))
    }

    #[test]
    fn attack_55_an_edit_shows_and_where() {
        assert_eq!(first_break(&chain()), None);
        let mut edited = chain();
        edited[1].0.evidence = "attempt 9".into();
        assert_eq!(first_break(&edited), Some(2));
        let mut cut = chain();
        cut.remove(1);
        assert_eq!(first_break(&cut), Some(2));
        let mut resealed = chain();
        resealed[0].0.to = "succeeded".into();
        resealed[0].1 = resealed[0].0.chained_to(JournalHash::GENESIS);
        assert_eq!(first_break(&resealed), Some(2));
    }
}
