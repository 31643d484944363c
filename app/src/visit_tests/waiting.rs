//! While a result is awaited: the stream, questions, and what can be asked for.

use super::*;

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
