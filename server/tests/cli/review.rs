//! `payonce review`, beside a database that a real engine wrote over two days of a bank in trouble, and beside a running server.

mod extras;
mod trouble;

use rusqlite::Connection;
use serde_json::Value;

use self::trouble::Trouble;
use crate::support::{Ended, Place, SECRET};

/// Looks at the list, each a process of its own, within which a running server has made a refund.
const MOST_LOOKS: usize = 500;

/// Every row of every table.
fn rows(place: &Place) -> Vec<String> {
    let database = Connection::open(place.path("payonce-data/payonce.db")).unwrap();
    let mut tables =
        database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut rows = Vec::new();
    for table in tables {
        let mut all = database.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let width = all.column_count();
        let mut found = all.query([]).unwrap();
        while let Some(row) = found.next().unwrap() {
            let values: Vec<_> =
                (0..width).map(|column| format!("{:?}", row.get_ref(column).unwrap())).collect();
            rows.push(format!("{table}: {}", values.join(", ")));
        }
    }
    rows
}

#[track_caller]
fn told(ended: &Ended, parts: &[&str]) {
    assert_eq!(ended.code, Some(0), "{}", ended.all());
    for part in parts {
        assert!(ended.stdout.contains(part), "{part:?} is missing in:\n{}", ended.stdout);
    }
    for code in ["Overdue", "NoAnswer", "Some(", "Timestamp", "minor unit", " ms"] {
        assert!(!ended.stdout.contains(code), "{code:?} is how the code says it:\n{}", ended.stdout);
    }
}

#[test]
fn what_waits_is_listed_shown_and_ended_in_words() {
    let trouble = Trouble::new();
    let place = &trouble.place;
    let before = rows(place);
    let list = place.run(&["review", "list"]);
    told(
        &list,
        &[
            "4 things wait for a person",
            "Payment of 1500.00 RUB for order A-1: was it taken?",
            "The order takes no other payment until this ends",
            "The refund of 500.00 RUB on",
            "The shopper paid twice, as far as is known. Given back so far: nothing",
            "It names order D-4, for which nothing is sent",
            "payonce review show ID",
        ],
    );
    let lines: Vec<_> = list.stdout.lines().collect();
    for id in trouble.ids() {
        assert!(lines.contains(&id.as_str()), "{id} stands alone, to be copied, in:\n{}", list.stdout);
    }
    r24_show_tells_the_whole_story(&trouble);
    assert_eq!(rows(place), before, "looking changes nothing");
    for secret in [SECRET, "test_demo", "sk_test_zerno"] {
        assert!(!list.all().contains(secret));
    }
    what_is_against_the_provider_or_makes_no_sense_is_refused(&trouble);
    what_is_said_with_a_reason_is_written_down(&trouble);
    beside_a_running_server(&trouble);
}

/// Operation, attempts, stage, external id and outcome.
fn r24_show_tells_the_whole_story(trouble: &Trouble) {
    let show = |id: &str| trouble.place.run(&["review", "show", id]);
    let story = show(&trouble.payment);
    told(
        &story,
        &[
            "of order A-1",
            "waits for a person since",
            "operation op_",
            "provider key",
            "account 100500, object —",
            "first sent",
            "may be sent until",
            "send 1",
            "unknown: no answer after the request was sent",
            "its result is not known yet: it may have been taken.",
            "processing → confirming",
            "confirming → needs_review  overdue",
            &format!("payonce review resolve {} --charged OBJECT --reason TEXT", trouble.payment),
            &format!("payonce review resolve {} --not-charged --reason TEXT", trouble.payment),
        ],
    );
    for same in ["A-1", &trouble.checkout] {
        assert_eq!(show(same).stdout, story.stdout, "{same}");
    }
    told(
        &show(&trouble.refund),
        &[
            &trouble.refund,
            &format!("refund 500.00 RUB on {}", trouble.refunded),
            "result unknown, waits for a person since",
            &format!("payonce review resolve {} --executed REFUND", trouble.refund),
            &format!("payonce review resolve {} --not-executed", trouble.refund),
            "given back: nothing, on its way back: 500.00 RUB",
        ],
    );
    told(
        &show(&trouble.extra),
        &[
            "EXTRA: the order was paid already",
            "What was told:",
            "webhook checkout.paid evt_",
            "waits for its next try after 0 tries",
            &format!("payonce review resolve {} --refund-extra --reason TEXT", trouble.extra),
            &format!("payonce review resolve {} --executed REFUND --reason TEXT", trouble.extra),
        ],
    );
    told(
        &show(&trouble.stranger),
        &[
            "in account 100500 of merchant mer_1 (test); no payment of ours asked for it",
            "It names D-4",
            &format!("payonce review resolve {0} --charged {0} --reason TEXT", trouble.stranger),
            "--not-charged --reason TEXT",
        ],
    );
    told(&show("D-4"), &["other money that names it stands before a person"]);
    for nothing in ["pi_00000000000000000000000000000001", "op_1", "E-5", "'; --"] {
        let ended = show(nothing);
        ended.refused(&["there is no payment, checkout", nothing]);
        assert_eq!(ended.stdout, "");
    }
}

