//! Each guard of the schema refuses what it is there to refuse, whoever writes it, and however the code above is broken.

use std::{fs, path::PathBuf};

use payment::{CheckoutStatus, IntentId, JournalLine, StateName};
use store::{OpenedCheckout, ReviewItem, StoreError, Submitted};

use super::{File, unique::filled};
use crate::{
    commands::{open, submit, succeeded, tenant},
    world,
};

/// Each violates one CHECK.
const CHECKS: &[&str] = &[
    "UPDATE merchant SET mode = 'play'",
    "UPDATE api_key SET kind = 'master'",
    "UPDATE idempotency_key SET answer_body = NULL WHERE answer_status IS NOT NULL",
    "UPDATE checkout SET status = 'lost'",
    "UPDATE checkout SET amount_minor = 0",
    "UPDATE checkout SET capture = 'never'",
    "UPDATE payment_intent SET amount_minor = -1",
    "UPDATE payment_intent SET state = 'failed'",
    "UPDATE operation SET kind = 'gift' WHERE kind = 'cancel'",
    "UPDATE operation SET stage = 'lost'",
    "UPDATE operation SET holder = randomblob(16), lease_until_ms = NULL",
    "UPDATE operation SET stage = 'open', wake_at_ms = NULL",
    "UPDATE operation SET stage = 'done', wake_at_ms = 1",
    "UPDATE operation SET stage = 'review', request_body = NULL",
    "UPDATE operation SET state_data = '{}' WHERE kind = 'pay'",
    "UPDATE operation SET target_object_id = NULL WHERE kind = 'refund'",
    "UPDATE operation SET amount_minor = 1 WHERE kind = 'cancel'",
    "UPDATE operation SET amount_minor = 0 WHERE kind = 'refund'",
    "UPDATE charge SET amount_minor = 0",
    "UPDATE charge SET extra = 2",
    "UPDATE charge SET extra = 0, fate = 'kept'",
    "UPDATE charge SET reserved_minor = -1",
    "UPDATE charge SET refunded_minor = amount_minor",
    "UPDATE merchant SET refund_extras = 2",
    "UPDATE heartbeat SET id = 2",
    "UPDATE sweep SET tenure = 'lost'",
    "UPDATE stranger SET amount_minor = 0",
    "UPDATE stranger SET took_money = 2",
    "UPDATE stranger SET took_money = 0, untold = 1",
    "UPDATE stranger SET resolution = 'lost', reason = 'r'",
    "UPDATE stranger SET reason = 'r'",
    "UPDATE merchant SET webhook_url = 'u'",
    "UPDATE outbox SET kind = 'gift'",
    "UPDATE outbox SET subject_kind = 'order'",
    "UPDATE outbox SET state = 'lost', wake_at_ms = NULL",
    "UPDATE outbox SET holder = randomblob(16)",
    "UPDATE outbox SET tries = 1",
    "UPDATE outbox SET wake_at_ms = NULL",
    "UPDATE outbox SET state = 'delivered', wake_at_ms = NULL, holder = randomblob(16), lease_until_ms = 1",
    "UPDATE inbox SET identity = printf('%.*c', 301, 'x')",
    "UPDATE inbox SET about = 'gift'",
    "UPDATE inbox SET about = 'refund'",
    "UPDATE inbox SET state = 'lost'",
    "UPDATE inbox SET holder = randomblob(16)",
    "UPDATE inbox SET wake_at_ms = NULL",
    "UPDATE inbox SET state = 'done', wake_at_ms = NULL, holder = randomblob(16), lease_until_ms = 1",
];

/// Each leaves a row without the one it belongs to.
const ORPHANS: &[(&str, &str)] = &[
    ("api_key", "merchant_id = 'nobody'"),
    ("payment_intent", "checkout_id = randomblob(16)"),
    ("operation", "intent_id = randomblob(16)"),
    ("attempt", "operation_id = randomblob(16)"),
    ("charge", "checkout_id = randomblob(16)"),
    ("journal", "intent_id = randomblob(16)"),
    ("outbox", "intent_id = randomblob(16)"),
];

#[tokio::test]
async fn each_check_refuses_a_wrong_row() {
    let file = File::new();
    let (_world, mut raw) = filled(&file).await;
    for wrong in CHECKS {
        let error = raw.run(wrong).await.expect_err(wrong);
        assert!(error.contains("CHECK constraint failed"), "{wrong}: {error}");
    }
    let schema = raw.texts("SELECT sql FROM sqlite_master WHERE type = 'table'").await.concat();
    assert_eq!(schema.matches("CHECK (").count(), CHECKS.len(), "a CHECK without a test");
}

#[tokio::test]
async fn no_row_is_left_without_the_one_it_belongs_to() {
    let file = File::new();
    let (_world, mut raw) = filled(&file).await;
    for (table, change) in ORPHANS {
        let error = raw.run(&format!("UPDATE {table} SET {change}")).await.expect_err(table);
        assert!(error.contains("FOREIGN KEY constraint failed"), "{table}: {error}");
    }
    let keys = "SELECT count(*) FROM sqlite_master t JOIN pragma_foreign_key_list(t.name) f ON f.seq = 0 WHERE t.type = 'table'";
    assert_eq!(raw.int(keys).await, ORPHANS.len() as i64);
}

