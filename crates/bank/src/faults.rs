//! Faults on demand: which are armed, and which of them the next request meets. They live in memory only: a bank
//! that was restarted is a sound one. What a fault does is not said here but where requests are worked on (`desk`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

/// The most faults that may be armed at once.
const MAX_ARMED: usize = 1000;
/// The longest delay: an hour.
const MAX_DELAY_MS: u64 = 3_600_000;

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
    /// A payment is made and nothing decided yet; where one is only asked for, the answer is of the past.
    Pending,
    /// 404, or an empty listing.
    NotFound,
    /// The request's key is forgotten before the request is looked at.
    ForgetKeys,
    /// A success becomes a cancellation, or back: once a create or capture is answered, before a get is.
    Reverse,
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
}

/// The body of `POST /faults`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    kind: String,
    times: Option<u32>,
    order_id: Option<String>,
    delay_ms: Option<u64>,
    on: Option<String>,
}

/// An armed fault.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Fault {
    kind: Kind,
    /// How many requests it still waits for.
    times: u32,
    order_id: Option<String>,
    delay_ms: u64,
    on: On,
}

/// A fault that a request has met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub kind: Kind,
    pub delay: Duration,
}

/// Why a fault is not armed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OrderError {
    #[error("unknown kind {0:?}; allowed: {list}", list = kinds())]
    UnknownKind(String),
    #[error("kind {0:?} is not available: this bank sends no notifications; allowed: {list}", list = kinds())]
    KindNotAvailable(String),
    #[error("unknown on {0:?}; allowed: {list}", list = ons(&On::ALL))]
    UnknownOn(String),
    #[error("on \"notify\" is not available: this bank sends no notifications; allowed: {list}", list = ons(&On::ALL))]
    OnNotAvailable,
    #[error("kind {kind:?} has no meaning on {on:?}; allowed: {list}", kind = kind.name(), on = on.name(),
            list = ons(kind.places()))]
    NoMeaning { kind: Kind, on: On },
    #[error("a listing belongs to no order: leave order_id out")]
    ListOfOrder,
    #[error("times must be at least 1")]
    Never,
    #[error("delay_ms must be at most {MAX_DELAY_MS}")]
    TooLong,
    #[error("{MAX_ARMED} faults are armed already: DELETE /faults first")]
    TooMany,
}

/// The armed faults.
#[derive(Default)]
pub(crate) struct Faults {
    armed: Mutex<Vec<Fault>>,
    /// Kept beside the list, so that a sound bank takes no lock.
    count: AtomicUsize,
}

impl Faults {
    /// Arms one.
    pub fn arm(&self, fault: Fault) -> Result<(), OrderError> {
        let mut armed = self.lock();
        if armed.len() >= MAX_ARMED {
            return Err(OrderError::TooMany);
        }
        armed.push(fault);
        self.count.store(armed.len(), Ordering::SeqCst);
        Ok(())
    }

    /// Disarms all.
    pub fn clear(&self) {
        let mut armed = self.lock();
        armed.clear();
        self.count.store(0, Ordering::SeqCst);
    }

    /// Those still armed.
    pub fn armed(&self) -> Vec<Fault> {
        self.lock().clone()
    }

    /// Whether any waits for such a request.
    pub fn any(&self, on: On) -> bool {
        self.count.load(Ordering::SeqCst) > 0 && self.lock().iter().any(|fault| fault.on == on)
    }

    /// The first one armed for such a request, one time less.
    pub fn meet(&self, on: On, order_id: Option<&str>) -> Option<Met> {
        let mut armed = self.lock();
        let waits = |fault: &Fault| {
            fault.on == on && (fault.order_id.is_none() || fault.order_id.as_deref() == order_id)
        };
        let place = armed.iter().position(waits)?;
        let fault = &mut armed[place];
        let met = Met { kind: fault.kind, delay: Duration::from_millis(fault.delay_ms) };
        fault.times -= 1;
        if fault.times == 0 {
            armed.remove(place);
        }
        self.count.store(armed.len(), Ordering::SeqCst);
        Some(met)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TryFrom<Order> for Fault {
    type Error = OrderError;

    fn try_from(order: Order) -> Result<Self, OrderError> {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == order.kind);
        let Some(kind) = kind else {
            let later = order.kind.starts_with("notify_");
            return Err(if later { OrderError::KindNotAvailable } else { OrderError::UnknownKind }(
                order.kind,
            ));
        };
        let on = match order.on.as_deref() {
            None => On::Create,
            Some("notify") => return Err(OrderError::OnNotAvailable),
            Some(name) => {
                let on = On::ALL.into_iter().find(|on| on.name() == name);
                on.ok_or_else(|| OrderError::UnknownOn(name.to_owned()))?
            }
        };
        let (times, delay_ms) = (order.times.unwrap_or(1), order.delay_ms.unwrap_or(0));
        if !kind.places().contains(&on) {
            return Err(OrderError::NoMeaning { kind, on });
        }
        if on == On::List && order.order_id.is_some() {
            return Err(OrderError::ListOfOrder);
        }
        if times == 0 {
            return Err(OrderError::Never);
        }
        if delay_ms > MAX_DELAY_MS {
            return Err(OrderError::TooLong);
        }
        Ok(Self { kind, times, order_id: order.order_id, delay_ms, on })
    }
}

impl Kind {
    const ALL: [Kind; 16] = [
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
    ];

    fn name(self) -> &'static str {
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
        }
    }

    /// The requests on which it means something.
    fn places(self) -> &'static [On] {
        match self {
            Kind::LoseRequest
            | Kind::LoseAnswer
            | Kind::Error500Before
            | Kind::Error500After
            | Kind::Delay
            | Kind::RateLimit
            | Kind::BadRequest
            | Kind::Unauthorized
            | Kind::Garbage
            | Kind::WrongAmount => &On::ALL,
            Kind::Error500Stored | Kind::Processing202 | Kind::ForgetKeys => {
                &[On::Create, On::Capture, On::Cancel, On::Refund]
            }
            Kind::Pending => &[On::Create, On::Get],
            Kind::NotFound => &[On::Get, On::List, On::Capture, On::Cancel, On::Refund],
            Kind::Reverse => &[On::Create, On::Get, On::Capture],
        }
    }
}

impl On {
    const ALL: [On; 6] = [On::Create, On::Get, On::List, On::Capture, On::Cancel, On::Refund];

    fn name(self) -> &'static str {
        match self {
            On::Create => "create",
            On::Get => "get",
            On::List => "list",
            On::Capture => "capture",
            On::Cancel => "cancel",
            On::Refund => "refund",
        }
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

fn kinds() -> String {
    Kind::ALL.map(Kind::name).join(", ")
}

fn ons(places: &[On]) -> String {
    places.iter().map(|on| on.name()).collect::<Vec<_>>().join(", ")
}
