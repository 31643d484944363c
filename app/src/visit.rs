//! What a visit to the payment page does next: events in, commands out. Pure: no clock, no storage, no network.
//! Must never invite to pay while a payment may be under way, and never send two submits at once.

mod answers;
mod messages;

use contract::IntentState;

use self::answers::CALM;
pub use self::messages::{Command, Event, OtherWay, Past, Reply};
use crate::{
    form::{Form, Wrong},
    stage::{Note, Stage},
    wire::{Offer, Seen, Terms},
};

/// The page's own memory of what is going on.
#[derive(Clone, Debug)]
pub struct Visit {
    stage: Stage,
    note: Option<Note>,
    /// Questions since the stage began.
    asked: u32,
    /// The pause that runs now.
    pause_s: Option<u32>,
    /// Last digits of the card this page sent last.
    offered: Option<String>,
    /// Whether this tab had the form open all the while, and nothing that it sent can be on its way, from before a reload neither.
    idle: bool,
    /// Whether the stream tells.
    live: bool,
    /// Whether the form is that of another try: whoever looked at the one before goes on being told.
    again: bool,
    /// What the form says would be agreed to.
    terms: Option<Terms>,
    /// How many intents were followed before this one.
    turn: u32,
}

impl Visit {
    /// A page that opens with what the server rendered.
    pub fn new(stage: Stage) -> Self {
        let idle = stage == Stage::Ready;
        Self {
            stage,
            note: None,
            asked: CALM,
            pause_s: None,
            offered: None,
            idle,
            live: false,
            again: false,
            terms: None,
            turn: 0,
        }
    }

    /// The same, with the line that the server wrote above the form.
    #[must_use]
    pub fn noting(self, note: Option<Note>) -> Self {
        Self { note, ..self }
    }

    /// The same, with the form of another try.
    #[must_use]
    pub fn again(self, again: bool) -> Self {
        Self { again, ..self }
    }

    /// The same, with the terms that stand on the form.
    #[must_use]
    pub fn showing(self, terms: Option<Terms>) -> Self {
        Self { terms, ..self }
    }

    /// Which of the intents that the page follows one after another is asked about.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// Whether an answer to a question of that turn is one: of an intent that was followed before it says nothing.
    pub fn awaits(&self, turn: u32) -> bool {
        self.turn == turn
    }

    /// Where the page stands.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Whether the intent has ended.
    pub fn is_over(&self) -> bool {
        matches!(&self.stage, Stage::Known(seen) if seen.state.is_final())
    }

    /// Whether the page wants the stream.
    pub fn watches(&self) -> bool {
        match &self.stage {
            Stage::Checking | Stage::Elsewhere | Stage::Changed(_) => true,
            Stage::Known(seen) => !seen.state.is_final() || may_try_again(seen),
            Stage::Ready | Stage::Invalid(_) => self.again,
            Stage::Submitting | Stage::Renewing(_) => false,
        }
    }

    /// Whether this is what the page shows: not so where it came too late, or waits for its turn.
    pub fn shows(&self, seen: &Seen) -> bool {
        matches!(&self.stage, Stage::Known(known) if known == seen)
    }

    /// The line above the screen.
    pub fn note(&self) -> Option<Note> {
        self.note
    }

    /// Seconds until the next question, while one is waited for.
    pub fn pause_s(&self) -> Option<u32> {
        self.pause_s
    }

