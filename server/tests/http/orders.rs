//! A known order under a new key: what is adopted, reopened, refused (semantics, "Keys of the API").

use serde_json::{Value, json};

use crate::support::{BETA, DECLINED, GOOD, Setup, THREE_DS, World, at_once, eventually, order, text};

fn costing(order_id: &str, value: &str) -> Value {
    json!({ "order_id": order_id, "amount": { "value": value, "currency": "RUB" } })
}

#[tokio::test]
async fn r5_two_orders_are_two_purchases() {
    let world = World::start().await;
    for order_id in ["1", "2"] {
        let checkout = world.checkout(order_id).await;
        world.pay(&checkout, GOOD).await.expect(200);
    }
    assert_eq!((world.bank.charges("1").await, world.bank.charges("2").await), (1, 1));
}

/// The database may be an old copy, which does not know that the order's payment was sent.
#[tokio::test]
async fn fault_23_while_gated_other_terms_wait_under_the_same_key() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.gate_down().await;
    let reopened = || world.open("edit", &costing("1", "2000.00")).send();
    let refused = reopened().await.expect(503);
    let problem = refused.json();
    assert_eq!((text(&problem["code"]), refused.header("Retry-After")), ("unavailable", Some("10")));
    assert!(text(&problem["detail"]).contains("charged nothing"), "{problem}");
    world.open("same", &order("1")).send().await.expect(200);
    world.checkout("2").await;
    world.gate_up().await;
    let reopened = reopened().await.expect(200).json();
    assert_eq!(reopened["id"], checkout["id"]);
    assert_ne!(reopened["payment_intent"]["id"], checkout["payment_intent"]["id"]);
}

#[tokio::test]
async fn an_open_checkout_with_the_same_terms_is_adopted() {
    let world = World::start().await;
    let first = world.checkout("1").await;
    let reply = world.open("other", &order("1")).send().await.expect(200);
    assert!(!reply.is_replay());
    assert_eq!(reply.json(), first);
    let replay = world.open("other", &order("1")).send().await.expect(200);
    assert!(replay.is_replay());
    assert_eq!(replay.bytes, reply.bytes);
    // The same terms while the payment is under way: the occupying intent.
    world.pay(&first, THREE_DS).await.expect(200);
    let adopted = world.open("third", &order("1")).send().await.expect(200).json();
    assert_eq!(adopted["payment_intent"]["id"], first["payment_intent"]["id"]);
    assert_eq!(adopted["payment_intent"]["state"], "requires_action");
    // An order id is one merchant's.
    let theirs = world.post("/v1/checkouts").bearer(BETA).key("k").json(&order("1")).send().await.expect(201);
    assert_ne!(theirs.json()["id"], first["id"]);
}

#[tokio::test]
async fn other_terms_reopen_it_and_replace_the_intent() {
    let world = World::start().await;
    let first = world.checkout("1").await;
    let reopened = world.open("other", &costing("1", "900")).send().await.expect(200).json();
    assert_eq!((&reopened["id"], &reopened["version"]), (&first["id"], &json!(2)));
    assert_eq!(reopened["amount"]["value"], "900.00");
    assert_ne!(reopened["payment_intent"]["id"], first["payment_intent"]["id"]);
    let old = world.intent(&first["payment_intent"]["id"]).await;
    assert_eq!(old["state"], "canceled");
    let new = world.intent(&reopened["payment_intent"]["id"]).await;
    assert_eq!(new["previous_intent_id"], first["payment_intent"]["id"]);
    // The first key's receipt is what it was.
    assert_eq!(world.open("open-1", &order("1")).send().await.expect(201).json(), first);
    assert_eq!(world.pay(&reopened, GOOD).await.expect(200).json()["amount"]["value"], "900.00");
    assert_eq!(world.bank.payments("1").await[0]["amount"]["value"], "900.00");
}

#[tokio::test]
async fn fault_65_attack_9_a_tab_with_the_old_terms_is_shown_the_new_ones() {
    let world = World::start().await;
    let shown = world.checkout("1").await;
    world.open("other", &costing("1", "900")).send().await.expect(200);
    let problem = world.pay(&shown, GOOD).await.problem(409, "checkout_changed");
    let now = &problem["checkout"];
    assert_eq!((&now["version"], &now["amount"]["value"]), (&json!(2), &json!("900.00")));
    assert_eq!(*now, world.shown(&shown).await);
    assert_eq!(world.bank.payments("1").await.len(), 0);
    // What it was shown can be paid.
    world.pay(now, GOOD).await.expect(200);
    assert_eq!(world.bank.charges("1").await, 1);
    // From then on the old tab hears that it is paid.
    world.pay(&shown, GOOD).await.problem(409, "order_paid");
    assert_eq!(world.bank.payments("1").await.len(), 1);
}

