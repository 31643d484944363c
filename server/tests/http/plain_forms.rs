//! What works without a script (N3): paying on the bank's page, asking, paying another way, all by plain forms.

use serde_json::{Value, json};

use payonce::config::{MailTransport, RateLimit};

use crate::support::{DECLINED, GOOD, Reply, Setup, THREE_DS, World, eventually, order, text};

const FORM: &str = "application/x-www-form-urlencoded";

/// What the page's form posts.
fn pay_form(checkout: &Value) -> Vec<(&'static str, String)> {
    let intent = &checkout["payment_intent"];
    vec![
        ("method", "redirect".to_owned()),
        ("intent", text(&intent["id"]).to_owned()),
        ("submit_key", text(&intent["submit_key"]).to_owned()),
        ("checkout_version", checkout["version"].to_string()),
        ("amount_value", text(&checkout["amount"]["value"]).to_owned()),
        ("amount_currency", text(&checkout["amount"]["currency"]).to_owned()),
        ("email", String::new()),
    ]
}

fn with(mut form: Vec<(&'static str, String)>, name: &str, value: &str) -> Vec<(&'static str, String)> {
    form.iter_mut().filter(|(field, _)| *field == name).for_each(|(_, held)| value.clone_into(held));
    form
}

async fn post(world: &World, path: &str, form: &[(&str, String)]) -> Reply {
    world.post(path).text(FORM, serde_urlencoded::to_string(form).unwrap()).send().await
}

/// The path of a page below the checkout's.
fn below(world: &World, checkout: &Value, part: &str) -> String {
    world.page(checkout).replacen('?', &format!("/{part}?"), 1) + "&lang=en"
}

fn pay_path(world: &World, checkout: &Value) -> String {
    world.page(checkout) + "&lang=en"
}

/// The link with this text's place in the page.
fn link_to_the_bank(html: &str) -> String {
    let at = html.find("data-slot=\"bank\"").unwrap();
    let tag = &html[html[..at].rfind('<').unwrap()..at + html[at..].find('>').unwrap()];
    tag.split("href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn n3_paying_on_the_banks_page_works_from_the_form_to_the_receipt() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let status = below(&world, &checkout, "status");
    let reply = post(&world, &pay_path(&world, &checkout), &pay_form(&checkout)).await.expect(303);
    assert_eq!(reply.header("Location"), Some(status.as_str()));

    let back = world.bank.payments("1").await[0]["confirmation"]["return_url"].clone();
    assert!(text(&back).ends_with(&status), "in the language of the form: {back}");
    let page = world.get(&status).send().await.expect(200);
    assert_eq!(page.header("Refresh"), None, "where a script looks again, nothing is thrown away");
    let html = page.text();
    assert!(
        html.contains("<noscript><meta http-equiv=\"refresh\" content=\"4\""),
        "without one it looks again by itself"
    );
    assert!(html.contains("data-state=\"requires_action\"") && html.contains("Continue to the bank"));
    let payment = world.bank.payments("1").await.remove(0);
    assert_eq!(link_to_the_bank(&html), payment["confirmation"]["confirmation_url"]);
    assert!(page.header("Location").is_none(), "no surprise");

    world.bank.decide(text(&payment["id"]), "confirm").await;
    world.reaches(&checkout, "succeeded").await;
    let receipt = world.get(&status).send().await.expect(200);
    assert!(receipt.text().contains("data-state=\"succeeded\""));
    assert!(!receipt.text().contains("http-equiv=\"refresh\""));
    assert_eq!(world.bank.charges("1").await, 1);
}

#[tokio::test]
async fn n3_the_form_pressed_often_is_one_payment() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let path = pay_path(&world, &checkout);
    for _ in 0..3 {
        post(&world, &path, &pay_form(&checkout)).await.expect(303);
    }
    assert_eq!(world.bank.payments("1").await.len(), 1);
    assert_eq!(world.bank.creates().await.len(), 1);
    let method = world.intent(&checkout["payment_intent"]["id"]).await["payment_method"].clone();
    assert_eq!(method["type"], "redirect");
}

#[tokio::test]
async fn r2_the_form_of_a_tab_that_came_second_shows_the_first_ones_result() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, GOOD).await.expect(200);
    let reply = post(&world, &pay_path(&world, &checkout), &pay_form(&checkout)).await.expect(303);
    let html = world.get(reply.header("Location").unwrap()).send().await.expect(200).text();
    assert!(html.contains("data-state=\"succeeded\""));
    assert_eq!(world.bank.payments("1").await.len(), 1);
}

