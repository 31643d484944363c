//! The shopper's pages: languages, what the browser may do with them, and that looking changes nothing.

use std::time::Duration;

use payment::ObjectId;
use payonce::config::MailTransport;
use serde_json::{Value, json};
use store::{Resolution, Store, StrangerRecord};

use crate::support::{
    ALPHA, DECLINED, FRAME_ORIGIN, GOOD, RETURN_ORIGIN, Reply, Setup, THREE_DS, World, eventually, order,
    text,
};

async fn page(world: &World, path: &str) -> Reply {
    world.get(path).send().await
}

/// A directive of the page's policy.
fn directive<'a>(policy: &'a str, name: &str) -> &'a str {
    let found = policy.split(';').map(str::trim).find(|directive| directive.split(' ').next() == Some(name));
    found.unwrap_or_else(|| panic!("{name} in {policy}"))
}

#[tokio::test]
async fn a_page_speaks_the_shoppers_language() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let path = world.page(&checkout);
    let status = path.replacen('?', "/status?", 1);
    for path in [&path, &status] {
        for (lang, header, tag) in [
            ("&lang=ru", "en", "ru"),
            ("&lang=en", "ru", "en"),
            ("", "ru,en;q=0.5", "ru"),
            ("", "en-GB", "en"),
            ("&lang=en&lang=ru", "en", "ru"),
        ] {
            let call = world.get(&format!("{path}{lang}")).header("Accept-Language", header);
            let reply = call.send().await.expect(200);
            assert!(reply.header("Content-Type").unwrap().starts_with("text/html"));
            let html = reply.text();
            assert!(html.contains(&format!("<html lang=\"{tag}\"")), "{lang} {header}: {html:.300}");
            assert!(html.contains("₽"), "{html:.2000}");
        }
    }
}

/// The shopper's browser may prefer another one than the shopper chose.
#[tokio::test]
async fn who_comes_back_from_the_banks_page_is_spoken_to_in_the_language_of_the_page_that_was_left() {
    let world = World::start().await;
    for (order, lang) in [("1", Some("ru")), ("2", Some("en")), ("3", Some("de")), ("4", None)] {
        let checkout = world.checkout(order).await;
        let submit = world.submit(&checkout, &world.bank.token(THREE_DS).await);
        let submit = match lang {
            Some(lang) => submit.header("Accept-Language", lang),
            None => submit,
        };
        submit.send().await.expect(200);
        let path = world.page(&checkout).replacen('?', "/status?", 1);
        let known = lang.filter(|lang| *lang != "de").map(|lang| format!("&lang={lang}"));
        let back = &world.bank.payments(order).await[0]["confirmation"]["return_url"];
        assert!(text(back).ends_with(&(path + &known.unwrap_or_default())), "{lang:?}: {back}");
    }
}

#[tokio::test]
async fn a_page_has_what_the_contract_names() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let html = page(&world, &world.page(&checkout)).await.expect(200).text();
    for part in [
        "data-payonce",
        "data-state=\"ready\"",
        "data-wasm=\"loading\"",
        "autocomplete=\"cc-number\"",
        "autocomplete=\"cc-exp\"",
        "autocomplete=\"cc-csc\"",
        "autocomplete=\"email\"",
        "role=\"status\"",
        "type=\"submit\"",
        "name=\"pay\"",
        text(&checkout["payment_intent"]["id"]),
        text(&checkout["payment_intent"]["submit_key"]),
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[tokio::test]
async fn each_state_has_its_page() {
    let world = World::start().await;
    for (card, state) in [(GOOD, "succeeded"), (DECLINED, "declined"), (THREE_DS, "requires_action")] {
        let checkout = world.checkout(state).await;
        world.pay(&checkout, card).await.expect(200);
        let path = world.page(&checkout);
        for path in [path.clone(), path.replacen('?', "/status?", 1)] {
            let reply = page(&world, &path).await.expect(200);
            assert!(reply.text().contains(&format!("data-state=\"{state}\"")), "{path}: {reply:?}");
        }
    }
}

#[tokio::test]
async fn who_has_no_right_gets_a_page_that_says_so() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let id = text(&checkout["id"]);
    let token = text(&checkout["client_token"]);
    for lang in ["ru", "en"] {
        for (path, status) in [
            (format!("/pay/{id}?lang={lang}"), 401),
            (format!("/pay/{id}?token=&lang={lang}"), 401),
            (format!("/pay/{id}?token=ct_forged.x&lang={lang}"), 401),
            (format!("/pay/{id}/status?token=x&lang={lang}"), 401),
            (format!("/pay/co_00000000000000000000000000000000?token={token}&lang={lang}"), 404),
            (format!("/pay/nothing?token={token}&lang={lang}"), 404),
            (format!("/pay/nothing/status?token={token}&lang={lang}"), 404),
        ] {
            let reply = page(&world, &path).await.expect(status);
            assert!(reply.header("Content-Type").unwrap().starts_with("text/html"), "{reply:?}");
            let html = reply.text();
            assert!(html.contains(&format!("<html lang=\"{lang}\"")), "{path}: {html:.300}");
            assert!(!html.contains("<form") && !html.contains("<script"), "{html}");
            assert!(reply.header("Content-Security-Policy").unwrap().contains("default-src 'none'"));
            assert_eq!(reply.header("Cache-Control"), Some("no-store"));
        }
    }
}