fn what_is_against_the_provider_or_makes_no_sense_is_refused(trouble: &Trouble) {
    let place = &trouble.place;
    let resolve = |arguments: &[&str]| place.run(&[&["review", "resolve"], arguments].concat());
    let (reason, payment) = (["--reason", "checked"], trouble.payment.as_str());
    let with_reason = |arguments: &[&str]| resolve(&[arguments, &reason].concat());
    with_reason(&[payment, "--not-charged"]).refused(&["not done", &trouble.taken, "it is succeeded"]);
    with_reason(&[payment, "--charged", "nothing-77"]).refused(&["not done", "does not show nothing-77"]);
    with_reason(&[payment, "--charged", &trouble.refunded]).refused(&["is known already as the charge of"]);
    with_reason(&[payment, "--not-executed"]).refused(&["--charged OBJECT or --not-charged"]);
    with_reason(&[&trouble.refund, "--not-executed"]).refused(&["the listing holds this refund"]);
    with_reason(&[&trouble.extra, "--not-charged"]).refused(&["its money did not go back"]);
    with_reason(&[&trouble.extra, "--charged", &trouble.extra]).refused(&["the shopper paid twice"]);
    with_reason(&[&trouble.extra, "--not-executed"]).refused(&["--refund-extra"]);
    with_reason(&[&trouble.stranger, "--refund-extra"]).refused(&["--not-charged"]);
    with_reason(&["E-5", "--not-charged"])
        .refused(&["E-5 does not wait for a person", "payonce review list"]);
    for empty in ["", "  ", "two\nlines"] {
        resolve(&[payment, "--charged", &trouble.taken, "--reason", empty])
            .refused(&["--reason", "1 to 1000"]);
    }
    with_reason(&[payment, "--charged", ""]).refused(&["is no provider's object"]);
    for wrong in [
        &[payment, "--not-charged"][..],
        &[payment, "--reason", "no verdict"],
        &[payment, "--not-charged", "--not-executed", "--reason", "two verdicts"],
        &[&trouble.extra, "--refund-extra", "--evidence", "y", "--reason", "evidence of nothing"],
        &["--not-charged", "--reason", "no id"],
    ] {
        let ended = resolve(wrong);
        assert_eq!(ended.code, Some(2), "{wrong:?}: {}", ended.all());
        assert!(ended.stderr.contains("Usage"), "{}", ended.stderr);
    }
    assert!(place.run(&["review", "list"]).stdout.contains("4 things"));
}

fn what_is_said_with_a_reason_is_written_down(trouble: &Trouble) {
    let place = &trouble.place;
    let resolve = |id: &str, verdict: &[&str], reason: &str| {
        place.run(&[&["review", "resolve", id], verdict, &["--reason", reason]].concat())
    };
    let paid = resolve(&trouble.payment, &["--charged", &trouble.taken], "seen in the bank's dashboard");
    told(&paid, &["is paid", &trouble.taken, "1500.00 RUB", "order A-1"]);
    told(
        &place.run(&["review", "show", "A-1"]),
        &[
            "checkout paid, payment paid by",
            "judged_charged",
            "seen in the bank's dashboard",
            "Nothing waits for a person here.",
        ],
    );
    told(
        &resolve(&trouble.refund, &["--executed", &trouble.made], "the bank says so"),
        &["the refund of", "was done"],
    );
    told(&place.run(&["review", "show", "B-2"]), &["given back: 500.00 RUB", "the bank says so"]);
    let linked = resolve(&trouble.stranger, &["--charged", &trouble.stranger], "paid at the till");
    told(&linked, &["pays order D-4"]);
    told(&place.run(&["review", "show", "D-4"]), &["checkout paid", "paid at the till"]);
    let twice = resolve(&trouble.payment, &["--charged", &trouble.taken], "again");
    twice.refused(&["does not wait for a person"]);
    told(&place.run(&["review", "list"]), &["One thing waits", &trouble.extra]);
}

