//! The thin send: a client, a deadline, a bounded body. Tells apart "not a byte left" from "anything may have happened".

use std::time::Duration;

use payment::{NotExecutedReason, UnknownReason};
use reqwest::{Client, RequestBuilder, StatusCode, header::RETRY_AFTER, redirect::Policy};

use crate::Reply;

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
    pub(crate) body: Vec<u8>,
}

/// A client that follows no redirect: a payment goes where it was frozen to go.
pub(crate) fn client() -> Result<Client, reqwest::Error> {
    Client::builder().timeout(DEADLINE).connect_timeout(CONNECT_DEADLINE).redirect(Policy::none()).build()
}

/// Sends; on failure says what it means.
pub(crate) async fn send(request: RequestBuilder) -> Result<Answer, Reply> {
    let no_answer = Reply::Unknown { reason: UnknownReason::NoAnswer, retry_after_ms: None };
    let mut response = request.send().await.map_err(|error| {
        // Both happen before the first byte of the request leaves.
        if error.is_connect() || error.is_builder() {
            Reply::NotExecuted { reason: NotExecutedReason::NotSent, retry_after_ms: None }
        } else {
            no_answer.clone()
        }
    })?;
    let status = response.status();
    let retry_after_s =
        response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse::<i64>().ok());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| no_answer.clone())? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(Reply::Unknown { reason: UnknownReason::Unreadable, retry_after_ms: None });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, retry_after_ms: retry_after_s.map(|s| s.saturating_mul(1000)), body })
}