#[tokio::test]
async fn after_a_decline_the_terms_are_free_again() {
    let world = World::start().await;
    let first = world.checkout("1").await;
    world.pay(&first, DECLINED).await.expect(200);
    let reopened = world.open("other", &costing("1", "900")).send().await.expect(200).json();
    assert_eq!(reopened["id"], first["id"]);
    assert_eq!(reopened["payment_intent"]["state"], "created");
    world.pay(&reopened, GOOD).await.expect(200);
    let amounts: Vec<_> =
        world.bank.payments("1").await.iter().map(|p| text(&p["amount"]["value"]).to_owned()).collect();
    assert_eq!(amounts, ["1500.00", "900.00"]);
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn an_expired_checkout_is_reopened() {
    let world = World::start().await;
    let mut short = order("1");
    short["expires_in"] = json!(1);
    let first = world.open("short", &short).send().await.expect(201).json();
    eventually("it expires", || async { (world.shown(&first).await["status"] == "expired").then_some(()) })
        .await;
    assert_eq!(world.intent(&first["payment_intent"]["id"]).await["state"], "expired");
    // Other money may have come for the order.
    let refused = world.again(&first, "again").send().await.problem(409, "checkout_not_open");
    assert!(text(&refused["detail"]).contains("nothing was sent for this request"), "{refused}");
    assert_eq!(world.pay(&first, GOOD).await.expect(200).json()["state"], "expired");
    let reopened = world.open("other", &order("1")).send().await.expect(200).json();
    assert_eq!((&reopened["id"], &reopened["status"]), (&first["id"], &json!("open")));
    // A tab from before sees that it is offered anew.
    world.pay(&first, GOOD).await.problem(409, "checkout_changed");
    assert!(world.bank.creates().await.is_empty());
    world.pay(&reopened, GOOD).await.expect(200);
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn an_expired_checkout_takes_no_submission_even_before_it_is_swept() {
    let world = World::with(Setup { worker: false, ..Setup::default() }).await;
    let mut short = order("1");
    short["expires_in"] = json!(1);
    let checkout = world.open("short", &short).send().await.expect(201).json();
    let expires: jiff::Timestamp = text(&checkout["expires_at"]).parse().unwrap();
    eventually("its time runs out", || async { (jiff::Timestamp::now() > expires).then_some(()) }).await;
    world.pay(&checkout, GOOD).await.problem(409, "checkout_not_open");
    assert_eq!(world.bank.payments("1").await.len(), 0);
}

#[tokio::test]
async fn a_payment_under_way_keeps_its_terms() {
    let world = World::start().await;
    let first = world.checkout("1").await;
    world.pay(&first, THREE_DS).await.expect(200);
    let refused = world.open("other", &costing("1", "900")).send().await;
    refused.problem(409, "intent_in_progress");
    let intent = text(&first["payment_intent"]["id"]);
    assert_eq!(refused.header("Location"), Some(format!("/v1/payment_intents/{intent}").as_str()));
    assert_eq!(world.shown(&first).await["version"], 1);
}

#[tokio::test]
async fn a_paid_order_is_paid_whatever_the_terms() {
    let world = World::start().await;
    let first = world.checkout("1").await;
    world.pay(&first, GOOD).await.expect(200);
    for (key, body) in [("same", order("1")), ("other", costing("1", "900"))] {
        let refused = world.open(key, &body).send().await;
        refused.problem(409, "order_paid");
        assert_eq!(
            refused.header("Location"),
            Some(format!("/v1/checkouts/{}", text(&first["id"])).as_str())
        );
    }
    let again = world.again(&first, "again").send().await;
    again.problem(409, "order_paid");
    let intent = text(&first["payment_intent"]["id"]);
    assert_eq!(again.header("Location"), Some(format!("/v1/payment_intents/{intent}").as_str()));
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn attack_23_the_eleventh_intent_is_too_many() {
    let world = World::start().await;
    let mut checkout = world.checkout("1").await;
    for number in 2..=10 {
        world.pay(&checkout, DECLINED).await.expect(200);
        world.again(&checkout, &format!("again-{number}")).send().await.expect(201);
        checkout = world.shown(&checkout).await;
    }
    world.pay(&checkout, DECLINED).await.expect(200);
    world.again(&checkout, "again-11").send().await.problem(429, "too_many_intents");
    assert_eq!(world.bank.payments("1").await.len(), 10);
}

#[tokio::test]
async fn two_tabs_trying_again_make_one_intent() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, DECLINED).await.expect(200);
    let tries = (0..8).map(|tab| world.again(&checkout, &format!("tab-{tab}")).send());
    let replies = at_once(tries).await;
    let mut statuses: Vec<_> = replies.iter().map(|reply| reply.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 201]);
    assert!(replies.iter().all(|reply| reply.json()["id"] == replies[0].json()["id"]));
}
