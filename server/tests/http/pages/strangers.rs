//! Money that no payment of ours asked for, and a copy that may have forgotten some: what pages say meanwhile.

use payment::ObjectId;
use payonce::config::MailTransport;
use store::{Resolution, Store, StrangerRecord};

use super::*;
use crate::support::ALPHA;

/// Money of somebody else that names this checkout's order.
pub async fn put_stranger(world: &World, checkout: &Value) -> StrangerRecord {
    let id = text(&checkout["id"]).parse().unwrap();
    for merchant in world.engine.directory.merchants().await.unwrap() {
        let Some((record, _)) = world.store.checkout(merchant.tenant.clone(), id).await.unwrap() else {
            continue;
        };
        let stranger = StrangerRecord {
            tenant: merchant.tenant,
            account: merchant.account,
            object: ObjectId::parse(format!("stranger-{}", record.order)).unwrap(),
            order: Some(record.order),
            amount: record.amount,
            took_money: true,
            untold: false,
            found_at: record.created_at,
            resolution: None,
        };
        assert!(world.store.put_stranger(stranger.clone()).await.unwrap());
        return stranger;
    }
    panic!("nobody's checkout");
}

/// It may be this shopper's own money: no form, no "not taken", no invitation to try again.
#[tokio::test]
async fn fault_23_while_a_strangers_money_for_the_order_waits_for_a_person_the_page_says_so() {
    let world = World::with(Setup { mails: Some(MailTransport::Folder), ..Setup::default() }).await;
    let open = async |order_id: &str| {
        let mut body = order(order_id);
        body["customer"] = json!({ "email": "anna@example.com" });
        world.open(order_id, &body).send().await.expect(201).json()
    };
    let (fresh, declined) = (open("1").await, open("2").await);
    world.pay(&declined, DECLINED).await.expect(200);
    let strangers = [put_stranger(&world, &fresh).await, put_stranger(&world, &declined).await];
    for (checkout, state) in [(&fresh, "created"), (&declined, "declined")] {
        let html = page(&world, &world.page(checkout)).await.expect(200).text();
        assert!(html.contains("data-state=\"needs_review\""), "{state}");
        let id = &checkout["payment_intent"]["id"];
        let seen =
            world.get(&format!("/v1/payment_intents/{}", text(id))).bearer(text(&checkout["client_token"]));
        let seen = seen.send().await.expect(200).json();
        assert_eq!(seen["state"], "needs_review", "what the page is told");
        assert_eq!(seen.get("decline"), None, "nor why it was not taken");
        assert_eq!(
            (&seen["in_question"], seen.get("told_to")),
            (&json!("review"), None),
            "no mail tells of what nobody began here"
        );
        assert_eq!(world.intent(id).await["state"], state, "the merchant sees what is");
    }
    for stranger in strangers {
        let released = Resolution { linked: false, reason: "another till's".to_owned() };
        assert!(world.store.resolve_stranger(stranger, released).await.unwrap());
    }
    let html = page(&world, &world.page(&fresh)).await.expect(200).text();
    assert!(html.contains("data-state=\"ready\""));
}

/// What was submitted is said to be looked at, and neither that it waits for the bank nor that no money was taken.
#[tokio::test]
async fn fault_23_what_a_strangers_money_holds_back_is_said_to_be_before_a_person_and_no_more() {
    let world = World::with(Setup { worker: false, ..Setup::default() }).await;
    let (fresh, tried) = (world.checkout("1").await, world.checkout("2").await);
    world.bank.fault(json!({ "kind": "unauthorized", "order_id": "2" })).await;
    world.pay(&tried, GOOD).await.expect(202);
    for checkout in [&fresh, &tried] {
        put_stranger(&world, checkout).await;
    }
    world.pay(&fresh, GOOD).await.expect(202);
    for checkout in [&fresh, &tried] {
        let id = &checkout["payment_intent"]["id"];
        let path = format!("/v1/payment_intents/{}", text(id));
        let seen = world.get(&path).bearer(text(&checkout["client_token"])).send().await.expect(200).json();
        let progress = &seen["progress"];
        assert_eq!(seen["state"], "needs_review");
        assert!(progress.is_object(), "{seen}");
        assert_eq!((progress.get("unreached_until"), progress.get("held")), (None, None), "{seen}");
        let merchants = world.intent(id).await;
        assert_eq!(
            (&merchants["state"], &merchants["progress"]["held"]),
            (&json!("processing"), &json!(true))
        );
    }
}

/// What is settled is not hidden by it; and whoever waits at the bank is not sent there while other money may be theirs.
#[tokio::test]
async fn fault_23_a_strangers_money_hides_no_payment_that_is_made_and_sends_nobody_to_the_bank() {
    let world = World::start().await;
    let (waiting, first) = (world.checkout("1").await, world.checkout("2").await);
    assert_eq!(world.pay(&waiting, THREE_DS).await.expect(200).json()["state"], "requires_action");
    world.pay(&first, DECLINED).await.expect(200);
    world.again(&first, "again").send().await.expect(201);
    let paid = world.shown(&first).await;
    world.pay(&paid, GOOD).await.expect(200);
    for checkout in [&waiting, &first] {
        put_stranger(&world, checkout).await;
    }
    for (checkout, state) in [(&waiting, "needs_review"), (&paid, "succeeded"), (&first, "declined")] {
        let path = format!("/v1/payment_intents/{}", text(&checkout["payment_intent"]["id"]));
        let seen = world.get(&path).bearer(text(&checkout["client_token"])).send().await.expect(200).json();
        assert_eq!(seen["state"], state);
        assert_eq!(seen.get("decline").is_some(), state == "declined", "{seen}");
        assert!(seen["next_action"].is_null(), "{seen}");
    }
    // To the merchant the state is what it is, and why nothing may be done by it stands beside it.
    let merchants = world.intent(&waiting["payment_intent"]["id"]).await;
    assert_eq!(
        (&merchants["state"], &merchants["in_question"]),
        (&json!("requires_action"), &json!("review"))
    );
    let asked = async |checkout: &Value| {
        let path = format!("/v1/checkouts/{}", text(&checkout["id"]));
        world.get(&path).bearer(ALPHA).send().await.expect(200).json()["in_question"].clone()
    };
    assert_eq!((asked(&waiting).await, asked(&first).await), (json!("review"), Value::Null));
}

