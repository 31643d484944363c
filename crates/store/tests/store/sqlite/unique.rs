//! Each unique index of the schema refuses a second row, whoever writes it.

use store::Start;

use super::{File, Raw};
use crate::{
    commands::{frozen, refund, stranger, succeeded, tenant},
    world::World,
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
        index: "operation_one_unfinished",
        table: "operation",
        changed: &[
            NEW_ID,
            ("kind", "'capture'"),
            ("stage", "'review'"),
            ("provider_key", "randomblob(16)"),
            ("state_data", "'{}'"),
            ("target_object_id", "'object-1'"),
            ("amount_minor", "1"),
        ],
        refused: "operation.merchant_id, operation.intent_id",
    },
    Copy {
        index: "operation_one_refund",
        table: "operation",
        changed: &[
            NEW_ID,
            FREE_INTENT,
            ("kind", "'refund'"),
            ("stage", "'review'"),
            ("provider_key", "randomblob(16)"),
            ("provider_object_id", "'another'"),
            ("state_data", "'{}'"),
            ("target_object_id", "'object-1'"),
            ("amount_minor", "1"),
        ],
        refused: "operation.merchant_id, operation.target_object_id",
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
        index: "charge_one_kept",
        table: "charge",
        changed: &[("provider_object_id", "'other'"), ("extra", "1"), ("fate", "'kept'")],
        refused: "charge.merchant_id, charge.checkout_id",
    },
    Copy { index: "heartbeat", table: "heartbeat", changed: &[("at_ms", "2")], refused: "heartbeat.id" },
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
    Copy {
        index: "stranger",
        table: "stranger",
        changed: &[("order_id", "'another'")],
        refused: "stranger.merchant_id, stranger.provider_account, stranger.provider_object_id",
    },
    Copy {
        index: "sweep",
        table: "sweep",
        changed: &[("swept_until_ms", "2")],
        refused: "sweep.merchant_id, sweep.mode, sweep.provider_account",
    },
];

/// A paid order, and a row in every table.
pub(super) async fn filled(file: &File) -> (World, Raw) {
    let world = file.world().await;
    let paid = world.settled("order-1", succeeded("object-1")).await;
    world.followed(refund(&paid.intent, "object-1", "100.00")).await;
    let accounts = vec![(tenant(), frozen("").account)];
    world.store.start(Start { own: accounts, left: Vec::new(), gap_ms: 1 }).await.unwrap();
    world.store.put_stranger(stranger("stranger-1", None)).await.unwrap();
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
    let kept = [("provider_object_id", "'kept'"), ("extra", "1"), ("fate", "'kept'")];
    copy(&mut raw, "charge", &kept).await.unwrap();
    // A cancel of the paid intent, as if its money were only held.
    let cancel = [
        NEW_ID,
        ("kind", "'cancel'"),
        ("stage", "'open'"),
        ("wake_at_ms", "1"),
        ("provider_key", "randomblob(16)"),
        ("provider_object_id", "NULL"),
        ("state_data", "'{}'"),
        ("target_object_id", "'object-1'"),
    ];
    copy(&mut raw, "operation", &cancel).await.unwrap();
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
