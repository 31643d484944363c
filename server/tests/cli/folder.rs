//! The data folder: made, locked, with its secret.

use payonce::folder::Folder;

use crate::support::{Place, SECRET, mode};

#[test]
fn serve_without_a_secret_says_how_to_make_one() {
    let place = Place::new();
    place.run(&["serve"]).refused(&[
        "PAYONCE_SECRET is not set",
        "payonce-data/secret",
        "openssl rand -base64 32",
    ]);
    assert!(!place.path("payonce-data/secret").exists());
}

#[test]
fn demo_makes_a_secret_for_its_owner_only_and_keeps_it() {
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = busy.local_addr().unwrap().to_string();
    let place = Place::new().set("PAYONCE_BANK_LISTEN", &address);
    place.run(&["demo"]).refused(&[&address, "in use", "PAYONCE_BANK_LISTEN"]);
    let path = place.path("payonce-data/secret");
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let made = std::fs::read(&path).unwrap();
    place.run(&["demo"]).refused(&["in use"]);
    assert_eq!(std::fs::read(&path).unwrap(), made);
}

#[test]
fn a_secret_file_with_something_else_stops_the_start() {
    for command in ["demo", "serve"] {
        let place = Place::new().file("secret", "canary");
        let ended = place.run(&[command, "--data", "."]);
        ended.refused(&["./secret does not hold a secret", "32 bytes as base64"]);
        assert!(!ended.all().contains("canary"));
    }
}

#[test]
fn a_folder_has_one_server() {
    let place = Place::new().set("PAYONCE_SECRET", SECRET);
    let folder = Folder::create(&place.path("payonce-data")).unwrap();
    let _lock = folder.lock().unwrap();
    for command in ["demo", "serve"] {
        place.run(&[command]).refused(&["another server (process", "payonce-data", "PAYONCE_DATA"]);
    }
    // The lock is the server's alone.
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let bank = place.start(&["bank", "--bank-listen", "127.0.0.1:0"]);
    bank.line_with("ledger");
    assert_eq!(bank.terminate().code, Some(0));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let place = Place::new().file("file", "");
    place.run(&["demo", "--data", "file/data"]).refused(&["PAYONCE_DATA", "file/data cannot be made"]);
}

#[test]
fn migrate_says_from_which_version_to_which() {
    let place = Place::new();
    let newest = store::Sqlite::newest_schema();
    let first = place.run(&["migrate"]).stdout;
    assert!(first.contains(&format!("from version 0 to {newest}")), "{first}");
    assert!(place.path("payonce-data/payonce.db").exists());
    let second = place.run(&["migrate"]).stdout;
    assert!(second.contains(&format!("at version {newest}, nothing to do")), "{second}");
    let elsewhere = place.run(&["migrate", "--database-url", "sqlite:other.db"]);
    assert!(place.path("other.db").exists(), "{}", elsewhere.all());
    place
        .run(&["migrate", "--database-url", "sqlite:none/other.db"])
        .refused(&["cannot migrate none/other.db"]);
}

#[test]
fn serve_with_another_secret_than_the_databases_does_not_start() {
    const MERCHANT: &str = r#"
listen = "127.0.0.1:0"
public_url = "http://127.0.0.1:1"
[[merchant]]
id = "mer_1"
name = "Zerno"
mode = "test"
secret_key = "sk_test_zerno"
provider = { kind = "yookassa", account = "100500", secret = "canary", url = "http://127.0.0.1:1" }
"#;
    let place = Place::new().toml(MERCHANT).set("PAYONCE_SECRET", SECRET);
    let running = place.start(&["serve"]);
    running.line_with("Payonce serves");
    for file in ["payonce.db", "payonce.db-wal", "payonce.db-shm"] {
        assert_eq!(mode(&place.path("payonce-data").join(file)), 0o600, "{file}");
    }
    assert_eq!(running.terminate().code, Some(0));
    let other = "b3RoZXIgb3RoZXIgb3RoZXIgb3RoZXIgb3RoZXIgb3Q=";
    place.run(&["serve", "--secret", other]).refused(&[
        "another PAYONCE_SECRET",
        "mer_1",
        "PAYONCE_SECRET_OLD",
    ]);
    let running = place.start(&["serve", "--secret", other, "--secret-old", SECRET]);
    running.line_with("Payonce serves");
    assert_eq!(running.terminate().code, Some(0));
}
