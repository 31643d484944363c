//! What the edge makes of a request's bytes, without a server: for the fuzzer. Adds nothing to what the routes do.

use axum::http::HeaderMap;
use contract::Problem;
use payment::{Fingerprint, IdempotencyKey};
use store::Terms;

use super::{ApiError, body, idempotency, terms};

/// The key that headers carry.
pub fn key(headers: &HeaderMap) -> Result<IdempotencyKey, Box<Problem>> {
    idempotency::key(headers).map_err(problem)
}

/// The terms that the body of `POST /v1/checkouts` asks for, of a merchant with these return origins, and what makes two of them
/// the same.
pub fn checkout(body: &[u8], return_origins: &[String]) -> Result<(Terms, Fingerprint), Box<Problem>> {
    let body = body::parse(body).map_err(problem)?;
    let terms = terms::checkout(body, return_origins).map_err(problem)?;
    let fingerprint = terms::checkout_fingerprint(&terms);
    Ok((terms, fingerprint))
}

fn problem(error: ApiError) -> Box<Problem> {
    Box::new(error.into())
}