    /// When it was not this page's card that was used, what was (fault 67).
    pub fn other_way(&self) -> Option<OtherWay<'_>> {
        let (Stage::Known(seen) | Stage::Renewing(seen)) = &self.stage else { return None };
        match (self.offered.as_deref(), seen.last4.as_deref()) {
            (Some(_), _) if seen.by_redirect => Some(OtherWay::Bank),
            (Some(offered), Some(used)) => (used != offered).then_some(OtherWay::Card(used)),
            (Some(_), None) => None,
            (None, _) => (self.idle && seen.state.is_awaited() && !seen.in_question).then_some(OtherWay::Tab),
        }
    }

    /// Whether the card that stands in the form was never tried, and may be: nothing was sent from here, or another one was used and took
    /// nothing.
    pub fn keeps_card(&self) -> bool {
        let (Stage::Known(seen) | Stage::Renewing(seen)) = &self.stage else { return false };
        let is_untried = may_try_again(seen) && matches!(self.other_way(), Some(OtherWay::Card(_)));
        is_untried || (self.is_unpressed() && !is_paid(seen) && !seen.closed)
    }

    /// Whether the shopper may leave for the bank's page: not while a press is being sent, whose answer would be lost.
    pub fn may_leave(&self) -> bool {
        self.stage != Stage::Submitting
    }

    /// What to do first.
    pub fn open(&mut self, past: Past) -> Vec<Command> {
        self.idle &= past != Past::Begun;
        match &self.stage {
            Stage::Known(seen) => {
                let mut first = if seen.state.is_final() { vec![Command::Forget] } else { Vec::new() };
                self.asked = 0;
                first.extend(self.ask_later());
                first
            }
            Stage::Ready if past != Past::New || self.note.is_some() => self.handle(Event::Heard),
            Stage::Ready => self.ask_later(),
            Stage::Invalid(_)
            | Stage::Submitting
            | Stage::Checking
            | Stage::Elsewhere
            | Stage::Changed(_)
            | Stage::Renewing(_) => Vec::new(),
        }
    }

    /// The rules.
    pub fn handle(&mut self, event: Event) -> Vec<Command> {
        match event {
            Event::ToBank if !self.may_leave() => Vec::new(),
            Event::ToBank => {
                self.idle = false;
                vec![Command::Begin, Command::Tell]
            }
            Event::Pay(form) => self.pay(form),
            Event::Replied(reply) => self.take_reply(reply),
            Event::Asked(seen) => self.take_answer(seen),
            Event::Told(seen) => self.take_told(seen),
            Event::Offered(offer) => self.take_offer(offer),
            Event::Due => {
                self.pause_s = None;
                vec![Command::Ask]
            }
            Event::Check => self.check_now(),
            Event::Release if self.is_at_the_bank() => vec![Command::Release],
            Event::Release => Vec::new(),
            Event::Released(seen) => self.take_release(seen),
            Event::Heard => self.hear(),
            Event::Restored if self.stage == Stage::Submitting => self.check(),
            Event::Restored => self.hear(),
            Event::Accept => self.accept(),
            Event::TryAgain => self.try_again(),
            Event::WasBehind => {
                self.note = Some(Note::Behind);
                Vec::new()
            }
            Event::Renewed(Ok(())) => vec![Command::Tell, Command::AskOffer],
            Event::Renewed(Err(note)) => {
                if let Stage::Renewing(seen) = &self.stage {
                    // What was the last try stays it: the button goes.
                    let closed = seen.closed || note == Note::TooManyTries;
                    self.enter(Stage::Known(Seen { closed, ..seen.clone() }), Some(note));
                }
                Vec::new()
            }
        }
    }

    fn is_at_the_bank(&self) -> bool {
        matches!(&self.stage, Stage::Known(seen) if seen.state == IntentState::RequiresAction)
    }

    fn enter(&mut self, stage: Stage, note: Option<Note>) {
        if stage.name() != self.stage.name() {
            self.asked = 0;
        }
        self.stage = stage;
        self.note = note;
        self.pause_s = None;
        // What nobody wants any more tells nothing either.
        self.live &= self.watches();
    }

    fn pay(&mut self, form: Result<Form, Vec<Wrong>>) -> Vec<Command> {
        // Single flight: a double click, or Enter and a click, is one request (fault 1).
        if !matches!(self.stage, Stage::Ready | Stage::Invalid(_)) {
            return Vec::new();
        }
        match form {
            Ok(form) => {
                self.offered = Some(form.card.last4().to_owned());
                self.enter(Stage::Submitting, None);
                vec![Command::Begin, Command::Tell, Command::Submit(form)]
            }
            Err(wrongs) => {
                self.enter(Stage::Invalid(wrongs), None);
                Vec::new()
            }
        }
    }

    fn hear(&mut self) -> Vec<Command> {
        match &self.stage {
            Stage::Submitting | Stage::Renewing(_) => Vec::new(),
            Stage::Ready | Stage::Invalid(_) => {
                self.asked = 0;
                vec![Command::Ask]
            }
            Stage::Checking | Stage::Elsewhere | Stage::Changed(_) | Stage::Known(_) => vec![Command::Ask],
        }
    }

    fn check_now(&mut self) -> Vec<Command> {
        match &self.stage {
            Stage::Known(seen) if seen.state.is_awaited() => vec![Command::Check],
            Stage::Checking | Stage::Elsewhere => vec![Command::Ask],
            Stage::Known(_)
            | Stage::Ready
            | Stage::Invalid(_)
            | Stage::Submitting
            | Stage::Changed(_)
            | Stage::Renewing(_) => Vec::new(),
        }
    }

    /// The new terms are agreed to by pressing pay again, not by having seen them.
    fn accept(&mut self) -> Vec<Command> {
        let Stage::Changed(offer) = &self.stage else { return Vec::new() };
        let offer = offer.clone();
        vec![self.adopt(offer)]
    }

    /// The form, with what is offered now.
    fn adopt(&mut self, offer: Offer) -> Command {
        self.terms = Some(offer.terms.clone());
        self.enter(Stage::Ready, None);
        Command::Adopt(offer)
    }

    fn try_again(&mut self) -> Vec<Command> {
        match &self.stage {
            Stage::Known(seen) if may_try_again(seen) => {
                self.enter(Stage::Renewing(seen.clone()), None);
                vec![Command::Renew]
            }
            Stage::Known(_)
            | Stage::Ready
            | Stage::Invalid(_)
            | Stage::Submitting
            | Stage::Checking
            | Stage::Elsewhere
            | Stage::Changed(_)
            | Stage::Renewing(_) => Vec::new(),
        }
    }
}

/// Whether the order is paid, so that nothing but another charge is news.
fn is_paid(seen: &Seen) -> bool {
    seen.state == IntentState::Succeeded
}

/// Whether the order has other terms, and with them another intent, that nobody had begun to pay.
fn is_replaced(seen: &Seen) -> bool {
    seen.state == IntentState::Canceled && seen.reason.as_deref() == Some("replaced")
}

/// Whether a try has ended without money, and another is possible.
fn may_try_again(seen: &Seen) -> bool {
    seen.state.is_final() && !is_paid(seen) && !seen.closed
}

#[cfg(test)]
#[path = "visit_tests/mod.rs"]
mod tests;
