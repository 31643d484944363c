//! A result that is awaited: what is said of it, and what is not.

use contract::{InQuestion, PaymentMethod, Progress, ProgressKind, ProgressStep};

use super::*;

#[test]
fn n3_without_scripts_a_page_that_waits_looks_again_by_itself() {
    for state in STATES {
        let html = open(state).render_pay();
        let waits = open(state).refresh_s().is_some();
        assert_eq!(html.contains("<noscript><meta http-equiv=\"refresh\""), waits, "{state:?}");
        let ended = [IntentState::Declined, IntentState::Canceled, IntentState::Expired].contains(&state);
        assert_eq!(html.contains(" data-watch"), waits || ended, "{state:?}");
        let closed = page(Lang::En, CheckoutStatus::Expired, state).render_pay();
        assert_eq!(closed.contains(" data-watch"), waits, "{state:?}: nothing more can happen");
        let body = &html[html.find("<body").unwrap()..];
        assert!(!body.contains("<noscript"), "not in what is hydrated");
    }
}

#[test]
fn n3_a_hold_is_looked_at_again_without_scripts_but_seldom() {
    assert_eq!(open(IntentState::Authorized).refresh_s(), Some(60));
    assert_eq!(open(IntentState::Created).refresh_s(), None);
    assert_eq!(open(IntentState::Created).read_again_s(), Some(30), "it may be paid on another device");
    assert_eq!(open(IntentState::Declined).read_again_s(), None);
}

/// A reload takes away what is typed and the place of the keyboard: where scripts run there is none.
#[test]
fn n2_a_page_to_read_is_read_anew_only_where_no_script_looks_again() {
    for (state, pause_s, script_s) in [
        (IntentState::Created, Some(30), Some(30)),
        (IntentState::Confirming, Some(30), Some(4)),
        (IntentState::RequiresAction, Some(4), Some(4)),
        (IntentState::NeedsReview, Some(60), Some(60)),
        (IntentState::Succeeded, None, None),
    ] {
        let html = Page { mails: true, ..open(state) }.render_status();
        let seconds = |start: &str| {
            html.split_once(start).map(|(_, rest)| rest.split('"').next().unwrap().parse().unwrap())
        };
        assert_eq!(seconds("<noscript><meta http-equiv=\"refresh\" content=\""), pause_s, "{state:?}");
        assert_eq!(seconds("data-pause=\""), script_s, "{state:?}");
        assert_eq!(html.matches("http-equiv=\"refresh\"").count(), usize::from(pause_s.is_some()));
    }
}

/// What the bank shows may not be what it was asked for: then it has answered.
#[test]
fn n2_an_unknown_result_is_not_said_to_be_silence() {
    let text = visible(&open(IntentState::Confirming).render_pay());
    assert!(
        text.contains("There is no clear answer from the bank yet.") && !text.contains("not answered"),
        "{text}"
    );
}

/// Without a script whatever is typed is gone when the page looks again.
#[test]
fn n3_where_an_address_can_be_typed_the_page_looks_again_seldom() {
    let pause_s = |state, email: Option<&str>| {
        Page { mails: true, email: email.map(str::to_owned), ..open(state) }.refresh_s().unwrap()
    };
    for state in [IntentState::Processing, IntentState::Confirming] {
        assert!(pause_s(state, None) >= 30, "{state:?}");
        assert!(pause_s(state, Some("anna@example.com")) < 30, "{state:?}");
    }
    assert!(pause_s(IntentState::RequiresAction, None) < 30, "no address is asked for there");
}

fn with_progress(state: IntentState) -> Page {
    let step = |at: &str, what| ProgressStep { at: at.into(), what };
    let mut page = open(state);
    page.checkout.url = "https://pay.example/pay/co_1?token=ct_1".into();
    page.intent.progress = Some(Progress {
        since: "2026-11-30T10:00:00.000Z".into(),
        last_look_at: Some("2026-11-30T10:00:20.000Z".into()),
        next_look_at: Some("2026-11-30T10:00:32.000Z".into()),
        unreached_until: None,
        held: false,
        steps: vec![
            step("2026-11-30T10:00:00.000Z", ProgressKind::Unanswered),
            step("2026-11-30T10:00:08.000Z", ProgressKind::Sent),
        ],
    });
    page
}

