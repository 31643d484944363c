//! Faults on demand: which are armed, and which of them the next request or notification meets. They live in memory
//! only: a bank that was restarted is a sound one. What a fault does is not said here but where it strikes: on
//! requests (`desk`), on notifications (`book`), on tries to send one (`courier`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fault_kinds::{Kind, On, Twist};

/// The most faults that may be armed at once.
const MAX_ARMED: usize = 1000;
/// The longest delay: an hour.
const MAX_DELAY_MS: u64 = 3_600_000;
/// How late a late notification is when nobody says: as late as one that is sent again for the first time.
const LATE_MS: u64 = 30_000;

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
    #[error("unknown on {0:?}; allowed: {list}", list = ons(&On::ALL))]
    UnknownOn(String),
    #[error("this bank sends no notifications: it has no address for them")]
    NoNotifications,
    #[error("notify_late needs a delay_ms of at least 1")]
    NotLate,
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

    /// The first one armed for such a request, or such a try to notify, one time less.
    pub fn meet(&self, on: On, order_id: Option<&str>) -> Option<Met> {
        self.take(order_id, |fault| fault.on == on && fault.twist().is_none())
    }

    /// The first one armed for a notification that is being written, one time less.
    pub fn meet_twist(&self, order_id: Option<&str>) -> Option<(Twist, Duration)> {
        let met = self.take(order_id, |fault| fault.twist().is_some())?;
        if let Kind::Notify(twist) = met.kind { Some((twist, met.delay)) } else { None }
    }

    fn take(&self, order_id: Option<&str>, is_for: impl Fn(&Fault) -> bool) -> Option<Met> {
        let mut armed = self.lock();
        let of_order = |fault: &Fault| fault.order_id.is_none() || fault.order_id.as_deref() == order_id;
        let place = armed.iter().position(|fault| is_for(fault) && of_order(fault))?;
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

impl Fault {
    /// Whether it waits for a notification rather than a request.
    pub fn is_on_notify(&self) -> bool {
        self.on == On::Notify
    }

    fn twist(&self) -> Option<Twist> {
        if let Kind::Notify(twist) = self.kind { Some(twist) } else { None }
    }
}

impl TryFrom<Order> for Fault {
    type Error = OrderError;

    fn try_from(order: Order) -> Result<Self, OrderError> {
        let kind = Kind::named(&order.kind).ok_or(OrderError::UnknownKind(order.kind))?;
        let on = match order.on {
            None => kind.usual_place(),
            Some(name) => On::named(&name).ok_or(OrderError::UnknownOn(name))?,
        };
        let times = order.times.unwrap_or(1);
        let is_late = kind == Kind::Notify(Twist::Late);
        let delay_ms = order.delay_ms.unwrap_or(if is_late { LATE_MS } else { 0 });
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
        if is_late && delay_ms == 0 {
            return Err(OrderError::NotLate);
        }
        Ok(Self { kind, times, order_id: order.order_id, delay_ms, on })
    }
}

fn kinds() -> String {
    Kind::ALL.map(Kind::name).join(", ")
}

fn ons(places: &[On]) -> String {
    places.iter().map(|on| on.name()).collect::<Vec<_>>().join(", ")
}
