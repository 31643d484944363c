//! The thin send: a client, a deadline, a bounded body. Tells apart "not a byte left" from "anything may have happened".

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;
use payment::{NotExecutedReason, Timestamp, UnknownReason};
use reqwest::{
    Body, Client, RequestBuilder, Response, StatusCode, Url,
    header::{DATE, HeaderMap, HeaderName, RETRY_AFTER},
    redirect::Policy,
    retry,
};

use crate::{
    MayLeave, Reply,
    last_look::{Fate, GuardedBody, LastLook},
};

/// A provider's answer is awaited this long; then the result is unknown, and the work goes on.
const DEADLINE: Duration = Duration::from_secs(25);
/// A connection is awaited this long.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);
/// Longest answer read.
const MAX_BODY_BYTES: usize = 4 << 20;

/// A whole answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) retry_after_ms: Option<i64>,
    /// When it was given, by the clock of who gave it.
    pub(crate) at: Option<Timestamp>,
    pub(crate) body: Vec<u8>,
}

/// There is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Not a byte left.
    NotSent(NotExecutedReason),
    /// Anything may have happened.
    Unknown(UnknownReason),
}

impl<O> From<NoAnswer> for Reply<O> {
    fn from(none: NoAnswer) -> Self {
        match none {
            NoAnswer::NotSent(reason) => Self::NotExecuted { reason, retry_after_ms: None },
            NoAnswer::Unknown(reason) => Self::Unknown { reason, turned_away: None, retry_after_ms: None },
        }
    }
}

/// A client that follows no redirect (a payment goes where it was frozen to go), sends nothing again by itself, and speaks HTTP/1:
/// HTTP/2 sends a request's head before it looks at the body, and the last look would come too late. Each request has a connection of
/// its own: what a broken proxy says twice is then nobody's answer, least of all the refusal of a payment that is being made.
pub(crate) fn client() -> Result<Client, reqwest::Error> {
    Client::builder()
        .timeout(DEADLINE)
        .connect_timeout(CONNECT_DEADLINE)
        .redirect(Policy::none())
        .retry(retry::never())
        .http1_only()
        .pool_max_idle_per_host(0)
        .build()
}

/// The address of a path below an account's base. A path that an address would bend, as `..` does, leads nowhere.
pub(crate) fn address(base: &str, path: &str) -> Result<Url, NoAnswer> {
    let url = Url::parse(&format!("{base}{path}")).ok().filter(|url| url.as_str().ends_with(path));
    url.ok_or(NoAnswer::NotSent(NotExecutedReason::NotSent))
}

/// Sends a body that may leave only if the last look allows it.
pub(crate) async fn send(
    request: RequestBuilder,
    body: Vec<u8>,
    may_leave: MayLeave,
) -> Result<Answer, NoAnswer> {
    let look = LastLook::new(may_leave);
    let Some(body) = GuardedBody::new(body, look.clone()) else {
        return Err(NoAnswer::NotSent(NotExecutedReason::NotSent));
    };
    match request.body(Body::wrap(body)).send().await {
        Ok(response) => read(response).await,
        // What the client says of its error does not matter: the body knows whether it was let out.
        Err(_) => Err(match look.end() {
            Fate::Waiting => NoAnswer::NotSent(NotExecutedReason::NotSent),
            Fate::TooLate => NoAnswer::NotSent(NotExecutedReason::TooLate),
            Fate::Left => NoAnswer::Unknown(UnknownReason::NoAnswer),
        }),
    }
}

/// Asks a question, which changes nothing.
pub(crate) async fn ask(request: RequestBuilder) -> Result<Answer, NoAnswer> {
    let response = request.send().await.map_err(|error| {
        // Both happen before the first byte of the request leaves.
        if error.is_connect() || error.is_builder() {
            NoAnswer::NotSent(NotExecutedReason::NotSent)
        } else {
            NoAnswer::Unknown(UnknownReason::NoAnswer)
        }
    })?;
    read(response).await
}

async fn read(mut response: Response) -> Result<Answer, NoAnswer> {
    let status = response.status();
    let retry_after_s = text(response.headers(), RETRY_AFTER).and_then(|value| value.parse::<u32>().ok());
    let at = text(response.headers(), DATE).and_then(moment);
    let mut body = Vec::new();
    let cut = |_| NoAnswer::Unknown(UnknownReason::NoAnswer);
    while let Some(chunk) = response.chunk().await.map_err(cut)? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(NoAnswer::Unknown(UnknownReason::Unreadable));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, retry_after_ms: retry_after_s.map(|s| i64::from(s) * 1000), at, body })
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// A `Date`, as HTTP writes it (RFC 9110, section 5.6.7).
fn moment(date: &str) -> Option<Timestamp> {
    let at = DateTimeParser::new().parse_timestamp(date).ok()?;
    Some(Timestamp(at.as_millisecond()))
}
