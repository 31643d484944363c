//! The last look before a request leaves, and the knowledge of whether it left. Must never let a byte out that was not allowed.
//!
//! An HTTP/1 connection keeps the head of a request in memory until it has polled the body once, and then writes both together.
//! So a body that is first polled has a connection, and nothing of its request has left; if it fails there, nothing ever will.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::MayLeave;

/// How far a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// No connection asked for it; not a byte left.
    Waiting,
    /// It was allowed to leave: from here on anything may have happened.
    Left,
    /// A connection was there, but the moment had passed; not a byte left.
    TooLate,
}

/// The request was not let out; its connection ends with nothing written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request may not leave any more")]
pub(crate) struct NotLetOut;

/// Looks once.
pub(crate) struct LastLook {
    may_leave: MayLeave,
    fate: Mutex<Fate>,
}

impl LastLook {
    pub(crate) fn new(may_leave: MayLeave) -> Arc<Self> {
        Arc::new(Self { may_leave, fate: Mutex::new(Fate::Waiting) })
    }

    /// What became of the request. A caller that stops waiting asks this, and from then on it cannot leave: the connection lives on
    /// in a task of its own, and could otherwise come for the body a moment later.
    pub(crate) fn end(&self) -> Fate {
        let mut fate = self.fate();
        let was = *fate;
        if was == Fate::Waiting {
            *fate = Fate::TooLate;
        }
        was
    }

    fn look(&self) -> Result<(), NotLetOut> {
        let mut fate = self.fate();
        if *fate != Fate::Waiting {
            return Err(NotLetOut);
        }
        let allowed = (self.may_leave)();
        *fate = if allowed { Fate::Left } else { Fate::TooLate };
        if allowed { Ok(()) } else { Err(NotLetOut) }
    }

    fn fate(&self) -> MutexGuard<'_, Fate> {
        self.fate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A body of one piece that takes the last look when it is first polled. Its size is known, so it is not sent in chunks. It never
/// waits: a body that did would let the head out alone.
pub(crate) struct GuardedBody {
    bytes: Option<Bytes>,
    look: Arc<LastLook>,
}

impl GuardedBody {
    /// `None` for an empty body: a connection would not ask for it.
    pub(crate) fn new(bytes: Vec<u8>, look: Arc<LastLook>) -> Option<Self> {
        (!bytes.is_empty()).then(|| Self { bytes: Some(bytes.into()), look })
    }
}

impl Body for GuardedBody {
    type Data = Bytes;
    type Error = NotLetOut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, NotLetOut>>> {
        Poll::Ready(self.bytes.take().map(|bytes| self.look.look().map(|()| Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
