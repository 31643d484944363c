//! An order that is paid twice at the provider, or with another sum: what its page and its merchant are told of it.

use engine::{Grounds, Resolved, Verdict};
use payment::ObjectId;
use serde_json::{Value, json};

use crate::{
    pages::strangers::put_stranger,
    support::{ACCOUNT_SECRET, ALPHA, DECLINED, GOOD, Setup, THREE_DS, World, eventually, order, text},
};

/// Takes money for an order whose try has ended, as a key that the provider forgot would; the bank tells us of it.
async fn charge_again(world: &World, checkout: &Value) -> String {
    let body = json!({
        "amount": checkout["amount"], "capture": true, "payment_token": world.bank.token(GOOD).await,
        "metadata": {
            "checkout_id": checkout["id"], "order_id": checkout["order_id"],
            "payment_intent_id": checkout["payment_intent"]["id"],
        },
    });
    let made = world.client.post(format!("{}/v3/payments", world.bank.url));
    let made = made.basic_auth("100500", Some(ACCOUNT_SECRET)).header("Idempotence-Key", "forgotten");
    let made: Value = made.json(&body).send().await.unwrap().json().await.unwrap();
    text(&made["id"]).to_owned()
}

/// In the dashboard, of the whole sum.
async fn give_back(world: &World, object: &Value, amount: &Value) {
    let refund = json!({ "payment_id": object, "amount": amount });
    let made = world.client.post(format!("{}/v3/refunds", world.bank.url));
    let key = format!("by-hand-{}", text(object));
    let made = made.basic_auth("100500", Some(ACCOUNT_SECRET)).header("Idempotence-Key", key);
    assert_eq!(made.json(&refund).send().await.unwrap().status(), 200);
}

/// What a receipt says of the payment.
struct Receipt<'a> {
    reference: &'a str,
    card: &'a str,
    /// RFC 3339, UTC.
    paid_at: &'a str,
}

impl<'a> Receipt<'a> {
    fn read(html: &'a str) -> Self {
        let facts = html.split_once("data-screen=\"succeeded\"").unwrap().1.split_once("</dl>").unwrap().0;
        let slot = |name: &str| {
            let after = facts.split_once(&format!("data-slot=\"{name}\"")).unwrap().1;
            after.split_once('>').unwrap().1.split_once('<').unwrap().0
        };
        let paid_at = facts.split_once("datetime=\"").map_or("", |(_, at)| at.split_once('"').unwrap().0);
        Self { reference: slot("intent"), card: slot("card"), paid_at }
    }
}

/// Payment page and status page, in English.
async fn pages(world: &World, checkout: &Value) -> [String; 2] {
    let page = world.page(checkout) + "&lang=en";
    let status = page.replacen('?', "/status?", 1);
    [world.get(&page).send().await.expect(200).text(), world.get(&status).send().await.expect(200).text()]
}

