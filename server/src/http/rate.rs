//! How many requests a second one caller may make, by its credentials and its address.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    net::{IpAddr, SocketAddr},
    num::NonZeroU32,
    sync::Arc,
};

use axum::{
    extract::{ConnectInfo, Request, State},
    http::header,
    middleware::Next,
    response::{IntoResponse, Response},
};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock};

use super::{ApiError, App, Code, pages};
use crate::config::RateLimit;

/// A burst may be this many times the rate.
const BURST: u32 = 4;
/// Callers remembered before those that have been quiet are forgotten.
const MAX_CALLERS: usize = 100_000;

/// Callers by a hash of credentials and address.
pub(super) type Limiter = DefaultKeyedRateLimiter<u64>;

/// The limiter that the configuration asks for.
pub(super) fn limiter(limit: RateLimit) -> Option<Arc<Limiter>> {
    let RateLimit::PerSecond(rate) = limit else { return None };
    let rate = NonZeroU32::new(rate)?;
    let quota = Quota::per_second(rate).allow_burst(rate.saturating_mul(NonZeroU32::new(BURST)?));
    Some(Arc::new(RateLimiter::keyed(quota)))
}

/// Lets a request through, or tells when to come back.
pub(super) async fn limit(State(app): State<App>, request: Request, next: Next) -> Response {
    match admit(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(early) if pages::is_for_people(&request) => pages::turn_away(&app, &request, &early),
        Err(early) => early.into_response(),
    }
}

/// Counts a request; an error where its caller has made too many.
pub(super) fn admit(app: &App, request: &Request) -> Result<(), ApiError> {
    let Some(limiter) = &app.rate else { return Ok(()) };
    if limiter.len() > MAX_CALLERS {
        limiter.retain_recent();
    }
    let clock = governor::clock::DefaultClock::default();
    limiter.check_key(&caller(request)).map_err(|early| {
        let wait = early.wait_time_from(clock.now());
        let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
        Code::RateLimited
            .error("Too many requests. Nothing was changed; come back after `Retry-After`.")
            .retry_after_s(seconds)
    })
}

fn caller(request: &Request) -> u64 {
    let mut hasher = DefaultHasher::new();
    let address: Option<IpAddr> =
        request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    address.hash(&mut hasher);
    request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes()).hash(&mut hasher);
    hasher.finish()
}
