//! What a person says about an extra.

use rusqlite::Connection;

use super::{told, trouble::Trouble};

/// Our refund was refused, say; somebody gave the money back in the provider's dashboard.
#[test]
fn n5_what_was_given_back_by_somebody_else_ends_by_that_refund() {
    let trouble = Trouble::new();
    let (place, extra) = (&trouble.place, trouble.extra.as_str());
    let executed = |refund: &str| {
        place.run(&["review", "resolve", extra, "--executed", refund, "--reason", "seen in the dashboard"])
    };
    executed("nothing-77").refused(&["not done", "does not show the refund nothing-77"]);
    executed(&trouble.made).refused(&["gave nothing of", &trouble.refunded]);
    let refunds = [trouble.gives_back_by_hand(extra, "400.00"), trouble.gives_back_by_hand(extra, "1100.00")];
    told(&executed(&refunds[0]), &["gave 400.00 RUB of", &refunds[0], "it is written down as op_"]);
    executed(&refunds[0]).refused(&["is known already as the refund of op_"]);
    told(&executed(&refunds[1]), &["gave 1100.00 RUB of", &refunds[1]]);
    executed(&refunds[1]).refused(&["does not wait for a person"]);
    let show = place.run(&["review", "show", "C-3"]);
    let parts = [
        "given back: 1500.00 RUB, on its way back: nothing",
        "refund 1100.00 RUB on",
        "made by somebody else, never sent by us",
        "seen in the dashboard",
        "Nothing waits for a person here.",
    ];
    told(&show, &parts);
    assert!(!place.run(&["review", "list"]).stdout.contains(extra));
}

/// The merchant had another account when that money was taken.
#[test]
fn n5_what_cannot_be_given_back_by_us_is_not_offered() {
    let trouble = Trouble::new();
    let (place, extra) = (&trouble.place, trouble.extra.as_str());
    let database = Connection::open(place.path("payonce-data/payonce.db")).unwrap();
    let left = "UPDATE charge SET provider_account = '100599' WHERE extra = 1";
    assert_eq!(database.execute(left, []).unwrap(), 1);
    let show = place.run(&["review", "show", extra]);
    told(&show, &[&format!("{extra} can be given back in the dashboard of account 100599 alone")]);
    for verdict in [&["--refund-extra"][..], &["--executed", "REFUND"]] {
        assert!(!show.stdout.contains(verdict[0]), "{}", show.stdout);
        place
            .run(&[&["review", "resolve", extra], verdict, &["--reason", "x"]].concat())
            .refused(&["lies in account 100599", "give it back in the provider's dashboard"]);
    }
}
