//! The rules of a visit, one by one, and one property over all of them.

use contract::Amount;

use super::*;
use crate::{
    card::Card,
    wire::{Offer, Terms},
};
use IntentState::{Authorized, Confirming, Created, Declined, Processing, RequiresAction, Succeeded};

fn form() -> Form {
    let card = Card {
        number: "5555555555554444".into(),
        expiry_month: "12".into(),
        expiry_year: "2030".into(),
        cvc: "123".into(),
    };
    Form { card, email: Some("anna@example.com".into()) }
}

fn with_last4(state: IntentState, last4: &str) -> Seen {
    Seen { last4: Some(last4.into()), ..Seen::bare(state) }
}

fn asked(state: IntentState) -> Event {
    Event::Asked(Ok(Seen::bare(state)))
}

fn submitting() -> Visit {
    let mut visit = Visit::new(Stage::Ready);
    visit.handle(Event::Pay(Ok(form())));
    visit
}

fn known(state: IntentState) -> Visit {
    Visit::new(Stage::Known(Seen::bare(state)))
}

#[test]
fn a_double_click_sends_one_request() {
    let mut visit = Visit::new(Stage::Ready);
    let first = visit.handle(Event::Pay(Ok(form())));
    assert_eq!(first, [Command::Begin, Command::Tell, Command::Submit(form())]);
    assert_eq!(visit.stage().name(), "submitting");
    assert_eq!(visit.handle(Event::Pay(Ok(form()))), []);
    assert_eq!(visit.handle(Event::Pay(Err(vec![Wrong::NumberMissing]))), []);
    assert_eq!(visit.stage().name(), "submitting");
}

#[test]
fn a_wrong_form_goes_nowhere_and_can_be_corrected() {
    let mut visit = Visit::new(Stage::Ready);
    assert_eq!(visit.handle(Event::Pay(Err(vec![Wrong::NumberCheck]))), []);
    assert_eq!(visit.stage(), &Stage::Invalid(vec![Wrong::NumberCheck]));
    assert_eq!(visit.handle(Event::Pay(Ok(form()))).len(), 3);
}

#[test]
fn no_answer_means_asking_and_never_a_pay_button_before_the_server_spoke() {
    let mut visit = submitting();
    assert_eq!(visit.handle(Event::Replied(Reply::Lost)), [Command::Ask]);
    assert_eq!(visit.stage(), &Stage::Checking);
    for pause_s in [1, 2, 4, 8, 15, 15] {
        assert_eq!(visit.handle(Event::Asked(Err(Note::NoConnection))), [Command::AskIn { pause_s }]);
        assert_eq!(visit.stage(), &Stage::Checking);
        assert_eq!(visit.pause_s(), Some(pause_s));
        assert_eq!(visit.handle(Event::Due), [Command::Ask]);
    }
    assert_eq!(visit.handle(Event::Pay(Ok(form()))), [], "no submit while the last one is unknown");
}

#[test]
fn a_submit_that_has_not_arrived_gives_the_form_back_and_is_asked_about() {
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::Lost));
    assert_eq!(visit.handle(asked(Created)), [Command::AskIn { pause_s: 1 }]);
    assert_eq!((visit.stage(), visit.note()), (&Stage::Ready, Some(Note::Unreached)));
    for pause_s in [2, 4, 8, 15, 15, 15, 15, 15, 15, 15, 15, 60] {
        assert_eq!(visit.handle(Event::Due), [Command::Ask]);
        assert_eq!(visit.handle(asked(Created)), [Command::AskIn { pause_s }]);
        assert_eq!((visit.stage(), visit.note()), (&Stage::Ready, Some(Note::Unreached)));
    }
    visit.handle(Event::Pay(Ok(form())));
    assert_eq!(visit.note(), None);
}

/// It was in a proxy's hands, or waited for a busy server: the card is charged while the form is open again.
#[test]
fn r10_a_submit_that_arrives_after_the_form_came_back_takes_the_form_away() {
    let back: [fn() -> Visit; 3] = [
        || {
            let mut visit = submitting();
            visit.handle(Event::Replied(Reply::Lost));
            assert_eq!(visit.handle(asked(Created)), [Command::AskIn { pause_s: 1 }]);
            visit
        },
        || {
            let mut visit = submitting();
            visit.handle(Event::Restored);
            // The stream is not wanted any more: it promises nothing.
            let told = visit.handle(Event::Told(Some(Seen::bare(Created))));
            assert_eq!(told, [Command::AskIn { pause_s: 1 }, Command::Tell]);
            visit
        },
        || {
            let mut visit = Visit::new(Stage::Ready);
            visit.open(Past::Begun);
            assert_eq!(visit.handle(asked(Created)), [Command::AskIn { pause_s: 1 }]);
            visit
        },
    ];
    for back in back {
        for state in [Processing, Confirming, RequiresAction, Succeeded, Declined] {
            let mut visit = back();
            visit.handle(Event::Pay(Err(vec![Wrong::CvcMissing])));
            assert_eq!(visit.handle(Event::Due), [Command::Ask], "while something is corrected, too");
            visit.handle(asked(state));
            assert_eq!((visit.stage().name(), visit.note()), (state.as_str(), None));
            assert_eq!(visit.other_way(), None, "it is this page's own payment");
            assert_eq!(visit.handle(Event::Pay(Ok(form()))), []);
        }
    }
}

