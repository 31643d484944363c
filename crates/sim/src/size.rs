//! How large a world is: drawn, or made for what chance seldom meets.

use crate::{
    choices::Choices,
    fault::{Fault, Rates},
    periods::Periods,
};

/// How large a world is, and what goes wrong in it.
#[derive(Clone, Debug)]
pub struct Size {
    /// Servers.
    pub nodes: usize,
    /// Tabs.
    pub tabs: usize,
    /// Merchants: one, or two who know nothing of each other.
    pub merchants: usize,
    /// Whether both have one account at the bank.
    pub shared: bool,
    /// Orders of their shops, in turn.
    pub orders: usize,
    /// Steps before everything is healed.
    pub steps: usize,
    /// What goes wrong.
    pub rates: Rates,
    /// How long things take.
    pub periods: Periods,
    /// Money is held first, and captured by nobody.
    pub held: bool,
    /// The merchant wants extra charges given back.
    pub refund_extras: bool,
    /// In a world whose every course is explored: how much each shopper does after the first look.
    pub deeds: Option<u32>,
    /// In such a world, how often another may still go on before what is at work has come to where it waits.
    pub switches: u32,
    /// Whether people do more than buy: they look, check, press again, let go.
    pub lively: bool,
}

impl Size {
    /// A size of its own for each history.
    pub fn drawn(choices: &mut Choices) -> Self {
        let (merchants, shared) = (1 + choices.weighted(&[7, 1]), choices.happens(500));
        Self {
            merchants,
            shared,
            nodes: 1 + choices.weighted(&[2, 5, 1]),
            tabs: (1 + choices.weighted(&[3, 5, 1])).max(merchants),
            orders: merchants * (1 + choices.weighted(&[6, 1])),
            steps: [40, 60, 100, 160][choices.weighted(&[4, 4, 2, 1])],
            deeds: None,
            switches: u32::MAX,
            held: choices.happens(60),
            refund_extras: choices.happens(300),
            lively: choices.happens(500),
            rates: Rates::drawn(choices),
            periods: Periods::SERVED,
        }
    }

    /// One server whose requests are late and whose database becomes an old copy again and again.
    pub fn restoring() -> Self {
        Self {
            nodes: 1,
            tabs: 1,
            merchants: 1,
            shared: false,
            orders: 1,
            steps: 80,
            rates: Rates::often(&[
                Fault::Restored,
                Fault::RequestLate,
                Fault::PageAnswerLost,
                Fault::LeaseEnds,
            ]),
            periods: Periods::SERVED,
            deeds: None,
            switches: u32::MAX,
            held: false,
            refund_extras: false,
            lively: false,
        }
    }

    /// Two servers of a merchant who takes another account while answers are lost.
    pub fn moving() -> Self {
        let rates = Rates::often(&[Fault::AccountChanged, Fault::AnswerLost, Fault::ErrorAfter]);
        Self { nodes: 2, lively: true, rates, ..Self::restoring() }
    }

    /// Two servers with a bank that takes another sum than it was asked for, and shows what does not belong to the question.
    pub fn mistaken() -> Self {
        let often = [Fault::TakesAnotherSum, Fault::WrongSum, Fault::WrongOwner, Fault::AnswerLost];
        Self { nodes: 2, tabs: 2, rates: Rates::often(&often), ..Self::restoring() }
    }

    /// Two servers of a merchant who has his extras given back, others who hold and take money for his orders, and support.
    pub fn supported() -> Self {
        let others = [Fault::StrangerHolds, Fault::PartTaken, Fault::GivenBack, Fault::StrangerPays];
        let ours = [Fault::AnswerLost, Fault::ChangesItsMind, Fault::LongSilence, Fault::NoticeLost];
        let rates = Rates::often(&[&others[..], &ours[..]].concat());
        Self { nodes: 2, tabs: 2, refund_extras: true, lively: true, rates, ..Self::restoring() }
    }

    /// Two servers whose database's clock is set again and again while requests are late.
    pub fn set() -> Self {
        let rates = Rates::often(&[Fault::DatabaseClockSet, Fault::RequestLate, Fault::PageAnswerLost]);
        Self { nodes: 2, tabs: 1, rates, ..Self::restoring() }
    }

    /// One server of a merchant who takes another account once, and whose backup is from before.
    pub fn returning() -> Self {
        let moves = [
            Fault::AccountChanged,
            Fault::Restored,
            Fault::OldConfiguration,
            Fault::LeaseEnds,
            Fault::CardRefused,
        ];
        let mut rates = Rates::often(&moves);
        rates.only_once(Fault::AccountChanged);
        Self { lively: true, tabs: 2, steps: 160, rates, ..Self::restoring() }
    }

    /// One server whose database becomes an old copy at once, while what it sent is still on its way.
    pub fn overtaken() -> Self {
        let mut rates = Rates::often(&[Fault::Restored, Fault::RequestLate, Fault::PageAnswerLost]);
        rates.only_once(Fault::Restored);
        Self { rates, ..Self::restoring() }
    }

    /// Two servers, two tabs, one checkout: the world whose speed is measured.
    pub fn small(choices: &mut Choices) -> Self {
        let rates = Rates::drawn(choices);
        Self {
            nodes: 2,
            tabs: 2,
            merchants: 1,
            shared: false,
            orders: 1,
            steps: 40,
            rates,
            periods: Periods::SERVED,
            deeds: None,
            switches: u32::MAX,
            held: false,
            refund_extras: false,
            lively: false,
        }
    }
}