#[test]
fn n2_an_unknown_result_tells_what_was_done_when_we_look_next_and_where_to_look_later() {
    for state in [IntentState::Processing, IntentState::Confirming, IntentState::NeedsReview] {
        for html in [with_progress(state).render_pay(), with_progress(state).render_status()] {
            let text = visible(&html);
            for said in [
                "10:00:00 UTC",
                "Sent to the bank, no answer came",
                "10:00:08 UTC",
                "Sent to the bank, waiting for its answer",
                "We last asked the bank: 10:00:20 UTC.",
                "We ask again: 10:00:32 UTC.",
                "You can close this page",
                "pi_1",
            ] {
                assert!(text.contains(said), "{said} in {text}");
            }
            assert!(
                html.contains("href=\"https://pay.example/pay/co_1?token=ct_1&amp;lang=en\""),
                "a link for later"
            );
            assert!(html.contains("method=\"post\" action=\"/pay/co_1/check?token=ct_1&amp;lang=en\""));
        }
    }
    assert!(!visible(&open(IntentState::Confirming).render_pay()).contains("We ask again"), "not known yet");
}

/// A line comes with every try: what is aimed at must not move.
#[test]
fn n2_what_can_be_pressed_stands_above_the_trail_that_grows() {
    for state in [IntentState::Processing, IntentState::Confirming, IntentState::NeedsReview] {
        let html = Page { mails: true, ..with_progress(state) }.render_pay();
        let shown = &html[html.find(&format!("data-screen=\"{}\"", state.as_str())).unwrap()..];
        let shown = &shown[..shown.find("</section>").unwrap()];
        let (above, below) = shown.split_once("data-trail").unwrap();
        for part in ["data-without=\"email\"", "data-do=\"check\"", "data-do=\"copy\""] {
            assert!(above.contains(part) && !below.contains(part), "{part}");
        }
        assert!(!below.contains("<button") && !below.contains("<input"));
    }
}

#[test]
fn n2_a_payment_that_cannot_be_passed_on_is_said_to_be_so_with_the_time_until_which_we_try() {
    let mut page = with_progress(IntentState::Processing);
    let progress = page.intent.progress.as_mut().unwrap();
    progress.unreached_until = Some("2026-11-30T10:15:00.000Z".into());
    progress.steps.iter_mut().for_each(|step| step.what = ProgressKind::NotExecuted);
    for html in [page.render_pay(), page.render_status()] {
        let text = visible(&html);
        for said in [
            "The payment could not be passed to the bank yet",
            "no money was taken so far",
            "We keep trying by ourselves.",
            "by 10:15:00 UTC",
            "Could not be passed to the bank: nothing was executed",
            "You do not need to pay again.",
        ] {
            assert!(text.contains(said), "{said} in {text}");
        }
        assert!(!text.contains("being processed") && !text.contains("Try again"), "{text}");
    }
    let text = visible(&with_progress(IntentState::Processing).render_pay());
    assert!(text.contains("Your payment is being processed") && !text.contains("could not be passed"));
}

/// Whether money was taken is not known then: the database may be an old copy.
#[test]
fn fault_23_a_payment_that_is_held_is_said_to_wait_and_nothing_is_said_of_the_money() {
    for lang in Lang::ALL {
        let mut page = Page { lang, ..with_progress(IntentState::Processing) };
        let progress = page.intent.progress.as_mut().unwrap();
        (progress.held, progress.next_look_at) = (true, None);
        page.intent.payment_method = Some(PaymentMethod { kind: "card_token".into(), last4: None });
        for html in [page.render_pay(), page.render_status()] {
            let text = visible(&html);
            for said in ["held-title", "held-lead", "do-not-pay"] {
                assert!(text.contains(&lang.say(said)), "{said} in {text}");
            }
            for other in ["processing-title", "unreached-title", "unreached-lead", "next-look", "try-again"] {
                let words = lang.say_with(other, "time", "|");
                assert!(!text.contains(words.split('|').next().unwrap()), "{other} in {text}");
            }
        }
    }
}