/// Its lock on the folder is not ours, and it does what was said.
fn beside_a_running_server(trouble: &Trouble) {
    let place = &trouble.place;
    let serving = place.start(&["serve"]);
    serving.line_with("Payonce serves");
    told(&place.run(&["review", "list"]), &["One thing waits", &trouble.extra]);
    let resolved =
        place.run(&["review", "resolve", &trouble.extra, "--refund-extra", "--reason", "the shopper called"]);
    told(&resolved, &["gives 1500.00 RUB of", &trouble.extra]);
    let refunded = |ledger: &Value| {
        let of = |refund: &&Value| refund["payment_id"] == trouble.extra.as_str();
        ledger["refunds"].as_array().unwrap().iter().filter(of).count()
    };
    let is_over = || place.run(&["review", "list"]).stdout == "Nothing waits for a person.\n";
    assert!((0..MOST_LOOKS).any(|_| is_over()), "the server does it");
    assert_eq!(refunded(&trouble.ledger()), 1);
    assert_eq!(serving.terminate().code, Some(0));
    told(
        &place.run(&["review", "show", "C-3"]),
        &["given back: 1500.00 RUB", "the shopper called", "refund.done"],
    );
}

/// What may have arrived, and would be told twice by a second try, a person has to know.
#[test]
fn what_may_not_have_arrived_is_listed() {
    let trouble = Trouble::new();
    let database = Connection::open(trouble.place.path("payonce-data/payonce.db")).unwrap();
    let lost = "UPDATE outbox SET state = 'delivery_unknown', wake_at_ms = NULL, tries = 1, first_tried_at_ms = 1, \
                outcome = 'its sender went silent'";
    assert!(database.execute(lost, []).unwrap() > 0);
    let parts = [
        "Webhooks and mails that did not arrive, or may not have",
        "may have arrived: its sender went silent in mid-send, and it is not sent twice",
        "; last: its sender went silent\n",
    ];
    told(&trouble.place.run(&["review", "list"]), &parts);
}

/// The provider is none that this version knows: nobody can ask, and evidence decides.
#[test]
fn what_cannot_be_asked_about_is_ended_by_evidence() {
    let trouble = Trouble::new();
    let database = Connection::open(trouble.place.path("payonce-data/payonce.db")).unwrap();
    let elsewhere = "UPDATE operation SET provider_kind = 'elsewhere' WHERE stage = 'review'";
    assert_eq!(database.execute(elsewhere, []).unwrap(), 2);
    the_server_may_be_able_to_ask(&trouble);
    let tried = "UPDATE operation SET unfinished = 10 WHERE stage = 'review'";
    assert_eq!(database.execute(tried, []).unwrap(), 2);
    let why = "the provider cannot be asked: this version knows none that is called elsewhere";
    let (payment, refund) = (trouble.payment.as_str(), trouble.refund.as_str());
    for (id, charged, other) in [
        (payment, "--charged OBJECT --evidence TEXT --amount SUM", "--not-charged --evidence TEXT"),
        (refund, "--executed REFUND --evidence TEXT", "--not-executed --evidence TEXT"),
    ] {
        let show = trouble.place.run(&["review", "show", id]);
        told(
            &show,
            &[why, &format!("resolve {id} {charged} --reason"), &format!("resolve {id} {other} --reason")],
        );
        assert!(!show.stdout.contains("asked first"), "{}", show.stdout);
    }
    let resolve = |id: &str, verdict: [&str; 2], evidence: &[&str]| {
        let arguments = [&["review", "resolve", id, "--reason", "ticket 7"], &verdict[..], evidence].concat();
        trouble.place.run(&arguments)
    };
    for (id, verdict, event) in [
        (payment, ["--charged", &trouble.taken], "judged_charged"),
        (refund, ["--executed", &trouble.made], "judged_executed"),
    ] {
        resolve(id, verdict, &[]).refused(&[why, "--evidence"]);
        let mut evidence = vec!["--evidence", "statement of May"];
        if id == payment {
            resolve(id, verdict, &evidence).refused(&[why, "say it by --amount"]);
            assert_eq!(resolve(id, verdict, &["--amount", "1500.00 RUB"]).code, Some(2), "without evidence");
            for sum in ["1500.00", "1500,00 RUB", "1.234 RUB", "0.00 RUB", "1500.00 XXX", ""] {
                let said = resolve(id, verdict, &[&evidence[..], &["--amount", sum]].concat());
                assert!(said.code == Some(2) && said.stderr.contains("as `1500.00 RUB`"), "{}", said.all());
            }
            evidence.extend(["--amount", "1499.00 RUB"]);
        }
        assert_eq!(resolve(id, verdict, &evidence).code, Some(0), "{event}");
    }
    told(&trouble.place.run(&["review", "show", "A-1"]), &["1499.00 RUB, as it was told"]);
    for order in ["A-1", "B-2"] {
        told(
            &trouble.place.run(&["review", "show", order]),
            &["ticket 7; evidence: statement of May", why, "Nothing waits for a person here."],
        );
    }
}

