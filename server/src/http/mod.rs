//! Routes. Each handler parses, calls one use case, and maps what came of it; a use case runs in a task of its own.

mod body;
mod caller;
mod checkouts;
mod health;
mod id;
mod idempotency;
mod listen;
mod live;
mod notifications;
#[doc(hidden)]
pub mod offline;
mod pages;
mod payment_intents;
mod problem;
mod rate;
mod submit;
mod terms;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    http::{HeaderName, HeaderValue, header},
    middleware::{self, Next},
    response::Response,
    routing::{get, post},
};
use engine::{Engine, EngineError};
use tokio::task::JoinError;
use tokio_util::task::TaskTracker;

use crate::{assets, background::Nudge, config::Config, ids, live::Hub};

pub(crate) use id::Id;
pub use listen::serve;
pub(crate) use problem::{ApiError, Code};

/// How long callers wait, and are waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// A submission waits this long for the provider; then it is told that the result is not known yet.
    pub submit: Duration,
    /// A repeat waits this long for the first one's result.
    pub repeat: Duration,
    /// A page that a shopper comes back to from the bank's waits this long for the provider's word.
    pub look: Duration,
    /// A request's head has to be here by then, and the next one on a connection that stays open.
    pub head: Duration,
    /// A body has to be here by then.
    pub body: Duration,
}

impl Default for Patience {
    /// The browser gives up after 10 s: it must have an answer before.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            submit: seconds(8),
            repeat: seconds(1),
            look: seconds(2),
            head: seconds(30),
            body: seconds(10),
        }
    }
}

/// What every handler has.
#[derive(Clone)]
pub struct App {
    /// The use cases.
    pub engine: Engine,
    /// Base of every absolute link.
    pub public_url: Arc<str>,
    /// What is under way: the server waits for it when it stops.
    pub tasks: TaskTracker,
    /// How long callers wait, and are waited for.
    pub patience: Patience,
    /// Who waits for news of an intent.
    pub live: Arc<Hub>,
    /// Whether mails are sent, so that a page may promise one.
    pub mails: bool,
    /// Told when a notification has come in.
    pub inbox: Nudge,
    assets: Arc<app::Assets>,
    rate: Option<Arc<rate::Limiter>>,
}

impl App {
    /// Over an engine whose changes `live` is told of.
    pub fn new(engine: Engine, live: Arc<Hub>, config: &Config, tasks: TaskTracker) -> Self {
        let mails = engine.sender.sends_mails();
        Self {
            engine,
            public_url: config.public_url.as_str().into(),
            tasks,
            patience: Patience::default(),
            live,
            mails,
            inbox: Nudge::default(),
            assets: Arc::new(assets::paths()),
            rate: rate::limiter(config.rate_limit),
        }
    }

    /// Runs a step in a task of its own: a client that goes away cancels nothing (fault 10), and no cancelled future leaves a
    /// transaction open (sqlx 0.9.0, issue 4393).
    async fn run<R: Send + 'static>(
        &self,
        step: impl Future<Output = Result<R, EngineError>> + Send + 'static,
    ) -> Result<R, ApiError> {
        Ok(self.tasks.spawn(step).await.map_err(panicked)??)
    }
}

/// A step that came to no end: a bug.
fn panicked(error: JoinError) -> ApiError {
    tracing::error!(%error, "a step panicked");
    Code::Internal.error("The server failed while it worked on this; repeat it with the same key.")
}

/// The API, the pages and the files.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/v1/checkouts", post(checkouts::create))
        .route("/v1/checkouts/{id}", get(checkouts::show))
        .route("/v1/checkouts/{id}/payment_intents", post(payment_intents::create))
        .route("/v1/payment_intents/{id}", get(payment_intents::show))
        .route("/v1/payment_intents/{id}/check", post(live::check))
        .route("/v1/payment_intents/{id}/events", get(live::events))
        .route("/v1/payment_intents/{id}/release", post(live::release))
        .route("/v1/payment_intents/{id}/submit", post(submit::submit))
        .merge(shoppers_pages())
        .layer(middleware::from_fn_with_state(app.clone(), rate::limit))
        // Not limited: a provider whose notifications are refused tells us nothing.
        .route("/v1/webhooks/yookassa/{merchant}/{secret}", post(notifications::yookassa))
        .route("/pkg/{file}", get(assets::serve))
        .route(contract::PROBLEMS, get(problem::explain))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .fallback(pages::nowhere)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer(middleware::from_fn(request_id))
        .with_state(app)
}

/// Each is also a link that people keep.
fn shoppers_pages() -> Router<App> {
    Router::new()
        .route("/pay/{id}", get(pages::pay).post(pages::submit))
        .route("/pay/{id}/again", get(pages::to_status).post(pages::again))
        .route("/pay/{id}/check", get(pages::to_status).post(pages::check))
        .route("/pay/{id}/email", get(pages::ask_email).post(pages::email))
        .route("/pay/{id}/release", get(pages::to_status).post(pages::release))
        .route("/pay/{id}/status", get(pages::status))
        .layer(middleware::from_fn(pages::compress))
}

/// Names each request, for problems and for support.
static REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

tokio::task_local! {
    /// The id of the request at hand.
    static CURRENT_REQUEST: String;
}

async fn request_id(request: Request, next: Next) -> Response {
    let id = format!("req_{}", ids::random_text());
    let header = HeaderValue::from_str(&id).ok();
    let mut response = CURRENT_REQUEST.scope(id, next.run(request)).await;
    let headers = response.headers_mut();
    headers.extend(header.map(|id| (REQUEST_ID.clone(), id)));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