#[tokio::test]
async fn a_path_below_a_payment_that_nobody_has_is_told_in_words_to_people_and_as_a_problem_to_others() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let path = world.page(&checkout).replacen('?', "/anything-else?", 1) + "&lang=ru";
    let reply = world.get(&path).header("Accept", "text/html").send().await.expect(404);
    assert!(reply.header("Content-Type").unwrap().starts_with("text/html"));
    assert!(reply.text().contains("<html lang=\"ru\""), "{reply:?}");
    world.get(&path).header("Accept", "application/json").send().await.problem(404, "not_found");
    world.get("/v1/nothing").header("Accept", "text/html").send().await.problem(404, "not_found");
}

#[tokio::test]
async fn attacks_27_32_36_the_browser_is_told_what_a_page_may_do() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let path = world.page(&checkout);
    let mut nonces = std::collections::BTreeSet::new();
    for path in [path.clone(), path.clone(), path.replacen('?', "/status?", 1)] {
        let reply = page(&world, &path).await.expect(200);
        let policy = reply.header("Content-Security-Policy").unwrap();
        assert_eq!(directive(policy, "default-src"), "default-src 'none'");
        assert_eq!(directive(policy, "frame-ancestors"), format!("frame-ancestors {FRAME_ORIGIN}"));
        assert_eq!(directive(policy, "base-uri"), "base-uri 'none'");
        assert_eq!(directive(policy, "form-action"), "form-action 'self'");
        assert_eq!(directive(policy, "connect-src"), format!("connect-src 'self' {}", world.bank.url));
        assert!(
            !policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'") && !policy.contains('*'),
            "{policy}"
        );
        let script = directive(policy, "script-src");
        let nonce = script.split('\'').find_map(|word| word.strip_prefix("nonce-")).unwrap();
        assert!(nonce.len() >= 22 && nonces.insert(nonce.to_owned()), "{nonce}");
        let html = reply.text();
        for (at, _) in html.match_indices("<script") {
            let tag = &html[at..at + html[at..].find('>').unwrap()];
            assert!(tag.contains(&format!("nonce=\"{nonce}\"")), "{tag}");
        }
        assert!(
            !html.contains(" style=") && !html.contains("<style"),
            "styles come from the sheet only: {html}"
        );
        assert!(!html.contains(" onclick=") && !html.contains("javascript:"), "{html}");
        for (name, value) in [
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "same-origin"),
            ("X-Content-Type-Options", "nosniff"),
        ] {
            assert_eq!(reply.header(name), Some(value));
        }
        // Nothing comes from elsewhere.
        for outside in ["src=\"http", "src=\"//", "href=\"//"] {
            assert!(!html.contains(outside), "{outside}: {html}");
        }
    }
}

#[tokio::test]
async fn attack_31_markup_is_shown_as_text() {
    let world = World::start().await;
    let markup = "<img src=x onerror=alert(1)>\"'</script><script>alert(2)</script>&amp;";
    let mut body = order("<b>order</b>");
    body["description"] = json!(markup);
    body["customer"] = json!({ "email": "\"><svg/onload=alert(3)>@example.com" });
    body["return_url"] = json!(format!("{RETURN_ORIGIN}/?a=\"><script>alert(4)</script>"));
    // Whether such an address is taken or not, it never becomes markup.
    let checkout = match world.open("markup", &body).send().await {
        reply if reply.status == 201 => reply.json(),
        _ => {
            body["return_url"] = json!(format!("{RETURN_ORIGIN}/?a='&b=%22"));
            match world.open("markup", &body).send().await {
                reply if reply.status == 201 => reply.json(),
                _ => {
                    body["customer"] = json!({ "email": "a'b&c@example.com" });
                    world.open("markup", &body).send().await.expect(201).json()
                }
            }
        }
    };
    world.pay(&checkout, DECLINED).await.expect(200);
    let path = world.page(&checkout);
    for path in [path.clone(), path.replacen('?', "/status?", 1)] {
        let html = page(&world, &path).await.expect(200).text();
        for raw in ["<img", "alert(2)</script>", "<svg", "<script>alert", "<b>Co</b>", "<b>order</b>", "\"><"]
        {
            let allowed = raw == "\"><" && !html.contains("\"><svg") && !html.contains("\"><script>alert");
            assert!(allowed || !html.contains(raw), "{raw}: {html}");
        }
    }
}

