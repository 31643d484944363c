//! The routes. A handler reads, asks one thing of the bank, and answers.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Extension, Json, Router};
use serde_json::{Value, json};

use crate::answer::{Answer, Reply};
use crate::bank::State;
use crate::call::Call;
use crate::clock::http_date;
use crate::faults::{Fault, Order, OrderError};
use crate::refusal::Refusal;
use crate::{cards, confirm, desk, notifications, payment_rows, refunds, requests, tokens};

/// The largest body that is read.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// Who is at the other end.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub SocketAddr);

/// Everything the bank serves.
pub(crate) fn router(state: Arc<State>) -> Router {
    let at_home = Router::new()
        .route("/ledger", get(show_ledger))
        .route("/faults", get(show_faults).post(arm_fault).delete(clear_faults))
        .layer(middleware::from_fn(only_at_home));
    Router::new()
        .route("/v3/tokens", post(issue_token).options(preflight))
        .route("/v3/{*path}", any(call))
        .route("/confirm/{payment}", get(confirm::show).post(confirm::decide))
        .route("/healthz", get(healthz))
        .merge(at_home)
        .layer(middleware::map_response_with_state(Arc::clone(&state), dated))
        .with_state(state)
}

/// Every answer tells the time by the bank's own clock, which dates its ledger too.
async fn dated(Shared(state): Shared<Arc<State>>, mut response: Response) -> Response {
    response.headers_mut().insert(header::DATE, http_date(state.now_ms()));
    response
}

async fn healthz() -> &'static str {
    "ok"
}

async fn call(
    Shared(state): Shared<Arc<State>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Reply {
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        return Reply::Answer(Answer::refusing(&Refusal::invalid("body", "The body is too large")));
    };
    let call = Call::new(&method, &uri, &headers, body, state.now_ms());
    desk::serve(state, call).await
}

/// Not a request for money: neither listed nor authenticated, and open to a browser on any page.
async fn issue_token(Shared(state): Shared<Arc<State>>, body: Bytes) -> Response {
    let when = state.when();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = match cards::accept(&body, when.now_ms) {
        Ok((card, outcome)) => {
            let issued = state.store.run(move |tx| tokens::issue(tx, &card, outcome, when)).await;
            issued.map_or_else(|error| internal(&error), |token| Answer::of(json!({ "token": token })))
        }
        Err(refusal) => Answer::refusing(&refusal),
    };
    (CORS, answer).into_response()
}

async fn preflight() -> impl IntoResponse {
    let allowed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    (StatusCode::NO_CONTENT, CORS, allowed)
}

async fn show_ledger(Shared(state): Shared<Arc<State>>) -> Response {
    let read = state.write(|book| {
        book.let_fall_due()?;
        let payments: Vec<_> =
            payment_rows::all(book.tx)?.iter().map(|payment| payment.render(&book.shown())).collect();
        let refunds: Vec<_> = refunds::all(book.tx)?.iter().map(refunds::Refund::render).collect();
        Ok(json!({
            "payments": payments,
            "refunds": refunds,
            "requests": requests::all(book.tx)?,
            "notifications": notifications::all(book.tx)?,
        }))
    });
    read.await.map_or_else(|error| internal(&error).into_response(), |ledger| Json(ledger).into_response())
}

async fn show_faults(Shared(state): Shared<Arc<State>>) -> Json<Value> {
    Json(json!({ "faults": state.faults.armed() }))
}

async fn arm_fault(Shared(state): Shared<Arc<State>>, body: Bytes) -> Response {
    let order: Order = match serde_json::from_slice(&body) {
        Ok(order) => order,
        Err(error) => return complaint(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    let armed = Fault::try_from(order).and_then(|fault| {
        if fault.is_on_notify() && state.courier.is_none() {
            return Err(OrderError::NoNotifications);
        }
        let shown = Json(&fault).into_response();
        state.faults.arm(fault).map(|()| shown)
    });
    armed.unwrap_or_else(|error| complaint(StatusCode::BAD_REQUEST, &error.to_string()))
}

async fn clear_faults(Shared(state): Shared<Arc<State>>) -> Json<Value> {
    state.faults.clear();
    show_faults(Shared(state)).await
}

async fn only_at_home(Extension(Peer(peer)): Extension<Peer>, request: Request, next: Next) -> Response {
    if is_at_home(peer.ip(), request.headers()) {
        next.run(request).await
    } else {
        complaint(StatusCode::FORBIDDEN, "open to programs on this machine only")
    }
}

/// Whether a program on this machine asks: neither a proxy for somebody elsewhere nor a page in a browser.
fn is_at_home(peer: IpAddr, headers: &HeaderMap) -> bool {
    const BETRAYING: [&str; 3] = ["forwarded", "x-forwarded-for", "origin"];
    peer.to_canonical().is_loopback() && !BETRAYING.iter().any(|name| headers.contains_key(*name))
}

/// Any page's script may read the answer: a token is of no use without the shop's secret.
const CORS: [(HeaderName, &str); 1] = [(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];

fn complaint(status: StatusCode, detail: &str) -> Response {
    (status, Json(json!({ "error": detail }))).into_response()
}

/// Logs what went wrong with the ledger; the client hears of an internal error.
pub(crate) fn internal(error: &rusqlite::Error) -> Answer {
    tracing::error!(%error, "the bank cannot use its ledger");
    Answer::refusing(&Refusal::internal())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_loopback_peer_is_at_home() {
        for (peer, home) in [
            ("127.0.0.1", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("192.0.2.1", false),
            ("::ffff:192.0.2.1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_at_home(peer.parse().unwrap(), &HeaderMap::new()), home, "{peer}");
        }
    }
}
