//! Each guard of the schema refuses what it is there to refuse, whoever writes it, and however the code above is broken.

use payment::{CheckoutStatus, JournalLine};
use store::{StoreError, Submitted};

use super::{File, Raw};
use crate::{
    commands::{submit, succeeded, tenant},
    world::{self, World},
};

/// A copy of a table's first row with some columns changed, and the index that must refuse it.
struct Copy {
    index: &'static str,
    table: &'static str,
    changed: &'static [(&'static str, &'static str)],
    refused: &'static str,
}

const NEW_ID: (&str, &str) = ("id", "randomblob(16)");
/// An intent that another row made free, so that it may have an operation.
const FREE_INTENT: (&str, &str) = ("intent_id", "(SELECT id FROM payment_intent WHERE number = 77)");

const UNIQUE: &[Copy] = &[
    Copy {
        index: "merchant",
        table: "merchant",
        changed: &[("name", "'again'")],
        refused: "merchant.merchant_id, merchant.mode",
    },
    Copy {
        index: "api_key",
        table: "api_key",
        changed: &[("kind", "'publishable'")],
        refused: "api_key.hash",
    },
    Copy {
        index: "idempotency_key",
        table: "idempotency_key",
        changed: &[("canonical", "'other'")],
        refused: "idempotency_key.merchant_id, idempotency_key.mode, idempotency_key.kind, idempotency_key.key",
    },
    Copy {
        index: "checkout",
        table: "checkout",
        changed: &[("order_id", "'other'")],
        refused: "checkout.merchant_id, checkout.id",
    },
    Copy {
        index: "checkout_one_per_order",
        table: "checkout",
        changed: &[NEW_ID],
        refused: "checkout.merchant_id, checkout.mode, checkout.order_id",
    },
    Copy {
        index: "payment_intent",
        table: "payment_intent",
        changed: &[("state", "'declined'"), ("number", "99")],
        refused: "payment_intent.merchant_id, payment_intent.id",
    },
    Copy {
        index: "payment_intent_occupying",
        table: "payment_intent",
        changed: &[NEW_ID, ("number", "99"), ("state", "'created'")],
        refused: "payment_intent.merchant_id, payment_intent.checkout_id",
    },
    Copy {
        index: "payment_intent_number",
        table: "payment_intent",
        changed: &[NEW_ID, ("state", "'declined'")],
        refused: "payment_intent.merchant_id, payment_intent.checkout_id, payment_intent.number",
    },
    Copy {
        index: "operation",
        table: "operation",
        changed: &[FREE_INTENT, ("provider_key", "randomblob(16)"), ("provider_object_id", "NULL")],
        refused: "operation.merchant_id, operation.id",
    },
    Copy {
        index: "operation_one_pay_per_intent",
        table: "operation",
        changed: &[NEW_ID, ("provider_key", "randomblob(16)"), ("provider_object_id", "NULL")],
        refused: "operation.merchant_id, operation.intent_id",
    },
    Copy {
        index: "operation_provider_key",
        table: "operation",
        changed: &[NEW_ID, FREE_INTENT, ("provider_object_id", "NULL")],
        refused: "operation.merchant_id, operation.provider_account, operation.provider_key",
    },
    Copy {
        index: "operation_provider_object",
        table: "operation",
        changed: &[NEW_ID, FREE_INTENT, ("provider_key", "randomblob(16)")],
        refused: "operation.merchant_id, operation.provider_account, operation.provider_object_id",
    },
    Copy {
        index: "attempt",
        table: "attempt",
        changed: &[("number", "99")],
        refused: "attempt.merchant_id, attempt.id",
    },
    Copy {
        index: "attempt_number",
        table: "attempt",
        changed: &[NEW_ID],
        refused: "attempt.merchant_id, attempt.operation_id, attempt.number",
    },
    Copy {
        index: "charge",
        table: "charge",
        changed: &[("extra", "1")],
        refused: "charge.merchant_id, charge.provider_account, charge.provider_object_id",
    },
    Copy {
        index: "charge_one_pays",
        table: "charge",
        changed: &[("provider_object_id", "'another'")],
        refused: "charge.merchant_id, charge.checkout_id",
    },
    Copy {
        index: "inbox",
        table: "inbox",
        changed: &[("event", "'payment.canceled'")],
        refused: "inbox.merchant_id, inbox.provider_account, inbox.identity",
    },
    Copy {
        index: "journal",
        table: "journal",
        changed: &[("evidence", "'another'")],
        refused: "journal.merchant_id, journal.intent_id, journal.seq",
    },
    Copy {
        index: "outbox",
        table: "outbox",
        changed: &[("subject_id", "randomblob(16)")],
        refused: "outbox.merchant_id, outbox.id",
    },
    Copy {
        index: "outbox_once",
        table: "outbox",
        changed: &[NEW_ID],
        refused: "outbox.merchant_id, outbox.kind, outbox.subject_kind, outbox.subject_id",
    },
];

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
    "UPDATE operation SET kind = 'gift'",
    "UPDATE operation SET stage = 'lost'",
    "UPDATE operation SET holder = randomblob(16), lease_until_ms = NULL",
    "UPDATE operation SET stage = 'open', wake_at_ms = NULL",
    "UPDATE operation SET stage = 'done', wake_at_ms = 1",
    "UPDATE operation SET stage = 'review', request_body = NULL",
    "UPDATE charge SET amount_minor = 0",
    "UPDATE charge SET extra = 2",
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

