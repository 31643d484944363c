//! A file that an older version wrote is brought up to date with everything in it.

use payment::{IntentId, JournalHash, JournalLine, Step};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, SqlSafeStr,
    migrate::{Migration, MigrationType, Migrator},
    sqlite::SqliteConnectOptions,
};
use store::{Sqlite, Task};
use uuid::Uuid;

use super::{File, Raw};
use crate::{
    commands::{LEASE_MS, outcome, refund, succeeded},
    world::START,
};

/// The first version's schema, as it was written.
const FIRST: &str = include_str!("../../../../../migrations/0001_payments.sql");

/// As the first version kept its rows: order 1 is paid, order 2 was sent and has no answer.
const ROWS: &str = "
INSERT INTO merchant VALUES ('mer_1', 'test', 'Shop', 'yookassa', '100500', 'http://bank.example', x'00', '[]', '[]');
INSERT INTO api_key VALUES (x'01', 'mer_1', 'test', 'secret');
INSERT INTO checkout VALUES ('mer_1', X'C1', 'test', 'order-1', 'paid', 1, 1, 150000, 'RUB', 2, 'automatic', NULL, NULL, NULL, '{}',
    1800000000000, 1800086400000);
INSERT INTO checkout SELECT merchant_id, X'C2', mode, 'order-2', 'open', version, token_version, amount_minor, currency, exponent,
    capture, description, return_url, email, metadata, created_at_ms, expires_at_ms FROM checkout;
INSERT INTO payment_intent VALUES ('mer_1', X'D1', 'test', X'C1', 1, NULL, X'E1', 150000, 'RUB', 2, 1, 'succeeded',
    '{\"state\":\"succeeded\",\"object\":\"object-1\",\"at\":1800000000000}', 'card_token', '4477', NULL, 3, 1800000000000);
INSERT INTO payment_intent VALUES ('mer_1', X'D2', 'test', X'C2', 1, NULL, X'E2', 150000, 'RUB', 2, 1, 'processing',
    '{\"state\":\"processing\",\"since\":1800000000000}', 'card_token', NULL, NULL, 2, 1800000000000);
INSERT INTO operation VALUES ('mer_1', X'F1', X'D1', 'test', 'pay', 'done', X'A1', 'yookassa', '100500', 'http://bank.example', 'POST',
    '/v3/payments', x'02', 1800000000000, 1800000900000, 'object-1', NULL, NULL, 1, 1, NULL);
INSERT INTO operation VALUES ('mer_1', X'F2', X'D2', 'test', 'pay', 'open', X'A2', 'yookassa', '100500', 'http://bank.example', 'POST',
    '/v3/payments', x'03', 1800000000000, 1800000900000, NULL, X'B2', 1800000030000, 1, 1, 1800000030000);
INSERT INTO attempt VALUES ('mer_1', X'91', X'F1', 1, 1, 1800000000000, 'answered');
INSERT INTO attempt VALUES ('mer_1', X'92', X'F2', 1, 1, 1800000000000, NULL);
INSERT INTO charge VALUES ('mer_1', '100500', 'object-1', X'C1', X'D1', 150000, 'RUB', 2, 0, 1800000000000);
INSERT INTO idempotency_key VALUES ('mer_1', 'test', 'submit', 'a-key', '[]', x'00', X'C1', X'D1', 1800000000000, 200, NULL, x'04');
";

/// Whether an account waits for the merchant's others.
const TENURE: &str = include_str!("../../../../../migrations/0007_own_accounts.sql");

/// Ids are written short above, and are 16 bytes: `X'D1'` is `d1` and zeros.
fn widened(rows: &str) -> String {
    let mut wide = rows.to_owned();
    for id in ["C1", "C2", "D1", "D2", "E1", "E2", "F1", "F2", "A1", "A2", "B2", "91", "92"] {
        wide = wide.replace(&format!("X'{id}'"), &format!("x'{id}{}'", "0".repeat(30)));
    }
    wide
}

fn intent(first: u8) -> IntentId {
    let mut bytes = [0; 16];
    bytes[0] = first;
    IntentId(Uuid::from_bytes(bytes))
}

/// A journal of two lines, hashed as the code hashes them.
fn journal(id: IntentId, last: &str) -> String {
    let (mut sql, mut hash) = (String::new(), JournalHash::GENESIS);
    for (seq, from, event, to) in [(1, "", "created", "created"), (2, "created", "submitted", last)] {
        let (at, evidence) = (START, "then".to_owned());
        let line = JournalLine { seq, at, from: from.into(), event: event.into(), to: to.into(), evidence };
        hash = line.chained_to(hash);
        let (id, at) = (id.0.simple(), at.0);
        sql += &format!(
            "INSERT INTO journal VALUES ('mer_1', x'{id}', {seq}, {at}, '{from}', '{event}', '{to}', 'then', x'{hash}');"
        );
    }
    sql
}

