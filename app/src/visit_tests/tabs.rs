//! Other tabs and devices: whose card and whose press it was.

use super::*;

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

/// The shopper may have corrected the card in between.
#[test]
fn fault_67_the_card_of_a_lost_press_is_named_where_another_was_sent_after_it() {
    let (mut visit, _) = pressed_twice(Reply::FieldRefused(Wrong::NumberRefused));
    assert_eq!(visit.handle(Event::Due), [Command::Ask]);
    visit.handle(Event::Asked(Ok(with_last4(Declined, "4600"))));
    assert_eq!((visit.stage().name(), visit.other_way()), ("declined", Some(OtherWay::Card("4600"))));
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

#[test]
fn a_page_whose_intent_was_left_behind_is_read_anew_and_no_other_is() {
    for state in [Declined, IntentState::Canceled, RequiresAction, Confirming] {
        assert_eq!(known(state).handle(behind(state)), [Command::Reload], "{state:?}");
    }
    assert_eq!(known(Declined).handle(asked(Declined)), [], "a reload would only bring the same");
    assert_eq!(known(Declined).handle(Event::Asked(Err(Note::NoConnection))), []);
    let mut visit = Visit::new(Stage::Ready);
    visit.handle(Event::Heard);
    assert_eq!(visit.handle(behind(Succeeded)), [Command::Reload]);
    assert_eq!(submitting().handle(behind(Created)), [], "it waits for an answer of its own");
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
