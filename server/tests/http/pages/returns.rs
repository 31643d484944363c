//! Whoever comes back from the bank's page.

use super::*;
use crate::support::eventually;

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

/// Pages wait for the bank's word, however slow the machine is.
fn patient() -> Setup {
    let mut setup = Setup::default();
    setup.patience.look = Duration::from_secs(600);
    setup
}
