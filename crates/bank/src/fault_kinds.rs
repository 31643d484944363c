//! The names of faults and of what they wait for, and which go together. What a fault does is said where it strikes.

use serde::{Serialize, Serializer};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing is done and the connection closes.
    LoseRequest,
    /// It is done and the connection closes.
    LoseAnswer,
    /// Nothing is done; 500.
    Error500Before,
    /// It is done; 500.
    Error500After,
    /// It is done; 500, now and for ever for that key.
    Error500Stored,
    /// It is done late, whether or not the client still waits.
    Delay,
    /// Nothing is done; 429.
    RateLimit,
    /// Nothing is done; 400.
    BadRequest,
    /// It is done; 202 "come back later".
    Processing202,
    /// Nothing is done; 401.
    Unauthorized,
    /// It is done; the answer is cut short.
    Garbage,
    /// It is done; the answer names another sum.
    WrongAmount,
    /// A payment or refund is made and nothing decided yet; where one is only asked for, the answer is of the past.
    Pending,
    /// 404, or an empty listing.
    NotFound,
    /// The request's key is forgotten before the request is looked at.
    ForgetKeys,
    /// A success becomes a cancellation, or back: once a change is answered, before a get is.
    Reverse,
    /// A notification goes another way than it should.
    Notify(Twist),
}

/// How a notification goes astray: met by the notification itself, when the change it announces happens. All
/// other kinds on `notify` are met by a try to send one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twist {
    /// It is sent again after it was taken.
    Twice,
    /// It is sent after the delay, and the next ones do not wait for it.
    Late,
    /// It is sent before the request that caused it is answered.
    First,
    /// It lets the next one about its object go ahead.
    Reversed,
    /// It is not sent.
    Never,
}

/// Which requests a fault waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    Create,
    Get,
    List,
    Capture,
    Cancel,
    Refund,
    /// The bank's own: notifications.
    Notify,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 21] = [
        Kind::LoseRequest,
        Kind::LoseAnswer,
        Kind::Error500Before,
        Kind::Error500After,
        Kind::Error500Stored,
        Kind::Delay,
        Kind::RateLimit,
        Kind::BadRequest,
        Kind::Processing202,
        Kind::Unauthorized,
        Kind::Garbage,
        Kind::WrongAmount,
        Kind::Pending,
        Kind::NotFound,
        Kind::ForgetKeys,
        Kind::Reverse,
        Kind::Notify(Twist::Twice),
        Kind::Notify(Twist::Late),
        Kind::Notify(Twist::First),
        Kind::Notify(Twist::Reversed),
        Kind::Notify(Twist::Never),
    ];

    /// As `POST /faults` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::LoseRequest => "lose_request",
            Kind::LoseAnswer => "lose_answer",
            Kind::Error500Before => "error_500_before",
            Kind::Error500After => "error_500_after",
            Kind::Error500Stored => "error_500_stored",
            Kind::Delay => "delay",
            Kind::RateLimit => "rate_limit",
            Kind::BadRequest => "bad_request",
            Kind::Processing202 => "processing_202",
            Kind::Unauthorized => "unauthorized",
            Kind::Garbage => "garbage",
            Kind::WrongAmount => "wrong_amount",
            Kind::Pending => "pending",
            Kind::NotFound => "not_found",
            Kind::ForgetKeys => "forget_keys",
            Kind::Reverse => "reverse",
            Kind::Notify(Twist::Twice) => "notify_twice",
            Kind::Notify(Twist::Late) => "notify_late",
            Kind::Notify(Twist::First) => "notify_first",
            Kind::Notify(Twist::Reversed) => "notify_reversed",
            Kind::Notify(Twist::Never) => "notify_never",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it waits for when nothing else is said.
    pub fn usual_place(self) -> On {
        if matches!(self, Kind::Notify(_)) { On::Notify } else { On::Create }
    }

    /// The requests on which it means something.
    pub fn places(self) -> &'static [On] {
        match self {
            // With a notification the bank is the client: these can happen to it, the others are the receiver's affair.
            Kind::LoseRequest | Kind::LoseAnswer | Kind::Delay | Kind::Garbage | Kind::WrongAmount => {
                &On::ALL
            }
            Kind::Error500Before
            | Kind::Error500After
            | Kind::RateLimit
            | Kind::BadRequest
            | Kind::Unauthorized
            | Kind::NotFound => &[On::Create, On::Get, On::List, On::Capture, On::Cancel, On::Refund],
            Kind::Error500Stored | Kind::Processing202 | Kind::ForgetKeys => {
                &[On::Create, On::Capture, On::Cancel, On::Refund]
            }
            // What was captured or cancelled never looks undecided.
            Kind::Pending => &[On::Create, On::Get, On::List, On::Refund],
            Kind::Reverse => &[On::Create, On::Get, On::Capture, On::Cancel],
            Kind::Notify(_) => &[On::Notify],
        }
    }
}

impl On {
    /// All of them.
    pub const ALL: [On; 7] = [On::Create, On::Get, On::List, On::Capture, On::Cancel, On::Refund, On::Notify];

    /// As `POST /faults` spells it.
    pub fn name(self) -> &'static str {
        match self {
            On::Create => "create",
            On::Get => "get",
            On::List => "list",
            On::Capture => "capture",
            On::Cancel => "cancel",
            On::Refund => "refund",
            On::Notify => "notify",
        }
    }

    /// The place of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|on| on.name() == name)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for On {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