/// A second charge that our key did not make is somebody's money all the same, perhaps this shopper's.
#[tokio::test]
async fn fault_49_a_strangers_money_for_a_paid_order_is_told_and_nobody_is_thanked_for_one_charge() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, GOOD).await.expect(200);
    let stranger = put_stranger(&world, &checkout).await;
    let path = format!("/v1/payment_intents/{}", text(&checkout["payment_intent"]["id"]));
    let seen = async || {
        let seen = world.get(&path).bearer(text(&checkout["client_token"])).send().await.expect(200).json();
        seen["extra_charge"].clone()
    };
    assert_eq!(seen().await, "in_review", "an open page is told");
    let html = status(&world, &checkout).await;
    assert!(
        html.contains("One more payment that names this order was seen") && !html.contains("Charged once")
    );
    let released = Resolution { linked: false, reason: "another till's".to_owned() };
    assert!(world.store.resolve_stranger(stranger, released).await.unwrap());
    assert_eq!(seen().await, Value::Null);
    assert!(status(&world, &checkout).await.contains("Charged once"));
}

/// After a restore the copy may call an order declined that was tried again and paid in the time it forgot.
#[tokio::test]
async fn fault_23_while_gated_no_page_says_of_an_order_that_no_money_was_taken() {
    let world = World::with(Setup { worker: false, ..Setup::default() }).await;
    let (fresh, declined) = (world.checkout("1").await, world.checkout("2").await);
    world.pay(&declined, DECLINED).await.expect(200);
    let address =
        |checkout: &Value, below: &str| world.page(checkout).replace("?token", &format!("{below}?token"));
    let shown = async |checkout: &Value, below: &str| {
        let html = page(&world, &address(checkout, below)).await.expect(200).text();
        html.split_once("data-state=\"").unwrap().1.split_once('"').unwrap().0.to_owned()
    };
    world.gate_down().await;
    let cases = [
        (&fresh, "", "ready"),
        (&fresh, "/status", "processing"),
        (&declined, "", "processing"),
        (&declined, "/status", "processing"),
    ];
    for (checkout, below, state) in cases {
        assert_eq!(shown(checkout, below).await, state, "{below}");
    }
    let html = page(&world, &(address(&fresh, "") + "&lang=en")).await.expect(200).text();
    assert!(html.contains(" data-away"), "the form says that it may have been paid");
    let html = page(&world, &(address(&fresh, "/status") + "&lang=en")).await.expect(200).text();
    assert!(
        html.contains("If you have not paid yet, you can pay now") && html.contains("Go to payment"),
        "{html}"
    );
    let path = format!("/v1/payment_intents/{}", text(&fresh["payment_intent"]["id"]));
    let seen = world.get(&path).bearer(text(&fresh["client_token"])).send().await.expect(200).json();
    assert_eq!((&seen["state"], &seen["progress"]["held"]), (&json!("created"), &json!(true)));
    let path = format!("/v1/payment_intents/{}", text(&declined["payment_intent"]["id"]));
    let seen = world.get(&path).bearer(text(&declined["client_token"])).send().await.expect(200).json();
    assert_eq!(
        (&seen["state"], &seen["progress"]["held"], seen.get("decline")),
        (&json!("processing"), &json!(true), None)
    );
    assert_eq!(
        world.intent(&declined["payment_intent"]["id"]).await["state"],
        "declined",
        "the merchant sees what is"
    );
    world.gate_up().await;
    assert!(!page(&world, &address(&fresh, "")).await.expect(200).text().contains(" data-away"));
    assert_eq!(
        (shown(&fresh, "/status").await, shown(&declined, "").await),
        ("created".to_owned(), "declined".to_owned())
    );
}

/// Its end is written only once it is known whether it was paid: its status says `open` until then.
#[tokio::test]
async fn fault_23_while_gated_an_order_whose_time_is_over_is_said_to_be_so_and_offers_nothing() {
    let world = World::with(Setup { worker: false, ..Setup::default() }).await;
    world.gate_down().await;
    let mut short = order("1");
    short["expires_in"] = json!(1);
    let checkout = world.open("1", &short).send().await.expect(201).json();
    let path = world.page(&checkout) + "&lang=en";
    let opened = async || page(&world, &path).await.expect(200).text();
    eventually("its time is over", || async {
        opened().await.contains("data-state=\"processing\"").then_some(())
    })
    .await;
    let read = page(&world, &path.replacen('?', "/status?", 1)).await.expect(200).text();
    for html in [opened().await, read] {
        assert!(html.contains("<span data-closed>The time to pay has run out"), "{html}");
        for offer in ["you can pay now: the payment waits until this is known", "Go to payment"] {
            assert!(!html.contains(offer), "{offer} in {html}");
        }
    }
    let intent = format!("/v1/payment_intents/{}", text(&checkout["payment_intent"]["id"]));
    let seen = world.get(&intent).bearer(text(&checkout["client_token"])).send().await.expect(200).json();
    assert_eq!(
        (&seen["state"], &seen["in_question"], &seen["closed"]),
        (&json!("processing"), &json!("restore"), &json!(true))
    );
}