/// A file as the first version left it.
async fn old_file() -> File {
    let file = File::new();
    let options = SqliteConnectOptions::new().filename(file.path()).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    let first = AssertSqlSafe(FIRST).into_sql_str();
    let migrations = vec![Migration::new(1, "payments".into(), MigrationType::Simple, first, false)];
    let migrator = Migrator { migrations: migrations.into(), ..Migrator::DEFAULT };
    migrator.run(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let mut raw = file.raw().await;
    raw.run(&widened(ROWS)).await.unwrap();
    raw.run(&journal(intent(0xd1), "succeeded")).await.unwrap();
    raw.run(&journal(intent(0xd2), "processing")).await.unwrap();
    raw.close().await;
    file
}

const TABLES: [&str; 9] = [
    "merchant",
    "api_key",
    "idempotency_key",
    "checkout",
    "payment_intent",
    "operation",
    "attempt",
    "charge",
    "journal",
];

/// Every row of a table, in the columns it had in the first version.
async fn dump(raw: &mut Raw, columns: &[(&str, Vec<String>)]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (table, columns) in columns {
        let quoted: Vec<_> = columns.iter().map(|column| format!("quote({column})")).collect();
        let sql = format!("SELECT {} FROM {table} ORDER BY 1", quoted.join(" || '|' || "));
        rows.push(raw.texts(&sql).await);
    }
    rows
}

#[tokio::test]
async fn r18_nothing_is_lost_on_the_way_from_the_first_version() {
    let file = old_file().await;
    let mut raw = file.raw().await;
    let mut columns = Vec::new();
    for table in TABLES {
        columns.push((table, raw.texts(&format!("SELECT name FROM pragma_table_info('{table}')")).await));
    }
    let before = dump(&mut raw, &columns).await;
    assert!(before.iter().all(|rows| !rows.is_empty()), "a table without a row proves nothing: {before:?}");
    raw.close().await;
    let migrated = Sqlite::migrate(&file.path()).await.unwrap();
    assert_eq!((migrated.from, migrated.to), (1, Sqlite::newest_schema()));
    let mut raw = file.raw().await;
    assert_eq!(dump(&mut raw, &columns).await, before);
    assert_eq!(raw.int("SELECT count(*) FROM pragma_foreign_key_check").await, 0);
    assert_eq!(raw.texts("SELECT integrity_check FROM pragma_integrity_check").await, ["ok"]);
    let attached = "SELECT count(*) FROM attempt a JOIN operation o ON o.merchant_id = a.merchant_id AND o.id = a.operation_id";
    assert_eq!(raw.int(attached).await, 2);
    // The keys name the tables that are there now, and still hold.
    let keys = "SELECT \"table\" FROM pragma_foreign_key_list('attempt') WHERE seq = 0";
    assert_eq!(raw.texts(keys).await, ["operation"]);
    assert!(raw.run("DELETE FROM operation").await.is_err());
}

#[tokio::test]
async fn r18_a_migrated_file_is_as_a_new_one() {
    let (old, new) = (old_file().await, File::new());
    Sqlite::migrate(&old.path()).await.unwrap();
    Sqlite::migrate(&new.path()).await.unwrap();
    let schema = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name";
    assert_eq!(old.raw().await.texts(schema).await, new.raw().await.texts(schema).await);
}

/// It was met in a gap, and the account of before was not read yet when the servers were updated.
#[tokio::test]
async fn fault_23_an_account_that_waits_for_another_does_so_in_the_next_version() {
    let file = File::new();
    Sqlite::migrate(&file.path()).await.unwrap();
    let mut raw = file.raw().await;
    let rows = "ALTER TABLE sweep DROP COLUMN tenure; \
                INSERT INTO sweep VALUES ('mer_1', 'test', 'before', 1, 5, 5), ('mer_1', 'test', 'read', 5, 6, NULL), \
                ('mer_1', 'test', 'waits', 5, 5, 5)";
    raw.run(rows).await.unwrap();
    raw.run(TENURE).await.unwrap();
    let tenures = "SELECT provider_account || ' ' || tenure FROM sweep ORDER BY 1";
    assert_eq!(raw.texts(tenures).await, ["before own", "read own", "waits new"]);
}

#[tokio::test]
async fn fault_26_what_an_older_version_left_unanswered_is_recovered() {
    let file = old_file().await;
    let world = file.world().await;
    world.clock.set(START.plus_ms(LEASE_MS));
    let due = world.due(10).await.remove(0);
    assert_eq!((due.intent.id, due.step.clone(), due.unanswered), (intent(0xd2), Step::Send, true));
    assert_eq!(due.attempt.as_ref().unwrap().number, 2);
    assert_eq!((&due.operation.task, due.operation.unfinished), (&Task::Pay, 1));
    assert_eq!(world.commit(outcome(&due, succeeded("object-2"))).await, (true, false));
    // And what it had finished can be refunded.
    let paid = world.intent(intent(0xd1)).await;
    assert_eq!(paid.state, succeeded("object-1"));
    world.followed(refund(&paid, "object-1", "1500.00")).await;
    let story = world.story(paid.id).await;
    assert_eq!((story.charges[0].reserved_minor, story.attempts.len()), (150_000, 1));
}