/// It has not tried in vain yet: a command that was given less does not speak for it.
fn the_server_may_be_able_to_ask(trouble: &Trouble) {
    let place = &trouble.place;
    let why = "the provider cannot be asked from here: this version knows none that is called elsewhere";
    let words =
        [(&trouble.payment, ["--charged", &trouble.taken]), (&trouble.refund, ["--executed", &trouble.made])];
    for (id, verdict) in words {
        let show = place.run(&["review", "show", id]);
        told(&show, &[&format!("{id} cannot be ended from here"), why, "PAYONCE_SECRET_OLD"]);
        assert!(!show.stdout.contains("review resolve"), "nothing is offered in:\n{}", show.stdout);
        let grounds = ["--reason", "ticket 7", "--evidence", "statement of May"];
        place.run(&[&["review", "resolve", id], &verdict[..], &grounds].concat()).refused(&["not done", why]);
    }
}

/// A proxy took our name off the answers: what was shown for ours is named, and asked.
#[test]
fn fault_47_what_was_shown_for_ours_is_named_and_asked() {
    let trouble = Trouble::new();
    let (place, payment, taken) = (&trouble.place, trouble.payment.as_str(), trouble.taken.as_str());
    let database = Connection::open(place.path("payonce-data/payonce.db")).unwrap();
    let stands = |data: String| {
        let written = "UPDATE payment_intent SET state_data = $1 WHERE state = 'needs_review'";
        assert_eq!(database.execute(written, [data]).unwrap(), 1);
    };
    let (show, deny) = (["review", "show", payment], ["review", "resolve", payment, "--not-charged"]);
    let deny = || place.run(&[&deny[..], &["--reason", "the shopper says so"]].concat());
    let state = r#""state":"needs_review","since":1000"#;
    stands(format!(r#"{{{state},"why":{{"mismatch":"owner"}},"suspects":["{taken}"]}}"#));
    let told_of = place.run(&show);
    let offered = format!("payonce review resolve {payment} --charged {taken} --reason TEXT");
    told(
        &told_of,
        &[
            &format!("  {taken}  the provider showed it for this payment's own"),
            "may have taken some",
            &offered,
        ],
    );
    assert!(!told_of.stdout.contains("No money was taken"), "{}", told_of.stdout);
    deny().refused(&["not done", "it took 1500.00 RUB", &format!("--charged {taken}")]);
    // The provider said so long after the last request.
    stands(format!(r#"{{{state},"why":"overdue","suspects":["{taken}"]}}"#));
    let shown = format!("the provider shows {taken} for it, which is not what was asked for");
    told(&place.run(&["review", "list"]), &[&shown]);
    // As a version wrote it that did not keep who was shown.
    stands(format!(r#"{{{state},"why":{{"mismatch":"owner"}}}}"#));
    assert!(!place.run(&show).stdout.contains("No money was taken"));
    deny().refused(&["the journal alone tells", "--evidence"]);
    // The shopper left the bank's page, and the bank goes on saying that it waits.
    stands(format!(r#"{{{state},"why":"overdue","object":"{taken}"}}"#));
    let waits = format!("{taken} has neither taken the money nor ended, as far as the provider has said");
    told(&place.run(&["review", "list"]), &[&waits]);
    told(&place.run(&show), &[&waits]);
}

/// Until that refund is over no word ends it.
#[test]
fn n5_of_an_extra_that_is_being_given_back_that_is_said() {
    let trouble = Trouble::new();
    let (place, extra) = (&trouble.place, trouble.extra.as_str());
    let database = Connection::open(place.path("payonce-data/payonce.db")).unwrap();
    let asked = "UPDATE charge SET reserved_minor = amount_minor WHERE provider_object_id = $1";
    assert_eq!(database.execute(asked, [extra]).unwrap(), 1);
    let shown = place.run(&["review", "show", extra]);
    told(
        &shown,
        &[&format!("{extra} is being given back: nothing can be said of it until that refund is over")],
    );
    assert!(!shown.stdout.contains("Nothing waits"), "{}", shown.stdout);
    place
        .run(&["review", "resolve", extra, "--not-charged", "--reason", "the shopper says so"])
        .refused(&["is not over", "or end it where it waits for a person"]);
}

/// However much waits, nothing is out of a person's reach.
#[test]
fn what_is_beyond_the_list_is_said_and_can_be_shown_and_ended() {
    let trouble = Trouble::calm();
    let database = Connection::open(trouble.place.path("payonce-data/payonce.db")).unwrap();
    let strangers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001) \
                     INSERT INTO stranger (merchant_id, mode, provider_account, provider_object_id, amount_minor, \
                     currency, exponent, took_money, found_at_ms) \
                     SELECT 'mer_1', 'test', '100500', 'till-' || i, 100, 'RUB', 2, i <> 1000, i FROM n";
    assert_eq!(database.execute(strangers, []).unwrap(), 1_001);
    let list = trouble.place.run(&["review", "list"]);
    told(&list, &["More than 1000 things wait for a person", "the first 1000 of each kind", "till-1000"]);
    assert!(!list.stdout.contains("till-1001"));
    let show = trouble.place.run(&["review", "show", "till-1001"]);
    told(
        &show,
        &["Object till-1001 took 1.00 RUB", "It can pay no order now: it names no order", "--not-charged"],
    );
    assert!(!show.stdout.contains("--charged"), "what would be refused is not offered:\n{}", show.stdout);
    let waits = trouble.place.run(&["review", "show", "till-1000"]);
    told(
        &waits,
        &[
            "Object till-1000 waits in account 100500 of merchant mer_1 (test) and may take 1.00 RUB",
            "nothing can be said of it before it does",
        ],
    );
    assert!(!waits.stdout.contains("review resolve"), "{}", waits.stdout);
    let resolve =
        |id| trouble.place.run(&["review", "resolve", id, "--not-charged", "--reason", "the till's"]);
    told(&resolve("till-1001"), &["till-1001 has nothing to do with"]);
    told(&trouble.place.run(&["review", "list"]), &["1000 things wait for a person.", "till-1000"]);
}

#[test]
fn nothing_waits_in_a_fresh_database() {
    let place = Place::new().set("PAYONCE_SECRET", SECRET);
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let list = place.run(&["review", "list"]);
    assert_eq!((list.code, list.stdout.as_str()), (Some(0), "Nothing waits for a person.\n"));
    place
        .run(&["review", "resolve", "x", "--not-charged", "--reason", "y"])
        .refused(&["does not wait for a person"]);
}

/// A folder misspelled would be an empty database in which nothing ever waits.
#[test]
fn a_database_that_is_not_there_is_said_and_not_made() {
    let place = Place::new().set("PAYONCE_SECRET", SECRET);
    place.run(&["review", "list"]).refused(&[
        "there is no database",
        "payonce-data/payonce.db",
        "PAYONCE_DATA",
    ]);
    assert!(!place.path("payonce-data").exists());
}

#[test]
fn without_the_right_secret_it_says_what_to_do() {
    let trouble = Trouble::calm();
    let secretless = Place::new();
    let data = trouble.place.path("payonce-data");
    let data = data.to_str().unwrap();
    secretless.run(&["review", "list", "--data", data]).refused(&["PAYONCE_SECRET is not set"]);
    let other = "b3RoZXIgb3RoZXIgb3RoZXIgb3RoZXIgb3RoZXIgb3Q=";
    let wrong = secretless.run(&["review", "list", "--data", data, "--secret", other]);
    wrong.refused(&["another PAYONCE_SECRET", "mer_1", "PAYONCE_SECRET_OLD"]);
    assert!(!wrong.all().contains(other));
    let both = ["review", "list", "--data", data, "--secret", other, "--secret-old", SECRET];
    assert_eq!(secretless.run(&both).code, Some(0));
}

#[test]
fn a_review_without_a_command_says_what_there_is() {
    let ended = Place::new().run(&["review"]);
    assert_eq!(ended.code, Some(2));
    for part in ["list", "show", "resolve"] {
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
}
