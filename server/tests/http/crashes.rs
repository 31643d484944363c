//! `kill -9` of a real `payonce serve` (faults 13, 14, 25–27): whatever was answered is answered again, byte for byte, and the
//! money is there once.

use serde_json::{Value, json};

use crate::support::{
    ALPHA, Call, Child, DECLINED, GOOD, Raw, Reply, Sandbox, client, eventually, order, text,
};

/// Quiet enough to be read when a test fails.
const LOG: &str = "warn";

fn open(child: &Child, order_id: &str) -> Call {
    child.call("POST", "/v1/checkouts").bearer(ALPHA).key(&format!("open-{order_id}")).json(&order(order_id))
}

fn submission(checkout: &Value, token: &str) -> Value {
    json!({
        "payment_method": { "type": "card_token", "token": token },
        "checkout_version": checkout["version"], "amount": checkout["amount"],
    })
}

fn submit(child: &Child, checkout: &Value, token: &str) -> Call {
    let intent = &checkout["payment_intent"];
    child
        .call("POST", &format!("/v1/payment_intents/{}/submit", text(&intent["id"])))
        .bearer(text(&checkout["client_token"]))
        .key(text(&intent["submit_key"]))
        .json(&submission(checkout, token))
}

/// Repeats a submission until its result is known.
async fn settled(child: &Child, checkout: &Value) -> Reply {
    eventually("the result is known", || async {
        let reply = submit(child, checkout, "another").send().await;
        (reply.status == 200 && ["succeeded", "declined"].contains(&text(&reply.json()["state"])))
            .then_some(reply)
    })
    .await
}

#[tokio::test]
async fn fault_14_what_was_answered_before_a_crash_is_answered_after_it() {
    let client = client();
    let bank = Sandbox::start(&client).await;
    let folder = tempfile::tempdir().unwrap();
    let child = Child::start(&client, &bank, folder.path(), LOG).await;
    let opened = open(&child, "1").send().await.expect(201);
    child.kill();

    let child = Child::start(&client, &bank, folder.path(), LOG).await;
    let replay = open(&child, "1").send().await.expect(201);
    assert!(replay.is_replay());
    assert_eq!((&replay.bytes, replay.header("Location")), (&opened.bytes, opened.header("Location")));
    let checkout = opened.json();
    let declined = submit(&child, &checkout, &bank.token(DECLINED).await).send().await.expect(200);
    child.kill();

    let child = Child::start(&client, &bank, folder.path(), LOG).await;
    let replay = submit(&child, &checkout, "another").send().await.expect(200);
    assert!(replay.is_replay());
    assert_eq!((&replay.bytes, replay.header("Location")), (&declined.bytes, declined.header("Location")));
    let again = format!("/v1/checkouts/{}/payment_intents", text(&checkout["id"]));
    let again = |child: &Child| child.call("POST", &again).bearer(ALPHA).key("again");
    let next = again(&child).send().await.expect(201);
    child.kill();

    let child = Child::start(&client, &bank, folder.path(), LOG).await;
    let replay = again(&child).send().await.expect(201);
    assert_eq!((replay.is_replay(), &replay.bytes), (true, &next.bytes));
    let mut checkout = checkout;
    checkout["payment_intent"] = next.json();
    let paid = submit(&child, &checkout, &bank.token(GOOD).await).send().await.expect(200);
    child.kill();

    let child = Child::start(&client, &bank, folder.path(), LOG).await;
    let replay = submit(&child, &checkout, "another").send().await.expect(200);
    assert_eq!((replay.is_replay(), &replay.bytes), (true, &paid.bytes));
    assert_eq!((bank.charges("1").await, bank.payments("1").await.len()), (1, 2));
}

#[tokio::test]
async fn fault_13_a_crash_before_the_answer_leaves_one_checkout_or_none() {
    let client = client();
    let bank = Sandbox::start(&client).await;
    let folder = tempfile::tempdir().unwrap();
    for round in 0..4 {
        let child = Child::start(&client, &bank, folder.path(), LOG).await;
        let order_id = round.to_string();
        let body = order(&order_id).to_string();
        let head = format!(
            "POST /v1/checkouts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ALPHA}\r\nIdempotency-Key: open-{order_id}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut raw = Raw::connect(&child.url).await;
        raw.write(head).await;
        // Each round a little later: before the commit, at it, after it.
        for _ in 0..round {
            child.call("GET", "/healthz").send().await;
        }
        child.kill();
        let child = Child::start(&client, &bank, folder.path(), LOG).await;
        let opened = open(&child, &order_id).send().await.expect(201);
        let paid = submit(&child, &opened.json(), &bank.token(GOOD).await).send().await.expect(200);
        assert_eq!(paid.json()["state"], "succeeded");
        let replay = open(&child, &order_id).send().await.expect(201);
        assert_eq!((replay.is_replay(), &replay.bytes), (true, &opened.bytes));
        assert_eq!(bank.charges(&order_id).await, 1);
    }
}

#[tokio::test]
async fn faults_25_to_27_a_crash_around_the_call_ends_in_one_charge() {
    let client = client();
    let bank = Sandbox::start(&client).await;
    let folder = tempfile::tempdir().unwrap();
    for fault in ["delay", "lose_request", "lose_answer", "error_500_after"] {
        let child = Child::start(&client, &bank, folder.path(), LOG).await;
        let checkout = open(&child, fault).send().await.expect(201).json();
        let token = bank.token(GOOD).await;
        // Without an answer for longer than this server lives.
        bank.fault(json!({ "kind": fault, "delay_ms": 4000, "order_id": fault })).await;
        let sent = bank.creates().await.len();
        let call = tokio::spawn(submit(&child, &checkout, &token).try_send());
        eventually("the bank has the request", || async {
            (bank.creates().await.len() > sent).then_some(())
        })
        .await;
        child.kill();
        assert!(call.await.unwrap().is_err(), "nobody was told anything");

        let child = Child::start(&client, &bank, folder.path(), LOG).await;
        let paid = settled(&child, &checkout).await;
        assert_eq!(paid.json()["state"], "succeeded", "{fault}");
        child.kill();
        let child = Child::start(&client, &bank, folder.path(), LOG).await;
        let replay = submit(&child, &checkout, "another").send().await.expect(200);
        assert_eq!((replay.is_replay(), &replay.bytes), (true, &paid.bytes), "{fault}");
        assert_eq!((bank.charges(fault).await, bank.payments(fault).await.len()), (1, 1), "{fault}");
        let creates = bank.creates().await.split_off(sent);
        assert!(creates.iter().all(|create| *create == creates[0]), "{fault}: {creates:?}");
    }
}