#[tokio::test]
async fn n5_of_an_order_that_is_paid_nobody_is_sent_to_the_bank() {
    let world = World::with(Setup { notified: true, ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    let first = world.pay(&checkout, THREE_DS).await.expect(200).json();
    assert!(first["next_action"].is_object(), "{first}");
    charge_again(&world, &checkout).await;
    let path = format!("/v1/checkouts/{}", text(&checkout["id"]));
    eventually("the order is paid", || async {
        let now = world.get(&path).bearer(ALPHA).send().await.expect(200).json();
        (now["status"] == "paid").then_some(())
    })
    .await;
    let again = world.pay(&checkout, THREE_DS).await.expect(200).json();
    assert_eq!((&again["next_action"], &again["behind"]), (&Value::Null, &json!(true)), "{again}");
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn fault_49_a_decline_that_took_money_after_all_says_so() {
    let world = World::with(Setup { notified: true, ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, DECLINED).await.expect(200);
    let id = &checkout["payment_intent"]["id"];
    assert!(text(&world.intent(id).await["decline"]["message"]).contains("No money was taken"));
    charge_again(&world, &checkout).await;
    eventually("its money is known", || async {
        world.intent(id).await["charged"].is_object().then_some(())
    })
    .await;
    let message = world.intent(id).await["decline"]["message"].clone();
    assert!(text(&message).contains("taken after all"), "{message}");
}

#[tokio::test]
async fn fault_49_a_second_charge_is_told_and_nobody_is_thanked_for_one() {
    let world = World::with(Setup { notified: true, ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, GOOD).await.expect(200);
    let id = &checkout["payment_intent"]["id"];
    assert_eq!(world.intent(id).await["extra_charge"], Value::Null);
    for html in pages(&world, &checkout).await {
        assert!(html.contains("Charged once"));
    }

    let extra = charge_again(&world, &checkout).await;
    assert_eq!(world.bank.charges("1").await, 2);
    eventually("the second charge is known", || async {
        (world.intent(id).await["extra_charge"] == "to_be_returned").then_some(())
    })
    .await;
    let path = format!("/v1/payment_intents/{}", text(id));
    let seen = world.get(&path).bearer(text(&checkout["client_token"])).send().await.expect(200).json();
    assert_eq!(seen["extra_charge"], "to_be_returned");
    for html in pages(&world, &checkout).await {
        assert!(html.contains("One more charge was seen for it, and it is to be given back."));
        assert!(html.contains("data-state=\"succeeded\"") && !html.contains("Charged once"));
    }

    let grounds = Grounds { reason: "charged twice".to_owned(), evidence: None, amount: None };
    let resolved = world.engine.resolve(&extra, Verdict::RefundExtra, &grounds).await.unwrap();
    assert!(matches!(resolved, Resolved::Done(_)), "{resolved:?}");
    eventually("the extra is given back", || async {
        (world.intent(id).await["extra_charge"] == "returned").then_some(())
    })
    .await;
    for html in pages(&world, &checkout).await {
        assert!(html.contains("it was given back") && !html.contains("Charged once"));
    }
}

/// The bank takes back what had paid; a person lets the extra pay.
#[tokio::test]
async fn n5_of_an_extra_that_may_be_all_that_pays_nobody_is_promised_a_return_and_once_it_pays_it_is_none() {
    let world = World::with(Setup { notified: true, ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    let paid = world.pay(&checkout, GOOD).await.expect(200).json();
    let id = &checkout["payment_intent"]["id"];
    let extra = charge_again(&world, &checkout).await;
    eventually("the second charge is known", || async {
        (world.intent(id).await["extra_charge"] == "to_be_returned").then_some(())
    })
    .await;
    let first = world.intent(id).await["provider"]["object_id"].clone();
    give_back(&world, &first, &checkout["amount"]).await;
    let grounds = Grounds { reason: "seen in the dashboard".to_owned(), evidence: None, amount: None };
    let resolve = async |verdict| world.engine.resolve(&extra, verdict, &grounds).await.unwrap();
    assert!(matches!(resolve(Verdict::RefundExtra).await, Resolved::Refused(_)));
    assert_eq!(world.intent(id).await["extra_charge"], "in_review");
    for html in pages(&world, &checkout).await {
        assert!(html.contains("someone at the shop is looking into it") && !html.contains("Charged once"));
    }
    let object = ObjectId::parse(&extra).unwrap();
    let resolved = resolve(Verdict::Charged(object)).await;
    assert!(matches!(resolved, Resolved::Done(_)), "{resolved:?}");
    let kept = world.intent(id).await;
    assert_eq!((&kept["extra_charge"], &kept["charged"]), (&Value::Null, &paid["amount"]), "{kept}");
    for html in pages(&world, &checkout).await {
        assert!(html.contains("data-state=\"succeeded\"") && html.contains("Charged once"));
        assert_eq!(Receipt::read(&html).card, "", "the card that the extra took it from is not known");
    }
}

/// The money that paid, and the extra.
#[tokio::test]
async fn n5_of_money_that_all_went_back_nobody_is_told_that_it_was_charged_once() {
    let world = World::with(Setup { notified: true, ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    let id = &checkout["payment_intent"]["id"];
    assert_eq!(world.intent(id).await.get("returned"), None, "nothing was charged");
    world.pay(&checkout, GOOD).await.expect(200);
    assert_eq!(world.intent(id).await.get("returned"), None, "it was, and did not");
    let extra = charge_again(&world, &checkout).await;
    eventually("the second charge is known", || async {
        (world.intent(id).await["extra_charge"] == "to_be_returned").then_some(())
    })
    .await;
    let grounds = Grounds { reason: "seen in the dashboard".to_owned(), evidence: None, amount: None };
    let resolve = async |verdict| world.engine.resolve(&extra, verdict, &grounds).await.unwrap();
    give_back(&world, &world.intent(id).await["provider"]["object_id"], &checkout["amount"]).await;
    assert!(matches!(resolve(Verdict::RefundExtra).await, Resolved::Refused(_)), "what paid is gone");
    give_back(&world, &json!(extra), &checkout["amount"]).await;
    let resolved = resolve(Verdict::NotCharged).await;
    assert!(matches!(resolved, Resolved::Done(_)), "{resolved:?}");

    let seen = world.intent(id).await;
    assert_eq!((&seen["extra_charge"], &seen["returned"]), (&json!("returned"), &json!(true)), "{seen}");
    let path = format!("/v1/checkouts/{}", text(&checkout["id"]));
    for bearer in [ALPHA, text(&checkout["client_token"])] {
        assert_eq!(world.get(&path).bearer(bearer).send().await.expect(200).json()["returned"], true);
    }
    for html in pages(&world, &checkout).await {
        assert!(html.contains("All that was charged for this order went back to you."), "{html}");
        assert!(!html.contains("Charged once") && !html.contains("The order is paid."), "{html}");
    }
    put_stranger(&world, &checkout).await;
    let path = format!("/v1/payment_intents/{}", text(id));
    let seen = world.get(&path).bearer(text(&checkout["client_token"])).send().await.expect(200).json();
    assert_eq!(
        (&seen["extra_charge"], seen.get("returned")),
        (&json!("in_review"), None),
        "other money may be theirs"
    );
}

/// Its first try's money comes after it was opened again for less.
#[tokio::test]
async fn r25_the_sum_that_was_charged_is_told_where_it_is_not_the_orders() {
    let world = World::with(Setup { notified: true, ..Setup::default() }).await;
    let first = world.checkout("1").await;
    world.pay(&first, DECLINED).await.expect(200);
    let mut less = order("1");
    less["amount"]["value"] = json!("1200.00");
    let reopened = world.open("again", &less).send().await.expect(200);
    let checkout = reopened.json();
    let path = format!("/v1/checkouts/{}", text(&checkout["id"]));
    let now = async |bearer| world.get(&path).bearer(bearer).send().await.expect(200).json();
    assert_eq!(now(ALPHA).await, checkout, "nothing was charged");

    charge_again(&world, &first).await;
    eventually("it is paid", || async { (now(ALPHA).await["status"] == "paid").then_some(()) }).await;
    for bearer in [ALPHA, text(&checkout["client_token"])] {
        let seen = now(bearer).await;
        assert_eq!((text(&seen["amount"]["value"]), &seen["charged"]), ("1200.00", &first["amount"]));
    }
    for intent in [&first["payment_intent"]["id"], &checkout["payment_intent"]["id"]] {
        assert_eq!(world.intent(intent).await["charged"], first["amount"]);
    }
    let newest = text(&checkout["payment_intent"]["id"]);
    for html in pages(&world, &checkout).await {
        assert!(html.contains("data-state=\"succeeded\""));
        assert!(html.contains("₽1,500.00 was charged") && html.contains("comes to ₽1,200.00"), "{html}");
        let receipt = Receipt::read(&html);
        assert_eq!(receipt.reference, text(&first["payment_intent"]["id"]), "of what took the money");
        assert!(!html.contains(newest), "which took nothing");
        assert!(!receipt.paid_at.is_empty(), "{html}");
        assert_eq!(receipt.card, "", "another object's: nobody told its card");
    }
    let replay = world.open("again", &less).send().await.expect(200);
    assert!(replay.is_replay());
    assert_eq!(replay.text(), reopened.text(), "an answer is repeated as it was given");
}

/// The bank calls its decline back after the order was tried again: it is the first try's payment that took the money.
#[tokio::test]
async fn r25_a_receipt_shows_the_payment_that_took_the_money_with_its_card_and_time() {
    let world = World::with(Setup { notified: true, ..Setup::default() }).await;
    let first = world.checkout("1").await;
    world.pay(&first, DECLINED).await.expect(200);
    world.again(&first, "again").send().await.expect(201);
    let paid = text(&first["payment_intent"]["id"]);
    let newest = world.shown(&first).await;
    let newest = text(&newest["payment_intent"]["id"]);
    assert_ne!(paid, newest);
    world.bank.fault(json!({ "kind": "reverse", "order_id": "1", "on": "get" })).await;
    let object = text(&world.bank.payments("1").await[0]["id"]).to_owned();
    let look = world.client.get(format!("{}/v3/payments/{object}", world.bank.url));
    look.basic_auth("100500", Some(ACCOUNT_SECRET)).send().await.unwrap();
    eventually("it is paid", || async { (world.shown(&first).await["status"] == "paid").then_some(()) })
        .await;
    for html in pages(&world, &first).await {
        let receipt = Receipt::read(&html);
        assert_eq!((receipt.reference, receipt.card), (paid, "•••• 4600"), "{html}");
        assert!(!receipt.paid_at.is_empty() && !html.contains(newest), "{html}");
    }
}
