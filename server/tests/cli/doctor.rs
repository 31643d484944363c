//! `payonce doctor`: what it finds, and that it changes nothing.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt};

use crate::support::{Place, Running, SECRET};

fn merchant(url: &str, secret: &str) -> String {
    format!(
        "[[merchant]]\nid = \"mer_1\"\nname = \"Zerno\"\nmode = \"test\"\nsecret_key = \"sk_test_zerno\"\n\
         provider = {{ kind = \"yookassa\", account = \"100500\", secret = \"{secret}\", url = \"{url}\" }}\n"
    )
}

/// A bank, and its URL.
fn bank(place: &Place) -> (Running, String) {
    let bank = place.start(&["bank", "--memory", "--bank-listen", "127.0.0.1:0"]);
    let line = bank.line_with("/ledger");
    let url = line.split_whitespace().nth(1).unwrap().trim_end_matches("/ledger").to_owned();
    (bank, url)
}

#[test]
fn everything_in_order_is_said_line_by_line() {
    let place = Place::new().set("PAYONCE_SECRET", SECRET);
    let (_bank, url) = bank(&place);
    let place = place.toml(&merchant(&url, "test_demo"));
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let report = place.run(&["doctor"]);
    assert_eq!(report.code, Some(0), "{}", report.all());
    let names =
        ["configuration", "folder", "secret", "database", "provider of mer_1 (test)", "clock", "mails"];
    let expected = names.map(|name| format!("ok       {name}: "));
    for (line, expected) in report.stdout.lines().zip(&expected) {
        assert!(line.starts_with(expected), "{expected} in {}", report.stdout);
    }
    assert_eq!(report.stdout.lines().count(), names.len());
}

#[test]
fn a_fresh_machine_is_told_what_to_do_and_nothing_is_made() {
    let place = Place::new();
    let report = place.run(&["doctor"]);
    assert_eq!(report.code, Some(1));
    for part in ["payonce-data is not there", "openssl rand", "payonce migrate", "add a [[merchant]]"] {
        assert!(report.stdout.contains(part), "{part} in {}", report.stdout);
    }
    assert!(!place.path("payonce-data").exists());
}

#[test]
fn a_mail_server_that_is_not_there_is_a_finding() {
    let url = format!("smtp://user:canary@{}", closed_port());
    let place = Place::new().set("PAYONCE_SMTP_URL", &url).set("PAYONCE_MAIL_FROM", "pay@shop.example");
    let report = place.run(&["doctor"]);
    assert!(report.stdout.contains("WRONG    mails: no connection to the mail server"), "{}", report.stdout);
    assert!(!report.all().contains("canary"), "{}", report.all());
}

/// An address where nothing listens.
fn closed_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn a_wrong_value_is_a_finding() {
    let report = Place::new().set("PAYONCE_LISTEN", "x").run(&["doctor"]);
    assert_eq!(report.code, Some(1));
    assert!(
        report.stdout.starts_with("WRONG    configuration: environment: PAYONCE_LISTEN is \"x\""),
        "{}",
        report.stdout
    );
}

#[test]
fn a_provider_that_refuses_or_is_not_there_is_found() {
    let place = Place::new().set("PAYONCE_SECRET", SECRET);
    let (_bank, url) = bank(&place);
    let refused = place.toml(&merchant(&url, "canary")).run(&["doctor"]);
    assert!(refused.stdout.contains("does not accept account 100500"), "{}", refused.stdout);
    assert!(!refused.all().contains("canary"));
    // A port that was free a moment ago.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    drop(silent);
    let absent = Place::new().toml(&merchant(&url, "test_demo")).run(&["doctor"]);
    assert!(absent.stdout.contains(&format!("{url} does not answer")), "{}", absent.stdout);
    assert!(absent.stdout.contains("unknown  clock"), "{}", absent.stdout);
}

#[test]
fn a_secret_that_others_can_read_is_found() {
    let place = Place::new().file("secret", SECRET);
    fs::set_permissions(place.path("secret"), fs::Permissions::from_mode(0o644)).unwrap();
    let report = place.run(&["doctor", "--data", "."]).stdout;
    assert!(
        report.contains("WRONG    secret: others can read ./secret; to do: chmod 600 './secret'"),
        "{report}"
    );
}

#[test]
fn a_file_that_is_no_database_is_found() {
    let place = Place::new().file("other.db", &"not a database ".repeat(500));
    let report = place.run(&["doctor", "--database-url", "sqlite:other.db"]).stdout;
    assert!(report.contains("WRONG    database: other.db does not open"), "{report}");
}

#[test]
fn n5_an_emptied_database_is_found_and_is_no_new_one() {
    let place = Place::new().file("cut.db", "");
    let report = place.run(&["doctor", "--database-url", "sqlite:cut.db"]).stdout;
    assert!(report.contains("WRONG    database: cut.db is empty"), "{report}");
    let refused = place.run(&["migrate", "--database-url", "sqlite:cut.db"]);
    assert_eq!(refused.code, Some(1), "{}", refused.all());
    assert!(refused.stderr.contains("the file is empty"), "{}", refused.stderr);
}

#[test]
fn n5_a_broken_database_is_found() {
    let place = Place::new();
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let path = place.path("payonce-data/payonce.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 4096;
    bytes[last..].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let report = place.run(&["doctor"]);
    assert_eq!(report.code, Some(1), "{}", report.all());
    assert!(report.stdout.contains("payonce.db is broken"), "{}", report.stdout);
    assert!(report.stdout.contains("restore a backup"), "{}", report.stdout);
}

#[test]
fn beside_a_running_demo_it_checks_the_merchant_of_the_database() {
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let place = Place::new().set("PAYONCE_LISTEN", &free()).set("PAYONCE_BANK_LISTEN", &free());
    let demo = place.start(&["demo"]);
    demo.line_with("Payonce demo");
    let report = place.run(&["doctor"]);
    assert_eq!(report.code, Some(0), "{}", report.all());
    assert!(report.stdout.contains("ok       provider of mer_demo (test)"), "{}", report.stdout);
    assert_eq!(demo.terminate().code, Some(0));
    let other = place.set("PAYONCE_SECRET", SECRET).run(&["doctor"]).stdout;
    assert!(other.contains("the provider secret of mer_demo does not open with this secret"), "{other}");
    assert!(other.contains("PAYONCE_SECRET_OLD"), "{other}");
}