/// Also OwnPay#183.
#[tokio::test]
async fn opening_a_page_changes_nothing() {
    let world = World::with(unasked()).await;
    for (card, state) in [
        (None, "created"),
        (Some(DECLINED), "declined"),
        (Some(THREE_DS), "requires_action"),
        (Some(GOOD), "succeeded"),
        (Some(GOOD), "confirming"),
    ] {
        let checkout = world.checkout(state).await;
        if state == "confirming" {
            world.bank.fault(json!({ "kind": "lose_answer" })).await;
        }
        if let Some(card) = card {
            world.pay(&checkout, card).await;
        }
        let id = &checkout["payment_intent"]["id"];
        let (before, payments) = (world.intent(id).await, world.bank.payments(state).await.len());
        let path = world.page(&checkout);
        for _ in 0..3 {
            for path in [path.clone(), path.replacen('?', "/status?", 1)] {
                for method in ["GET", "HEAD"] {
                    world.call(method, &path).send().await.expect(200);
                }
            }
        }
        let after = world.intent(id).await;
        assert_eq!(after["state"], state);
        assert_eq!(
            (&after["state"], &after["attempts"], &after["journal"]),
            (&before["state"], &before["attempts"], &before["journal"])
        );
        assert_eq!(world.shown(&checkout).await["payment_intent"]["id"], *id);
        assert_eq!(world.bank.payments(state).await.len(), payments);
    }
}

/// Its next look is hours away; the shopper is back now.
#[tokio::test]
async fn n2_whoever_comes_back_from_the_banks_page_has_the_bank_asked_at_once() {
    let world = World::with(unasked()).await;
    let seldom = world.seldom();
    let checkout = world.checkout("1").await;
    world.pay(&checkout, THREE_DS).await.expect(200);
    eventually("the look that is soon", || async { seldom.run_once().await.unwrap().then_some(()) }).await;
    let payment = world.bank.payments("1").await.remove(0);
    world.bank.decide(text(&payment["id"]), "confirm").await;
    let html = status(&world, &checkout).await;
    assert!(html.contains("data-state=\"requires_action\""), "nobody waits for ever");
    eventually("succeeded", || async {
        seldom.run_once().await.unwrap();
        (world.intent(&checkout["payment_intent"]["id"]).await["state"] == "succeeded").then_some(())
    })
    .await;
}

#[tokio::test]
async fn n2_the_page_after_the_banks_page_says_what_was_done_there() {
    let world = World::with(patient()).await;
    for (decision, state) in [("confirm", "succeeded"), ("refuse", "declined")] {
        let checkout = world.checkout(decision).await;
        world.pay(&checkout, THREE_DS).await.expect(200);
        let payment = world.bank.payments(decision).await.remove(0);
        world.bank.decide(text(&payment["id"]), decision).await;
        let html = status(&world, &checkout).await;
        assert!(html.contains(&format!("data-state=\"{state}\"")), "{decision}");
    }
}

/// The test ends only if the look does: the page would wait much longer.
#[tokio::test]
async fn fault_64_whoever_comes_back_undecided_waits_for_one_look_and_no_longer() {
    let world = World::with(patient()).await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, THREE_DS).await.expect(200);
    let html = status(&world, &checkout).await;
    assert!(html.contains("data-state=\"requires_action\""));
}

/// Nobody asks the bank: pages do not wait for that.
fn unasked() -> Setup {
    let mut setup = Setup { worker: false, ..Setup::default() };
    setup.patience.look = Duration::from_millis(50);
    setup
}

/// Pages wait for the bank's word, however slow the machine is.
fn patient() -> Setup {
    let mut setup = Setup::default();
    setup.patience.look = Duration::from_secs(600);
    setup
}

