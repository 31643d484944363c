//! What a visit to the payment page does next: events in, commands out. Pure: no clock, no storage, no network.
//! Must never invite to pay while a payment may be under way, and never send two submits at once.

use contract::IntentState;

use crate::{
    form::{Form, Wrong},
    stage::{Note, Stage},
    wire::{Offer, Seen},
};

/// How often an open form asks after it heard of another tab: 0, 1, 3, 7 and 15 s after.
const GLANCES: u32 = 5;
/// Longest pause between two questions.
const PAUSE_MAX_S: u32 = 15;
/// The pause while the stream tells: a connection can die without a word.
const LIVE_PAUSE_S: u32 = 30;

/// Something that happened to the page.
#[derive(Debug)]
pub enum Event {
    /// The shopper goes on at the bank's page: the browser posts the form.
    ToBank,
    /// The form was sent, by button or key.
    Pay(Result<Form, Vec<Wrong>>),
    /// What came of it.
    Replied(Reply),
    /// The server said how the intent stands; `None` when it could not be asked.
    Asked(Option<Seen>),
    /// The stream told how the intent stands; `None` when it broke.
    Told(Option<Seen>),
    /// The pause before the next question is over.
    Due,
    /// The shopper wants the bank to be asked now.
    Check,
    /// The shopper wants to pay another way than at the bank's page.
    Release,
    /// What came of it; `None` when the server could not be reached.
    Released(Option<Seen>),
    /// This browser has been here before, or another tab did something. Never believed, only a reason to ask.
    Heard,
    /// The page came back from the back-forward cache.
    Restored,
    /// The shopper has read the new terms.
    Accept,
    /// A new try was asked for.
    TryAgain,
    /// Whether it could be had.
    Renewed(Result<(), Note>),
}

/// What came of pressing pay.
#[derive(Debug)]
pub enum Reply {
    /// The server took it: this is the intent now, whichever tab's card it is paid with.
    Seen(Seen),
    /// The bank or we will not take what stands in a field; nothing was started.
    FieldRefused(Wrong),
    /// Nothing was started, for certain.
    NotSent(Note),
    /// The order has other terms now; nothing was started.
    Changed(Offer),
    /// The page is behind: the checkout is paid, or has another intent.
    Behind,
    /// No answer, or one that says nothing (R10).
    Lost,
}

/// How a payment goes on that is not what this page offered (N1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherWay<'a> {
    /// Another card than this page's: its last digits.
    Card(&'a str),
    /// The bank's page; this page offered a card.
    Bank,
    /// Somebody began it while this page had its form open.
    Tab,
}

/// What the browser is to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Make a token of the card and submit it.
    Submit(Form),
    /// Ask how the intent stands.
    Ask,
    /// Do so after a pause; replaces an earlier one.
    AskIn {
        /// The pause in seconds.
        pause_s: u32,
    },
    /// Have the bank asked how the intent stands.
    Check,
    /// Have the bank asked to let go of the payment.
    Release,
    /// Ask for a new intent.
    Renew,
    /// Put the new terms on the form, in place of the old.
    Adopt(Offer),
    /// Read the page anew: always right.
    Reload,
    /// Let the other tabs know that it is worth asking.
    Tell,
    /// The intent is over: storage need not know it any more.
    Forget,
}

/// The page's own memory of what is going on.
#[derive(Clone, Debug)]
pub struct Visit {
    stage: Stage,
    note: Option<Note>,
    /// Questions since the stage began.
    asked: u32,
    /// The pause that runs now.
    pause_s: Option<u32>,
    /// Last digits of the card this page sent.
    offered: Option<String>,
    /// Whether the form has been open all the while, and nothing was sent from it.
    idle: bool,
    /// Whether the stream tells.
    live: bool,
}