#[test]
fn an_unknown_result_is_asked_about_until_it_is_known() {
    let mut visit = submitting();
    let commands = visit.handle(Event::Replied(Reply::Seen(Seen::bare(Confirming))));
    assert_eq!(commands, [Command::AskIn { pause_s: 1 }, Command::Tell]);
    visit.handle(Event::Due);
    assert_eq!(visit.handle(asked(Confirming)), [Command::AskIn { pause_s: 2 }]);
    assert_eq!(visit.handle(asked(Succeeded)), [Command::Forget, Command::AskIn { pause_s: 60 }]);
    assert_eq!(visit.stage().name(), "succeeded", "a late answer changes nothing");
    visit.handle(asked(Confirming));
    assert_eq!(visit.stage().name(), "succeeded");
}

#[test]
fn nothing_was_started_gives_the_form_back_with_the_reason() {
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::NotSent(Note::NoToken)));
    assert_eq!((visit.stage(), visit.note()), (&Stage::Ready, Some(Note::NoToken)));
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::FieldRefused(Wrong::CvcRefused)));
    assert_eq!(visit.stage(), &Stage::Invalid(vec![Wrong::CvcRefused]));
    let behind = submitting().handle(Event::Replied(Reply::Behind));
    assert_eq!(behind, [Command::KeepBehind, Command::Reload]);
}

/// The first press is in a proxy's hands; the second one fails before it leaves, and the question that was due meanwhile is lost.
fn pressed_twice(second: Reply) -> (Visit, Vec<Command>) {
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::Lost));
    visit.handle(asked(Created));
    visit.handle(Event::Pay(Ok(form())));
    assert_eq!(visit.handle(Event::Due), [Command::Ask]);
    assert_eq!(visit.handle(asked(Created)), []);
    let commands = visit.handle(Event::Replied(second));
    (visit, commands)
}

#[test]
fn r10_a_press_that_sent_nothing_says_nothing_of_an_earlier_one_that_was_lost() {
    for note in [Note::NoToken, Note::Busy, Note::Refused] {
        let (mut visit, commands) = pressed_twice(Reply::NotSent(note));
        assert_eq!((commands, visit.stage()), (vec![Command::Ask], &Stage::Checking), "{note:?}");
        assert_eq!(visit.handle(asked(Created)), [Command::AskIn { pause_s: 1 }]);
        assert_eq!((visit.stage(), visit.note()), (&Stage::Ready, Some(Note::Unreached)));
    }
}

#[test]
fn r10_a_lost_press_is_asked_about_whatever_became_of_the_next_one() {
    for second in [Reply::NotSent(Note::NoToken), Reply::FieldRefused(Wrong::CvcRefused)] {
        let (mut visit, commands) = pressed_twice(second);
        assert!(matches!(commands.as_slice(), [Command::Ask | Command::AskIn { .. }]), "{commands:?}");
        for _ in 0..10 {
            let commands = visit.handle(asked(Created));
            assert!(matches!(commands.as_slice(), [Command::AskIn { .. }]), "{commands:?}");
        }
        visit.handle(asked(Succeeded));
        assert_eq!(visit.stage().name(), "succeeded");
    }
}

fn changed() -> (Visit, Offer) {
    let offer = offer(2, "1700.00");
    let mut visit = submitting();
    let commands = visit.handle(Event::Replied(Reply::Changed(offer.clone())));
    assert_eq!(commands, [Command::Follow { intent: "pi_2".into() }, Command::AskIn { pause_s: 1 }]);
    assert_eq!(visit.stage().name(), "changed");
    (visit, offer)
}

#[test]
fn new_terms_are_shown_and_then_confirmed_by_pressing_pay_again() {
    let (mut visit, offer) = changed();
    assert_eq!(visit.handle(Event::Pay(Ok(form()))), []);
    assert_eq!(visit.handle(Event::Accept), [Command::Adopt(offer)]);
    assert_eq!(visit.stage(), &Stage::Ready);
    assert_eq!(visit.handle(Event::Accept), []);
    assert_eq!(visit.handle(Event::Pay(Ok(form()))).len(), 3);
}

