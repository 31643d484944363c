//! `payonce bank`.

use std::net::TcpListener;

use crate::support::Place;

#[test]
fn it_says_what_is_where_and_ends_when_told() {
    let place = Place::new();
    let bank = place.start(&["bank", "--bank-listen", "127.0.0.1:0"]);
    for part in ["/v3", "/ledger", "/faults", "payonce-data/bank.db"] {
        bank.line_with(part);
    }
    assert!(place.path("payonce-data/bank.db").exists());
    assert_eq!(bank.terminate().code, Some(0));
}

#[test]
fn in_memory_it_leaves_nothing_behind() {
    let place = Place::new();
    let bank = place.start(&["bank", "--memory", "--bank-listen", "127.0.0.1:0"]);
    bank.line_with("in memory");
    assert_eq!(bank.terminate().code, Some(0));
    assert!(!place.path("payonce-data").exists());
}

#[test]
fn a_busy_port_is_named() {
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = busy.local_addr().unwrap().to_string();
    let place = Place::new().set("PAYONCE_BANK_LISTEN", &address);
    place.run(&["bank", "--memory"]).refused(&[&address, "in use by another program", "PAYONCE_BANK_LISTEN"]);
}

#[test]
fn two_banks_do_not_share_a_ledger() {
    let place = Place::new();
    let first = place.start(&["bank", "--bank-listen", "127.0.0.1:0"]);
    first.line_with("ledger");
    place.run(&["bank", "--bank-listen", "127.0.0.1:0"]).refused(&["bank.db is in use by another bank"]);
}
