//! What the ledger says, to whom, and what survives.

use bank::{Bank, Config, Ledger, OpenError};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{GOOD_CARD, TestBank, id, payment};

#[tokio::test]
async fn the_ledger_lists_payments_refunds_and_every_request() {
    let bank = TestBank::start().await;
    let body = payment(&bank.token(GOOD_CARD).await);
    let paid = bank.post("/v3/payments", "pay", &body).await.ok();
    bank.post("/v3/payments", "pay", &body).await.ok();
    let refund = json!({ "payment_id": paid["id"], "amount": { "value": "1.00", "currency": "RUB" } });
    let refunded = bank.post("/v3/refunds", "refund", &refund).await.ok();
    bank.get("/v3/payments?limit=1").await.ok();
    bank.client.get(format!("{}/v3/payments/x", bank.url)).send().await.unwrap();

    let ledger = bank.ledger().await;
    let now = bank.get(&format!("/v3/payments/{}", id(&paid))).await.ok();
    assert_eq!(ledger["payments"], json!([now]));
    assert_eq!(ledger["refunds"], json!([refunded]));
    let seen: Vec<_> = ledger["requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| {
            json!([r["method"], r["path"], r["idempotence_key"], r["answered"], r["status"], r["replayed"]])
        })
        .collect();
    let expected = [
        json!(["POST", "/v3/payments", "pay", true, 200, false]),
        json!(["POST", "/v3/payments", "pay", true, 200, true]),
        json!(["POST", "/v3/refunds", "refund", true, 200, false]),
        json!(["GET", "/v3/payments", null, true, 200, false]),
        json!(["GET", "/v3/payments/x", null, true, 401, false]),
    ];
    assert_eq!(seen, expected);
    assert_eq!(ledger["requests"][0]["at"], "2026-03-01T00:00:00.000Z");
    // Of no bytes.
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(ledger["requests"][3]["body_sha256"], empty);
    assert_eq!(ledger["requests"][0]["body_sha256"], ledger["requests"][1]["body_sha256"]);
}

#[tokio::test]
async fn a_restart_keeps_the_ledger_and_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank.db");
    let bank = TestBank::on_file(&path).await;
    let (spent, unspent) = (bank.token(GOOD_CARD).await, bank.token(GOOD_CARD).await);
    let paid = bank.post("/v3/payments", "key", &payment(&spent)).await.ok();
    let before = bank.ledger().await;
    bank.stop().await;

    let bank = TestBank::on_file(&path).await;
    assert_eq!(bank.ledger().await, before);
    assert_eq!(bank.post("/v3/payments", "key", &payment(&spent)).await.ok(), paid);
    bank.post("/v3/payments", "other", &payment(&spent)).await.refused(
        400,
        "invalid_request",
        "payment_token",
    );
    bank.post("/v3/payments", "another", &payment(&unspent)).await.ok();
    assert_eq!(bank.charges().await, 2);
    bank.stop().await;
}

#[tokio::test]
async fn a_second_bank_on_the_same_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank.db");
    let first = TestBank::on_file(&path).await;
    let second = Bank::open(Config::new(Ledger::File(path.clone()))).err().unwrap();
    assert!(matches!(&second, OpenError::InUse { path: used } if *used == path), "{second:?}");
    assert!(second.to_string().contains("in use by another bank"));
    first.pay("key", GOOD_CARD).await;
    first.stop().await;
    Bank::open(Config::new(Ledger::File(path))).unwrap();
}

#[test]
fn a_file_that_is_no_ledger_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (a); PRAGMA user_version = 7")
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = Bank::open(Config::new(Ledger::File(path.clone()))).err().unwrap();
    assert!(matches!(error, OpenError::Foreign { version: 7, .. }), "{error:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let error = Bank::open(Config::new(Ledger::File(folder.path().join("no/such/folder.db")))).err().unwrap();
    assert!(matches!(error, OpenError::Sqlite { .. }), "{error:?}");
}

#[tokio::test]
async fn ledger_and_faults_are_for_this_machine_only() {
    let bank = TestBank::start().await;
    for (method, path) in [
        (Method::GET, "/ledger"),
        (Method::GET, "/faults"),
        (Method::POST, "/faults"),
        (Method::DELETE, "/faults"),
    ] {
        for header in ["X-Forwarded-For", "Forwarded", "Origin"] {
            let answer =
                bank.request(method.clone(), path).header(header, "for=192.0.2.1").send().await.unwrap();
            assert_eq!(answer.status(), 403, "{method} {path}");
        }
    }
    let nothing: Value = bank.get("/faults").await.ok();
    assert_eq!(nothing, json!({ "faults": [] }));
}

#[tokio::test]
async fn a_bank_that_lives_says_so() {
    let bank = TestBank::start().await;
    assert_eq!(bank.client.get(format!("{}/healthz", bank.url)).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn one_too_large_body_is_refused() {
    let bank = TestBank::start().await;
    let huge = json!({ "description": "x".repeat(300 * 1024) });
    bank.post("/v3/payments", "key", &huge).await.refused(400, "invalid_request", "body");
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_idle_connections() {
    let bank = TestBank::start().await;
    let idle = bank.client.clone();
    bank.pay("key", GOOD_CARD).await;
    // Less than what requests in work are given.
    tokio::time::timeout(std::time::Duration::from_secs(4), bank.stop()).await.unwrap();
    drop(idle);
}

#[tokio::test]
async fn a_ledger_of_the_first_version_is_brought_up_to_date() {
    const AS_IT_WAS: &str = include_str!("ledger_v1.sql");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch(AS_IT_WAS).unwrap();
    for _ in 0..2 {
        let bank = TestBank::on_file(&path).await;
        let ledger = bank.ledger().await;
        assert_eq!(ledger["payments"][0]["refunded_amount"]["value"], "1.00");
        assert_eq!(
            (&ledger["refunds"][0]["id"], &ledger["refunds"][0]["status"]),
            (&json!("r1"), &json!("succeeded"))
        );
        assert_eq!(ledger["notifications"], json!([]));
        bank.stop().await;
    }
}

#[test]
fn a_ledger_of_a_later_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank.db");
    drop(Bank::open(Config::new(Ledger::File(path.clone()))).unwrap());
    rusqlite::Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let error = Bank::open(Config::new(Ledger::File(path))).err().unwrap();
    assert!(matches!(error, OpenError::Foreign { version: 99, .. }), "{error:?}");
}