#[test]
fn n1_new_terms_that_somebody_else_agrees_to_first_are_not_offered_any_more() {
    for state in [Processing, Confirming, RequiresAction, Succeeded, Declined, IntentState::Expired] {
        let (mut visit, _) = changed();
        assert!(visit.watches());
        assert_eq!(visit.handle(Event::Heard), [Command::Ask]);
        assert_eq!(visit.handle(asked(Created)), [Command::AskIn { pause_s: 2 }], "it is offered still");
        assert_eq!(visit.stage().name(), "changed");
        assert_eq!(visit.handle(Event::Told(Some(Seen::bare(state)))), [Command::Reload, Command::Tell]);
    }
}

fn replaced() -> Event {
    let canceled = Seen::bare(IntentState::Canceled);
    Event::Asked(Ok(Seen { behind: true, reason: Some("replaced".into()), ..canceled }))
}

fn offer(number: i64, rubles: &str) -> Offer {
    Offer {
        description: None,
        terms: Terms { version: number, amount: Amount::new(rubles, "RUB") },
        intent: format!("pi_{number}"),
        submit_key: format!("sub_{number}"),
    }
}

#[test]
fn fault_65_terms_that_change_once_more_take_the_place_of_those_that_were_told() {
    let (mut visit, _) = changed();
    assert_eq!(visit.handle(replaced()), [Command::AskOffer]);
    let newest = offer(3, "1900.00");
    let commands = visit.handle(Event::Offered(Ok(Some(newest.clone()))));
    assert_eq!(commands, [Command::Follow { intent: "pi_3".into() }, Command::AskIn { pause_s: 2 }]);
    assert_eq!(visit.stage(), &Stage::Changed(newest.clone()));
    assert_eq!(visit.handle(Event::Accept), [Command::Adopt(newest)]);

    let (mut untold, _) = changed();
    untold.handle(replaced());
    let lost = untold.handle(Event::Offered(Err(Note::NoConnection)));
    assert_eq!((lost, untold.stage().name()), (vec![Command::AskIn { pause_s: 2 }], "changed"));
    assert_eq!(untold.handle(Event::Offered(Ok(None))), [Command::Reload], "paid, or under way, by now");
}

/// It was asked for before the page followed another intent, and came after.
#[test]
fn fault_65_a_late_answer_about_the_old_terms_says_nothing_of_the_new_ones() {
    let mut visit = Visit::new(Stage::Ready);
    let before = visit.turn();
    assert!(visit.awaits(before));
    visit.handle(Event::Offered(Ok(Some(offer(2, "1700.00")))));
    assert!(!visit.awaits(before) && visit.awaits(visit.turn()));
    let told = visit.turn();
    visit.handle(Event::Accept);
    assert!(visit.awaits(told), "it is the same intent");
}

/// The shop changed the order while the form was being filled in, and the page hears of it before the press.
#[test]
fn fault_65_new_terms_under_an_open_form_are_told_first_and_what_was_typed_stays() {
    let (_, offer) = changed();
    for wrongs in [None, Some(vec![Wrong::NumberCheck])] {
        let form = || {
            let mut visit = Visit::new(Stage::Ready);
            wrongs.clone().map(|wrongs| visit.handle(Event::Pay(Err(wrongs))));
            visit.handle(Event::Heard);
            assert_eq!(visit.handle(replaced()), [Command::AskOffer]);
            visit
        };
        let mut told = form();
        let commands = told.handle(Event::Offered(Ok(Some(offer.clone()))));
        assert_eq!(commands, [Command::Follow { intent: "pi_2".into() }, Command::AskIn { pause_s: 1 }]);
        assert_eq!(told.handle(Event::Accept), [Command::Adopt(offer.clone())]);

        assert_eq!(form().handle(Event::Offered(Ok(None))), [Command::Reload], "paid, or under way, by now");
        let mut untold = form();
        assert!(matches!(
            untold.handle(Event::Offered(Err(Note::NoConnection))).as_slice(),
            [Command::AskIn { .. }]
        ));
        let mut pressed = form();
        pressed.handle(Event::Pay(Ok(self::form())));
        assert_eq!(
            pressed.handle(Event::Offered(Ok(Some(offer.clone())))),
            [],
            "it waits for an answer of its own"
        );
    }
    assert_eq!(known(Declined).handle(replaced()), [Command::Reload], "nothing is typed there");
}

