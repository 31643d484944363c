//! How many requests a second may come with the same credentials, and how many from the same address.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    net::SocketAddr,
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

use super::{App, Code};
use crate::config::RateLimit;

/// A burst may be this many times the rate.
const BURST: u32 = 4;
/// Callers remembered before those that have been quiet are forgotten.
const MAX_CALLERS: usize = 100_000;

/// Callers by a hash of their credentials, or of their address.
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
    let Some(limiter) = &app.rate else { return next.run(request).await };
    if limiter.len() > MAX_CALLERS {
        limiter.retain_recent();
    }
    let clock = governor::clock::DefaultClock::default();
    // Both: an address that brings other credentials each time is one caller, and so is a key used from many addresses.
    match callers(&request).into_iter().flatten().try_for_each(|caller| limiter.check_key(&caller)) {
        Ok(()) => next.run(request).await,
        Err(early) => {
            let wait = early.wait_time_from(clock.now());
            let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
            Code::RateLimited
                .error("Too many requests. Nothing was changed; come back after `Retry-After`.")
                .retry_after_s(seconds)
                .into_response()
        }
    }
}

/// The address, and the credentials if there are any.
fn callers(request: &Request) -> [Option<u64>; 2] {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let credentials = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    [peer.map(|address| hash(("address", address))), credentials.map(|bearer| hash(("credentials", bearer)))]
}

fn hash(caller: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    caller.hash(&mut hasher);
    hasher.finish()
}
