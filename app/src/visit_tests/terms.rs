//! Terms that change under a page.

use super::*;

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

/// Another device was declined and tried again: the form is the same for the shopper.
#[test]
fn n1_what_was_typed_stays_where_another_intent_is_offered_with_the_same_terms() {
    let (before, after) = (offer(1, "1500.00"), Offer { intent: "pi_2".into(), ..offer(1, "1500.00") });
    let forms: [fn() -> Visit; 5] = [
        || Visit::new(Stage::Ready),
        || {
            let mut visit = Visit::new(Stage::Ready);
            visit.handle(Event::Pay(Err(vec![Wrong::NumberCheck])));
            visit
        },
        || heard_of(Processing),
        || heard_of(RequiresAction),
        || heard_of(Declined),
    ];
    for form in forms {
        for news in [behind(Declined), behind(IntentState::Expired)] {
            let mut visit = form().showing(Some(before.terms.clone()));
            let (turn, is_known) = (visit.turn(), matches!(visit.stage(), Stage::Known(_)));
            assert_eq!(visit.keeps_card(), is_known, "nothing takes the card out of a form that is shown");
            assert_eq!(visit.handle(news), [Command::AskOffer]);
            let untold = visit.handle(Event::Offered(Err(Note::NoConnection)));
            assert!(matches!(&untold[..], [Command::AskIn { .. }]), "{untold:?}");
            let was_invalid = matches!(visit.stage(), Stage::Invalid(_));
            let taken = visit.handle(Event::Offered(Ok(Some(after.clone()))));
            assert!(
                matches!(&taken[..], [Command::Adopt(adopted), Command::AskIn { .. }] if *adopted == after),
                "{taken:?}"
            );
            let stage = if was_invalid { Stage::Invalid(vec![Wrong::NumberCheck]) } else { Stage::Ready };
            assert_eq!((visit.stage(), visit.awaits(turn)), (&stage, false));
        }
    }
}

/// A form, and a card that another device offered.
fn heard_of(state: IntentState) -> Visit {
    let mut visit = Visit::new(Stage::Ready);
    visit.handle(asked(state));
    visit
}

/// Other money for the order stood before a person, and is none of this shopper's.
#[test]
fn n1_what_was_typed_stays_where_other_money_was_in_question() {
    let mut visit = Visit::new(Stage::Ready).showing(Some(offer(1, "1500.00").terms));
    visit.handle(in_question());
    assert!(visit.keeps_card());
    assert_eq!(visit.handle(asked(Created)), [Command::AskOffer]);
    visit.handle(Event::Offered(Ok(Some(offer(1, "1500.00")))));
    assert_eq!(visit.stage(), &Stage::Ready);
    let mut opened =
        Visit::new(Stage::Known(Seen { in_question: true, ..Seen::bare(IntentState::NeedsReview) }));
    assert_eq!(opened.handle(asked(Created)), [Command::Reload], "nothing is typed there");
}

/// Of a press that sent nothing nothing is left.
#[test]
fn n1_what_was_typed_stays_after_a_press_that_sent_nothing() {
    let mut visit = submitting();
    visit.handle(Event::Replied(Reply::NotSent(Note::NoToken)));
    assert_eq!(visit.handle(behind(Declined)), [Command::AskOffer]);
}

/// Nor is anything offered where the order is paid, or under way, or money may be taken; and what was pressed here is not taken up by
/// itself.
#[test]
fn n1_whoever_pressed_here_or_is_offered_nothing_gets_the_page_as_it_is_now() {
    for mut visit in [Visit::new(Stage::Ready), heard_of(Processing), heard_of(Declined)] {
        assert_eq!(visit.handle(behind(Declined)), [Command::AskOffer]);
        assert_eq!(visit.handle(Event::Offered(Ok(None))), [Command::Reload]);
    }
    for state in [IntentState::NeedsReview, Processing, Succeeded] {
        assert_eq!(heard_of(Declined).handle(behind(state)), [Command::Reload], "{state:?}");
    }
    assert!(!heard_of(Succeeded).keeps_card());
    let mut pressed = submitting();
    pressed.handle(Event::Replied(Reply::Seen(with_last4(Declined, "4444"))));
    assert_eq!(pressed.handle(behind(Declined)), [Command::Reload]);
    assert_eq!(pressed.handle(Event::Offered(Ok(Some(offer(2, "1500.00"))))), []);
    let mut sent = Visit::new(Stage::Ready);
    sent.open(Past::Begun);
    assert_eq!(sent.handle(behind(Declined)), [Command::Reload]);
    assert_eq!(known(Declined).handle(behind(Declined)), [Command::Reload], "nothing is typed there");
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
