//! What can go wrong, and how often it does in a history.

use serde::Serialize;

use crate::choices::Choices;

macro_rules! faults {
    ($($name:ident => $words:literal),+ $(,)?) => {
        /// What can go wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Fault {
            $(#[doc = $words] $name),+
        }

        impl Fault {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// As a table and a story tell it.
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words),+
                }
            }
        }
    };
}

faults! {
    StoreBusy => "the database is busy",
    StoreFull => "the disk is full",
    CommitLost => "the connection breaks at COMMIT, nothing applied",
    CommitUnknown => "the connection breaks at COMMIT, applied",
    StoreSlow => "the database's answer takes a while",
    NotSent => "no connection to the bank",
    RequestLost => "the request is lost on its way to the bank",
    RequestLate => "the request is late",
    RequestRepeated => "the network repeats the request",
    AnswerLost => "the bank's answer is lost",
    AnswerLate => "the bank's answer is late",
    ErrorBefore => "the bank says 500 and did nothing",
    ErrorAfter => "the bank says 500 and did it",
    Garbage => "the bank's answer cannot be read",
    StillAtIt => "the bank says 202",
    Unauthorized => "the bank says 401",
    RateLimited => "the bank says 429",
    WrongSum => "the bank's answer shows another sum",
    WrongOwner => "the bank's answer shows somebody else's payment",
    TurnedAway => "somebody on the way answers 403 for the bank",
    CardRefused => "the card's bank says no",
    RequestRefused => "the bank calls the request wrong",
    TakesAnotherSum => "the bank takes another sum",
    FallsIll => "the bank says 500 to this key for ever",
    ThreeDs => "the bank wants the shopper on its page",
    Slow => "the bank takes its time",
    ChangesItsMind => "the bank changes its mind about what was over",
    ListingsLag => "the bank's listings lag",
    BankClockWrong => "the bank's clock is wrong",
    StrangerPays => "somebody else takes money for the order",
    NoticeLost => "a notification is lost",
    NoticeRepeated => "a notification comes twice",
    ReceiverRefuses => "a receiver says no for now",
    ReceiverSilent => "a receiver has it and its answer is lost",
    ReceiverUnreachable => "a message to a receiver is lost without a word",
    PageRequestLost => "the page's request is lost",
    PageRequestRepeated => "a proxy repeats the page's request",
    PageAnswerLost => "the page never sees the answer",
    AnothersNamed => "a caller names what is another merchant's",
    Killed => "a server is killed",
    Stopped => "a server is told to stop",
    Paused => "a server is paused",
    WallClockSet => "somebody sets a server's clock",
    DatabaseClockSet => "somebody sets the database's clock",
    AccountChanged => "the merchant takes another account",
    Restored => "an old backup is restored",
    LeaseEnds => "a lease ends in its holder's hands",
    TokenDies => "a card token dies before the result is known",
    LongSilence => "nothing happens for a day",
    StrangerHolds => "somebody else holds money for the order",
    PartTaken => "support takes a part of what somebody else holds",
    GivenBack => "support gives all of a payment back",
    OldConfiguration => "a copy starts with the account of then",
    ReceiverLate => "a message to a receiver is late",
}

/// How often each happens, in a thousand chances; and how often it may still happen.
#[derive(Clone, Debug)]
pub struct Rates {
    per_mille: [u32; Fault::ALL.len()],
    left: [u32; Fault::ALL.len()],
    /// How many may still happen, of all together.
    together: u32,
}

impl Rates {
    /// Nothing goes wrong.
    pub fn none() -> Self {
        Self { per_mille: [0; Fault::ALL.len()], left: [0; Fault::ALL.len()], together: u32::MAX }
    }

    /// A subset of all, each with a rate of its own.
    pub fn drawn(choices: &mut Choices) -> Self {
        let mut rates = Self::none();
        for fault in Fault::ALL {
            let drawn = [0, 30, 120, 350][choices.weighted(&[6, 3, 2, 1])];
            rates.per_mille[*fault as usize] = drawn;
            rates.left[*fault as usize] = u32::MAX;
        }
        // More often, and he would go back and forth between two.
        rates.only_once(Fault::AccountChanged);
        rates
    }

    /// These happen often, and nothing else does.
    pub fn often(faults: &[Fault]) -> Self {
        let mut rates = Self::none();
        for fault in faults {
            rates.per_mille[*fault as usize] = 350;
            rates.left[*fault as usize] = u32::MAX;
        }
        rates
    }

    /// Each of these may happen so often, at any time, and so many of all together.
    pub fn bounded(bounds: &[(Fault, u32)], together: u32) -> Self {
        let mut rates = Self { together, ..Self::none() };
        for (fault, times) in bounds {
            rates.per_mille[*fault as usize] = 1;
            rates.left[*fault as usize] = *times;
        }
        rates
    }

    /// How often it happens now.
    pub fn of(&self, fault: Fault) -> u32 {
        if self.left[fault as usize] == 0 { 0 } else { self.per_mille[fault as usize] }
    }

    /// How often each may still happen.
    pub fn left(&self) -> &[u32] {
        &self.left
    }

    /// It happens once at most.
    pub fn only_once(&mut self, fault: Fault) {
        self.left[fault as usize] = 1;
    }

    /// It may happen once more.
    pub fn again(&mut self, fault: Fault) {
        let left = &mut self.left[fault as usize];
        *left = left.saturating_add(1);
    }

    /// It happened.
    pub fn spend(&mut self, fault: Fault) {
        let left = &mut self.left[fault as usize];
        if *left != u32::MAX {
            *left = left.saturating_sub(1);
            self.together = self.together.saturating_sub(1);
        }
        if self.together == 0 {
            self.left.fill(0);
        }
    }

    /// One of these, or nothing.
    pub fn meet(&mut self, choices: &mut Choices, possible: &[Fault]) -> Option<Fault> {
        let mut weights = [0; Fault::ALL.len() + 1];
        let mut sum = 0;
        for (weight, fault) in weights[1..].iter_mut().zip(possible) {
            *weight = self.of(*fault);
            sum += *weight;
        }
        if sum == 0 {
            return None;
        }
        weights[0] = 1_000_u32.saturating_sub(sum).max(200);
        let chosen = choices.weighted(&weights[..=possible.len()]);
        let fault = *possible.get(chosen.checked_sub(1)?)?;
        self.spend(fault);
        Some(fault)
    }
}
