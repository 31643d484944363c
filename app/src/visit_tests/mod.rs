//! The rules of a visit, one by one, and one property over all of them.

mod ends;
mod presses;
mod tabs;
mod terms;
mod waiting;

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

fn changed() -> (Visit, Offer) {
    let offer = offer(2, "1700.00");
    let mut visit = submitting();
    let commands = visit.handle(Event::Replied(Reply::Changed(offer.clone())));
    assert_eq!(commands, [Command::Follow { intent: "pi_2".into() }, Command::AskIn { pause_s: 1 }]);
    assert_eq!(visit.stage().name(), "changed");
    (visit, offer)
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

fn behind(state: IntentState) -> Event {
    Event::Asked(Ok(Seen { behind: true, ..Seen::bare(state) }))
}

fn in_question() -> Event {
    Event::Asked(Ok(Seen { in_question: true, ..Seen::bare(IntentState::NeedsReview) }))
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
