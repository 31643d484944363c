//! The bare program: the rows of a payment written by prepared statements in the same three commits, and nothing else: no HTTP, no
//! bank, no checks. What SQLite itself takes on this disk. Shares the schema with the server and no code.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use rusqlite::{Connection, OptionalExtension, Params, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use crate::{load::CLIENTS, usage};

const SCHEMA: &str = include_str!("../../migrations/0001_payments.sql");
const MERCHANT: &str = "mer_bench";
/// As long as an answer of the server.
const ANSWER: [u8; 500] = [b'x'; 500];
/// As long as a sealed request to the bank.
const REQUEST: [u8; 450] = [b'x'; 450];
const HASH: [u8; 32] = [7; 32];
/// Payments to read again.
const REPLAYED: u64 = 1000;

/// How commits are made.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Way {
    /// Each payment makes its three.
    OneByOne,
    /// Sixteen payments, as many as there are clients, share three.
    Gathered,
    /// None: payments are read by their key.
    Replay,
}

impl Way {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneByOne => "one-by-one",
            Self::Gathered => "gathered",
            Self::Replay => "replay",
        }
    }
}

/// What the bare program did.
#[derive(Clone, Serialize, Deserialize)]
pub struct BareResult {
    /// Payments, or reads.
    pub count: u64,
    /// How long it took.
    pub seconds: f64,
    /// Milliseconds of CPU for each.
    pub cpu_ms: f64,
}

impl BareResult {
    /// How many a second.
    pub fn per_second(&self) -> f64 {
        self.count as f64 / self.seconds
    }
}

/// Works for so many seconds on a new database in `folder`.
pub fn run(way: Way, folder: &Path, seconds: u64) -> Result<BareResult> {
    let mut database = open(folder)?;
    if way == Way::Replay {
        for first in (0..REPLAYED).step_by(CLIENTS) {
            pay(&mut database, first, CLIENTS as u64)?;
        }
    }
    let (cpu_before, started, time) = (usage::cpu_ms("self")?, usage::now(), Duration::from_secs(seconds));
    let count = match way {
        Way::OneByOne => pay_until(&mut database, 1, started, time)?,
        Way::Gathered => pay_until(&mut database, CLIENTS as u64, started, time)?,
        Way::Replay => read_until(&database, started, time)?,
    };
    let seconds = started.elapsed().as_secs_f64();
    Ok(BareResult { count, seconds, cpu_ms: (usage::cpu_ms("self")? - cpu_before) / count.max(1) as f64 })
}

fn open(folder: &Path) -> Result<Connection> {
    let path = folder.join("bare.db");
    let database = Connection::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
    // The settings of the server.
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "FULL")?;
    database.pragma_update(None, "foreign_keys", true)?;
    database.set_prepared_statement_cache_capacity(64);
    database.execute_batch(SCHEMA).context("cannot make the tables")?;
    Ok(database)
}

fn pay_until(database: &mut Connection, at_once: u64, started: Instant, time: Duration) -> Result<u64> {
    let mut count = 0;
    while started.elapsed() < time {
        pay(database, count, at_once)?;
        count += at_once;
    }
    Ok(count)
}

/// A replay: what a key was answered.
fn read_until(database: &Connection, started: Instant, time: Duration) -> Result<u64> {
    const ANSWER_OF: &str = "SELECT canonical, answer_status, answer_body FROM idempotency_key \
         WHERE merchant_id = ?1 AND mode = 'test' AND kind = 'create_checkout' AND key = ?2";
    let mut count = 0;
    while started.elapsed() < time {
        let mut statement = database.prepare_cached(ANSWER_OF)?;
        let answer = statement
            .query_row(params![MERCHANT, Payment::new(count % REPLAYED).key], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, Vec<u8>>(2)?))
            })
            .optional()?;
        ensure!(answer.is_some_and(|(.., body)| body == ANSWER), "a key is missing");
        count += 1;
    }
    Ok(count)
}

