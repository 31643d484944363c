//! `payonce demo`, started again.

use std::net::TcpListener;

use rusqlite::Connection;

use crate::support::Place;

/// What was on its way to the bank in the same process ended with it: whoever tries the demo waits for nothing.
#[test]
fn fault_23_a_demo_that_was_away_reads_its_listing_at_once() {
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let place = Place::new().set("PAYONCE_LISTEN", &free()).set("PAYONCE_BANK_LISTEN", &free());
    // Nobody could wait for the end of that lease.
    let place = place.toml("[timing]\nlease_s = 3600\n");
    let demo = place.start(&["demo"]);
    demo.line_with("Payonce demo");
    assert_eq!(demo.terminate().code, Some(0));
    let database = Connection::open(place.path("payonce-data/payonce.db")).unwrap();
    assert_eq!(database.execute("UPDATE heartbeat SET at_ms = at_ms - 600000", []).unwrap(), 1);
    drop(database);
    let demo = place.start(&["demo"]);
    demo.log_with("nothing is sent until");
    demo.log_with("payments are sent again");
}
