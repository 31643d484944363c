//! `/v1/payment_intents/{id}`: its events, and what somebody who waits for a result can ask for.

use std::{convert::Infallible, time::Duration};

use axum::{
    Json,
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use contract::{IntentState, PaymentIntent};
use engine::Released;
use futures_util::stream;
use payment::IntentId;
use store::Tenant;

use super::{
    ApiError, App, Code, Id,
    body::read_nothing,
    caller::{self, Caller},
    pages::Address,
    payment_intents::{find, view},
};
use crate::{
    answers::{json, rfc3339, state},
    live::Watcher,
};

/// How often a stream looks when nobody tells it of news: another process may have made them.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The same, before the first submit.
const LOOK_SELDOM: Duration = Duration::from_secs(5);
/// The same, after a try that took no money: that the order has run out, or is tried anew, is no news to hurry for.
const LOOK_RARELY: Duration = Duration::from_secs(30);
/// A comment this often, so that nobody on the way takes the connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// When to come back where too many wait already.
const CROWDED_S: u32 = 15;
/// A proxy is not to wait for more before it passes an event on.
static ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// `GET /v1/payment_intents/{id}/events`. An EventSource sends no headers: the token may stand in the address.
pub(super) async fn events(
    State(app): State<App>,
    Id(id): Id,
    address: Address,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let caller = if headers.contains_key(header::AUTHORIZATION) {
        caller::anyone(&app, &headers).await?
    } else {
        caller::shopper(&app, address.token()).ok_or_else(caller::unauthorized)?
    };
    let (_, intent) = find(&app, &caller, &id).await?;
    let awaited = state(intent.state.name()).is_awaited();
    let watcher = app.live.watch(intent.id, awaited).ok_or_else(crowded)?;
    let follower = Follower { app, caller, id, watcher, sent: None };
    let events = stream::unfold(Some(follower), |follower| async move { follower?.next().await });
    let events = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    Ok(([(ACCEL_BUFFERING.clone(), "no"), (header::CACHE_CONTROL, "no-store")], events).into_response())
}

fn crowded() -> ApiError {
    Code::Unavailable.error("Too many streams are open. Ask for the intent instead.").retry_after_s(CROWDED_S)
}

/// One stream: what was sent last, and how to learn whether there is news.
struct Follower {
    app: App,
    caller: Caller,
    id: String,
    watcher: Watcher,
    sent: Option<PaymentIntent>,
}

impl Follower {
    /// The next event, and whether another may follow: none after the last change there can be, nor when the server stops.
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Option<Self>)> {
        loop {
            if let Some(sent) = &self.sent
                && !self.watcher.wait(pause(sent)).await
            {
                return None;
            }
            let seen = match view(&self.app, &self.caller, &self.id).await {
                Ok(seen) => seen,
                // The right to see it is gone.
                Err(error) if error.status().is_client_error() => return None,
                Err(_) if self.sent.is_none() => return None,
                // A store that does not answer now is asked again.
                Err(_) => continue,
            };
            if self.sent.as_ref() == Some(&seen) {
                continue;
            }
            let event = Event::default().event("state").data(String::from_utf8_lossy(&json(&seen)));
            let more = may_change(&seen) && self.watcher.turn(seen.state.is_awaited());
            self.sent = Some(seen);
            return Some((Ok(event), more.then_some(self)));
        }
    }
}

/// Whether there can be news of what was seen.
fn may_change(seen: &PaymentIntent) -> bool {
    let over = seen.closed && seen.state.is_final();
    seen.state != IntentState::Succeeded && !seen.behind && !over
}

fn pause(seen: &PaymentIntent) -> Duration {
    match seen.state {
        IntentState::Created => LOOK_SELDOM,
        IntentState::Processing
        | IntentState::RequiresAction
        | IntentState::Confirming
        | IntentState::Authorized
        | IntentState::NeedsReview => LOOK_EVERY,
        IntentState::Succeeded | IntentState::Declined | IntentState::Canceled | IntentState::Expired => {
            LOOK_RARELY
        }
    }
}

/// `POST /v1/payment_intents/{id}/check`: have the provider asked now. It moves no money and needs no key.
pub(super) async fn check(
    State(app): State<App>,
    Id(id): Id,
    caller: Caller,
    body: Body,
) -> Result<Response, ApiError> {
    read_nothing(&app, body).await?;
    let (_, intent) = find(&app, &caller, &id).await?;
    check_now(&app, &intent.tenant, intent.id).await?;
    Ok((StatusCode::ACCEPTED, Json(view(&app, &caller, &id).await?)).into_response())
}

/// Wakes the intent's operation.
pub(super) async fn check_now(app: &App, tenant: &Tenant, intent: IntentId) -> Result<(), ApiError> {
    let (engine, tenant) = (app.engine.clone(), tenant.clone());
    app.run(async move { engine.check_now(&tenant, intent).await }).await?;
    Ok(())
}

/// `POST /v1/payment_intents/{id}/release`: have the provider asked to let go of a payment that waits for the shopper, or learn
/// when it does so by itself. It moves no money and needs no key.
pub(super) async fn release(
    State(app): State<App>,
    Id(id): Id,
    caller: Caller,
    body: Body,
) -> Result<Response, ApiError> {
    read_nothing(&app, body).await?;
    let (_, intent) = find(&app, &caller, &id).await?;
    let released = release_now(&app, &intent.tenant, intent.id).await?;
    let released_by = match released {
        Released::EndsBy(at) => Some(rfc3339(at)),
        Released::Asked | Released::Nothing => None,
    };
    let view = PaymentIntent { released_by, ..view(&app, &caller, &id).await? };
    Ok((StatusCode::ACCEPTED, Json(view)).into_response())
}

/// Asks the provider to let go, as far as it can.
pub(super) async fn release_now(app: &App, tenant: &Tenant, intent: IntentId) -> Result<Released, ApiError> {
    let (engine, tenant) = (app.engine.clone(), tenant.clone());
    app.run(async move { engine.release(&tenant, intent).await }).await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A page that is told of nothing more asks for another stream, over and over.
    #[test]
    fn a_stream_outlives_its_order_as_long_as_money_is_held_or_awaited() {
        let may_change = |state: IntentState, closed: bool| {
            let seen = serde_json::from_value(json!({
                "id": "pi_1", "object": "payment_intent", "state": state, "amount": {"value": "1500.00", "currency": "RUB"},
                "checkout_id": "co_1", "checkout_version": 1, "order_id": "123", "submit_key": "sub_1",
                "created_at": "2026-11-30T10:00:00Z", "closed": closed,
            }));
            may_change(&seen.unwrap())
        };
        for state in [IntentState::Processing, IntentState::Authorized, IntentState::NeedsReview] {
            assert!(may_change(state, true), "{state:?}");
        }
        assert!(may_change(IntentState::Declined, false), "it can be tried again");
        assert!(!may_change(IntentState::Declined, true) && !may_change(IntentState::Succeeded, false));
    }
}