#[test]
fn fault_23_of_an_order_that_nobody_tried_to_pay_no_payment_is_said_to_be_accepted() {
    for lang in Lang::ALL {
        let mut page = Page { lang, ..with_progress(IntentState::Processing) };
        page.intent.progress.as_mut().unwrap().held = true;
        page.intent.in_question = Some(InQuestion::Restore);
        // A card of a try that has ended waits for nothing either.
        page.intent.payment_method = Some(PaymentMethod { kind: "card_token".into(), last4: None });
        let text = visible(&page.render_status());
        let expected =
            [("untried-title", true), ("untried-lead", true), ("held-title", false), ("untried-late", false)];
        for (words, is_said) in expected {
            assert_eq!(text.contains(&lang.say(words)), is_said, "{words} in {text}");
        }
    }
}

#[test]
fn fault_23_an_order_whose_time_ran_out_while_we_were_away_is_said_to_be_so_and_offers_nothing() {
    for lang in Lang::ALL {
        let mut page = Page { lang, ..with_progress(IntentState::Processing) };
        page.checkout.payment_intent.state = IntentState::Created;
        page.intent.progress.as_mut().unwrap().held = true;
        (page.intent.in_question, page.intent.closed) = (Some(InQuestion::Restore), true);
        for html in [page.render_pay(), page.render_status()] {
            let text = visible(&html);
            for (words, is_said) in [("untried-late", true), ("unpaid-still", false), ("not-taken", false)] {
                assert_eq!(text.contains(&lang.say(words)), is_said, "{words} in {text}");
            }
        }
    }
}

#[test]
fn fault_23_an_order_that_may_have_been_paid_while_we_were_away_can_be_paid_and_is_said_to_be_so() {
    for lang in Lang::ALL {
        let mut form = Page { lang, mails: true, ..with_progress(IntentState::Created) };
        assert!(!visible(&form.render_pay()).contains(&lang.say("note-away")));
        assert!(!form.render_pay().contains(" data-away"));
        form.intent.progress.as_mut().unwrap().held = true;
        let html = form.render_pay();
        assert!(visible(&html).contains(&lang.say("note-away")) && html.contains(" data-away"));
        assert!(visible(&html).contains(&lang.say("pay-at-bank")));
        assert!(form.refresh_s().unwrap() >= 30, "what is typed is not taken away at once");

        let in_question = Some(InQuestion::Restore);
        let intent = PaymentIntent { state: IntentState::Processing, in_question, ..form.intent.clone() };
        let held = Page { intent, ..form };
        let html = held.render_status();
        assert!(visible(&html).contains(&lang.say("unpaid-still")), "{}", visible(&html));
        assert!(
            html.contains(&format!("<a href=\"/pay/co_1?token=ct_1&amp;lang={}\">", lang.tag())),
            "the form"
        );
        assert!(!visible(&html).contains(&lang.say("mail-send")), "nobody is told of what nobody began");
        let mut over = held;
        over.checkout.payment_intent.state = IntentState::Declined;
        assert!(!visible(&over.render_status()).contains(&lang.say("unpaid-still")));
    }
}

#[test]
fn n2_a_mail_is_promised_only_where_mails_are_sent() {
    let text = |mails, email: Option<&str>| {
        let page = Page { mails, email: email.map(str::to_owned), ..open(IntentState::Confirming) };
        visible(&page.render_pay())
    };
    assert!(text(true, Some("anna@example.com")).contains("We will write to anna@example.com"));
    assert!(!text(true, Some("anna@example.com")).contains("Write to me"));
    assert!(text(true, None).contains("Write to me") && !text(true, None).contains("We will write"));
    let html = Page { mails: true, ..open(IntentState::Confirming) }.render_pay();
    assert!(html.contains("action=\"/pay/co_1/email?token=ct_1&amp;lang=en\""));
    for email in [None, Some("anna@example.com")] {
        let said = text(false, email);
        assert!(!said.contains("We will write") && !said.contains("Write to me"), "{said}");
    }
}