#[tokio::test]
async fn a_form_with_old_terms_shows_the_new_ones_and_starts_nothing() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let mut terms = order("1");
    terms["amount"]["value"] = json!("1700.00");
    let now = world.open("changed", &terms).send().await.expect(200).json();
    let path = pay_path(&world, &checkout);
    let reply = post(&world, &path, &pay_form(&checkout)).await.expect(409);
    let html = reply.text();
    assert!(html.contains("The shop changed the order while you were paying. No money was taken."));
    assert!(html.contains("₽1,700.00") && html.contains(text(&now["payment_intent"]["submit_key"])));
    assert!(world.bank.creates().await.is_empty());
    post(&world, &path, &pay_form(&now)).await.expect(303);
    assert_eq!(world.bank.payments("1").await[0]["amount"]["value"], "1700.00");
}

#[tokio::test]
async fn a_form_that_is_not_ours_starts_nothing_and_gets_words() {
    let world = World::start().await;
    let (checkout, other) = (world.checkout("1").await, world.checkout("2").await);
    let form = || pay_form(&checkout);
    let path = pay_path(&world, &checkout);
    for (form, status) in [
        (with(form(), "submit_key", "x"), 422),
        (with(form(), "submit_key", "\""), 400),
        (with(form(), "intent", "pi_1"), 404),
        (with(form(), "intent", text(&other["payment_intent"]["id"])), 404),
        (with(form(), "checkout_version", "x"), 400),
        (with(form(), "amount_value", "1.5.0"), 422),
        (vec![("method", "redirect".to_owned())], 400),
    ] {
        let html = post(&world, &path, &form).await.expect(status).text();
        assert!(html.contains("The payment could not be sent. Reload the page"), "{form:?}");
        assert!(html.contains("data-state=\"ready\""), "{form:?}");
    }
    let html = post(&world, &path, &with(form(), "email", "anna")).await.expect(422).text();
    assert!(html.contains("Check the address") && html.contains("value=\"anna\""), "nothing typed is lost");
    let changed = with(form(), "amount_value", "1.00");
    post(&world, &path, &changed).await.expect(409);
    assert_eq!(world.post(&path.replace("token=ct_", "token=")).send().await.status, 401);
    assert!(world.bank.creates().await.is_empty());
}

#[tokio::test]
async fn an_address_in_the_form_is_kept() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    let form = with(pay_form(&checkout), "email", "anna@example.com");
    post(&world, &pay_path(&world, &checkout), &form).await.expect(303);
    let html = world.get(&world.page(&checkout)).send().await.expect(200).text();
    assert!(html.contains("value=\"anna@example.com\""));
}

#[tokio::test]
async fn n2_an_address_that_is_none_is_refused_beside_its_field_and_kept_to_be_corrected() {
    let transport = MailTransport::Folder;
    let world = World::with(Setup { worker: false, mails: Some(transport), ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "lose_answer" })).await;
    world.pay(&checkout, GOOD).await.expect(202);
    let path = below(&world, &checkout, "email");
    let html = post(&world, &path, &[("email", "<script>@b.com".to_owned())]).await.expect(422).text();
    assert!(html.contains("data-state=\"confirming\"") && html.contains("Check the address"));
    assert!(html.contains("value=\"&lt;script&gt;@b.com\"") && !html.contains("<script>@"), "{html}");
    assert!(!html.contains("http-equiv=\"refresh\""), "it can be corrected in peace");
    post(&world, &path, &[("email", "anna@example.com".to_owned())]).await.expect(303);
    let html = world.get(&pay_path(&world, &checkout)).send().await.expect(200).text();
    assert!(html.contains("anna@example.com") && html.contains("http-equiv=\"refresh\""));
}