#[test]
fn a_tab_that_hears_of_another_asks_and_shows_what_the_server_says() {
    let mut visit = Visit::new(Stage::Ready);
    assert_eq!(visit.handle(Event::Heard), [Command::Ask]);
    assert_eq!(visit.handle(asked(Created)), [Command::AskIn { pause_s: 1 }]);
    assert_eq!(visit.stage(), &Stage::Ready, "a message alone is not believed");
    assert_eq!(visit.handle(asked(Processing)), [Command::AskIn { pause_s: 1 }]);
    assert_eq!(visit.stage(), &Stage::Elsewhere);
    assert_eq!(visit.handle(Event::Pay(Ok(form()))), []);
    visit.handle(asked(Confirming));
    assert_eq!(visit.stage().name(), "confirming");
    visit.handle(asked(Succeeded));
    assert_eq!(visit.stage().name(), "succeeded");
}

#[test]
fn n1_an_open_form_asks_whether_another_device_pays_and_stops_after_an_hour() {
    let mut visit = Visit::new(Stage::Ready);
    assert_eq!(visit.open(Past::New), [Command::AskIn { pause_s: 15 }]);
    let mut pauses = Vec::new();
    while let [Command::AskIn { pause_s }] = visit.handle(asked(Created)).as_slice() {
        pauses.push(*pause_s);
    }
    assert_eq!((&pauses[..8], pauses.len()), ([15, 15, 15, 15, 15, 15, 15, 60].as_slice(), 67));
    assert_eq!(visit.handle(Event::Heard), [Command::Ask], "somebody looks at it");
    assert_eq!(visit.handle(asked(Created)), [Command::AskIn { pause_s: 1 }]);
    visit.handle(asked(Succeeded));
    assert_eq!(visit.stage().name(), "succeeded");
}

#[test]
fn a_page_that_was_here_before_looks_whether_its_submit_arrived() {
    assert_eq!(Visit::new(Stage::Ready).open(Past::Opened), [Command::Ask]);
    assert_eq!(known(Processing).open(Past::New), [Command::AskIn { pause_s: 1 }]);
    assert_eq!(known(Declined).open(Past::Opened), [Command::Forget]);
    assert_eq!(known(Authorized).open(Past::Opened), [Command::AskIn { pause_s: 60 }]);
}

#[test]
fn a_reload_in_mid_payment_is_not_another_tab() {
    let mut visit = known(Processing);
    visit.open(Past::Opened);
    visit.handle(asked(Processing));
    assert_eq!(visit.stage().name(), "processing");
}

/// The page was rendered before its own submit arrived.
#[test]
fn n1_a_tab_that_was_reloaded_while_its_submit_was_on_its_way_is_not_another_tab() {
    let mut visit = Visit::new(Stage::Ready);
    assert_eq!(visit.open(Past::Begun), [Command::Ask]);
    visit.handle(asked(Created));
    visit.handle(asked(Processing));
    assert_eq!((visit.stage().name(), visit.other_way()), ("processing", None));
    visit.handle(asked(Confirming));
    assert_eq!((visit.stage().name(), visit.other_way()), ("confirming", None));

    let mut other = Visit::new(Stage::Ready);
    other.open(Past::Opened);
    other.handle(asked(Processing));
    assert_eq!(other.stage().name(), "elsewhere");
    other.handle(asked(Confirming));
    assert_eq!(other.other_way(), Some(OtherWay::Tab), "it only shares the storage");
}

#[test]
fn the_card_of_the_other_tab_is_named() {
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::Seen(with_last4(Succeeded, "4477"))));
    assert_eq!(visit.other_way(), Some(OtherWay::Card("4477")));
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::Seen(with_last4(Declined, "4444"))));
    assert_eq!(visit.other_way(), None, "this page's own card");
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::Seen(Seen::bare(Processing))));
    assert_eq!(visit.other_way(), None);
    visit.handle(Event::Asked(Ok(with_last4(Declined, "4600"))));
    assert_eq!(visit.other_way(), Some(OtherWay::Card("4600")));
}

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
fn fault_65_new_terms_of_another_try_are_told_before_anything_can_be_pressed() {
    for new in [offer(2, "1700.00"), offer(2, "1500.00")] {
        let mut visit = known(Declined).showing(Some(offer(1, "1500.00").terms));
        visit.handle(Event::TryAgain);
        visit.handle(Event::Renewed(Ok(())));
        let commands = visit.handle(Event::Offered(Ok(Some(new.clone()))));
        assert_eq!(commands, [Command::Follow { intent: "pi_2".into() }, Command::AskIn { pause_s: 1 }]);
        assert_eq!(visit.stage(), &Stage::Changed(new.clone()));
        assert_eq!(visit.handle(Event::Pay(Ok(form()))), []);
        assert_eq!(visit.handle(Event::Accept), [Command::Adopt(new)]);
        assert!(visit.watches(), "it is another try all the same");
    }
}

