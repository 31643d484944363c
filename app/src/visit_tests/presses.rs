//! Pressing pay: one request, and what is made of its answer, or of none.

use super::*;

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
fn a_page_from_the_back_forward_cache_shows_the_truth() {
    let mut visit = submitting();
    assert_eq!(visit.handle(Event::Restored), [Command::Ask]);
    assert_eq!(visit.stage(), &Stage::Checking, "no dead spinner");
    assert_eq!(known(RequiresAction).handle(Event::Restored), [Command::Ask]);
    assert_eq!(known(Declined).handle(Event::Restored), [Command::Ask]);
    assert_eq!(known(Succeeded).handle(Event::Restored), [Command::Ask]);
    assert_eq!(Visit::new(Stage::Ready).handle(Event::Restored), [Command::Ask]);
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