/// Also by somebody else who waits for the same payment: then that is what every page says, and where the one mail goes.
#[tokio::test]
async fn n2_an_address_can_be_corrected_while_the_result_is_awaited() {
    let transport = MailTransport::Folder;
    let world = World::with(Setup { worker: false, mails: Some(transport), ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    let path = below(&world, &checkout, "email");
    let elsewhere = world.get(&path).send().await.expect(303);
    assert_eq!(elsewhere.header("Location"), Some(below(&world, &checkout, "status").as_str()));
    world.bank.fault(json!({ "kind": "lose_answer" })).await;
    world.pay(&checkout, GOOD).await.expect(202);
    for address in ["typo@exmaple.com", "anna@example.com"] {
        let html = world.get(&path).send().await.expect(200).text();
        assert!(html.contains("data-state=\"confirming\"") && !html.contains("http-equiv=\"refresh\""));
        post(&world, &path, &[("email", address.to_owned())]).await.expect(303);
        let html = world.get(&pay_path(&world, &checkout)).send().await.expect(200).text();
        assert!(html.contains(address), "{html}");
        let seen = format!("/v1/payment_intents/{}", text(&checkout["payment_intent"]["id"]));
        let seen = world.get(&seen).bearer(text(&checkout["client_token"])).send().await.expect(200).json();
        assert_eq!(seen["told_to"], address, "an open page says so, too");
    }
    eventually("it is paid", || async {
        world.engine.run_once().await.unwrap();
        (world.shown(&checkout).await["status"] == "paid").then_some(())
    })
    .await;
    post(&world, &path, &[("email", "late@example.com".to_owned())]).await.expect(303);
    assert_eq!(world.get(&path).send().await.status, 303);
    world.engine.deliver_due(10).await.unwrap();
    let folder = std::fs::read_dir(world.folder.path().join("mails")).unwrap();
    let mails: Vec<_> = folder.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains("anna@example.com"), "{}", mails[0]);
}

#[tokio::test]
async fn fault_67_the_banks_page_wanted_while_another_tabs_card_pays_is_told_so() {
    let world = World::with(Setup { worker: false, ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "lose_answer" })).await;
    world.pay(&checkout, GOOD).await.expect(202);
    let reply = post(&world, &pay_path(&world, &checkout), &pay_form(&checkout)).await.expect(200);
    let html = reply.text();
    assert!(html.contains("data-state=\"confirming\""));
    assert!(html.contains("This payment goes on with a card that was entered before"));
    assert_eq!(reply.header("Refresh"), None, "where scripts run it goes on by itself");
    let status = below(&world, &checkout, "status").replace('&', "&amp;");
    assert!(
        html.contains(&format!("http-equiv=\"refresh\" content=\"30;url={status}")),
        "a reload would send it again"
    );
    assert_eq!(world.bank.payments("1").await.len(), 1);
}

#[tokio::test]
async fn n2_the_buttons_of_the_waiting_pages_lead_to_the_page_that_tells() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, THREE_DS).await.expect(200);
    let status = below(&world, &checkout, "status");
    let reply = world.post(&below(&world, &checkout, "check")).send().await.expect(303);
    assert_eq!(reply.header("Location"), Some(status.as_str()));

    let reply = world.post(&below(&world, &checkout, "release")).send().await.expect(200);
    let html = reply.text();
    assert!(html.contains("data-state=\"requires_action\""));
    assert!(html.contains("lets go of this one by") && html.contains("Continue to the bank"), "{html}");
    let status = status.replace('&', "&amp;");
    let refresh = format!("http-equiv=\"refresh\" content=\"30;url={status}\"");
    assert!(html.contains(&refresh), "a reload would ask again: {html}");

    world.reaches(&checkout, "requires_action").await;
    let paid = world.checkout("2").await;
    world.pay(&paid, GOOD).await.expect(200);
    let reply = world.post(&below(&world, &paid, "release")).send().await.expect(303);
    assert_eq!(reply.header("Location"), Some(below(&world, &paid, "status").as_str()));
    assert_eq!(world.bank.payments("1").await.len(), 1);
}