/// The shopper may have corrected the card in between.
#[test]
fn fault_67_the_card_of_a_lost_press_is_named_where_another_was_sent_after_it() {
    let (mut visit, _) = pressed_twice(Reply::FieldRefused(Wrong::NumberRefused));
    assert_eq!(visit.handle(Event::Due), [Command::Ask]);
    visit.handle(Event::Asked(Ok(with_last4(Declined, "4600"))));
    assert_eq!((visit.stage().name(), visit.other_way()), ("declined", Some(OtherWay::Card("4600"))));
}

#[test]
fn nobody_leaves_for_the_bank_while_a_press_is_being_sent() {
    let mut visit = submitting();
    assert!(!visit.may_leave());
    assert_eq!(visit.handle(Event::ToBank), []);
    visit.handle(Event::Replied(Reply::NotSent(Note::NoToken)));
    assert!(visit.may_leave());
    assert_eq!(visit.handle(Event::ToBank), [Command::Begin, Command::Tell]);
}

#[test]
fn n1_the_banks_page_in_another_tab_is_named_where_a_card_was_offered() {
    let at_the_bank = || Seen { by_redirect: true, ..Seen::bare(RequiresAction) };
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::Seen(at_the_bank())));
    assert_eq!(visit.other_way(), Some(OtherWay::Bank));
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::Seen(Seen::bare(RequiresAction))));
    assert_eq!(visit.other_way(), None, "this page's own card");
    let mut visit = Visit::new(Stage::Ready);
    visit.handle(Event::Asked(Ok(at_the_bank())));
    assert_eq!(visit.other_way(), Some(OtherWay::Tab));
    visit.handle(asked(Succeeded));
    assert_eq!(visit.other_way(), None, "there is nothing to go on with");
    let mut visit = Visit::new(Stage::Ready);
    assert_eq!(visit.handle(Event::ToBank), [Command::Begin, Command::Tell]);
    visit.handle(Event::Asked(Ok(at_the_bank())));
    assert_eq!(visit.other_way(), None, "begun here, and come back from");
    assert_eq!(known(RequiresAction).other_way(), None, "a page that was reloaded cannot tell");
}

#[test]
fn n1_a_tab_says_why_nothing_is_sent_as_the_paying_one_does() {
    let mut visit = Visit::new(Stage::Ready);
    visit.handle(asked(Processing));
    assert_eq!(visit.stage().name(), "elsewhere");
    visit.handle(Event::Asked(Ok(Seen { stuck: true, ..Seen::bare(Processing) })));
    assert_eq!((visit.stage().name(), visit.other_way()), ("processing", Some(OtherWay::Tab)));
    visit.handle(asked(Processing));
    assert_eq!(visit.stage().name(), "processing", "and stays there");
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
fn a_page_from_the_back_forward_cache_shows_the_truth() {
    let mut visit = submitting();
    assert_eq!(visit.handle(Event::Restored), [Command::Ask]);
    assert_eq!(visit.stage(), &Stage::Checking, "no dead spinner");
    assert_eq!(known(RequiresAction).handle(Event::Restored), [Command::Ask]);
    assert_eq!(known(Declined).handle(Event::Restored), [Command::Ask]);
    assert_eq!(known(Succeeded).handle(Event::Restored), [Command::Ask]);
    assert_eq!(Visit::new(Stage::Ready).handle(Event::Restored), [Command::Ask]);
}

#[test]
fn n1_a_press_that_was_answered_with_another_cards_end_says_so_when_the_order_has_gone_on() {
    let press = |used| {
        let mut visit = submitting();
        visit.handle(Event::Replied(Reply::Seen(with_last4(Declined, used))));
        visit.handle(behind(Declined))
    };
    assert_eq!(press("4600"), [Command::KeepBehind, Command::Reload]);
    assert_eq!(press("4444"), [Command::Reload], "it was this page's own");
}

#[test]
fn n1_a_page_that_replaced_a_press_that_came_too_late_says_so_as_long_as_it_stands() {
    for state in [Processing, Confirming, RequiresAction] {
        let mut visit = known(state);
        assert_eq!(visit.handle(Event::WasBehind), []);
        for next in [state, Confirming, Succeeded] {
            visit.handle(asked(next));
            assert_eq!(visit.note(), Some(Note::Behind), "{state:?}, then {next:?}");
        }
    }
    let mut form_again = Visit::new(Stage::Ready);
    form_again.handle(Event::WasBehind);
    assert_eq!(form_again.note(), Some(Note::Behind));
    form_again.handle(Event::Pay(Ok(form())));
    assert_eq!(form_again.note(), None);
}

/// A copy does not know whether the order was paid since.
#[test]
fn fault_23_a_form_that_we_were_away_from_says_so_and_asks_until_it_is_known() {
    let stuck = || Event::Asked(Ok(Seen { stuck: true, ..Seen::bare(Created) }));
    let away = || Visit::new(Stage::Ready).noting(Some(Note::Away));
    let mut visit = away();
    assert_eq!(visit.open(Past::New), [Command::Ask]);
    for pause_s in [1, 2, 4, 8, 15, 15, 15] {
        assert_eq!(visit.handle(stuck()), [Command::AskIn { pause_s }]);
        assert_eq!((visit.stage(), visit.note()), (&Stage::Ready, Some(Note::Away)));
    }
    visit.handle(asked(Created));
    assert_eq!((visit.stage(), visit.note()), (&Stage::Ready, None), "nothing happened");

    let mut paid = away();
    paid.open(Past::New);
    assert_eq!(paid.handle(behind(Created)), [Command::Reload]);

    let mut lost = submitting();
    lost.handle(Event::Replied(Reply::Lost));
    lost.handle(stuck());
    lost.handle(stuck());
    assert_eq!(lost.note(), Some(Note::Unreached), "what became of the press is said first");
}

fn behind(state: IntentState) -> Event {
    Event::Asked(Ok(Seen { behind: true, ..Seen::bare(state) }))
}

#[test]
fn a_page_whose_intent_was_left_behind_is_read_anew_and_no_other_is() {
    for state in [Declined, IntentState::Canceled, RequiresAction, Confirming] {
        assert_eq!(known(state).handle(behind(state)), [Command::Reload], "{state:?}");
    }
    assert_eq!(known(Declined).handle(asked(Declined)), [], "a reload would only bring the same");
    assert_eq!(known(Declined).handle(Event::Asked(Err(Note::NoConnection))), []);
    let mut visit = Visit::new(Stage::Ready);
    visit.handle(Event::Heard);
    assert_eq!(
        visit.handle(behind(IntentState::Canceled)),
        [Command::Reload],
        "another order's terms stand there"
    );
    assert_eq!(submitting().handle(behind(Created)), [], "it waits for an answer of its own");
}

#[test]
fn n1_what_the_stream_tells_is_shown_and_the_other_tabs_are_told_to_ask() {
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::Seen(Seen::bare(Confirming))));
    assert!(visit.watches());
    let told = visit.handle(Event::Told(Some(Seen::bare(Confirming))));
    assert_eq!(
        told,
        [Command::AskIn { pause_s: 30 }, Command::Tell],
        "seldom, should the stream die without a word"
    );
    let paid = visit.handle(Event::Told(Some(Seen::bare(Succeeded))));
    assert_eq!(paid, [Command::Forget, Command::AskIn { pause_s: 60 }, Command::Tell]);
    assert_eq!(visit.stage().name(), "succeeded");
    assert!(!visit.watches());
    assert_eq!(visit.handle(Event::Told(None)), []);
}

