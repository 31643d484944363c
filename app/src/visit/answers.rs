//! What a visit makes of what the server says, and when it asks again.

use contract::IntentState;

use super::{Command, Reply, Visit, is_paid, is_replaced, may_try_again};
use crate::{
    stage::{Note, Stage},
    wire::{Offer, Seen},
};

/// Where a form begins to count that heard of nothing so far: it asks every 15 s.
pub(super) const CALM: u32 = 4;
/// How often an open form asks soon. Another device may pay meanwhile, and a submit of its own may still be on its way, held by a proxy
/// or by a server that is busy.
const SOON_LOOKS: u32 = 12;
/// The pause afterwards, and how often in all: an hour long. Whoever looks at the page later has it asked then.
const FORM_PAUSE_S: u32 = 60;
const FORM_LOOKS: u32 = SOON_LOOKS + 60;
/// Longest pause between two questions.
const PAUSE_MAX_S: u32 = 15;
/// The pause while money is held, which may be for days.
const HELD_PAUSE_S: u32 = 60;
/// The pause once it is paid, and how often: an hour long. Whoever looks at the page later has it asked then.
const PAID_PAUSE_S: u32 = 60;
const PAID_LOOKS: u32 = 60;
/// The pause while the stream tells: a connection can die without a word.
const LIVE_PAUSE_S: u32 = 30;