/// Makes payments `first..first + at_once`: three commits.
fn pay(database: &mut Connection, first: u64, at_once: u64) -> Result<()> {
    for step in [Payment::open, Payment::claim, Payment::settle] {
        let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for number in first..first + at_once {
            step(&Payment::new(number), &transaction)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

/// The names of one payment's rows.
struct Payment {
    /// Rises like the server's ids do.
    id: [u8; 16],
    /// Scattered like the server's keys are.
    scattered: [u8; 16],
    key: String,
}

impl Payment {
    fn new(number: u64) -> Self {
        const ODD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        let scattered = u128::from(number).wrapping_mul(ODD);
        Self {
            id: u128::from(number).to_be_bytes(),
            scattered: scattered.to_be_bytes(),
            key: format!("{scattered:032x}"),
        }
    }

    fn open(&self, transaction: &Transaction<'_>) -> Result<()> {
        const CHECKOUT: &str = "INSERT INTO checkout (merchant_id, mode, id, order_id, status, version, token_version, amount_minor, \
             currency, exponent, capture, description, metadata, created_at_ms, expires_at_ms) \
             VALUES (?1, 'test', ?2, ?3, 'open', 1, 1, 150000, 'RUB', 2, 'automatic', 'Coffee, 1 kg', '{}', 1, 2)";
        const INTENT: &str = "INSERT INTO payment_intent (merchant_id, mode, id, checkout_id, number, submit_key, amount_minor, \
             currency, exponent, checkout_version, state, state_data, version, created_at_ms) \
             VALUES (?1, 'test', ?2, ?2, 1, ?3, 150000, 'RUB', 2, 1, 'created', '\"created\"', 1, 1)";
        const OPERATION: &str = "INSERT INTO operation (merchant_id, mode, id, intent_id, kind, stage, provider_key, fence, tries) \
             VALUES (?1, 'test', ?2, ?2, 'pay', 'created', ?3, 0, 0)";
        const KEY: &str = "INSERT INTO idempotency_key (merchant_id, mode, kind, key, canonical, digest, checkout_id, intent_id, \
             created_at_ms, answer_status, answer_location, answer_body) \
             VALUES (?1, 'test', 'create_checkout', ?2, 'canonical', ?3, ?4, ?4, 1, 201, '/v1/checkouts', ?5)";
        one(transaction, CHECKOUT, params![MERCHANT, self.id, self.key])?;
        one(transaction, INTENT, params![MERCHANT, self.id, self.scattered])?;
        one(transaction, OPERATION, params![MERCHANT, self.id, self.scattered])?;
        self.journal(transaction, 1)?;
        one(transaction, KEY, params![MERCHANT, self.key, HASH, self.id, ANSWER])
    }

    fn claim(&self, transaction: &Transaction<'_>) -> Result<()> {
        const KEY: &str = "INSERT INTO idempotency_key (merchant_id, mode, kind, key, canonical, digest, checkout_id, intent_id, \
             created_at_ms) VALUES (?1, 'test', 'submit', ?2, 'canonical', ?3, ?4, ?4, 1)";
        const INTENT: &str = "UPDATE payment_intent SET state = 'processing', method = 'card_token', version = 2 \
             WHERE merchant_id = ?1 AND id = ?2 AND version = 1";
        const OPERATION: &str = "UPDATE operation SET stage = 'open', provider_kind = 'yookassa', provider_account = '100500', \
             provider_url = 'http://127.0.0.1', request_method = 'POST', request_path = '/v3/payments', request_body = ?3, \
             first_sent_at_ms = 1, execute_until_ms = 2, holder = ?2, lease_until_ms = 2, fence = 1, tries = 1, wake_at_ms = 2 \
             WHERE merchant_id = ?1 AND id = ?2 AND fence = 0";
        const ATTEMPT: &str = "INSERT INTO attempt (merchant_id, id, operation_id, number, fence, started_at_ms) \
             VALUES (?1, ?2, ?2, 1, 1, 1)";
        one(transaction, KEY, params![MERCHANT, self.key, HASH, self.id])?;
        one(transaction, INTENT, params![MERCHANT, self.id])?;
        one(transaction, OPERATION, params![MERCHANT, self.id, REQUEST])?;
        one(transaction, ATTEMPT, params![MERCHANT, self.id])?;
        self.journal(transaction, 2)
    }

    fn settle(&self, transaction: &Transaction<'_>) -> Result<()> {
        const OPERATION: &str = "UPDATE operation SET stage = 'done', provider_object_id = ?3, holder = NULL, \
             lease_until_ms = NULL, tries = 0, wake_at_ms = NULL WHERE merchant_id = ?1 AND id = ?2 AND fence = 1";
        const INTENT: &str = "UPDATE payment_intent SET state = 'succeeded', last4 = '4444', version = 3 \
             WHERE merchant_id = ?1 AND id = ?2 AND version = 2";
        const ATTEMPT: &str = "UPDATE attempt SET outcome = 'object succeeded' \
             WHERE merchant_id = ?1 AND id = ?2 AND outcome IS NULL";
        const CHARGE: &str = "INSERT INTO charge (merchant_id, provider_account, provider_object_id, checkout_id, intent_id, \
             amount_minor, currency, exponent, extra, at_ms) VALUES (?1, '100500', ?3, ?2, ?2, 150000, 'RUB', 2, 0, 1)";
        const CHECKOUT: &str =
            "UPDATE checkout SET status = 'paid' WHERE merchant_id = ?1 AND id = ?2 AND status = 'open'";
        const KEY: &str = "UPDATE idempotency_key SET answer_status = 200, answer_location = '/v1/payment_intents', \
             answer_body = ?3 WHERE merchant_id = ?1 AND mode = 'test' AND kind = 'submit' AND key = ?2";
        one(transaction, OPERATION, params![MERCHANT, self.id, self.key])?;
        one(transaction, INTENT, params![MERCHANT, self.id])?;
        one(transaction, ATTEMPT, params![MERCHANT, self.id])?;
        one(transaction, CHARGE, params![MERCHANT, self.id, self.key])?;
        one(transaction, CHECKOUT, params![MERCHANT, self.id])?;
        self.journal(transaction, 3)?;
        one(transaction, KEY, params![MERCHANT, self.key, ANSWER])
    }

    fn journal(&self, transaction: &Transaction<'_>, line: i64) -> Result<()> {
        const JOURNAL: &str = "INSERT INTO journal (merchant_id, intent_id, seq, at_ms, from_state, event, to_state, evidence, hash) \
             VALUES (?1, ?2, ?3, 1, 'created', 'submitted', 'processing', 'as long as the words that say why', ?4)";
        one(transaction, JOURNAL, params![MERCHANT, self.id, line, HASH])
    }
}

/// Runs a statement that has to change one row.
fn one(transaction: &Transaction<'_>, sql: &'static str, values: impl Params) -> Result<()> {
    let changed = transaction.prepare_cached(sql)?.execute(values)?;
    ensure!(changed == 1, "{changed} rows changed: {sql}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gathered_batch_leaves_the_rows_of_its_payments() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = open(folder.path()).unwrap();
        pay(&mut database, 0, 16).unwrap();
        let count = |sql| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM checkout WHERE status = 'paid'"), 16);
        assert_eq!(count("SELECT count(*) FROM charge"), 16);
        assert_eq!(count("SELECT count(*) FROM journal"), 48);
        assert_eq!(count("SELECT count(*) FROM idempotency_key WHERE answer_body IS NOT NULL"), 32);
    }

    #[test]
    fn a_payment_is_not_made_twice() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = open(folder.path()).unwrap();
        pay(&mut database, 0, 1).unwrap();
        assert!(pay(&mut database, 0, 1).is_err());
    }
}