async fn status(world: &World, checkout: &Value) -> String {
    page(world, &world.page(checkout).replacen('?', "/status?", 1)).await.expect(200).text()
}

#[tokio::test]
async fn a_page_and_its_style_are_small() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let html = page(&world, &world.page(&checkout)).await.expect(200).text();
    assert!(html.len() < 40 << 10, "{} bytes", html.len());
}

/// Streams and the API are left alone: a stream would be held back.
#[tokio::test]
async fn a_page_is_sent_in_brotli_to_whoever_takes_it_and_nothing_else_is() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let path = world.page(&checkout) + "&lang=en";
    let get = async |path: &str, takes: &str| world.get(path).header("Accept-Encoding", takes).send().await;
    for page in [path.clone(), path.replacen('?', "/status?", 1), path.replace("ct_", "ct_x")] {
        let short = get(&page, "gzip, deflate, br").await;
        assert_eq!(short.header("Content-Encoding"), Some("br"));
        assert_eq!(short.header("Vary"), Some("accept-encoding"));
        assert!(short.bytes.len() < 10 << 10, "{} bytes", short.bytes.len());
        let mut html = Vec::new();
        brotli::BrotliDecompress(&mut short.bytes.as_slice(), &mut html).unwrap();
        let html = String::from_utf8(html).unwrap();
        assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>"), "{html}");
        assert!(short.bytes.len() < html.len(), "{} of {} bytes", short.bytes.len(), html.len());
        for takes in ["gzip", "br;q=0", "identity"] {
            let plain = get(&page, takes).await;
            assert_eq!(plain.header("Content-Encoding"), None, "{takes}");
            assert!(plain.text().starts_with("<!doctype html>"));
        }
    }
    world.call("HEAD", &path).header("Accept-Encoding", "br").send().await.expect(200);
    let intent = format!("/v1/payment_intents/{}", text(&checkout["payment_intent"]["id"]));
    let intent = world.get(&intent).header("Accept-Encoding", "br").bearer(text(&checkout["client_token"]));
    assert_eq!(intent.send().await.expect(200).header("Content-Encoding"), None);
}

#[tokio::test]
async fn a_plain_form_cannot_bring_a_card_and_leads_back_to_the_page() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let path = world.page(&checkout);
    for body in [String::new(), format!("number={GOOD}&pay=card"), "x".repeat(100 << 10)] {
        let reply =
            world.post(&path).text("application/x-www-form-urlencoded", body).send().await.expect(303);
        assert_eq!(reply.header("Location"), Some(path.as_str()));
    }
    assert_eq!(world.intent(&checkout["payment_intent"]["id"]).await["state"], "created");
    assert!(world.bank.creates().await.is_empty());
    assert_eq!(world.post(&path.replace("token=ct_", "token=")).send().await.status, 401);
}

#[tokio::test]
async fn the_form_to_try_again_makes_one_intent_however_often_it_is_sent() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, DECLINED).await.expect(200);
    let path = world.page(&checkout);
    let again = format!("{}&lang=en", path.replacen('?', "/again?", 1));
    let previous = text(&checkout["payment_intent"]["id"]);
    let form =
        || world.post(&again).text("application/x-www-form-urlencoded", format!("previous={previous}"));
    for _ in 0..3 {
        let reply = form().send().await.expect(303);
        assert_eq!(reply.header("Location"), Some(format!("{path}&lang=en").as_str()));
    }
    let now = world.shown(&checkout).await;
    let intent = world.intent(&now["payment_intent"]["id"]).await;
    assert_eq!((&intent["previous_intent_id"], &intent["state"]), (&json!(previous), &json!("created")));
    // Paid meanwhile: the page tells.
    world.pay(&now, GOOD).await.expect(200);
    form().send().await.expect(303);
    world
        .post(&again)
        .text("application/x-www-form-urlencoded", "previous=pi_00000000000000000000000000000000")
        .send()
        .await
        .expect(303);
    assert_eq!(world.shown(&checkout).await["payment_intent"]["id"], now["payment_intent"]["id"]);
    for body in ["", "previous=", "previous=other", "previous=a%20b", "previous=%22", "other=1"] {
        let reply =
            world.post(&again).text("application/x-www-form-urlencoded", body).send().await.expect(400);
        assert!(reply.header("Content-Type").unwrap().starts_with("text/html"), "{reply:?}");
    }
    assert_eq!(world.bank.charges("1").await, 1);
}

/// Money of somebody else that names this checkout's order.
async fn put_stranger(world: &World, checkout: &Value) -> StrangerRecord {
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