#[test]
fn n2_a_broken_stream_is_replaced_by_questions_at_growing_intervals() {
    let mut visit = known(Confirming);
    visit.handle(Event::Told(Some(Seen::bare(Confirming))));
    assert_eq!(visit.handle(Event::Told(None)), [Command::AskIn { pause_s: 1 }]);
    assert_eq!(visit.handle(Event::Told(None)), [], "it is broken already");
    for pause_s in [2, 4, 8, 15, 15] {
        assert_eq!(visit.handle(Event::Asked(Err(Note::NoConnection))), [Command::AskIn { pause_s }]);
    }
    assert_eq!(visit.handle(asked(Confirming)), [Command::AskIn { pause_s: 15 }]);
    visit.handle(Event::Told(Some(Seen::bare(Confirming))));
    assert_eq!(visit.pause_s(), Some(30));
}

#[test]
fn n2_whoever_waits_is_told_that_we_cannot_be_asked_until_we_can() {
    for state in [Processing, RequiresAction, Confirming, IntentState::NeedsReview] {
        let mut visit = known(state);
        visit.open(Past::New);
        assert_eq!(visit.handle(Event::Asked(Err(Note::NoConnection))), [Command::AskIn { pause_s: 2 }]);
        assert_eq!((visit.stage().name(), visit.note()), (state.as_str(), Some(Note::NoConnection)));
        visit.handle(asked(state));
        assert_eq!(visit.note(), None, "{state:?}");
    }
    let mut visit = known(RequiresAction);
    visit.handle(Event::Released(Ok(Seen::bare(RequiresAction))));
    visit.handle(Event::Asked(Err(Note::NoConnection)));
    assert_eq!(visit.note(), Some(Note::ReleaseAsked), "what the shopper asked for is said first");
    let mut open = Visit::new(Stage::Ready);
    open.handle(Event::Heard);
    open.handle(Event::Asked(Err(Note::NoConnection)));
    assert_eq!(open.note(), None, "a form works without");
}

