//! Reads the schema's own catalogue: what it must say for every table.

use std::time::Duration;

use futures_util::future::join_all;
use payment::{Stance, StateName};
use store::{SqlStore, Sqlite, SqliteOptions};

use super::File;

/// The tables whose key is not the merchant's: the directory that leads from a caller to its merchant, and the servers' sign of
/// life.
const NO_MERCHANTS: [&str; 2] = ["api_key", "heartbeat"];

#[tokio::test]
async fn every_unique_index_begins_with_the_merchant() {
    let file = File::new();
    let _store = file.store().await;
    let mut raw = file.raw().await;
    let indexes = raw
        .texts(
            "SELECT t.name || ' ' || i.name || ' ' || c.name FROM sqlite_master t \
             JOIN pragma_index_list(t.name) i ON i.\"unique\" = 1 JOIN pragma_index_info(i.name) c ON c.seqno = 0 \
             WHERE t.type = 'table' AND t.name NOT LIKE '\\_sqlx%' ESCAPE '\\' ORDER BY 1",
        )
        .await;
    assert_eq!(indexes.len(), 26, "{indexes:#?}");
    for index in indexes {
        let [table, _, first] = index.split(' ').collect::<Vec<_>>()[..] else { panic!("{index}") };
        assert!(first == "merchant_id" || NO_MERCHANTS.contains(&table), "{index}");
    }
    // Each primary key is among them: none is an implicit rowid.
    let keyless = raw
        .texts(
            "SELECT name FROM sqlite_master t WHERE type = 'table' AND name NOT LIKE '\\_sqlx%' ESCAPE '\\' \
             AND NOT EXISTS (SELECT 1 FROM pragma_index_list(t.name) WHERE origin = 'pk')",
        )
        .await;
    assert_eq!(keyless, Vec::<String>::new());
}

#[tokio::test]
async fn the_occupying_index_holds_every_state_whose_stance_is_not_free() {
    let file = File::new();
    let _store = file.store().await;
    let mut raw = file.raw().await;
    let index =
        raw.texts("SELECT sql FROM sqlite_master WHERE name = 'payment_intent_occupying'").await.remove(0);
    let table = raw.texts("SELECT sql FROM sqlite_master WHERE name = 'payment_intent'").await.remove(0);
    let exempt = index.split_once("NOT IN").unwrap().1;
    for state in StateName::ALL {
        let quoted = format!("'{state}'");
        assert_eq!(exempt.contains(&quoted), state.stance() == Stance::Free, "{state}");
        assert!(table.contains(&quoted), "{state} cannot be stored");
    }
}

#[tokio::test]
async fn every_connection_is_durable_and_keeps_foreign_keys() {
    let file = File::new();
    let store = file.store().await;
    let reader = store.dialect().readers().acquire().await.unwrap();
    for (pragma, wanted) in
        [("synchronous", "2"), ("foreign_keys", "1"), ("journal_mode", "wal"), ("query_only", "1")]
    {
        let sql = format!("SELECT CAST({pragma} AS TEXT) FROM pragma_{pragma}");
        let found: String = reader.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, wanted, "{pragma}");
    }
}

#[tokio::test]
async fn many_that_start_at_once_migrate_once() {
    let file = File::new();
    let starts = (0..8).map(|_| SqlStore::open(file.options()));
    for started in join_all(starts).await {
        assert!(started.is_ok(), "{:?}", started.err());
    }
    assert_eq!(file.raw().await.count("_sqlx_migrations").await, Sqlite::newest_schema());
}

/// What a copy onto a full disk leaves: taken for a new database it would have every order paid again.
#[tokio::test]
async fn n5_a_file_that_was_emptied_is_no_new_database() {
    let file = File::new();
    let options = file.options();
    std::fs::File::create(&options.path).unwrap();
    let refused = SqlStore::open(SqliteOptions { patience: Duration::from_millis(50), ..options }).await;
    let error = refused.err().expect("it holds nothing").to_string();
    assert!(error.contains("the file is empty"), "{error}");
}

#[tokio::test]
async fn the_schema_is_migrated_once() {
    let file = File::new();
    for _ in 0..2 {
        file.store().await;
    }
    let mut raw = file.raw().await;
    assert_eq!(raw.int("SELECT max(version) FROM _sqlx_migrations").await, Sqlite::newest_schema());
    assert_eq!(raw.count("_sqlx_migrations").await, Sqlite::newest_schema());
}
