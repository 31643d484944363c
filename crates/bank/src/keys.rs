//! Idempotence keys: what a key stands for. A key is looked at before anything else about a request is, and is
//! bound in the same transaction as the object it made.

use rusqlite::{OptionalExtension, Transaction, params};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::refusal::Refusal;

/// YooKassa's limit.
const MAX_LEN: usize = 64;

/// What identifies a request whose key is repeated: where it went and what it said, as a JSON value.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint([u8; 32]);

/// What a known key stands for.
pub(crate) struct Bound {
    fingerprint: Vec<u8>,
    /// The object that the first request made or changed.
    pub object_id: Option<String>,
    /// Answered with a 500 for ever.
    pub broken: bool,
}

impl Fingerprint {
    pub fn of(path: &str, body: &Value) -> Self {
        let mut hash = Sha256::new();
        hash.update(path);
        feed(&mut hash, body);
        Self(hash.finalize().into())
    }
}

impl Bound {
    pub fn is_for(&self, fingerprint: &Fingerprint) -> bool {
        self.fingerprint == fingerprint.0
    }
}

/// The header's value, if it is a key.
pub(crate) fn parse(header: Option<&str>) -> Result<&str, Refusal> {
    header
        .filter(|key| (1..=MAX_LEN).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()))
        .ok_or_else(|| Refusal::invalid("Idempotence-Key", "A key of 1 to 64 characters is wanted"))
}

/// What `key` stands for, if it was bound after `since_ms`.
pub(crate) fn find(tx: &Transaction<'_>, key: &str, since_ms: i64) -> rusqlite::Result<Option<Bound>> {
    const FIND: &str =
        "SELECT fingerprint, object_id, broken FROM idempotence_key WHERE key = ?1 AND made_ms > ?2";
    tx.prepare_cached(FIND)?
        .query_row(params![key, since_ms], |row| {
            Ok(Bound { fingerprint: row.get(0)?, object_id: row.get(1)?, broken: row.get(2)? })
        })
        .optional()
}

/// What a key is bound to.
pub(crate) struct Binding<'a> {
    pub key: &'a str,
    pub fingerprint: &'a Fingerprint,
    pub object_id: Option<&'a str>,
    pub broken: bool,
}

/// Binds a key; an expired binding gives way.
pub(crate) fn bind(tx: &Transaction<'_>, binding: &Binding<'_>, now_ms: i64) -> rusqlite::Result<()> {
    const BIND: &str = "INSERT INTO idempotence_key (key, fingerprint, object_id, made_ms, broken)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, object_id = excluded.object_id,
             made_ms = excluded.made_ms, broken = excluded.broken";
    let Binding { key, fingerprint, object_id, broken } = binding;
    tx.prepare_cached(BIND)?.execute(params![key, fingerprint.0, object_id, now_ms, broken])?;
    Ok(())
}

/// Forgets a key, as if its time had run out.
pub(crate) fn forget(tx: &Transaction<'_>, key: &str) -> rusqlite::Result<()> {
    const FORGET: &str = "DELETE FROM idempotence_key WHERE key = ?1";
    tx.prepare_cached(FORGET)?.execute([key])?;
    Ok(())
}

/// Feeds a JSON value so that the order of fields does not matter and nothing else is lost.
fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => hash.update(value.to_string()),
        Value::Array(items) => {
            hash.update("[");
            for item in items {
                feed(hash, item);
                hash.update(",");
            }
            hash.update("]");
        }
        Value::Object(fields) => {
            let mut names: Vec<_> = fields.keys().collect();
            names.sort();
            hash.update("{");
            for name in names {
                hash.update(Value::from(name.as_str()).to_string());
                hash.update(":");
                feed(hash, &fields[name]);
                hash.update(",");
            }
            hash.update("}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_fields_does_not_matter_and_everything_else_does() {
        let of = |text: &str| Fingerprint::of("/v3/payments", &serde_json::from_str(text).unwrap());
        let one = of(r#"{"a":1,"b":{"c":[1,2],"d":null}}"#);
        assert!(one == of(r#"{ "b": {"d":null,"c":[1,2]}, "a": 1 }"#));
        for other in
            [r#"{"a":"1","b":{"c":[1,2],"d":null}}"#, r#"{"a":1,"b":{"c":[2,1],"d":null}}"#, r#"{"a":1}"#]
        {
            assert!(one != of(other), "{other}");
        }
        assert!(Fingerprint::of("/a", &json!({})) != Fingerprint::of("/b", &json!({})));
    }

    #[test]
    fn a_key_has_1_to_64_visible_characters() {
        assert!(parse(Some(&"k".repeat(64))).is_ok());
        for wrong in [None, Some(""), Some("a b"), Some("ключ")] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(parse(Some(&"k".repeat(65))).is_err());
    }
}