#[tokio::test]
async fn attack_23_where_no_try_is_left_the_form_says_so() {
    let world = World::start().await;
    let mut checkout = world.checkout("1").await;
    for number in 1..10 {
        world.pay(&checkout, DECLINED).await.expect(200);
        world.again(&checkout, &format!("again-{number}")).send().await.expect(201);
        checkout = world.shown(&checkout).await;
    }
    world.pay(&checkout, DECLINED).await.expect(200);
    for page in [pay_path(&world, &checkout), below(&world, &checkout, "status")] {
        let html = world.get(&page).send().await.expect(200).text();
        assert!(!html.contains("/again?"), "none is offered");
    }
    let previous = text(&checkout["payment_intent"]["id"]).to_owned();
    let told = post(&world, &below(&world, &checkout, "again"), &[("previous", previous)]).await.expect(200);
    assert!(told.text().contains("There are no tries left for this order"), "{}", told.text());
}

#[tokio::test]
async fn only_the_checkouts_own_token_may_press() {
    let world = World::start().await;
    let (checkout, other) = (world.checkout("1").await, world.checkout("2").await);
    world.pay(&checkout, DECLINED).await.expect(200);
    for part in ["check", "release", "email"] {
        let path = below(&world, &checkout, part);
        let form = || world.post(&path.replace("token=ct_", "token=")).text(FORM, "email=a%40example.com");
        form().send().await.expect(401);
        let stolen = path.replace(text(&checkout["client_token"]), text(&other["client_token"]));
        world.post(&stolen).text(FORM, "email=a%40example.com").send().await.expect(404);
    }
}

#[tokio::test]
async fn a_forms_address_in_the_address_bar_leads_to_the_page_to_read() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    for part in ["again", "check", "email", "release"] {
        let reply = world.get(&below(&world, &checkout, part)).send().await.expect(303);
        assert_eq!(reply.header("Location"), Some(below(&world, &checkout, "status").as_str()), "{part}");
    }
}

#[tokio::test]
async fn a_form_that_cannot_be_read_says_nothing_of_the_money_of_a_paid_order() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.pay(&checkout, GOOD).await.expect(200);
    for body in ["", "previous=%22", "\u{0}"] {
        let again = world.post(&below(&world, &checkout, "again")).text(FORM, body).send().await.expect(400);
        let html = again.text();
        assert!(html.contains("It changed nothing.") && !html.to_lowercase().contains("no money"), "{html}");
    }
    let status = below(&world, &checkout, "status");
    for form in
        [with(pay_form(&checkout), "checkout_version", "x"), with(pay_form(&checkout), "submit_key", "x")]
    {
        let reply = post(&world, &pay_path(&world, &checkout), &form).await.expect(303);
        assert_eq!(reply.header("Location"), Some(status.as_str()));
    }
}

#[tokio::test]
async fn attack_23_a_shopper_who_asks_too_often_is_told_so_in_words() {
    let world = World::with(Setup { rate: RateLimit::PerSecond(1), ..Setup::default() }).await;
    let checkout = world.checkout("1").await;
    let status = below(&world, &checkout, "status");
    let refused = async |path: &str, accept: &str| loop {
        let reply = world.get(path).header("Accept", accept).send().await;
        if reply.status == 429 {
            break reply;
        }
    };
    for path in [pay_path(&world, &checkout), status.clone(), below(&world, &checkout, "again")] {
        let page = refused(&path, "text/html,*/*;q=0.8").await;
        assert_eq!(page.header("Content-Type"), Some("text/html; charset=utf-8"));
        assert!(page.header("Retry-After").is_some());
        let html = page.text();
        assert!(html.contains("Too many requests") && !html.to_lowercase().contains("no money"), "{html}");
    }
    refused(&status, "application/json").await.problem(429, "rate_limited");
}

#[tokio::test]
async fn n2_the_link_of_a_payment_works_for_as_long_as_there_is_one() {
    let world = World::start().await;
    let checkout = world.checkout("1").await;
    world.bank.fault(json!({ "kind": "lose_answer", "order_id": "1" })).await;
    world.pay(&checkout, GOOD).await.expect(202);
    let link = world.page(&checkout);
    let html = world.get(&link).send().await.expect(200).text();
    let own = format!("href=\"{}&amp;lang=en\"", text(&checkout["url"]));
    assert!(html.contains(&own), "the page tells its own link");
    world.reaches(&checkout, "succeeded").await;
    let world = world.restart().await;
    let html = world.get(&link).send().await.expect(200).text();
    assert!(html.contains("data-state=\"succeeded\""));
}
