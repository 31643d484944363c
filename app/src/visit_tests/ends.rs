//! What follows an end: another try, a receipt, a person.

use super::*;

#[test]
fn fault_67_a_card_that_was_never_tried_is_in_the_form_of_the_next_try() {
    let offer = offer(1, "1500.00");
    let renewing = |used| {
        let mut visit = Visit::new(Stage::Ready).showing(Some(offer.terms.clone()));
        visit.handle(Event::Pay(Ok(form())));
        visit.handle(Event::Replied(Reply::Seen(with_last4(Declined, used))));
        visit.handle(Event::TryAgain);
        let commands = visit.handle(Event::Renewed(Ok(())));
        (visit, commands)
    };
    let (mut visit, commands) = renewing("4600");
    assert!(visit.keeps_card());
    assert_eq!(commands, [Command::Tell, Command::AskOffer]);
    let before = visit.turn();
    let commands = visit.handle(Event::Offered(Ok(Some(offer.clone()))));
    assert_eq!(commands, [Command::Adopt(offer.clone()), Command::AskIn { pause_s: 1 }]);
    assert!(*visit.stage() == Stage::Ready && visit.watches() && !visit.awaits(before));
    visit.handle(Event::Asked(Ok(with_last4(Declined, "4477"))));
    assert_eq!(visit.other_way(), None, "no card was sent in this try");
    for answer in [Ok(None), Err(Note::NoConnection)] {
        assert_eq!(renewing("4600").0.handle(Event::Offered(answer)), [Command::Reload]);
    }
    let (visit, commands) = renewing("4444");
    assert!(!visit.keeps_card(), "it was tried");
    assert_eq!(commands, [Command::Tell, Command::AskOffer]);
}

#[test]
fn an_order_that_is_closed_meanwhile_is_not_tried_again() {
    let mut visit = known(Declined);
    let closed = || Seen { closed: true, ..Seen::bare(Declined) };
    visit.handle(Event::Told(Some(closed())));
    assert!(visit.stage().is_closed() && !visit.watches());
    assert_eq!(visit.handle(Event::TryAgain), []);
    assert_eq!(visit.handle(Event::Asked(Ok(closed()))), [], "and is not read anew over and over");
    let mut visit = Visit::new(Stage::Ready);
    visit.handle(Event::Heard);
    visit.handle(Event::Asked(Ok(Seen { closed: true, ..Seen::bare(IntentState::Expired) })));
    assert!(visit.stage().is_closed(), "an open form too");
}

/// A stranger's money for the order: it may be this shopper's.
#[test]
fn fault_23_a_page_that_offers_another_try_stops_when_a_person_has_to_look() {
    for ended in [Declined, IntentState::Canceled, IntentState::Expired] {
        for closed in [false, true] {
            let mut visit = known(ended);
            visit.handle(Event::Told(Some(Seen { closed, ..Seen::bare(IntentState::NeedsReview) })));
            assert_eq!(visit.stage().name(), "needs_review", "{ended:?}");
            assert!(visit.watches());
            assert_eq!(visit.handle(Event::TryAgain), []);
            visit.handle(asked(ended));
            assert_eq!(visit.stage().name(), ended.as_str(), "it was somebody else's");
        }
    }
    let mut paid = known(Succeeded);
    paid.handle(asked(IntentState::NeedsReview));
    assert_eq!(paid.stage().name(), "succeeded", "a late answer");
}

fn with_extra(extra: &str) -> Seen {
    Seen { extra: Some(extra.to_owned()), behind: true, ..Seen::bare(Succeeded) }
}

/// A receipt that is open says "charged once" for as long as that is all that is known.
#[test]
fn fault_49_an_open_receipt_learns_of_a_second_charge_and_of_what_becomes_of_it() {
    let mut paid = known(Succeeded);
    assert_eq!(paid.open(Past::New), [Command::Forget, Command::AskIn { pause_s: 60 }]);
    assert_eq!(paid.handle(Event::Due), [Command::Ask]);
    assert_eq!(paid.handle(asked(Succeeded)), [Command::AskIn { pause_s: 60 }], "no news");
    assert_eq!(paid.handle(Event::Heard), [Command::Ask], "somebody looks at it, or is in touch again");
    assert_eq!(paid.handle(Event::Asked(Err(Note::NoConnection))), [Command::AskIn { pause_s: 60 }]);
    assert_eq!(paid.handle(Event::Asked(Ok(with_extra("to_be_returned")))), [Command::Reload]);

    let mut told = Visit::new(Stage::Known(with_extra("to_be_returned")));
    let again = told.handle(Event::Asked(Ok(with_extra("to_be_returned"))));
    assert_eq!(again, [Command::AskIn { pause_s: 60 }], "the page says so already");
    assert_eq!(told.handle(Event::Asked(Ok(with_extra("returned")))), [Command::Reload]);
}

#[test]
fn a_receipt_stops_asking_after_an_hour() {
    let mut paid = known(Succeeded);
    paid.open(Past::New);
    let answers = (0..100).map(|_| paid.handle(asked(Succeeded)).len()).collect::<Vec<_>>();
    assert_eq!((answers.iter().sum::<usize>(), answers[99]), (59, 0), "with the first");
    assert_eq!(paid.handle(Event::Heard), [Command::Ask]);
}

#[test]
fn trying_again_asks_for_one_new_intent() {
    let mut visit = known(Declined);
    assert_eq!(visit.handle(Event::TryAgain), [Command::Renew]);
    assert_eq!(visit.handle(Event::TryAgain), []);
    assert_eq!(visit.stage().name(), "declined");
    visit.handle(Event::Renewed(Err(Note::NotRenewed)));
    assert_eq!(visit.note(), Some(Note::NotRenewed));
    assert_eq!(visit.handle(Event::TryAgain), [Command::Renew]);
    assert_eq!(visit.handle(Event::Renewed(Ok(()))), [Command::Tell, Command::AskOffer]);
    for state in [Succeeded, Confirming, RequiresAction] {
        assert_eq!(known(state).handle(Event::TryAgain), [], "{state:?}");
    }
}

#[test]
fn attack_23_where_no_try_is_left_none_is_offered() {
    let mut visit = known(Declined);
    visit.handle(Event::TryAgain);
    visit.handle(Event::Renewed(Err(Note::TooManyTries)));
    assert_eq!(visit.note(), Some(Note::TooManyTries));
    assert!(visit.stage().is_closed() && !visit.watches());
    assert_eq!(visit.handle(Event::TryAgain), []);
}

#[test]
fn n2_a_review_that_ends_without_money_gives_the_form_back() {
    let mut visit = Visit::new(Stage::Ready);
    visit.handle(in_question());
    assert_eq!(visit.stage().name(), "needs_review");
    assert!(visit.watches());
    assert_eq!(visit.handle(asked(Created)), [Command::AskOffer]);
    let mut opened = known(IntentState::NeedsReview);
    opened.open(Past::New);
    assert_eq!(opened.handle(Event::Told(Some(Seen::bare(Created)))), [Command::Reload, Command::Tell]);
}