impl Visit {
    /// A page that opens with what the server rendered.
    pub fn new(stage: Stage) -> Self {
        let idle = stage == Stage::Ready;
        Self { stage, note: None, asked: GLANCES, pause_s: None, offered: None, idle, live: false }
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
            Stage::Checking | Stage::Elsewhere => true,
            Stage::Known(seen) => seen.state.is_awaited() || may_try_again(seen),
            Stage::Ready | Stage::Invalid(_) | Stage::Submitting | Stage::Changed(_) | Stage::Renewing(_) => {
                false
            }
        }
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
            (None, _) => (self.idle && seen.state.is_awaited()).then_some(OtherWay::Tab),
        }
    }

    /// What to do first. `been_here`: storage knows this intent, so a submit may be on its way.
    pub fn open(&mut self, been_here: bool) -> Vec<Command> {
        match &self.stage {
            Stage::Known(seen) if seen.state.is_final() => vec![Command::Forget],
            Stage::Known(seen) if seen.state.is_awaited() => {
                self.asked = 0;
                self.ask_later()
            }
            Stage::Ready if been_here => self.handle(Event::Heard),
            Stage::Known(_) | Stage::Ready => Vec::new(),
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
            Event::ToBank => {
                self.idle = false;
                vec![Command::Tell]
            }
            Event::Pay(form) => self.pay(form),
            Event::Replied(reply) => self.take_reply(reply),
            Event::Asked(seen) => self.take_answer(seen),
            Event::Told(seen) => self.take_told(seen),
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
            Event::Renewed(Ok(())) => vec![Command::Tell, Command::Reload],
            Event::Renewed(Err(note)) => {
                if let Stage::Renewing(seen) = &self.stage {
                    self.enter(Stage::Known(seen.clone()), Some(note));
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
                vec![Command::Tell, Command::Submit(form)]
            }
            Err(wrongs) => {
                self.enter(Stage::Invalid(wrongs), None);
                Vec::new()
            }
        }
    }

    fn take_reply(&mut self, reply: Reply) -> Vec<Command> {
        if !matches!(self.stage, Stage::Submitting | Stage::Checking) {
            return Vec::new();
        }
        match reply {
            Reply::Seen(seen) if seen.state == IntentState::Created => self.check(),
            Reply::Seen(seen) => {
                let mut commands = self.learn(seen);
                commands.push(Command::Tell);
                commands
            }
            Reply::FieldRefused(wrong) => {
                self.enter(Stage::Invalid(vec![wrong]), None);
                Vec::new()
            }
            Reply::NotSent(note) => {
                self.enter(Stage::Ready, Some(note));
                Vec::new()
            }
            Reply::Changed(offer) => {
                self.enter(Stage::Changed(offer), None);
                Vec::new()
            }
            Reply::Behind => vec![Command::Reload],
            Reply::Lost => self.check(),
        }
    }

    /// No answer is a state of the page, not of the payment: ask.
    fn check(&mut self) -> Vec<Command> {
        self.enter(Stage::Checking, None);
        vec![Command::Ask]
    }

    fn hear(&mut self) -> Vec<Command> {
        match &self.stage {
            Stage::Submitting | Stage::Renewing(_) => Vec::new(),
            Stage::Known(seen) if seen.state == IntentState::Succeeded => Vec::new(),
            Stage::Ready | Stage::Invalid(_) => {
                self.asked = 0;
                vec![Command::Ask]
            }
            Stage::Checking | Stage::Elsewhere | Stage::Known(_) => vec![Command::Ask],
            Stage::Changed(_) => Vec::new(),
        }
    }

    fn take_answer(&mut self, seen: Option<Seen>) -> Vec<Command> {
        let Some(seen) = seen else { return self.ask_later() };
        match (&self.stage, seen.state) {
            // These wait for an answer of their own.
            (Stage::Submitting | Stage::Renewing(_) | Stage::Changed(_), _) => Vec::new(),
            // The page shows an intent that matters no more.
            (_, _) if seen.behind => vec![Command::Reload],
            // The POST never arrived: the same form, the same key.
            (Stage::Checking, IntentState::Created) => {
                self.enter(Stage::Ready, Some(Note::Unreached));
                Vec::new()
            }
            (Stage::Known(known), _) if may_try_again(known) && seen.closed => {
                self.enter(Stage::Known(Seen { closed: true, ..known.clone() }), None);
                Vec::new()
            }
            (Stage::Known(known), _) if known.state.is_final() => Vec::new(),
            (Stage::Ready | Stage::Invalid(_) | Stage::Elsewhere | Stage::Known(_), IntentState::Created) => {
                self.ask_later()
            }
            (Stage::Ready | Stage::Invalid(_) | Stage::Elsewhere, IntentState::Processing)
                if !seen.unreached =>
            {
                self.enter(Stage::Elsewhere, None);
                self.ask_later()
            }
            (
                Stage::Ready | Stage::Invalid(_) | Stage::Checking | Stage::Elsewhere | Stage::Known(_),
                IntentState::Processing
                | IntentState::RequiresAction
                | IntentState::Confirming
                | IntentState::Authorized
                | IntentState::NeedsReview
                | IntentState::Succeeded
                | IntentState::Declined
                | IntentState::Canceled
                | IntentState::Expired,
            ) => self.learn(seen),
        }
    }

    /// The other tabs have no stream of their own: they are told that there is news.
    fn take_told(&mut self, seen: Option<Seen>) -> Vec<Command> {
        let was_live = std::mem::replace(&mut self.live, seen.is_some());
        if seen.is_some() {
            let mut commands = self.take_answer(seen);
            commands.push(Command::Tell);
            commands
        } else if was_live {
            self.asked = 0;
            self.ask_later()
        } else {
            Vec::new()
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

    fn take_release(&mut self, seen: Option<Seen>) -> Vec<Command> {
        let note = match &seen {
            None => Note::NotReleased,
            Some(seen) if seen.released_by.is_some() => Note::ReleasedBy,
            Some(_) => Note::ReleaseAsked,
        };
        let commands = self.take_answer(seen);
        if self.is_at_the_bank() {
            self.note = Some(note);
        }
        commands
    }

    fn learn(&mut self, seen: Seen) -> Vec<Command> {
        let state = seen.state;
        // What was said of the bank's page stays true as long as the bank waits.
        let note = self.note.filter(|_| self.is_at_the_bank() && state == IntentState::RequiresAction);
        self.enter(Stage::Known(seen), note);
        if state.is_final() {
            vec![Command::Forget]
        } else if state.is_awaited() {
            self.ask_later()
        } else {
            Vec::new()
        }
    }

    /// 1, 2, 4, 8, 15, 15… seconds, seldom while the stream tells; an open form stops asking after a while.
    fn ask_later(&mut self) -> Vec<Command> {
        let wants = match &self.stage {
            Stage::Ready | Stage::Invalid(_) => self.asked + 1 < GLANCES,
            Stage::Checking | Stage::Elsewhere => true,
            Stage::Known(seen) => seen.state.is_awaited(),
            Stage::Submitting | Stage::Renewing(_) | Stage::Changed(_) => false,
        };
        if !wants {
            return Vec::new();
        }
        let growing_s = 1_u32.checked_shl(self.asked).unwrap_or(PAUSE_MAX_S).min(PAUSE_MAX_S);
        let pause_s = if self.live { LIVE_PAUSE_S } else { growing_s };
        self.asked = self.asked.saturating_add(1).min(u32::BITS);
        self.pause_s = Some(pause_s);
        vec![Command::AskIn { pause_s }]
    }

    /// The new terms are agreed to by pressing pay again, not by having seen them.
    fn accept(&mut self) -> Vec<Command> {
        let Stage::Changed(offer) = &self.stage else { return Vec::new() };
        let offer = offer.clone();
        self.enter(Stage::Ready, None);
        vec![Command::Adopt(offer)]
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

/// Whether a try has ended without money, and another is possible.
fn may_try_again(seen: &Seen) -> bool {
    seen.state.is_final() && seen.state != IntentState::Succeeded && !seen.closed
}

#[cfg(test)]
#[path = "visit_tests.rs"]
mod tests;