/// A payment may wait for a person for days.
#[test]
fn n2_a_time_that_is_not_of_today_has_its_date() {
    let page = with_progress(IntentState::Confirming);
    assert!(visible(&page.render_status()).contains("We last asked the bank: 10:00:20 UTC."));
    let page = Page { today: "2026-12-02".into(), ..page };
    assert!(visible(&page.render_status()).contains("We last asked the bank: 2026-11-30 10:00:20 UTC."));
}

/// A typing error in it would have nobody told. The page with the form looks at nothing by itself: it is typed in peace.
#[test]
fn n2_another_address_can_be_left_than_the_one_that_is_known() {
    let known = Page { mails: true, email: Some("typo@exmaple.com".into()), ..open(IntentState::Confirming) };
    let asking = Page { asks_email: true, ..known.clone() };
    for html in [known.render_pay(), known.render_status()] {
        assert!(html.contains("href=\"/pay/co_1/email?token=ct_1&amp;lang=en\""));
        let text = visible(&html);
        assert!(text.contains("Another address") && !text.contains("Write to me"), "{text}");
    }
    let text = visible(&asking.render_pay());
    assert!(text.contains("We will write to typo@exmaple.com"), "as long as there is no other: {text}");
    assert!(text.contains("Write to me") && !text.contains("Another address"), "{text}");
    assert_eq!(asking.refresh_s(), None);
    assert!(known.refresh_s().is_some());
    for state in STATES {
        let awaited = [IntentState::Processing, IntentState::Confirming, IntentState::NeedsReview];
        assert_eq!(Page { mails: true, ..open(state) }.takes_email(), awaited.contains(&state), "{state:?}");
        assert!(!Page { mails: false, ..open(state) }.takes_email());
    }
}

/// Nothing else on that page would show that the press was heard.
#[test]
fn n2_at_the_bank_too_it_is_told_when_the_bank_was_asked() {
    let page = with_progress(IntentState::RequiresAction);
    for html in [page.render_pay(), page.render_status()] {
        let text = visible(&html);
        assert!(text.contains("We last asked the bank: 10:00:20 UTC."), "{text}");
        assert!(!text.contains("Sent to the bank"), "{text}");
    }
}

#[test]
fn at_the_bank_the_main_way_is_its_page_and_another_way_has_to_wait_for_it() {
    let mut page = open(IntentState::RequiresAction);
    page.intent.next_action = Some(NextAction::Redirect { url: "https://bank.example/confirm/1".into() });
    for html in [page.render_pay(), page.render_status()] {
        assert!(html.contains("href=\"https://bank.example/confirm/1\""));
        assert!(html.contains("method=\"post\" action=\"/pay/co_1/release?token=ct_1&amp;lang=en\""));
        let text = visible(&html);
        assert!(text.contains("Continue to the bank") && text.contains("Pay another way"));
        assert!(!text.contains("Pay ₽") && !text.contains("Try again"));
    }
    page.notice = Some(Notice::ReleasedBy("2026-11-30T11:00:00.000Z".into()));
    for html in [page.render_pay(), page.render_status()] {
        assert!(visible(&html).contains("lets go of this one by 11:00 UTC at the latest"));
    }
    page.notice = Some(Notice::ReleaseAsked);
    assert!(visible(&page.render_status()).contains("We asked the bank to let go"));
}

#[test]
fn a_persons_check_has_words_of_its_own_and_says_what_it_means_for_the_money() {
    let text = visible(&open(IntentState::NeedsReview).render_pay());
    for said in
        ["A person is checking this payment", "it counts for this order", "You do not need to pay again."]
    {
        assert!(text.contains(said), "{said} in {text}");
    }
}

#[test]
fn an_unknown_result_never_invites_to_pay() {
    for state in [IntentState::Processing, IntentState::Confirming, IntentState::NeedsReview] {
        for html in [open(state).render_pay(), open(state).render_status()] {
            let text = visible(&html);
            assert!(text.contains("You do not need to pay again."), "{state:?}");
            assert!(text.contains("pi_1") && text.contains("Check now"));
            assert!(!text.contains("Pay ₽") && !text.contains("Try again"), "{text}");
        }
    }
}