#[test]
fn only_a_page_that_waits_wants_the_stream() {
    for state in [Processing, RequiresAction, Confirming, IntentState::NeedsReview] {
        assert!(known(state).watches(), "{state:?}");
    }
    for state in [Declined, IntentState::Canceled, IntentState::Expired] {
        assert!(known(state).watches(), "{state:?}: whether it can still be tried again");
        assert!(!Visit::new(Stage::Known(Seen { closed: true, ..Seen::bare(state) })).watches(), "{state:?}");
    }
    assert!(known(Authorized).watches(), "the hold will be taken, or let go");
    assert!(!known(Succeeded).watches());
    assert!(!Visit::new(Stage::Ready).watches() && !submitting().watches());
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::Lost));
    assert!(visit.watches(), "the server may be back before the next question is due");
    visit.handle(Event::Told(Some(Seen::bare(Created))));
    assert_eq!((visit.stage(), visit.note()), (&Stage::Ready, Some(Note::Unreached)));
}

/// It was told of the try before, and of this one's beginning.
#[test]
fn n1_the_form_of_another_try_is_told_who_pays_it() {
    let form_again = || Visit::new(Stage::Ready).again(true);
    assert!(form_again().watches());
    for (state, shown) in [(Processing, "elsewhere"), (Confirming, "confirming"), (Succeeded, "succeeded")] {
        let mut visit = form_again();
        visit.open(Past::New);
        let told = visit.handle(Event::Told(Some(Seen::bare(Created))));
        assert_eq!(told, [Command::AskIn { pause_s: 30 }, Command::Tell], "no news");
        visit.handle(Event::Pay(Err(vec![Wrong::CvcMissing])));
        assert!(visit.watches());
        visit.handle(Event::Told(Some(Seen::bare(state))));
        assert_eq!(visit.stage().name(), shown);
    }
    let mut sent = form_again();
    sent.handle(Event::Pay(Ok(form())));
    assert!(!sent.watches(), "it waits for an answer of its own");
}

/// "Nothing more to do" is untrue once the hold was let go.
#[test]
fn an_open_page_learns_what_becomes_of_a_hold() {
    for (end, then) in [
        (Succeeded, vec![Command::Forget, Command::AskIn { pause_s: 60 }]),
        (IntentState::Canceled, vec![Command::Forget]),
        (Confirming, vec![Command::AskIn { pause_s: 30 }]),
    ] {
        let mut visit = submitting();
        visit.handle(Event::Replied(Reply::Seen(Seen::bare(Authorized))));
        for _ in 0..100 {
            assert_eq!(visit.handle(Event::Due), [Command::Ask]);
            assert_eq!(visit.handle(asked(Authorized)), [Command::AskIn { pause_s: 60 }]);
        }
        let told = visit.handle(Event::Told(Some(Seen::bare(Authorized))));
        assert_eq!(
            told,
            [Command::AskIn { pause_s: 60 }, Command::Tell],
            "seldom where the stream tells, too"
        );
        assert_eq!(visit.handle(asked(end)), then, "{end:?}");
        assert_eq!(visit.stage().name(), end.as_str());
    }
}

/// Trail, headings and the live region are written by the page's script, of what the visit shows only.
#[test]
fn an_answer_that_comes_too_late_is_not_shown() {
    let stuck = || Seen { stuck: true, ..Seen::bare(Processing) };
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::Seen(stuck())));
    assert!(visit.shows(&stuck()));
    visit.handle(Event::Told(Some(Seen::bare(Succeeded))));
    visit.handle(Event::Asked(Ok(stuck())));
    assert!(visit.shows(&Seen::bare(Succeeded)) && !visit.shows(&stuck()));

    let mut declined = known(Declined);
    declined.handle(Event::Told(Some(stuck())));
    assert!(!declined.shows(&stuck()), "a server that came back under the gate");
    for mut form in [Visit::new(Stage::Ready), submitting()] {
        form.handle(asked(Created));
        assert!(!form.shows(&Seen::bare(Created)), "a form shows nothing of it");
    }
}

#[test]
fn n2_whoever_waits_is_told_why_it_is_not_known_how_the_payment_stands() {
    let mut visit = known(Confirming);
    for note in [Note::NotNow, Note::NoConnection, Note::NotShown, Note::NoConnection] {
        assert!(matches!(visit.handle(Event::Asked(Err(note))).as_slice(), [Command::AskIn { .. }]));
        assert_eq!(visit.note(), Some(note), "the last reason is the true one");
    }
    visit.handle(asked(Confirming));
    assert_eq!(visit.note(), None);

    let mut visit = known(RequiresAction);
    visit.handle(Event::Released(Err(Note::NotNow)));
    assert_eq!(visit.note(), Some(Note::NotNow), "there is a connection");
    visit.handle(Event::Released(Err(Note::NoConnection)));
    assert_eq!(visit.note(), Some(Note::NotReleased));
    visit.handle(Event::Told(Some(Seen::bare(RequiresAction))));
    assert_eq!(visit.note(), None, "we are in touch again");
}