/// Whoever tidies up with a shell: what an unfinished payment needs is held by what belongs to it.
#[tokio::test]
async fn fault_24_unfinished_rows_are_not_cleaned_up() {
    let file = File::new();
    let world = file.world().await;
    let claim = world.sent("order-1").await;
    let mut raw = file.raw().await;
    for cleaning in [
        "DELETE FROM operation WHERE stage <> 'done'",
        "DELETE FROM payment_intent WHERE state = 'processing'",
        "DELETE FROM checkout WHERE status = 'open'",
    ] {
        let error = raw.run(cleaning).await.expect_err(cleaning);
        assert!(error.contains("FOREIGN KEY constraint failed"), "{cleaning}: {error}");
    }
    // The keys' rows nothing holds; but they are not what makes a second payment impossible.
    raw.run("DELETE FROM idempotency_key").await.unwrap();
    let again = world.store.submit(submit(&claim.checkout, &claim.intent)).await.unwrap();
    assert!(
        matches!(&again, Submitted::Over(_, intent) if intent.state.name() == StateName::Processing),
        "{again:?}"
    );
    let opened = world.store.open_checkout(open("another-key", "order-1")).await.unwrap();
    assert!(
        matches!(&opened, OpenedCheckout::Fresh(found, _) if found.id == claim.checkout.id),
        "{opened:?}"
    );
    assert_eq!(raw.count("payment_intent").await, 1);
}

/// Nothing of ours ends a payment by its age: what we delete is replaced API keys, notifications about nobody, and how far an
/// account was read that a merchant left.
#[test]
fn fault_24_no_statement_of_ours_deletes_a_payments_rows() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let mut deletions = Vec::new();
    let mut folders = vec![PathBuf::from(source)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(path).unwrap();
                deletions.extend(text.match_indices("DELETE FROM ").map(|(at, _)| line_at(&text, at)));
            }
        }
    }
    deletions.sort_unstable();
    let [keys, parked, left] = &deletions[..] else { panic!("{deletions:#?}") };
    assert!(keys.contains("DELETE FROM api_key"), "{keys}");
    assert!(parked.contains("DELETE FROM inbox") && parked.contains("state = 'parked'"), "{parked}");
    assert!(left.contains("DELETE FROM sweep "), "{left}");
}

fn line_at(text: &str, at: usize) -> String {
    text[at..].lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn attack_55_an_edited_journal_shows_where() {
    let file = File::new();
    let world = file.world().await;
    let id = world.settled("order-1", succeeded("object-1")).await.intent.id;
    world.story(id).await;
    // From the end, since a break hides the ones behind it.
    for (edit, seq) in
        [("to_state = 'declined'", 3), ("evidence = 'another story'", 2), ("at_ms = at_ms + 1", 1)]
    {
        file.raw().await.run(&format!("UPDATE journal SET {edit} WHERE seq = {seq}")).await.unwrap();
        let story = world.store.story(tenant(), id).await.unwrap().unwrap();
        let found = JournalLine::first_break(story.journal.iter().map(|row| (&row.line, row.hash)));
        assert_eq!(found, Some(seq), "{edit}");
    }
}

#[tokio::test]
async fn fault_62_a_checkout_paid_meanwhile_takes_no_submit() {
    let file = File::new();
    let world = file.world().await;
    let (checkout, intent) = world.offer("order-1").await;
    // As if an earlier intent's object had turned out to have taken money.
    file.raw().await.run("UPDATE checkout SET status = 'paid'").await.unwrap();
    let refused = world.store.submit(submit(&checkout, &intent)).await.unwrap();
    assert!(matches!(refused, Submitted::Paid(id) if id == checkout.id), "{refused:?}");
    for status in ["canceled", "expired"] {
        file.raw().await.run(&format!("UPDATE checkout SET status = '{status}'")).await.unwrap();
        let refused = world.store.submit(submit(&checkout, &intent)).await.unwrap();
        assert!(
            matches!(&refused, Submitted::NotOpen(now) if now.status != CheckoutStatus::Open),
            "{refused:?}"
        );
    }
    assert!(world.story(intent.id).await.attempts.is_empty());
}

async fn written_by_a_newer_version(file: &File, intent: IntentId) {
    let id = intent.0.simple();
    let sql = format!(
        "UPDATE payment_intent SET state_data = '{{\"state\":\"newer\"}}' WHERE hex(id) = upper('{id}')"
    );
    file.raw().await.run(&sql).await.unwrap();
}

#[tokio::test]
async fn fault_33_a_row_that_cannot_be_read_hides_no_other_from_a_person() {
    let file = File::new();
    let world = file.world().await;
    let unreadable = world.overdue("order-1").await;
    let other = world.overdue("order-2").await;
    written_by_a_newer_version(&file, unreadable.intent.id).await;
    let items = world.store.review(10).await.unwrap().items;
    let [ReviewItem::Operation { operation, .. }] = &items[..] else { panic!("{items:?}") };
    assert_eq!(operation.id, other.operation.id);
}

#[tokio::test]
async fn fault_33_a_row_that_cannot_be_read_does_not_hold_up_the_others() {
    let file = File::new();
    let world = file.world().await;
    let unreadable = world.sent("order-1").await;
    let other = world.sent("order-2").await;
    written_by_a_newer_version(&file, unreadable.intent.id).await;
    world.clock.advance(world::HOUR);
    let read = world.store.intent(tenant(), unreadable.intent.id).await;
    assert!(matches!(read, Err(StoreError::Unreadable(_))), "{read:?}");
    let due = world.due(1).await;
    assert_eq!(due.iter().map(|claim| claim.operation.id).collect::<Vec<_>>(), [other.operation.id]);
}
