//! What can be told afterwards: who is who (R8), what happened and why (R24), and that nobody changed it (attack 55).

use std::collections::BTreeSet;

use payment::{JournalHash, JournalLine, Timestamp};
use serde_json::{Value, json};

use crate::support::{DECLINED, GOOD, THREE_DS, World, order, text};

fn line(entry: &Value) -> (JournalLine, JournalHash) {
    let at: jiff::Timestamp = text(&entry["at"]).parse().unwrap();
    let word = |name: &str| text(&entry[name]).to_owned();
    let line = JournalLine {
        seq: entry["seq"].as_i64().unwrap(),
        at: Timestamp(at.as_millisecond()),
        from: word("from"),
        event: word("event"),
        to: word("to"),
        evidence: word("evidence"),
    };
    let hex = text(&entry["hash"]);
    let bytes: Vec<u8> =
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    (line, JournalHash::from_bytes(&bytes).unwrap())
}

fn first_break(journal: &Value) -> Option<i64> {
    let chain: Vec<_> = journal.as_array().unwrap().iter().map(line).collect();
    JournalLine::first_break(chain.iter().map(|(line, hash)| (line, *hash)))
}

#[tokio::test]
async fn r8_order_checkout_intent_operation_attempt_request_and_object_have_ids_of_their_own() {
    let world = World::start().await;
    world.bank.fault(json!({ "kind": "lose_answer" })).await;
    let opened = world.open("merchants-key", &order("123")).send().await.expect(201);
    let checkout = opened.json();
    let submitted = world.pay(&checkout, GOOD).await;
    let intent = world.reaches(&checkout, "succeeded").await;
    let payment = world.bank.payments("123").await.remove(0);
    let creates = world.bank.creates().await;
    let provider_key = creates[0].0.clone();
    let mut ids = vec![
        "123".to_owned(),
        "merchants-key".to_owned(),
        text(&checkout["id"]).to_owned(),
        text(&intent["id"]).to_owned(),
        text(&intent["submit_key"]).to_owned(),
        provider_key.clone(),
        text(&payment["id"]).to_owned(),
        opened.header("Request-Id").unwrap().to_owned(),
        submitted.header("Request-Id").unwrap().to_owned(),
    ];
    let attempts = intent["attempts"].as_array().unwrap();
    assert!(attempts.len() >= 2 && attempts.len() == creates.len(), "{attempts:?}");
    ids.extend(attempts.iter().map(|attempt| text(&attempt["id"]).to_owned()));
    ids.push(text(&attempts[0]["operation_id"]).to_owned());
    assert!(attempts.iter().all(|attempt| attempt["operation_id"] == attempts[0]["operation_id"]));
    let digits = |id: &String| id.rsplit('_').next().unwrap().replace('-', "");
    assert_eq!(ids.iter().map(digits).collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    for (prefix, id) in [("att_", &attempts[0]["id"]), ("op_", &attempts[0]["operation_id"])] {
        assert!(text(id).starts_with(prefix), "{id}");
    }
    // The provider's key is a UUID v4 of ours, whatever the callers sent.
    let uuid: uuid::Uuid = provider_key.parse().unwrap();
    assert_eq!((provider_key.len(), uuid.get_version_num()), (36, 4));
    assert_eq!(intent["provider"]["object_id"], payment["id"]);
    let metadata =
        json!({ "checkout_id": checkout["id"], "order_id": "123", "payment_intent_id": intent["id"] });
    assert_eq!(payment["metadata"], metadata);
}

#[tokio::test]
async fn r24_the_journal_tells_each_step_with_its_evidence_and_is_chained() {
    let world = World::start().await;
    for (order_id, card, steps) in [
        ("paid", GOOD, ["none>created", "created>processing", "processing>succeeded"]),
        ("declined", DECLINED, ["none>created", "created>processing", "processing>declined"]),
        ("challenged", THREE_DS, ["none>created", "created>processing", "processing>requires_action"]),
    ] {
        let checkout = world.checkout(order_id).await;
        world.pay(&checkout, card).await.expect(200);
        let intent = world.intent(&checkout["payment_intent"]["id"]).await;
        let journal = &intent["journal"];
        let lines = journal.as_array().unwrap();
        let told: Vec<_> =
            lines.iter().map(|line| format!("{}>{}", text(&line["from"]), text(&line["to"]))).collect();
        assert_eq!(told, steps);
        assert!(lines.iter().all(|line| !text(&line["evidence"]).is_empty()), "{journal}");
        let (attempt, object) = (&intent["attempts"][0]["id"], &intent["provider"]["object_id"]);
        assert!(text(&lines[1]["evidence"]).contains(text(attempt)), "{journal}");
        assert!(text(&lines[2]["evidence"]).contains(text(object)), "{journal}");
        assert_eq!(first_break(journal), None);
        for (at, field) in [(0, "evidence"), (1, "to"), (2, "event")] {
            let mut edited = journal.clone();
            edited[at][field] = json!("edited");
            assert_eq!(first_break(&edited), Some(at as i64 + 1));
        }
    }
}

#[tokio::test]
async fn r24_an_unknown_result_and_how_it_was_resolved_are_in_the_journal() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "lose_answer" })).await;
    world.pay(&checkout, GOOD).await.expect(202);
    let intent = world.reaches(&checkout, "succeeded").await;
    let journal = intent["journal"].as_array().unwrap();
    let states: Vec<_> = journal.iter().map(|line| text(&line["to"])).collect();
    assert!(states.contains(&"confirming") && states.last() == Some(&"succeeded"), "{states:?}");
    assert_eq!(first_break(&intent["journal"]), None);
    let outcomes: Vec<_> =
        intent["attempts"].as_array().unwrap().iter().map(|a| text(&a["outcome"])).collect();
    assert!(outcomes[0].starts_with("unknown"), "{outcomes:?}");
}

#[tokio::test]
async fn r24_the_shopper_sees_nothing_of_the_inside() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let submitted = world.pay(&checkout, GOOD).await.expect(200);
    let path = format!("/v1/payment_intents/{}", text(&checkout["payment_intent"]["id"]));
    let shown = world.get(&path).bearer(text(&checkout["client_token"])).send().await.expect(200);
    let html = world.get(&world.page(&checkout)).send().await.expect(200);
    let intent = world.intent(&checkout["payment_intent"]["id"]).await;
    for inside in [
        &intent["attempts"][0]["id"],
        &intent["attempts"][0]["operation_id"],
        &intent["journal"][0]["hash"],
        &intent["provider"]["object_id"],
    ] {
        for reply in [&submitted, &shown, &html] {
            assert!(!reply.text().contains(text(inside)), "{inside}: {reply:?}");
        }
    }
}