#[test]
fn n2_check_now_asks_the_bank_where_there_is_something_to_ask() {
    for state in [Processing, RequiresAction, Confirming, IntentState::NeedsReview] {
        assert_eq!(known(state).handle(Event::Check), [Command::Check]);
    }
    assert_eq!(known(Succeeded).handle(Event::Check), []);
    let mut visit = submitting();
    assert_eq!(visit.handle(Event::Check), []);
    visit.handle(Event::Replied(Reply::Lost));
    assert_eq!(visit.handle(Event::Check), [Command::Ask], "whether it arrived is ours to know");
}

#[test]
fn paying_another_way_says_until_when_the_bank_holds_it_and_offers_no_form_before() {
    let mut visit = known(RequiresAction);
    assert_eq!(visit.handle(Event::Release), [Command::Release]);
    let by = Seen { released_by: Some("2026-11-30T11:00:00Z".into()), ..Seen::bare(RequiresAction) };
    visit.handle(Event::Released(Ok(by)));
    assert_eq!((visit.stage().name(), visit.note()), ("requires_action", Some(Note::ReleasedBy)));
    visit.handle(Event::Told(Some(Seen::bare(RequiresAction))));
    assert_eq!(visit.note(), Some(Note::ReleasedBy), "what was said stays true");
    assert_eq!(visit.handle(Event::Pay(Ok(form()))), []);
    visit.handle(asked(IntentState::Canceled));
    assert_eq!((visit.stage().name(), visit.note()), ("canceled", None));

    let mut visit = known(RequiresAction);
    visit.handle(Event::Released(Err(Note::NoConnection)));
    assert_eq!(visit.note(), Some(Note::NotReleased));
    visit.handle(Event::Released(Ok(Seen::bare(RequiresAction))));
    assert_eq!(visit.note(), Some(Note::ReleaseAsked));
    visit.handle(Event::Released(Ok(Seen::bare(Succeeded))));
    assert_eq!((visit.stage().name(), visit.note()), ("succeeded", None), "confirmed meanwhile");
    assert_eq!(known(Confirming).handle(Event::Release), []);
}

fn in_question() -> Event {
    Event::Asked(Ok(Seen { in_question: true, ..Seen::bare(IntentState::NeedsReview) }))
}

#[test]
fn n2_a_review_that_ends_without_money_gives_the_form_back() {
    let mut visit = Visit::new(Stage::Ready);
    visit.handle(in_question());
    assert_eq!(visit.stage().name(), "needs_review");
    assert!(visit.watches());
    assert_eq!(visit.handle(asked(Created)), [Command::Reload]);
    let mut opened = known(IntentState::NeedsReview);
    opened.open(Past::New);
    assert_eq!(opened.handle(Event::Told(Some(Seen::bare(Created)))), [Command::Reload, Command::Tell]);
}

#[test]
fn n1_of_other_money_in_question_nobody_is_said_to_have_begun_to_pay() {
    let mut visit = Visit::new(Stage::Ready);
    visit.handle(in_question());
    assert_eq!(visit.other_way(), None);
    let mut begun = Visit::new(Stage::Ready);
    begun.handle(asked(IntentState::NeedsReview));
    assert_eq!(begun.other_way(), Some(OtherWay::Tab));
}

/// Every sequence of six events from a small alphabet: a submit leaves only from an open form, and at most one is
/// unanswered at a time.
#[test]
fn no_sequence_of_events_has_two_submits_in_flight() {
    let events: [fn() -> Event; 10] = [
        || Event::Pay(Ok(form())),
        || Event::Replied(Reply::Lost),
        || asked(Created),
        || asked(Processing),
        || Event::Asked(Err(Note::NoConnection)),
        || Event::Heard,
        || Event::Restored,
        || Event::Replied(Reply::Seen(Seen::bare(Confirming))),
        || Event::Told(Some(Seen::bare(Created))),
        || Event::Check,
    ];
    for sequence in 0..10_usize.pow(6) {
        let mut visit = Visit::new(Stage::Ready);
        let mut under_way = false;
        for place in 0..6 {
            let event = events[sequence / 10_usize.pow(place) % 10]();
            // Only the server's word that it knows of none ends a submit that was not answered.
            let cleared =
                matches!(&event, Event::Asked(Ok(seen)) | Event::Told(Some(seen)) if seen.state == Created);
            let checking = *visit.stage() == Stage::Checking;
            let commands = visit.handle(event);
            under_way &= !(cleared && checking);
            if commands.iter().any(|command| matches!(command, Command::Submit(_))) {
                assert!(!under_way, "{sequence}");
                under_way = true;
            }
        }
    }
}