impl Visit {
    pub(super) fn take_reply(&mut self, reply: Reply) -> Vec<Command> {
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
                self.ask_later()
            }
            // That is true of this press; what became of an earlier one is asked first.
            Reply::NotSent(_) if !self.idle => self.check(),
            Reply::NotSent(note) => {
                self.offered = None;
                self.enter(Stage::Ready, Some(note));
                self.ask_later()
            }
            Reply::Changed(offer) => self.change(offer),
            Reply::Behind => vec![Command::KeepBehind, Command::Reload],
            Reply::Lost => self.check(),
        }
    }

    /// Who pressed meanwhile gets an answer of their own.
    pub(super) fn take_offer(&mut self, answer: Result<Option<Offer>, Note>) -> Vec<Command> {
        let follows = match &self.stage {
            Stage::Elsewhere | Stage::Known(_) => self.is_unpressed(),
            Stage::Ready | Stage::Invalid(_) | Stage::Changed(_) | Stage::Renewing(_) => true,
            Stage::Submitting | Stage::Checking => false,
        };
        if !follows {
            return Vec::new();
        }
        match (&self.stage, answer) {
            (Stage::Ready | Stage::Invalid(_), Ok(Some(offer)))
                if self.terms.as_ref() != Some(&offer.terms) =>
            {
                self.change(offer)
            }
            (Stage::Changed(_), Ok(Some(offer))) => self.change(offer),
            (_, Ok(Some(offer))) => self.take_up(offer),
            (Stage::Renewing(_), _) | (_, Ok(None)) => vec![Command::Reload],
            // It says of itself that it is over, and would not be asked about any more.
            (Stage::Known(_), Err(_)) => vec![Command::AskIn { pause_s: PAUSE_MAX_S }],
            (_, Err(why)) => self.lose_touch(why),
        }
    }

    /// The form of another try, which nobody has begun. Its terms are told first where they are not those that were agreed to.
    fn take_up(&mut self, offer: Offer) -> Vec<Command> {
        (self.again, self.idle, self.offered) = (true, true, None);
        if self.terms.as_ref() != Some(&offer.terms) {
            return self.change(offer);
        }
        self.turn += 1;
        // What is said of the fields of an open form is true of them still.
        let adopt = match &self.stage {
            Stage::Ready | Stage::Invalid(_) => Command::Adopt(offer),
            Stage::Submitting
            | Stage::Checking
            | Stage::Elsewhere
            | Stage::Changed(_)
            | Stage::Known(_)
            | Stage::Renewing(_) => self.adopt(offer),
        };
        let mut commands = vec![adopt];
        commands.extend(self.ask_later());
        commands
    }

    fn change(&mut self, offer: Offer) -> Vec<Command> {
        // Somebody else may agree to the new terms first.
        let mut commands = vec![Command::Follow { intent: offer.intent.clone() }];
        self.turn += 1;
        self.enter(Stage::Changed(offer), None);
        commands.extend(self.ask_later());
        commands
    }

    /// No answer is a state of the page, not of the payment: ask.
    pub(super) fn check(&mut self) -> Vec<Command> {
        self.idle = false;
        self.enter(Stage::Checking, None);
        vec![Command::Ask]
    }

    pub(super) fn take_answer(&mut self, answer: Result<Seen, Note>) -> Vec<Command> {
        let seen = match answer {
            Ok(seen) => seen,
            Err(why) => return self.lose_touch(why),
        };
        match (&self.stage, seen.state) {
            // These wait for an answer of their own.
            (Stage::Submitting | Stage::Renewing(_), _) => Vec::new(),
            (Stage::Changed(_), IntentState::Created) if !seen.behind => self.ask_later(),
            // The shop changed the order under an open form, or once more: what was typed stays, and the new terms are read before they are
            // agreed to.
            (Stage::Ready | Stage::Invalid(_) | Stage::Changed(_), _)
                if seen.behind && is_replaced(&seen) =>
            {
                vec![Command::AskOffer]
            }
            // Another device's try has ended, and the next one is begun: whoever has not pressed here keeps what was typed.
            (Stage::Ready | Stage::Invalid(_) | Stage::Elsewhere | Stage::Known(_), _)
                if seen.behind && self.is_unpressed() && may_try_again(&seen) =>
            {
                vec![Command::AskOffer]
            }
            // What is offered is under way or over: the page is another.
            (Stage::Changed(_), _) => vec![Command::Reload],
            // Paid for good: what can be news is that money was taken once more, and what becomes of it.
            (Stage::Known(known), _) if is_paid(known) && seen.extra == known.extra => self.ask_later(),
            (Stage::Known(known), _) if is_paid(known) => vec![Command::Reload],
            // The page shows an intent that matters no more.
            // A press that came second was answered with what the first one came to.
            (_, _) if seen.behind && self.offered.is_some() && self.other_way().is_some() => {
                vec![Command::KeepBehind, Command::Reload]
            }
            (_, _) if seen.behind => vec![Command::Reload],
            // The POST has not arrived so far: the same form, the same key. It may arrive yet.
            (Stage::Checking, IntentState::Created) => {
                self.enter(Stage::Ready, Some(Note::Unreached));
                self.ask_later()
            }
            // Of what has ended only this is news: money that may be the shopper's was found, and nothing is offered meanwhile.
            (Stage::Known(_), IntentState::NeedsReview) => self.learn(seen),
            (Stage::Known(known), _) if may_try_again(known) && seen.closed => {
                self.enter(Stage::Known(Seen { closed: true, ..known.clone() }), None);
                Vec::new()
            }
            (Stage::Known(known), _) if known.state.is_final() => Vec::new(),
            (Stage::Ready | Stage::Invalid(_), IntentState::Created) => {
                if self.note.is_none_or(|note| note == Note::Away) {
                    self.note = seen.stuck.then_some(Note::Away);
                }
                self.ask_later()
            }
            // Money of somebody else was in question, and is no more.
            (Stage::Known(known), IntentState::Created) if known.state == IntentState::NeedsReview => {
                vec![if self.is_unpressed() { Command::AskOffer } else { Command::Reload }]
            }
            (Stage::Elsewhere | Stage::Known(_), IntentState::Created) => self.ask_later(),
            (Stage::Ready | Stage::Invalid(_) | Stage::Elsewhere, IntentState::Processing)
                if self.idle && !seen.stuck =>
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

    /// Whether this page offered a form, and nothing was sent from it.
    pub(super) fn is_unpressed(&self) -> bool {
        self.idle && self.offered.is_none()
    }

    /// Whoever waits is told; a form does without.
    fn lose_touch(&mut self, why: Note) -> Vec<Command> {
        let waits = matches!(&self.stage, Stage::Known(seen) if seen.state.is_awaited());
        if waits && self.note.is_none_or(Note::is_passing) {
            self.note = Some(why);
        }
        self.ask_later()
    }

    /// The other tabs have no stream of their own: they are told that there is news.
    pub(super) fn take_told(&mut self, seen: Option<Seen>) -> Vec<Command> {
        let was_live = std::mem::replace(&mut self.live, seen.is_some());
        if let Some(seen) = seen {
            let mut commands = self.take_answer(Ok(seen));
            commands.push(Command::Tell);
            commands
        } else if was_live {
            self.asked = 0;
            self.ask_later()
        } else {
            Vec::new()
        }
    }

    pub(super) fn take_release(&mut self, answer: Result<Seen, Note>) -> Vec<Command> {
        let note = match &answer {
            Err(Note::NoConnection) => Note::NotReleased,
            Err(why) => *why,
            Ok(seen) if seen.released_by.is_some() => Note::ReleasedBy,
            Ok(_) => Note::ReleaseAsked,
        };
        let commands = self.take_answer(answer);
        if self.is_at_the_bank() {
            self.note = Some(note);
        }
        commands
    }

    fn learn(&mut self, seen: Seen) -> Vec<Command> {
        let state = seen.state;
        let at_the_bank = self.is_at_the_bank() && state == IntentState::RequiresAction;
        let note = self.note.filter(|note| match note {
            Note::Behind => true,
            // What was said of the bank's page stays true as long as the bank waits.
            Note::ReleaseAsked | Note::ReleasedBy => at_the_bank,
            Note::NotReleased
            | Note::NoConnection
            | Note::NotNow
            | Note::NotShown
            | Note::Unreached
            | Note::NoToken
            | Note::Busy
            | Note::Refused
            | Note::TooManyTries
            | Note::NotRenewed
            | Note::Away => false,
        });
        self.enter(Stage::Known(seen), note);
        let mut commands = if state.is_final() { vec![Command::Forget] } else { Vec::new() };
        commands.extend(self.ask_later());
        commands
    }

    /// 1, 2, 4, 8, 15, 15… seconds, seldom while the stream tells or once money is held or paid, or where a form stands open for long; a form
    /// and a receipt stop asking after an hour.
    pub(super) fn ask_later(&mut self) -> Vec<Command> {
        let wants = match &self.stage {
            Stage::Ready | Stage::Invalid(_) if self.note == Some(Note::Away) => true,
            Stage::Ready | Stage::Invalid(_) => self.asked < FORM_LOOKS,
            Stage::Checking | Stage::Elsewhere | Stage::Changed(_) => true,
            Stage::Known(seen) if is_paid(seen) => self.asked < PAID_LOOKS,
            Stage::Known(seen) => !seen.state.is_final(),
            Stage::Submitting | Stage::Renewing(_) => false,
        };
        if !wants {
            return Vec::new();
        }
        let growing_s = 1_u32.checked_shl(self.asked).unwrap_or(PAUSE_MAX_S).min(PAUSE_MAX_S);
        let waiting_s = if self.live { LIVE_PAUSE_S } else { growing_s };
        let pause_s = match &self.stage {
            Stage::Known(seen) if is_paid(seen) => PAID_PAUSE_S,
            Stage::Known(seen) if seen.state == IntentState::Authorized => HELD_PAUSE_S,
            Stage::Ready | Stage::Invalid(_) if self.asked >= SOON_LOOKS => FORM_PAUSE_S,
            Stage::Known(_)
            | Stage::Ready
            | Stage::Invalid(_)
            | Stage::Submitting
            | Stage::Checking
            | Stage::Elsewhere
            | Stage::Changed(_)
            | Stage::Renewing(_) => waiting_s,
        };
        self.asked = self.asked.saturating_add(1);
        self.pause_s = Some(pause_s);
        vec![Command::AskIn { pause_s }]
    }
}