/// A paid order, and a row in every table.
async fn filled(file: &File) -> (World, Raw) {
    let world = file.world().await;
    world.settled("order-1", succeeded("object-1")).await;
    let mut raw = file.raw().await;
    let merchant = "INSERT INTO merchant (merchant_id, mode, name, provider_kind, provider_account, provider_url, \
                    provider_secret, return_origins, frame_origins) \
                    VALUES ('mer_1', 'test', 'n', 'yookassa', '100500', 'u', x'00', '[]', '[]'); \
                    INSERT INTO api_key VALUES (x'01', 'mer_1', 'test', 'secret')";
    raw.run(merchant).await.unwrap();
    raw.run(
        "INSERT INTO inbox (merchant_id, provider_account, identity, mode, event, object_id, about, announced, received_at_ms, \
         state, wake_at_ms, tries, looks, fence) VALUES ('mer_1', '100500', 'i', 'test', 'payment.succeeded', 'object-1', \
         'payment', 'succeeded', 1, 'waiting', 1, 0, 0, 0)",
    )
    .await
    .unwrap();
    let free = [NEW_ID, ("number", "77"), ("state", "'declined'")];
    copy(&mut raw, "payment_intent", &free).await.unwrap();
    (world, raw)
}

async fn copy(raw: &mut Raw, table: &str, changed: &[(&str, &str)]) -> Result<(), String> {
    let columns = raw.texts(&format!("SELECT name FROM pragma_table_info('{table}')")).await;
    let value = |column: &String| {
        let found = changed.iter().find(|(name, _)| name == column);
        found.map_or(column.clone(), |(_, value)| (*value).to_owned())
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    raw.run(&format!("INSERT INTO {table} SELECT {} FROM {table} ORDER BY rowid LIMIT 1", values.join(", ")))
        .await
}

#[tokio::test]
async fn r6_each_unique_index_refuses_a_second_row() {
    let file = File::new();
    let (_world, mut raw) = filled(&file).await;
    for Copy { index, table, changed, refused } in UNIQUE {
        let error = copy(&mut raw, table, changed).await.expect_err(index);
        assert!(error.ends_with(&format!("UNIQUE constraint failed: {refused}")), "{index}: {error}");
    }
    // None is forgotten above.
    let named = "SELECT CASE origin WHEN 'pk' THEN t.name ELSE i.name END FROM sqlite_master t \
                 JOIN pragma_index_list(t.name) i ON i.\"unique\" = 1 \
                 WHERE t.type = 'table' AND t.name NOT LIKE '\\_sqlx%' ESCAPE '\\' ORDER BY 1";
    let mut tested: Vec<_> = UNIQUE.iter().map(|case| case.index.to_owned()).collect();
    tested.sort();
    assert_eq!(raw.texts(named).await, tested);
}

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

#[tokio::test]
async fn fault_33_a_row_that_cannot_be_read_does_not_hold_up_the_others() {
    let file = File::new();
    let world = file.world().await;
    let unreadable = world.sent("order-1").await;
    let other = world.sent("order-2").await;
    let id = unreadable.intent.id.0.simple();
    let sql = format!(
        "UPDATE payment_intent SET state_data = '{{\"state\":\"newer\"}}' WHERE hex(id) = upper('{id}')"
    );
    file.raw().await.run(&sql).await.unwrap();
    world.clock.advance(world::HOUR);
    let read = world.store.intent(tenant(), unreadable.intent.id).await;
    assert!(matches!(read, Err(StoreError::Unreadable(_))), "{read:?}");
    let due = world.due(1).await;
    assert_eq!(due.iter().map(|claim| claim.operation.id).collect::<Vec<_>>(), [other.operation.id]);
}
