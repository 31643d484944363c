//! What the page shows, as one value, and the names the page's markup knows it by.
//! Must never hold a rule: those are in `visit`.

use contract::{CheckoutStatus, IntentState};

use crate::{
    form::Wrong,
    wire::{Offer, Seen},
};

/// Where the page stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The form.
    Ready,
    /// The form, with mistakes.
    Invalid(Vec<Wrong>),
    /// The form, its one request on the way.
    Submitting,
    /// No answer came: we ask what became of it.
    Checking,
    /// Another tab pays.
    Elsewhere,
    /// The order is no longer what the page shows; this is offered now.
    Changed(Offer),
    /// What the server says.
    Known(Seen),
    /// The same, while a new intent is being asked for.
    Renewing(Seen),
}

impl Stage {
    /// `data-state` of the page.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Invalid(_) => "invalid",
            Self::Submitting => "submitting",
            Self::Checking => "checking",
            Self::Elsewhere => "elsewhere",
            Self::Changed(_) => "changed",
            Self::Known(seen) | Self::Renewing(seen) => seen.state.as_str(),
        }
    }

    /// `data-screen` of the part that is shown.
    pub fn screen(&self) -> &'static str {
        match self {
            Self::Ready | Self::Invalid(_) | Self::Submitting => FORM,
            Self::Checking | Self::Elsewhere | Self::Changed(_) | Self::Known(_) | Self::Renewing(_) => {
                self.name()
            }
        }
    }

    /// Whether nothing of the checkout can be tried any more.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Known(seen) if seen.closed)
    }

    /// What a page opens with, from the `data-state` the server wrote. The rest of `seen` is in the page too.
    pub fn opening(name: &str, seen: impl FnOnce(IntentState) -> Seen) -> Self {
        STATES
            .iter()
            .find(|state| state.as_str() == name)
            .map_or(Self::Ready, |state| Self::Known(seen(*state)))
    }
}

/// The screen with the card's fields.
pub const FORM: &str = "form";

/// All states of an intent but `created`, which the page calls `ready`.
pub(crate) const STATES: [IntentState; 9] = [
    IntentState::Processing,
    IntentState::RequiresAction,
    IntentState::Confirming,
    IntentState::Authorized,
    IntentState::NeedsReview,
    IntentState::Succeeded,
    IntentState::Declined,
    IntentState::Canceled,
    IntentState::Expired,
];

/// What the shopper is shown of a checkout and its newest intent. Paid is a fact of the checkout: whatever the
/// intent says, a paid checkout is paid.
pub fn shown_state(status: CheckoutStatus, intent: IntentState) -> IntentState {
    match (status, intent) {
        (CheckoutStatus::Paid, _) => IntentState::Succeeded,
        (CheckoutStatus::Canceled, IntentState::Created) => IntentState::Canceled,
        (CheckoutStatus::Expired, IntentState::Created) => IntentState::Expired,
        (CheckoutStatus::Open | CheckoutStatus::Canceled | CheckoutStatus::Expired, state) => state,
    }
}

/// A line above the form or the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The submit has not arrived so far; the same key serves again.
    Unreached,
    /// The bank could not be asked for a token; nothing was sent to us.
    NoToken,
    /// We are asked too much, or cannot answer now; nothing was started.
    Busy,
    /// We would not take the submit; nothing was started.
    Refused,
    /// No more tries for this order.
    TooManyTries,
    /// A new try could not be asked for.
    NotRenewed,
    /// The bank was asked to let go of the payment.
    ReleaseAsked,
    /// The bank lets go of it by itself, by then.
    ReleasedBy,
    /// The bank could not be asked to let go.
    NotReleased,
    /// We cannot be asked how the payment stands. It comes and goes by itself, as the next two do.
    NoConnection,
    /// We answer, but are asked too much or cannot tell now.
    NotNow,
    /// We answer, and do not show the payment to this page.
    NotShown,
    /// The order had gone on when pay was pressed; the press started nothing.
    Behind,
    /// We were away, and do not know yet whether the order was paid meanwhile. It goes by itself.
    Away,
}

impl Note {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Unreached,
        Self::NoToken,
        Self::Busy,
        Self::Refused,
        Self::TooManyTries,
        Self::NotRenewed,
        Self::ReleaseAsked,
        Self::ReleasedBy,
        Self::NotReleased,
        Self::NoConnection,
        Self::NotNow,
        Self::NotShown,
        Self::Behind,
        Self::Away,
    ];

    /// Whether it comes and goes by itself: nobody pressed anything.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::NoConnection | Self::NotNow | Self::NotShown | Self::Away)
    }

    /// `data-note` in the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreached => "unreached",
            Self::NoToken => "no-token",
            Self::Busy => "busy",
            Self::Refused => "refused",
            Self::TooManyTries => "too-many-tries",
            Self::NotRenewed => "not-renewed",
            Self::ReleaseAsked => "release-asked",
            Self::ReleasedBy => "released-by",
            Self::NotReleased => "not-released",
            Self::NoConnection => "no-connection",
            Self::NotNow => "not-now",
            Self::NotShown => "not-shown",
            Self::Behind => "behind",
            Self::Away => "away",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_but_created_opens_as_itself() {
        for state in STATES {
            let stage = Stage::opening(state.as_str(), Seen::bare);
            assert_eq!((stage.name(), stage.screen()), (state.as_str(), state.as_str()));
        }
        assert_eq!(Stage::opening("ready", Seen::bare), Stage::Ready);
        assert_eq!(Stage::Submitting.screen(), FORM);
    }

    #[test]
    fn a_paid_checkout_is_paid_whatever_its_newest_intent_says() {
        for intent in STATES {
            assert_eq!(shown_state(CheckoutStatus::Paid, intent), IntentState::Succeeded);
            assert_eq!(shown_state(CheckoutStatus::Open, intent), intent);
            assert_eq!(shown_state(CheckoutStatus::Expired, intent), intent);
        }
        assert_eq!(shown_state(CheckoutStatus::Canceled, IntentState::Created), IntentState::Canceled);
        assert_eq!(shown_state(CheckoutStatus::Expired, IntentState::Created), IntentState::Expired);
        assert_eq!(shown_state(CheckoutStatus::Open, IntentState::Created), IntentState::Created);
    }
}
