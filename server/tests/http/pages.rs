//! The shopper's pages: languages, what the browser may do with them, and that looking changes nothing.

mod returns;
pub mod strangers;

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    DECLINED, FRAME_ORIGIN, GOOD, RETURN_ORIGIN, Reply, Setup, THREE_DS, World, eventually, order, text,
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

/// Nobody asks the bank: pages do not wait for that.
fn unasked() -> Setup {
    let mut setup = Setup { worker: false, ..Setup::default() };
    setup.patience.look = Duration::from_millis(50);
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
